//! Compiled programs, and the calls of what is compiled: the only code of the workspace that is unsafe.
//!
//! # Why it is sound
//!
//! What is called is what [`translate`](crate::translate) has written, for this processor, and nothing else:
//!
//! - it is one block without a branch, so that it ends;
//! - it reads entry i of the array k only if i is below `least[k]`, which is collected while it is written, and [`Function::call`] refuses
//!   shorter arrays;
//! - it writes the first `results` entries of the results, and [`Function::call`] refuses shorter ones;
//! - it calls the functions of [`symbols`] alone, with the signatures that they have: elementary functions, which take and return numbers,
//!   and [`weigh`], with the number of integrals, two slots of its own stack that have room for as many, of which it has written the first
//!   and reads no more of the second, and with the [`Law`] that [`Function::call`] has passed on, which lives until it returns;
//! - its memory is never freed, and not written after it was made executable, so that any thread may call it at any time.
//!
//! A panic of the law ends the process, because it must not unwind through code that it knows nothing of.
#![expect(unsafe_code, reason = "compiled code can be called in no other way")]

use std::mem::transmute;
use std::slice;

use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::FuncId;
use fbint_runtime::Scalar;

/// The number of arrays that a compiled program may read.
pub const ARRAYS: usize = 5;
/// The name of [`weigh`] in compiled code.
pub(crate) const WEIGH: &str = "weigh";

/// Why a call panics.
const TOO_SHORT: &str = "arrays that are as long as the program reads and writes";

/// A program before its code is complete.
pub(crate) struct DeclaredFunction {
    pub(crate) id: FuncId,
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
#[derive(Clone, Copy, Debug)]
pub struct Function {
    code: FunctionPointer,
    least: [usize; ARRAYS],
    results: usize,
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

/// The function whose code is complete.
pub(crate) fn finished(module: &JITModule, declared: DeclaredFunction) -> Function {
    let DeclaredFunction { id, least, results } = declared;
    // SAFETY: the code was defined with a pointer for each array, one for the results and one for the law, and with the calling convention
    // of C of this target, and is never freed.
    let code = unsafe { transmute::<*const u8, FunctionPointer>(module.get_finalized_function(id)) };
    Function { code, least, results }
}

/// Calls a law with so many integrals.
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

/// Elementary functions as compiled code calls them: those of the runtime, so that results are the same.
macro_rules! elementary {
    ($builder:ident: $($name:ident($($argument:ident),*);)*) => {$(
        extern "C" fn $name($($argument: f64),*) -> f64 {
            elementary!(@call $name $($argument)*)
        }
        $builder.symbol(stringify!($name), $name as *const u8);
    )*};
    (@call $name:ident $first:ident $($rest:ident)*) => { Scalar::$name($first $(, $rest)*) };
}

/// What compiled code may call.
pub(crate) fn symbols(builder: &mut JITBuilder) {
    builder.symbol(WEIGH, weigh as *const u8);
    elementary! {
        builder:
        sin(x);
        cos(x);
        tan(x);
        asin(x);
        acos(x);
        atan(x);
        sinh(x);
        cosh(x);
        tanh(x);
        exp(x);
        ln(x);
        atan2(y, x);
        powf(base, exponent);
    }
}
