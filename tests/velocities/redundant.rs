//! Constraints that others imply: marked as redundant, they change no motion.

use fbint_runtime::{
    Error, FeedbackSystem, GeneratedSystem, Integral, IntegralKind, Method, Run, Simulation, Vector, feedback_system,
};
use nalgebra::{Matrix3, Vector3, vector};

/// A coupler on three parallel cranks, of which the third one adds a constraint that the others imply.
#[feedback_system(
    coordinates(a, b, c, x, y, phi),
    velocities(va, vb, vc, vx, vy, w),
    define(
        kinetic = j * (va.powi(2) + vb.powi(2) + vc.powi(2)) / 2 + m * (vx.powi(2) + vy.powi(2)) / 2 + m * w.powi(2) / 24
    ),
    lagrangian = kinetic - m * g * y,
    constraint(
        ax = x - phi.cos() - l * a.cos(), ay = y - phi.sin() - l * a.sin(),
        bx = x - 1 - l * b.cos(), by = y - l * b.sin(),
        ex = x + phi.cos() - 2 - l * c.cos(), redundant ey = y + phi.sin() - l * c.sin(),
    ),
)]
pub struct Marked {
    m: f64,
    g: f64,
    l: f64,
    j: f64,
}

/// The same without it.
#[feedback_system(
    coordinates(a, b, c, x, y, phi),
    velocities(va, vb, vc, vx, vy, w),
    define(
        kinetic = j * (va.powi(2) + vb.powi(2) + vc.powi(2)) / 2 + m * (vx.powi(2) + vy.powi(2)) / 2 + m * w.powi(2) / 24
    ),
    lagrangian = kinetic - m * g * y,
    constraint(
        ax = x - phi.cos() - l * a.cos(), ay = y - phi.sin() - l * a.sin(),
        bx = x - 1 - l * b.cos(), by = y - l * b.sin(),
        ex = x + phi.cos() - 2 - l * c.cos(),
    ),
)]
pub struct Dropped {
    m: f64,
    g: f64,
    l: f64,
    j: f64,
}

/// The same with the constraint as any other.
#[feedback_system(
    coordinates(a, b, c, x, y, phi),
    velocities(va, vb, vc, vx, vy, w),
    define(
        kinetic = j * (va.powi(2) + vb.powi(2) + vc.powi(2)) / 2 + m * (vx.powi(2) + vy.powi(2)) / 2 + m * w.powi(2) / 24
    ),
    lagrangian = kinetic - m * g * y,
    constraint(
        ax = x - phi.cos() - l * a.cos(), ay = y - phi.sin() - l * a.sin(),
        bx = x - 1 - l * b.cos(), by = y - l * b.sin(),
        ex = x + phi.cos() - 2 - l * c.cos(), ey = y + phi.sin() - l * c.sin(),
    ),
)]
pub struct Unmarked {
    m: f64,
    g: f64,
    l: f64,
    j: f64,
}

const METHOD: Method = Method::Rk4 { h: 1e-3 };

/// All cranks at this angle, at rest.
fn parallel(angle: f64) -> [f64; 12] {
    let (x, y) = (1.0 + 0.5 * angle.cos(), 0.5 * angle.sin());
    [angle, angle, angle, x, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
}

fn run<S: FeedbackSystem>(system: &S, start: impl Into<Vector<S>>, until: f64) -> Run<S> {
    Simulation::new(system, start).and_then(|simulation| simulation.run(METHOD, until)).expect("a run")
}

#[test]
fn a_third_crank_changes_no_motion() {
    let (m, g, l, j) = (1.0, 9.81, 0.5, 0.1);
    let marked = run(&Marked { m, g, l, j }, parallel(1.0), 1.0);
    let dropped = run(&Dropped { m, g, l, j }, parallel(1.0), 1.0);
    let (ours, theirs): ([f64; 12], [f64; 12]) = (marked.state().into(), dropped.state().into());
    for (own, other) in ours.iter().zip(theirs) {
        assert!((own - other).abs() < 1e-10, "{ours:?}, {theirs:?}");
    }
    // (3 j / l^2 + m) l^2 a'' = -m g l cos(a): the energy of one crank that carries everything.
    let (angle, rate) = (ours[0], ours[6]);
    let energy = (3.0 * j + m * l * l) * rate * rate / 2.0 + m * g * l * angle.sin();
    assert!((energy - m * g * l * 1_f64.sin()).abs() < 1e-10, "{energy}");
    let drift = marked.drift();
    assert!(drift.get("ey").is_some_and(|ey| ey.max < 1e-12), "{drift}");
    let [undetermined] = drift.undetermined_reactions() else { panic!("{drift}") };
    assert_eq!(undetermined.constraints().first(), Some(&"ey"), "{undetermined:?}");
    assert!(drift.to_string().contains("which imply `ey`; they do without its reaction"), "{drift}");
}

#[test]
fn what_is_implied_and_not_marked_is_refused_with_the_remedy() {
    let refused = Simulation::new(&Unmarked { m: 1.0, g: 9.81, l: 0.5, j: 0.1 }, parallel(1.0)).map(|_| ());
    let error = refused.unwrap_err();
    assert!(matches!(error, Error::DependentConstraints { .. }), "{error}");
    assert!(error.to_string().ends_with("or mark it, as in `constraint(redundant name = ..)`"), "{error}");
}

/// A crank that is not parallel to the others: the coupler would need its reaction.
#[test]
fn what_is_marked_and_not_implied_is_refused() {
    let (a, c) = (1.0_f64, 1.3_f64);
    // The coupler turns: its start satisfies all six constraints where they are independent.
    let guess = [a, 1.1, c, 1.0 + 0.5 * a.cos(), 0.5 * a.sin(), 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let system = Marked { m: 1.0, g: 9.81, l: 0.5, j: 0.1 };
    let off = Simulation::new(&system, guess).map(|_| ()).unwrap_err();
    assert!(matches!(off, Error::OffConstraint { .. }), "{off}");
    let free = Pair { m: 1.0 };
    let error =
        Simulation::new(&free, PairState { q: vector![1.0, 0.0], p: vector![0.0, 1.0] }).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::NotRedundant { name: "second", .. }), "{error}");
}

/// A point mass on a circle, and another circle that touches nothing of that.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m),
    constraint(first = q.norm_squared() - 1, redundant second = (q[0] - 1) + q[1]),
)]
pub struct Pair {
    m: f64,
}

/// A door on two hinges along y, by the position and the rotation matrix of its body: the second hinge cannot move along the axis that
/// the first one and the length of the door determine.
#[feedback_system(
    coordinates(x: [3], r: [3, 3]),
    velocities(v: [3], o: [3]),
    kinematics(x = v, r = r * hat(o)),
    lagrangian = m * v.norm_squared() / 2 + o.dot(&inertia.component_mul(&o)) / 2 - m * g * x[2],
    constraint(
        turn = r.transpose() * r - identity(3),
        near = x + r * vector![0, -b, d] - vector![0, -b, 0],
        far_x = (x + r * vector![0, b, d])[0],
        far_z = (x + r * vector![0, b, d])[2],
        redundant far_y = (x + r * vector![0, b, d])[1] - b,
    ),
)]
pub struct Door {
    m: f64,
    g: f64,
    b: f64,
    d: f64,
    inertia: Vector3<f64>,
}

#[test]
fn a_door_on_two_hinges_is_a_pendulum() {
    let door = Door { m: 2.0, g: 9.81, b: 0.4, d: 0.3, inertia: vector![0.5, 0.2, 0.4] };
    let angle = 1.0_f64;
    let (sine, cosine) = angle.sin_cos();
    let r = Matrix3::new(cosine, 0.0, sine, 0.0, 1.0, 0.0, -sine, 0.0, cosine);
    let start = DoorState { x: -r * vector![0.0, 0.0, 0.3], r, v: Vector3::zeros(), o: Vector3::zeros() };
    let run = run(&door, start, 2.0);
    assert!(run.drift().integrals().all(|integral| integral.max < 1e-11), "{}", run.drift());
    // (I + m d^2) angle'' = -m g d sin(angle)
    let mut state = [angle, 0.0];
    let rate = |[angle, rate]: [f64; 2]| [rate, -2.0 * 9.81 * 0.3 / (0.2 + 2.0 * 0.09) * f64::sin(angle)];
    let along = |x: [f64; 2], h: f64, k: [f64; 2]| [x[0] + h * k[0], x[1] + h * k[1]];
    let h = 1e-3;
    for _ in 0..2000 {
        let k1 = rate(state);
        let k2 = rate(along(state, h / 2.0, k1));
        let k3 = rate(along(state, h / 2.0, k2));
        let k4 = rate(along(state, h, k3));
        state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    let end = run.state();
    assert!((end.r[(0, 2)] - state[0].sin()).abs() < 1e-9 && (end.o[1] - state[1]).abs() < 1e-9, "{end:?}, {state:?}");
    let [undetermined] = run.drift().undetermined_reactions() else { panic!("{}", run.drift()) };
    assert!(!undetermined.constraints().iter().any(|name| name.starts_with("turn")), "{undetermined:?}");
    let is_redundant = |integral: &&Integral| integral.kind == IntegralKind::RedundantConstraint;
    assert_eq!(Door::FACTS.integrals.iter().filter(is_redundant).count(), 1);
}

/// A planar four-bar whose points are typed in space, each held in the plane: that the coupler is in it follows.
#[feedback_system(
    coordinates(a: [3], b: [3]),
    momenta(p: [3], s: [3]),
    hamiltonian = (p.norm_squared() + s.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - 1,
        rocker = (b - vector![2, 0, 0]).norm_squared() - 4,
        coupler = (b - a).norm_squared() - 4,
        crank_plane = a[2],
        rocker_plane = b[2],
        redundant coupler_plane = b[2] - a[2],
    ),
)]
pub struct FlatBars {
    m: f64,
    g: f64,
}

/// The same in the plane.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(p: [2], s: [2]),
    hamiltonian = (p.norm_squared() + s.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - 1,
        rocker = (b - vector![2, 0]).norm_squared() - 4,
        coupler = (b - a).norm_squared() - 4,
    ),
)]
pub struct PlanarBars {
    m: f64,
    g: f64,
}

#[test]
fn a_planar_loop_in_space_moves_as_in_its_plane() {
    // a = (0, 1): b is at the distance 2 of both, above.
    let half = (vector![2.0_f64, 0.0] + vector![0.0, 1.0]) / 2.0;
    let across = vector![1.0, 2.0] / 5_f64.sqrt();
    let b = half + across * (4.0 - 5.0 / 4.0_f64).sqrt();
    let (a, zero) = (vector![0.0, 1.0], vector![0.0, 0.0]);
    let planar = run(&PlanarBars { m: 1.0, g: 1.0 }, PlanarBarsState { a, b, p: zero, s: zero }, 3.0);
    let in_space = |v: nalgebra::Vector2<f64>| vector![v.x, v.y, 0.0];
    let (start, rest) = ([in_space(a), in_space(b)], Vector3::zeros());
    let spatial = FlatBarsState { a: start[0], b: start[1], p: rest, s: rest };
    let spatial = run(&FlatBars { m: 1.0, g: 1.0 }, spatial, 3.0);
    let (flat, end) = (planar.state(), spatial.state());
    let error = (in_space(flat.a) - end.a).norm() + (in_space(flat.b) - end.b).norm();
    assert!(error < 1e-9, "{error:e}");
    assert!(spatial.drift().integrals().all(|integral| integral.max < 1e-11), "{}", spatial.drift());
}

/// A beam on three posts.
#[feedback_system(
    coordinates(height, tilt, x),
    momenta(p, spin, px),
    hamiltonian = (p.powi(2) + spin.powi(2) + px.powi(2)) / 2 + height,
    constraint(left = height - tilt.sin(), right = height + tilt.sin(), redundant middle = height),
)]
pub struct Beam;

/// The same with a wall that nothing implies.
#[feedback_system(
    coordinates(height, tilt, x),
    momenta(p, spin, px),
    hamiltonian = (p.powi(2) + spin.powi(2) + px.powi(2)) / 2 + height,
    constraint(left = height - tilt.sin(), right = height + tilt.sin(), redundant wall = x + height),
)]
pub struct Walled;

/// Entries of the state have no sizes at the origin.
#[test]
fn what_is_implied_at_the_origin_is_told_from_what_is_not() {
    let run = run(&Beam, [0.0; 6], 0.1);
    let [undetermined] = run.drift().undetermined_reactions() else { panic!("{}", run.drift()) };
    assert_eq!(undetermined.constraints(), ["middle", "left", "right"]);
    let error = Simulation::new(&Walled, [0.0; 6]).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::NotRedundant { name: "wall", .. }), "{error}");
}
