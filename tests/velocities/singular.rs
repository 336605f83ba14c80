//! Constraints that masses make nearly dependent: the error says so.

use fbint_runtime::{Error, Simulation, feedback_system};

/// A light point between two others.
#[feedback_system(
    coordinates(x, y, z),
    momenta(p, r, s),
    hamiltonian = p.powi(2) / (2 * light) + r.powi(2) / 2 + s.powi(2) / 2,
    constraint(one = x + y, other = x + z),
)]
pub struct Light {
    light: f64,
}

#[test]
fn masses_are_named_where_they_make_constraints_dependent() {
    let error = Simulation::new(&Light { light: 1e-16 }, [0.0; 6]).map(|_| ()).unwrap_err();
    let Error::DependentConstraints { dependence } = &error else { panic!("{error}") };
    assert!(dependence.is_by_masses, "{error}");
    assert!(error.to_string().contains("by masses of very different sizes"), "{error}");
}

/// A point whose inertia is a parameter, tied to another.
#[feedback_system(
    coordinates(x, s),
    velocities(v, w),
    lagrangian = (v.powi(2) + inertia * w.powi(2)) / 2 - x,
    constraint(tie = s - 2 * x),
)]
pub struct Tied {
    inertia: f64,
}

#[test]
fn inertia_that_is_put_to_zero_afterwards_is_named() {
    let error = Simulation::new(&Tied { inertia: 0.0 }, [0.0; 4]).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::NoInertia { parameter: "inertia", .. }), "{error}");
    let expected = "at the start the mass matrix is singular along the velocity `w`, because of `inertia` = 0.0; where constraints \
                    determine such a motion, declare it without inertia, by `default(inertia = 0)`";
    assert_eq!(error.to_string(), expected);
}
