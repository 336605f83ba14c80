//! A run that projects its state is nowhere worse than the plain run: not in one body of many, whose mass is
//! small or large, not in a variable that has nothing to do with an error, and not in other units.
//!
//! `--nocapture` prints the figures.
#![allow(missing_docs)]
#![allow(clippy::possible_missing_comma, reason = "generated code has sums in arrays")]

mod comparison;
mod systems;

use std::f64::consts::TAU;

use comparison::{Case, Group, Ladder, Undeclared, Units};
use fbint_runtime::{Error, FeedbackSystem, Method};
use fbint_tests::systems::{DoublePendulum, FourBar, SphericalPendulum};
use nalgebra::DVector;
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

/// A case with every variable, or every body, by itself.
fn case<S: FeedbackSystem>(name: &'static str, _: &S, [until, interval]: [f64; 2], ladder: Ladder) -> Case {
    Case { name, until, interval, groups: Group::of_system::<S>(), ladder, undeclared: Vec::new() }
}

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
        use systems::outer_solar_system::*;
        let model = OuterSolarSystem { g: G, m: MASSES };
        case("outer solar system", &model, DAYS, OUTER).assert_no_worse(&model, start())
    }

    #[test]
    fn outer_solar_system_with_invariants() -> Outcome {
        use systems::outer_solar_system::*;
        let model = OuterSolarSystemWithInvariants { g: G, m: MASSES };
        case("outer solar system, P, L", &model, DAYS, OUTER).assert_no_worse(&model, start())
    }

    #[test]
    fn figure_of_eight() -> Outcome {
        let model = ThreeBodies { g: 1.0, m: [1.0; 3] };
        case("figure of eight", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, figure_eight())
    }

    #[test]
    fn figure_of_eight_with_invariants() -> Outcome {
        let model = ThreeBodiesWithInvariants { g: 1.0, m: [1.0; 3] };
        case("figure of eight, P, L", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, figure_eight())
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
        let mut case = case("sun, earth, moon", &model, [1000.0, 10.0], ladder);
        // The moon and the earth follow one another closely: what counts is how they go round one another.
        let [_, earth, moon] = model.m;
        let distance = SunEarthMoon::LUNAR_DISTANCE;
        let momentum = moon * distance * TAU / 27.3;
        let recoil = distance * moon / earth;
        let sizes = [("q1", recoil), ("p1", momentum), ("q2", distance), ("p2", momentum)];
        let sized = case.groups.into_iter().map(|group| match sizes.iter().find(|(name, _)| group.is_named(name)) {
            Some((_, size)) => group.of_size(*size),
            None => group,
        });
        case.groups = sized.collect();
        case.assert_no_worse(&model, model.start())
    }
}

mod orbits {
    use super::*;

    #[test]
    fn of_moderate_eccentricity() -> Outcome {
        let model = PlanarKepler { mu: 1.0 };
        case("Kepler 0.6", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, perihelion(0.6))
    }

    #[test]
    fn of_large_eccentricity() -> Outcome {
        let model = PlanarKepler { mu: 1.0 };
        case("Kepler 0.9", &model, [20.0, 0.2], FAST).assert_no_worse(&model, perihelion(0.9))
    }

    #[test]
    fn of_moderate_eccentricity_with_their_axis() -> Outcome {
        let model = PlanarKeplerWithAxis { mu: 1.0 };
        case("Kepler 0.6, A", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, perihelion(0.6))
    }

    #[test]
    fn of_large_eccentricity_with_their_axis() -> Outcome {
        let model = PlanarKeplerWithAxis { mu: 1.0 };
        case("Kepler 0.9, A", &model, [20.0, 0.2], FAST).assert_no_worse(&model, perihelion(0.9))
    }

    #[test]
    fn of_henon_and_heiles() -> Outcome {
        let model = HenonHeiles {};
        case("Henon-Heiles 1/12", &model, [100.0, 1.0], LADDER)
            .assert_no_worse(&model, HenonHeiles::start(1.0 / 12.0, 0.1, 0.1))
    }

    #[test]
    fn of_henon_and_heiles_with_more_energy() -> Outcome {
        let model = HenonHeiles {};
        case("Henon-Heiles 1/8", &model, [100.0, 1.0], LADDER)
            .assert_no_worse(&model, HenonHeiles::start(1.0 / 8.0, 0.1, 0.0))
    }
}

mod pendulums {
    use super::*;

    const ANGLES: [f64; 2] = [1.2, -0.5];

    #[test]
    fn double_of_equal_masses() -> Outcome {
        let model = DoublePendulum::default();
        case("double pendulum 1:1", &model, [20.0, 0.2], LADDER)
            .assert_no_worse(&model, [ANGLES[0], ANGLES[1], 0.0, 0.0])
    }

    #[test]
    fn double_with_a_light_end() -> Outcome {
        let model = DoublePendulum { m2: 0.01, ..DoublePendulum::default() };
        case("double pendulum 1:0.01", &model, [20.0, 0.2], LADDER)
            .assert_no_worse(&model, [ANGLES[0], ANGLES[1], 0.0, 0.0])
    }

    #[test]
    fn double_of_equal_masses_on_constraints() -> Outcome {
        let model = CartesianDoublePendulum { m: [1.0, 1.0], l: [1.0, 1.0], g: 1.0 };
        case("Cartesian double pendulum 1:1", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, model.start(ANGLES))
    }

    #[test]
    fn double_with_a_light_end_on_constraints() -> Outcome {
        let model = CartesianDoublePendulum { m: [1.0, 0.01], l: [1.0, 1.0], g: 1.0 };
        case("Cartesian double pendulum 1:0.01", &model, [20.0, 0.2], LADDER)
            .assert_no_worse(&model, model.start(ANGLES))
    }

    #[test]
    fn driven_by_a_clock() -> Outcome {
        let model = DrivenPendulum { a: 0.5, w: 1.5 };
        case("driven pendulum", &model, [20.0, 0.2], LADDER).assert_no_worse(&model, DrivenPendulum::start())
    }

    #[test]
    fn spherical() -> Outcome {
        let model = SphericalPendulum::default();
        case("spherical pendulum", &model, [50.0, 0.5], LADDER).assert_no_worse(&model, model.start().into())
    }

    #[test]
    fn four_bar() -> Outcome {
        let model = FourBar::default();
        case("four-bar", &model, [10.0, 0.1], FAST).assert_no_worse(&model, model.start()?.into())
    }
}

mod molecules {
    use super::*;

    fn undeclared() -> Vec<Undeclared> {
        fn fixed(x: &DVector<f64>) -> [f64; 18] {
            std::array::from_fn(|i| x[i])
        }
        fn momentum(x: &DVector<f64>) -> DVector<f64> {
            DVector::from_column_slice(water::momentum(&fixed(x)).as_slice())
        }
        fn angular_momentum(x: &DVector<f64>) -> DVector<f64> {
            DVector::from_column_slice(water::angular_momentum(&fixed(x)).as_slice())
        }
        vec![
            Undeclared { name: "momentum, undeclared", of: momentum },
            Undeclared { name: "angular momentum, undeclared", of: angular_momentum },
        ]
    }

    #[test]
    fn flexible_water() -> Outcome {
        let model = water::flexible();
        let ladder =
            Ladder { euler: [4e-6, 1e-5, 4e-5], second_order: [1e-4, 2e-4, 5e-4], rk4: [1e-3, 2e-3, 5e-3], ..LADDER };
        let case = case("water", &model, [4.0, 0.04], ladder);
        Case { undeclared: undeclared(), ..case }.assert_no_worse(&model, water::warm())
    }

    #[test]
    fn rigid_water() -> Outcome {
        let model = water::rigid();
        let case = case("rigid water", &model, [20.0, 0.2], LADDER);
        Case { undeclared: undeclared(), ..case }.assert_no_worse(&model, water::turning())
    }

    #[test]
    fn chain_with_a_heavy_mass() -> Outcome {
        let model = FermiPastaUlamTsingou::with_a_heavy_mass();
        let heavy = FermiPastaUlamTsingou::HEAVY;
        let light = |first: usize| (first..first + 32).filter(|&entry| entry != first + heavy).collect();
        let groups = vec![
            Group::new("q, light", light(0)),
            Group::new("q, heavy", vec![heavy]),
            Group::new("p, light", light(32)),
            Group::new("p, heavy", vec![32 + heavy]),
        ];
        let case = case("FPUT", &model, [100.0, 1.0], LADDER);
        Case { groups, ..case }.assert_no_worse(&model, FermiPastaUlamTsingou::start())
    }
}

mod units_do_not_matter {
    use super::*;
    use crate::units::*;

    /// An absolute tolerance has a unit, so there is next to none.
    const NONE: f64 = 1e-40;

    fn methods() -> Vec<Method> {
        vec![
            Method::Euler { h: 1e-3 },
            Method::Midpoint { h: 1e-2 },
            Method::Heun { h: 1e-2 },
            Method::Rk4 { h: 1e-2 },
            Method::DormandPrince { rtol: 1e-7, atol: NONE },
            Method::Dop853 { rtol: 1e-7, atol: NONE },
        ]
    }

    #[test]
    fn spherical_pendulum() -> Outcome {
        let units = Units { name: "spherical pendulum", powers: [0, 0, 1, 0, 0, -1], until: 20.0, methods: methods() };
        let start = [0.48, 0.64, -0.6, 0.5, 0.25, 2.0 / 3.0];
        units.assert_do_not_matter(|unit| SphericalPendulumInUnits { unit }, start)
    }

    #[test]
    fn kepler() -> Outcome {
        let units = Units { name: "Kepler", powers: [1, 1, -1, -1], until: 20.0, methods: methods() };
        units.assert_do_not_matter(|unit| KeplerInUnits { unit }, [0.4, 0.1, -0.3, 1.7])
    }

    #[test]
    fn henon_heiles() -> Outcome {
        let units = Units { name: "Henon-Heiles", powers: [0, 1, 0, -1], until: 20.0, methods: methods() };
        units.assert_do_not_matter(|unit| HenonHeilesInUnits { unit }, [0.1, 0.2, 0.3, -0.1])
    }
}
