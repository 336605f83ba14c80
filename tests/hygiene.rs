//! Generated code is a guest: it compiles in modules that would break careless code, adds no warning under strict lints,
//! and no name of the user's changes its meaning. The last is checked by comparing with a twin that has harmless names.
//!
//! The lints of clippy take effect when clippy runs on the tests. Another package compiles this file in the edition of 2021.
#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations, unused_qualifications, unused_results)]
#![deny(clippy::pedantic)]

use fbint_runtime::{
    DrivenSystem, Error, Feedback, FeedbackLaw, FeedbackSystem, Field, Gains, GeneratedSystem, Integrals,
    PreparedSystem, Vector,
};
use nalgebra::vector;

/// One model of every kind, for the surroundings that `feedback_system` was brought to.
macro_rules! models_of_every_kind {
    ($($key:ident = $runtime:path)?) => {
        /// Holonomic constraints as a family, matrices, a definition, outputs, functions of parameters alone, and derivatives.
        #[feedback_system(
            $($key = $runtime,)?
            coordinates(q: [2, 2], angle),
            momenta(p: [2, 2], spin),
            define(height = q[(1, 0)] + q[(1, 1)] + angle.sin() * m.sqrt() / 5),
            hamiltonian = (0..2).map(|i| p.column(i).norm_squared() / (2 * m) + m * g[i] * q[(1, i)] * height).sum()
                + spin.powi(2) / 2 - angle.cos().exp(),
            constraint(rod[i in 0..2] = q.column(i).norm_squared() - l.powi(2)),
            output(tension[i in 0..2] = -2 * l * multiplier(rod[i]), place = q.column(1) + vector![angle, PI]),
            derivatives,
        )]
        pub(crate) struct Holonomic {
            pub(crate) m: ::core::primitive::f64,
            pub(crate) g: [::core::primitive::f64; 2],
            pub(crate) l: ::core::primitive::f64,
        }

        /// Constraints on momenta, too, and an invariant.
        #[feedback_system(
            $($key = $runtime,)?
            coordinates(q: [3]),
            momenta(p: [3]),
            hamiltonian = p.norm_squared() / (2 * m) + m * g * q.z,
            phase_constraint(f1 = q.norm_squared() - 1, f2 = q.dot(&p)),
            invariant(vertical = q.x * p.y - q.y * p.x),
        )]
        pub(crate) struct Phase {
            pub(crate) m: ::core::primitive::f64,
            pub(crate) g: ::core::primitive::f64,
        }

        /// A Poisson matrix, and derivatives.
        #[feedback_system(
            $($key = $runtime,)?
            state(pi: [3]),
            poisson = hat(pi),
            hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
            invariant(casimir = pi.norm_squared()),
            derivatives,
        )]
        pub(crate) struct Poisson {
            pub(crate) inertia: [::core::primitive::f64; 3],
        }

        /// A field that is given, a matrix as constraint and a vector as invariant.
        #[feedback_system(
            $($key = $runtime,)?
            state(r: [3, 3], omega: [3]),
            define(momentum = inertia.component_mul(&omega)),
            dynamics(r = r * hat(omega), omega = momentum.cross(&omega).component_div(&inertia)),
            constraint(orthonormality = r.transpose() * r - identity(3)),
            invariant(energy = omega.dot(&momentum) / 2, spatial = r * momentum),
        )]
        pub(crate) struct Dynamics {
            pub(crate) inertia: [::core::primitive::f64; 3],
        }

        /// Forces, the time, and inputs of every shape.
        #[feedback_system(
            $($key = $runtime,)?
            coordinates(q: [2]),
            momenta(p: [2]),
            time(t),
            input(u, pull: [2], shear: [2, 2]),
            hamiltonian = p.norm_squared() / (2 * m) + m * q[1] * t.cos(),
            constraint(length = (q - vector![t.sin() / 5, 0]).norm_squared() - 1),
            force(p = pull * u + shear * q),
            output(tension = -2 * multiplier(length), power = u * rate(q[0])),
        )]
        pub(crate) struct Driven {
            pub(crate) m: ::core::primitive::f64,
        }
    };
}

/// What the others are compared with.
mod plain {
    use fbint_runtime::feedback_system;

    models_of_every_kind!();
}

/// Where nobody may allow lints of clippy's groups.
mod forbidden {
    #![forbid(clippy::pedantic)]
    #![allow(dead_code)]

    use fbint_runtime::feedback_system;

    models_of_every_kind!();

    /// The same of a deprecated model, which warns at no declaration of its own.
    #[forbid(clippy::nursery)]
    mod nursery {
        use fbint_runtime::feedback_system;

        #[deprecated = "another takes its place"]
        #[feedback_system(coordinates(q), momenta(p), input(u), hamiltonian = p.powi(2) / 2, force(p = u - q), derivatives)]
        struct Old;
    }
}

/// Without the prelude there is neither `Some` nor `Clone` nor `From`.
mod without_prelude {
    #![no_implicit_prelude]

    use ::fbint_runtime::feedback_system;

    models_of_every_kind!();
}

/// Every name that the generated code might reach for means something else here.
#[allow(non_camel_case_types, dead_code, unused_macros)]
mod shadows {
    use ::fbint_runtime::feedback_system;

    struct f64;
    struct bool;
    struct usize;
    struct str;
    struct Vec;
    struct Result;
    struct Option;
    struct Some;
    struct None;
    struct String;
    struct T;
    struct G;
    struct SVector;
    struct Matrix;
    struct ArrayStorage;
    struct Operations;
    struct StateEntry;
    struct StateRole;
    struct Integral;
    struct Vector;
    struct Integrals;
    struct Direction;
    struct Gradient;
    trait DifferentiableSystem {}
    trait Scalar {}
    trait From {}
    trait Clone {}
    trait FeedbackLaw {}
    trait FeedbackSystem {}
    trait DrivenSystem {}
    trait PreparedSystem {}
    trait Entry {}
    trait Entries {}

    mod core {}
    mod std {}
    mod nalgebra {}
    mod fbint_runtime {}

    macro_rules! vector {
        ($($anything:tt)*) => {
            compile_error!("the macro of the user's, where the word of the language is meant")
        };
    }

    /// Methods of these names on everything, with another meaning.
    trait Methods: Sized {
        fn mul_add(self, _: Self, _: Self) -> Self {
            self
        }
        fn recip(self) -> Self {
            self
        }
        fn sqrt(self) -> Self {
            self
        }
        fn from_f64(_: ::core::primitive::f64) -> ::core::primitive::f64 {
            0.0
        }
        fn from_lanes(_: fn(::core::primitive::usize) -> ::core::primitive::f64) -> ::core::primitive::f64 {
            0.0
        }
        fn weigh(&self, _: [::core::primitive::f64; 3]) -> [::core::primitive::f64; 3] {
            [0.0; 3]
        }
        fn vector_field(&self, _: &Self) {}
        fn feedback_field(&self, _: &Self) {}
    }
    impl<A> Methods for A {}

    models_of_every_kind!();
}

/// Constants, statics and structs that have the names of variables, of parameters and of what the generated code computes: a
/// pattern of such a name would mean the item.
#[allow(non_upper_case_globals, non_camel_case_types, dead_code)]
mod items {
    use fbint_runtime::feedback_system;

    macro_rules! constants {
        ($($name:ident)*) => { $(const $name: f64 = 17.0;)* };
    }
    macro_rules! statics {
        ($($name:ident)*) => { $(static $name: f64 = 17.0;)* };
    }
    macro_rules! unit_structs {
        ($($name:ident)*) => { $(struct $name;)* };
    }
    macro_rules! tuple_structs {
        ($($name:ident)*) => { $(struct $name(f64);)* };
    }
    constants!(m g_0 q_0_0 p_0_0 angle t0 t4 c_0 y_0 s_0 r_0 x law variances noise rows x_0 x_4 inertia);
    statics!(l g g_1 q_1_0 p_1_0 spin t1 t5 c_1 y_1 s_1 r_1 member lane index state x_1 x_5 height q p pi r omega);
    unit_structs!(q_0_1 p_0_1 q_0 p_0 t2 t6 c_2 y_2 s_2 r_2 entry x_2 x_6 pi_0 omega_0 r_0_0 inertia_0 _m);
    tuple_structs!(q_1_1 p_1_1 q_1 p_1 t3 t7 c_3 y_3 s_3 r_3 x_3 x_7 pi_1 omega_1 r_1_0 inertia_1 _l);

    models_of_every_kind!();
}

/// Models that have the names of what the generated code uses.
#[allow(non_camel_case_types)]
mod names_of_models {
    use fbint_runtime::feedback_system;

    macro_rules! model {
        ($($name:ident)*) => {
            $(
                #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
                #[derive(Debug)]
                pub(super) struct $name {
                    pub(super) k: f64,
                }
            )*
        };
    }
    model!(T L Vec Result Option Some None Ok From Clone SVector Matrix ArrayStorage);
    model!(FeedbackSystem FeedbackLaw Scalar IntegralKind Operations Self_ r#async r#gen);
    model!(G Entry Entries Vector Integrals PreparedSystem);
}

/// Parameters and variables that have the names of what the generated code binds.
mod names_of_variables {
    use fbint_runtime::feedback_system;
    use nalgebra::Matrix2;

    /// Upper-case names are constants of the module, too.
    const T: f64 = 0.1;
    const X: f64 = 0.2;
    const M: f64 = 0.3;
    const G: f64 = 0.4;
    const Λ: f64 = 0.5;
    /// That they are.
    pub(super) const SUM: f64 = T + X + M + G + Λ;

    /// All names clash with something.
    #[feedback_system(
        coordinates(x: [2], x_0, r#type),
        momenta(law: [2], t0, T),
        define(square = x.norm_squared()),
        hamiltonian = law.norm_squared() / (2 * half) + (t0.powi(2) + T.powi(2)) / (2 * two) + h * x[1] + y_0 * square
            + k1_0 * x_0 * x[0] + sixth[0] * r#type.sin() + sixth[1] * x_0.powi(4) + v_0[(0, 1)] * r#match * this
            - law_0 * r#type * x_0 + X * _x * field * gradient * x[0].cos(),
        constraint(weigh = square + x_0.powi(2) - M * m),
        invariant(r#fn = (square + x_0.powi(2) - M * m) * (G * x[0] * T - λ * Λ * t0)),
    )]
    #[derive(Clone, Debug)]
    #[allow(non_snake_case)]
    pub(super) struct Clashing {
        pub(super) h: f64,
        pub(super) two: f64,
        pub(super) half: f64,
        pub(super) sixth: [f64; 2],
        pub(super) y_0: f64,
        pub(super) k1_0: f64,
        pub(super) v_0: Matrix2<f64>,
        pub(super) r#match: f64,
        pub(super) this: f64,
        pub(super) law_0: f64,
        pub(super) X: f64,
        pub(super) _x: f64,
        pub(super) field: f64,
        pub(super) gradient: f64,
        pub(super) M: f64,
        pub(super) m: f64,
        pub(super) G: f64,
        pub(super) λ: f64,
        pub(super) Λ: f64,
    }

    /// Equal code and numbers, and no name clashes.
    #[feedback_system(
        coordinates(a: [2], b, c),
        momenta(pa: [2], pb, pc),
        define(square = a.norm_squared()),
        hamiltonian = pa.norm_squared() / (2 * c2) + (pb.powi(2) + pc.powi(2)) / (2 * c1) + c0 * a[1] + c4 * square
            + c5 * b * a[0] + c3[0] * c.sin() + c3[1] * b.powi(4) + c6[(0, 1)] * c7 * c8
            - c9 * c * b + c10 * c11 * c12 * c13 * a[0].cos(),
        constraint(sphere = square + b.powi(2) - c14 * c15),
        invariant(odd = (square + b.powi(2) - c14 * c15) * (c16 * a[0] * pc - c17 * c18 * pb)),
    )]
    #[derive(Clone, Debug)]
    pub(super) struct Plain {
        pub(super) c0: f64,
        pub(super) c1: f64,
        pub(super) c2: f64,
        pub(super) c3: [f64; 2],
        pub(super) c4: f64,
        pub(super) c5: f64,
        pub(super) c6: Matrix2<f64>,
        pub(super) c7: f64,
        pub(super) c8: f64,
        pub(super) c9: f64,
        pub(super) c10: f64,
        pub(super) c11: f64,
        pub(super) c12: f64,
        pub(super) c13: f64,
        pub(super) c14: f64,
        pub(super) c15: f64,
        pub(super) c16: f64,
        pub(super) c17: f64,
        pub(super) c18: f64,
    }
}

/// Where the runtime goes by another name.
mod renamed {
    mod vendored {
        pub(super) mod physics {
            pub(in super::super) use ::fbint_runtime as integrators;
        }
    }

    use vendored::physics::integrators::feedback_system;

    models_of_every_kind!(crate = vendored::physics::integrators);
}

/// The state is as visible as its model, and nobody has to use it.
mod visibility {
    pub(super) mod inner {
        use fbint_runtime::feedback_system;

        #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
        pub(crate) struct OfTheCrate {
            pub(crate) k: f64,
        }

        #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
        pub(in super::super) struct OfAModule {
            pub(in super::super) k: f64,
        }

        #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
        struct Private {
            k: f64,
        }

        pub(in super::super) fn private_energy() -> f64 {
            use fbint_runtime::{FeedbackSystem, PreparedSystem};
            Private { k: 2.0 }.prepare().integrals(&[3.0, 4.0])[0]
        }
    }
}

/// The field and one step of every method, with gains and with a law.
fn results<S: GeneratedSystem>(system: &S, x: &Vector<S>) -> Result<Vec<Vector<S>>, Error> {
    let feedback = Feedback::new(system, x, Gains::uniform(2.0))?;
    let system = system.prepare();
    let mut all = vec![system.vector_field(x), feedback.value(x)];
    all.extend([system.potential_gradient(x, &Doubled), system.feedback_field(x, &Doubled)]);
    let (mut euler, mut rk4) = (*x, *x);
    feedback.euler_step(&mut euler, 0.1);
    feedback.rk4_step(&mut rk4, 0.1);
    all.extend([euler, rk4]);
    Ok(all)
}

/// y = 2 F
struct Doubled;

impl<S: GeneratedSystem> FeedbackLaw<S, f64> for Doubled {
    fn weigh(&self, mut integrals: Integrals<S>) -> Integrals<S> {
        integrals.as_mut().iter_mut().for_each(|integral| *integral *= 2.0);
        integrals
    }
}

/// To the last bit.
fn assert_identical(actual: &[f64], expected: &[f64]) {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(actual), bits(expected), "{actual:?} {expected:?}");
}

/// To the last bits, which the order of the factors may change.
fn assert_same<const N: usize>(actual: &[[f64; N]], expected: &[[f64; N]]) {
    let largest = |numbers: &[f64; N]| numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
    assert_eq!(actual.len(), expected.len());
    for (actual, expected) in actual.iter().zip(expected) {
        let difference = std::array::from_fn(|i| actual[i] - expected[i]);
        assert!(largest(&difference) <= 1e-14 * largest(expected), "{actual:?} {expected:?}");
    }
}

/// The same code, and the same numbers to the last bit.
fn assert_twins<A, B>(twin: &A, plain: &B, x: &Vector<A>) -> Result<(), Error>
where
    A: GeneratedSystem,
    B: GeneratedSystem<Vector<f64> = Vector<A>>,
{
    // Where a long path breaks lines, commas come and go.
    let code = |source: &str| source.replace(|c: char| c.is_whitespace() || c == ',', "");
    assert_eq!(
        code(A::FACTS.source).replace("vendored::physics::integrators", "::fbint_runtime"),
        code(B::FACTS.source)
    );
    assert_eq!(results(twin, x)?, results(plain, x)?, "{}", A::FACTS.name);
    Ok(())
}

/// Compares one model of every kind with its twin in `plain`.
macro_rules! assert_meaning {
    ($($surroundings:tt)*) => {{
        let [m, l] = [2.0, 1.0];
        let x = [0.6, -0.8, 0.8, 0.6, 0.3, 0.4, 0.3, -0.6, 0.8, 0.2];
        let g = [9.0, 3.0];
        assert_twins(&$($surroundings)*Holonomic { m, g, l }, &plain::Holonomic { m, g, l }, &x)?;
        let x = [0.6, 0.0, -0.8, 0.4, 1.0, 0.3];
        assert_twins(&$($surroundings)*Phase { m, g: 9.0 }, &plain::Phase { m, g: 9.0 }, &x)?;
        let inertia = [1.0, 2.0, 3.0];
        let x = [0.1, 0.2, -0.3];
        assert_twins(&$($surroundings)*Poisson { inertia }, &plain::Poisson { inertia }, &x)?;
        let x = [0.6, 0.8, 0.0, -0.8, 0.6, 0.0, 0.0, 0.0, 1.0, 0.1, 0.2, -0.3];
        assert_twins(&$($surroundings)*Dynamics { inertia }, &plain::Dynamics { inertia }, &x)?;
        let x = [0.6, -0.8, 1.2, 0.6, 0.0, 0.0];
        assert_twins(&$($surroundings)*Driven { m }, &plain::Driven { m }, &x)?;
        let input = $($surroundings)*DrivenInput {
            u: 2.0,
            pull: vector![1.0, -1.0],
            shear: nalgebra::matrix![0.1, 0.2; 0.3, 0.4],
        };
        let driven = <$($surroundings)*Driven as DrivenSystem>::with_input(($($surroundings)*Driven { m }).prepare(), input.into());
        let plain = plain::Driven::with_input(plain::Driven { m }.prepare(), [2.0, 1.0, -1.0, 0.1, 0.3, 0.2, 0.4]);
        assert_identical(&driven.vector_field(&x), &plain.vector_field(&x));
    }};
}

#[test]
fn surroundings_do_not_change_the_meaning() -> Result<(), Error> {
    assert_meaning!(without_prelude::);
    assert_meaning!(shadows::);
    assert_meaning!(renamed::);
    assert_meaning!(items::);
    Ok(())
}

#[test]
fn names_of_models_do_not_change_the_meaning() {
    use names_of_models as own;
    fn field(oscillator: &impl FeedbackSystem<Vector<f64> = [f64; 2]>) -> [f64; 2] {
        oscillator.prepare().vector_field(&[3.0, 4.0])
    }
    let k = 2.0;
    let fields = [field(&own::T { k }), field(&own::L { k }), field(&own::Vec { k }), field(&own::Result { k })];
    assert_eq!(fields, [[4.0, -6.0]; 4]);
    let fields = [field(&own::Option { k }), field(&own::Some { k }), field(&own::None { k }), field(&own::Ok { k })];
    assert_eq!(fields, [[4.0, -6.0]; 4]);
    let fields =
        [field(&own::From { k }), field(&own::Clone { k }), field(&own::SVector { k }), field(&own::Matrix { k })];
    assert_eq!(fields, [[4.0, -6.0]; 4]);
    let fields = [field(&own::ArrayStorage { k }), field(&own::FeedbackSystem { k }), field(&own::FeedbackLaw { k })];
    assert_eq!(fields, [[4.0, -6.0]; 3]);
    let fields = [field(&own::Scalar { k }), field(&own::IntegralKind { k }), field(&own::Operations { k })];
    assert_eq!(fields, [[4.0, -6.0]; 3]);
    let fields = [field(&own::Self_ { k }), field(&own::r#async { k }), field(&own::r#gen { k })];
    assert_eq!(fields, [[4.0, -6.0]; 3]);
    let fields = [field(&own::G { k }), field(&own::Entry { k }), field(&own::Entries { k })];
    assert_eq!(fields, [[4.0, -6.0]; 3]);
    let fields = [field(&own::Vector { k }), field(&own::Integrals { k }), field(&own::PreparedSystem { k })];
    assert_eq!(fields, [[4.0, -6.0]; 3]);
    assert_eq!(own::r#async::FACTS.name, "async");
}

#[test]
fn names_of_variables_do_not_change_the_meaning() -> Result<(), Error> {
    use names_of_variables::{Clashing, ClashingState, Plain};
    let matrix = nalgebra::matrix![0.1, 0.2; 0.3, 0.4];
    #[rustfmt::skip]
    let mut clashing = Clashing {
        h: 0.9, two: 1.2, half: 1.3, sixth: [0.7, 0.6], y_0: 0.4, k1_0: 0.3, v_0: matrix, r#match: 2.1, this: 2.2,
        law_0: 0.8, X: 1.4, _x: 1.6, field: 1.7, gradient: 1.8, M: 2.0, m: 0.5, G: 1.1, λ: 0.2, Λ: 1.9,
    };
    #[rustfmt::skip]
    let plain = Plain {
        c0: 0.9, c1: 1.2, c2: 1.3, c3: [0.7, 0.6], c4: 0.4, c5: 0.3, c6: matrix, c7: 2.1, c8: 2.2,
        c9: 0.8, c10: 1.4, c11: 1.6, c12: 1.7, c13: 1.8, c14: 2.0, c15: 0.5, c16: 1.1, c17: 0.2, c18: 1.9,
    };
    // On the sphere, moving along it.
    let x = [0.6, 0.0, 0.8, 0.3, 1.04, 0.5, -0.72, 0.2];
    assert_same(&results(&clashing, &x)?, &results(&plain, &x)?);

    let state =
        ClashingState { x: vector![0.6, 0.0], x_0: 0.8, r#type: 0.3, law: vector![1.04, 0.5], t0: -0.72, T: 0.2 };
    assert_eq!(ClashingState::from(x), state);
    assert_identical(&<[f64; 8]>::from(state), &x);
    let entries = Clashing::FACTS.state.iter().map(|entry| entry.name);
    assert!(entries.eq(["x[0]", "x[1]", "x_0", "type", "law[0]", "law[1]", "t0", "T"]));
    let integrals = Clashing::FACTS.integrals.iter().map(|integral| integral.name);
    assert!(integrals.eq(["weigh", "weigh_rate", "energy", "fn"]));
    for (index, name) in Clashing::FACTS.parameter_names.iter().enumerate() {
        assert_eq!(clashing.parameter(index), plain.parameter(index), "{name}");
        if let Some(value) = clashing.parameter_mut(index) {
            *value = -1.0;
        }
        assert_eq!(clashing.parameter(index), Some(-1.0), "{name}");
    }
    assert!((names_of_variables::SUM - 1.5).abs() < 1e-15, "the constants are in scope");
    Ok(())
}

#[test]
fn models_are_as_visible_as_they_are_declared() {
    let x = [3.0, 4.0];
    assert_identical(&visibility::inner::OfTheCrate { k: 2.0 }.prepare().integrals(&x), &[17.0]);
    assert_identical(&visibility::inner::OfAModule { k: 2.0 }.prepare().integrals(&x), &[17.0]);
    assert_identical(&<[f64; 2]>::from(visibility::inner::OfAModuleState { q: 3.0, p: 4.0 }), &x);
    assert!((visibility::inner::private_energy() - 17.0).abs() < 1e-15);
}

#[test]
#[allow(clippy::items_after_statements)]
fn models_can_live_in_a_function() -> Result<(), Error> {
    use fbint_runtime::feedback_system;

    let k = 100.0;

    #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
    struct Oscillator {
        k: f64,
    }

    let state = OscillatorState { q: 3.0, p: 4.0 };
    assert_identical(&Oscillator { k: k / 50.0 }.prepare().vector_field(&state.into()), &[4.0, -6.0]);

    models_of_every_kind!();
    assert_meaning!();
    Ok(())
}
