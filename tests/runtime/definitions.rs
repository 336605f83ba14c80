//! Constraints, invariants and outputs that are definitions: the same as if the expression stood there.

use fbint_runtime::GeneratedSystem;

/// The definitions by their names.
mod named {
    use fbint_runtime::feedback_system;

    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        define(l = q.cross(&p), length = q.norm_squared() - 1, height = q[2], vertical = l[2]),
        hamiltonian = p.norm_squared() / 2 + g * height,
        constraint(length),
        invariant(vertical = vertical),
        output(height, l, twice = 2 * vertical),
    )]
    pub(crate) struct Pendulum {
        pub(crate) g: f64,
    }

    #[feedback_system(
        state(pi: [3]),
        define(rate = pi.component_div(&inertia), square = pi.norm_squared()),
        dynamics(pi = pi.cross(&rate)),
        invariant(square, energy = pi.dot(&rate) / 2),
        output(rate),
    )]
    pub(crate) struct Top {
        pub(crate) inertia: fbint_runtime::nalgebra::Vector3<f64>,
    }

    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        define(r#type = q.norm_squared() - 1, f = q.dot(&p)),
        hamiltonian = p.norm_squared() / 2,
        phase_constraint(r#type, f),
    )]
    pub(crate) struct Free;
}

/// The expressions where they are used.
mod written {
    use fbint_runtime::feedback_system;

    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        hamiltonian = p.norm_squared() / 2 + g * q[2],
        constraint(length = q.norm_squared() - 1),
        invariant(vertical = q.cross(&p)[2]),
        output(height = q[2], l = q.cross(&p), twice = 2 * q.cross(&p)[2]),
    )]
    pub(crate) struct Pendulum {
        pub(crate) g: f64,
    }

    #[feedback_system(
        state(pi: [3]),
        dynamics(pi = pi.cross(&pi.component_div(&inertia))),
        invariant(square = pi.norm_squared(), energy = pi.dot(&pi.component_div(&inertia)) / 2),
        output(rate = pi.component_div(&inertia)),
    )]
    pub(crate) struct Top {
        pub(crate) inertia: fbint_runtime::nalgebra::Vector3<f64>,
    }

    #[feedback_system(
        coordinates(q: [3]),
        momenta(p: [3]),
        hamiltonian = p.norm_squared() / 2,
        phase_constraint(r#type = q.norm_squared() - 1, f = q.dot(&p)),
    )]
    pub(crate) struct Free;
}

fn assert_equal<A: GeneratedSystem, B: GeneratedSystem>() {
    assert_eq!(A::FACTS.equations, B::FACTS.equations);
    assert_eq!(A::FACTS.source, B::FACTS.source);
    assert_eq!(A::FACTS.output_names, B::FACTS.output_names);
}

#[test]
fn a_definition_by_its_name_is_its_expression() {
    assert_equal::<named::Pendulum, written::Pendulum>();
    assert_equal::<named::Top, written::Top>();
    assert_equal::<named::Free, written::Free>();
}
