//! Tests of the tests: single faults are put into what the compiler makes, and the checks that the models pass must fail.
//!
//! A fault in a program flips a sign, drops a term, exchanges operands, results, entries of the state, parameters or rows,
//! takes another value, another number or another operation. A fault in a derivation does the like to an entry of a gradient, a
//! bracket, a matrix, a rate or an output, and goes through the rest of the compiler. Whether it changes any result is judged
//! by comparing the interpreted programs with and without it at states of their own; whether it is caught, by holding the
//! faulty programs against dual numbers as `identities` does (with its states, its [`disagreement`] and its tolerances). Each
//! that changes a result must be caught. The counts are printed: `cargo test -p fbint-tests --test main faults -- --nocapture`.

mod magnitudes;

use std::panic::{AssertUnwindSafe, catch_unwind};

use fbint_macros_core::check::{self, CheckOutcome};
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{Derivation, Field, Hamel, IntegralId};
use fbint_macros_core::expression::{Expression, Symbol};
use fbint_macros_core::program::{
    FUNCTIONS, GeneratedFunction, INTEGRALS, Input, Instruction, JACOBIAN, OUTPUTS, Program, Programs, Sign, Unknown,
    VECTOR_FIELD, Value, assemble, verify,
};
use fbint_runtime::GeneratedSystem;
use fbint_tests::compiler::{Compiled, Declaration, run, solved_field};
use fbint_tests::functions::{Question, Results, disagreement, emitted, interpreted};
use fbint_tests::oracle::{Declared, Oracle, Tolerances, random_state};
use fbint_tests::{Random, amount, relative_error};

/// States of `identities` at which a faulty program is checked until one shows the fault.
const CHECKED: usize = 20;
/// States of its own at which it is judged whether a fault changes anything.
const JUDGED: usize = 12;
/// What the judge takes for rounding; of a projection, ten times what the oracle's tolerance is.
const ROUNDING: f64 = 1e-10;

mod programs {
    use super::*;

    mod models {
        use super::*;

        fbint_tests::test_every_model_but_the_longest!(those_in_each_function_are_caught);
        #[cfg(feature = "thorough")]
        fbint_tests::test_each! { those_in_each_function_are_caught, chain32 Chain32, }

        fn those_in_each_function_are_caught<S: Declared>(system: &mut S) {
            // Of 22, that is a hundred for each of twelve models: more than a thousand.
            let faults = amount(if S::FACTS.state.len() < 48 { 6 } else { 2 }, 22);
            let tally = every_harmful_fault_is_caught(system, faults);
            assert!(
                tally.harmful * 22 >= 100 * faults,
                "{}: only {} faults change a result",
                S::FACTS.name,
                tally.harmful
            );
        }
    }

    mod others {
        use super::*;

        fbint_tests::test_every_other_system!(those_in_each_function_are_caught);

        fn those_in_each_function_are_caught<S: Declared>(system: &mut S) {
            every_harmful_fault_is_caught(system, amount(3, 6));
        }
    }

    fn every_harmful_fault_is_caught<S: Declared>(system: &mut S, faults: usize) -> Tally {
        let good = Declaration::of_system(S::FACTS.name).compile();
        let checks = Checks::new(system, &good.programs);
        assert_eq!(verify(&good.derivation, &good.programs), Ok(Vec::new()), "{}", S::FACTS.name);
        assert!(checks.catch(&good.programs).is_none(), "{}: the checks fail without a fault", S::FACTS.name);
        let mut random = Random::new(3);
        let mut tally = Tally::default();
        // What is broken: the program that prepares, or a function.
        for broken in [None].into_iter().chain(FUNCTIONS.map(Some)) {
            for _ in 0..faults {
                let mut programs = good.programs.clone();
                let prepared = programs.prepare.outputs.len();
                let n = S::FACTS.state.len();
                let (name, program, range) = match broken {
                    None => ("prepare", &mut programs.prepare, n..n + S::FACTS.parameter_names.len()),
                    Some(function) => (function.name, &mut programs[function], 0..n),
                };
                let Some(fault) = break_program(program, prepared, range, &mut random) else { break };
                let fault = format!("{} {name}: {fault}", S::FACTS.name);
                // That a function could be compared nowhere is told where the model's equations are.
                checks.judge(&programs, &fault, &mut tally, || verify(&good.derivation, &programs) != Ok(Vec::new()));
            }
        }
        tally.report(S::FACTS.name, "programs");
        assert!(tally.unnoticed.is_empty(), "the compiler itself does not notice {:?}", tally.unnoticed);
        tally
    }

    /// Puts a fault into the program and describes it. None where there is nothing to break.
    pub(super) fn break_program(
        program: &mut Program,
        prepared: usize,
        symbols: std::ops::Range<usize>,
        random: &mut Random,
    ) -> Option<String> {
        if program.instructions.is_empty() {
            return None;
        }
        let before = program.clone();
        match random.index(8) {
            0 if program.outputs.len() > 1 => exchange(&mut program.outputs, random),
            1 if exchange_integrals(program, random) => {}
            2 => drop_term(program, random),
            _ => {
                let index = random.index(program.instructions.len());
                let earlier = earlier_values(program, index);
                let other_operand = random.index(3) == 0 && !earlier.is_empty();
                let broken = match program.instructions[index].clone() {
                    other if other_operand => with_another_operand(other, &earlier, random),
                    Instruction::Input(input) => Instruction::Input(other_input(input, prepared, symbols, random)),
                    other => other_operation(other, random),
                };
                program.instructions[index] = broken;
            }
        }
        Some(difference(&before, program))
    }

    fn exchange(values: &mut [Value], random: &mut Random) {
        let (i, j) = (random.index(values.len()), random.index(values.len()));
        values.swap(i, j);
    }

    /// Exchanges two of the integrals that the law is given, where it takes part.
    fn exchange_integrals(program: &mut Program, random: &mut Random) -> bool {
        let law = program.instructions.iter_mut().find_map(|instruction| match instruction {
            Instruction::Weigh(integrals) if integrals.len() > 1 => Some(integrals),
            _ => None,
        });
        law.map(|integrals| exchange(integrals, random)).is_some()
    }

    /// One operand of an instruction in the place of its result.
    fn drop_term(program: &mut Program, random: &mut Random) {
        let index = random.index(program.instructions.len());
        let operands: Vec<Value> = program.instructions[index].operands().collect();
        if operands.is_empty() {
            return;
        }
        let kept = operands[random.index(operands.len())];
        let instead = |value: Value| if value.index() == index { kept } else { value };
        program.instructions.iter_mut().for_each(|instruction| *instruction = instruction.clone().map(instead));
        program.outputs.iter_mut().for_each(|value| *value = instead(*value));
    }

    fn with_another_operand(instruction: Instruction, earlier: &[Value], random: &mut Random) -> Instruction {
        let count = instruction.operands().count();
        let (which, value) = (random.index(count.max(1)), earlier[random.index(earlier.len())]);
        let mut operand = 0;
        instruction.map(|old| {
            operand += 1;
            if operand == which + 1 { value } else { old }
        })
    }

    fn other_input(input: Input, prepared: usize, symbols: std::ops::Range<usize>, random: &mut Random) -> Input {
        let other_row = |row: IntegralId| IntegralId::at(if row.place() == 0 { 1 } else { row.place() - 1 });
        match input {
            Input::Direction(Unknown::Target(row)) => Input::Target(row),
            Input::Change(_) | Input::Direction(Unknown::Variance(_)) => {
                Input::Direction(Unknown::Symbol(Symbol::at(symbols.start + random.index(symbols.len()))))
            }
            Input::State(_) | Input::Variance(_) | Input::Driving(_) | Input::Direction(Unknown::Symbol(_)) => {
                Input::State(Symbol::at(symbols.start + random.index(symbols.len())))
            }
            Input::Parameter(_) => Input::Parameter(Symbol::at(symbols.start + random.index(symbols.len()))),
            Input::Prepared(_) => Input::Prepared(random.index(prepared)),
            Input::Noise(row) => Input::Noise(other_row(row)),
            Input::Gain(row) => Input::Target(row),
            Input::Target(row) => Input::Target(other_row(row)),
            Input::Weight(place) => Input::Weight(place + 1),
            Input::Acceleration(place) => Input::Acceleration(place + 1),
            Input::Order(place) => Input::Order(place + 1),
            Input::Initial(place) => Input::Initial(place + 1),
            Input::Side(place) => Input::Side(place + 1),
        }
    }

    fn other_operation(instruction: Instruction, random: &mut Random) -> Instruction {
        let first = random.index(2) == 0;
        match instruction {
            Instruction::Constant(bits) if first => Instruction::constant(-f64::from_bits(bits)),
            Instruction::Constant(bits) => Instruction::constant(f64::from_bits(bits) + random.between(0.01, 1.0)),
            Instruction::Add(a, b) if first => Instruction::Mul(a, b),
            Instruction::Add(a, b) => Instruction::Sub(a, b),
            Instruction::Sub(a, b) if first => Instruction::Sub(b, a),
            Instruction::Sub(a, b) => Instruction::Add(a, b),
            Instruction::Mul(a, b) if first => Instruction::Div(a, b),
            Instruction::Mul(a, b) => Instruction::Add(a, b),
            Instruction::Div(a, b) if first => Instruction::Div(b, a),
            Instruction::Div(a, b) => Instruction::Mul(a, b),
            Instruction::Neg(a) => Instruction::Recip(a),
            Instruction::Recip(a) => Instruction::Neg(a),
            Instruction::Sqrt(a) => Instruction::Recip(a),
            Instruction::MulAdd([Sign::Plus, Sign::Plus], a, b, _) if first => Instruction::Mul(a, b),
            Instruction::MulAdd(signs @ [Sign::Minus, Sign::Plus], a, b, c) if first => {
                Instruction::MulAdd(signs, a, c, b)
            }
            Instruction::MulAdd([product, sum], a, b, c) => Instruction::MulAdd([-product, sum], a, b, c),
            Instruction::Unary(_, a) => Instruction::Neg(a),
            Instruction::Binary(function, a, b) => Instruction::Binary(function, b, a),
            Instruction::Weigh(integrals) => Instruction::Weigh(integrals.iter().rev().copied().collect()),
            Instruction::Weighed(law, integral) => {
                Instruction::Weighed(law, IntegralId::at(random.index(integral.place() + 1)))
            }
            other @ Instruction::Input(_) => other,
        }
    }

    /// Values that the instruction may read: results of earlier ones, as far as something reads them.
    fn earlier_values(program: &Program, index: usize) -> Vec<Value> {
        let read = program.instructions.iter().flat_map(|instruction| instruction.operands());
        read.chain(program.outputs.iter().copied()).filter(|value| value.index() < index).collect()
    }

    /// The lines of the faulty program that differ from the good one.
    fn difference(good: &Program, faulty: &Program) -> String {
        let (good, faulty) = (good.to_string(), faulty.to_string());
        let pairs = good.lines().zip(faulty.lines()).filter(|(good, faulty)| good != faulty);
        pairs.map(|(good, faulty)| format!("`{faulty}` for `{good}`")).collect::<Vec<_>>().join(", ")
    }
}

mod derivations {
    use super::*;

    mod models {
        use super::*;

        fbint_tests::test_every_model_but_the_longest!(every_harmful_fault_is_caught);
        #[cfg(feature = "thorough")]
        fbint_tests::test_each! { every_harmful_fault_is_caught, chain32 Chain32, }
    }

    mod others {
        use super::*;

        fbint_tests::test_every_other_system!(every_harmful_fault_is_caught);
    }

    fn every_harmful_fault_is_caught<S: Declared>(system: &mut S) {
        let good = Declaration::of_system(S::FACTS.name).compile();
        let checks = Checks::new(system, &good.programs);
        assert_eq!(check::check(&good.model.problem, &good.derivation), CheckOutcome::Agreement, "{}", S::FACTS.name);
        let mut random = Random::new(4);
        let mut tally = Tally::default();
        for _ in 0..if S::FACTS.state.len() < 48 { amount(10, 30) } else { amount(3, 10) } {
            let mut derivation = good.derivation.clone();
            let fault = format!("{}: {}", S::FACTS.name, break_derivation(&mut derivation, &mut random));
            // A program that divides by an entry that is gone is not written.
            match catch_unwind(AssertUnwindSafe(|| assemble(&derivation, false))) {
                Ok(programs) => checks.judge(&programs, &fault, &mut tally, || {
                    matches!(check::check(&good.model.problem, &derivation), CheckOutcome::Disagreement(_))
                }),
                Err(_) => tally.refused += 1,
            }
        }
        tally.report(S::FACTS.name, "derivation");
        assert!(tally.unnoticed.is_empty(), "the compiler itself does not notice {:?}", tally.unnoticed);
        assert!(tally.harmful > 0, "{}: no fault changes a result", S::FACTS.name);
    }

    /// Shipped models that take too long.
    const LONG: [&str; 3] = ["Chain8", "Chain16", "Chain32"];

    /// Inertia that depends on the place, a moving constraint, a reaction that also acts along a velocity that vanishes, forces, and a
    /// frame whose brackets are functions.
    const GENERAL: &str = "
        #[feedback_system(
            coordinates(x, y, z, theta),
            velocities(u, v, w, s),
            time(t),
            kinematics(
                x = u * theta.cos() - v * theta.sin(),
                y = u * theta.sin() + v * theta.cos(),
                z = s + x * u / 3,
                theta = w,
            ),
            lagrangian = (2 + x * y / 5) * u.powi(2) / 2 + v.powi(2) / 2 + u * v * z / 4 + (1 + z.powi(2)) * w.powi(2) / 2
                + s.powi(2) / 2 + w * s * x / 3 + v * w / 5 + u * t.sin() / 3 - z * x,
            constraint(surface = z - x * y / 3 - t.sin() / 5),
            velocity_constraint(blade = v, roll = w - x * u / 2 + v * z),
            force(u = t.cos() - u / 3, v = w / 4, s = -s),
            output(normal = multiplier(surface), side = multiplier(blade), torque = multiplier(roll)),
        )]
        pub struct General;
    ";

    /// The compiler notices faults in fields, or they change nothing: neither what programs return, nor X and the multipliers as linear
    /// systems and rates give them, nor the value of any part of the frame.
    #[test]
    fn faults_in_fields_are_noticed_or_change_nothing() {
        let tests = [GENERAL, include_str!("../velocities/systems.rs"), include_str!("../driven/systems.rs")];
        let shipped = Declaration::shipped().into_iter().filter(|declaration| !LONG.contains(&&*declaration.name));
        let others = tests.into_iter().flat_map(Declaration::all).chain(Declaration::others());
        let declarations: Vec<Declaration> = shipped.chain(others).collect();
        assert!(declarations.len() >= 60, "{}", declarations.len());
        let (mut random, mut of_implicit) = (Random::new(5), Random::new(6));
        let (mut noticed, mut same, mut implicit, mut implicit_same) = (0, 0, 0, 0);
        for declaration in declarations {
            let good = declaration.compile();
            let verdict = check::check(&good.model.problem, &good.derivation);
            assert_eq!(verdict, CheckOutcome::Agreement, "{}", declaration.name);
            for turn in 0..amount(12, 60) {
                let mut derivation = good.derivation.clone();
                let fault = match turn % 3 {
                    0 => break_derivation(&mut derivation, &mut random),
                    _ => break_motion(&mut derivation, &mut random),
                };
                *if is_noticed(&good, &derivation, &fault) { &mut noticed } else { &mut same } += 1;
            }
            let is_implicit = !good.derivation.field.systems.is_empty();
            for _ in 0..if is_implicit { amount(8, 40) } else { 0 } {
                let mut derivation = good.derivation.clone();
                let fault = break_field(&mut derivation.field, &mut of_implicit);
                *if is_noticed(&good, &derivation, &fault) { &mut implicit } else { &mut implicit_same } += 1;
            }
        }
        eprintln!("fields: {noticed} faults noticed, {same} change nothing");
        eprintln!("implicit fields: {implicit} further faults noticed, {implicit_same} change nothing");
        assert!(noticed >= 600 && implicit >= 200, "{noticed}, {implicit}");
    }

    /// Whether the compiler notices the fault; if not, it changes nothing.
    fn is_noticed(good: &Compiled, derivation: &Derivation, fault: &str) -> bool {
        if let CheckOutcome::Disagreement(_) = check::check(&good.model.problem, derivation) {
            return true;
        }
        let name = &derivation.name;
        let programs = catch_unwind(AssertUnwindSafe(|| assemble(derivation, false)));
        let Ok(programs) = programs else { panic!("{name}: {fault} ends the compiler") };
        let is_same = |one: &[f64], other: &[f64]| {
            let error = relative_error(one, other);
            !error.is_nan() && error <= ROUNDING
        };
        for state in 0..JUDGED {
            for function in [&VECTOR_FIELD, &INTEGRALS, &JACOBIAN, &OUTPUTS] {
                let [one, other] = [&good.programs, &programs].map(|it| values(it, function, state));
                assert!(is_same(&one, &other), "{name}, {}: {fault}", function.name);
            }
            for of in [of_frame, of_field] {
                let [one, other] = [&good.derivation, derivation].map(|it| of(it, state));
                assert!(is_same(&one, &other), "{name}, the frame or the field: {fault}");
            }
        }
        false
    }

    /// X and the multipliers, as linear systems and rates give them.
    fn of_field(derivation: &Derivation, state: usize) -> Vec<f64> {
        solved_field(derivation, |symbol| number(state, symbol))
    }

    /// The value of a symbol in a state.
    fn number(state: usize, symbol: Symbol) -> f64 {
        Random::new((1_000 * state + symbol.place()) as u64).between(0.5, 1.5)
    }

    /// The value of everything that stands for the frame of a Lagrangian system.
    fn of_frame(derivation: &Derivation, state: usize) -> Vec<f64> {
        let Some(Hamel { lagrangian, momenta, forces, brackets, .. }) = &derivation.hamel else { return Vec::new() };
        let coefficients = brackets.iter().flat_map(|bracket| &bracket.coefficients);
        let entries = momenta.iter().chain(forces).chain(coefficients).map(|(_, entry)| entry);
        let values = [lagrangian].into_iter().chain(entries);
        values.map(|entry| entry.evaluate(&|symbol| number(state, symbol))).collect()
    }

    /// Puts a fault into the field or the frame and describes it.
    fn break_motion(derivation: &mut Derivation, random: &mut Random) -> String {
        let Some(Hamel { lagrangian, momenta, forces, brackets, .. }) = &mut derivation.hamel else {
            return format!("field: {}", break_field(&mut derivation.field, random));
        };
        let coefficients = brackets.iter_mut().map(|bracket| &mut bracket.coefficients).find(|it| !it.is_empty());
        let (what, list) = match (random.index(6), coefficients) {
            (0, _) => ("momenta", momenta),
            (1, _) => ("forces", forces),
            (2, Some(coefficients)) => ("bracket", coefficients),
            (2, None) => return format!("Lagrangian: {}", break_expression(lagrangian, random)),
            _ => return format!("field: {}", break_field(&mut derivation.field, random)),
        };
        let index = random.index(list.len());
        format!("{what} {index}: {}", break_expression(list.values_mut().nth(index).expect("an entry"), random))
    }

    /// A function's results where every number has a value of its own.
    fn values(programs: &Programs, function: &GeneratedFunction, state: usize) -> Vec<f64> {
        let number = |index: usize| Random::new((1_000 * state + index) as u64).between(0.5, 1.5);
        let prepared = run(&programs.prepare, &[], number, |_| Vec::new());
        run(&programs[function], &prepared, number, |_| Vec::new())
    }

    /// Puts a fault into the derivation and describes it.
    fn break_derivation(derivation: &mut Derivation, random: &mut Random) -> String {
        let dimension = derivation.dimension();
        let unconstrained = derivation.constraints().is_some_and(|constraints| constraints.is_empty());
        match random.index(if unconstrained { 4 } else { 6 }) {
            0 => {
                let row = random.index(derivation.integrals.len());
                let value = &mut derivation.integrals[IntegralId::at(row)].value;
                format!("integral {row}: {}", break_expression(value, random))
            }
            1 if !derivation.outputs.is_empty() => {
                let index = random.index(derivation.outputs.len());
                format!("output {index}: {}", break_expression(&mut derivation.outputs[index].value, random))
            }
            1..=3 => {
                let row = random.index(derivation.integrals.len());
                let gradient = &mut derivation.integrals[IntegralId::at(row)].gradient;
                let index = random.index(gradient.len());
                let old = *gradient.keys().nth(index).expect("an entry");
                let text = if random.index(2) == 0 {
                    let column = Symbol::at(random.index(dimension));
                    let entry = gradient.remove(&old).expect("an entry");
                    gradient.insert(column, entry);
                    format!("column {} for {}", column.place(), old.place())
                } else {
                    break_expression(gradient.get_mut(&old).expect("an entry"), random)
                };
                format!("gradient {row}, entry {index}: {text}")
            }
            _ => format!("field: {}", break_field(&mut derivation.field, random)),
        }
    }

    fn break_field(field: &mut Field, random: &mut Random) -> String {
        let Field { systems, rates } = field;
        let index = random.index(systems.len() + 1);
        match systems.get_mut(index) {
            Some(system) if random.index(2) == 0 => {
                // The matrix of phase constraints is antisymmetric.
                let is_symmetric = system.matrix.iter().enumerate().any(|(i, row)| !row[i].is_zero());
                let parity = if is_symmetric { 1 } else { -1 };
                format!("system {index}, matrix {}", break_matrix(&mut system.matrix, parity, random))
            }
            Some(system) => format!("system {index}, right side {}", break_vector(&mut system.right_side, random)),
            None => {
                let index = random.index(rates.len());
                if random.index(3) == 0 {
                    let other = random.index(rates.len());
                    let (one, two) = (rates[Symbol::at(index)].clone(), rates[Symbol::at(other)].clone());
                    (rates[Symbol::at(index)], rates[Symbol::at(other)]) = (two, one);
                    return format!("rates {index} and {other} exchanged");
                }
                format!("rate {index}: {}", break_expression(&mut rates[Symbol::at(index)], random))
            }
        }
    }

    fn break_vector(entries: &mut [Expression], random: &mut Random) -> String {
        let index = random.index(entries.len());
        if random.index(3) == 0 {
            let other = random.index(entries.len());
            entries.swap(index, other);
            return format!("{index} and {other} exchanged");
        }
        format!("{index}: {}", break_expression(&mut entries[index], random))
    }

    /// Breaks an entry and its mirror image: programs read one triangle.
    fn break_matrix(matrix: &mut [Vec<Expression>], parity: i64, random: &mut Random) -> String {
        let (i, j) = (random.index(matrix.len()), random.index(matrix.len()));
        let text = break_expression(&mut matrix[i][j], random);
        if i != j {
            matrix[j][i] = Expression::integer(parity) * matrix[i][j].clone();
        }
        format!("({i}, {j}): {text}")
    }

    /// Another sign, another weight, a term or a factor gone, or another state in the place of one.
    fn break_expression(expression: &mut Expression, random: &mut Random) -> String {
        let part = match (random.index(4), &*expression) {
            (0, _) => Expression::integer(-1) * expression.clone(),
            (1, _) => Expression::integer(2) * expression.clone(),
            (_, Expression::Sum(terms)) => {
                let dropped = random.index(terms.len());
                let kept = terms.iter().enumerate().filter(|(index, _)| *index != dropped);
                Expression::sum(kept.map(|(_, term)| term.clone()).collect::<Vec<_>>())
            }
            (_, Expression::Product(factors)) => {
                let dropped = random.index(factors.len());
                let kept = factors.iter().enumerate().filter(|(index, _)| *index != dropped);
                Expression::product(kept.map(|(_, factor)| factor.clone()).collect::<Vec<_>>())
            }
            (_, other) => {
                let symbols: Vec<Symbol> = other.symbols().into_iter().collect();
                let Some(&first) = symbols.first() else { return "none".to_owned() };
                let last = symbols[symbols.len() - 1];
                let instead = if first == last { Symbol(first.0 ^ 1) } else { last };
                other.substituted(&|symbol| Expression::from(if symbol == first { instead } else { symbol }))
            }
        };
        let text = format!("{part:?} for {expression:?}");
        *expression = part;
        text.chars().take(200).collect()
    }
}

/// A state with parameters, what the functions should return there, and how exactly.
struct Check<S: GeneratedSystem> {
    parameters: Vec<f64>,
    question: Question<S>,
    expected: Results,
    tolerances: Tolerances,
    emitted: Results,
}

/// What a system's programs are held against.
struct Checks<S: GeneratedSystem> {
    /// The first states of `identities`.
    checked: Vec<Check<S>>,
    /// Others, with the results of the good programs and what counts as rounding in a projection.
    judged: Vec<(Vec<f64>, Question<S>, Results, f64)>,
}

impl<S: Declared> Checks<S> {
    fn new(system: &mut S, good: &Programs) -> Self {
        let mut random = Random::new(1);
        let checked = (0..CHECKED).map(|turn| check(system, &mut random, turn)).collect();
        let mut random = Random::new(9);
        let judged = (0..JUDGED).map(|turn| {
            let Check { parameters, question, tolerances, .. } = check(system, &mut random, turn);
            let results = interpreted(good, &parameters, &question);
            (parameters, question, results, 10.0 * tolerances.projection)
        });
        Self { checked, judged: judged.collect() }
    }

    /// The function that dual numbers find wrong.
    fn catch(&self, programs: &Programs) -> Option<(&'static str, f64)> {
        self.checked.iter().find_map(|check| {
            let obtained = interpreted(programs, &check.parameters, &check.question);
            disagreement(&obtained, &check.expected, |name| check.tolerances.of(name))
        })
    }

    /// Whether some bit is not what the emitted code, which has no fault, returns.
    fn differs_from_emitted(&self, programs: &Programs) -> bool {
        self.checked.iter().any(|check| {
            let obtained = interpreted(programs, &check.parameters, &check.question);
            disagreement(&obtained, &check.emitted, |_| 0.0).is_some()
        })
    }

    fn changed(&self, programs: &Programs) -> bool {
        self.judged.iter().any(|(parameters, question, good, rounding)| {
            let faulty = interpreted(programs, parameters, question);
            good.pairs(&faulty).any(|(name, good, faulty)| {
                let error = relative_error(faulty, good);
                error.is_nan() || error > if name == "projection" { rounding.max(ROUNDING) } else { ROUNDING }
            })
        })
    }

    /// Counts a fault; panics where it changes a result and is not caught.
    fn judge(&self, programs: &Programs, fault: &str, tally: &mut Tally, verified: impl FnOnce() -> bool) {
        if !self.changed(programs) {
            tally.harmless += 1;
            return;
        }
        tally.harmful += 1;
        if !verified() {
            tally.unnoticed.push(fault.to_owned());
        }
        tally.by_interpreter += usize::from(self.differs_from_emitted(programs));
        assert!(self.catch(programs).is_some(), "not caught: {fault}");
    }
}

/// How many faults changed a result, and who noticed.
#[derive(Default)]
struct Tally {
    harmful: usize,
    harmless: usize,
    /// Faults after which the compiler writes no program.
    refused: usize,
    /// Those that change a result, which the compiler itself does not notice.
    unnoticed: Vec<String>,
    by_interpreter: usize,
}

impl Tally {
    fn report(&self, system: &str, what: &str) {
        eprintln!(
            "{system}, {what}: {} faults change a result, all caught by dual numbers, {} by the interpreter, {} by the \
             compiler itself; {} change nothing, {} end the compiler",
            self.harmful,
            self.by_interpreter,
            self.harmful - self.unnoticed.len(),
            self.harmless,
            self.refused
        );
    }
}

/// A state of `identities`: the same numbers in the same order.
fn check<S: Declared>(system: &mut S, random: &mut Random, turn: usize) -> Check<S> {
    let (x, oracle) = random_state(system, random);
    let mut question = Question::random(x, random, turn);
    question.h = oracle.step(&question);
    let (expected, tolerances) = oracle.results(&question, None::<fn(&_) -> Oracle>);
    let parameters = (0..S::FACTS.parameter_names.len()).map(|index| system.parameter(index).expect("a parameter"));
    Check { parameters: parameters.collect(), emitted: emitted(system, &question), question, expected, tolerances }
}
