//! Fields x' = X - DF^T K (F - F_target), written by hand as fast as we know how, as rivals of the generated ones.
//!
//! Each kernel is one of the models with a diagonal K. They do what pays by hand: the elimination of C by blocks, one scalar
//! for each row of a gradient with the field's and the feedback's part added first, rows without the factor 2, everything that
//! depends on parameters, gains and targets alone computed once, divisions that do not wait for one another, and fused
//! multiply-adds where the target has them. The chains are loops over their links, which keeps them small.

pub mod cart;
pub mod chain;
pub mod four_bar;
pub mod pendulum;
pub mod rivals;

use fbint_runtime::Entries;

/// A field that was written by hand, on states of the type `V`.
pub trait HandwrittenField<V: Entries<f64>> {
    /// x'
    fn field(&self, x: &V) -> V;

    /// One step of the explicit Euler method.
    #[inline]
    fn euler_step(&self, x: &mut V, h: f64) {
        let rate = self.field(x);
        for (x, &rate) in x.as_mut().iter_mut().zip(rate.as_ref()) {
            *x = fma(h, rate, *x);
        }
    }
}

/// a b + c, in one instruction where the target has it; elsewhere a library's would cost as much as ten additions.
#[inline(always)]
pub(crate) fn fma(a: f64, b: f64, c: f64) -> f64 {
    if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
}

#[inline(always)]
pub(crate) fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (1..D).fold(a[0] * b[0], |sum, i| fma(a[i], b[i], sum))
}
