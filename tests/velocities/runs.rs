//! Nothing about Lagrangian systems is special: families, shapes, reactions of all kinds at once, feedback, projections, starts, lanes,
//! and derivations that are kept.

use fbint_runtime::{
    Conservation, ConsistentStart, Entries, Error, FeedbackSystem, Gains, GeneratedSystem, IntegralKind, Method,
    PreparedSystem, Scalar, Simulation, Vector, feedback_system,
};
use fbint_tests::functions::{Kind, Law};
use fbint_tests::oracle::Real;
use fbint_tests::{Random, relative_error};
use nalgebra::{Vector2, vector};
use simba::simd::WideF64x4;

use super::residuals::{Mechanics, obeys};
use super::systems::*;

/// Four masses on links of length `l`, in Cartesian velocities.
#[feedback_system(
    coordinates(q: [2, 4]),
    velocities(v: [2, 4]),
    lagrangian = (0..4).map(|i| m[i] * v.column(i).norm_squared() / 2 - m[i] * g * q[(1, i)]).sum(),
    constraint(
        anchor = q.column(0).norm_squared() - l.powi(2),
        link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
    ),
    output(pull[i in 1..4] = -2 * l * multiplier(link[i]), hold = -2 * l * multiplier(anchor)),
)]
pub struct Links {
    pub m: [f64; 4],
    pub g: f64,
    pub l: f64,
}

/// The same in momenta.
#[feedback_system(
    coordinates(q: [2, 4]),
    momenta(p: [2, 4]),
    hamiltonian = (0..4).map(|i| p.column(i).norm_squared() / (2 * m[i]) + m[i] * g * q[(1, i)]).sum(),
    constraint(
        anchor = q.column(0).norm_squared() - l.powi(2),
        link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
    ),
    output(pull[i in 1..4] = -2 * l * multiplier(link[i]), hold = -2 * l * multiplier(anchor)),
)]
pub struct CanonicalLinks {
    pub m: [f64; 4],
    pub g: f64,
    pub l: f64,
}

/// A sleigh that turns a wheel as it rides and another as it turns: a velocity is put to zero, one constraint of velocities and one of
/// coordinates have reactions.
#[feedback_system(
    coordinates(place: [2], theta, wheels: [2]),
    velocities(turn, ride: [2], swing: [2]),
    kinematics(
        place = matrix![theta.cos(), -theta.sin(); theta.sin(), theta.cos()] * ride,
        theta = turn,
        wheels = swing,
    ),
    lagrangian = m * ((ride[1] + a * turn).powi(2) + ride[0].powi(2)) / 2 + j[0] * turn.powi(2) / 2
        + j[1] * swing.norm_squared() / 2 - m * g * place[0] - wheels[1].cos(),
    velocity_constraint(blade = ride[1], rolling = swing[0] - ride[0] / radius),
    constraint(gear = wheels[1] - 2 * theta - theta.sin() / 2),
    output(forces = vector![multiplier(blade), multiplier(rolling), multiplier(gear)]),
)]
pub struct HeldSleigh {
    pub m: f64,
    pub j: Vector2<f64>,
    pub a: f64,
    pub g: f64,
    pub radius: f64,
}

/// The same with the velocity of the blade on its own.
#[feedback_system(
    coordinates(place: [2], theta, wheels: [2]),
    velocities(turn, ride, slip, swing: [2]),
    kinematics(
        place = matrix![theta.cos(), -theta.sin(); theta.sin(), theta.cos()] * vector![ride, slip],
        theta = turn,
        wheels = swing,
    ),
    lagrangian = m * ((slip + a * turn).powi(2) + ride.powi(2)) / 2 + j[0] * turn.powi(2) / 2
        + j[1] * swing.norm_squared() / 2 - m * g * place[0] - wheels[1].cos(),
    velocity_constraint(blade = slip, rolling = swing[0] - ride / radius),
    constraint(gear = wheels[1] - 2 * theta - theta.sin() / 2),
    output(forces = vector![multiplier(blade), multiplier(rolling), multiplier(gear)]),
)]
pub struct GearedSleigh {
    pub m: f64,
    pub j: Vector2<f64>,
    pub a: f64,
    pub g: f64,
    pub radius: f64,
}

/// Two families of velocity constraints, one of which holds vectors: four skates on a plane, in pairs.
#[feedback_system(
    coordinates(q: [2, 4]),
    velocities(v: [2, 4]),
    lagrangian = v.norm_squared() / 2 - q[(0, 0)] - q[(1, 2)],
    velocity_constraint(
        skate[i in 0..2] = v[(1, i)] - q[(0, i)] * v[(0, i)],
        pair[i in 2..3] = v.column(i) - v.column(i + 1),
    ),
    output(side[i in 0..2] = multiplier(skate[i]), towing = multiplier(pair[2])),
)]
pub struct Skates {}

macro_rules! geared {
    ($name:ident, |$q:ident, $u:ident| $rates:expr) => {
        impl Mechanics for $name {
            const COORDINATES: usize = 5;

            fn place(&self, q: &mut [f64]) {
                q[4] = 2.0 * q[2] + q[2].sin() / 2.0;
            }

            fn rates<D: Real>(&self, $q: &[D], $u: &[D]) -> Vec<D> {
                $rates
            }

            fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
                let (x, y) = (v[0] - q[2].sin() * v[2] * self.a, v[1] + q[2].cos() * v[2] * self.a);
                (x * x + y * y) * (0.5 * self.m)
                    + v[2] * v[2] * (0.5 * self.j[0])
                    + (v[3] * v[3] + v[4] * v[4]) * (0.5 * self.j[1])
                    - q[0] * (self.m * self.g)
                    - q[4].cos()
            }

            fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
                let (sin, cos) = (q[2].sin(), q[2].cos());
                vec![
                    cos * v[1] - sin * v[0],
                    v[3] - (cos * v[0] + sin * v[1]) / self.radius,
                    v[4] - v[2] * 2.0 - cos * v[2] * 0.5,
                ]
            }
        }
    };
}

geared!(GearedSleigh, |q, u| vec![q[2].cos() * u[1], q[2].sin() * u[1], u[0], u[2], u[3]]);
geared!(HeldSleigh, |q, u| {
    let (sin, cos) = (q[2].sin(), q[2].cos());
    vec![cos * u[1] - sin * u[2], sin * u[1] + cos * u[2], u[0], u[3], u[4]]
});

impl Mechanics for Links {
    const COORDINATES: usize = 8;
    const HAS_REACTIONS: bool = false;

    fn place(&self, q: &mut [f64]) {
        for i in 0..4 {
            let before = if i == 0 { [0.0, 0.0] } else { [q[2 * i - 2], q[2 * i - 1]] };
            let link = vector![q[2 * i] - before[0], q[2 * i + 1] - before[1]].normalize() * self.l;
            (q[2 * i], q[2 * i + 1]) = (before[0] + link.x, before[1] + link.y);
        }
    }

    fn rates<D: Real>(&self, _: &[D], u: &[D]) -> Vec<D> {
        u.to_vec()
    }

    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
        let of_mass = |i: usize| {
            let (x, y) = (v[2 * i], v[2 * i + 1]);
            (x * x + y * y) * (0.5 * self.m[i]) - q[2 * i + 1] * (self.m[i] * self.g)
        };
        (0..4).fold(D::zero(), |sum, i| sum + of_mass(i))
    }

    fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
        let link = |i: usize| {
            let along = |k: usize| {
                let (end, rate) = (q[2 * i + k], v[2 * i + k]);
                if i == 0 { end * rate } else { (end - q[2 * i - 2 + k]) * (rate - v[2 * i - 2 + k]) }
            };
            along(0) + along(1)
        };
        (0..4).map(link).collect()
    }
}

impl Mechanics for Skates {
    const COORDINATES: usize = 8;

    fn rates<D: Real>(&self, _: &[D], u: &[D]) -> Vec<D> {
        u.to_vec()
    }

    fn lagrangian<D: Real>(&self, q: &[D], v: &[D]) -> D {
        v.iter().fold(D::zero(), |sum, v| sum + *v * *v) * 0.5 - q[0] - q[5]
    }

    fn rows<D: Real>(&self, q: &[D], v: &[D]) -> Vec<D> {
        vec![v[1] - q[0] * v[0], v[3] - q[2] * v[2], v[4] - v[6], v[5] - v[7]]
    }
}

const LINKS: Links = Links { m: [1.0, 0.5, 2.0, 0.8], g: 1.1, l: 0.7 };

fn geared_sleigh() -> GearedSleigh {
    GearedSleigh { m: 1.3, j: vector![0.7, 0.4], a: 0.3, g: 0.9, radius: 0.6 }
}

#[test]
fn reactions_of_all_kinds_obey_d_alembert() {
    obeys(&geared_sleigh());
    let GearedSleigh { m, j, a, g, radius } = geared_sleigh();
    obeys(&HeldSleigh { m, j, a, g, radius });
    obeys(&LINKS);
    obeys(&Skates {});
}

#[test]
fn constraints_of_all_kinds_have_their_integrals() {
    let names: Vec<(&str, IntegralKind)> =
        GearedSleigh::FACTS.integrals.iter().map(|integral| (integral.name, integral.kind)).collect();
    assert_eq!(
        names,
        [
            ("gear", IntegralKind::HolonomicConstraint { rate: 1 }),
            ("gear_rate", IntegralKind::ConstraintRate { constraint: 0 }),
            ("rolling", IntegralKind::VelocityConstraint),
            ("energy", IntegralKind::Energy),
        ]
    );
    assert!(matches!(GearedSleigh::FACTS.integrals[3].conservation, Conservation::OnConstraints(_)));
    let names: Vec<&str> = Skates::FACTS.integrals.iter().map(|integral| integral.name).collect();
    assert_eq!(names, ["skate[0]", "skate[1]", "pair[2][0]", "pair[2][1]", "energy"]);
}

/// Off the constraint set, too.
#[test]
fn links_are_links_everywhere() {
    let canonical = CanonicalLinks { m: LINKS.m, g: LINKS.g, l: LINKS.l }.prepare();
    let system = LINKS.prepare();
    let mut random = Random::new(8);
    for _ in 0..1_000 {
        let mut q = [0.0; 8];
        let mut at: [f64; 2] = [0.0; 2];
        for i in 0..4 {
            let angle = random.between(0.0, 6.0);
            let length = random.between(0.5, 0.9);
            at = [at[0] + length * angle.cos(), at[1] + length * angle.sin()];
            (q[2 * i], q[2 * i + 1]) = (at[0], at[1]);
        }
        let v: [f64; 8] = std::array::from_fn(|_| random.between(-1.5, 1.5));
        let mass = |i: usize| LINKS.m[i / 2];
        let x: [f64; 16] = std::array::from_fn(|i| if i < 8 { q[i] } else { v[i - 8] });
        let y: [f64; 16] = std::array::from_fn(|i| if i < 8 { q[i] } else { mass(i - 8) * v[i - 8] });
        let rates = system.vector_field(&x);
        let expected = canonical.vector_field(&y);
        let rates: Vec<f64> = (0..16).map(|i| if i < 8 { rates[i] } else { mass(i - 8) * rates[i] }).collect();
        let error = relative_error(&rates, &expected);
        assert!(error < 1e-11, "off by {error:e} at {x:?}");
        let error = relative_error(&system.outputs(&x), &canonical.outputs(&y));
        assert!(error < 1e-10, "the pulls are off by {error:e} at {x:?}");
    }
}

/// A start near a guess.
fn start<S: GeneratedSystem>(system: &S, guess: &[f64]) -> Vector<S> {
    let guess: Vector<S> = Entries::from_fn(|i| guess[i]);
    ConsistentStart::new(system).solve(guess).unwrap_or_else(|error| panic!("{}: {error}", S::FACTS.name)).into()
}

/// The default projection holds all integrals, and feedback those that a coarse step would lose.
fn integrals_are_held<S: GeneratedSystem>(system: &S, guess: &[f64]) {
    let start = start(system, guess);
    let method = Method::Rk4 { h: 1e-2 };
    let run = Simulation::new(system, start).unwrap().run(method, 20.0).unwrap();
    for integral in run.drift().integrals() {
        assert!(integral.max < 1e-12, "{}: {integral:?}", S::FACTS.name);
    }
    let euler = Method::Euler { h: 1e-3 };
    let plain = Simulation::new(system, start).unwrap().without_feedback().run(euler, 5.0).unwrap();
    let held = Simulation::new(system, start).unwrap().gains(Gains::uniform(20.0)).run(euler, 5.0).unwrap();
    let worst = |run: &fbint_runtime::Run<S>| run.drift().integrals().fold(0.0, |worst: f64, it| worst.max(it.max));
    assert!(worst(&held) < 0.2 * worst(&plain), "{}: {:e}, {:e}", S::FACTS.name, worst(&held), worst(&plain));
}

#[test]
fn projections_and_feedback_hold_integrals() {
    let (m, j, a) = (2.0, 0.7, 0.3);
    integrals_are_held(&HamelPendulum { m: 1.0, g: 1.0, l: 1.0 }, &[1.0, 0.1, 0.2]);
    integrals_are_held(&ConstrainedPendulum { m: 1.0, g: 1.0, l: 1.0 }, &[1.0, 0.1, 0.2, 0.3]);
    integrals_are_held(&DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 }, &[0.1, -1.0, 0.0, 1.0, 1.0]);
    integrals_are_held(&ChaplyginSleigh { m, j, a }, &[0.0, 0.0, 0.0, 1.0, -1.0]);
    integrals_are_held(&SleighByRates { m, j, a }, &[0.0, 0.0, 0.2, -1.0, 0.1, 1.0]);
    integrals_are_held(&SleighByMomenta { m, j, a }, &[0.0, 0.0, 0.2, -2.0, 0.1, 0.7]);
    integrals_are_held(&DiskByRates { m, i: 0.25, j: 0.125, radius: 0.5 }, &[0.0, 0.0, 0.0, 0.1, 1.0, 0.1, 2.0, 0.5]);
    integrals_are_held(&CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 }, &[0.1, 2.0, 0.3, 0.0]);
    integrals_are_held(&geared_sleigh(), &[0.1, 0.2, 0.3, 0.4, 0.9, 0.5, 1.0, 1.6, 1.2]);
}

#[test]
fn a_body_is_held() {
    let mut guess = [0.05; 12];
    [0, 4, 8].into_iter().for_each(|i| guess[i] = 1.0);
    [9, 10, 11].into_iter().for_each(|i| guess[i] = 1.0);
    integrals_are_held(&RotatingBody { inertia: vector![3.0, 2.0, 1.5] }, &guess);
}

#[test]
fn a_start_off_the_constraints_is_refused_by_name() {
    let refused = |result: Result<(), Error>| match result {
        Err(Error::OffConstraint { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let (m, j, a) = (2.0, 0.7, 0.3);
    let sleigh = SleighByRates { m, j, a };
    let slipping = SleighByRatesState { x: 0.0, y: 0.0, theta: 0.0, vx: 1.0, vy: 0.5, omega: 1.0 };
    assert_eq!(refused(Simulation::new(&sleigh, slipping).map(drop)), "blade");
    let start = ConsistentStart::new(&sleigh).hold(&["x", "y", "theta", "vx"]).unwrap().solve(slipping).unwrap();
    assert!((start.vx, start.theta) == (1.0, 0.0) && start.vy.abs() < 1e-15, "{start:?}");
    assert!(Simulation::new(&sleigh, start).is_ok());

    let momenta = SleighByMomentaState { x: 0.0, y: 0.0, theta: 0.0, px: 1.0, py: 0.5, pt: 0.0 };
    assert_eq!(refused(Simulation::new(&SleighByMomenta { m, j, a }, momenta).map(drop)), "blade");
    let pendulum = HamelPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let long = HamelPendulumState { x: 1.5, y: 0.0, turn: 0.0 };
    assert_eq!(refused(Simulation::new(&pendulum, long).map(drop)), "length");
    let pendulum = ConstrainedPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let stretching = ConstrainedPendulumState { x: 1.0, y: 0.0, vx: 1.0, vy: 0.0 };
    assert_eq!(refused(Simulation::new(&pendulum, stretching).map(drop)), "length_rate");
}

/// Two blades that are parallel at theta = 0.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    lagrangian = (vx.powi(2) + vy.powi(2) + omega.powi(2)) / 2,
    velocity_constraint(blade = -theta.sin() * vx + theta.cos() * vy, rail = 2 * vy),
)]
pub struct TwoBlades {}

/// The same in momenta.
#[feedback_system(
    coordinates(x, y, theta),
    momenta(px, py, pt),
    hamiltonian = (px.powi(2) + py.powi(2) + pt.powi(2)) / 2,
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y), rail = rate(y)),
)]
pub struct TwoBladesByMomenta {}

/// A constraint whose row vanishes at the origin.
#[feedback_system(
    coordinates(q: [2]),
    velocities(v: [2]),
    lagrangian = v.norm_squared() / 2,
    velocity_constraint(round = q.dot(&v)),
)]
pub struct Round {}

/// Two rods that are parallel where the joint is stretched.
#[feedback_system(
    coordinates(q: [2, 2]),
    velocities(v: [2, 2]),
    lagrangian = v.norm_squared() / 2,
    constraint(
        ground = q.column(0).norm_squared() - 1,
        link = (q.column(1) - q.column(0)).norm_squared() - 1,
        rail = q[(1, 1)],
        end = q[(0, 1)] - x,
    ),
)]
pub struct StretchedLinkage {
    pub x: f64,
}

/// Where rows of velocities are dependent, reactions are not determined.
#[test]
fn a_start_at_which_reactions_are_undetermined_is_refused() {
    let dependent = |result: Result<(), Error>| match result {
        Err(Error::DependentConstraints { dependence }) => dependence.constraints().to_vec(),
        other => panic!("{other:?}"),
    };
    let parallel = TwoBladesState { x: 0.0, y: 0.0, theta: 0.0, vx: 1.0, vy: 0.0, omega: 0.5 };
    assert_eq!(dependent(Simulation::new(&TwoBlades {}, parallel).map(drop)), ["blade", "rail"]);
    let parallel = TwoBladesByMomentaState { x: 0.0, y: 0.0, theta: 0.0, px: 1.0, py: 0.0, pt: 0.5 };
    assert_eq!(dependent(Simulation::new(&TwoBladesByMomenta {}, parallel).map(drop)), ["blade", "rail"]);
    let apart = TwoBladesState { x: 0.0, y: 0.0, theta: 0.5, vx: 0.0, vy: 0.0, omega: 0.5 };
    assert!(Simulation::new(&TwoBlades {}, apart).is_ok());
    let origin = RoundState { q: vector![0.0, 0.0], v: vector![1.0, 0.0] };
    assert_eq!(dependent(Simulation::new(&Round {}, origin).map(drop)), ["round"]);
    let beside = RoundState { q: vector![1.0, 0.0], v: vector![0.0, 1.0] };
    assert!(Simulation::new(&Round {}, beside).is_ok());

    let stretched = |x: f64| {
        let q = nalgebra::Matrix2::from_columns(&[vector![x / 2.0, (1.0 - x * x / 4.0).sqrt()], vector![x, 0.0]]);
        StretchedLinkageState { q, v: nalgebra::Matrix2::zeros() }
    };
    let names = dependent(Simulation::new(&StretchedLinkage { x: 2.0 }, stretched(2.0)).map(drop));
    assert!(names.contains(&"ground") && names.contains(&"link"), "{names:?}");
    assert!(Simulation::new(&StretchedLinkage { x: 1.0 }, stretched(1.0)).is_ok());
}

/// What every function gives in one state.
fn everything<S: GeneratedSystem, T: Scalar>(system: &S, x: &Vector<S, T>, law: &Law<S>) -> Vec<T> {
    let prepared = system.prepare();
    let system = S::gather::<T>(&|_| &prepared);
    let jacobian = system.integrals_jacobian(x);
    let rows = jacobian.as_ref().iter().flat_map(|row| row.as_ref()).copied();
    let parts = [system.vector_field(x), system.feedback_field(x, law), system.potential_gradient(x, law)];
    let vectors = parts.iter().flat_map(|part| part.as_ref()).copied();
    let (integrals, multipliers, outputs) = (system.integrals(x), system.multipliers(x), system.outputs(x));
    let scalars = integrals.as_ref().iter().chain(multipliers.as_ref()).chain(outputs.as_ref()).copied();
    rows.chain(vectors).chain(scalars).collect()
}

/// Lanes are doubles, bit for bit where no elementary function takes part.
fn lanes_agree<S: GeneratedSystem>(system: &S) {
    let is_exact = S::FACTS.feedback_field_operations.functions == 0;
    let mut random = Random::new(9);
    for _ in 0..25 {
        let law = Law::random(&mut random, Kind::Diagonal);
        let points: [Vector<S>; 4] = std::array::from_fn(|_| Entries::from_fn(|_| random.between(0.3, 1.5)));
        let lanes = Vector::<S, WideF64x4>::from_fn(|i| WideF64x4::from(points.map(|point| point[i])));
        let lanes = everything(system, &lanes, &law);
        for (lane, point) in points.iter().enumerate() {
            let one: Vec<f64> = lanes.iter().map(|entry| <[f64; 4]>::from(entry.0)[lane]).collect();
            let double = everything(system, point, &law);
            if is_exact {
                assert!(one.iter().zip(&double).all(|(a, b)| a.to_bits() == b.to_bits()), "{}: {one:?}", S::FACTS.name);
            } else {
                let error = relative_error(&one, &double);
                assert!(error < 1e-11, "{}: off by {error:e}", S::FACTS.name);
            }
        }
        let single = Vector::<S, f32>::from_fn(|i| points[0][i] as f32);
        let single: Vec<f64> = everything(system, &single, &law).into_iter().map(f64::from).collect();
        let error = relative_error(&single, &everything(system, &points[0], &law));
        assert!(error < 1e-2, "{}: single precision is off by {error:e}", S::FACTS.name);
    }
}

#[test]
fn lanes_are_doubles() {
    lanes_agree(&HamelPendulum { m: 1.3, g: 0.9, l: 0.8 });
    lanes_agree(&ConstrainedPendulum { m: 1.3, g: 0.9, l: 0.8 });
    lanes_agree(&DegeneratePendulum { m: 1.3, g: 0.9, r: 0.8 });
    lanes_agree(&RotatingBody { inertia: vector![3.0, 2.0, 1.5] });
    lanes_agree(&Skates {});
    lanes_agree(&SleighByRates { m: 2.0, j: 0.7, a: 0.3 });
    lanes_agree(&SleighByMomenta { m: 2.0, j: 0.7, a: 0.3 });
    lanes_agree(&geared_sleigh());
}
