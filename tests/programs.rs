//! Declarations of one system in several ways, and what a longer one costs.

use fbint_macros_core::program::{self, GeneratedFunction, Instruction, Program, Programs};
use fbint_tests::compiler::{Declaration, counted, run};
use fbint_tests::{Random, relative_error};
use proc_macro2::TokenStream;

const SPHERICAL_PENDULUM: &str = include_str!("../models/src/spherical_pendulum.rs");

#[test]
fn definitions_are_what_they_stand_for() {
    let inline = Declaration::named(SPHERICAL_PENDULUM, "SphericalPendulum");
    let defined = Declaration::one(
        "#[feedback_system(
            coordinates(q: [3]),
            momenta(p: [3]),
            define(height = q[2], momentum_squared = p.norm_squared()),
            define(kinetic = momentum_squared / (2 * m), potential = m * g * height),
            hamiltonian = kinetic + potential,
            define(weight = p, arm = q),
            constraint(length = arm.norm_squared() - l.powi(2)),
            invariant(vertical_momentum = arm[0] * weight[1] - arm[1] * weight[0]),
            output(tension = -2 * l * multiplier(length)),
        )]
        pub struct SphericalPendulum { pub m: f64, pub g: f64, pub l: f64 }",
    );
    assert_eq!(inline.compile().listing(), defined.compile().listing());
    assert_eq!(inline.text("source"), defined.text("source"));
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
        let operations = Declaration::one(&text).compile().programs[&program::FEEDBACK_FIELD].operations();
        [operations.additions, operations.multiplications, operations.fused, operations.divisions]
    };
    let [short, medium, long] = [4, 7, 10].map(cost);
    for kind in 0..4 {
        assert_eq!(long[kind] - medium[kind], medium[kind] - short[kind], "{short:?} {medium:?} {long:?}");
    }
}

/// An input along a momentum adds its force to a rate, and a term for each constraint on the body to the right sides of the systems for
/// the multipliers: three operations, however many links there are, where two of them are fused. The work has the power, which with feedback
/// takes the velocity without it, and is part of the balance of energy.
#[test]
fn an_input_costs_what_it_adds() {
    println!("| | X | driven | more | of which the work | with feedback | driven | more | of which the work |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let zeros = |number| vec!["0"; number].join(", ");
    let along_chain = |links| format!("p = matrix![push, {}; {1}; {1}]", zeros(links - 1), zeros(links));
    let own = [("PlanarPendulum", "p = vector![push, 0]"), ("FourBar", "pa = vector![push, 0]")];
    let own = own.map(|(name, force)| (name.to_owned(), force.to_owned()));
    let chains = [4, 8, 16, 32].map(|links| (format!("Chain{links}"), along_chain(links)));
    for (name, force) in own.into_iter().chain(chains) {
        let free = Declaration::of_system(&name);
        let input: TokenStream = format!("input(push), force({force})").parse().expect("tokens");
        let attribute = free.attribute.clone();
        let driven = Declaration { attribute: quote::quote!(#attribute #input), ..free.clone() };
        let [free, driven] = [free, driven].map(|declaration| declaration.compile().programs);
        let mut line = format!("| {name} |");
        for (function, of_force, of_work) in [(&program::VECTOR_FIELD, 5, 1), (&program::FEEDBACK_FIELD, 7, 8)] {
            let total = |program: &Program| counted(&program.operations()).total();
            let [free, driven, idle] =
                [&free[function], &driven[function], &without_last(&driven[function])].map(total);
            line += &format!(" {free} | {driven} | {} | {} |", driven - free, driven - idle);
            assert!(driven - idle <= of_work && idle - free <= of_force, "{line}");
        }
        println!("{line}");
    }
}

/// The program without its last result, and what that alone reads: the rate of the work.
fn without_last(program: &Program) -> Program {
    let mut program = program.clone();
    program.outputs.pop();
    let live = program.live();
    for (instruction, is_live) in program.instructions.iter_mut().zip(live) {
        if !is_live {
            *instruction = Instruction::constant(0.0);
        }
    }
    program
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

/// In a magnetic field the rates of constraints have a bracket where the constraints themselves are not coupled by A: the field conserves
/// both, their rates and the energy, off the constraints, too.
#[test]
fn rates_of_uncoupled_constraints_have_brackets() {
    let model = Declaration::one(
        "#[feedback_system(
            coordinates(x, y, z),
            momenta(px, py, pz),
            hamiltonian = ((px + b * y).powi(2) + (py - b * x).powi(2) + pz.powi(2)) / 2,
            constraint(wall = x - 1, surface = y - z.powi(2)),
        )]
        struct ChargedParticle { b: f64 }",
    )
    .compile();
    assert_eq!(program::verify(&model.derivation, &model.programs), Ok(Vec::new()));
    for seed in 1..=20 {
        let field = vector_field(&model.programs, seed);
        for gradient in results(&model.programs, &program::JACOBIAN, seed).chunks(field.len()) {
            let rate: f64 = gradient.iter().zip(&field).map(|(slope, rate)| slope * rate).sum();
            assert!(rate.abs() <= 1e-12, "{rate} along {gradient:?}");
        }
    }
}

/// Powers of quotients and of products keep to the range of doubles as long as their values do, with constants of any size.
#[test]
fn powers_overflow_no_earlier_than_their_values() {
    // The energy at (x, y) with the parameter l.
    for (energy, [x, y, l], expected) in [
        ("(x / l).powi(100)", [2000.0, 1.0, 1990.0], 1.650_790_37),
        ("(l / x).powi(100)", [2000.0, 1.0, 1990.0], 0.605_770_436),
        ("(l / x).powi(12) - (l / x).powi(6)", [3.5e-40, 1.0, 3.4e-40], -0.134_155_25),
        ("(l.powi(2) / (x.powi(2) + y.powi(2))).powi(9)", [3e-40, 4e-40, 5e-40], 1.0),
        ("(x * y).powi(2) * l", [1e200, 3e-200, 1.0], 9.0),
        ("(x * y).powi(2) / l", [1e200, 3e-200, 1.0], 9.0),
        ("(x * y + l).powi(2) / l", [1e200, 3e-200, 1.0], 16.0),
        ("(x * y * l).powi(3)", [1e150, 2e-250, 1e100], 8.0),
        ("(x / 1e-10).powi(40) * l", [1.1e-10, 1.0, 1.0], 45.259_255_6),
        ("(x / 1e30).powi(-40) * l", [1.1e30, 1.0, 1.0], 0.022_094_928),
        ("(x / 10).powi(400) * l", [10.1, 1.0, 1.0], 53.524_117_2),
    ] {
        let model = Declaration::one(&format!(
            "#[feedback_system(coordinates(x, y), momenta(u, v), hamiltonian = u.powi(2) / 2 + v.powi(2) / 2 + {energy})]
            struct S {{ l: f64 }}"
        ))
        .compile();
        let symbols = [x, y, 0.0, 0.0, l];
        let prepared = run(&model.programs.prepare, &[], |symbol| symbols[symbol], |_| Vec::new());
        let of = |function| run(&model.programs[function], &prepared, |symbol| symbols[symbol], |_| Vec::new());
        let value = of(&program::INTEGRALS)[0];
        assert!((value / expected - 1.0).abs() < 1e-6, "{energy}: {value} for {expected}");
        assert!(of(&program::VECTOR_FIELD).iter().all(|rate| rate.is_finite()), "{energy}");
    }
}

/// Where the terms of a sum nearly cancel, as declared they do so without rounding, whatever the order of the entries of the state.
#[test]
fn what_is_declared_is_added_in_the_order_in_which_it_is_written() {
    let [x, y, z, s] = [1e16, 1e16 - 2.0, 3.0, 0.25];
    let value = |name: char| match name {
        'x' => x,
        'y' => y,
        'z' => z,
        _ => s,
    };
    let cases: [(&str, f64); 8] = [
        ("(x - y) - s", 1.75),
        ("s - (x - y)", -1.75),
        ("-((x - y) - s)", -1.75),
        ("s + (x - y)", 2.25),
        ("z * s + (y - x)", -1.25),
        ("(x - y).powi(2) - s", 3.75),
        ("(x - y - s).powi(3)", 5.359_375),
        ("1 + (x - y) * s + z", 4.5),
    ];
    for states in ["xyzs", "syxz", "zsxy", "yszx", "xsyz"] {
        for (expression, expected) in cases {
            let [first, second, third, fourth] = [0, 1, 2, 3].map(|index| states.as_bytes()[index] as char);
            let text = format!(
                "#[feedback_system(
                    state({first}, {second}, {third}, {fourth}),
                    dynamics({first} = {expression}, {second} = 0, {third} = 0, {fourth} = k),
                    invariant(assume i = {expression}),
                )]
                struct S {{ k: f64 }}"
            );
            let model = Declaration::one(&text).compile();
            let symbols = [value(first), value(second), value(third), value(fourth), 0.5];
            let prepared = run(&model.programs.prepare, &[], |symbol| symbols[symbol], |_| Vec::new());
            let of = |function| run(&model.programs[function], &prepared, |symbol| symbols[symbol], |_| Vec::new());
            let found = (of(&program::VECTOR_FIELD)[0], of(&program::INTEGRALS)[0]);
            assert_eq!(found, (expected, expected), "{expression} of ({states})");
        }
    }
}

/// The absolute value of what vanishes with its derivative has a derivative there.
#[test]
fn absolute_values_of_powers_have_derivatives() {
    for energy in
        ["x.powi(3).abs()", "(x * x * x).abs()", "(k * x.powi(3) * (y + 2).powi(2)).abs()", "(x.powi(2)).abs()"]
    {
        let text = format!(
            "#[feedback_system(coordinates(x, y), momenta(u, v), hamiltonian = (u.powi(2) + v.powi(2)) * k + {energy})]
            struct S {{ k: f64 }}"
        );
        let model = Declaration::one(&text).compile();
        let symbols = [0.0, 1.0, 0.0, 0.0, 3.0];
        let prepared = run(&model.programs.prepare, &[], |symbol| symbols[symbol], |_| Vec::new());
        let field = run(&model.programs[&program::VECTOR_FIELD], &prepared, |symbol| symbols[symbol], |_| Vec::new());
        assert_eq!(field[2], 0.0, "{energy}");
    }
}

/// The vector field at a point in general position, where every declared function is defined.
fn vector_field(programs: &Programs, seed: u64) -> Vec<f64> {
    results(programs, &program::VECTOR_FIELD, seed)
}

fn results(programs: &Programs, function: &GeneratedFunction, seed: u64) -> Vec<f64> {
    let value = |symbol: usize| Random::new(seed.wrapping_mul(1000).wrapping_add(symbol as u64)).between(0.5, 1.5);
    let prepared = run(&programs.prepare, &[], value, |_| Vec::new());
    run(&programs[function], &prepared, value, |_| Vec::new())
}
