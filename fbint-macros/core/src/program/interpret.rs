//! Programs evaluated without compiling them, and held against the mathematics that they came from.

use std::cell::Cell;

use super::assemble::DAMPING;
use super::{Fault, Input, Instruction, Program, Programs};
use crate::derivation::{Constraints, Derivation, Entry, Field, Integral, Output};
use crate::expression::{Expression, Symbol};
use crate::sample::{Point, sample_points};
use crate::table::{Id, Table};

/// Relative difference up to which rounding explains a disagreement.
const TOLERANCE: f64 = 1e-9;
/// Relative errors that are put into every operation to learn what rounding does, how often that is tried, and by how much more
/// rounding may have changed a result.
const ERROR: f64 = 1e-15;
const TRIALS: u64 = 4;
const MOST_ROUNDING: f64 = 100.0;

/// The results of `program`, where `weigh` is the feedback law.
pub(super) fn interpret(
    program: &Program,
    input: &impl Fn(Input) -> f64,
    weigh: &impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    interpret_rounded(program, input, weigh, &|value| value)
}

/// The results of `program`, where `round` changes the value of every instruction.
fn interpret_rounded(
    program: &Program,
    input: &impl Fn(Input) -> f64,
    weigh: &impl Fn(&[f64]) -> Vec<f64>,
    round: &impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut values = vec![f64::NAN; program.instructions.len()];
    let mut weighted: Option<Vec<f64>> = None;
    for (index, instruction) in program.instructions.iter().enumerate() {
        values[index] = match *instruction {
            Instruction::Input(Input::Weighted(row)) => {
                let integrals = || program.integrals.iter().map(|value| values[value.index()]).collect::<Vec<_>>();
                weighted.get_or_insert_with(|| weigh(&integrals()))[row]
            }
            Instruction::Input(symbol) => input(symbol),
            other => round(apply(other, &|value| values[value.index()])),
        };
    }
    program.outputs.iter().map(|value| values[value.index()]).collect()
}

/// How far rounding may have taken the results of a program at a point from those of exact arithmetic.
pub(super) fn rounding_at(point: &Point, preparation: &Program, program: &Program) -> f64 {
    rounding(program, &inputs(point, preparation), &|integrals| weigh(point, integrals), point)
}

/// How far rounding may have taken the results of a program from those of exact arithmetic. Systems that are nearly singular
/// multiply it by their condition, which is not a fault of the program.
fn rounding(
    program: &Program,
    input: &impl Fn(Input) -> f64,
    weigh: &impl Fn(&[f64]) -> Vec<f64>,
    point: &Point,
) -> f64 {
    let results = interpret(program, input, weigh);
    spread(point, &results, |error| interpret_rounded(program, input, weigh, &|value| value * (1.0 + error())))
}

/// How far rounding may have taken results, from how they change when relative errors are put into what they are made of.
fn spread(point: &Point, results: &[f64], with_errors: impl Fn(&dyn Fn() -> f64) -> Vec<f64>) -> f64 {
    let change = |trial: u64| {
        let drawn = Cell::new(trial << 32);
        let error = || ERROR * 2.0 * (point.value(drawn.replace(drawn.get() + 1)) - 1.0);
        results.iter().zip(with_errors(&error)).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
    };
    let most = (1..=TRIALS).map(change).fold(0.0, f64::max);
    if most.is_finite() { MOST_ROUNDING * most } else { 0.0 }
}

fn apply(instruction: Instruction, of: &impl Fn(super::Value) -> f64) -> f64 {
    match instruction {
        Instruction::Constant(bits) => f64::from_bits(bits),
        Instruction::Input(_) => f64::NAN,
        Instruction::Add(a, b) => of(a) + of(b),
        Instruction::Sub(a, b) => of(a) - of(b),
        Instruction::Mul(a, b) => of(a) * of(b),
        Instruction::Div(a, b) => of(a) / of(b),
        Instruction::Neg(a) => -of(a),
        Instruction::Recip(a) => 1.0 / of(a),
        Instruction::Sqrt(a) => of(a).sqrt(),
        Instruction::MulAdd(a, b, c) => of(a) * of(b) + of(c),
        Instruction::NegMulAdd(a, b, c) => of(c) - of(a) * of(b),
        Instruction::MulSub(a, b, c) => of(a) * of(b) - of(c),
        Instruction::NegMulSub(a, b, c) => -of(a) * of(b) - of(c),
        Instruction::Unary(function, a) => function.evaluate(&[of(a)]),
        Instruction::Binary(function, a, b) => function.evaluate(&[of(a), of(b)]),
    }
}

/// The results of a program at a point in general position, the law being any; `None` where one is not finite.
pub(super) fn results_at(point: &Point, preparation: &Program, program: &Program) -> Option<Vec<f64>> {
    let results = interpret(program, &inputs(point, preparation), &|integrals| weigh(point, integrals));
    results.iter().all(|result| result.is_finite()).then_some(results)
}

/// What programs read at a point, but for y.
fn inputs(point: &Point, preparation: &Program) -> impl Fn(Input) -> f64 {
    let symbols = |input: Input| match input {
        Input::State(symbol) | Input::Parameter(symbol) => point.symbol(symbol),
        Input::Variance(column) => variance(point, column),
        Input::Noise(row) => noise(point, row),
        Input::Prepared(_) | Input::Weighted(_) => f64::NAN,
    };
    let prepared = interpret(preparation, &symbols, &|_| Vec::new());
    move |input: Input| match input {
        Input::Prepared(index) => prepared[index],
        other => symbols(other),
    }
}

/// Evaluates every program and the derivation's expressions at points in general position; `Err` names the first function
/// whose results differ by more than rounding, which is a bug of the compiler. `Ok` names the functions that are defined at
/// none of these points, and so were not compared.
pub fn verify(derivation: &Derivation, programs: &Programs) -> Result<Vec<&'static str>, Fault> {
    let mut unverified: Vec<&'static str> = programs.all().into_iter().skip(1).map(|(name, _)| name).collect();
    for point in sample_points() {
        let expected = expected(derivation, &point, &|| 0.0);
        let is_defined = |values: &Vec<f64>| values.iter().all(|value| value.abs() < 1e6);
        let input = inputs(&point, &programs.prepare);
        let normalisation = interpret(&programs.normalisation, &input, &|_| Vec::new());
        let law = |forms: &[f64]| normalised_law(&normalisation, forms, |integrals| weigh(&point, integrals));
        for (index, ((name, program), expected)) in programs.all().into_iter().skip(1).zip(expected).enumerate() {
            if !is_defined(&expected) {
                continue;
            }
            let weigh = |forms: &[f64]| match name {
                "correction" => consistent_violation(derivation, &point, forms),
                _ => law(forms),
            };
            let obtained = interpret(program, &input, &weigh);
            let agree = |tolerance: f64| obtained.iter().zip(&expected).all(|(x, y)| (x - y).abs() <= tolerance);
            let scale = expected.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
            if obtained.len() != expected.len() {
                return Err(Fault { function: name, pass: None });
            }
            if agree(TOLERANCE * scale) {
                unverified.retain(|other| *other != name);
            } else {
                let with_errors =
                    |error: &dyn Fn() -> f64| std::mem::take(&mut self::expected(derivation, &point, error)[index]);
                let of_expected = spread(&point, &expected, with_errors);
                if !agree(rounding(program, &input, &weigh, &point) + of_expected) {
                    return Err(Fault { function: name, pass: None });
                }
            }
        }
    }
    Ok(unverified)
}

/// `factor` y of F = `scale` (f + `offset`).
fn normalised_law(normalisation: &[f64], forms: &[f64], law: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let rows = normalisation.chunks(3);
    let integrals: Vec<f64> = rows.clone().zip(forms).map(|(row, form)| row[1] * (form + row[2])).collect();
    rows.zip(law(&integrals)).map(|(row, y)| row[0] * y).collect()
}

/// A feedback law in general position: y_i = k_i (F_i - t_i).
fn weigh(point: &Point, integrals: &[f64]) -> Vec<f64> {
    let law = |(i, integral): (usize, &f64)| point.value(1000 + i as u64) * (integral - point.value(2000 + i as u64));
    integrals.iter().enumerate().map(law).collect()
}

/// What the programs after the one that prepares should return, in the order of [`Programs::all`]: from the derivation's
/// expressions and a dense solve, with no lowering and no sharing. What is computed on the way gets a relative `error`.
fn expected(derivation: &Derivation, point: &Point, error: &dyn Fn() -> f64) -> [Vec<f64>; 9] {
    let dimension = derivation.dimension();
    let value = |expression: &Expression| point.evaluate(expression) * (1.0 + error());
    let integrals: Vec<f64> = derivation.integrals.rows().map(|integral| value(&integral.value)).collect();
    let row = |integral: &Integral| -> Table<Symbol, f64> {
        let mut row: Table<Symbol, f64> = derivation.symbols.states().map(|_| 0.0).collect();
        integral.gradient.iter().for_each(|(column, entry)| row[*column] = value(entry));
        row
    };
    let gradients = derivation.integrals.map(row);
    let solution = solve_transposed(derivation.constraint_matrix(&value), derivation.energy_brackets(&value));
    let mut c = derivation.integrals.map(|_| 0.0);
    let members = derivation.constraints().map_or_else(Vec::new, Constraints::members);
    members.into_iter().zip(solution).for_each(|(member, entry)| c[member] = entry);
    let vector_field = match (&derivation.field, derivation.integrals.energy()) {
        (Field::Given(rates), _) => rates.rows().map(value).collect(),
        (Field::Dirac(_), None) => Vec::new(),
        (Field::Dirac(_), Some(energy)) => {
            let covector = |column: Symbol| {
                let reaction: f64 = c.rows().zip(gradients.rows()).map(|(c, row)| c * row[column]).sum();
                gradients[energy][column] - reaction
            };
            derivation.symbols.states().map(|state| component(derivation, point, state, &covector)).collect()
        }
    };
    let output = |output: &Output| {
        output.value.evaluate(&|symbol| match derivation.symbols.constraint(symbol) {
            Some(constraint) => c[constraint],
            None => point.symbol(symbol),
        })
    };
    let outputs = derivation.outputs.iter().map(output).collect();
    let multipliers = c.rows().copied().collect();
    let rows: Vec<Vec<f64>> = gradients.rows().map(|row| row.rows().copied().collect()).collect();
    let y = weigh(point, &integrals);
    let potential_gradient: Vec<f64> =
        (0..dimension).map(|j| y.iter().zip(&rows).map(|(y, row)| y * row[j]).sum()).collect();
    let feedback_field = vector_field.iter().zip(&potential_gradient).map(|(x, v)| x - v).collect();
    let correction = correction(derivation, point, &rows, &integrals, error);
    let squared_gradients = rows.iter().map(|row| row.iter().map(|entry| entry * entry).sum()).collect();
    [
        vector_field,
        integrals,
        rows.concat(),
        multipliers,
        outputs,
        potential_gradient,
        feedback_field,
        correction,
        squared_gradients,
    ]
}

/// A component of J y for a covector y.
fn component(derivation: &Derivation, point: &Point, state: Symbol, covector: &impl Fn(Symbol) -> f64) -> f64 {
    let entries = derivation.structure.row(&derivation.symbols, state).into_iter();
    let terms = entries.map(|(column, entry)| match entry {
        Entry::One => covector(column),
        Entry::MinusOne => -covector(column),
        Entry::Function(function) => point.evaluate(function) * covector(column),
    });
    terms.sum()
}

/// DF z for a z in general position: a violation that some state has, also where integrals are dependent. What the program
/// hands over as F shows by its difference from F.
fn consistent_violation(derivation: &Derivation, point: &Point, integrals: &[f64]) -> Vec<f64> {
    let along = |gradient: &[(Symbol, Expression)]| -> f64 {
        let terms = gradient.iter();
        terms.map(|(column, entry)| point.evaluate(entry) * point.value(3000 + column.place() as u64)).sum()
    };
    let rows = derivation.integrals.rows().zip(integrals);
    rows.map(|(row, integral)| along(&row.gradient) + integral - point.evaluate(&row.value)).collect()
}

/// S_j in general position.
fn variance(point: &Point, column: usize) -> f64 {
    0.5 + point.value(4000 + column as u64).abs()
}

/// R_i in general position, and small as it is in a run.
fn noise(point: &Point, row: usize) -> f64 {
    1e-4 * (0.5 + point.value(5000 + row as u64).abs())
}

/// S DF^T (DF S DF^T + e D + R)^-1 y for a consistent violation y.
fn correction(
    derivation: &Derivation,
    point: &Point,
    rows: &[Vec<f64>],
    integrals: &[f64],
    error: &dyn Fn() -> f64,
) -> Vec<f64> {
    let moved = |column: usize| variance(point, column);
    let dot = |a: &[f64], b: &[f64]| -> f64 { (0..a.len()).map(|column| moved(column) * a[column] * b[column]).sum() };
    let entry = |i: usize, j: usize| {
        let product = dot(&rows[i], &rows[j]) * (1.0 + error());
        if i == j { product * (1.0 + DAMPING) + noise(point, i) } else { product }
    };
    let gram = (0..rows.len()).map(|i| (0..rows.len()).map(|j| entry(i, j)).collect()).collect();
    let y = solve_transposed(gram, consistent_violation(derivation, point, integrals));
    let step = |column: usize| moved(column) * y.iter().zip(rows).map(|(y, row)| y * row[column]).sum::<f64>();
    (0..derivation.dimension()).map(step).collect()
}

/// The solution of C^T c = b by Gaussian elimination with partial pivoting.
fn solve_transposed(c: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let m = b.len();
    let mut a: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| c[j][i]).collect()).collect();
    for step in 0..m {
        let pivot = (step..m).max_by(|&i, &j| a[i][step].abs().total_cmp(&a[j][step].abs())).unwrap_or(step);
        a.swap(step, pivot);
        b.swap(step, pivot);
        for i in step + 1..m {
            let factor = a[i][step] / a[step][step];
            for j in step..m {
                a[i][j] -= factor * a[step][j];
            }
            b[i] -= factor * b[step];
        }
    }
    for i in (0..m).rev() {
        let sum: f64 = (i + 1..m).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    b
}
