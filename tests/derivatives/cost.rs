//! What derivatives cost, in operations of the functions that they are derivatives of.

use fbint_macros_core::program::{self, Function, OperationCount, Programs, verify};
use fbint_tests::compiler::Declaration;

fn operations(programs: &Programs, function: &Function) -> f64 {
    let OperationCount { additions, multiplications, fused, divisions, functions } = programs[function].operations();
    f64::from(additions + multiplications + fused + divisions + functions)
}

#[test]
fn tangents_and_adjoints_cost_a_few_fields() {
    for declaration in Declaration::shipped() {
        let start = std::time::Instant::now();
        let compiled = declaration.compile_with_derivatives();
        let programs = &compiled.programs;
        let assembled = start.elapsed();
        let field = operations(programs, &program::VECTOR_FIELD);
        let all = [
            &program::VECTOR_FIELD_TANGENT,
            &program::VECTOR_FIELD_ADJOINT,
            &program::VECTOR_FIELD_DERIVATIVES,
            &program::FEEDBACK_FIELD_TANGENT,
            &program::FEEDBACK_FIELD_ADJOINT,
        ]
        .map(|function| operations(programs, function));
        println!(
            "{:<28} {field:>6} {:.2} {:.2} {:.2} | {:.2} {:.2} {assembled:?}",
            declaration.name,
            all[0] / field,
            all[1] / field,
            all[2] / field,
            all[3] / operations(programs, &program::FEEDBACK_FIELD),
            all[4] / operations(programs, &program::FEEDBACK_FIELD)
        );
        if std::env::var_os("VERIFY").is_some()
            && !declaration.name.ends_with("32")
            && !declaration.name.ends_with("16")
        {
            println!("{:?} {:?}", verify(&compiled.derivation, programs), start.elapsed());
        }
    }
}
