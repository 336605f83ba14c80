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
use super::normalise::{Normalised, Row};
use super::optimise::{Optimised, optimise};
use super::{Fault, Pass, Program, Value};
use crate::derivation::{Constraints, Derivation, Entry, Field, IntegralId};
use crate::expression::Symbol;
use crate::table::{Id, Table};

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
pub fn assemble(derivation: &Derivation) -> Result<Programs, Fault> {
    let stages = [
        ("lower", Stage::Plain),
        ("collect", Stage::Collect),
        ("normalise", Stage::Normalise),
        ("reuse sums", Stage::ReuseSums),
    ];
    let lowered =
        stages.map(|(name, stage)| Pass::of(name, &field(derivation, &normalise(derivation, stage), true, true)));
    let mut programs = assemble_at(derivation, Stage::SharePairs)?;
    programs.passes.splice(0..0, lowered);
    Ok(programs)
}

fn assemble_at(derivation: &Derivation, stage: Stage) -> Result<Programs, Fault> {
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
    let Optimised { prepare, passes } = optimise(all)?;
    Ok(Programs {
        passes,
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
    })
}

/// What functions that need normalised gradients begin with.
fn normalise(derivation: &Derivation, stage: Stage) -> (Lowering<'_>, Normalised) {
    let mut lowering = Lowering::new(&derivation.symbols, stage);
    let normalised = Normalised::of(derivation, &mut lowering);
    (lowering, normalised)
}

fn normalisation(derivation: &Derivation, normalised: &(Lowering<'_>, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let ids = derivation.integrals.ids();
    let numbers = ids
        .flat_map(|id| [&normalised.factors[id], &normalised.scales[id], &normalised.offsets[id]])
        .map(|number| lowering.materialise(number))
        .collect();
    lowering.builder.finish(Vec::new(), numbers)
}

fn integrals(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(&derivation.symbols, stage);
    let outputs = derivation.integrals.rows().map(|integral| lowering.lower(&integral.value)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

fn jacobian(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(&derivation.symbols, stage);
    let zero = lowering.builder.constant(0.0);
    let mut outputs = Vec::new();
    for id in derivation.integrals.ids() {
        for state in derivation.symbols.states() {
            outputs.push(derivation.entry(id, state).map_or(zero, |entry| lowering.lower(entry)));
        }
    }
    lowering.builder.finish(Vec::new(), outputs)
}

fn multipliers(derivation: &Derivation, normalised: &(Lowering<'_>, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let zero = lowering.builder.constant(0.0);
    let mut values = derivation.integrals.map(|_| zero);
    for (constraint, multiplier) in constraint_multipliers(derivation, &normalised, &mut lowering) {
        values[constraint] = lowering.materialise(&multiplier);
    }
    lowering.builder.finish(Vec::new(), values.into_iter().collect())
}

/// c, from the coefficients of the normalised rows.
fn constraint_multipliers(
    derivation: &Derivation,
    normalised: &Normalised,
    lowering: &mut Lowering,
) -> Vec<(IntegralId, Monomial)> {
    let coefficients = coefficients(derivation, normalised, lowering).into_iter();
    coefficients.map(|(id, coefficient)| (id, coefficient.times(&normalised.factors[id].inverse()))).collect()
}

fn outputs(derivation: &Derivation, normalised: &(Lowering<'_>, Normalised)) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let symbols = derivation.outputs.iter().flat_map(|output| output.value.symbols());
    if symbols.into_iter().any(|symbol| derivation.symbols.constraint(symbol).is_some()) {
        for (constraint, multiplier) in constraint_multipliers(derivation, &normalised, &mut lowering) {
            if derivation.integrals.declared(constraint) == constraint
                && let Some(symbol) = derivation.symbols.multiplier(constraint)
            {
                let value = lowering.materialise(&multiplier);
                lowering.bind(symbol, value);
            }
        }
    }
    let outputs = derivation.outputs.iter().map(|output| lowering.lower(&output.value)).collect();
    lowering.builder.finish(Vec::new(), outputs)
}

/// The damped Gauss-Newton step back from violations y, with the zeros of DF known. A constant factor of a gradient, such as the 2
/// of 2 q, is divided out of it and of its violation, which leaves the step as it is.
fn correction(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(&derivation.symbols, stage);
    let integrals: Vec<Value> = derivation.integrals.rows().map(|integral| lowering.lower(&integral.value)).collect();
    let mut rows = Vec::new();
    let mut violations = Vec::new();
    let mut noise = Vec::new();
    for (id, integral) in derivation.integrals.iter() {
        let mut row: Row =
            integral.gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let factor = lowering.take_constant_factor(row.iter_mut().map(|(_, entry)| entry));
        let violation = Monomial::value(lowering.weighted(id.place())).times(&factor.to_power(-1));
        violations.push(Some(lowering.materialise(&violation)));
        let variance = lowering.noise(id.place()).times(&factor.to_power(-2));
        noise.push(lowering.materialise(&variance));
        rows.push(row);
    }
    let moved = moved_rows(&mut lowering, &rows);
    let gram = damped_gram_matrix(&mut lowering, &rows, &moved, &noise);
    let ldl = Ldl::factor(&mut lowering.builder, &gram, Pivots::Pairs);
    let y = ldl.solve(&mut lowering.builder, &violations);
    let mut sums: Table<Symbol, Vec<Monomial>> = derivation.symbols.states().map(|_| Vec::new()).collect();
    for (row, y) in rows.iter().zip(y) {
        let Some(y) = y else { continue };
        let y = lowering.scalar(y);
        for (column, entry) in row {
            sums[*column].push(entry.clone().times(&y));
        }
    }
    let outputs = sums
        .iter()
        .map(|(column, terms)| {
            let sum = lowering.sum(terms.clone());
            let moved = sum.times(&lowering.variance(column));
            lowering.materialise(&moved)
        })
        .collect();
    lowering.builder.finish(integrals, outputs)
}

fn squared_gradients(derivation: &Derivation, stage: Stage) -> Program {
    let mut lowering = Lowering::new(&derivation.symbols, stage);
    let mut outputs = Vec::new();
    for integral in derivation.integrals.rows() {
        let row: Row = integral.gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect();
        let square = lowering.sum_unless_zero(dot_product(&row, &row));
        outputs.push(square.unwrap_or_else(|| lowering.builder.constant(0.0)));
    }
    lowering.builder.finish(Vec::new(), outputs)
}

/// DF S, each entry computed once: every row of the Gram matrix from this one on reads it.
fn moved_rows(lowering: &mut Lowering, rows: &[Row]) -> Vec<Row> {
    let mut moved = |(column, entry): &(Symbol, Monomial)| {
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
    normalised: &(Lowering<'_>, Normalised),
    with_dynamics: bool,
    with_feedback: bool,
) -> Program {
    let (mut lowering, normalised) = normalised.clone();
    let integrals = if with_feedback { normalised.integrals(&mut lowering) } else { Vec::new() };
    let mut rows: Table<Symbol, Vec<Monomial>> = derivation.symbols.states().map(|_| Vec::new()).collect();
    if with_dynamics {
        add_dynamics(derivation, &normalised, &mut lowering, &mut rows);
    }
    if with_feedback {
        for (id, gradient) in normalised.rows.iter() {
            let weight = Monomial::value(lowering.weighted(id.place()));
            for (column, entry) in gradient {
                let term = entry.clone().times(&weight);
                rows[*column].push(if with_dynamics { term.negated() } else { term });
            }
        }
    }
    let outputs = lowering.sums(rows.into_iter().collect());
    lowering.builder.finish(integrals, outputs)
}

/// Adds X, term by term.
fn add_dynamics(
    derivation: &Derivation,
    normalised: &Normalised,
    lowering: &mut Lowering,
    rows: &mut Table<Symbol, Vec<Monomial>>,
) {
    if let Field::Given(rates) = &derivation.field {
        for (state, rate) in rates.iter() {
            rows[state].extend(lowering.terms(rate));
        }
        return;
    }
    let coefficients = coefficients(derivation, normalised, lowering).into_iter();
    let mut weights: Vec<(IntegralId, Monomial)> = coefficients.map(|(id, c)| (id, c.negated())).collect();
    weights.extend(derivation.integrals.energy().map(|energy| (energy, normalised.factors[energy].clone())));
    for (id, weight) in weights {
        let slope = |column: Symbol| column_of(&normalised.rows[id], column).map(|entry| entry.clone().times(&weight));
        for state in derivation.symbols.states() {
            for ((), entry, term) in derivation.structure.bracket(&derivation.symbols, [(state, ())], slope) {
                rows[state].push(times_entry(lowering, entry, term));
            }
        }
    }
}

/// What is in a column of a sparse row.
fn column_of(row: &Row, column: Symbol) -> Option<&Monomial> {
    row.binary_search_by_key(&column, |(column, _)| *column).ok().map(|place| &row[place].1)
}

/// A term that an entry of J multiplies.
fn times_entry(lowering: &mut Lowering, entry: Entry, term: Monomial) -> Monomial {
    match entry {
        Entry::One => term,
        Entry::MinusOne => term.negated(),
        Entry::Function(function) => lowering.monomial(function).times(&term),
    }
}

/// By what each constraint's normalised row enters X with the opposite sign: c times the row's factor.
fn coefficients(
    derivation: &Derivation,
    normalised: &Normalised,
    lowering: &mut Lowering,
) -> Vec<(IntegralId, Monomial)> {
    let Some(constraints) = derivation.constraints() else { return Vec::new() };
    let brackets = Brackets { derivation, normalised };
    let solution = match constraints {
        Constraints::Holonomic { pairs, .. } => solve_holonomic(lowering, normalised, &brackets, pairs),
        Constraints::General { members, .. } => solve_general(lowering, &brackets, members),
    };
    let number = |coefficient: Option<Monomial>| coefficient.unwrap_or_else(Monomial::zero);
    constraints.members().into_iter().zip(solution.into_iter().map(number)).collect()
}

/// Brackets of what the normalised rows are gradients of, as sums of products that exist already.
struct Brackets<'a> {
    derivation: &'a Derivation,
    normalised: &'a Normalised,
}

impl Brackets<'_> {
    /// {f, g}; `None` where it vanishes.
    fn of_rows(&self, lowering: &mut Lowering, f: IntegralId, g: IntegralId) -> Option<Monomial> {
        let slopes = self.normalised.rows[f].iter().map(|(column, entry)| (*column, entry));
        let other = |column: Symbol| column_of(&self.normalised.rows[g], column);
        let terms = self.derivation.structure.bracket(&self.derivation.symbols, slopes, other).into_iter();
        let terms = terms.map(|(f, entry, g)| times_entry(lowering, entry, f.clone().times(g))).collect();
        let sum = lowering.sum(terms);
        (!sum.is_zero()).then_some(sum)
    }

    /// {H, f}
    fn with_energy(&self, lowering: &mut Lowering, f: IntegralId) -> Option<Monomial> {
        let energy = self.derivation.integrals.energy()?;
        let bracket = self.of_rows(lowering, energy, f)?;
        Some(bracket.times(&self.normalised.factors[energy]))
    }
}

/// (c_1, c_2) from A c_2 = g' and A c_1 = {H, g'} + B c_2. With the rows of g divided by their factors s, those of g' by
/// kappa s, and the unknowns s c_1 and kappa s c_2, the right sides are g' / s and {H, g'} + B c_2.
fn solve_holonomic(
    lowering: &mut Lowering,
    normalised: &Normalised,
    brackets: &Brackets<'_>,
    pairs: &[(IntegralId, IntegralId)],
) -> Vec<Option<Monomial>> {
    let k = pairs.len();
    let mut a: Matrix = vec![vec![None; k]; k];
    for i in 0..k {
        for j in 0..=i {
            let entry = brackets.of_rows(lowering, pairs[i].0, pairs[j].1);
            a[i][j] = entry.map(|entry| lowering.materialise(&entry));
            a[j][i] = a[i][j];
        }
    }
    let rate = |&(constraint, rate): &(IntegralId, IntegralId)| {
        normalised.value(lowering, rate).times(&normalised.factors[constraint].inverse())
    };
    let rates: Vec<Monomial> = pairs.iter().map(rate).collect();
    let energy: Vec<_> = pairs.iter().map(|(_, rate)| brackets.with_energy(lowering, *rate)).collect();
    let mut first: Vec<Option<Monomial>> = vec![None; k];
    let mut second: Vec<Option<Monomial>> = vec![None; k];
    for block in blocks(&a) {
        if let [i] = block[..] {
            let pivot = a[i][i].unwrap_or_else(|| lowering.builder.constant(0.0));
            let inverse = lowering.builder.recip(pivot);
            let inverse = lowering.scalar(inverse);
            let mut divided = |right: &Monomial| {
                let quotient = lowering.materialise(&right.clone().times(&inverse));
                lowering.scalar(quotient)
            };
            second[i] = Some(divided(&rates[i]));
            first[i] = energy[i].as_ref().map(divided);
            continue;
        }
        let sub_matrix: Matrix = block.iter().map(|&i| block.iter().map(|&j| a[i][j]).collect()).collect();
        let ldl = Ldl::factor(&mut lowering.builder, &sub_matrix, Pivots::Single);
        let right: Vec<_> = block.iter().map(|&i| Some(lowering.materialise(&rates[i]))).collect();
        let c_2 = ldl.solve(&mut lowering.builder, &right);
        let rates: Vec<IntegralId> = block.iter().map(|&i| pairs[i].1).collect();
        let right: Vec<_> =
            (0..block.len()).map(|i| right_side(lowering, brackets, &energy[block[i]], &rates, i, &c_2)).collect();
        let c_1 = ldl.solve(&mut lowering.builder, &right);
        for ((&i, c_1), c_2) in block.iter().zip(c_1).zip(c_2) {
            first[i] = c_1.map(|value| lowering.scalar(value));
            second[i] = c_2.map(|value| lowering.scalar(value));
        }
    }
    first.into_iter().chain(second).collect()
}

/// {H, g'_i} + sum_j B_ij c_2j
fn right_side(
    lowering: &mut Lowering,
    brackets: &Brackets<'_>,
    energy: &Option<Monomial>,
    rates: &[IntegralId],
    i: usize,
    c_2: &[Option<Value>],
) -> Option<Value> {
    let mut terms: Vec<Monomial> = energy.iter().cloned().collect();
    for (j, value) in c_2.iter().enumerate() {
        // One of B_ij and B_ji = -B_ij, so that both rows share it.
        let entry = brackets.of_rows(lowering, rates[i.min(j)], rates[i.max(j)]);
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
fn solve_general(lowering: &mut Lowering, brackets: &Brackets<'_>, members: &[IntegralId]) -> Vec<Option<Monomial>> {
    let m = members.len();
    let mut c: Matrix = vec![vec![None; m]; m];
    for i in 0..m {
        for j in 0..i {
            let entry = brackets.of_rows(lowering, members[j], members[i]);
            c[j][i] = entry.map(|entry| lowering.materialise(&entry));
            c[i][j] = c[j][i].map(|entry| lowering.builder.neg(entry));
        }
    }
    let right: Vec<_> =
        members.iter().map(|&f| brackets.with_energy(lowering, f).map(|entry| lowering.materialise(&entry))).collect();
    let solution = solve_antisymmetric(lowering, &c, &right);
    solution.into_iter().map(|value| value.map(|value| lowering.scalar(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::Symbols;

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
            let symbols = Symbols::new();
            let mut lowering = Lowering::new(&symbols, Stage::SharePairs);
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
