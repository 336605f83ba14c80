#![doc = include_str!("../README.md")]

mod function;
mod translate;

use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{ModuleError, default_libcall_names};
use fbint_macros_core::program::{Input, Program};

pub use function::{ARRAYS, Function};

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
    /// There is no code generator for this processor.
    #[error("no machine code can be made for this processor: {0}")]
    Processor(String),
    /// An input of a program has no place.
    #[error("a program reads what it is not given")]
    Input,
    /// The code generator refuses a program.
    #[error("a program cannot be compiled: {0}")]
    Program(Box<ModuleError>),
}

impl From<ModuleError> for Error {
    fn from(error: ModuleError) -> Self {
        Self::Program(Box::new(error))
    }
}

/// Compiles programs. `place` says where they find their inputs, or that they are not given.
///
/// The code stays in memory as long as the process runs, as that of the process itself.
///
/// # Errors
///
/// If no code can be made for this processor, or for a program, which then reads what has no place, or is too large.
pub fn compile(programs: &[&Program], place: &dyn Fn(Input) -> Option<Place>) -> Result<Vec<Function>, Error> {
    let mut module = module()?;
    let mut context = translate::Translation::new(&mut module)?;
    let mut declared = Vec::new();
    for program in programs {
        declared.push(context.function(&mut module, program, place)?);
    }
    module.finalize_definitions()?;
    Ok(declared.into_iter().map(|shape| function::finished(&module, shape)).collect())
}

/// A module for this processor, with all that it can do, and the functions that programs call.
fn module() -> Result<JITModule, Error> {
    let mut flags = settings::builder();
    for (name, value) in [("opt_level", "speed"), ("use_colocated_libcalls", "false"), ("is_pic", "false")] {
        flags.set(name, value).map_err(|error| Error::Processor(error.to_string()))?;
    }
    let isa = cranelift_native::builder().map_err(|error| Error::Processor(error.to_owned()))?;
    let isa = isa.finish(settings::Flags::new(flags)).map_err(|error| Error::Processor(error.to_string()))?;
    let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
    function::symbols(&mut builder);
    Ok(JITModule::new(builder))
}
