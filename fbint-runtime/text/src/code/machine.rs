//! A program as machine code, which is made when it is first needed.

use std::sync::{Arc, OnceLock};

use fbint_macros_core::program::Program;
use fbint_native::{Function, compile};

use super::Layout;

/// A program, and its machine code from the first call on.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    program: Program,
    layout: Arc<Layout>,
    function: OnceLock<Option<Function>>,
}

impl Machine {
    pub(super) fn new(program: Program, layout: &Arc<Layout>) -> Self {
        Self { program, layout: Arc::clone(layout), function: OnceLock::new() }
    }

    /// The code, unless there is none for this processor or for this program: then it is interpreted.
    pub(crate) fn function(&self) -> Option<&Function> {
        self.function.get_or_init(|| self.compiled()).as_ref()
    }

    /// The code, if it was made before.
    pub(crate) fn made(&self) -> Option<&Function> {
        self.function.get()?.as_ref()
    }

    fn compiled(&self) -> Option<Function> {
        let place = |input| self.layout.place_in_arrays(input);
        compile(&[&self.program], &place).ok()?.pop()
    }
}
