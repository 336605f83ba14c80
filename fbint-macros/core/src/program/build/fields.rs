//! Generated functions as row-by-row sums over the integrals.
//!
//! With c from C^T c = b (or the holonomic blocks) and y = K (F - F_target), every function is a sum over the integrals r of a scalar
//! times an entry of a gradient:
//!
//!   X         = J sum_r w_r dF_r          w_H = 1, w_f = -c_f, w_I = 0       (CPV22 eq. 4)
//!   grad V    =   sum_r y_r dF_r
//!   feedback  = X - grad V                                                    (CPV22 eq. 6, L = I but for the time)
//!
//! X is lowered like this where brackets of the constraints determine it, because its gradients and brackets share more than the linear
//! systems and rates of the field show. Other fields are lowered step by step: linear systems are solved, and then come the rates.
//! Canonical systems with velocity constraints have such fields: the sleigh takes 47 operations so and 53 by gradients, two blades 16 and
//! 22, the rolling disk 35 either way; where there are holonomic constraints and forces, too, gradients took 151 in place of 161.

use std::cell::OnceCell;

use super::lower::{Lowering, TermOrder};
use super::monomial::Monomial;
use super::multipliers::weights;
use super::normalise::Normalised;
use super::switches::Switch;
use super::systems::solve;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, IntegralId, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::program::code::{Program, Value};

/// The parts that functions are built from.
pub(crate) struct FunctionParts<'a> {
    pub(crate) derivation: &'a Derivation,
    pub(crate) switches: &'a [Switch],
    /// The beginning of functions that need normalised gradients.
    normalised: (Lowering<'a>, Normalised),
    /// The beginning of functions that need the solutions of the linear systems, with the weights of constraints in X.
    solved: OnceCell<(Lowering<'a>, Weights)>,
}

/// By what each constraint's normalised row enters X, where brackets determine it.
type Weights = Vec<(IntegralId, Monomial)>;

impl<'a> FunctionParts<'a> {
    pub(crate) fn new(derivation: &'a Derivation, switches: &'a [Switch]) -> Self {
        let mut lowering = Lowering::with_switches(&derivation.symbols, switches);
        let normalised = Normalised::of(derivation, &mut lowering);
        Self { derivation, switches, normalised: (lowering, normalised), solved: OnceCell::new() }
    }

    /// The beginning of a function that needs no normalised gradients.
    pub(crate) fn lowering(&self) -> Lowering<'a> {
        Lowering::with_switches(&self.derivation.symbols, self.switches)
    }

    /// Once for all functions that begin so.
    fn solved(&self) -> (Lowering<'a>, Weights) {
        let solved = || {
            let mut lowering = self.normalised.0.clone();
            let weights = self.solve(&mut lowering);
            (lowering, weights)
        };
        self.solved.get_or_init(solved).clone()
    }

    fn solve(&self, lowering: &mut Lowering<'a>) -> Weights {
        if self.derivation.constraints().is_none() {
            solve(lowering, &self.derivation.field);
        }
        weights(self.derivation, &self.normalised.1, lowering)
    }

    /// The beginning of a function of the unknowns of the linear systems, for which their symbols stand.
    fn lowering_with_multipliers(&self) -> Lowering<'a> {
        let derivation = self.derivation;
        let (mut lowering, weights) = self.solved();
        for (constraint, weight) in weights {
            let multiplier = weight.negated().times(&self.normalised.1.factors[constraint].inverse());
            if let Some(symbol) = derivation.symbols.multiplier(constraint) {
                let value = lowering.materialise(&multiplier);
                lowering.bind(symbol, Monomial::value(value));
            }
        }
        lowering
    }
}

/// X
pub(crate) fn vector_field(parts: &FunctionParts<'_>) -> Program {
    field(parts, true, false)
}

/// grad V
pub(crate) fn potential_gradient(parts: &FunctionParts<'_>) -> Program {
    field(parts, false, true)
}

/// X - grad V
pub(crate) fn feedback_field(parts: &FunctionParts<'_>) -> Program {
    field(parts, true, true)
}

/// F
pub(crate) fn integrals(parts: &FunctionParts<'_>) -> Program {
    parts.lowering().program(parts.derivation.integrals.rows().map(|integral| &integral.value))
}

/// DF, row by row.
pub(crate) fn jacobian(parts: &FunctionParts<'_>) -> Program {
    let derivation = parts.derivation;
    let mut lowering = parts.lowering();
    let zero = lowering.builder.constant(0.0);
    let mut outputs = Vec::new();
    for id in derivation.integrals.ids() {
        for state in derivation.symbols.states() {
            outputs.push(derivation.integrals[id].gradient.get(&state).map_or(zero, |entry| lowering.lower(entry)));
        }
    }
    lowering.builder.finish(outputs)
}

/// c, for every integral; 0 where there is none.
pub(crate) fn multipliers(parts: &FunctionParts<'_>) -> Program {
    let Derivation { symbols, integrals, .. } = parts.derivation;
    let has_any = integrals.ids().any(|id| symbols.multiplier(id).is_some());
    let mut lowering = if has_any { parts.lowering_with_multipliers() } else { parts.lowering() };
    let zero = lowering.builder.constant(0.0);
    let mut value = |id| symbols.multiplier(id).map_or(zero, |symbol| lowering.lower(&Expression::from(symbol)));
    let outputs = integrals.ids().map(&mut value).collect();
    lowering.builder.finish(outputs)
}

/// The declared outputs.
pub(crate) fn outputs(parts: &FunctionParts<'_>) -> Program {
    let outputs = &parts.derivation.outputs;
    let lowering = if outputs.is_empty() { parts.lowering() } else { parts.lowering_with_multipliers() };
    lowering.program(outputs.iter().map(|output| &output.value))
}

/// The inputs by their laws.
pub(crate) fn laws(parts: &FunctionParts<'_>) -> Program {
    parts.lowering().program(&parts.derivation.laws)
}

/// Expressions of the state, the parameters and numbers.
pub fn of_expressions(expressions: &[Expression], symbols: &Symbols) -> Program {
    Lowering::new(symbols).program(expressions)
}

/// For each integral three numbers, by which functions that take the law in the normalised form have it: they hand it f with
/// F = scale (f + offset), and take back `factor` times y. SparseRow<Monomial> by row: factor, scale, offset.
pub(crate) fn normalisation(parts: &FunctionParts<'_>) -> Program {
    let derivation = parts.derivation;
    let (mut lowering, normalised) = parts.normalised.clone();
    let ids = derivation.integrals.ids();
    let numbers = ids
        .flat_map(|id| [&normalised.factors[id], &normalised.scales[id], &normalised.offsets[id]])
        .map(|number| lowering.materialise(number))
        .collect();
    lowering.builder.finish(numbers)
}

/// X with the laws of inputs in the place of the inputs.
pub(crate) fn closed_loop(parts: &FunctionParts<'_>) -> Program {
    let derivation = parts.derivation;
    let mut lowering = parts.normalised.0.clone();
    let laws: Vec<Monomial> = derivation.laws.iter().map(|law| lowering.monomial(law)).collect();
    for (input, law) in derivation.symbols.inputs().zip(laws) {
        lowering.bind(input, law);
    }
    let mut rows = derivation.symbols.over_states(|_| Vec::new());
    let weights = parts.solve(&mut lowering);
    add_dynamics(parts, weights, &mut lowering, &mut rows);
    let outputs = lowering.sums(order(derivation), rows.into_iter().collect());
    lowering.builder.finish(outputs)
}

/// X, grad V, or X - grad V. Gradients are applied row by row without their constant factors, which the law has in its gains.
fn field(parts: &FunctionParts<'_>, with_dynamics: bool, with_feedback: bool) -> Program {
    let derivation = parts.derivation;
    let normalised = &parts.normalised.1;
    let mut rows = derivation.symbols.over_states(|_| Vec::new());
    let (mut lowering, integrals) = if with_feedback {
        let mut lowering = parts.normalised.0.clone();
        let integrals = normalised.integrals(&mut lowering);
        if with_dynamics {
            let weights = parts.solve(&mut lowering);
            add_dynamics(parts, weights, &mut lowering, &mut rows);
        }
        (lowering, integrals)
    } else {
        let (mut lowering, weights) = parts.solved();
        add_dynamics(parts, weights, &mut lowering, &mut rows);
        (lowering, Vec::new())
    };
    if with_feedback {
        let law = lowering.weigh(integrals);
        for (id, gradient) in normalised.rows.iter() {
            let weight = lowering.weighed(law, id);
            // The time passes whatever the integrals are.
            let is_moved = |column: Symbol| !with_dynamics || derivation.symbols[column].role != Role::Time;
            for (column, entry) in gradient.iter().filter(|(column, _)| is_moved(**column)) {
                let term = entry.clone().times(&weight);
                rows[*column].push(if with_dynamics { term.negated() } else { term });
            }
        }
    }
    let outputs = lowering.sums(order(derivation), rows.into_iter().collect());
    lowering.builder.finish(outputs)
}

/// The order in which the terms of a rate are added: as they are written, unless it is made of brackets.
fn order(derivation: &Derivation) -> TermOrder {
    if derivation.constraints().is_some() { TermOrder::Arranged } else { TermOrder::Written }
}

/// Adds X, term by term, after linear systems are solved.
fn add_dynamics(
    parts: &FunctionParts<'_>,
    mut weights: Weights,
    lowering: &mut Lowering,
    rows: &mut Table<Symbol, Vec<Monomial>>,
) {
    let (derivation, normalised) = (parts.derivation, &parts.normalised.1);
    if derivation.constraints().is_none() {
        for (state, rate) in derivation.field.rates.iter() {
            rows[state].extend(lowering.terms(rate));
        }
        return;
    }
    weights.extend(derivation.integrals.energy().map(|energy| (energy, normalised.factors[energy].clone())));
    add_flow(derivation, normalised, lowering, &weights, rows);
    for force in &derivation.drive.forces {
        rows[force.momentum].extend(lowering.terms(&force.value));
    }
    if let Some(time) = derivation.drive.time {
        rows[time].push(Monomial::one());
    }
    add_power(derivation, lowering, rows);
}

/// Adds J v to rows that are empty, term by term, where v is the sum of these normalised rows, each with its weight; along the work v_t.
fn add_flow(
    derivation: &Derivation,
    normalised: &Normalised,
    lowering: &mut Lowering,
    weights: &[(IntegralId, Monomial)],
    rows: &mut Table<Symbol, Vec<Monomial>>,
) {
    let symbols = &derivation.symbols;
    let structure: Vec<(Symbol, SparseRow)> =
        symbols.states().map(|state| (state, derivation.structure.row(symbols, state))).collect();
    for (id, weight) in weights {
        for (state, row) in &structure {
            for (column, entry) in row {
                let slope = normalised.rows[*id].get(column).map(|slope| slope.clone().times(weight));
                rows[*state].extend(slope.map(|slope| lowering.monomial(entry).times(&slope)));
            }
        }
    }
    if let (Some(work), Some(time)) = (derivation.drive.work, derivation.drive.time) {
        for (id, weight) in weights {
            let by_time = normalised.rows[*id].get(&time);
            rows[work].extend(by_time.map(|entry| entry.clone().times(weight)));
        }
    }
}

/// Adds Q . q' to the rate of the work, with the rates of the coordinates as the field has them.
fn add_power(derivation: &Derivation, lowering: &mut Lowering, rows: &mut Table<Symbol, Vec<Monomial>>) {
    let Some(work) = derivation.drive.work else { return };
    let rates: Table<Symbol, Value> =
        lowering.sums(order(derivation), rows.rows().cloned().collect()).into_iter().collect();
    for force in &derivation.drive.forces {
        let rate = lowering.opaque(&Monomial::value(rates[force.coordinate]));
        rows[work].push(lowering.monomial(&force.value).times(&rate));
    }
}

/// The terms of the scalar product of two sparse rows.
pub(crate) fn dot_product(a: &SparseRow<Monomial>, b: &SparseRow<Monomial>) -> Vec<Monomial> {
    let mut terms = Vec::new();
    for (column, x) in a {
        terms.extend(b.get(column).map(|y| x.clone().times(y)));
    }
    terms
}
