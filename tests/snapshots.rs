//! What the compiler makes of the models, for reviewers: equations, LaTeX, program, Rust, and the price of each field.
#![allow(missing_docs)]

use fbint_runtime::{FeedbackSystem, Operations, Pass};
use fbint_tests::compiler::Declaration;
use fbint_tests::systems::{
    Bead, Chain4, Chain8, Chain16, Chain32, DoublePendulum, EulerTop, FourBar, FreeRigidBody, Functions,
    GearedPendulum, HeavyTop, Indefinite, Kepler, MixedPendulum, Oscillator, PerturbedKepler, PlanarPendulum,
    PlanarPendulumCpv22, SixPhaseConstraints, SphericalPendulum, SphericalPendulumCpv22, Tree,
};
use syn::visit::{self, Visit};

const PLANAR_PENDULUM: &str = include_str!("../models/src/planar_pendulum.rs");

#[test]
fn equations() {
    insta::assert_snapshot!("spherical_pendulum_equations", SphericalPendulum::EQUATIONS);
    insta::assert_snapshot!("spherical_pendulum_cpv22_equations", SphericalPendulumCpv22::EQUATIONS);
    insta::assert_snapshot!("planar_pendulum_equations", PlanarPendulum::EQUATIONS);
    insta::assert_snapshot!("four_bar_equations", FourBar::EQUATIONS);
    insta::assert_snapshot!("free_rigid_body_equations", FreeRigidBody::EQUATIONS);
    insta::assert_snapshot!("euler_top_equations", EulerTop::EQUATIONS);
    insta::assert_snapshot!("kepler_equations", Kepler::EQUATIONS);
}

#[test]
fn latex() {
    insta::assert_snapshot!("spherical_pendulum_latex", SphericalPendulum::DERIVATION);
    insta::assert_snapshot!("spherical_pendulum_cpv22_latex", SphericalPendulumCpv22::DERIVATION);
    insta::assert_snapshot!("planar_pendulum_latex", PlanarPendulum::DERIVATION);
    insta::assert_snapshot!("four_bar_latex", FourBar::DERIVATION);
    insta::assert_snapshot!("perturbed_kepler_latex", PerturbedKepler::DERIVATION);
}

/// Each judged by hand: what is proved where, and how.
#[test]
fn conservation() {
    let table = [
        conservation_of::<SphericalPendulum, 6, 4>(),
        conservation_of::<SphericalPendulumCpv22, 6, 4>(),
        conservation_of::<PlanarPendulum, 4, 3>(),
        conservation_of::<FourBar, 8, 7>(),
        conservation_of::<Chain4, 24, 9>(),
        conservation_of::<FreeRigidBody, 12, 10>(),
        conservation_of::<EulerTop, 3, 2>(),
        conservation_of::<Kepler, 6, 6>(),
        conservation_of::<PerturbedKepler, 6, 4>(),
        conservation_of::<HeavyTop, 6, 3>(),
        conservation_of::<Oscillator, 6, 10>(),
        conservation_of::<Functions, 6, 5>(),
    ];
    insta::assert_snapshot!("conservation", table.join("\n"));
}

fn conservation_of<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() -> String {
    let line = |(name, grade)| format!("  {name:28} {grade:?}");
    let lines: Vec<String> = S::INTEGRAL_NAMES.iter().zip(S::CONSERVATION).map(line).collect();
    format!("{}\n{}", S::NAME, lines.join("\n"))
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
fn the_state_is_documented() {
    let expansion = Declaration::one(PLANAR_PENDULUM).expand().to_string();
    for line in
        [" A state of [`PlanarPendulum`].", " The coordinate `q`, a vector of 2.", " The momentum `p`, a vector of 2."]
    {
        assert!(expansion.contains(&format!("{line:?}")), "{line} is not in {expansion}");
    }
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
        operations_of::<Functions, 6, 5>(),
        operations_of::<Tree, 20, 11>(),
        operations_of::<Indefinite, 6, 5>(),
        operations_of::<FreeRigidBody, 12, 10>(),
        operations_of::<EulerTop, 3, 2>(),
        operations_of::<HeavyTop, 6, 3>(),
        operations_of::<Kepler, 6, 6>(),
        operations_of::<PerturbedKepler, 6, 4>(),
        operations_of::<Chain8, 48, 17>(),
        operations_of::<Chain16, 96, 33>(),
        operations_of::<Chain32, 192, 65>(),
    ];
    insta::assert_snapshot!("operations", table.join("\n"));
}

#[test]
fn passes() {
    let table = [
        passes_of::<PlanarPendulum, 4, 3>(),
        passes_of::<FourBar, 8, 7>(),
        passes_of::<Functions, 6, 5>(),
        passes_of::<FreeRigidBody, 12, 10>(),
    ];
    insta::assert_snapshot!("passes", table.join("\n"));
}

/// What each pass leaves; after the last it is the emitted code.
fn passes_of<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() -> String {
    let line = |pass: &Pass| {
        assert_eq!(pass.operations.total(), pass.instructions + pass.operations.fused, "{pass:?}");
        assert_eq!(pass.operations.functions, pass.square_roots + pass.calls, "{pass:?}");
        format!("  {:18} instructions {}, live values {}", pass.name, pass.instructions, pass.live_values)
    };
    assert_eq!(S::PASSES.last().map(|pass| pass.operations), Some(S::FEEDBACK_FIELD_OPERATIONS), "{}", S::NAME);
    let lines: Vec<String> = S::PASSES.iter().map(line).collect();
    format!("{}\n{}", S::NAME, lines.join("\n"))
}

/// Symbolica's own evaluator needs 112 operations for this field.
#[test]
fn the_fused_field_of_cpv22_is_cheap() {
    let operations = SphericalPendulumCpv22::FEEDBACK_FIELD_OPERATIONS;
    assert!(operations.total() <= 112, "{operations}");
}

/// A is tridiagonal and stays so when it is factored: what a link costs does not depend on their number.
#[test]
fn a_chain_of_twice_the_links_costs_at_most_twice_as_much() {
    let fields = [
        (
            "X",
            [
                Chain4::VECTOR_FIELD_OPERATIONS,
                Chain8::VECTOR_FIELD_OPERATIONS,
                Chain16::VECTOR_FIELD_OPERATIONS,
                Chain32::VECTOR_FIELD_OPERATIONS,
            ],
        ),
        (
            "feedback",
            [
                Chain4::FEEDBACK_FIELD_OPERATIONS,
                Chain8::FEEDBACK_FIELD_OPERATIONS,
                Chain16::FEEDBACK_FIELD_OPERATIONS,
                Chain32::FEEDBACK_FIELD_OPERATIONS,
            ],
        ),
    ];
    for (field, operations) in fields {
        for pair in operations.windows(2) {
            let ratio = f64::from(pair[1].total()) / f64::from(pair[0].total());
            assert!(ratio <= 2.2, "{field}: {} after {}, {ratio} times as many", pair[1], pair[0]);
        }
    }
}

fn operations_of<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() -> String {
    format!("{}\n  X         {}\n  feedback  {}", S::NAME, S::VECTOR_FIELD_OPERATIONS, S::FEEDBACK_FIELD_OPERATIONS)
}

#[test]
fn operations_are_those_of_the_emitted_code() {
    are_those_of_the_source::<SphericalPendulum, 6, 4>();
    are_those_of_the_source::<SphericalPendulumCpv22, 6, 4>();
    are_those_of_the_source::<PlanarPendulum, 4, 3>();
    are_those_of_the_source::<FourBar, 8, 7>();
    are_those_of_the_source::<Chain4, 24, 9>();
    are_those_of_the_source::<DoublePendulum, 4, 1>();
    are_those_of_the_source::<SixPhaseConstraints, 8, 7>();
    are_those_of_the_source::<Functions, 6, 5>();
    are_those_of_the_source::<Indefinite, 6, 5>();
    are_those_of_the_source::<FreeRigidBody, 12, 10>();
    are_those_of_the_source::<HeavyTop, 6, 3>();
    are_those_of_the_source::<Kepler, 6, 6>();
}

fn are_those_of_the_source<S: FeedbackSystem<N, M>, const N: usize, const M: usize>() {
    let source: syn::File = syn::parse_str(S::SOURCE).unwrap();
    let count = |name: &str| {
        let implementations = source.items.iter().filter_map(|item| match item {
            syn::Item::Impl(implementation) => Some(&implementation.items),
            _ => None,
        });
        let functions = implementations.flatten().filter_map(|item| match item {
            syn::ImplItem::Fn(function) if function.sig.ident == name => Some(&function.block),
            _ => None,
        });
        let mut counter = Counter::default();
        functions.for_each(|block| counter.visit_block(block));
        counter.0
    };
    assert_eq!(count("vector_field"), S::VECTOR_FIELD_OPERATIONS, "{}", S::NAME);
    assert_eq!(count("feedback_field"), S::FEEDBACK_FIELD_OPERATIONS, "{}", S::NAME);
}

/// Counts what Rust code does. The sign of a literal is not an operation, nor is the sign of a factor or the summand of
/// `mul_add`, for which the machine has instructions of their own; the branch for a metric, which calls the other functions, is
/// passed over.
#[derive(Default)]
struct Counter(Operations);

impl<'a> Visit<'a> for Counter {
    fn visit_expr_if(&mut self, _: &'a syn::ExprIf) {}

    fn visit_expr_binary(&mut self, binary: &'a syn::ExprBinary) {
        match binary.op {
            syn::BinOp::Add(_) | syn::BinOp::Sub(_) => self.0.additions += 1,
            syn::BinOp::Mul(_) => self.0.multiplications += 1,
            syn::BinOp::Div(_) => self.0.divisions += 1,
            other => panic!("unexpected {other:?}"),
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'a syn::ExprUnary) {
        if !matches!(*unary.expr, syn::Expr::Lit(_)) {
            self.0.additions += 1;
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        match call.method.to_string().as_str() {
            "mul_add" => {
                self.0.fused += 1;
                let signs = [&*call.receiver].into_iter().chain(call.args.last()).filter(|operand| is_negated(operand));
                self.0.additions -= signs.count() as u32;
            }
            "recip" => self.0.divisions += 1,
            "weigh" | "weigh_normalised" => {}
            _ => self.0.functions += 1,
        }
    }
}

fn is_negated(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Paren(inner) => is_negated(&inner.expr),
        syn::Expr::Unary(unary) => !matches!(*unary.expr, syn::Expr::Lit(_)),
        _ => false,
    }
}
