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

use super::factor::{Ldl, Matrix, Pivots, blocks, solve_antisymmetric};
use super::lower::{Lowering, Monomial, Stage};
use super::normalise::Normalised;
use super::optimise::{Optimised, optimise};
use super::{Pass, Program, Value};
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
    /// S DF^T (DF S DF^T + e D + R)^-1 y, where the law gives y from F, and S and R are diagonal matrices that the caller gives.
    pub correction: Program,
    /// |dF_i|^2, the diagonal D of DF DF^T.
    pub squared_gradients: Program,
    /// For each integral three numbers, by which `potential_gradient` and `feedback_field` have it in a handier form: they
    /// hand the law f with F = scale (f + offset), and take back `factor` times y. Row by row: factor, scale, offset.
    pub normalisation: Program,
    /// What each pass made of the feedback field.
    pub passes: Vec<Pass>,
    /// The first pass that changed a result by more than rounding, with the function's name: a bug of the compiler.
    pub fault: Option<String>,
}

/// The function whose passes are recorded.
pub(super) const FEEDBACK_FIELD: &str = "feedback_field";

/// e, the damping of a correction relative to the diagonal D of DF S DF^T: at a relative equilibrium, where DF loses rank, a
/// violation moves the state by at most 1 / (2 sqrt(e)) times its own size.
pub(super) const DAMPING: f64 = 1e-10;

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
            (FEEDBACK_FIELD, &self.feedback_field),
            ("correction", &self.correction),
            ("squared_gradients", &self.squared_gradients),
        ]
    }
}

/// Assembles and optimises every program.
pub fn assemble(derivation: &Derivation) -> Programs {
    let stages = [
        ("lower", Stage::Plain),
        ("collect", Stage::Collect),
        ("normalise", Stage::Normalise),
        ("reuse sums", Stage::ReuseSums),
    ];
    let lowered =
        stages.map(|(name, stage)| Pass::of(name, &field(derivation, &normalise(derivation, stage), true, true)));
    let mut programs = assemble_at(derivation, Stage::SharePairs);
    programs.passes.splice(0..0, lowered);
    programs
}

fn assemble_at(derivation: &Derivation, stage: Stage) -> Programs {
    let normalised = normalise(derivation, stage);
    let mut vector_field = field(derivation, &normalised, true, false);
    let mut integrals = integrals(derivation, stage);
    let mut jacobian = jacobian(derivation, stage);
    let mut multipliers = multipliers(derivation, &normalised);
    let mut outputs = outputs(derivation, &normalised);
    let mut potential_gradient = field(derivation, &normalised, false, true);
    let mut feedback_field = field(derivation, &normalised, true, true);
    let mut correction = correction(derivation, stage);
    let mut squared_gradients = squared_gradients(derivation, stage);
    let mut normalisation = normalisation(derivation, &normalised);
    let all = [
        ("vector_field", &mut vector_field),
        ("integrals", &mut integrals),
        ("integrals_jacobian", &mut jacobian),
        ("multipliers", &mut multipliers),
        ("outputs", &mut outputs),
        ("potential_gradient", &mut potential_gradient),
        (FEEDBACK_FIELD, &mut feedback_field),
        ("correction", &mut correction),
        ("squared_gradients", &mut squared_gradients),
        ("normalisation", &mut normalisation),
    ];
    let Optimised { prepare, passes, fault } = optimise(derivation.dimension, all);
    Programs {
        passes,
        fault,
        prepare,
        vector_field,
        integrals,
        jacobian,
        multipliers,
        outputs,
        potential_gradient,
        feedback_field,
        correction,
        normalisation,
        squared_gradients,
    }
}

/// What functions that need normalised gradients begin with.
fn normalise(derivation: &Derivation, stage: Stage) -> (Lowering, Normalised) {
    let mut lowering = Lowering::new(derivation.dimension, stage);
    let normalised = Normalised::of(derivation, &mut lowering);
    (lowering, normalised)
}

fn normalisation(derivation: &Derivation, normalised: &(Lowering, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let numbers = (0..derivation.integrals.len())
        .flat_map(|index| [&normalised.factors[index], &normalised.scales[index], &normalised.offsets[index]])
        .map(|number| lowering.materialise(number))
        .collect();
    lowering.builder.finish(Vec::new(), numbers)
}

fn integrals(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(derivation.dimension, stage);
    let outputs = derivation.integrals.iter().map(|integral| lowering.lower(integral)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

fn jacobian(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(derivation.dimension, stage);
    let zero = lowering.builder.constant(0.0);
    let mut outputs = vec![zero; derivation.integrals.len() * derivation.dimension];
    for (row, gradient) in derivation.gradients.iter().enumerate() {
        for (column, entry) in gradient {
            outputs[row * derivation.dimension + column] = lowering.lower(entry);
        }
    }
    lowering.builder.finish(Vec::new(), outputs)
}

fn multipliers(derivation: &Derivation, normalised: &(Lowering, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let zero = lowering.builder.constant(0.0);
    let mut values = vec![zero; derivation.integrals.len()];
    for (value, multiplier) in values.iter_mut().zip(constraint_multipliers(derivation, &normalised, &mut lowering)) {
        *value = lowering.materialise(&multiplier);
    }
    lowering.builder.finish(Vec::new(), values)
}

/// c, from the coefficients of the normalised rows.
fn constraint_multipliers(derivation: &Derivation, normalised: &Normalised, lowering: &mut Lowering) -> Vec<Monomial> {
    let coefficients = coefficients(derivation, normalised, lowering);
    let scaled = coefficients.into_iter().zip(&normalised.factors);
    scaled.map(|(coefficient, factor)| coefficient.times(&factor.inverse())).collect()
}

fn outputs(derivation: &Derivation, normalised: &(Lowering, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let symbols = derivation.outputs.iter().flat_map(Expression::symbols);
    if symbols.max().is_some_and(|symbol| symbol.0 >= derivation.first_multiplier) {
        let multipliers = constraint_multipliers(derivation, &normalised, &mut lowering);
        let declared = multipliers.len() - derivation.constraints().map_or(0, Constraints::holonomic);
        for index in 0..declared {
            let value = lowering.materialise(&multipliers[derivation.multiplier(index)]);
            lowering.bind(Symbol(derivation.first_multiplier + index as u32), value);
        }
    }
    let outputs = derivation.outputs.iter().map(|output| lowering.lower(output)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

/// The damped Gauss-Newton step back from violations y, with the zeros of DF known. A constant factor of a gradient, such as the 2
/// of 2 q, is divided out of it and of its violation, which leaves the step as it is.
fn correction(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(derivation.dimension, stage);
    let integrals: Vec<Value> = derivation.integrals.iter().map(|integral| lowering.lower(integral)).collect();
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    let mut noise = Vec::new();
    for (index, gradient) in derivation.gradients.iter().enumerate() {
        let mut row: Vec<_> = gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let factor = lowering.take_constant_factor(row.iter_mut().map(|(_, entry)| entry));
        let violation = Monomial::value(lowering.weighted(index)).times(&factor.to_power(-1));
        violations.push(Some(lowering.materialise(&violation)));
        let variance = lowering.noise(index).times(&factor.to_power(-2));
        noise.push(lowering.materialise(&variance));
        rows.push(row);
    }
    let moved = moved_rows(&mut lowering, &rows);
    let gram = damped_gram_matrix(&mut lowering, &rows, &moved, &noise);
    let ldl = Ldl::factor(&mut lowering.builder, &gram, Pivots::Pairs);
    let y = ldl.solve(&mut lowering.builder, &violations);
    let mut sums: Vec<Vec<Monomial>> = vec![Vec::new(); derivation.dimension];
    for (row, y) in rows.iter().zip(y) {
        let Some(y) = y else { continue };
        let y = lowering.scalar(y);
        for (column, entry) in row {
            sums[*column].push(entry.clone().times(&y));
        }
    }
    let outputs = sums
        .into_iter()
        .enumerate()
        .map(|(column, terms)| {
            let sum = lowering.sum(terms);
            let moved = sum.times(&lowering.variance(column));
            lowering.materialise(&moved)
        })
        .collect();
    lowering.builder.finish(integrals, outputs)
}

fn squared_gradients(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(derivation.dimension, stage);
    let mut outputs = Vec::new();
    for gradient in &derivation.gradients {
        let row: Vec<_> = gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let square = lowering.sum_unless_zero(dot_product(&row, &row));
        outputs.push(square.unwrap_or_else(|| lowering.builder.constant(0.0)));
    }
    lowering.builder.finish(Vec::new(), outputs)
}

/// DF S, each entry computed once: every row of the Gram matrix from this one on reads it.
fn moved_rows(lowering: &mut Lowering, rows: &[Row]) -> Vec<Row> {
    let mut moved = |(column, entry): &(usize, Monomial)| {
        let product = entry.clone().times(&lowering.variance(*column));
        (*column, lowering.opaque(&product))
    };
    rows.iter().map(|row| row.iter().map(&mut moved).collect()).collect()
}

/// DF S DF^T + e D + R, from DF and DF S.
fn damped_gram_matrix(lowering: &mut Lowering, rows: &[Row], moved: &[Row], noise: &[Value]) -> Matrix {
    let mut gram: Matrix = vec![vec![None; rows.len()]; rows.len()];
    for i in 0..rows.len() {
        for j in 0..i {
            gram[i][j] = lowering.sum_unless_zero(dot_product(&rows[i], &moved[j]));
            gram[j][i] = gram[i][j];
        }
        let diagonal = lowering.sum_unless_zero(dot_product(&rows[i], &moved[i]));
        gram[i][i] = Some(diagonal.map_or(noise[i], |diagonal| {
            let factor = lowering.builder.constant(1.0 + DAMPING);
            let damped = lowering.builder.mul(diagonal, factor);
            lowering.builder.add(damped, noise[i])
        }));
    }
    gram
}

/// A sparse row: columns in increasing order, with what is in them.
type Row = Vec<(usize, Monomial)>;

/// The terms of the scalar product of two sparse rows.
fn dot_product(a: &Row, b: &Row) -> Vec<Monomial> {
    let mut terms = Vec::new();
    for (column, x) in a {
        if let Ok(position) = b.binary_search_by_key(column, |(column, _)| *column) {
            terms.push(x.clone().times(&b[position].1));
        }
    }
    terms
}

/// X, grad V, or X - grad V. Gradients are applied row by row without their constant factors, which the law has in its gains.
fn field(
    derivation: &Derivation,
    normalised: &(Lowering, Normalised),
    with_dynamics: bool,
    with_feedback: bool,
) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let integrals = if with_feedback { normalised.integrals(&mut lowering) } else { Vec::new() };
    let mut rows: Vec<Vec<Monomial>> = vec![Vec::new(); derivation.dimension];
    if with_dynamics {
        add_dynamics(derivation, &normalised, &mut lowering, &mut rows);
    }
    if with_feedback {
        for (index, gradient) in normalised.rows.iter().enumerate() {
            let weight = Monomial::value(lowering.weighted(index));
            for (column, entry) in gradient {
                let term = entry.clone().times(&weight);
                rows[*column].push(if with_dynamics { term.negated() } else { term });
            }
        }
    }
    let outputs = lowering.sums(rows);
    lowering.builder.finish(integrals, outputs)
}

/// Adds X, term by term.
fn add_dynamics(derivation: &Derivation, normalised: &Normalised, lowering: &mut Lowering, rows: &mut [Vec<Monomial>]) {
    if let Field::Given(rates) = &derivation.field {
        for (row, rate) in rows.iter_mut().zip(rates) {
            row.extend(lowering.terms(rate));
        }
        return;
    }
    let mut weights: Vec<Monomial> =
        coefficients(derivation, normalised, lowering).into_iter().map(Monomial::negated).collect();
    weights.extend(derivation.energy.map(|energy| normalised.factors[energy].clone()));
    let n = derivation.dimension / 2;
    for (weight, gradient) in weights.iter().zip(&normalised.rows) {
        for (column, entry) in gradient {
            let term = entry.clone().times(weight);
            // J = [[0, I], [-I, 0]]
            if *column < n { rows[column + n].push(term.negated()) } else { rows[column - n].push(term) }
        }
    }
}

/// By what each constraint's normalised row enters X with the opposite sign: c times the row's factor.
fn coefficients(derivation: &Derivation, normalised: &Normalised, lowering: &mut Lowering) -> Vec<Monomial> {
    let Some(constraints) = derivation.constraints() else { return Vec::new() };
    let brackets = Brackets { half: derivation.dimension / 2, normalised, energy: derivation.energy };
    let solution = match constraints {
        Constraints::Holonomic { a, .. } => solve_holonomic(lowering, normalised, &brackets, a.len()),
        Constraints::Phase { c, .. } => solve_phase(lowering, &brackets, c.len()),
    };
    let number = |coefficient: Option<Monomial>| coefficient.unwrap_or_else(Monomial::zero);
    solution.into_iter().map(number).collect()
}

/// Canonical brackets of what the normalised rows are gradients of, as sums of products that exist already.
struct Brackets<'a> {
    half: usize,
    normalised: &'a Normalised,
    energy: Option<usize>,
}

impl Brackets<'_> {
    /// {f_i, f_j} = f_q . g_p - f_p . g_q; `None` where it vanishes.
    fn of_rows(&self, lowering: &mut Lowering, i: usize, j: usize) -> Option<Monomial> {
        let mut terms = Vec::new();
        for (column, entry) in &self.normalised.rows[i] {
            let partner = if *column < self.half { column + self.half } else { column - self.half };
            let Some((_, other)) = self.normalised.rows[j].iter().find(|(other, _)| *other == partner) else {
                continue;
            };
            let term = entry.clone().times(other);
            terms.push(if *column < self.half { term } else { term.negated() });
        }
        let sum = lowering.sum(terms);
        (!sum.is_zero()).then_some(sum)
    }

    /// {H, f_i}
    fn with_energy(&self, lowering: &mut Lowering, i: usize) -> Option<Monomial> {
        let energy = self.energy?;
        let bracket = self.of_rows(lowering, energy, i)?;
        Some(bracket.times(&self.normalised.factors[energy]))
    }
}

/// (c_1, c_2) from A c_2 = g' and A c_1 = {H, g'} + B c_2. With the rows of g divided by their factors s, those of g' by
/// kappa s, and the unknowns s c_1 and kappa s c_2, the right sides are g' / s and {H, g'} + B c_2.
fn solve_holonomic(
    lowering: &mut Lowering,
    normalised: &Normalised,
    brackets: &Brackets<'_>,
    k: usize,
) -> Vec<Option<Monomial>> {
    let mut a: Matrix = vec![vec![None; k]; k];
    for i in 0..k {
        for j in 0..=i {
            let entry = brackets.of_rows(lowering, i, j + k);
            a[i][j] = entry.map(|entry| lowering.materialise(&entry));
            a[j][i] = a[i][j];
        }
    }
    let rates: Vec<_> =
        (0..k).map(|i| normalised.value(lowering, i + k).times(&normalised.factors[i].inverse())).collect();
    let energy: Vec<_> = (0..k).map(|i| brackets.with_energy(lowering, i + k)).collect();
    let mut solution: Vec<Option<Monomial>> = vec![None; 2 * k];
    for block in blocks(&a) {
        if let [i] = block[..] {
            let pivot = a[i][i].unwrap_or_else(|| lowering.builder.constant(0.0));
            let inverse = lowering.builder.recip(pivot);
            let inverse = lowering.scalar(inverse);
            let mut divided = |right: &Monomial| {
                let quotient = lowering.materialise(&right.clone().times(&inverse));
                lowering.scalar(quotient)
            };
            solution[i + k] = Some(divided(&rates[i]));
            solution[i] = energy[i].as_ref().map(divided);
            continue;
        }
        let sub_matrix: Matrix = block.iter().map(|&i| block.iter().map(|&j| a[i][j]).collect()).collect();
        let ldl = Ldl::factor(&mut lowering.builder, &sub_matrix, Pivots::Single);
        let right: Vec<_> = block.iter().map(|&i| Some(lowering.materialise(&rates[i]))).collect();
        let second = ldl.solve(&mut lowering.builder, &right);
        let right: Vec<_> =
            block.iter().map(|&i| right_side(lowering, brackets, k, (i, &energy[i]), (&block, &second))).collect();
        let first = ldl.solve(&mut lowering.builder, &right);
        for ((&i, first), second) in block.iter().zip(first).zip(second) {
            solution[i] = first.map(|value| lowering.scalar(value));
            solution[i + k] = second.map(|value| lowering.scalar(value));
        }
    }
    solution
}

/// {H, g'_i} + sum_j B_ij c_2j
fn right_side(
    lowering: &mut Lowering,
    brackets: &Brackets<'_>,
    k: usize,
    (i, energy): (usize, &Option<Monomial>),
    (block, second): (&[usize], &[Option<Value>]),
) -> Option<Value> {
    let mut terms: Vec<Monomial> = energy.iter().cloned().collect();
    for (&j, value) in block.iter().zip(second) {
        // One of B_ij and B_ji = -B_ij, so that both rows share it.
        let entry = brackets.of_rows(lowering, i.min(j) + k, i.max(j) + k);
        if let (Some(entry), Some(value)) = (entry, value) {
            let entry = if i < j { entry } else { entry.negated() };
            // As one factor: the product must not be multiplied out.
            let entry = lowering.opaque(&entry);
            terms.push(entry.times(&lowering.scalar(*value)));
        }
    }
    let sum = lowering.sum(terms);
    (!sum.is_zero()).then(|| lowering.materialise(&sum))
}

/// c from C^T c = {H, f}.
fn solve_phase(lowering: &mut Lowering, brackets: &Brackets<'_>, m: usize) -> Vec<Option<Monomial>> {
    let mut c: Matrix = vec![vec![None; m]; m];
    for i in 0..m {
        for j in 0..i {
            let entry = brackets.of_rows(lowering, j, i);
            c[j][i] = entry.map(|entry| lowering.materialise(&entry));
            c[i][j] = c[j][i].map(|entry| lowering.builder.neg(entry));
        }
    }
    let right: Vec<_> =
        (0..m).map(|i| brackets.with_energy(lowering, i).map(|entry| lowering.materialise(&entry))).collect();
    let solution = solve_antisymmetric(lowering, &c, &right);
    solution.into_iter().map(|value| value.map(|value| lowering.scalar(value))).collect()
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
            let mut lowering = Lowering::new(0, Stage::SharePairs);
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
