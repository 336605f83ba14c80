//! Programs of derivatives against dual numbers on the programs of the functions, at random states with random parameters.
//!
//! All of them are interpreted. Emitted code does what its program says: see `emitted`, and `identities` for the functions.

use fbint_macros_core::derivation::Symbols;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::program::{Derivative, Form, GeneratedFunction, Input, OUTPUTS, Programs, Unknown};
use fbint_macros_core::program::{
    FEEDBACK_FIELD, FEEDBACK_FIELD_ADJOINT, FEEDBACK_FIELD_DERIVATIVES, FEEDBACK_FIELD_STATE_TANGENT,
    FEEDBACK_FIELD_TANGENT, INTEGRALS, INTEGRALS_ADJOINT, INTEGRALS_DERIVATIVES, INTEGRALS_TANGENT, OUTPUTS_ADJOINT,
    OUTPUTS_DERIVATIVES, OUTPUTS_TANGENT, PROJECTION, PROJECTION_ADJOINT, PROJECTION_TANGENT, VECTOR_FIELD,
    VECTOR_FIELD_ADJOINT, VECTOR_FIELD_DERIVATIVES, VECTOR_FIELD_STATE_TANGENT, VECTOR_FIELD_TANGENT,
};
use fbint_runtime::Scalar;
use fbint_tests::compiler::{Compiled, Declaration, interpret, normalised_law};
use fbint_tests::{Random, amount, states};
use num_dual::Dual64;

use super::shipped;

/// States at which a derivative is larger than this are passed over: the linear systems there are nearly singular.
const LARGEST: f64 = 1e2;

/// Each function with its derivatives.
static FAMILIES: [(&GeneratedFunction, &[&GeneratedFunction]); 5] = [
    (
        &VECTOR_FIELD,
        &[&VECTOR_FIELD_TANGENT, &VECTOR_FIELD_STATE_TANGENT, &VECTOR_FIELD_ADJOINT, &VECTOR_FIELD_DERIVATIVES],
    ),
    (
        &FEEDBACK_FIELD,
        &[&FEEDBACK_FIELD_TANGENT, &FEEDBACK_FIELD_STATE_TANGENT, &FEEDBACK_FIELD_ADJOINT, &FEEDBACK_FIELD_DERIVATIVES],
    ),
    (&INTEGRALS, &[&INTEGRALS_TANGENT, &INTEGRALS_ADJOINT, &INTEGRALS_DERIVATIVES]),
    (&OUTPUTS, &[&OUTPUTS_TANGENT, &OUTPUTS_ADJOINT, &OUTPUTS_DERIVATIVES]),
    (&PROJECTION, &[&PROJECTION_TANGENT, &PROJECTION_ADJOINT]),
];

/// A system at a random state. Unknowns are in the order of derivatives: the state, the parameters, the inputs; S and F_target.
pub(super) struct Place<'a> {
    programs: &'a Programs,
    pub(super) states: usize,
    pub(super) parameters: usize,
    /// How many unknowns there are without S and F_target.
    pub(super) symbols: usize,
    pub(super) unknowns: Vec<f64>,
    /// How each of them changes.
    pub(super) direction: Vec<f64>,
    /// K, diagonal.
    pub(super) gains: Vec<f64>,
    /// R
    pub(super) noise: Vec<f64>,
    /// A weight for each result, however many a function has.
    pub(super) weights: Vec<f64>,
}

impl<'a> Place<'a> {
    pub(super) fn random(
        Compiled { derivation, programs, .. }: &'a Compiled,
        range: [f64; 2],
        random: &mut Random,
    ) -> Self {
        let symbols = &derivation.symbols;
        let (states, integrals) = (symbols.dimension(), derivation.integrals.len());
        let mut draw = |count: usize, [low, high]: [f64; 2]| -> Vec<f64> {
            (0..count).map(|_| random.between(low, high)).collect()
        };
        let mut unknowns = draw(states, range);
        unknowns.extend(parameters_near_one(symbols).map(|middle| middle + draw(1, [-0.3, 0.3])[0]));
        unknowns.extend(draw(symbols.inputs().count(), [-1.0, 1.0]));
        let symbols = unknowns.len();
        unknowns.extend(draw(states, [0.5, 2.0]));
        unknowns.extend(draw(integrals, [-1.0, 1.0]));
        Self {
            programs,
            states,
            parameters: derivation.symbols.parameters().count(),
            symbols,
            direction: draw(unknowns.len(), [-1.0, 1.0]),
            unknowns,
            gains: draw(integrals, [0.5, 2.0]),
            noise: draw(integrals, [0.5, 1.5]),
            weights: draw(states.max(integrals).max(derivation.outputs.len()), [-1.0, 1.0]),
        }
    }

    /// The results of a function where `of` gives the unknowns.
    fn results<T: Scalar>(&self, function: &GeneratedFunction, of: impl Fn(usize) -> T) -> Vec<T> {
        let prepared = self.prepared(&of);
        let read = |wanted| self.read(wanted, &of, &prepared);
        let normalisation = interpret(&self.programs.normalisation, read, |_| Vec::new());
        let changes = |integrals: &[T]| -> Vec<T> {
            let first = self.symbols + self.states;
            integrals.iter().enumerate().map(|(place, &value)| value - of(first + place)).collect()
        };
        let weighed = |integrals: &[T]| -> Vec<T> {
            changes(integrals).into_iter().zip(&self.gains).map(|(y, &gain)| T::from_f64(gain) * y).collect()
        };
        interpret(&self.programs[function], read, |integrals| match function.law() {
            Some(Form::Normalised) => normalised_law(&normalisation, integrals, weighed),
            Some(Form::Declared) | None => changes(integrals),
        })
    }

    /// The results of a function that is a derivative, in the direction and with the weights of the place.
    pub(super) fn derivative(&self, function: &GeneratedFunction) -> Vec<f64> {
        let of = |place: usize| self.unknowns[place];
        let prepared = self.prepared(of);
        let read = |wanted| match wanted {
            Input::Direction(Unknown::Symbol(symbol)) => self.direction[symbol.place()],
            Input::Direction(Unknown::Variance(state)) => self.direction[self.symbols + state.place()],
            Input::Direction(Unknown::Target(row)) => self.direction[self.symbols + self.states + row.place()],
            Input::Weight(row) => self.weights[row],
            other => self.read(other, of, &prepared),
        };
        let changes = interpret(&self.programs.prepare_direction, read, |_| Vec::new());
        let read = |wanted| if let Input::Change(index) = wanted { changes[index] } else { read(wanted) };
        interpret(&self.programs[function], read, |_| Vec::new())
    }

    fn prepared<T: Scalar>(&self, of: impl Fn(usize) -> T) -> Vec<T> {
        interpret(&self.programs.prepare, |wanted| self.read(wanted, &of, &[]), |_| Vec::new())
    }

    fn read<T: Scalar>(&self, wanted: Input, of: impl Fn(usize) -> T, prepared: &[T]) -> T {
        match wanted {
            Input::State(symbol) | Input::Parameter(symbol) | Input::Driving(symbol) => of(symbol.place()),
            Input::Prepared(index) => prepared[index],
            Input::Variance(state) => of(self.symbols + state.place()),
            Input::Target(integral) => of(self.symbols + self.states + integral.place()),
            Input::Noise(integral) => T::from_f64(self.noise[integral.place()]),
            Input::Gain(integral) => T::from_f64(self.gains[integral.place()]),
            // No side is held.
            Input::Side(_) => T::from_f64(0.0),
            other => panic!("{other:?} is not for functions"),
        }
    }

    /// The derivatives of a function by each unknown, by dual numbers.
    fn columns(&self, function: &GeneratedFunction) -> Vec<Vec<f64>> {
        let count = if function.name == PROJECTION.name { self.unknowns.len() } else { self.symbols };
        let column = |moved: usize| {
            let slope = |place: usize| f64::from(u8::from(place == moved));
            let results = self.results(function, |place| Dual64::new(self.unknowns[place], slope(place)));
            results.iter().map(|result| result.eps).collect()
        };
        (0..count).map(column).collect()
    }

    /// What a derivative should return, given the results of the function and their derivatives by each unknown.
    fn expected(&self, derivative: Derivative, results: &[f64], columns: &[Vec<f64>]) -> Vec<f64> {
        let rows = 0..results.len();
        let along = |moved: &[Vec<f64>]| {
            let sum = |row: usize| moved.iter().zip(&self.direction).map(|(column, v)| column[row] * v).sum::<f64>();
            results.iter().copied().chain(rows.clone().map(sum)).collect()
        };
        match derivative {
            Derivative::Tangent => along(columns),
            Derivative::StateTangent => along(&columns[..self.states]),
            Derivative::Adjoint => {
                let sum = |column: &Vec<f64>| column.iter().zip(&self.weights).map(|(slope, w)| slope * w).sum();
                columns.iter().map(sum).collect()
            }
            Derivative::Jacobian => rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect(),
        }
    }

    /// The largest error of each derivative relative to the largest derivative by an unknown, or to 1; `None` where derivatives are large.
    fn errors(&self) -> Option<Vec<(&'static str, f64)>> {
        let mut errors = Vec::new();
        for (function, derivatives) in FAMILIES {
            let (results, columns) = (self.results(function, |place| self.unknowns[place]), self.columns(function));
            let scale = largest(columns.concat()).max(largest(results.clone()));
            if scale.is_nan() || scale >= LARGEST {
                return None;
            }
            for derivative in derivatives {
                let kind = derivative.derivative().expect("a derivative");
                let (obtained, expected) = (self.derivative(derivative), self.expected(kind, &results, &columns));
                assert_eq!(obtained.len(), expected.len(), "{}", derivative.name);
                let error = largest(obtained.iter().zip(&expected).map(|(x, y)| x - y));
                errors.push((derivative.name, error / scale.max(1.0)));
            }
        }
        Some(errors)
    }
}

/// Parameters about which others are drawn: the identity where they are the entries of a matrix, else 1.
fn parameters_near_one(symbols: &Symbols) -> impl Iterator<Item = f64> {
    symbols.parameters().map(|parameter| {
        let place = symbols[parameter].name.split_once("[(").and_then(|(_, rest)| rest.strip_suffix(")]"));
        let is_off_diagonal = place.and_then(|place| place.split_once(", ")).is_some_and(|(row, column)| row != column);
        if is_off_diagonal { 0.0 } else { 1.0 }
    })
}

fn largest(entries: impl IntoIterator<Item = f64>) -> f64 {
    entries
        .into_iter()
        .fold(0.0, |largest: f64, entry| if entry.is_nan() { f64::NAN } else { largest.max(entry.abs()) })
}

fn agrees(declaration: &Declaration, range: [f64; 2]) {
    let name = &declaration.name;
    let compiled = declaration.compile_with_derivatives();
    let mut random = Random::new(1);
    // There are many more derivatives than results, each of which a dual number more computes.
    let wanted = states(name).min(amount(100, 1_000));
    let places = (0..20 * wanted).map(|_| Place::random(&compiled, range, &mut random).errors());
    let errors: Vec<_> = places.flatten().take(wanted).collect();
    assert_eq!(errors.len(), wanted, "{name}: too few states with moderate derivatives");
    let worst = errors.into_iter().flatten().max_by(|(_, a), (_, b)| a.total_cmp(b)).expect("errors");
    println!("{name:<24} {worst:?}");
    assert!(worst.1 < 1e-12, "{name}: {worst:?}");
}

#[test]
fn shipped_models() {
    shipped().for_each(|declaration| agrees(&declaration, [-1.5, 1.5]));
}

#[test]
fn other_systems() {
    for declaration in Declaration::others() {
        let range = if declaration.name == "Functions" { [0.3, 1.2] } else { [-1.5, 1.5] };
        agrees(&declaration, range);
    }
}

#[test]
fn driven_systems() {
    for declaration in Declaration::all(include_str!("../driven/systems.rs")) {
        agrees(&declaration, [-1.5, 1.5]);
    }
}

#[test]
fn elementary_functions() {
    let declaration = Declaration::one(
        "#[feedback_system(
            state(u, v, w),
            dynamics(
                u = v.powf(a) * (u * w).tan() + (v / 3).asin() - (w / 4).acos() + (u - 3).abs(),
                v = v.atan2(w) + (u * v).atan() + u.sinh() - a * v.cosh() * w.powf(u),
                w = (v * w).tanh() + (u - v).exp() / (2 + w.ln()) + a.ln() * w.sqrt() + u.sin() * v.cos(),
            ),
            output(ratio = u / v),
        )]
        pub struct ElementaryFunctions { pub a: f64 }",
    );
    agrees(&declaration, [0.3, 1.2]);
}
