//! What derivatives cost, in operations of the functions that they are derivatives of: the field, and the field with feedback with its
//! law, k (F - F_target), which derivatives have in them.

use fbint_macros_core::program::{
    DERIVATIVES, FEEDBACK_FIELD, FEEDBACK_FIELD_ADJOINT, FEEDBACK_FIELD_STATE_TANGENT, FEEDBACK_FIELD_TANGENT,
    GeneratedFunction, Input, Instruction, OperationCount, Program, VECTOR_FIELD, VECTOR_FIELD_ADJOINT,
    VECTOR_FIELD_STATE_TANGENT, VECTOR_FIELD_TANGENT, Value, verify,
};
use fbint_tests::compiler::{Compiled, Declaration};
use fbint_tests::is_thorough;

use super::shipped;

/// The most of a tangent along a direction of the state, of one in which parameters change, too, and of an adjoint.
const MOST: [f64; 3] = [2.85, 3.0, 3.8];
/// What a tangent along a direction of the state costs at most, but for fields that consist of products of what changes.
const USUAL: f64 = 2.55;

const OF_FIELD: [&GeneratedFunction; 3] = [&VECTOR_FIELD_STATE_TANGENT, &VECTOR_FIELD_TANGENT, &VECTOR_FIELD_ADJOINT];
const OF_FEEDBACK: [&GeneratedFunction; 3] =
    [&FEEDBACK_FIELD_STATE_TANGENT, &FEEDBACK_FIELD_TANGENT, &FEEDBACK_FIELD_ADJOINT];

fn operations(program: &Program) -> f64 {
    let OperationCount { additions, multiplications, fused, divisions, functions } = program.operations();
    f64::from(additions + multiplications + fused + divisions + functions)
}

/// The operations of a program and of its derivative along a direction of the state where each instruction is differentiated by
/// itself, in as few operations as that takes: one for each different factor that changes.
fn one_by_one(program: &Program) -> f64 {
    let mut changes: Vec<bool> = Vec::new();
    let mut total = operations(program);
    for instruction in &program.instructions {
        let number = |value: Value| f64::from(u8::from(changes[value.index()]));
        let product = |a: Value, b: Value| if a == b { number(a) } else { number(a) + number(b) };
        total += match *instruction {
            Instruction::Mul(a, b) | Instruction::MulAdd(_, a, b, _) => product(a, b),
            Instruction::Add(a, b) | Instruction::Sub(a, b) => number(a) * number(b),
            // -(a/b) db and the division; where a does not change, -(1/a) (a/b)^2 db.
            Instruction::Div(a, b) => number(a) + number(b) * (3.0 - 2.0 * number(a)),
            Instruction::Recip(a) => 2.0 * number(a),
            Instruction::Sqrt(a) => number(a),
            // With a slope that takes an operation.
            Instruction::Unary(_, a) => 2.0 * number(a),
            _ => 0.0,
        };
        let changes_with_operands = instruction.operands().any(|value| changes[value.index()]);
        changes.push(changes_with_operands || matches!(instruction, Instruction::Input(Input::State(_))));
    }
    total
}

#[test]
fn tangents_and_adjoints_cost_a_few_fields() {
    let columns = "  state tangent adjoint";
    println!("{:<22} {:>7} {columns} one by one {:>7} {columns}", "", "X", "X - V");
    let mut fields = 0;
    let mut usual = 0;
    let all = if is_thorough() { Declaration::shipped() } else { shipped().collect() };
    for declaration in all.into_iter().chain(Declaration::others()) {
        let Compiled { derivation, programs, .. } = declaration.compile_with_derivatives();
        let field = operations(&programs[&VECTOR_FIELD]);
        let feedback = operations(&programs[&FEEDBACK_FIELD]) + 2.0 * derivation.integrals.len() as f64;
        let ratios = |functions: [&GeneratedFunction; 3], of: f64| functions.map(|f| operations(&programs[f]) / of);
        let (plain, with_feedback) = (ratios(OF_FIELD, field), ratios(OF_FEEDBACK, feedback));
        let text = |ratios: [f64; 3]| ratios.map(|ratio| format!("{ratio:>7.2}")).join(" ");
        let least = one_by_one(&programs[&VECTOR_FIELD]) / field;
        println!(
            "{:<22} {field:>7} {} {least:>10.2} {feedback:>7} {}",
            declaration.name,
            text(plain),
            text(with_feedback)
        );
        // A field without operations has none to be compared with.
        if field == 0.0 {
            continue;
        }
        for ratios in [plain, with_feedback] {
            let exceeds = ratios.iter().zip(MOST).any(|(ratio, most)| *ratio > most);
            assert!(!exceeds, "{}: {ratios:?}", declaration.name);
        }
        // What a sum of squares shares, and what a function of two arguments takes, is not counted there.
        assert!(plain[0] <= 1.05 * least + 3.0 / field, "{}: {plain:?}, one by one {least}", declaration.name);
        fields += 1;
        usual += usize::from(plain[0] <= USUAL);
    }
    println!("at most {USUAL} in {usual} of {fields}");
    assert!(2 * usual >= fields, "{usual} of {fields}");
}

/// An addition in place of a subtraction, a factor that is lost: the compiler refuses every derivative that is not one.
#[test]
fn faults_in_derivatives_are_found() {
    for name in ["PlanarPendulum", "EulerTop"] {
        let Compiled { derivation, programs, .. } = Declaration::of_system(name).compile_with_derivatives();
        let mut injected = 0;
        for function in DERIVATIVES {
            for index in (0..programs[function].instructions.len()).step_by(5) {
                let mut faulty = programs.clone();
                let Some(instruction) = fault(&programs[function].instructions[index]) else { continue };
                faulty[function].instructions[index] = instruction;
                injected += 1;
                let found = verify(&derivation, &faulty);
                assert!(found.is_err(), "{name}: {} at {index}: {found:?}", function.name);
            }
        }
        println!("{name}: {injected} faults");
        assert!(injected > 20, "{name}: {injected}");
    }
}

/// Another instruction with the same operands.
fn fault(instruction: &Instruction) -> Option<Instruction> {
    match *instruction {
        Instruction::Add(a, b) => Some(Instruction::Sub(a, b)),
        Instruction::Sub(a, b) => Some(Instruction::Add(a, b)),
        Instruction::Mul(a, _) => Some(Instruction::Neg(a)),
        Instruction::MulAdd([product, sum], a, b, c) => Some(Instruction::MulAdd([-product, sum], a, b, c)),
        Instruction::Div(a, b) => Some(Instruction::Mul(a, b)),
        Instruction::Input(Input::Direction(_)) => Some(Instruction::constant(0.0)),
        _ => None,
    }
}

#[test]
fn derivatives_of_every_shipped_model_are_verified() {
    for declaration in shipped() {
        let Compiled { derivation, programs, .. } = declaration.compile_with_derivatives();
        assert_eq!(verify(&derivation, &programs), Ok(Vec::new()), "{}", declaration.name);
    }
}
