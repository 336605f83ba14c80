//! Compiled programs against the same programs evaluated instruction by instruction.

use fbint_macros_core::derivation::IntegralId;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::expression::{Function as Elementary, Symbol};
use fbint_macros_core::program::{Input, Instruction, Program, Sign, Value};
use fbint_native::{ARRAYS, Error, Place, compile};
use fbint_runtime::Scalar;

const INPUTS: usize = 5;
const INTEGRALS: usize = 3;

/// Numbers that look random, and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn number(&mut self) -> f64 {
        self.below(4001) as f64 / 1000.0 - 2.0
    }
}

/// States are in the first array, parameters in the last.
fn place(input: Input) -> Option<Place> {
    match input {
        Input::State(symbol) => Some(Place { array: 0, entry: symbol.place() }),
        Input::Parameter(symbol) => Some(Place { array: ARRAYS - 1, entry: symbol.place() }),
        _ => None,
    }
}

/// Every kind of instruction, each on earlier ones, with a law in the middle.
fn program(random: &mut Random, length: usize) -> Program {
    let mut instructions: Vec<Instruction> = (0..INPUTS as u32)
        .flat_map(|i| [Input::State(Symbol(i)), Input::Parameter(Symbol(i))].map(Instruction::Input))
        .collect();
    instructions.push(Instruction::constant(random.number()));
    for turn in 0..length {
        if turn == length / 2 {
            let law = Value::at(instructions.len());
            let integrals = (0..INTEGRALS).map(|_| Value::at(random.below(law.index()))).collect();
            instructions.push(Instruction::Weigh(integrals));
            instructions.extend((0..INTEGRALS).map(|i| Instruction::Weighed(law, IntegralId::at(i))));
        }
        let law = instructions.iter().position(|instruction| matches!(instruction, Instruction::Weigh(_)));
        let mut earlier = || loop {
            let index = random.below(instructions.len());
            if Some(index) != law {
                return Value::at(index);
            }
        };
        let (a, b, c) = (earlier(), earlier(), earlier());
        let all = Elementary::ALL;
        instructions.push(match random.below(12 + all.len()) {
            0 => Instruction::Add(a, b),
            1 => Instruction::Sub(a, b),
            2 => Instruction::Mul(a, b),
            3 => Instruction::Div(a, b),
            4 => Instruction::Neg(a),
            5 => Instruction::Recip(a),
            6 => Instruction::Sqrt(a),
            7 => Instruction::MulAdd([Sign::Plus, Sign::Plus], a, b, c),
            8 => Instruction::MulAdd([Sign::Minus, Sign::Plus], a, b, c),
            9 => Instruction::MulAdd([Sign::Plus, Sign::Minus], a, b, c),
            10 => Instruction::MulAdd([Sign::Minus, Sign::Minus], a, b, c),
            11 => Instruction::constant(random.number()),
            index => {
                let function = all[index - 12];
                if function.arguments() == 2 {
                    Instruction::Binary(function, a, b)
                } else {
                    Instruction::Unary(function, a)
                }
            }
        });
    }
    let outputs = (instructions.len() - 20..instructions.len())
        .filter(|index| !matches!(instructions[*index], Instruction::Weigh(_)));
    Program { outputs: outputs.map(Value::at).collect(), instructions }
}

/// The value of each instruction, as emitted Rust computes it.
fn interpreted(program: &Program, state: &[f64], parameters: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    let mut y = Vec::new();
    for instruction in &program.instructions {
        let of = |value: &Value| values[value.index()];
        let value = match instruction {
            Instruction::Constant(bits) => f64::from_bits(*bits),
            Instruction::Input(Input::State(symbol)) => state[symbol.place()],
            Instruction::Input(Input::Parameter(symbol)) => parameters[symbol.place()],
            Instruction::Input(_) => f64::NAN,
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
            Instruction::Unary(function, a) => function.evaluate(&[of(a)]),
            Instruction::Binary(function, a, b) => function.evaluate(&[of(a), of(b)]),
            Instruction::Weigh(integrals) => {
                let integrals: Vec<f64> = integrals.iter().map(of).collect();
                y = vec![0.0; integrals.len()];
                law(&integrals, &mut y);
                f64::NAN
            }
            Instruction::Weighed(_, integral) => y[integral.place()],
        };
        values.push(value);
    }
    program.outputs.iter().map(|value| values[value.index()]).collect()
}

fn law(integrals: &[f64], y: &mut [f64]) {
    for (i, (y, integral)) in y.iter_mut().zip(integrals).enumerate() {
        *y = (2.0 + i as f64) * (integral - 0.5);
    }
}

#[test]
fn random_programs_have_the_bits_of_emitted_rust() -> Result<(), Error> {
    let mut random = Random(1);
    let programs: Vec<Program> = (0..200).map(|index| program(&mut random, 20 + 2 * index)).collect();
    let functions = compile(&programs.iter().collect::<Vec<_>>(), &place)?;
    let mut numbers = 0;
    for (program, function) in programs.iter().zip(&functions) {
        for _ in 0..20 {
            let [state, parameters] = [(); 2].map(|()| [(); INPUTS].map(|()| random.number()));
            let expected = interpreted(program, &state, &parameters);
            let mut results = vec![0.0; function.results()];
            function.call(&[&state, &[], &[], &[], &parameters], &mut results, &mut law);
            for (result, expected) in results.iter().zip(&expected) {
                let is_same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
                assert!(is_same, "{result:?} instead of {expected:?} in\n{program}");
                numbers += usize::from(expected.is_finite() && *expected != 0.0);
            }
        }
    }
    assert!(numbers > 20_000, "too few finite results: {numbers}");
    Ok(())
}

#[test]
#[should_panic(expected = "arrays that are as long")]
fn a_short_array_is_refused() {
    let program =
        Program { instructions: vec![Instruction::Input(Input::State(Symbol(3)))], outputs: vec![Value::at(0)] };
    let function = compile(&[&program], &place).expect("one load").remove(0);
    let mut results = [1.0; 2];
    function.call(&[&[1.0, 2.0, 3.0, 4.0], &[], &[], &[], &[]], &mut results, &mut law);
    assert_eq!(results, [4.0, 0.0]);
    function.call(&[&[1.0, 2.0, 3.0], &[], &[], &[], &[]], &mut results, &mut law);
}

#[test]
fn a_law_is_given_the_integrals_of_its_own_instruction() {
    let [longer, shorter] = [Value::at(1), Value::at(2)];
    let program = Program {
        instructions: vec![
            Instruction::constant(3.0),
            Instruction::Weigh(Box::new([Value::at(0); INTEGRALS])),
            Instruction::Weigh(Box::new([Value::at(0)])),
            Instruction::Weighed(shorter, IntegralId::at(0)),
            Instruction::Weighed(shorter, IntegralId::at(1)),
            Instruction::Weighed(longer, IntegralId::at(2)),
        ],
        outputs: [3, 4, 5].map(Value::at).to_vec(),
    };
    // The longer one, too, is evaluated only if it is read.
    for (outputs, lengths) in [(3, vec![INTEGRALS, 1]), (2, vec![1])] {
        let program = Program { outputs: program.outputs[..outputs].to_vec(), ..program.clone() };
        let function = compile(&[&program], &place).expect("constants").remove(0);
        let (mut results, mut seen) = ([0.0; 4], Vec::new());
        function.call(&[&[]; ARRAYS], &mut results, &mut |integrals, y| {
            seen.push(integrals.len());
            law(integrals, y);
        });
        assert_eq!(seen, lengths);
        assert_eq!(results[0], 5.0);
        assert!(results[1].is_nan(), "there is no second integral: {results:?}");
    }
}

#[test]
fn constants_and_signs_of_zero_are_kept() -> Result<(), Error> {
    let constants = [0.0, -0.0, 1e-320, f64::MAX, 0.1];
    let mut instructions: Vec<Instruction> = constants.map(Instruction::constant).to_vec();
    instructions.extend((0..constants.len()).map(|index| Instruction::Neg(Value::at(index))));
    let program = Program { outputs: (0..instructions.len()).map(Value::at).collect(), instructions };
    let mut results = [1.0; 10];
    compile(&[&program], &place)?[0].call(&[&[]; ARRAYS], &mut results, &mut law);
    let expected: Vec<f64> = constants.into_iter().chain(constants.map(|constant| -constant)).collect();
    assert_eq!(results.map(f64::to_bits).to_vec(), expected.iter().map(|number| number.to_bits()).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn an_input_without_a_place_is_refused() {
    let reads = |input| Program { instructions: vec![Instruction::Input(input)], outputs: vec![Value::at(0)] };
    let program = reads(Input::Prepared(0));
    assert!(matches!(compile(&[&program], &place), Err(Error::Input)));
    let program = reads(Input::Parameter(Symbol(0)));
    assert!(compile(&[&program], &place).is_ok());
    let beyond = |_| Some(Place { array: ARRAYS, entry: 0 });
    assert!(matches!(compile(&[&program], &beyond), Err(Error::Input)));
}

#[test]
fn code_is_in_memory_as_long_as_one_of_its_functions_is() -> Result<(), Error> {
    let constant = |number| Program { instructions: vec![Instruction::constant(number)], outputs: vec![Value::at(0)] };
    let mut functions = compile(&[&constant(1.0), &constant(2.0)], &place)?;
    let last = functions.pop().expect("one for each program").clone();
    drop(functions);
    let mut results = [0.0; 2];
    last.call(&[&[]; ARRAYS], &mut results, &mut law);
    assert_eq!(results, [2.0, 0.0]);
    Ok(())
}

/// The integrals and what the law returns take eight pages of the stack, which are probed.
#[test]
fn a_frame_of_many_pages_is_right() -> Result<(), Error> {
    const COUNT: usize = 2_048;
    let law_at = Value::at(1);
    let mut instructions = vec![Instruction::constant(3.0), Instruction::Weigh(vec![Value::at(0); COUNT].into())];
    instructions.extend([0, COUNT - 1].map(|place| Instruction::Weighed(law_at, IntegralId::at(place))));
    let program = Program { instructions, outputs: vec![Value::at(2), Value::at(3)] };
    let mut results = [0.0; 2];
    compile(&[&program], &place)?[0].call(&[&[]; ARRAYS], &mut results, &mut law);
    assert_eq!(results, [5.0, 2.5 * (COUNT as f64 + 1.0)]);
    Ok(())
}

/// Offsets have 32 bits.
#[test]
fn what_is_too_far_away_is_refused() {
    let program =
        Program { instructions: vec![Instruction::Input(Input::State(Symbol(0)))], outputs: vec![Value::at(0)] };
    for entry in [1 << 28, usize::MAX / 4, usize::MAX] {
        let far = compile(&[&program], &|_| Some(Place { array: 0, entry }));
        assert!(matches!(far, Err(Error::Length)), "{far:?}");
    }
    assert!(compile(&[&program], &|_| Some(Place { array: 0, entry: (1 << 28) - 1 })).is_ok());
}
