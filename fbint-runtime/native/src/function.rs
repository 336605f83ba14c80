//! Compiled programs, and the calls of what is compiled: the only code of the workspace that is unsafe.
//!
//! # Why it is sound
//!
//! A call runs code that [`translate`](crate::translate) has written for this processor, and nothing else:
//!
//! - it is one block without a branch, so that it ends;
//! - it reads entry i of the array k only if i is below `least[k]`, which is collected while it is written, and [`Function::call`] refuses
//!   shorter arrays;
//! - it writes the first `results` entries of the results, and [`Function::call`] refuses shorter ones;
//! - it calls those functions alone whose [addresses](elementary) are here, with the signatures that they have: elementary functions, which
//!   take and return numbers, and [`weigh`], with the number of integrals, two slots of the code's own stack that have room for as many
//!   (the first is written, and no more than that is read of the second), and with the [`Law`] that [`Function::call`] has passed on, which
//!   lives until it returns;
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
use fbint_runtime::Scalar;
use memmap2::{Mmap, MmapMut};

/// The number of arrays that a compiled program may read.
pub const ARRAYS: usize = 5;

/// Why a call panics.
const TOO_SHORT: &str = "arrays that are as long as the program reads and writes";

/// The machine code of a program, which can be anywhere in memory.
pub(crate) struct WrittenFunction {
    pub(crate) code: Vec<u8>,
    /// A multiple of this is its place in memory.
    pub(crate) alignment: usize,
    /// The least length of each array.
    pub(crate) least: [usize; ARRAYS],
    /// The number of results that it writes.
    pub(crate) results: usize,
}

/// The first entry of an array.
type Start = *const f64;

/// Arrays, each as an argument, which takes less time than a list of them does; results; law.
type FunctionPointer = unsafe extern "C" fn(Start, Start, Start, Start, Start, *mut f64, *mut Law<'_>);

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

/// Functions in separate memory.
pub(crate) fn executable(written: Vec<WrittenFunction>) -> io::Result<Vec<Function>> {
    let mut code = Vec::new();
    let mut functions = Vec::new();
    for function in written {
        code.resize(code.len().next_multiple_of(function.alignment), 0);
        functions.push((code.len(), function.least, function.results));
        code.extend(function.code);
    }
    let mut memory = MmapMut::map_anon(code.len())?;
    memory.copy_from_slice(&code);
    let memory = Arc::new(memory.make_exec()?);
    // SAFETY: this is the memory of the code.
    let cleared = unsafe { jit_icache_coherence::clear_cache(memory.as_ptr().cast(), memory.len()) };
    // The type of the error depends on the processor.
    let flushed = cleared.and_then(|()| jit_icache_coherence::pipeline_flush_mt());
    flushed.map_err(|error| io::Error::other(error.to_string()))?;
    let function = |(start, least, results)| {
        let start = memory[start..].as_ptr();
        // SAFETY: the code was written with a pointer for each array, one for the results and one for the law, and with the calling
        // convention of C of this target, and is in memory as long as the function.
        let code = unsafe { transmute::<*const u8, FunctionPointer>(start) };
        Function { code, least, results, _memory: Arc::clone(&memory) }
    };
    Ok(functions.into_iter().map(function).collect())
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
