//! Declarations of one system in several ways, and what a longer one costs.
#![allow(missing_docs)]

use fbint_macros_core::program::{self, Programs};
use fbint_tests::compiler::{Declaration, run};
use fbint_tests::{Random, relative_error};

const SPHERICAL_PENDULUM: &str = include_str!("../models/src/spherical_pendulum.rs");

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
        let operations = Declaration::one(&text).compile().programs[&program::FEEDBACK_FIELD].operations();
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

/// The vector field at a point in general position, where every declared function is defined.
fn vector_field(programs: &Programs, seed: u64) -> Vec<f64> {
    let value = |symbol: usize| Random::new(seed.wrapping_mul(1000).wrapping_add(symbol as u64)).between(0.5, 1.5);
    let prepared = run(&programs.prepare, &[], value, |_| Vec::new());
    run(&programs[&program::VECTOR_FIELD], &prepared, value, |_| Vec::new())
}
