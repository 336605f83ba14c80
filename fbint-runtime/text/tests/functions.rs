//! Every function of every shipped model from its text, against its programs evaluated instruction by instruction.
//!
//! The evaluation here is written from what the compiler emits, with maps and without registers.

use std::collections::BTreeMap;

use fbint_catalogue::FlatModel;
use fbint_catalogue::padded::{Padded, Visitor};
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::expression::Function as Elementary;
use fbint_macros_core::program::{
    FEEDBACK_FIELD_DERIVATIVES, FUNCTIONS, Form, HAMEL_FUNCTIONS, Input, Instruction, Program, VECTOR_FIELD_DERIVATIVES,
};
use fbint_macros_core::text::{Model, models as declared};
use fbint_runtime::{
    DrivenSystem, Entries, FeedbackLaw, FeedbackSystem, HamelSystem, Integrals, PreparedSystem, Scalar, SystemFacts,
};
use fbint_text::models;

use crate::random::Random;
use crate::shipped::{self, LONGEST, Shipped, visit};
use crate::{amount, is_thorough};

/// Where functions are evaluated, in vectors that are long enough for all models.
pub(crate) struct Point {
    pub(crate) parameters: [f64; 2 * LONGEST[0]],
    pub(crate) x: [f64; LONGEST[0]],
    pub(crate) inputs: [f64; LONGEST[0]],
    pub(crate) law: Law,
    variances: [f64; LONGEST[0]],
    noise: [f64; LONGEST[0]],
}

/// A feedback law with a constant diagonal K.
pub(crate) struct Law {
    gains: [f64; LONGEST[0]],
    targets: [f64; LONGEST[0]],
}

impl<S: FeedbackSystem> FeedbackLaw<S, f64> for Law {
    fn weigh(&self, integrals: Integrals<S>) -> Integrals<S> {
        Entries::from_fn(|i| self.gains[i] * (integrals[i] - self.targets[i]))
    }
}

impl Point {
    pub(crate) fn random(random: &mut Random) -> Self {
        Self {
            parameters: random.numbers([0.5, 2.0]),
            x: random.numbers([-1.0, 1.0]),
            inputs: random.numbers([-1.0, 1.0]),
            law: Law { gains: random.numbers([0.5, 2.0]), targets: random.numbers([-1.0, 1.0]) },
            variances: random.numbers([0.5, 2.0]),
            noise: random.numbers([1e-3, 2e-3]),
        }
    }
}

/// What functions return, by their names, matrices row by row.
pub(crate) type Results = BTreeMap<&'static str, Vec<f64>>;

/// What the functions of a system return, and that nothing but zeros is beyond.
pub(crate) fn results<S: FeedbackSystem>(system: &S::Prepared<f64>, point: &Point) -> Results {
    let facts = system.facts();
    let [n, m, o] = [facts.state.len(), facts.integrals.len(), facts.output_names.len()];
    let x: S::Vector<f64> = padded(&point.x, n);
    let [variances, noise] = [&point.variances, &point.noise];
    let (variances, noise): (S::Vector<f64>, S::Integrals<f64>) = (padded(variances, n), padded(noise, m));
    let jacobian = system.integrals_jacobian(&x);
    let jacobian = jacobian.as_ref().iter().take(m).flat_map(|row| cut(row.as_ref(), n));
    let normalisation = system.normalisation();
    BTreeMap::from([
        ("vector_field", cut(system.vector_field(&x).as_ref(), n)),
        ("integrals", cut(system.integrals(&x).as_ref(), m)),
        ("integrals_jacobian", jacobian.collect()),
        ("multipliers", cut(system.multipliers(&x).as_ref(), m)),
        ("outputs", cut(system.outputs(&x).as_ref(), o)),
        ("potential_gradient", cut(system.potential_gradient(&x, &point.law).as_ref(), n)),
        ("feedback_field", cut(system.feedback_field(&x, &point.law).as_ref(), n)),
        ("projection", cut(system.projection(&x, &variances, &noise, &point.law).as_ref(), n)),
        ("normalisation", normalisation.as_ref()[..m].iter().flatten().copied().collect()),
        ("zero_targets", system.zero_targets().as_ref()[..m].iter().map(|zero| f64::from(u8::from(*zero))).collect()),
    ])
}

/// The entries of the Jacobians of the field, and of the field with feedback, each with its row and its column.
pub(crate) fn jacobians<S: FeedbackSystem>(system: &S::Prepared<f64>, point: &Point) -> [Vec<(usize, usize, f64)>; 2] {
    let facts = system.facts();
    let x: S::Vector<f64> = padded(&point.x, facts.state.len());
    let law = [&point.law.gains, &point.law.targets].map(|numbers| padded(numbers, facts.integrals.len()));
    let [gains, targets]: [S::Integrals<f64>; 2] = law;
    [None, Some([&gains, &targets])].map(|feedback| {
        let mut entries = Vec::new();
        let has = system.jacobian(&x, feedback, &mut |row, column, entry| entries.push((row, column, entry)));
        assert_eq!(has, facts.has_jacobian, "{}", facts.name);
        entries
    })
}

/// The first numbers of a vector; the others are 0.
fn padded<V: Entries<f64>>(numbers: &[f64], length: usize) -> V {
    Entries::from_fn(|i| if i < length { numbers[i] } else { 0.0 })
}

/// The first numbers of a vector, whose others are 0.
fn cut(numbers: &[f64], length: usize) -> Vec<f64> {
    let (own, beyond) = numbers.split_at(length);
    assert!(beyond.iter().all(|number| number.to_bits() == 0), "{beyond:?}");
    own.to_vec()
}

/// Numbers by their bits, but for what is not a number.
pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| if number.is_nan() { f64::NAN.to_bits() } else { number.to_bits() }).collect()
}

/// Compares a model from text with its programs, and returns its facts.
fn compare_with_programs(Shipped { name, text }: &Shipped) -> &'static SystemFacts {
    let model = declared(text).unwrap_or_else(|mistakes| panic!("{name}: {mistakes:?}")).remove(0);
    assert_eq!(model.name, *name);
    let read = models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    let facts = read.facts();
    visit(Box::new(read), Comparison(&model));
    facts
}

#[test]
fn every_function_has_the_bits_of_its_program() {
    for shipped in shipped::all() {
        if is_thorough() || shipped.name != "Chain32" {
            compare_with_programs(&shipped);
        }
    }
}

#[test]
fn jacobians_have_the_bits_of_their_programs() {
    let usual = ["PlanarPendulum", "FourBar", "CartPole", "DrivenFourBar", "RollerRacer", "Kepler"];
    for name in usual.iter().chain(amount::<&[&str]>(&[], &["Chain8"])) {
        let Shipped { name, text } = shipped::named(name);
        let text = text.replacen("feedback_system(", "feedback_system(derivatives, ", 1);
        assert!(compare_with_programs(&Shipped { name, text }).has_jacobian);
    }
    // In long vectors, and in the longest.
    for &masses in [17, 49].iter().take(amount(1, 2)) {
        assert!(compare_with_programs(&springs(masses)).has_jacobian);
    }
}

/// Masses on springs that stiffen.
fn springs(masses: usize) -> Shipped {
    let text = format!(
        "#[feedback_system(derivatives, coordinates(q: [{masses}]), momenta(p: [{masses}]),
        hamiltonian = p.norm_squared() / 2 + q[0].powi(2) / 2
            + (1..{masses}).map(|i| (q[i] - q[i - 1]).powi(2) / 2 + k * (q[i] - q[i - 1]).powi(4) / 4).sum())]
        struct Springs {{ k: f64 }}"
    );
    Shipped { name: "Springs".to_owned(), text }
}

/// Compares a model from text with its programs.
struct Comparison<'m>(&'m Model);

impl Visitor for Comparison<'_> {
    type Output = ();

    fn visit<const N: usize, const M: usize>(self, mut model: Padded<N, M>) {
        let mut random = Random::new(34);
        for _ in 0..5 {
            let point = Point::random(&mut random);
            let count = model.facts().parameter_names.len();
            (0..count).for_each(|index| *model.parameter_mut(index).expect("a parameter") = point.parameters[index]);
            let prepared = Padded::with_input(model.prepare(), point.inputs[..N].try_into().expect("a vector"));
            compare::<N, M>(self.0, &prepared, &point);
        }
    }
}

fn compare<const N: usize, const M: usize>(
    model: &Model,
    prepared: &<Padded<N, M> as FeedbackSystem>::Prepared<f64>,
    point: &Point,
) {
    let facts = prepared.facts();
    let reference = Reference::new(model, facts, point);
    let found = results::<Padded<N, M>>(prepared, point);
    for function in FUNCTIONS {
        let form = function.law().unwrap_or(Form::Declared);
        let expected = reference.evaluate(&model.programs[function], form);
        assert_eq!(bits(&found[function.name]), bits(&expected), "{} of {}", function.name, model.name);
    }
    assert_eq!(bits(&found["normalisation"]), bits(&reference.normalisation), "the normalisation of {}", model.name);
    if facts.has_hamel_steps {
        let x = padded(&point.x, facts.state.len());
        let found = Padded::<N, M>::momentum_rates(prepared, &x);
        let [_, rates, state_jacobian, _] =
            HAMEL_FUNCTIONS.map(|function| reference.evaluate(&model.programs[function], Form::Declared));
        assert_eq!(bits(&cut(&found, facts.state.len())), bits(&rates), "{}", model.name);
        let found = Padded::<N, M>::momentum_state_jacobian(prepared, &x);
        let found: Vec<f64> =
            found.iter().take(facts.state.len()).flat_map(|row| cut(row, facts.state.len())).collect();
        assert_eq!(bits(&found), bits(&state_jacobian), "{}", model.name);
    }
    let found = jacobians::<Padded<N, M>>(prepared, point);
    if model.derivatives {
        for (function, found) in [&VECTOR_FIELD_DERIVATIVES, &FEEDBACK_FIELD_DERIVATIVES].into_iter().zip(found) {
            let expected = reference.evaluate(&model.programs[function], Form::Declared);
            assert_derivatives(facts, &model.programs[function], &expected, &found);
        }
    }
}

/// Each entry that does not vanish identically is there, by the state and the inputs alone.
fn assert_derivatives(facts: &SystemFacts, program: &Program, expected: &[f64], found: &[(usize, usize, f64)]) {
    let [states, parameters] = [facts.state.len(), facts.parameter_names.len()];
    let columns = states + parameters + facts.input_names.len();
    let place = |place: usize| (place / columns, place % columns);
    let entries =
        program.outputs.iter().zip(expected).enumerate().map(|(index, (value, entry))| (place(index), value, entry));
    let entries = entries.filter(|(_, value, _)| program.instructions[value.index()] != Instruction::constant(0.0));
    let entries = entries.filter_map(|((row, column), _, entry)| match column {
        column if column < states => Some((row, column, entry.to_bits())),
        column if column < states + parameters => None,
        column => Some((row, column - parameters, entry.to_bits())),
    });
    let found = found.iter().map(|&(row, column, entry)| (row, column, entry.to_bits()));
    assert_eq!(entries.collect::<Vec<_>>(), found.collect::<Vec<_>>(), "{}", facts.name);
}

/// The programs of a model at a point.
struct Reference<'p> {
    states: usize,
    parameters: usize,
    point: &'p Point,
    prepared: Vec<f64>,
    normalisation: Vec<f64>,
}

impl<'p> Reference<'p> {
    fn new(model: &Model, facts: &SystemFacts, point: &'p Point) -> Self {
        let (states, parameters) = (facts.state.len(), facts.parameter_names.len());
        let mut reference = Self { states, parameters, point, prepared: Vec::new(), normalisation: Vec::new() };
        reference.prepared = reference.evaluate(&model.programs.prepare, Form::Declared);
        reference.normalisation = reference.evaluate(&model.programs.normalisation, Form::Declared);
        reference
    }

    fn input(&self, input: Input) -> f64 {
        match input {
            Input::State(symbol) => self.point.x[symbol.place()],
            Input::Parameter(symbol) => self.point.parameters[symbol.place() - self.states],
            Input::Driving(symbol) => self.point.inputs[symbol.place() - self.states - self.parameters],
            Input::Prepared(index) => self.prepared[index],
            // No side is held.
            Input::Side(_) => 0.0,
            Input::Variance(state) => self.point.variances[state.place()],
            Input::Noise(integral) => self.point.noise[integral.place()],
            Input::Gain(integral) => self.point.law.gains[integral.place()],
            Input::Target(integral) => self.point.law.targets[integral.place()],
            other => panic!("{other:?} is read"),
        }
    }

    fn weigh(&self, form: Form, integral: usize, value: f64) -> f64 {
        let Law { gains, targets } = &self.point.law;
        if form == Form::Declared {
            return gains[integral] * (value - targets[integral]);
        }
        let [factor, scale, offset] = [0, 1, 2].map(|column| self.normalisation[3 * integral + column]);
        factor * (gains[integral] * (scale * (value + offset) - targets[integral]))
    }

    fn evaluate(&self, program: &Program, form: Form) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::new();
        for instruction in &program.instructions {
            let of = |value: &fbint_macros_core::program::Value| values[value.index()];
            let value = match instruction {
                Instruction::Constant(bits) => f64::from_bits(*bits),
                Instruction::Input(input) => self.input(*input),
                Instruction::Add(a, b) => of(a) + of(b),
                Instruction::Sub(a, b) => of(a) - of(b),
                Instruction::Mul(a, b) => of(a) * of(b),
                Instruction::Div(a, b) => of(a) / of(b),
                Instruction::Neg(a) => -of(a),
                Instruction::Recip(a) => Scalar::recip(of(a)),
                Instruction::Sqrt(a) => Scalar::sqrt(of(a)),
                Instruction::MulAdd([product, sum], a, b, c) => {
                    Scalar::mul_add(product.times(of(a)), of(b), sum.times(of(c)))
                }
                Instruction::Unary(function, a) => elementary(*function, of(a), 0.0),
                Instruction::Binary(function, a, b) => elementary(*function, of(a), of(b)),
                Instruction::Weigh(_) => 0.0,
                Instruction::Weighed(law, integral) => match &program.instructions[law.index()] {
                    Instruction::Weigh(integrals) => {
                        self.weigh(form, integral.place(), of(&integrals[integral.place()]))
                    }
                    other => panic!("{other:?} is not a law"),
                },
            };
            values.push(value);
        }
        program.outputs.iter().map(|value| values[value.index()]).collect()
    }
}

fn elementary(function: Elementary, x: f64, y: f64) -> f64 {
    match function.name() {
        "abs" => Scalar::abs(x),
        "sign" => Scalar::sign(x),
        "step" => Scalar::step(x),
        "sin" => Scalar::sin(x),
        "cos" => Scalar::cos(x),
        "tan" => Scalar::tan(x),
        "asin" => Scalar::asin(x),
        "acos" => Scalar::acos(x),
        "atan" => Scalar::atan(x),
        "sinh" => Scalar::sinh(x),
        "cosh" => Scalar::cosh(x),
        "tanh" => Scalar::tanh(x),
        "exp" => Scalar::exp(x),
        "ln" => Scalar::ln(x),
        "atan2" => Scalar::atan2(x, y),
        "powf" => Scalar::powf(x, y),
        other => panic!("`{other}` is unknown"),
    }
}
