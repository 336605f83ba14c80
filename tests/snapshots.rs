//! What the compiler makes of the models, for reviewers: equations, LaTeX, program, Rust, and the price of each field.
#![allow(missing_docs)]

use std::time::Instant;

use fbint_macros_core::check::{CheckOutcome, check};
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{Claim, IntegralId};
use fbint_macros_core::expression::Symbol;
use fbint_macros_core::program;
use fbint_runtime::{GeneratedSystem, Integral, Operations};
use fbint_tests::compiler::{Declaration, counted};
use fbint_tests::systems::{
    Bead, Chain4, Chain8, Chain16, Chain32, DoublePendulum, EulerTop, FourBar, FreeRigidBody, Functions,
    GearedPendulum, HeavyTop, Indefinite, Kepler, MixedPendulum, Oscillator, PerturbedKepler, PlanarPendulum,
    PlanarPendulumCpv22, SixPhaseConstraints, SphericalPendulum, SphericalPendulumCpv22, Tree,
};
use models::{
    CartPendulum, CartPole, ChaplyginSleigh, DegeneratePendulum, DrivenFourBar, HeldSleigh, KapitzaPendulum,
    RollingDisk, RotatingHoop, SuslovProblem,
};
use syn::visit::{self, Visit};

const PLANAR_PENDULUM: &str = include_str!("../models/src/planar_pendulum.rs");

#[test]
fn equations() {
    insta::assert_snapshot!("spherical_pendulum_equations", SphericalPendulum::FACTS.equations);
    insta::assert_snapshot!("spherical_pendulum_cpv22_equations", SphericalPendulumCpv22::FACTS.equations);
    insta::assert_snapshot!("planar_pendulum_equations", PlanarPendulum::FACTS.equations);
    insta::assert_snapshot!("four_bar_equations", FourBar::FACTS.equations);
    insta::assert_snapshot!("free_rigid_body_equations", FreeRigidBody::FACTS.equations);
    insta::assert_snapshot!("euler_top_equations", EulerTop::FACTS.equations);
    insta::assert_snapshot!("kepler_equations", Kepler::FACTS.equations);
    insta::assert_snapshot!("cart_pendulum_equations", CartPendulum::FACTS.equations);
    insta::assert_snapshot!("chaplygin_sleigh_equations", ChaplyginSleigh::FACTS.equations);
    insta::assert_snapshot!("held_sleigh_equations", HeldSleigh::FACTS.equations);
    insta::assert_snapshot!("kapitza_pendulum_equations", KapitzaPendulum::FACTS.equations);
    insta::assert_snapshot!("cart_pole_equations", CartPole::FACTS.equations);
}

#[test]
fn latex() {
    insta::assert_snapshot!("spherical_pendulum_latex", SphericalPendulum::FACTS.derivation);
    insta::assert_snapshot!("spherical_pendulum_cpv22_latex", SphericalPendulumCpv22::FACTS.derivation);
    insta::assert_snapshot!("planar_pendulum_latex", PlanarPendulum::FACTS.derivation);
    insta::assert_snapshot!("four_bar_latex", FourBar::FACTS.derivation);
    insta::assert_snapshot!("perturbed_kepler_latex", PerturbedKepler::FACTS.derivation);
    insta::assert_snapshot!("cart_pendulum_latex", CartPendulum::FACTS.derivation);
    insta::assert_snapshot!("chaplygin_sleigh_latex", ChaplyginSleigh::FACTS.derivation);
    insta::assert_snapshot!("kapitza_pendulum_latex", KapitzaPendulum::FACTS.derivation);
}

/// Each judged by hand: what is proved where, and how.
#[test]
fn conservation() {
    let table = [
        conservation_of::<SphericalPendulum>(),
        conservation_of::<SphericalPendulumCpv22>(),
        conservation_of::<PlanarPendulum>(),
        conservation_of::<FourBar>(),
        conservation_of::<Chain4>(),
        conservation_of::<FreeRigidBody>(),
        conservation_of::<EulerTop>(),
        conservation_of::<Kepler>(),
        conservation_of::<PerturbedKepler>(),
        conservation_of::<HeavyTop>(),
        conservation_of::<Oscillator>(),
        conservation_of::<Functions>(),
        conservation_of::<CartPendulum>(),
        conservation_of::<DegeneratePendulum>(),
        conservation_of::<ChaplyginSleigh>(),
        conservation_of::<HeldSleigh>(),
        conservation_of::<RollingDisk>(),
        conservation_of::<SuslovProblem>(),
        conservation_of::<DrivenFourBar>(),
        conservation_of::<CartPole>(),
        conservation_of::<RotatingHoop>(),
    ];
    insta::assert_snapshot!("conservation", table.join("\n"));
}

fn conservation_of<S: GeneratedSystem>() -> String {
    let line = |integral: &Integral| format!("  {:28} {:?}", integral.name, integral.conservation);
    let lines: Vec<String> = S::FACTS.integrals.iter().map(line).collect();
    format!("{}\n{}", S::FACTS.name, lines.join("\n"))
}

#[test]
fn program() {
    let compiled = Declaration::one(PLANAR_PENDULUM).compile();
    let symbols = &compiled.derivation.symbols;
    let line = |symbol: Symbol| format!("symbol {} is {}\n", symbol.place(), symbols[symbol].name);
    let symbols: String = symbols.unknowns().map(line).collect();
    insta::assert_snapshot!("planar_pendulum_program", format!("{symbols}\n{}", compiled.listing()));
}

#[test]
fn source() {
    insta::assert_snapshot!("planar_pendulum_source", PlanarPendulum::FACTS.source);
    insta::assert_snapshot!("chaplygin_sleigh_source", ChaplyginSleigh::FACTS.source);
}

#[test]
fn short_form() {
    insta::assert_snapshot!("planar_pendulum_short_form", PlanarPendulum::FACTS.short_form());
}

#[test]
fn the_short_form_has_at_most_two_pages() {
    for facts in [PlanarPendulum::FACTS, FourBar::FACTS, Functions::FACTS, SixPhaseConstraints::FACTS, Chain32::FACTS] {
        let text = facts.short_form().to_string();
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(text.lines().count() <= 110 && longest < Some(150), "{text}");
        assert!(text.contains("\n    let __"), "{text}");
    }
}

/// One factor of a Hamiltonian, and the lines of the generated code that are taken out for it.
#[test]
fn a_local_change_of_a_declaration_is_a_local_change_of_its_code() {
    let changes = [
        ("four_bar", "m * g * (a[1] + b[1])", "m * g * (a[1] + 3 * b[1])"),
        ("four_bar", "/ (2 * m) + m * g", "/ (3 * m) + m * g"),
        ("planar_pendulum", "/ (2 * m)", "/ (3 * m)"),
    ];
    for (file, before, after) in changes {
        let text = models_source(file);
        assert!(text.contains(before), "{file}: {before}");
        let [old, new] = [text.clone(), text.replace(before, after)].map(|text| Declaration::one(&text).text("source"));
        let (lines, changed) = (old.lines().count(), lines_taken_out(&old, &new));
        println!("{file}: {changed} of {lines} lines for {after}");
        assert!(changed > 0 && 10 * changed < lines, "{file}: {changed} of {lines} lines for {after}");
    }
}

fn models_source(name: &str) -> String {
    let path = fbint_tests::workspaces::home().join(format!("models/src/{name}.rs"));
    std::fs::read_to_string(path).unwrap()
}

/// The lines of a text that are not in a longest common subsequence with another.
fn lines_taken_out(old: &str, new: &str) -> usize {
    let new: Vec<&str> = new.lines().collect();
    let mut common = vec![0; new.len() + 1];
    for line in old.lines() {
        let above = common.clone();
        for (place, other) in new.iter().enumerate() {
            let joined = if line == *other { above[place] + 1 } else { 0 };
            common[place + 1] = joined.max(above[place + 1]).max(common[place]);
        }
    }
    old.lines().count() - common[new.len()]
}

#[test]
fn the_library_and_the_macro_emit_the_same() {
    let declaration = Declaration::one(PLANAR_PENDULUM);
    assert_eq!(declaration.text("source"), PlanarPendulum::FACTS.source);
    assert_eq!(declaration.text("equations"), PlanarPendulum::FACTS.equations);
    assert_eq!(declaration.text("derivation"), PlanarPendulum::FACTS.derivation);
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
        operations_of::<SphericalPendulum>(),
        operations_of::<SphericalPendulumCpv22>(),
        operations_of::<PlanarPendulum>(),
        operations_of::<PlanarPendulumCpv22>(),
        operations_of::<FourBar>(),
        operations_of::<Chain4>(),
        operations_of::<DoublePendulum>(),
        operations_of::<GearedPendulum>(),
        operations_of::<Bead>(),
        operations_of::<SixPhaseConstraints>(),
        operations_of::<MixedPendulum>(),
        operations_of::<Oscillator>(),
        operations_of::<Functions>(),
        operations_of::<Tree>(),
        operations_of::<Indefinite>(),
        operations_of::<FreeRigidBody>(),
        operations_of::<EulerTop>(),
        operations_of::<HeavyTop>(),
        operations_of::<Kepler>(),
        operations_of::<PerturbedKepler>(),
        operations_of::<Chain8>(),
        operations_of::<Chain16>(),
        operations_of::<Chain32>(),
        operations_of::<CartPendulum>(),
        operations_of::<DegeneratePendulum>(),
        operations_of::<ChaplyginSleigh>(),
        operations_of::<HeldSleigh>(),
        operations_of::<RollingDisk>(),
        operations_of::<SuslovProblem>(),
    ];
    insta::assert_snapshot!("operations", table.join("\n"));
}

/// What Symbolica's own evaluator makes of the same field, untouched, is 112.
/// Code without algebra computes the same, takes about as many operations, and has the same integrals proved. What is printed is a table of
/// BENCHMARKS.md.
#[test]
fn little_is_lost_without_algebra() {
    println!("| model | X | | with feedback | | instructions | | derivation, ms | |");
    let declarations = [Declaration::shipped(), Declaration::others(), Declaration::in_manual()].concat();
    let mut ratios = Vec::new();
    for declaration in declarations {
        let name = &declaration.name;
        let begun = Instant::now();
        let algebra = declaration.compile();
        let between = Instant::now();
        let (without, claims) = declaration.compile_without_algebra();
        let times = [between - begun, between.elapsed()].map(|time| time.as_millis());
        assert_eq!(check(&without.model.problem, &without.derivation), CheckOutcome::Agreement, "{name}");
        assert_eq!(program::verify(&without.derivation, &without.programs), Ok(Vec::new()), "{name}");
        let is_open = |(id, claim): &(IntegralId, &Claim)| {
            matches!(claim, Claim::Open { .. }) && !without.derivation.integrals[*id].assumed
        };
        let open: Vec<&str> =
            claims.iter().filter(is_open).map(|(id, _)| &*without.derivation.integrals[id].name).collect();
        assert_eq!(open, [""; 0], "{name}: what is not proved without algebra");
        let both = [&algebra.programs, &without.programs];
        let [field, feedback] = [&program::VECTOR_FIELD, &program::FEEDBACK_FIELD]
            .map(|function| both.map(|programs| counted(&programs[function].operations()).total()));
        let instructions = both.map(|programs| programs[&program::FEEDBACK_FIELD].instructions.len());
        let row = [field.map(u128::from), feedback.map(u128::from), instructions.map(|count| count as u128), times];
        println!("| {name} | {} |", row.concat().iter().map(u128::to_string).collect::<Vec<_>>().join(" | "));
        ratios.push((f64::from(feedback[1]) / f64::from(feedback[0]), name.clone()));
    }
    ratios.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (median, largest) = (ratios[ratios.len() / 2].0, &ratios[ratios.len() - 1]);
    println!("with feedback: {median:.3} times the operations in the median, at most {largest:?}");
    assert!(median <= 1.15 && largest.0 <= 1.5, "{median} {largest:?}");
}

#[test]
fn the_fused_field_of_cpv22_is_cheap() {
    let operations = SphericalPendulumCpv22::FACTS.feedback_field_operations;
    assert!(operations.total() <= 112, "{operations}");
}

/// A is tridiagonal and stays so when it is factored: what a link costs does not depend on their number.
#[test]
fn a_chain_of_twice_the_links_costs_at_most_twice_as_much() {
    let fields = [
        (
            "X",
            [
                Chain4::FACTS.vector_field_operations,
                Chain8::FACTS.vector_field_operations,
                Chain16::FACTS.vector_field_operations,
                Chain32::FACTS.vector_field_operations,
            ],
        ),
        (
            "feedback",
            [
                Chain4::FACTS.feedback_field_operations,
                Chain8::FACTS.feedback_field_operations,
                Chain16::FACTS.feedback_field_operations,
                Chain32::FACTS.feedback_field_operations,
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

fn operations_of<S: GeneratedSystem>() -> String {
    format!(
        "{}\n  X         {}\n  feedback  {}",
        S::FACTS.name,
        S::FACTS.vector_field_operations,
        S::FACTS.feedback_field_operations
    )
}

#[test]
fn operations_are_those_of_the_emitted_code() {
    are_those_of_the_source::<SphericalPendulum>();
    are_those_of_the_source::<SphericalPendulumCpv22>();
    are_those_of_the_source::<PlanarPendulum>();
    are_those_of_the_source::<FourBar>();
    are_those_of_the_source::<Chain4>();
    are_those_of_the_source::<DoublePendulum>();
    are_those_of_the_source::<SixPhaseConstraints>();
    are_those_of_the_source::<Functions>();
    are_those_of_the_source::<Indefinite>();
    are_those_of_the_source::<FreeRigidBody>();
    are_those_of_the_source::<HeavyTop>();
    are_those_of_the_source::<Kepler>();
    are_those_of_the_source::<ChaplyginSleigh>();
    are_those_of_the_source::<HeldSleigh>();
}

fn are_those_of_the_source<S: GeneratedSystem>() {
    let source: syn::File = syn::parse_str(S::FACTS.source).unwrap();
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
    assert_eq!(count("vector_field"), S::FACTS.vector_field_operations, "{}", S::FACTS.name);
    assert_eq!(count("feedback_field"), S::FACTS.feedback_field_operations, "{}", S::FACTS.name);
}

/// Counts what Rust code does. The sign of a literal is not an operation, nor is the sign of a factor or of the summand of
/// `mul_add`, for which the machine has instructions of their own.
#[derive(Default)]
struct Counter(Operations);

impl<'a> Visit<'a> for Counter {
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
