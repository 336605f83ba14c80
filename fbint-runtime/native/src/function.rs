//! Compiled programs, and the calls of what is compiled: the only code of the workspace that is unsafe.
//!
//! # Why it is sound
//!
//! A call runs code that [`translate`](crate::translate) or [`series`](crate::series) has written for this processor, and nothing else:
//!
//! - code of a program is one block without a branch, so that it ends;
//! - it reads entry i of the array k only if i is below `least[k]`, which is collected while it is written, and [`Function::call`] refuses
//!   shorter arrays;
//! - it writes the first `results` entries of the results, and [`Function::call`] refuses shorter ones;
//! - it calls those functions alone whose [addresses](elementary) are here, with the signatures that they have: elementary functions, which
//!   take and return numbers, and [`weigh`], with the number of integrals, two slots of the code's own stack that have room for as many
//!   (the first is written, and no more than that is read of the second), and with the [`Law`] that [`Function::call`] has passed on, which
//!   lives until it returns;
//! - code of a series loops over orders, n = 1, 2, .., while the coefficients have a row for the order, and the memory, too:
//!   [`SeriesFunction::call`] counts whole rows. Within an order it loops over pairs of rows of the memory: one ascends from row 2, the
//!   other descends from row n - 2, until the first has reached row n - 1 or the middle. Every row that it reads is below n, and it writes
//!   row n. It touches the first `entries` numbers of a row of coefficients, which are no more than lie between two rows, and `row` numbers
//!   of a row of the memory;
//! - it touches every page of its frame in order, so that a stack without room ends the process at the guard page, as it does in Rust;
//! - its memory is not written after it was made executable, so that any thread may call it at any time, and is not freed before the last
//!   [`Function`] in it.
//!
//! A panic of the law ends the process, because it must not unwind through code that it knows nothing of.
#![expect(unsafe_code, reason = "compiled code can be called in no other way")]

use std::mem::transmute;
use std::sync::Arc;
use std::{fmt, io, slice};

use fbint_macros_core::expression;
use fbint_macros_core::program::LANES;
use fbint_runtime::{FourLanes, Scalar};
use memmap2::{Mmap, MmapMut};

/// The number of arrays that a compiled program may read.
pub const ARRAYS: usize = 5;

/// Why a call panics.
const TOO_SHORT: &str = "arrays that are as long as the program reads and writes";

/// The number of numbers that code of a series is told: the bytes from one row of coefficients to the next, the same of the coefficients
/// of inputs, the last order, and the number of rows of the memory.
pub(crate) const EXTENTS: usize = 4;

/// Machine code, which can be anywhere in memory.
pub(crate) struct WrittenCode {
    pub(crate) bytes: Vec<u8>,
    /// A multiple of this is its place in memory.
    pub(crate) alignment: usize,
}

/// The machine code of a program.
pub(crate) struct WrittenFunction {
    pub(crate) code: WrittenCode,
    /// The least length of each array.
    pub(crate) least: [usize; ARRAYS],
    /// The number of results that it writes.
    pub(crate) results: usize,
}

/// The machine code of a series.
pub(crate) struct WrittenSeries {
    pub(crate) code: WrittenCode,
    /// The least length of each array, and of the coefficients of inputs of an order.
    pub(crate) least: [usize; ARRAYS],
    pub(crate) inputs: usize,
    /// The number of entries of a row of coefficients.
    pub(crate) entries: usize,
    /// The number of numbers of a row of the memory.
    pub(crate) row: usize,
}

/// The first entry of an array.
type Start = *const f64;

/// Arrays, each as an argument, which takes less time than a list of them does; results; law.
type FunctionPointer = unsafe extern "C" fn(Start, Start, Start, Start, Start, *mut f64, *mut Law<'_>);

/// Arrays; coefficients of inputs, coefficients, memory, extents.
type SeriesPointer =
    unsafe extern "C" fn(Start, Start, Start, Start, Start, Start, *mut f64, *mut FourLanes, *const [usize; EXTENTS]);

/// A feedback law that is called by compiled code.
type Law<'l> = &'l mut dyn FnMut(&[f64], &mut [f64]);

/// A compiled program.
#[derive(Clone)]
pub struct Function {
    code: FunctionPointer,
    least: [usize; ARRAYS],
    results: usize,
    /// Where the code is.
    _memory: Arc<Mmap>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("least", &self.least).field("results", &self.results).finish_non_exhaustive()
    }
}

impl Function {
    /// The number of results that are written, which is even: an odd number is followed by a zero.
    pub fn results(&self) -> usize {
        self.results
    }

    /// Puts the results of the program into `results`. Its inputs are in `arrays`, where the function that says so while programs are
    /// [compiled](crate::compile) has them. `law` is called at most once, with the integrals and with room for as many numbers, y.
    ///
    /// # Panics
    ///
    /// If an array or `results` is too short.
    #[inline]
    pub fn call(&self, arrays: &[&[f64]; ARRAYS], results: &mut [f64], mut law: Law<'_>) {
        for (array, least) in arrays.iter().zip(&self.least) {
            assert!(array.len() >= *least, "{TOO_SHORT}");
        }
        assert!(results.len() >= self.results, "{TOO_SHORT}");
        let [a, b, c, d, e] = arrays.map(<[f64]>::as_ptr);
        // SAFETY: the arrays and the results are as long as the code takes them to be, and nothing else refers to the results; the law
        // outlives the call.
        unsafe { (self.code)(a, b, c, d, e, results.as_mut_ptr(), &raw mut law) }
    }
}

/// The compiled series of the solutions of a field.
#[derive(Clone)]
pub struct SeriesFunction {
    code: SeriesPointer,
    least: [usize; ARRAYS],
    /// As many zeros as an order reads coefficients of inputs.
    held: Vec<f64>,
    entries: usize,
    row: usize,
    _memory: Arc<Mmap>,
}

impl fmt::Debug for SeriesFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesFunction").field("least", &self.least).field("row", &self.row).finish_non_exhaustive()
    }
}

impl SeriesFunction {
    /// Puts the coefficients of the solution that begins in the first row of `coefficients` into its other rows, one every `stride` numbers,
    /// as long as the memory has a whole row for the order before. `later` has the coefficients of the inputs in rows of that length, from
    /// the first order on; without them, inputs are held. The other inputs of the program that begins are in `arrays`.
    ///
    /// # Panics
    ///
    /// If an array or a row is too short, or if the coefficients of inputs end before those of the solution.
    pub fn call(
        &self,
        arrays: &[&[f64]; ARRAYS],
        later: &[f64],
        coefficients: &mut [f64],
        stride: usize,
        memory: &mut [FourLanes],
    ) {
        const { assert!(size_of::<FourLanes>() == LANES * size_of::<f64>()) };
        for (array, least) in arrays.iter().zip(&self.least) {
            assert!(array.len() >= *least, "{TOO_SHORT}");
        }
        assert!(stride >= self.entries && stride > 0, "{TOO_SHORT}");
        let (rows, orders) = (memory.len() / (self.row / LANES), (coefficients.len() / stride).saturating_sub(1));
        if rows == 0 || coefficients.len() < stride {
            return;
        }
        let (later, later_stride) = if later.is_empty() { (&self.held[..], 0) } else { (later, stride) };
        assert!(later_stride == 0 || (stride >= self.held.len() && later.len() / stride >= orders), "{TOO_SHORT}");
        let extents = [stride * size_of::<f64>(), later_stride * size_of::<f64>(), orders, rows];
        let [a, b, c, d, e] = arrays.map(<[f64]>::as_ptr);
        let (later, coefficients, memory) = (later.as_ptr(), coefficients.as_mut_ptr(), memory.as_mut_ptr());
        // SAFETY: the arrays have what the code reads of them; the first row of the coefficients and one for each order have the entries
        // that it reads and writes, and the coefficients of inputs have those that it reads, a row for each order, or one for all; the
        // memory has as many rows as it is told, of `FourLanes`, which are four numbers and nothing else; nothing else refers to either.
        unsafe { (self.code)(a, b, c, d, e, later, coefficients, memory, &raw const extents) }
    }
}

/// Functions in separate memory.
pub(crate) fn executable(written: Vec<WrittenFunction>) -> io::Result<Vec<Function>> {
    let (memory, starts) = in_memory(written.iter().map(|function| &function.code))?;
    let function = |(start, WrittenFunction { least, results, .. }): (usize, WrittenFunction)| {
        let start = memory[start..].as_ptr();
        // SAFETY: the code was written with a pointer for each array, one for the results and one for the law, and with the calling
        // convention of C of this target, and is in memory as long as the function.
        let code = unsafe { transmute::<*const u8, FunctionPointer>(start) };
        Function { code, least, results, _memory: Arc::clone(&memory) }
    };
    Ok(starts.into_iter().zip(written).map(function).collect())
}

/// A series in separate memory.
pub(crate) fn executable_series(written: WrittenSeries) -> io::Result<SeriesFunction> {
    let WrittenSeries { code, least, inputs, entries, row } = written;
    let (memory, _) = in_memory([&code])?;
    // SAFETY: the code was written with a pointer for each array, for the coefficients of inputs, the coefficients, the memory and the
    // extents, and with the calling convention of C of this target, begins where this memory does, and is there as long as the function.
    let code = unsafe { transmute::<*const u8, SeriesPointer>(memory.as_ptr()) };
    Ok(SeriesFunction { code, least, held: vec![0.0; inputs], entries, row, _memory: memory })
}

/// Code in memory that can be executed, and where each piece begins.
fn in_memory<'c>(pieces: impl IntoIterator<Item = &'c WrittenCode>) -> io::Result<(Arc<Mmap>, Vec<usize>)> {
    let (mut code, mut starts) = (Vec::new(), Vec::new());
    for WrittenCode { bytes, alignment } in pieces {
        code.resize(code.len().next_multiple_of(*alignment), 0);
        starts.push(code.len());
        code.extend(bytes);
    }
    let mut memory = MmapMut::map_anon(code.len())?;
    memory.copy_from_slice(&code);
    let memory = Arc::new(memory.make_exec()?);
    // SAFETY: this is the memory of the code.
    let cleared = unsafe { jit_icache_coherence::clear_cache(memory.as_ptr().cast(), memory.len()) };
    // The type of the error depends on the processor.
    let flushed = cleared.and_then(|()| jit_icache_coherence::pipeline_flush_mt());
    flushed.map_err(|error| io::Error::other(error.to_string()))?;
    Ok((memory, starts))
}

/// Calls a law with this number of integrals.
unsafe extern "C" fn weigh(integrals: *const f64, results: *mut f64, law: *mut Law<'_>, count: usize) {
    // SAFETY: compiled code passes on what `Function::call` gave it, which is not used by anybody else until then.
    let law = unsafe { &mut *law };
    // SAFETY: both are slots of this length in the stack of the code that calls, and the first was written in full.
    let integrals = unsafe { slice::from_raw_parts(integrals, count) };
    // SAFETY: as before; any bits are a number.
    unsafe { results.write_bytes(0, count) };
    // SAFETY: as before, and written in full.
    let results = unsafe { slice::from_raw_parts_mut(results, count) };
    law(integrals, results);
}

/// The address of what calls the law.
pub(crate) fn weigher() -> usize {
    weigh as *const () as usize
}

/// The addresses of elementary functions that compiled code calls: the runtime's, so that results are equal.
macro_rules! elementary {
    ($($function:ident: $name:ident($($argument:ident),*);)*) => {
        pub(crate) fn elementary(function: expression::Function) -> usize {
            match function {
                $(expression::Function::$function => {
                    extern "C" fn $name($($argument: f64),*) -> f64 {
                        elementary!(@call $name $($argument)*)
                    }
                    $name as *const () as usize
                })*
            }
        }
    };
    (@call $name:ident $first:ident $($rest:ident)*) => { Scalar::$name($first $(, $rest)*) };
}

elementary! {
    Abs: abs(x);
    Sign: sign(x);
    Sin: sin(x);
    Cos: cos(x);
    Tan: tan(x);
    Asin: asin(x);
    Acos: acos(x);
    Atan: atan(x);
    Sinh: sinh(x);
    Cosh: cosh(x);
    Tanh: tanh(x);
    Exp: exp(x);
    Ln: ln(x);
    Atan2: atan2(y, x);
    Powf: powf(base, exponent);
    Step: step(x);
}
