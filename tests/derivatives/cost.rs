//! What derivatives cost, in operations of the functions that they are derivatives of: the field, and the field with feedback with its
//! law, k (F - F_target), which derivatives have in them.

use fbint_macros_core::program::{
    DERIVATIVES, FEEDBACK_FIELD, FEEDBACK_FIELD_ADJOINT, FEEDBACK_FIELD_TANGENT, Function, Input, Instruction,
    OperationCount, Programs, VECTOR_FIELD, VECTOR_FIELD_ADJOINT, VECTOR_FIELD_TANGENT, verify,
};
use fbint_tests::compiler::{Compiled, Declaration};

/// The most of an adjoint, and of a tangent along a direction in which parameters change, too.
const MOST: [f64; 2] = [4.0, 4.5];

fn operations(programs: &Programs, function: &Function) -> f64 {
    let OperationCount { additions, multiplications, fused, divisions, functions } = programs[function].operations();
    f64::from(additions + multiplications + fused + divisions + functions)
}

/// The operations of a field, and those of its tangent and its adjoint in units of these.
fn ratios(programs: &Programs, field: f64, [tangent, adjoint]: [&Function; 2]) -> [f64; 3] {
    [field, operations(programs, tangent) / field, operations(programs, adjoint) / field]
}

#[test]
fn tangents_and_adjoints_cost_a_few_fields() {
    println!("{:<24} {:>5} tangent adjoint   {:>5} tangent adjoint", "", "X", "X - V");
    for declaration in Declaration::shipped() {
        let Compiled { derivation, programs, .. } = declaration.compile_with_derivatives();
        let law = 2.0 * derivation.integrals.len() as f64;
        let plain =
            ratios(&programs, operations(&programs, &VECTOR_FIELD), [&VECTOR_FIELD_TANGENT, &VECTOR_FIELD_ADJOINT]);
        let feedback = operations(&programs, &FEEDBACK_FIELD) + law;
        let feedback = ratios(&programs, feedback, [&FEEDBACK_FIELD_TANGENT, &FEEDBACK_FIELD_ADJOINT]);
        let [a, b] =
            [plain, feedback].map(|[field, tangent, adjoint]| format!("{field:>7} {tangent:>7.2} {adjoint:>7.2}"));
        println!("{:<22} {a} {b}", declaration.name);
        // A field without operations has none to be compared with.
        for [field, tangent, adjoint] in [plain, feedback].into_iter().filter(|[field, ..]| *field > 0.0) {
            assert!(adjoint <= MOST[0] && tangent <= MOST[1], "{}: {field} {tangent} {adjoint}", declaration.name);
        }
    }
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
        Instruction::MulAdd(a, b, c) => Some(Instruction::NegMulAdd(a, b, c)),
        Instruction::NegMulAdd(a, b, c) => Some(Instruction::MulAdd(a, b, c)),
        Instruction::MulSub(a, b, _) => Some(Instruction::Mul(a, b)),
        Instruction::Div(a, b) => Some(Instruction::Mul(a, b)),
        Instruction::Input(Input::Direction(_)) => Some(Instruction::constant(0.0)),
        _ => None,
    }
}

/// Chains of four links stand for those of more, which take minutes in 256 bits.
#[test]
fn derivatives_of_every_shipped_model_are_verified() {
    let is_short = |declaration: &Declaration| !["Chain8", "Chain16", "Chain32"].contains(&&declaration.name[..]);
    for declaration in Declaration::shipped().into_iter().filter(is_short) {
        let Compiled { derivation, programs, .. } = declaration.compile_with_derivatives();
        assert_eq!(verify(&derivation, &programs), Ok(Vec::new()), "{}", declaration.name);
    }
}
