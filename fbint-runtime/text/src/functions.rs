//! A model from text as the code of its functions.

use std::sync::Arc;

use fbint_macros_core::program::{
    FEEDBACK_FIELD, FEEDBACK_FIELD_DERIVATIVES, GeneratedFunction, INTEGRALS, JACOBIAN, MOMENTUM_RATES,
    MOMENTUM_RATES_JACOBIAN, MOMENTUM_STATE, MOMENTUM_STATE_JACOBIAN, MULTIPLIERS, OUTPUTS, POTENTIAL_GRADIENT,
    PROJECTION, Program, REACTION_FIELD, SQUARED_GRADIENTS, VECTOR_FIELD, VECTOR_FIELD_DERIVATIVES,
};
use fbint_macros_core::text::{MOST_ENTRIES, Mistake, Model};
use fbint_runtime::SystemFacts;

use crate::code::{Code, Columns, Layout, MOST_REGISTERS};
use crate::facts::facts;

/// How many vectors what depends on parameters alone may fill.
pub(crate) const PREPARED: usize = 4;

/// What a model is, and its functions.
#[derive(Debug)]
pub(crate) struct Functions {
    facts: SystemFacts,
    /// The number of numbers that depend on parameters alone.
    pub(crate) prepared: usize,
    pub(crate) zero_targets: Vec<bool>,
    pub(crate) prepare: Code,
    pub(crate) defaults: Option<Code>,
    pub(crate) start: Option<Code>,
    pub(crate) normalisation: Code,
    pub(crate) vector_field: Code,
    pub(crate) integrals: Code,
    pub(crate) integrals_jacobian: Code,
    pub(crate) multipliers: Code,
    pub(crate) outputs: Code,
    pub(crate) potential_gradient: Code,
    pub(crate) feedback_field: Code,
    pub(crate) projection: Code,
    pub(crate) squared_gradients: Code,
    pub(crate) reaction_field: Code,
    /// The Jacobian of the field, and of the field with feedback, by the state and the inputs.
    pub(crate) jacobians: Option<[Code; 2]>,
    pub(crate) hamel: Option<HamelFunctions>,
}

/// The functions of the discrete Hamel integrator.
#[derive(Debug)]
pub(crate) struct HamelFunctions {
    pub(crate) momentum_state: Code,
    pub(crate) momentum_rates: Code,
    pub(crate) momentum_state_jacobian: Code,
    pub(crate) momentum_rates_jacobian: Code,
}

impl Functions {
    /// The code of a model, or why there is none.
    pub(crate) fn of(model: Model) -> Result<Self, Mistake> {
        let writer = CodeWriter { model: &model, layout: Arc::new(Layout::of(&model.derivation.symbols)) };
        let prepared = model.programs.prepare.outputs.len();
        if prepared > PREPARED * MOST_ENTRIES {
            let most = PREPARED * MOST_ENTRIES;
            return Err(writer.refusal(&format!("{prepared} numbers that depend on parameters alone"), most));
        }
        let beginning = |program: &Option<Program>| program.as_ref().map(|program| writer.list(program)).transpose();
        Ok(Self {
            prepared,
            zero_targets: model.programs.zero_targets(&model.derivation),
            prepare: writer.list(&model.programs.prepare)?,
            defaults: beginning(&model.defaults)?,
            start: beginning(&model.start)?,
            normalisation: writer.matrix(&model.programs.normalisation, Columns::all(3))?,
            vector_field: writer.function(&VECTOR_FIELD)?,
            integrals: writer.function(&INTEGRALS)?,
            integrals_jacobian: writer.square(&JACOBIAN)?,
            multipliers: writer.function(&MULTIPLIERS)?,
            outputs: writer.function(&OUTPUTS)?,
            potential_gradient: writer.function(&POTENTIAL_GRADIENT)?,
            feedback_field: writer.function(&FEEDBACK_FIELD)?,
            projection: writer.function(&PROJECTION)?,
            squared_gradients: writer.function(&SQUARED_GRADIENTS)?,
            reaction_field: writer.function(&REACTION_FIELD)?,
            jacobians: writer.jacobians()?,
            hamel: writer.hamel()?,
            facts: facts(model),
        })
    }

    /// The same for as long as the program runs.
    pub(crate) fn kept(self) -> &'static Self {
        Box::leak(Box::new(self))
    }

    /// What the model is called.
    pub(crate) fn name(&self) -> &'static str {
        self.facts.name
    }

    /// What the model is.
    pub(crate) fn facts(&'static self) -> &'static SystemFacts {
        &self.facts
    }

    /// The length of vectors that are long enough for everything but the integrals.
    pub(crate) fn length(&self) -> usize {
        let SystemFacts { state, input_names, output_names, .. } = self.facts;
        let lists = [state.len(), input_names.len(), output_names.len()];
        lists.into_iter().fold(self.prepared.div_ceil(PREPARED), usize::max)
    }
}

/// Writes the code of one model's functions.
struct CodeWriter<'m> {
    model: &'m Model,
    layout: Arc<Layout>,
}

impl CodeWriter<'_> {
    fn matrix(&self, program: &Program, columns: Columns) -> Result<Code, Mistake> {
        self.unless_too_large(Code::of_matrix(program, columns, &self.layout))
    }

    fn refusal(&self, what: &str, most: usize) -> Mistake {
        let name = &self.model.name;
        Mistake::of_whole(&format!(
            "`{name}` has {what}, and a model from text has at most {most}: declare it in a crate"
        ))
    }

    fn list(&self, program: &Program) -> Result<Code, Mistake> {
        self.unless_too_large(Code::of_list(program, &self.layout))
    }

    fn unless_too_large(&self, code: Option<Code>) -> Result<Code, Mistake> {
        code.ok_or_else(|| self.refusal("more numbers at a time", MOST_REGISTERS))
    }

    fn function(&self, function: &GeneratedFunction) -> Result<Code, Mistake> {
        self.list(&self.model.programs[function])
    }

    /// A matrix with a column for each entry of the state.
    fn square(&self, function: &GeneratedFunction) -> Result<Code, Mistake> {
        let states = self.model.derivation.dimension();
        self.matrix(&self.model.programs[function], Columns::all(states))
    }

    /// The Jacobians of the fields, without derivatives by parameters, which no method takes.
    fn jacobians(&self) -> Result<Option<[Code; 2]>, Mistake> {
        if !self.model.derivatives {
            return Ok(None);
        }
        let symbols = &self.model.derivation.symbols;
        let (states, parameters) = (symbols.dimension(), symbols.parameters().count());
        let columns =
            Columns { count: states + parameters + symbols.inputs().count(), without: [states, states + parameters] };
        let code = |function: &GeneratedFunction| self.matrix(&self.model.programs[function], columns);
        Ok(Some([code(&VECTOR_FIELD_DERIVATIVES)?, code(&FEEDBACK_FIELD_DERIVATIVES)?]))
    }

    fn hamel(&self) -> Result<Option<HamelFunctions>, Mistake> {
        if !self.model.has_hamel_steps() {
            return Ok(None);
        }
        Ok(Some(HamelFunctions {
            momentum_state: self.function(&MOMENTUM_STATE)?,
            momentum_rates: self.function(&MOMENTUM_RATES)?,
            momentum_state_jacobian: self.square(&MOMENTUM_STATE_JACOBIAN)?,
            momentum_rates_jacobian: self.square(&MOMENTUM_RATES_JACOBIAN)?,
        }))
    }
}
