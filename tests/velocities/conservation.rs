//! Where integrals are conserved, as it is proved while models are compiled, and as numbers show.

use fbint_runtime::Conservation::{self, Everywhere, OnConstraints};
use fbint_runtime::Evidence::{Algebra, Construction};
use fbint_runtime::IntegralKind::{self, Constraint, Energy, Invariant, VelocityConstraint};
use fbint_runtime::{Entries, GeneratedSystem, PreparedSystem, Vector};
use fbint_tests::Random;
use nalgebra::vector;

use super::systems::*;

/// The name, the kind and where it is conserved, of every integral in its order.
fn grades<S: GeneratedSystem>(expected: &[(&str, IntegralKind, Conservation)]) {
    let found: Vec<(&str, IntegralKind, Conservation)> =
        S::FACTS.integrals.iter().map(|integral| (integral.name, integral.kind, integral.conservation)).collect();
    assert_eq!(found, expected, "{}", S::FACTS.name);
}

/// dI.X of the integrals that are said to be conserved everywhere, in random states.
fn holds<S: GeneratedSystem>(system: &S) {
    let prepared = system.prepare();
    let mut random = Random::new(4);
    let mut largest_elsewhere = vec![0.0; S::FACTS.integrals.len()];
    for _ in 0..1_000 {
        let x: Vector<S> = Entries::from_fn(|_| random.between(-1.5, 1.5));
        let (field, gradients) = (prepared.vector_field(&x), prepared.integrals_jacobian(&x));
        for (i, integral) in S::FACTS.integrals.iter().enumerate() {
            let terms = field.as_ref().iter().zip(gradients[i].as_ref()).map(|(rate, slope)| rate * slope);
            let (rate, size) = terms.fold((0.0, 1.0_f64), |(sum, size), term| (sum + term, size.max(term.abs())));
            if matches!(integral.conservation, Everywhere(_)) {
                assert!(rate.abs() < 1e-11 * size, "{}: {} changes by {rate:e} at {x:?}", S::FACTS.name, integral.name);
            }
            largest_elsewhere[i] = rate.abs().max(largest_elsewhere[i]);
        }
    }
    for (integral, largest) in S::FACTS.integrals.iter().zip(largest_elsewhere) {
        if matches!(integral.conservation, OnConstraints(_)) {
            assert!(largest > 1e-3, "{}: {} is conserved everywhere, it seems", S::FACTS.name, integral.name);
        }
    }
}

#[test]
fn without_velocity_reactions_the_energy_is_conserved_everywhere() {
    grades::<HamelPendulum>(&[
        ("length", Constraint, Everywhere(Algebra)),
        ("energy", Energy, Everywhere(Construction)),
    ]);
    grades::<UnitFramePendulum>(&[
        ("length", Constraint, Everywhere(Algebra)),
        ("energy", Energy, Everywhere(Construction)),
    ]);
    grades::<ConstrainedPendulum>(&[
        ("length", IntegralKind::HolonomicConstraint { rate: 1 }, Everywhere(Construction)),
        ("length_rate", IntegralKind::ConstraintRate { constraint: 0 }, Everywhere(Construction)),
        ("energy", Energy, Everywhere(Construction)),
    ]);
    grades::<DegeneratePendulum>(&[
        ("length", Constraint, Everywhere(Algebra)),
        ("energy", Energy, Everywhere(Construction)),
        ("vertical_momentum", Invariant, Everywhere(Algebra)),
    ]);
    grades::<CartPendulum>(&[
        ("energy", Energy, Everywhere(Construction)),
        ("horizontal_momentum", Invariant, Everywhere(Algebra)),
    ]);
    grades::<ChaplyginSleigh>(&[("energy", Energy, Everywhere(Construction))]);
    grades::<BalancedSleigh>(&[
        ("energy", Energy, Everywhere(Construction)),
        ("turning", Invariant, Everywhere(Algebra)),
        ("speed", Invariant, Everywhere(Algebra)),
        ("centre_x", Invariant, Everywhere(Algebra)),
        ("centre_y", Invariant, Everywhere(Algebra)),
    ]);
    grades::<DiskWithoutSlip>(&[
        ("energy", Energy, Everywhere(Construction)),
        ("roll_momentum", Invariant, Everywhere(Algebra)),
        ("turn_momentum", Invariant, Everywhere(Algebra)),
    ]);
}

#[test]
fn velocity_reactions_conserve_the_energy_where_the_constraints_hold() {
    let blade = ("blade", VelocityConstraint, Everywhere(Construction));
    let energy = ("energy", Energy, OnConstraints(Construction));
    grades::<SleighByRates>(&[blade, energy]);
    grades::<SleighByMomenta>(&[blade, energy]);
    let invariants = [
        ("turning", Invariant, Everywhere(Algebra)),
        ("centre_x", Invariant, OnConstraints(Algebra)),
        ("centre_y", Invariant, OnConstraints(Algebra)),
    ];
    grades::<BalancedSleighByRates>(&[&[blade, energy][..], &invariants].concat());
    grades::<BalancedSleighByMomenta>(&[&[blade, energy][..], &invariants].concat());
    let slip = ["slip_x", "slip_y"].map(|name| (name, VelocityConstraint, Everywhere(Construction)));
    grades::<RollingDisk>(&[&slip[..], &[energy]].concat());
    let momenta =
        [("roll_momentum", Invariant, OnConstraints(Algebra)), ("turn_momentum", Invariant, Everywhere(Algebra))];
    grades::<DiskByRates>(&[&slip[..], &[energy], &momenta].concat());
    grades::<DiskByMomenta>(&[&slip[..], &[energy], &momenta].concat());
}

/// d/dt R^T R = [R^T R, hat(omega)], which vanishes where R^T R is 1.
#[test]
fn orthonormality_is_kept_where_it_holds() {
    let (sets, rest) = RotatingBody::FACTS.integrals.split_at(6);
    for set in sets {
        assert!(set.name.starts_with("orthonormality"), "{}", set.name);
        assert_eq!((set.kind, set.conservation), (Constraint, OnConstraints(Algebra)), "{}", set.name);
    }
    let weights: Vec<f64> = sets.iter().map(|set| set.weight).collect();
    assert_eq!(weights.iter().sum::<f64>(), 9.0, "{weights:?}");
    let names: Vec<(&str, Conservation)> = rest.iter().map(|integral| (integral.name, integral.conservation)).collect();
    assert_eq!(
        names,
        [
            ("energy", Everywhere(Construction)),
            ("spatial_momentum[0]", Everywhere(Algebra)),
            ("spatial_momentum[1]", Everywhere(Algebra)),
            ("spatial_momentum[2]", Everywhere(Algebra)),
        ]
    );
}

#[test]
fn numbers_agree() {
    holds(&HamelPendulum { m: 1.3, g: 0.9, l: 0.8 });
    holds(&UnitFramePendulum { m: 1.3, g: 0.9, l: 0.8 });
    holds(&ConstrainedPendulum { m: 1.3, g: 0.9, l: 0.8 });
    holds(&DegeneratePendulum { m: 1.3, g: 0.9, r: 0.8 });
    holds(&CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 });
    holds(&RotatingBody { inertia: vector![3.0, 2.0, 1.5] });
    let (m, j, a) = (2.0, 0.7, 0.3);
    holds(&ChaplyginSleigh { m, j, a });
    holds(&SleighByRates { m, j, a });
    holds(&SleighByMomenta { m, j, a });
    holds(&BalancedSleigh { m, j });
    holds(&BalancedSleighByRates { m, j });
    holds(&BalancedSleighByMomenta { m, j });
    let (m, i, j, radius) = (2.0, 0.25, 0.125, 0.5);
    holds(&RollingDisk { m, i, j, radius });
    holds(&DiskByRates { m, i, j, radius });
    holds(&DiskByMomenta { m, i, j, radius });
    holds(&DiskWithoutSlip { m, i, j, radius });
}
