//! A model from text as the code of its functions.

use std::sync::{Arc, OnceLock};

use fbint_catalogue::{ListFunction, MatrixFunction};
use fbint_macros_core::derivation::Role;
use fbint_macros_core::program::{
    FEEDBACK_FIELD, FEEDBACK_FIELD_DERIVATIVES, GeneratedFunction, INTEGRALS, INVERSE_DYNAMICS, JACOBIAN, LAW,
    LAW_JACOBIAN, MASS_MATRIX, MOMENTUM_RATES, MOMENTUM_RATES_JACOBIAN, MOMENTUM_STATE, MOMENTUM_STATE_JACOBIAN,
    MULTIPLIERS, OUTPUTS, POTENTIAL_GRADIENT, PROJECTION, Program, SWITCHES, Trait, VECTOR_FIELD,
    VECTOR_FIELD_DERIVATIVES,
};
use fbint_macros_core::text::{Mistake, Model};
use fbint_runtime::SystemFacts;

use crate::code::{Code, Columns, Layout, MOST_REGISTERS};
use crate::facts::facts;
use crate::series::TextSeries;

/// The facts of a model, and its functions.
#[derive(Debug)]
pub(crate) struct ModelFunctions {
    pub(crate) facts: &'static SystemFacts,
    /// The derivation and the programs.
    pub(crate) model: Arc<Model>,
    source: OnceLock<String>,
    equations: OnceLock<String>,
    latex: OnceLock<String>,
    pub(crate) zero_targets: Vec<bool>,
    pub(crate) prepare: Code,
    pub(crate) defaults: Option<Code>,
    pub(crate) start: Option<Code>,
    /// The time between two samples of the laws of inputs.
    pub(crate) law_period: Option<Code>,
    /// The functions of the events and the coordinates of the drawing, by the state and the parameters.
    pub(crate) events: Code,
    pub(crate) drawing: Code,
    normalisation: Code,
    vector_field: Code,
    integrals: Code,
    integrals_jacobian: Code,
    multipliers: Code,
    outputs: Code,
    potential_gradient: Code,
    feedback_field: Code,
    projection: Code,
    /// The Jacobian of the field, and of the field with feedback, by the state and the inputs.
    pub(crate) jacobians: Option<[Code; 2]>,
    hamel: Option<HamelFunctions>,
    lagrangian: Option<LagrangianFunctions>,
    pub(crate) series: TextSeries,
    /// The laws of inputs, and their derivatives by the state.
    laws: Option<[Code; 2]>,
    switches: Option<Code>,
}

/// The functions of the discrete Hamel integrator.
#[derive(Debug)]
struct HamelFunctions {
    momentum_state: Code,
    momentum_rates: Code,
    momentum_state_jacobian: Code,
    momentum_rates_jacobian: Code,
}

/// The functions of a Lagrangian system.
#[derive(Debug)]
struct LagrangianFunctions {
    mass_matrix: Code,
    inverse_dynamics: Code,
}

impl ModelFunctions {
    /// The code of a model, or why there is none.
    pub(crate) fn of(model: Model) -> Result<Self, Mistake> {
        let writer = CodeWriter { model: &model, layout: Arc::new(Layout::of(&model.derivation.symbols)) };
        let beginning = |program: &Option<Program>| program.as_ref().map(|program| writer.list(program)).transpose();
        Ok(Self {
            zero_targets: model.programs.zero_targets(&model.derivation),
            prepare: writer.list(&model.programs.prepare)?,
            defaults: beginning(&model.defaults)?,
            start: beginning(&model.start)?,
            law_period: model.sampling.as_ref().map(|(period, _)| writer.list(period)).transpose()?,
            events: writer.list(&model.events)?,
            drawing: writer.list(&model.drawing)?,
            normalisation: writer.matrix(&model.programs.normalisation, Columns::all(3))?,
            vector_field: writer.function(&VECTOR_FIELD)?,
            integrals: writer.function(&INTEGRALS)?,
            integrals_jacobian: writer.square(&JACOBIAN)?,
            multipliers: writer.function(&MULTIPLIERS)?,
            outputs: writer.function(&OUTPUTS)?,
            potential_gradient: writer.function(&POTENTIAL_GRADIENT)?,
            feedback_field: writer.function(&FEEDBACK_FIELD)?,
            projection: writer.function(&PROJECTION)?,
            jacobians: writer.jacobians()?,
            hamel: writer.hamel()?,
            lagrangian: writer.lagrangian()?,
            series: TextSeries::new(&model.programs, &writer.layout),
            laws: writer.laws()?,
            switches: (!model.switches.is_empty()).then(|| writer.function(&SWITCHES)).transpose()?,
            facts: facts(&model),
            source: OnceLock::new(),
            equations: OnceLock::new(),
            latex: OnceLock::new(),
            model: Arc::new(model),
        })
    }

    /// The derivation in plain text, printed once.
    pub(crate) fn equations(&self) -> &str {
        self.equations.get_or_init(|| self.model.equations())
    }

    /// The derivation in LaTeX, printed once.
    pub(crate) fn latex(&self) -> &str {
        self.latex.get_or_init(|| self.model.latex())
    }

    /// The Rust of the functions, printed once.
    pub(crate) fn source(&self) -> &str {
        self.source.get_or_init(|| self.model.source())
    }

    /// The code of a function that gives a list, if there is any.
    pub(crate) fn of_list(&self, function: ListFunction) -> Option<&Code> {
        Some(match function {
            ListFunction::VectorField => &self.vector_field,
            ListFunction::Integrals => &self.integrals,
            ListFunction::Multipliers => &self.multipliers,
            ListFunction::Outputs => &self.outputs,
            ListFunction::PotentialGradient => &self.potential_gradient,
            ListFunction::FeedbackField => &self.feedback_field,
            ListFunction::Projection => &self.projection,
            ListFunction::MomentumState => &self.hamel.as_ref()?.momentum_state,
            ListFunction::Law => &self.laws.as_ref()?[0],
            ListFunction::Switches => self.switches.as_ref()?,
            ListFunction::MomentumRates => &self.hamel.as_ref()?.momentum_rates,
            ListFunction::InverseDynamics => &self.lagrangian.as_ref()?.inverse_dynamics,
        })
    }

    /// The code of a function that gives a matrix, if there is any.
    pub(crate) fn of_matrix(&self, function: MatrixFunction) -> Option<&Code> {
        Some(match function {
            MatrixFunction::IntegralsJacobian => &self.integrals_jacobian,
            MatrixFunction::Normalisation => &self.normalisation,
            MatrixFunction::MomentumStateJacobian => &self.hamel.as_ref()?.momentum_state_jacobian,
            MatrixFunction::LawJacobian => &self.laws.as_ref()?[1],
            MatrixFunction::MomentumRatesJacobian => &self.hamel.as_ref()?.momentum_rates_jacobian,
            MatrixFunction::MassMatrix => &self.lagrangian.as_ref()?.mass_matrix,
        })
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

    fn laws(&self) -> Result<Option<[Code; 2]>, Mistake> {
        if self.model.derivation.laws.is_empty() {
            return Ok(None);
        }
        Ok(Some([self.function(&LAW)?, self.square(&LAW_JACOBIAN)?]))
    }

    fn lagrangian(&self) -> Result<Option<LagrangianFunctions>, Mistake> {
        let model = self.model;
        if !model.programs.functions().any(|(function, _)| function.owner == Trait::Lagrangian) {
            return Ok(None);
        }
        let velocities = model.derivation.symbols.with(|role| role == Role::Velocity).len();
        Ok(Some(LagrangianFunctions {
            mass_matrix: self.matrix(&model.programs[&MASS_MATRIX], Columns::all(velocities))?,
            inverse_dynamics: self.function(&INVERSE_DYNAMICS)?,
        }))
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
