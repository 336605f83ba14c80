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
