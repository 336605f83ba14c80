//! What the compiler makes of the models, for reviewers: equations, LaTeX, program, Rust, and the price of each field.
#![allow(missing_docs)]

use fbint_runtime::FeedbackSystem;
use fbint_tests::compiler::Declaration;
use fbint_tests::systems::{
    Bead, Chain4, DoublePendulum, FourBar, Functions, GearedPendulum, InverseFunctions, MixedPendulum, Oscillator,
    PlanarPendulum, PlanarPendulumCpv22, SixPhaseConstraints, SphericalPendulum, SphericalPendulumCpv22,
};

const PLANAR_PENDULUM: &str = include_str!("../models/src/planar_pendulum.rs");

#[test]
fn equations() {
    insta::assert_snapshot!("spherical_pendulum_equations", SphericalPendulum::EQUATIONS);
    insta::assert_snapshot!("spherical_pendulum_cpv22_equations", SphericalPendulumCpv22::EQUATIONS);
    insta::assert_snapshot!("planar_pendulum_equations", PlanarPendulum::EQUATIONS);
    insta::assert_snapshot!("four_bar_equations", FourBar::EQUATIONS);
}

#[test]
fn latex() {
    insta::assert_snapshot!("spherical_pendulum_latex", SphericalPendulum::DERIVATION);
    insta::assert_snapshot!("spherical_pendulum_cpv22_latex", SphericalPendulumCpv22::DERIVATION);
    insta::assert_snapshot!("planar_pendulum_latex", PlanarPendulum::DERIVATION);
    insta::assert_snapshot!("four_bar_latex", FourBar::DERIVATION);
}

#[test]
fn program() {
    let compiled = Declaration::one(PLANAR_PENDULUM).compile();
    let symbols = compiled.model.symbols.iter().enumerate();
    let symbols: String = symbols.map(|(index, symbol)| format!("symbol {index} is {}\n", symbol.name)).collect();
    insta::assert_snapshot!("planar_pendulum_program", format!("{symbols}\n{}", compiled.listing()));
}

#[test]
fn source() {
    insta::assert_snapshot!("planar_pendulum_source", PlanarPendulum::SOURCE);
}

#[test]
fn the_library_and_the_macro_emit_the_same() {
    let declaration = Declaration::one(PLANAR_PENDULUM);
    assert_eq!(declaration.text("SOURCE"), PlanarPendulum::SOURCE);
    assert_eq!(declaration.text("EQUATIONS"), PlanarPendulum::EQUATIONS);
    assert_eq!(declaration.text("DERIVATION"), PlanarPendulum::DERIVATION);
}

#[test]
fn operations() {
    let table = [
        operations_of::<SphericalPendulum, 6, 4>(),
        operations_of::<SphericalPendulumCpv22, 6, 4>(),
        operations_of::<PlanarPendulum, 4, 3>(),
        operations_of::<PlanarPendulumCpv22, 4, 3>(),
        operations_of::<FourBar, 8, 7>(),
        operations_of::<Chain4, 24, 9>(),
        operations_of::<DoublePendulum, 4, 1>(),
        operations_of::<GearedPendulum, 4, 3>(),
        operations_of::<Bead, 6, 3>(),
        operations_of::<SixPhaseConstraints, 8, 7>(),
        operations_of::<MixedPendulum, 6, 5>(),
        operations_of::<Oscillator, 6, 10>(),
        operations_of::<Functions, 6, 3>(),
        operations_of::<InverseFunctions, 6, 3>(),
    ];
    insta::assert_snapshot!("operations", table.join("\n"));
}

/// What Symbolica's own evaluator makes of the same field, untouched, is 112.
#[test]
fn the_fused_field_of_cpv22_is_cheap() {
    let operations = SphericalPendulumCpv22::FEEDBACK_FIELD_OPERATIONS;
    assert!(operations.total() <= 112, "{operations}");
}

fn operations_of<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() -> String {
    format!("{}\n  X         {}\n  feedback  {}", S::NAME, S::VECTOR_FIELD_OPERATIONS, S::FEEDBACK_FIELD_OPERATIONS)
}
