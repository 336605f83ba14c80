#![doc = include_str!("../README.md")]

mod function;
mod series;
mod translate;

use std::io;

use cranelift_codegen::CodegenError;
use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable, SetResult};
use fbint_macros_core::program::{Input, Program, TaylorSeries};
use target_lexicon::Triple;

pub use function::{ARRAYS, Function, SeriesFunction};

/// Where a program finds an input: among the arrays that a [`Function`] is called with, and in that array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the array, below [`ARRAYS`].
    pub array: usize,
    /// The index of the entry in the array.
    pub entry: usize,
}

/// Why programs are not compiled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Cranelift has no backend for this processor.
    #[error("no machine code can be made for this processor: {0}")]
    Processor(String),
    /// An input of a program has no place.
    #[error("a compiled program has an input without a place")]
    Input,
    /// The code generator refuses a program.
    #[error("a program cannot be compiled: {0}")]
    Program(#[from] Box<CodegenError>),
    /// A program takes operations that this processor does not have, and the code generator would call functions for them.
    #[error("a program takes operations that this processor does not have")]
    Operation,
    /// An array that a program reads or writes is longer than offsets of this code can say.
    #[error("a program reads or writes arrays that are too long")]
    Length,
    /// The system gives no memory for code, or none that may be executed.
    #[error("no memory for machine code: {0}")]
    Memory(#[from] io::Error),
}

/// Compiles programs. `place` says where they find their inputs, or that they are not given.
///
/// The code is in memory as long as one of the functions is.
///
/// # Errors
///
/// If no code can be made for this processor, if a program reads an input without a place or is too large, or if memory is missing.
pub fn compile(programs: &[&Program], place: &dyn Fn(Input) -> Option<Place>) -> Result<Vec<Function>, Error> {
    let processor = processor()?;
    let written: Result<Vec<_>, _> =
        programs.iter().map(|program| translate::function(&*processor, program, place)).collect();
    Ok(function::executable(written?)?)
}

/// Compiles series. `place` says where the program that begins finds its inputs but the state, which is in the first row of the
/// coefficients; of the program that finishes an order it says where the inputs of a driven system are in the row of their coefficients.
///
/// # Errors
///
/// As [`compile`].
pub fn compile_series(series: &TaylorSeries, place: &dyn Fn(Input) -> Option<Place>) -> Result<SeriesFunction, Error> {
    Ok(function::executable_series(series::series(&*processor()?, series, place)?)?)
}

/// This processor, with what of it makes a difference to arithmetic.
fn processor() -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    let mut processor = isa::lookup(Triple::host()).map_err(|error| Error::Processor(error.to_string()))?;
    // Probes touch each page of a large frame in turn, so that a stack that overflows meets its guard page and never passes over it.
    let set = [("opt_level", "speed"), ("enable_probestack", "true"), ("probestack_strategy", "inline")];
    let set = set.into_iter().try_for_each(|(flag, value)| flags.set(flag, value));
    let set = set.and_then(|()| use_vector_instructions(&mut processor));
    set.map_err(|error| Error::Processor(error.to_string()))?;
    processor.finish(settings::Flags::new(flags)).map_err(|error| Error::Processor(error.to_string()))
}

/// They matter on x86-64, whose first processors lack instructions that name three operands, or multiply and add. Other kinds of processors
/// have them all.
///
/// The crate `cranelift-native` finds them, too, but takes half as long to compile as the runtime, with all that it depends on: most of that
/// reads and writes debugging information.
#[cfg(target_arch = "x86_64")]
fn use_vector_instructions(processor: &mut isa::Builder) -> SetResult<()> {
    macro_rules! found {
        ($($feature:tt $flag:literal,)*) => { [$((is_x86_feature_detected!($feature), $flag)),*] };
    }
    let features = found! {
        "sse3" "has_sse3",
        "ssse3" "has_ssse3",
        "sse4.1" "has_sse41",
        "sse4.2" "has_sse42",
        "avx" "has_avx",
        "avx2" "has_avx2",
        "fma" "has_fma",
        "avx512f" "has_avx512f",
        "avx512dq" "has_avx512dq",
        "avx512vl" "has_avx512vl",
    };
    features.into_iter().filter(|(is_found, _)| *is_found).try_for_each(|(_, flag)| processor.enable(flag))
}

#[cfg(not(target_arch = "x86_64"))]
fn use_vector_instructions(_: &mut isa::Builder) -> SetResult<()> {
    Ok(())
}
