//! `rate(f)` and `gradient(f, x)`: a published mechanism whose kinetic energy is declared by its points, and fields against those of models
//! that are declared with derivatives by hand.

use fbint_catalogue::padded::{Padded, Visitor};
use fbint_runtime::{FeedbackSystem, Method, Simulation};
use fbint_text::models;

use crate::functions::{Point, results};
use crate::random::Random;
use crate::shipped::visit;

/// Andrews' squeezing mechanism, seven bodies in a plane, from the positions of their centres of mass.
const SQUEEZER: &str = "#[feedback_system(
    coordinates(q: [7]), velocities(v: [7]),
    define(
        crank = q[0], link = q[0] + q[1],
        pin = rr * vector![q[0].cos(), q[0].sin()] - d * vector![link.cos(), link.sin()],
        a = vector![xa, ya], b = vector![xb, yb],
        spring_end = b + vector![sc * q[2].sin() + sd * q[2].cos(), sd * q[2].sin() - sc * q[2].cos()],
        stretch = (spring_end - vector![xc, yc]).norm() - l0,
        left = a + zt * vector![q[4].cos(), q[4].sin()],
        right = a + u * vector![q[6].sin(), -q[6].cos()],
        centre1 = ra * vector![crank.cos(), crank.sin()],
        centre2 = rr * vector![crank.cos(), crank.sin()] - da * vector![link.cos(), link.sin()],
        centre3 = b + vector![sa * q[2].sin() + sb * q[2].cos(), sb * q[2].sin() - sa * q[2].cos()],
        centre4 = left + (e - ea) * vector![(q[3] + q[4]).sin(), -(q[3] + q[4]).cos()],
        centre5 = a + vector![ta * q[4].sin() - tb * q[4].cos(), -ta * q[4].cos() - tb * q[4].sin()],
        centre6 = right + (zf - fa) * vector![(q[5] + q[6]).cos(), (q[5] + q[6]).sin()],
        centre7 = a + vector![ua * q[6].sin() - ub * q[6].cos(), -ua * q[6].cos() - ub * q[6].sin()],
    ),
    lagrangian = (m[0] * rate(centre1).norm_squared() + m[1] * rate(centre2).norm_squared() + m[2] * rate(centre3).norm_squared()
        + m[3] * rate(centre4).norm_squared() + m[4] * rate(centre5).norm_squared() + m[5] * rate(centre6).norm_squared()
        + m[6] * rate(centre7).norm_squared()
        + i[0] * rate(crank).powi(2) + i[1] * rate(link).powi(2) + i[2] * rate(q[2]).powi(2) + i[3] * rate(q[3] + q[4]).powi(2)
        + i[4] * rate(q[4]).powi(2) + i[5] * rate(q[5] + q[6]).powi(2) + i[6] * rate(q[6]).powi(2)
        - c0 * stretch.powi(2)) / 2,
    force(v = gradient(mom * crank, q)),
    constraint(
        spring = pin - b - ss * vector![q[2].sin(), -q[2].cos()],
        up = pin - left - e * vector![(q[3] + q[4]).sin(), -(q[3] + q[4]).cos()],
        down = pin - right - zf * vector![(q[5] + q[6]).cos(), (q[5] + q[6]).sin()],
    ),
    default(
        m = vector![0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498],
        i = vector![2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5],
        xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072, c0 = 4530, d = 28e-3, da = 115e-4,
        e = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5, l0 = 7785e-5, ss = 35e-3, sa = 1874e-5, sb = 1043e-5, sc = 18e-3, sd = 2e-2,
        ta = 2308e-5, tb = 916e-5, u = 4e-2, ua = 1228e-5, ub = 449e-5, zf = 2e-2, zt = 4e-2, fa = 1421e-5, mom = 0.033,
    ),
)]
struct Squeezer {
    m: [f64; 7], i: [f64; 7], xa: f64, ya: f64, xb: f64, yb: f64, xc: f64, yc: f64, c0: f64, d: f64, da: f64, e: f64, ea: f64, rr: f64,
    ra: f64, l0: f64, ss: f64, sa: f64, sb: f64, sc: f64, sd: f64, ta: f64, tb: f64, u: f64, ua: f64, ub: f64, zf: f64, zt: f64, fa: f64,
    mom: f64,
}";

/// The angles at which it starts, at rest, and those at 0.03 seconds: F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers,
/// release 2.4, 2008, pages II-10.
const BEGINNING: [f64; 7] = [
    -0.061_713_890_014_276_45,
    0.0,
    0.455_279_819_163_070_4,
    0.222_668_390_165_885_9,
    0.487_364_979_543_842_55,
    -0.222_668_390_165_885_9,
    1.230_547_444_549_821_2,
];
const END: [f64; 7] = [
    15.810_771_196_299_04,
    -15.756_371_059_842_98,
    0.040_822_240_130_731_01,
    -0.534_730_116_322_694_8,
    0.524_409_965_880_530_4,
    0.534_730_116_322_694_8,
    1.048_080_741_042_263,
];

#[test]
fn the_squeezing_mechanism_ends_where_it_is_published_to() {
    let mut start = BEGINNING.to_vec();
    start.extend([0.0; 8]);
    let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
    let end = run(SQUEEZER, &start, method, 0.03);
    for (angle, published) in end.iter().zip(END) {
        assert!((angle - published).abs() < 1e-8, "{end:?}");
    }
}

/// Pairs of declarations of one motion: with `rate` or `gradient`, and with derivatives by hand.
const PAIRS: [(&str, &str); 8] = [
    // A pendulum whose pivot moves: df/dt counts.
    (
        "coordinates(x), velocities(v), time(t), define(bob = vector![a * t.sin() + x.sin(), t.powi(2) - x.cos()]),
         lagrangian = rate(bob).norm_squared() / 2 - 9 * bob[1]",
        "coordinates(x), velocities(v), time(t),
         define(bob = vector![a * t.cos() + v * x.cos(), 2 * t + v * x.sin()]),
         lagrangian = bob.norm_squared() / 2 - 9 * (t.powi(2) - x.cos())",
    ),
    // A point of a body, in the frame of the body.
    (
        "coordinates(r: [3, 3]), velocities(w: [3]), kinematics(r = r * hat(w)), define(arm = vector![1, 2, a]),
         lagrangian = rate(r * arm).norm_squared() / 2 + rate(r).norm_squared(), constraint(unit = r.transpose() * r - identity(3))",
        "coordinates(r: [3, 3]), velocities(w: [3]), kinematics(r = r * hat(w)), define(arm = vector![1, 2, a]),
         lagrangian = (r * w.cross(&arm)).norm_squared() / 2 + (r * hat(w)).norm_squared(),
         constraint(unit = r.transpose() * r - identity(3))",
    ),
    // A velocity that is put to zero counts before.
    (
        "coordinates(x, y, z), velocities(w, v, s), kinematics(x = v * z.cos() - s * z.sin(), y = v * z.sin() + s * z.cos(), z = w),
         lagrangian = rate(vector![x, y] + a * vector![z.cos(), z.sin()]).norm_squared() / 2 + w.powi(2) / 2,
         velocity_constraint(blade = s), output(f = multiplier(blade), v2 = rate(x * y))",
        "coordinates(x, y, z), velocities(w, v, s), kinematics(x = v * z.cos() - s * z.sin(), y = v * z.sin() + s * z.cos(), z = w),
         lagrangian = (v.powi(2) + (s + a * w).powi(2)) / 2 + w.powi(2) / 2,
         velocity_constraint(blade = s), output(f = multiplier(blade), v2 = v * z.cos() * y + x * v * z.sin())",
    ),
    // dH/dp in canonical systems, where a force depends on it.
    (
        "coordinates(x: [2]), momenta(p: [2]), define(s = x[0] * x[1].sin()),
         hamiltonian = p.dot(&p) / (2 * a) + x[0] * p[1], force(p = -rate(s) * gradient(s, x)), output(v = rate(x * s))",
        "coordinates(x: [2]), momenta(p: [2]),
         define(u = p[0] / a, w = p[1] / a + x[0], s = x[0] * x[1].sin(), ds = u * x[1].sin() + x[0] * x[1].cos() * w),
         hamiltonian = p.dot(&p) / (2 * a) + x[0] * p[1], force(p = -ds * vector![x[1].sin(), x[0] * x[1].cos()]),
         output(v = vector![u * s + x[0] * ds, w * s + x[1] * ds])",
    ),
    // A velocity constraint on a point.
    (
        "coordinates(x, y, z), momenta(p, q, r), hamiltonian = (p.powi(2) + q.powi(2) + r.powi(2)) / 2 + x,
         velocity_constraint(knife = rate(y + a * z.sin()) * z.cos() - rate(x + a * z.cos()) * z.sin())",
        "coordinates(x, y, z), momenta(p, q, r), hamiltonian = (p.powi(2) + q.powi(2) + r.powi(2)) / 2 + x,
         velocity_constraint(knife = rate(y) * z.cos() - rate(x) * z.sin() + a * rate(z))",
    ),
    // Rates of a state that are given, and J grad H.
    (
        "state(x, y), time(t), dynamics(x = y * a, y = -x), output(f = rate(x * y * t), g = gradient(x.powi(3) * y, vector![y, x]))",
        "state(x, y), time(t), dynamics(x = y * a, y = -x),
         output(f = y * a * y * t - x * x * t + x * y, g = vector![x.powi(3), 3 * x.powi(2) * y])",
    ),
    (
        "state(w: [3]), poisson = hat(w), hamiltonian = w[0].powi(2) + a * w[1].powi(2), output(f = rate(w))",
        "state(w: [3]), poisson = hat(w), hamiltonian = w[0].powi(2) + a * w[1].powi(2),
         output(f = w.cross(&vector![2 * w[0], 2 * a * w[1], 0]))",
    ),
    // Momenta and forces as partial derivatives, also by a velocity that is put to zero.
    (
        "coordinates(x, y), velocities(v, w), define(l = v.powi(2) / 2 + a * (w + v * x.sin()).powi(2) - x * y),
         lagrangian = l, velocity_constraint(still = w), output(p = gradient(l, w), f = gradient(l, vector![x, y]))",
        "coordinates(x, y), velocities(v, w), lagrangian = v.powi(2) / 2 + a * (w + v * x.sin()).powi(2) - x * y,
         velocity_constraint(still = w), output(p = momentum(w), f = vector![2 * a * v.powi(2) * x.sin() * x.cos() - y, -x])",
    ),
];

#[test]
fn chain_rules_agree_with_derivatives_by_hand() {
    for (with_rates, by_hand) in PAIRS {
        let [found, expected] = [with_rates, by_hand].map(|declaration| {
            let text = format!("#[feedback_system({declaration}, default(a = 1.3))] struct S {{ a: f64 }}");
            visited(&text, Functions)
        });
        for (name, found, expected) in
            found.iter().zip(&expected).map(|((name, found), (_, other))| (name, found, other))
        {
            assert_eq!(found.len(), expected.len());
            let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-11 * (1.0 + b.abs());
            assert!(found.iter().zip(expected).all(is_close), "{name} of {with_rates}: {found:?} is not {expected:?}");
        }
    }
}

/// Fields, energies and outputs in a few states.
struct Functions;

impl Visitor for Functions {
    type Output = Vec<(&'static str, Vec<f64>)>;

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let mut random = Random::new(5);
        let points = (0..4).map(|_| Point::random(&mut random));
        let prepared = model.prepare();
        let of_point = |point| {
            let all = results::<Padded<N, M>>(&prepared, &point);
            ["vector_field", "integrals", "outputs"].map(|name| (name, all[name].clone()))
        };
        points.flat_map(of_point).collect()
    }
}

fn visited<V: Visitor>(text: &str, visitor: V) -> V::Output {
    let model = models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    visit(Box::new(model), visitor)
}

/// The end of a run from a start.
pub(crate) fn run(text: &str, start: &[f64], method: Method, until: f64) -> Vec<f64> {
    visited(text, FromStart { start, method, until })
}

/// The outputs in a state.
pub(crate) fn outputs(text: &str, state: &[f64]) -> Vec<f64> {
    visited(text, Outputs { state })
}

struct Outputs<'a> {
    state: &'a [f64],
}

impl Visitor for Outputs<'_> {
    type Output = Vec<f64>;

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let mut point = Point::random(&mut Random::new(1));
        point.x[..self.state.len()].copy_from_slice(self.state);
        results::<Padded<N, M>>(&model.prepare(), &point)["outputs"].clone()
    }
}

struct FromStart<'a> {
    start: &'a [f64],
    method: Method,
    until: f64,
}

impl Visitor for FromStart<'_> {
    type Output = Vec<f64>;

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let start = std::array::from_fn(|entry| self.start.get(entry).copied().unwrap_or(0.0));
        let simulation = Simulation::new(&model, start).unwrap_or_else(|error| panic!("{error}"));
        let run = simulation.run(self.method, self.until).unwrap_or_else(|error| panic!("{error}"));
        let end: [f64; N] = run.state();
        end[..self.start.len()].to_vec()
    }
}
