//! Programs held against the mathematics: faults are found, and what should not matter does not.
//!
//! The compiler interprets every program against its derivation before it emits it. Here single faults are put into programs:
//! every one that changes a result must be found. The other tests change a declaration in a way whose effect on the field
//! is known, and compare programs by an interpreter of their own.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use fbint_macros_core::expression::Symbol;
use fbint_macros_core::program::{Input, Instruction, Program, Programs, Value, verify};
use fbint_tests::compiler::{Compiled, Declaration, run};
use fbint_tests::{Random, relative_error};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use proptest::prelude::*;

const FOUR_BAR: &str = include_str!("../models/src/four_bar.rs");
const SPHERICAL_PENDULUM: &str = include_str!("../models/src/spherical_pendulum.rs");
const SYSTEMS: &str = include_str!("systems.rs");

/// A symbol's value at a point in general position, where every declared function is defined.
fn at(seed: u64) -> impl Fn(usize) -> f64 {
    move |symbol| Random::new(seed.wrapping_mul(1000).wrapping_add(symbol as u64)).between(0.5, 1.5)
}

/// y_i = k_i (F_i - t_i) in general position.
fn weigh(row: usize, integral: f64) -> f64 {
    let mut random = Random::new(500 + row as u64);
    random.between(0.5, 1.5) * (integral - random.between(0.5, 1.5))
}

/// The vector field.
fn vector_field(programs: &Programs, seed: u64) -> Vec<f64> {
    let prepared = run(&programs.prepare, &[], at(seed), weigh);
    run(&programs.vector_field, &prepared, at(seed), weigh)
}

/// The results of every function by its name. A correction is asked to remove a violation that some state has, DF z with DF
/// of `good`: where integrals are dependent, no other one has a correction that rounding leaves alone.
fn results(programs: &Programs, good: &Programs, seed: u64) -> Vec<(&'static str, Vec<f64>)> {
    let run_good = |program| run(program, &run(&good.prepare, &[], at(seed), weigh), at(seed), weigh);
    let (jacobian, integrals) = (run_good(&good.jacobian), run_good(&good.integrals));
    let dimension = jacobian.len() / integrals.len();
    let violation = |row: usize, integral: f64| {
        let gradient = jacobian[row * dimension..].iter().take(dimension).enumerate();
        gradient.map(|(column, entry)| entry * at(seed + 100)(column)).sum::<f64>() + integral - integrals[row]
    };
    let prepared = run(&programs.prepare, &[], at(seed), weigh);
    let normalisation = run(&programs.normalisation, &prepared, at(seed), weigh);
    let weigh_normalised = |row: usize, form: f64| {
        let [factor, scale, offset] = [0, 1, 2].map(|column| normalisation[3 * row + column]);
        factor * weigh(row, scale * (form + offset))
    };
    let functions = programs.all().into_iter().skip(1);
    functions
        .map(|(name, program)| match name {
            "correction" => (name, run(program, &prepared, at(seed), violation)),
            _ => (name, run(program, &prepared, at(seed), weigh_normalised)),
        })
        .collect()
}

mod faults {
    use super::*;

    const FAULTS: usize = 60;

    #[test]
    fn every_fault_that_changes_a_result_is_found() {
        let mut random = Random::new(3);
        let (mut harmful, mut harmless) = (0, 0);
        for text in [SPHERICAL_PENDULUM, FOUR_BAR, SYSTEMS] {
            for declaration in Declaration::all(text) {
                let compiled = declaration.compile();
                assert_eq!(verify(&compiled.derivation, &compiled.programs), Ok(()), "{}", declaration.name);
                for _ in 0..FAULTS {
                    let faulty = with_a_fault(&compiled.programs, &mut random);
                    let changed = differ(&compiled.programs, &faulty);
                    let found = verify(&compiled.derivation, &faulty).is_err();
                    assert!(found || !changed, "{}: {}", declaration.name, difference(&compiled.programs, &faulty));
                    if changed { harmful += 1 } else { harmless += 1 }
                }
            }
        }
        assert!(harmful > 500, "{harmful} faults changed a result, {harmless} did not");
    }

    fn with_a_fault(programs: &Programs, random: &mut Random) -> Programs {
        let mut faulty = programs.clone();
        let all = [
            &mut faulty.prepare,
            &mut faulty.vector_field,
            &mut faulty.integrals,
            &mut faulty.jacobian,
            &mut faulty.multipliers,
            &mut faulty.outputs,
            &mut faulty.potential_gradient,
            &mut faulty.feedback_field,
            &mut faulty.correction,
            &mut faulty.squared_gradients,
            &mut faulty.normalisation,
        ];
        let mut all: Vec<_> = all.into_iter().filter(|program| !program.instructions.is_empty()).collect();
        let which = random.index(all.len());
        break_one(all[which], random);
        faulty
    }

    /// The lines of the faulty program that are not those of the good one.
    fn difference(good: &Programs, faulty: &Programs) -> String {
        let lines = |programs: &Programs| -> Vec<String> {
            let all = programs.all().into_iter();
            all.flat_map(|(name, program)| {
                program.to_string().lines().map(|line| format!("{name}: {line}")).collect::<Vec<_>>()
            })
            .collect()
        };
        let pairs = lines(good).into_iter().zip(lines(faulty)).filter(|(good, faulty)| good != faulty);
        pairs.map(|(good, faulty)| format!("{faulty} instead of {good}")).collect::<Vec<_>>().join(", ")
    }

    /// Whether some result differs by more than 1e-6 of the function's largest at some of three points; of a correction, by
    /// more than 1e-4, because its damping and its tolerance are of a smaller size.
    fn differ(good: &Programs, faulty: &Programs) -> bool {
        (1..=3).any(|seed| {
            results(good, good, seed).into_iter().zip(results(faulty, good, seed)).any(|((name, good), (_, faulty))| {
                let scale = good.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
                let bound = if name == "correction" { 1e-4 } else { 1e-6 };
                assert!(scale < 1e6, "the point is too close to a singularity");
                good.iter().zip(&faulty).any(|(x, y)| (x - y).abs() > bound * scale || y.is_nan())
            })
        })
    }

    /// Another operation, another operand, another number, another input, or two results exchanged.
    fn break_one(program: &mut Program, random: &mut Random) {
        if program.outputs.len() > 1 && random.index(10) == 0 {
            let (i, j) = (random.index(program.outputs.len()), random.index(program.outputs.len()));
            program.outputs.swap(i, j);
            return;
        }
        let index = random.index(program.instructions.len());
        let earlier = earlier_values(program, index);
        let instruction = &mut program.instructions[index];
        let other_operand = random.index(2) == 0 && !earlier.is_empty();
        *instruction = match *instruction {
            Instruction::Constant(bits) => Instruction::constant(f64::from_bits(bits) + random.between(0.01, 1.0)),
            Instruction::Input(Input::Symbol(symbol)) => Instruction::Input(Input::Symbol(Symbol(symbol.0 ^ 1))),
            Instruction::Input(Input::Prepared(index)) => Instruction::Input(Input::Prepared(index.saturating_sub(1))),
            Instruction::Input(Input::Weighted(row)) => Instruction::Input(Input::Weighted(row.saturating_sub(1))),
            other if other_operand => {
                let (which, value) = (random.index(other.operands().count()), earlier[random.index(earlier.len())]);
                let mut operand = 0;
                other.map(|old| {
                    operand += 1;
                    if operand == which + 1 { value } else { old }
                })
            }
            Instruction::Add(a, b) => Instruction::Sub(a, b),
            Instruction::Sub(a, b) => {
                if random.index(2) == 0 {
                    Instruction::Sub(b, a)
                } else {
                    Instruction::Add(a, b)
                }
            }
            Instruction::Mul(a, b) => {
                if random.index(2) == 0 {
                    Instruction::Div(a, b)
                } else {
                    Instruction::Add(a, b)
                }
            }
            Instruction::Div(a, b) => {
                if random.index(2) == 0 {
                    Instruction::Div(b, a)
                } else {
                    Instruction::Mul(a, b)
                }
            }
            Instruction::Neg(a) => Instruction::Recip(a),
            Instruction::Recip(a) => Instruction::Neg(a),
            Instruction::Sqrt(a) => Instruction::Recip(a),
            Instruction::MulAdd(a, b, c) => Instruction::NegMulAdd(a, b, c),
            Instruction::NegMulAdd(a, b, c) => Instruction::MulAdd(a, b, c),
            Instruction::MulSub(a, b, c) => Instruction::NegMulSub(a, b, c),
            Instruction::NegMulSub(a, b, c) => Instruction::MulSub(a, b, c),
            Instruction::Unary(_, a) => Instruction::Neg(a),
            Instruction::Binary(function, a, b) => Instruction::Binary(function, b, a),
        };
    }

    /// Values that the instruction may read: results of earlier ones, as far as something reads them.
    fn earlier_values(program: &Program, index: usize) -> Vec<Value> {
        let read = program.instructions.iter().flat_map(|instruction| instruction.operands());
        let read = read.chain(program.outputs.iter().copied());
        read.filter(|value| value.index() < index).collect()
    }
}

mod metamorphic {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn names_do_not_matter(names in prop::collection::btree_set("[a-z]{3}qz", 10)) {
            let declaration = Declaration::one(FOUR_BAR);
            let old = ["a", "b", "pa", "pb", "la", "lb", "lc", "ln", "m", "g"];
            let there: BTreeMap<String, String> =
                old.iter().zip(&names).map(|(old, new)| ((*old).to_owned(), new.clone())).collect();
            let back: BTreeMap<String, String> = there.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
            let renamed = Declaration {
                attribute: rename(declaration.attribute.clone(), &there),
                item: rename(declaration.item.clone(), &there),
                ..declaration.clone()
            };
            prop_assert_eq!(declaration.compile().listing(), renamed.compile().listing());
            let source = rename(renamed.text("SOURCE").parse().unwrap(), &back);
            let original: TokenStream = declaration.text("SOURCE").parse().unwrap();
            prop_assert_eq!(unbroken(&source.to_string()), unbroken(&original.to_string()));
        }

        #[test]
        fn the_order_of_constraints_does_not_matter(order in Just(["crank", "coupler", "rocker"]).prop_shuffle()) {
            let (original, reordered) = (four_bar("", "1", &["crank", "coupler", "rocker"]), four_bar("", "1", &order));
            for seed in 1..=20 {
                let one = vector_field(&original.programs, seed);
                let other = vector_field(&reordered.programs, seed);
                prop_assert!(relative_error(&other, &one) <= 1e-11, "{:?} {:?}", one, other);
            }
        }

        #[test]
        fn a_multiple_of_h_has_that_multiple_of_x(numerator in 1..40i32, denominator in 1..40i32) {
            let scaled = four_bar(&format!("{numerator} / {denominator} *"), "1", &["crank", "coupler", "rocker"]);
            let original = four_bar("", "1", &["crank", "coupler", "rocker"]);
            for seed in 1..=20 {
                let field = vector_field(&original.programs, seed);
                let expected: Vec<f64> = field.iter().map(|x| x * f64::from(numerator) / f64::from(denominator)).collect();
                let error = relative_error(&vector_field(&scaled.programs, seed), &expected);
                prop_assert!(error <= 1e-11, "off by {error:e}");
            }
        }

        #[test]
        fn a_multiple_of_a_constraint_has_the_same_x(numerator in 1..40i32, denominator in 1..40i32) {
            let factor = format!("-({numerator} / {denominator})");
            let scaled = four_bar("", &factor, &["crank", "coupler", "rocker"]);
            let original = four_bar("", "1", &["crank", "coupler", "rocker"]);
            for seed in 1..=20 {
                let field = vector_field(&original.programs, seed);
                let error = relative_error(&vector_field(&scaled.programs, seed), &field);
                prop_assert!(error <= 1e-11, "off by {error:e}");
            }
        }
    }

    #[test]
    fn definitions_are_what_they_stand_for() {
        let inline = Declaration::named(SPHERICAL_PENDULUM, "SphericalPendulum");
        let defined = Declaration::one(
            "#[feedback_system(
                coordinates(q: [3]),
                momenta(p: [3]),
                define(height = q[2], speed_squared = p.norm_squared() / m.powi(2)),
                define(kinetic = m * speed_squared / 2, potential = m * g * height),
                hamiltonian = kinetic + potential,
                define(weight = p, arm = q),
                constraint(length = arm.norm_squared() - l.powi(2)),
                invariant(vertical_momentum = arm[0] * weight[1] - arm[1] * weight[0]),
                output(tension = -2 * l * multiplier(length)),
            )]
            pub struct SphericalPendulum { pub m: f64, pub g: f64, pub l: f64 }",
        );
        assert_eq!(inline.compile().listing(), defined.compile().listing());
        assert_eq!(inline.text("SOURCE"), defined.text("SOURCE"));
    }

    #[test]
    fn each_link_of_a_chain_costs_the_same() {
        let cost = |links: usize| {
            let text = format!(
                "#[feedback_system(
                    coordinates(q: [3, {links}]),
                    momenta(p: [3, {links}]),
                    hamiltonian = (0..{links}).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
                    constraint(
                        anchor = q.column(0).norm_squared() - l.powi(2),
                        link[i in 1..{links}] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
                    ),
                )]
                struct Chain {{ m: f64, g: f64, l: f64 }}"
            );
            let operations = Declaration::one(&text).compile().programs.feedback_field.operations();
            [operations.additions, operations.multiplications, operations.fused, operations.divisions]
        };
        let [short, medium, long] = [4, 7, 10].map(cost);
        for kind in 0..4 {
            assert_eq!(long[kind] - medium[kind], medium[kind] - short[kind], "{short:?} {medium:?} {long:?}");
        }
    }

    #[test]
    fn the_derived_partner_can_be_given_instead() {
        let derived = Declaration::named(SPHERICAL_PENDULUM, "SphericalPendulum").compile();
        let given = Declaration::named(SPHERICAL_PENDULUM, "SphericalPendulumCpv22").compile();
        for seed in 1..=20 {
            let derived = vector_field(&derived.programs, seed);
            assert!(relative_error(&vector_field(&given.programs, seed), &derived) <= 1e-14);
        }
    }

    /// The four-bar linkage with a factor before H and before the coupler's constraint, and its constraints in some order.
    fn four_bar(energy: &str, coupler: &str, order: &[&str]) -> Compiled {
        let constraints = order.iter().map(|&name| match name {
            "crank" => "crank = a.norm_squared() - la.powi(2)".to_owned(),
            "coupler" => format!("coupler = {coupler} * ((b - a).norm_squared() - lb.powi(2))"),
            _ => "rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2)".to_owned(),
        });
        let constraints: Vec<String> = constraints.collect();
        let text = format!(
            "#[feedback_system(
                coordinates(a: [2], b: [2]),
                momenta(pa: [2], pb: [2]),
                hamiltonian = {energy} ((pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1])),
                constraint({}),
            )]
            struct FourBar {{ la: f64, lb: f64, lc: f64, ln: f64, m: f64, g: f64 }}",
            constraints.join(", "),
        );
        Declaration::one(&text).compile()
    }

    /// Without white space and the commas before it, which depend on the lengths of names.
    fn unbroken(source: &str) -> String {
        let text: String = source.split_whitespace().collect();
        text.replace(",)", ")").replace(",]", "]").replace(",>", ">")
    }

    /// Every identifier by its new name, also where an index follows it: `a_0` is an entry of `a`.
    fn rename(tokens: TokenStream, names: &BTreeMap<String, String>) -> TokenStream {
        let token = |token| match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), rename(group.stream(), names))),
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                let (stem, index) =
                    text.split_once('_').map_or((text.as_str(), None), |(stem, index)| (stem, Some(index)));
                match (names.get(stem), index) {
                    (Some(new), None) => TokenTree::Ident(Ident::new(new, ident.span())),
                    (Some(new), Some(index)) => TokenTree::Ident(Ident::new(&format!("{new}_{index}"), ident.span())),
                    (None, _) => TokenTree::Ident(ident),
                }
            }
            other => other,
        };
        tokens.into_iter().map(token).collect()
    }
}
