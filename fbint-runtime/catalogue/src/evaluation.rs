//! A model at a state: its functions, and their derivatives by the state, the inputs and the parameters.
//!
//! Dual numbers differentiate, exactly to rounding. Numbers that depend on parameters alone are computed once for a model, so that a
//! derivative by a parameter has the derivative of that inside.

use std::array;

use fbint_runtime::{Dual, Error, Scalar, StateRole, tableau};

use crate::flat_model::FlatModel;
use crate::flat_system::even;
use crate::functions::{Given, ListFunction, MatrixFunction, Source};
use crate::inputs::own_inputs;

/// A model with its parameters, and with the inputs that it has by itself or that are given.
pub struct Evaluation<'m> {
    model: &'m dyn FlatModel,
    prepared: Vec<f64>,
    inputs: Option<Vec<f64>>,
}

/// The part of the way between two states by which a switch is passed on either side.
const BESIDE: f64 = 1e-9;
/// A rate jumps where it changes by more than this part of its size.
const JUMP: f64 = 1e-6;

/// The variables by which a function is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// An entry of the state.
    Entry(usize),
    /// An entry of the inputs.
    Input(usize),
}

/// A method with a step of one size, whose runs are differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplicitMethod {
    /// See [`tableau::EULER`].
    Euler,
    /// See [`tableau::MIDPOINT`].
    Midpoint,
    /// See [`tableau::HEUN`].
    Heun,
    /// See [`tableau::RK4`].
    Rk4,
}

/// The direction of a derivative of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunDirection {
    /// The derivatives of the entries of the start.
    pub start: Vec<f64>,
    /// The derivatives of the [numbers](FlatModel::prepared) that depend on parameters alone.
    pub prepared: Vec<f64>,
}

impl<'m> Evaluation<'m> {
    /// The model with these inputs, or else with those that it gives itself in each state.
    pub fn new(model: &'m dyn FlatModel, inputs: Option<Vec<f64>>) -> Self {
        let padded = |mut inputs: Vec<f64>| {
            inputs.resize(model.facts().given_numbers(), 0.0);
            even(&inputs).into_owned()
        };
        Self { model, prepared: even(&model.prepared()).into_owned(), inputs: inputs.map(padded) }
    }

    /// The inputs in a state.
    pub fn inputs(&self, state: &[f64]) -> Vec<f64> {
        self.inputs.clone().unwrap_or_else(|| own_inputs(self.model, &self.prepared, state))
    }

    /// The declared outputs.
    pub fn outputs(&self, state: &[f64]) -> Vec<f64> {
        self.list(ListFunction::Outputs, self.model.facts().output_names.len(), state, &[])
    }

    /// For each integral the multiplier of its reaction, 0 for one that is not a constraint.
    pub fn multipliers(&self, state: &[f64]) -> Vec<f64> {
        self.list(ListFunction::Multipliers, self.model.facts().integrals.len(), state, &[])
    }

    /// The field, without projection and gains.
    pub fn field(&self, state: &[f64]) -> Vec<f64> {
        self.list(ListFunction::VectorField, state.len(), state, &[])
    }

    /// The first switch of the field that changes its side on the way from a state to another one, and at which the field jumps.
    pub fn jump(&self, from: &[f64], to: &[f64]) -> Option<&'static str> {
        let names = self.model.facts().switches;
        let at = |fraction: f64| from.iter().zip(to).map(|(a, b)| a + fraction * (b - a)).collect::<Vec<f64>>();
        let switch =
            |place: usize, fraction: f64| self.list(ListFunction::Switches, names.len(), &at(fraction), &[])[place];
        let jumps = |place: &usize| {
            let [begin, end] = [0.0, 1.0].map(|fraction| switch(*place, fraction));
            if begin * end > 0.0 {
                return false;
            }
            let is_beyond = |value: f64| if begin == 0.0 { value * end > 0.0 } else { value * begin <= 0.0 };
            let [mut before, mut beyond] = [0.0, 1.0];
            while beyond - before > BESIDE {
                let middle = 0.5 * (before + beyond);
                *(if is_beyond(switch(*place, middle)) { &mut beyond } else { &mut before }) = middle;
            }
            // Where the field has a kink alone, a rate may be 0 on one side: its size is that in the states around.
            let around = [-1.0, 0.0, 1.0, 2.0].map(|fraction| self.field(&at(fraction)));
            let size = |entry: usize| around.iter().fold(0.0, |size: f64, rates| size.max(rates[entry].abs()));
            let [a, b] = [before - BESIDE, beyond + BESIDE].map(|fraction| self.field(&at(fraction)));
            (0..a.len()).any(|entry| (a[entry] - b[entry]).abs() > JUMP * size(entry))
        };
        (0..names.len()).find(jumps).map(|place| names[place])
    }

    /// The number of velocities of a Lagrangian system, which its mass matrix has as rows and columns; 0 for any other.
    pub fn velocities(&self) -> usize {
        self.model.facts().state.iter().filter(|entry| entry.role == StateRole::Velocity).count()
    }

    /// The mass matrix of a Lagrangian system, row by row.
    pub fn mass_matrix(&self, state: &[f64]) -> Vec<f64> {
        let (x, inputs, size) = (even(state), self.inputs(state), self.velocities());
        let mut matrix = vec![0.0; size * size];
        let given = self.given(&x, &inputs);
        self.model.functions().matrix(MatrixFunction::MassMatrix, &given, &mut matrix, size.max(1));
        matrix
    }

    /// The forces along the velocities of a Lagrangian system that give these accelerations, in addition to those that are declared.
    pub fn inverse_dynamics(&self, state: &[f64], accelerations: &[f64]) -> Vec<f64> {
        self.list(ListFunction::InverseDynamics, self.velocities(), state, &even(accelerations))
    }

    fn list(&self, function: ListFunction, count: usize, state: &[f64], first: &[f64]) -> Vec<f64> {
        let (x, inputs, mut list) = (even(state), self.inputs(state), vec![0.0; count.next_multiple_of(2)]);
        if count > 0 {
            let given = self.given(&x, &inputs).with(Source::First, first);
            self.model.functions().list(function, &given, &|_| {}, &mut list);
        }
        list.truncate(count);
        list
    }

    fn given<'a>(&'a self, state: &'a [f64], inputs: &'a [f64]) -> Given<'a, f64> {
        Given::default().with(Source::State, state).with(Source::Prepared, &self.prepared).with(Source::Inputs, inputs)
    }

    /// The derivative of the field by an unknown, with all other inputs held.
    pub fn field_slopes(&self, state: &[f64], by: Unknown) -> Vec<f64> {
        self.slopes(ListFunction::VectorField, state.len(), state, by)
    }

    /// The derivative of the outputs by an unknown, with all other inputs held.
    pub fn output_slopes(&self, state: &[f64], by: Unknown) -> Vec<f64> {
        self.slopes(ListFunction::Outputs, self.model.facts().output_names.len(), state, by)
    }

    fn slopes(&self, function: ListFunction, count: usize, state: &[f64], by: Unknown) -> Vec<f64> {
        let (mut x, mut inputs) = (duals(&even(state), &[]), duals(&self.inputs(state), &[]));
        match by {
            Unknown::Entry(entry) => x[entry].slope = 1.0,
            Unknown::Input(input) => inputs[input].slope = 1.0,
        }
        self.dual_list(function, count, [&x, &duals(&self.prepared, &[]), &inputs])
    }

    /// The derivative of the field along a direction of what depends on parameters alone, with inputs held.
    pub fn field_slopes_of_prepared(&self, state: &[f64], direction: &[f64]) -> Vec<f64> {
        let given =
            [&duals(&even(state), &[])[..], &duals(&self.prepared, direction), &duals(&self.inputs(state), &[])];
        self.dual_list(ListFunction::VectorField, state.len(), given)
    }

    fn dual_list(&self, function: ListFunction, count: usize, [x, prepared, inputs]: [&[Dual]; 3]) -> Vec<f64> {
        if count == 0 {
            return Vec::new();
        }
        let mut list = vec![Dual::from_f64(0.0); count.next_multiple_of(2)];
        let given =
            Given::default().with(Source::State, x).with(Source::Prepared, prepared).with(Source::Inputs, inputs);
        self.model.functions().list(function, &given, &|_| {}, &mut list);
        list.iter().take(count).map(|entry| entry.slope).collect()
    }

    /// The end of a run of steps of size `h` without projections, and its derivative along a direction: the derivative of what the steps
    /// compute, to rounding.
    ///
    /// # Errors
    ///
    /// If the inputs are functions in Rust, which have no derivatives, or laws that are sampled.
    pub fn run_slopes(
        &self,
        start: &[f64],
        direction: &RunDirection,
        (method, h, steps): (ExplicitMethod, f64, u64),
    ) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let refuse = |reason| {
            let (system, method) = (self.model.facts().name, "the derivative of a run");
            Err(Error::NotApplicable { method, system, reason })
        };
        if self.inputs.is_none() && self.model.input().is_some() {
            return refuse("its inputs are a function in Rust: declare their laws, or give them as numbers");
        }
        if self.inputs.is_none() && self.model.facts().law_delay.is_some() {
            return refuse("the laws of its inputs are sampled: give the inputs as numbers");
        }
        let x = duals(start, &direction.start);
        let prepared = duals(&self.prepared, &direction.prepared);
        let end = match start.len() {
            0..=8 => self.follow::<8>(&x, &prepared, (method, h, steps)),
            9..=16 => self.follow::<16>(&x, &prepared, (method, h, steps)),
            17..=48 => self.follow::<48>(&x, &prepared, (method, h, steps)),
            49..=LONGEST => self.follow::<LONGEST>(&x, &prepared, (method, h, steps)),
            _ => return refuse("its state has more than 192 entries"),
        };
        Ok(end.iter().map(|entry| (entry.value, entry.slope)).unzip())
    }

    fn follow<const N: usize>(
        &self,
        start: &[Dual],
        prepared: &[Dual],
        (method, h, steps): (ExplicitMethod, f64, u64),
    ) -> Vec<Dual> {
        let zero = Dual::from_f64(0.0);
        let mut x: [Dual; N] = array::from_fn(|entry| start.get(entry).copied().unwrap_or(zero));
        let (functions, facts) = (self.model.functions(), self.model.facts());
        let held = duals(self.inputs.as_deref().unwrap_or(&vec![0.0; facts.given_numbers().next_multiple_of(2)]), &[]);
        let has_law = self.inputs.is_none() && facts.has_laws();
        let field = |x: &[Dual; N]| {
            let mut inputs = held.clone();
            let given = Given::default().with(Source::State, &x[..]).with(Source::Prepared, prepared);
            if has_law {
                functions.list(ListFunction::Law, &given.with(Source::Inputs, &held), &|_| {}, &mut inputs);
            }
            let mut rates = [zero; N];
            functions.list(ListFunction::VectorField, &given.with(Source::Inputs, &inputs), &|_| {}, &mut rates);
            rates
        };
        for _ in 0..steps {
            let h = Dual::from_f64(h);
            match method {
                ExplicitMethod::Euler => tableau::EULER.step(field, &mut x, h),
                ExplicitMethod::Midpoint => tableau::MIDPOINT.step(field, &mut x, h),
                ExplicitMethod::Heun => tableau::HEUN.step(field, &mut x, h),
                ExplicitMethod::Rk4 => tableau::RK4.step(field, &mut x, h),
            }
        }
        x[..start.len()].to_vec()
    }
}

/// The most entries of a state whose runs are differentiated.
const LONGEST: usize = 192;

/// Numbers with these slopes, or 0.
fn duals(values: &[f64], slopes: &[f64]) -> Vec<Dual> {
    let dual = |(index, &value): (usize, &f64)| Dual { value, slope: slopes.get(index).copied().unwrap_or(0.0) };
    values.iter().enumerate().map(dual).collect()
}

/// The derivative of numbers by a parameter with this value, where `numbers` gives them for others: by the central difference of order 8,
/// whose error is about 1e-12 of the derivative.
pub fn slopes_by_differences(value: f64, numbers: &dyn Fn(f64) -> Vec<f64>) -> Vec<f64> {
    const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let size = if value == 0.0 { 1.0 } else { value.abs() };
    let h = size / 32.0;
    let mut slopes = vec![0.0; numbers(value).len()];
    for (distance, weight) in (1..).zip(WEIGHTS) {
        let step = f64::from(distance) * h;
        let (up, down) = (numbers(value + step), numbers(value - step));
        for (slope, (up, down)) in slopes.iter_mut().zip(up.iter().zip(down)) {
            *slope += weight * (up - down) / h;
        }
    }
    slopes
}
