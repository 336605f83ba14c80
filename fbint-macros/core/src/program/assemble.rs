//! The generated functions of one model, from its derivation.
//!
//! With c from C^T c = b (or the holonomic blocks) and y = K (F - F_target), every function is a row-by-row sum over the
//! integrals r of a scalar times an entry of a gradient:
//!
//!   X         = J sum_r w_r dF_r          w_H = 1, w_f = -c_f, w_I = 0       (CPV22 eq. 4)
//!   grad V    =   sum_r y_r dF_r
//!   feedback  = X - grad V                                                    (CPV22 eq. 6, L = I)
//!
//! Where the field is given, X is what was given.

use super::factor::{Ldl, Matrix, Pivots, solve_antisymmetric};
use super::lower::{Lowering, Monomial};
use super::optimise::optimise;
use super::{Instruction, Program, Value};
use crate::derivation::{Constraints, Derivation, Field};
use crate::expression::{Expression, Symbol};

/// The programs of the generated functions.
#[derive(Clone, Debug)]
pub struct Programs {
    /// What depends on the parameters alone and the others read.
    pub prepare: Program,
    /// X
    pub vector_field: Program,
    /// F
    pub integrals: Program,
    /// DF, row by row.
    pub jacobian: Program,
    /// c, for every integral; 0 where there is none.
    pub multipliers: Program,
    /// The declared outputs.
    pub outputs: Program,
    /// grad V, through the feedback law.
    pub potential_gradient: Program,
    /// X - grad V, through the feedback law.
    pub feedback_field: Program,
    /// DF^T (DF DF^T + e D)^-1 y, where the law gives y from F.
    pub correction: Program,
    /// |dF_i|^2, the diagonal D of DF DF^T.
    pub squared_gradients: Program,
}

/// e, the damping of a correction relative to the diagonal D of DF DF^T: at a relative equilibrium, where DF loses rank, a
/// violation moves the state by at most 1 / (2 sqrt(e)) times its own size.
pub(super) const DAMPING: f64 = 1e-10;
/// Added to the diagonal, so that a row of DF that vanishes does no harm; its square is still a number.
const TINY: f64 = 1e-140;

impl Programs {
    /// Every program with the name of its function, the one that prepares first.
    pub fn all(&self) -> [(&'static str, &Program); 10] {
        [
            ("prepare", &self.prepare),
            ("vector_field", &self.vector_field),
            ("integrals", &self.integrals),
            ("integrals_jacobian", &self.jacobian),
            ("multipliers", &self.multipliers),
            ("outputs", &self.outputs),
            ("potential_gradient", &self.potential_gradient),
            ("feedback_field", &self.feedback_field),
            ("correction", &self.correction),
            ("squared_gradients", &self.squared_gradients),
        ]
    }
}

/// Assembles and optimises every program.
pub fn assemble(derivation: &Derivation) -> Programs {
    let mut vector_field = field(derivation, true, false);
    let mut integrals = integrals(derivation);
    let mut jacobian = jacobian(derivation);
    let mut multipliers = multipliers(derivation);
    let mut outputs = outputs(derivation);
    let mut potential_gradient = field(derivation, false, true);
    let mut feedback_field = field(derivation, true, true);
    let mut correction = correction(derivation);
    let mut squared_gradients = squared_gradients(derivation);
    let all = [
        &mut vector_field,
        &mut integrals,
        &mut jacobian,
        &mut multipliers,
        &mut outputs,
        &mut potential_gradient,
        &mut feedback_field,
        &mut correction,
        &mut squared_gradients,
    ];
    let prepare = optimise(derivation.dimension, all);
    Programs {
        prepare,
        vector_field,
        integrals,
        jacobian,
        multipliers,
        outputs,
        potential_gradient,
        feedback_field,
        correction,
        squared_gradients,
    }
}

fn integrals(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let outputs = derivation.integrals.iter().map(|integral| lowering.lower(integral)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

fn jacobian(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let zero = lowering.builder.constant(0.0);
    let mut outputs = vec![zero; derivation.integrals.len() * derivation.dimension];
    for (row, gradient) in derivation.gradients.iter().enumerate() {
        for (column, entry) in gradient {
            outputs[row * derivation.dimension + column] = lowering.lower(entry);
        }
    }
    lowering.builder.finish(Vec::new(), outputs)
}

fn multipliers(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let zero = lowering.builder.constant(0.0);
    let mut values = coefficients(derivation, &mut lowering);
    values.resize(derivation.integrals.len(), None);
    let values = values.into_iter().map(|value| value.unwrap_or(zero)).collect();
    lowering.builder.finish(Vec::new(), values)
}

fn outputs(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let symbols = derivation.outputs.iter().flat_map(Expression::symbols);
    if symbols.max().is_some_and(|symbol| symbol.0 >= derivation.first_multiplier) {
        let zero = lowering.builder.constant(0.0);
        let coefficients = coefficients(derivation, &mut lowering);
        let declared = coefficients.len() - derivation.constraints().map_or(0, Constraints::holonomic);
        for index in 0..declared {
            let value = coefficients[derivation.multiplier(index)].unwrap_or(zero);
            lowering.bind(Symbol(derivation.first_multiplier + index as u32), value);
        }
    }
    let outputs = derivation.outputs.iter().map(|output| lowering.lower(output)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

/// The damped Gauss-Newton step back from violations y, with the zeros of DF known. A constant factor of a gradient, such as the 2
/// of 2 q, is divided out of it and of its violation, which leaves the step as it is.
fn correction(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let integrals: Vec<Value> = derivation.integrals.iter().map(|integral| lowering.lower(integral)).collect();
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    for (index, gradient) in derivation.gradients.iter().enumerate() {
        let mut row: Vec<_> = gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let factor = lowering.take_constant_factor(row.iter_mut().map(|(_, entry)| entry));
        let violation = Monomial::value(lowering.weighted(index)).times(&factor.to_power(-1));
        violations.push(Some(lowering.materialise(&violation)));
        rows.push(row);
    }
    let gram = damped_gram_matrix(&mut lowering, &rows);
    let ldl = Ldl::factor(&mut lowering.builder, &gram, Pivots::Pairs);
    let y = ldl.solve(&mut lowering.builder, &violations);
    let mut sums: Vec<Vec<Monomial>> = vec![Vec::new(); derivation.dimension];
    for (row, y) in rows.iter().zip(y) {
        let Some(y) = y else { continue };
        let y = scalar(&mut lowering, y);
        for (column, entry) in row {
            sums[*column].push(entry.clone().times(&y));
        }
    }
    let outputs = sums
        .into_iter()
        .map(|terms| {
            let sum = lowering.sum(terms);
            lowering.materialise(&sum)
        })
        .collect();
    lowering.builder.finish(integrals, outputs)
}

fn squared_gradients(derivation: &Derivation) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let mut outputs = Vec::new();
    for gradient in &derivation.gradients {
        let row: Vec<_> = gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let square = lowering.sum_unless_zero(dot_product(&row, &row));
        outputs.push(square.unwrap_or_else(|| lowering.builder.constant(0.0)));
    }
    lowering.builder.finish(Vec::new(), outputs)
}

/// DF DF^T + e D. Each entry is lowered as one sum of products, so that |q|^2 is the one that the integrals have already, and
/// rows that are orthogonal everywhere leave nothing.
fn damped_gram_matrix(lowering: &mut Lowering, rows: &[Vec<(usize, Monomial)>]) -> Matrix {
    let mut gram: Matrix = vec![vec![None; rows.len()]; rows.len()];
    for i in 0..rows.len() {
        for j in 0..i {
            gram[i][j] = lowering.sum_unless_zero(dot_product(&rows[i], &rows[j]));
            gram[j][i] = gram[i][j];
        }
        let tiny = lowering.builder.constant(TINY);
        let diagonal = lowering.sum_unless_zero(dot_product(&rows[i], &rows[i]));
        gram[i][i] = Some(diagonal.map_or(tiny, |diagonal| {
            let factor = lowering.builder.constant(1.0 + DAMPING);
            let damped = lowering.builder.mul(diagonal, factor);
            lowering.builder.add(damped, tiny)
        }));
    }
    gram
}

/// The terms of the scalar product of two sparse rows.
fn dot_product(a: &[(usize, Monomial)], b: &[(usize, Monomial)]) -> Vec<Monomial> {
    let mut terms = Vec::new();
    for (column, x) in a {
        if let Ok(position) = b.binary_search_by_key(column, |(column, _)| *column) {
            terms.push(x.clone().times(&b[position].1));
        }
    }
    terms
}

/// X, grad V, or X - grad V.
fn field(derivation: &Derivation, with_dynamics: bool, with_feedback: bool) -> Program {
    let mut lowering = Lowering::new(derivation.dimension);
    let integrals: Vec<Value> = if with_feedback {
        derivation.integrals.iter().map(|integral| lowering.lower(integral)).collect()
    } else {
        Vec::new()
    };
    let mut rows: Vec<Vec<Monomial>> = vec![Vec::new(); derivation.dimension];
    if with_dynamics {
        add_dynamics(derivation, &mut lowering, &mut rows);
    }
    if with_feedback {
        for (index, gradient) in derivation.gradients.iter().enumerate() {
            let weight = Monomial::value(lowering.weighted(index));
            for (column, entry) in gradient {
                let term = lowering.monomial(entry).times(&weight);
                rows[*column].push(if with_dynamics { term.negated() } else { term });
            }
        }
    }
    let outputs = rows
        .into_iter()
        .map(|row| {
            let sum = lowering.sum(row);
            lowering.materialise(&sum)
        })
        .collect();
    lowering.builder.finish(integrals, outputs)
}

/// Adds X, term by term.
fn add_dynamics(derivation: &Derivation, lowering: &mut Lowering, rows: &mut [Vec<Monomial>]) {
    if let Field::Given(rates) = &derivation.field {
        for (row, rate) in rows.iter_mut().zip(rates) {
            row.extend(lowering.terms(rate));
        }
        return;
    }
    let mut weights: Vec<Option<Monomial>> = coefficients(derivation, lowering)
        .into_iter()
        .map(|coefficient| coefficient.map(|value| scalar(lowering, value).negated()))
        .collect();
    weights.push(Some(Monomial::value(lowering.builder.constant(1.0))));
    let n = derivation.dimension / 2;
    for (weight, gradient) in weights.iter().zip(&derivation.gradients) {
        let Some(weight) = weight else { continue };
        for (column, entry) in gradient {
            let term = lowering.monomial(entry).times(weight);
            // J = [[0, I], [-I, 0]]
            if *column < n { rows[column + n].push(term.negated()) } else { rows[column - n].push(term) }
        }
    }
}

/// c for each constraint; `None` where it vanishes.
fn coefficients(derivation: &Derivation, lowering: &mut Lowering) -> Vec<Option<Value>> {
    match derivation.constraints() {
        None => Vec::new(),
        Some(Constraints::Holonomic { a, b, energy_brackets }) => {
            let rates = &derivation.integrals[a.len()..2 * a.len()];
            solve_holonomic(lowering, a, b, rates, energy_brackets)
        }
        Some(Constraints::Phase { c, energy_brackets, .. }) => {
            let right: Vec<_> = energy_brackets.iter().map(|entry| lower_entry(lowering, entry)).collect();
            let matrix = lower_matrix(lowering, c);
            solve_antisymmetric(lowering, &matrix, &right)
        }
    }
}

fn scalar(lowering: &mut Lowering, value: Value) -> Monomial {
    match lowering.builder.instruction(value) {
        Instruction::Neg(inner) => {
            lowering.mark_scalar(inner);
            Monomial::value(inner).negated()
        }
        _ => {
            lowering.mark_scalar(value);
            Monomial::value(value)
        }
    }
}

/// (c_1, c_2) from A c_2 = g' and A c_1 = {H, g'} + B c_2.
fn solve_holonomic(
    lowering: &mut Lowering,
    a: &[Vec<Expression>],
    b: &[Vec<Expression>],
    rates: &[Expression],
    energy_brackets: &[Expression],
) -> Vec<Option<Value>> {
    let matrix = lower_matrix(lowering, a);
    let ldl = Ldl::factor(&mut lowering.builder, &matrix, Pivots::Single);
    let rates: Vec<_> = rates.iter().map(|rate| lower_entry(lowering, rate)).collect();
    let second = ldl.solve(&mut lowering.builder, &rates);
    let mut right: Vec<_> = energy_brackets.iter().map(|entry| lower_entry(lowering, entry)).collect();
    let b = lower_matrix(lowering, b);
    for (sum, row) in right.iter_mut().zip(&b) {
        for (entry, value) in row.iter().zip(&second) {
            if let (Some(entry), Some(value)) = (entry, value) {
                let product = lowering.builder.mul(*entry, *value);
                *sum = Some(sum.map_or(product, |sum| lowering.builder.add(sum, product)));
            }
        }
    }
    let first = ldl.solve(&mut lowering.builder, &right);
    first.into_iter().chain(second).collect()
}

fn lower_entry(lowering: &mut Lowering, entry: &Expression) -> Option<Value> {
    (!entry.is_zero()).then(|| lowering.lower(entry))
}

fn lower_matrix(lowering: &mut Lowering, matrix: &[Vec<Expression>]) -> Matrix {
    matrix.iter().map(|row| row.iter().map(|entry| lower_entry(lowering, entry)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves C^T c = b by the emitted instructions, for random antisymmetric C, and puts the solution back.
    #[test]
    fn antisymmetric_solves_satisfy_their_equation() {
        for (m, zeros) in [(2, 0), (4, 0), (4, 1), (6, 0), (6, 4), (8, 3)] {
            let entry = |i: usize, j: usize| -> f64 {
                let (low, high) = (i.min(j), i.max(j));
                let raw = ((low * 37 + high * 101 + 13) as f64 * 12.9898).sin();
                let kept = (low + high) % (m - 1) >= zeros || high == low + 1;
                let value = if i == j || !kept { 0.0 } else { raw + raw.signum() };
                if i < j { value } else { -value }
            };
            let mut lowering = Lowering::new(0);
            let mut constant = |x: f64| {
                let symbol = lowering.builder.constant(x);
                (x != 0.0).then_some(symbol)
            };
            let c: Matrix = (0..m).map(|i| (0..m).map(|j| constant(entry(i, j))).collect()).collect();
            let b: Vec<_> = (0..m).map(|i| constant(0.3 + i as f64)).collect();
            let solution = solve_antisymmetric(&mut lowering, &c, &b);
            let outputs: Vec<Value> = solution.into_iter().map(|value| value.expect("no zero entry")).collect();
            let program = lowering.builder.finish(Vec::new(), outputs);
            let x = super::super::interpret::interpret(&program, &|_| 0.0, &|_| Vec::new());
            for i in 0..m {
                let left: f64 = (0..m).map(|j| entry(j, i) * x[j]).sum();
                assert!((left - (0.3 + i as f64)).abs() < 1e-12, "m = {m}, zeros = {zeros}, row {i}: {left}");
            }
        }
    }

    #[test]
    fn value_numbering_makes_equal_instructions_one() {
        let mut builder = super::super::Builder::default();
        let (a, b) = (builder.constant(2.5), builder.input(super::super::Input::Weighted(0)));
        assert_eq!(builder.mul(a, b), builder.mul(b, a));
        let difference = builder.sub(a, b);
        let opposite = builder.sub(b, a);
        assert_eq!(builder.neg(difference), opposite);
    }
}
