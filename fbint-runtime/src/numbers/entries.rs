//! Vectors of a fixed length, without that length in the name of any type that holds one.
//!
//! A state of N entries is an array `[T; N]` and nothing else. Generic code names it by the system, `S::Vector<T>`, so that adding a
//! coordinate or an invariant to a model changes no type that anybody has written down.

use core::fmt::Debug;
use core::mem::{ManuallyDrop, needs_drop};
use core::ops::{Index, IndexMut};

use crate::numbers::sealed::Sealed;

/// An entry of a vector: plain data that can be copied, compared, printed and sent to another thread.
pub trait Entry: Copy + Debug + PartialEq + Send + Sync + 'static {}

impl<T: Copy + Debug + PartialEq + Send + Sync + 'static> Entry for T {}

/// A fixed number of entries: an array `[T; N]`, and no other type.
pub trait Entries<T: Entry>:
    Entry + AsRef<[T]> + AsMut<[T]> + Index<usize, Output = T> + IndexMut<usize> + IntoIterator<Item = T> + Sealed
{
    /// The number of entries.
    const LEN: usize;

    /// The vector whose entry i is `entry(i)`.
    fn from_fn<F: FnMut(usize) -> T>(entry: F) -> Self;

    /// The first entries of a slice, if it is long enough.
    #[doc(hidden)]
    fn of_slice(slice: &[T]) -> Option<&Self>;

    /// The entries of all vectors, one vector after the other.
    #[doc(hidden)]
    fn flat(vectors: &[Self]) -> &[T];

    /// The entries of all vectors, one vector after the other.
    #[doc(hidden)]
    fn flat_mut(vectors: &mut [Self]) -> &mut [T];
}

/// A number for each entry of a state, or for each integral: in a vector of a fixed length, or in a list.
pub(crate) trait Numbers: Clone + AsRef<[f64]> + AsMut<[f64]> {
    /// As many numbers.
    fn like(&self, number: impl FnMut(usize) -> f64) -> Self;
}

impl<V: Entries<f64>> Numbers for V {
    #[inline(always)]
    fn like(&self, number: impl FnMut(usize) -> f64) -> Self {
        V::from_fn(number)
    }
}

impl<T: Entry, const N: usize> Entries<T> for [T; N] {
    const LEN: usize = N;

    #[inline(always)]
    fn from_fn<F: FnMut(usize) -> T>(entry: F) -> Self {
        if const { N == 0 || needs_drop::<F>() } {
            return core::array::from_fn(entry);
        }
        // A bare loop: `array::from_fn` is a hundred lines of LLVM each time, and generated code has it everywhere. A function that need
        // not be dropped need not be dropped by what is done in a panic, which is a third of the loop.
        let mut entry = ManuallyDrop::new(entry);
        let mut entries = [entry(0); N];
        let mut i = 1;
        while i < N {
            entries[i] = entry(i);
            i += 1;
        }
        entries
    }

    #[inline]
    fn of_slice(slice: &[T]) -> Option<&Self> {
        slice.first_chunk()
    }

    #[inline]
    fn flat(vectors: &[Self]) -> &[T] {
        vectors.as_flattened()
    }

    #[inline]
    fn flat_mut(vectors: &mut [Self]) -> &mut [T] {
        vectors.as_flattened_mut()
    }
}

impl<T, const N: usize> Sealed for [T; N] {}
