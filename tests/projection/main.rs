//! A run that projects its state is nowhere worse than the plain run, except where BENCHMARKS.md names it: not in one body of many, not
//! in a variable that has nothing to do with an error, and not in other units. Wherever a plain run succeeds, the default does too:
//! near equilibria, and past singularities of coordinates, collinear linkages and collisions.
//!
//! `--nocapture` prints the figures.
#![allow(missing_docs)]

mod all_units;
mod comparison;
mod pairs;
mod singular;
mod small;
mod switches;
mod systems;

use std::f64::consts::TAU;

use catalogue::comparison::{Group, Motion, RecordedRun};
use comparison::{ALLOWED, Case, Ladder, ROUNDING_OF_DRIFT, Undeclared, Units, alone};
use fbint_catalogue::AnyModel;
use fbint_runtime::{Error, Gains, GeneratedSystem, Method, Simulation, Vector};
use fbint_tests::systems::{DoublePendulum, FourBar, Kepler, SphericalPendulum};
use nalgebra::Vector3;
use systems::*;

type Outcome = Result<(), Error>;

/// For motions whose rates are about 1.
const LADDER: Ladder = Ladder {
    euler: [1e-5, 1e-4, 1e-3],
    second_order: [1e-3, 5e-3, 2e-2],
    rk4: [5e-3, 2e-2, 5e-2],
    tolerances: [1e-9, 1e-7, 1e-5],
    smallest: 1.0,
};

/// For motions whose rates are about 10.
const FAST: Ladder =
    Ladder { euler: [2e-6, 1e-5, 1e-4], second_order: [1e-4, 5e-4, 2e-3], rk4: [5e-4, 2e-3, 5e-3], ..LADDER };

mod many_bodies {
    use super::*;

    /// Momenta go down to 1e-11.
    const OUTER: Ladder = Ladder {
        euler: [0.5, 1.0, 5.0],
        second_order: [5.0, 10.0, 20.0],
        rk4: [25.0, 50.0, 100.0],
        tolerances: [1e-11, 1e-9, 1e-6],
        smallest: 1e-12,
    };
    const DAYS: [f64; 2] = [200_000.0, 2_000.0];

    #[test]
    fn outer_solar_system() -> Outcome {
        let system = alone(OUTER_PLANETS);
        Case::new("outer solar system", &*system, outer_planets(), DAYS, OUTER).assert_no_worse()
    }

    #[test]
    fn outer_solar_system_with_invariants() -> Outcome {
        let OuterPlanets { g, m } = OUTER_PLANETS;
        let system = alone(OuterSolarSystemWithInvariants { g, m });
        Case::new("outer solar system, P, L", &*system, outer_planets(), DAYS, OUTER).assert_no_worse()
    }

    #[test]
    fn figure_of_eight() -> Outcome {
        let system = alone(ThreeBodies { g: 1.0, m: [1.0; 3] });
        Case::new("figure of eight", &*system, figure_eight(), [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn figure_of_eight_with_invariants() -> Outcome {
        let system = alone(ThreeBodiesWithInvariants { g: 1.0, m: [1.0; 3] });
        Case::new("figure of eight, P, L", &*system, figure_eight(), [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn sun_earth_and_moon() -> Outcome {
        let model = SunEarthMoon::of_nature();
        let ladder = Ladder {
            euler: [1e-3, 1e-2, 1e-1],
            second_order: [0.01, 0.05, 0.1],
            rk4: [0.125, 0.25, 0.5],
            tolerances: [1e-11, 1e-9, 1e-6],
            smallest: 1e-10,
        };
        // The moon and the earth follow one another closely: what counts is how they go round one another.
        let [_, earth, moon] = model.m;
        let distance = SunEarthMoon::LUNAR_DISTANCE;
        let momentum = moon * distance * TAU / 27.3;
        let recoil = distance * moon / earth;
        let sizes = [("q1", recoil), ("p1", momentum), ("q2", distance), ("p2", momentum)];
        let (start, system) = (model.start(), alone(model));
        let mut case = Case::new("sun, earth, moon", &*system, start, [1000.0, 10.0], ladder);
        let sized = case.groups.into_iter().map(|group| match sizes.iter().find(|(name, _)| group.name == *name) {
            Some((_, size)) => group.of_size(*size),
            None => group,
        });
        case.groups = sized.collect();
        case.assert_no_worse()
    }
}

mod orbits {
    use super::*;

    #[test]
    fn of_moderate_eccentricity() -> Outcome {
        let system = alone(PlanarKepler { mu: 1.0 });
        Case::new("Kepler 0.6", &*system, perihelion(0.6), [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn of_large_eccentricity() -> Outcome {
        let system = alone(PlanarKepler { mu: 1.0 });
        Case::new("Kepler 0.9", &*system, perihelion(0.9), [20.0, 0.2], FAST).assert_no_worse()
    }

    #[test]
    fn of_moderate_eccentricity_with_their_axis() -> Outcome {
        let system = alone(PlanarKeplerWithAxis { mu: 1.0 });
        Case::new("Kepler 0.6, A", &*system, perihelion(0.6), [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn of_large_eccentricity_with_their_axis() -> Outcome {
        let system = alone(PlanarKeplerWithAxis { mu: 1.0 });
        Case::new("Kepler 0.9, A", &*system, perihelion(0.9), [20.0, 0.2], FAST).assert_no_worse()
    }

    #[test]
    fn of_henon_and_heiles() -> Outcome {
        let system = alone(HenonHeiles);
        Case::new("Henon-Heiles 1/12", &*system, HenonHeiles::start(1.0 / 12.0, 0.1, 0.1), [100.0, 1.0], LADDER)
            .assert_no_worse()
    }

    #[test]
    fn of_henon_and_heiles_with_more_energy() -> Outcome {
        let system = alone(HenonHeiles);
        Case::new("Henon-Heiles 1/8", &*system, HenonHeiles::start(1.0 / 8.0, 0.1, 0.0), [100.0, 1.0], LADDER)
            .assert_no_worse()
    }
}

mod pendulums {
    use super::*;

    const ANGLES: [f64; 2] = [1.2, -0.5];
    const AT_REST: [f64; 4] = [ANGLES[0], ANGLES[1], 0.0, 0.0];

    #[test]
    fn double_of_equal_masses() -> Outcome {
        let system = alone(DoublePendulum::default());
        Case::new("double pendulum 1:1", &*system, AT_REST, [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn double_with_a_light_end() -> Outcome {
        let system = alone(DoublePendulum { m2: 0.01, ..DoublePendulum::default() });
        Case::new("double pendulum 1:0.01", &*system, AT_REST, [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn double_of_equal_masses_on_constraints() -> Outcome {
        let model = CartesianDoublePendulum { m: [1.0, 1.0], l: [1.0, 1.0], g: 1.0 };
        let start = model.start(ANGLES);
        Case::new("Cartesian double pendulum 1:1", &*alone(model), start, [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn double_with_a_light_end_on_constraints() -> Outcome {
        let model = CartesianDoublePendulum { m: [1.0, 0.01], l: [1.0, 1.0], g: 1.0 };
        let start = model.start(ANGLES);
        Case::new("Cartesian double pendulum 1:0.01", &*alone(model), start, [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn driven_by_a_clock() -> Outcome {
        let system = alone(DrivenPendulum { a: 0.5, w: 1.5 });
        Case::new("driven pendulum", &*system, DrivenPendulum::start(), [20.0, 0.2], LADDER).assert_no_worse()
    }

    #[test]
    fn spherical() -> Outcome {
        let model = SphericalPendulum::default();
        let start = <[f64; 6]>::from(model.start());
        Case::new("spherical pendulum", &*alone(model), start, [50.0, 0.5], LADDER).assert_no_worse()
    }

    #[test]
    fn four_bar() -> Outcome {
        let model = FourBar::default();
        let start = <[f64; 8]>::from(model.start()?);
        Case::new("four-bar", &*alone(model), start, [10.0, 0.1], FAST).assert_no_worse()
    }
}

/// Shipped models by Euler and RK4: no integral drifts further, and the state by RK4 is as near to the truth. Code of models is not
/// optimised, so that runs are short.
mod shipped {
    use super::*;

    const STEPS: [f64; 3] = [2e-3, 1e-2, 5e-2];
    /// The ratio of errors of RK4 that is allowed where errors of two orders in h cancel in the plain run.
    const LOSING: [(&str, f64); 1] = [("planar-pendulum", 1.3)];

    #[test]
    fn are_followed_as_well() -> Result<(), Box<dyn std::error::Error>> {
        let names = ["spherical-pendulum", "spherical-pendulum-cpv22", "planar-pendulum", "four-bar", "kepler"];
        let others = ["perturbed-kepler", "free-rigid-body", "euler-top"];
        for (names, until) in [(&names[..], 20.0), (&others, 20.0), (&["chain-4"], 10.0), (&["chain-8"], 5.0)] {
            names.iter().try_for_each(|name| assert_no_worse(name, until))?;
        }
        Ok(())
    }

    fn assert_no_worse(name: &str, until: f64) -> Result<(), Box<dyn std::error::Error>> {
        let model = catalogue::load(name)?;
        let motion = Motion { system: &*model, start: model.start()?, until, interval: 1.0 };
        let (state, truth) = (Group::whole(&*model), motion.truth(1e-13, 1e-13)?);
        let allowed = LOSING.iter().find(|(loser, _)| *loser == name).map_or(ALLOWED, |(_, ratio)| *ratio);
        for method in STEPS.into_iter().flat_map(|h| [Method::Euler { h }, Method::Rk4 { h }]) {
            let [Ok(plain), default] = motion.runs(method) else { continue };
            let default = default?;
            let [drift, default_drift] = [&plain, &default].map(RecordedRun::largest_drift);
            let [error, default_error] = [&plain, &default].map(|run| state.distance(&run.states, &truth));
            let line = format!("error {error:.1e}, {default_error:.1e}; drift {drift:.1e}, {default_drift:.1e}");
            println!("{name} by {method:?}: {line}");
            assert!(default_drift <= drift.max(ROUNDING_OF_DRIFT), "{name} by {method:?}: {line}");
            let is_rk4 = matches!(method, Method::Rk4 { .. });
            assert!(!is_rk4 || default_error <= allowed * error, "{name} by {method:?}: {line}");
        }
        Ok(())
    }
}

/// DOP853 takes hardly more evaluations, and ends nearer to the truth by far.
mod error_control {
    use super::*;

    /// A plain run and a default run, and by how much they end off the truth.
    fn compare(
        system: &dyn AnyModel,
        start: impl Into<Vec<f64>>,
        tolerance: f64,
        until: f64,
    ) -> Result<[(RecordedRun, f64); 2], Error> {
        let motion = Motion { system, start: start.into(), until, interval: until };
        let (state, truth) = (Group::whole(system), motion.truth(1e-14, 1e-14)?);
        let [plain, default] = motion.runs(Method::Dop853 { rtol: tolerance, atol: Some(tolerance) });
        Ok([plain?, default?].map(|run| {
            let error = state.distance(&run.states, &truth);
            (run, error)
        }))
    }

    fn assert_steadier([(plain, _), (default, _)]: &[(RecordedRun, f64); 2]) {
        assert!(default.evaluations as f64 <= 1.1 * plain.evaluations as f64, "{plain:?}, {default:?}");
        assert!(5.0 * default.largest_drift() <= plain.largest_drift(), "{plain:?}, {default:?}");
    }

    #[test]
    fn at_a_tight_tolerance() -> Outcome {
        let (pendulum, four_bar) = (SphericalPendulum::default(), FourBar::default());
        let (start, other) = (<[f64; 6]>::from(pendulum.start()), <[f64; 8]>::from(four_bar.start()?));
        assert_steadier(&compare(&*alone(pendulum), start, 1e-12, 100.0)?);
        assert_steadier(&compare(&*alone(four_bar), other, 1e-12, 30.0)?);
        Ok(())
    }

    #[test]
    fn over_a_long_time() -> Outcome {
        let pendulum = SphericalPendulum::default();
        let start = <[f64; 6]>::from(pendulum.start());
        let runs = compare(&*alone(pendulum), start, 1e-6, 2000.0)?;
        assert_steadier(&runs);
        let [(_, plain), (_, default)] = runs;
        assert!(50.0 * default <= plain, "{plain:e}, {default:e}");
        Ok(())
    }
}

/// Along motions on which DF does not have full rank, relaxation gains neither fail nor make the field stiff.
mod relative_equilibria {
    use super::*;

    /// Maximum ratio of evaluations to the evaluations without feedback: 1.1 was measured on the cone and 1.5 on the circle, where
    /// a step size that underflows makes them thousands.
    const LIMIT: f64 = 2.0;

    fn assert_steady<S: GeneratedSystem>(model: &S, start: Vector<S>) -> Outcome {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let method = Method::Dop853 { rtol: tolerance, atol: Some(tolerance) };
            let plain = Simulation::new(model, start)?.without_feedback().run(method, 1000.0)?;
            let relaxed = Simulation::new(model, start)?.gains(Gains::relaxation(1.0)).run(method, 1000.0)?;
            assert_eq!(relaxed.time(), 1000.0);
            let (plain, relaxed) = (plain.evaluations(), relaxed.evaluations());
            assert!(relaxed as f64 <= LIMIT * plain as f64, "{}: {plain} and {relaxed}", S::FACTS.name);
        }
        Ok(())
    }

    #[test]
    fn conical_pendulum() -> Outcome {
        let (sin, cos) = 0.7_f64.sin_cos();
        // The centrifugal force balances gravity along the sphere.
        assert_steady(&SphericalPendulum::default(), [sin, 0.0, -cos, 0.0, sin / cos.sqrt(), 0.0])
    }

    #[test]
    fn circular_orbit() -> Outcome {
        assert_steady(&Kepler::default(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    }
}

mod fast_modes {
    use super::*;

    /// Plain steps damp the motion of the light cart, which the largest of them do not resolve.
    #[test]
    fn light_cart_on_a_heavy_one() -> Outcome {
        let system = alone(Carts { light: 1e-3, k: 100.0 });
        let ladder =
            Ladder { euler: [1e-6, 1e-5, 1e-4], second_order: [1e-3, 2e-3, 4e-3], rk4: [2e-3, 4e-3, 8e-3], ..LADDER };
        Case::new("light cart", &*system, [1.0, 1.001, 0.0, 0.0], [4.0, 0.08], ladder).assert_no_worse()
    }
}

mod molecules {
    use super::*;

    fn undeclared() -> Vec<Undeclared> {
        fn of(x: &[f64], quantity: fn(&[f64; 18]) -> Vector3<f64>) -> Vector3<f64> {
            quantity(&std::array::from_fn(|i| x[i]))
        }
        vec![
            Undeclared { name: "momentum, undeclared", of: |x| of(x, water::momentum) },
            Undeclared { name: "angular momentum, undeclared", of: |x| of(x, water::angular_momentum) },
        ]
    }

    #[test]
    fn flexible_water() -> Outcome {
        let system = alone(water::flexible());
        let ladder =
            Ladder { euler: [4e-6, 1e-5, 4e-5], second_order: [1e-4, 2e-4, 5e-4], rk4: [1e-3, 2e-3, 5e-3], ..LADDER };
        let case = Case::new("water", &*system, water::warm(), [4.0, 0.04], ladder);
        Case { undeclared: undeclared(), ..case }.assert_no_worse()
    }

    #[test]
    fn rigid_water() -> Outcome {
        let system = alone(water::rigid());
        let case = Case::new("rigid water", &*system, water::turning(), [20.0, 0.2], LADDER);
        Case { undeclared: undeclared(), ..case }.assert_no_worse()
    }

    #[test]
    fn chain_with_a_heavy_mass() -> Outcome {
        let system = alone(FermiPastaUlamTsingou::with_a_heavy_mass());
        let heavy = FermiPastaUlamTsingou::HEAVY;
        let light = |first: usize| (first..first + 32).filter(move |&entry| entry != first + heavy);
        let groups = vec![
            Group::new("q, light", light(0)),
            Group::new("q, heavy", [heavy]),
            Group::new("p, light", light(32)),
            Group::new("p, heavy", [32 + heavy]),
        ];
        let case = Case::new("FPUT", &*system, FermiPastaUlamTsingou::start(), [100.0, 1.0], LADDER);
        Case { groups, ..case }.assert_no_worse()
    }
}

mod units_do_not_matter {
    use super::*;
    use crate::units::*;

    /// An absolute tolerance has a unit, so there is next to none.
    const NONE: f64 = 1e-40;
    const METHODS: [Method; 6] = [
        Method::Euler { h: 1e-3 },
        Method::Midpoint { h: 1e-2 },
        Method::Heun { h: 1e-2 },
        Method::Rk4 { h: 1e-2 },
        Method::DormandPrince { rtol: 1e-7, atol: Some(NONE) },
        Method::Dop853 { rtol: 1e-7, atol: Some(NONE) },
    ];

    #[test]
    fn spherical_pendulum() -> Outcome {
        let units = Units { name: "spherical pendulum", powers: &[0, 0, 1, 0, 0, -1], until: 20.0, methods: &METHODS };
        let start = [0.48, 0.64, -0.6, 0.5, 0.25, 2.0 / 3.0];
        units.assert_do_not_matter(|unit| alone(SphericalPendulumInUnits { unit }), &start)
    }

    #[test]
    fn kepler() -> Outcome {
        let units = Units { name: "Kepler", powers: &[1, 1, -1, -1], until: 20.0, methods: &METHODS };
        units.assert_do_not_matter(|unit| alone(KeplerInUnits { unit }), &[0.4, 0.1, -0.3, 1.7])
    }

    #[test]
    fn henon_heiles() -> Outcome {
        let units = Units { name: "Henon-Heiles", powers: &[0, 1, 0, -1], until: 20.0, methods: &METHODS };
        units.assert_do_not_matter(|unit| alone(HenonHeilesInUnits { unit }), &[0.1, 0.2, 0.3, -0.1])
    }
}
