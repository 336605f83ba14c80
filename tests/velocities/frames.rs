//! The same mechanics in other frames: declarations with random kinematics, compiled and interpreted, have the motions of the one in
//! plain rates, where the constraints hold.

use std::collections::BTreeMap;

use fbint_macros_core::program::{INTEGRALS, OUTPUTS, Program, VECTOR_FIELD};
use fbint_tests::compiler::{Compiled, Declaration, run};
use fbint_tests::{Random, amount, relative_error};
use nalgebra::{Matrix3, Rotation3, Vector3};

const STATES: usize = 50;
const TOLERANCE: f64 = 1e-11;

const COORDINATES: [&str; 3] = ["x", "y", "z"];
const LAGRANGIAN: &str = "rate(x).powi(2) + (1.5 + 0.3 * x.cos()) * rate(y).powi(2) + 0.7 * rate(z).powi(2)
    + 0.4 * z.sin() * rate(x) * rate(y) + 0.3 * y * rate(z) - x * y - z.cos()";

/// What restricts the motion.
#[derive(Clone, Copy, PartialEq)]
enum Restriction {
    Nothing,
    /// z' = sin(x) y', held by a reaction.
    Blade,
    /// |q| = 1
    Rod,
}

impl Restriction {
    fn text(self) -> &'static str {
        match self {
            Self::Nothing => "output(height = z)",
            Self::Blade => {
                "velocity_constraint(blade = rate(z) - x.sin() * rate(y)), output(force = multiplier(blade))"
            }
            Self::Rod => "constraint(rod = x.powi(2) + y.powi(2) + z.powi(2) - 1), output(force = multiplier(rod))",
        }
    }

    /// A random configuration and velocity that obey it.
    fn state(self, random: &mut Random) -> (Vector3<f64>, Vector3<f64>) {
        let mut vector = || Vector3::from_fn(|_, _| random.between(-1.5, 1.5));
        let (mut q, mut v) = (vector(), vector());
        match self {
            Self::Nothing => {}
            Self::Blade => v.z = q.x.sin() * v.y,
            Self::Rod => {
                q.normalize_mut();
                v -= q * q.dot(&v);
            }
        }
        (q, v)
    }
}

/// A compiled declaration, and its programs by the names of their arguments and results.
struct Machine {
    compiled: Compiled,
    prepared: Vec<f64>,
    states: Vec<String>,
}

impl Machine {
    fn new(attribute: &str) -> Self {
        let (attribute, item) = (attribute.parse().expect("tokens"), "struct S {}".parse().expect("a struct"));
        let compiled = Declaration { name: "S".to_owned(), attribute, item }.compile();
        let prepared = run(&compiled.programs.prepare, &[], |_| f64::NAN, |_| Vec::new());
        let symbols = &compiled.derivation.symbols;
        let states = symbols.states().map(|symbol| symbols[symbol].name.clone()).collect();
        Self { compiled, prepared, states }
    }

    fn run(&self, program: &Program, at: &BTreeMap<String, f64>) -> Vec<f64> {
        run(program, &self.prepared, |place| at[&self.states[place]], |_| Vec::new())
    }

    /// The rates by names.
    fn field(&self, at: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
        let rates = self.run(&self.compiled.programs[&VECTOR_FIELD], at);
        self.states.iter().cloned().zip(rates).collect()
    }

    fn outputs(&self, at: &BTreeMap<String, f64>) -> Vec<f64> {
        self.run(&self.compiled.programs[&OUTPUTS], at)
    }

    fn integrals(&self, at: &BTreeMap<String, f64>) -> Vec<f64> {
        self.run(&self.compiled.programs[&INTEGRALS], at)
    }
}

fn values(q: &Vector3<f64>, velocities: &[(&str, f64)]) -> BTreeMap<String, f64> {
    let coordinates = COORDINATES.iter().zip(q.iter()).map(|(name, value)| (name.to_string(), *value));
    coordinates.chain(velocities.iter().map(|(name, value)| (name.to_string(), *value))).collect()
}

fn entries(values: &BTreeMap<String, f64>, names: [&str; 3]) -> Vector3<f64> {
    Vector3::from_fn(|i, _| values[names[i]])
}

/// In plain rates.
fn plain(restriction: Restriction) -> Machine {
    Machine::new(&format!(
        "coordinates(x, y, z), velocities(vx, vy, vz), lagrangian = {LAGRANGIAN}, {}",
        restriction.text()
    ))
}

const RATES: [&str; 3] = ["vx", "vy", "vz"];

/// U with the entries a + b sin(q_k), near a multiple of the identity: it is invertible.
struct Frame {
    a: Matrix3<f64>,
    b: Matrix3<f64>,
    of: Matrix3<usize>,
}

impl Frame {
    fn random(random: &mut Random) -> Self {
        let hundredths = |random: &mut Random, size: f64| (random.between(-size, size) * 100.0).round() / 100.0;
        let mut a = Matrix3::from_fn(|_, _| hundredths(random, 0.3));
        (0..3).for_each(|i| a[(i, i)] += 2.0);
        let b = Matrix3::from_fn(|_, _| hundredths(random, 0.3));
        Self { a, b, of: Matrix3::from_fn(|_, _| random.index(3)) }
    }

    /// `x = (0.1 + 0.2 * y.sin()) * u + ..`
    fn text(&self, velocities: [&str; 3]) -> String {
        let entry = |i: usize, j: usize| {
            let (a, b) = (self.a[(i, j)], self.b[(i, j)]);
            format!("({a:.2} + ({b:.2}) * {}.sin()) * {}", COORDINATES[self.of[(i, j)]], velocities[j])
        };
        let rate = |i: usize| format!("{} = {} + {} + {}", COORDINATES[i], entry(i, 0), entry(i, 1), entry(i, 2));
        (0..3).map(rate).collect::<Vec<_>>().join(", ")
    }

    fn at(&self, q: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::from_fn(|i, j| self.a[(i, j)] + self.b[(i, j)] * q[self.of[(i, j)]].sin())
    }

    /// Its derivative along a velocity.
    fn along(&self, q: &Vector3<f64>, v: &Vector3<f64>) -> Matrix3<f64> {
        let slope = |place: usize| q[place].cos() * v[place];
        Matrix3::from_fn(|i, j| self.b[(i, j)] * slope(self.of[(i, j)]))
    }
}

fn near(what: &str, obtained: &[f64], expected: &[f64]) {
    let error = relative_error(obtained, expected);
    assert!(error < TOLERANCE, "{what}: off by {error:e}: {obtained:?}, expected {expected:?}");
}

/// Rates, accelerations, energies and reactions are those in plain rates.
fn any_frame_will_do(restriction: Restriction) {
    let original = plain(restriction);
    for seed in 1..=amount(1, 2) as u64 {
        let mut random = Random::new(seed);
        let frame = Frame::random(&mut random);
        let names = ["u", "v", "w"];
        let text = frame.text(names);
        let turned = Machine::new(&format!(
            "coordinates(x, y, z), velocities(u, v, w), kinematics({text}), lagrangian = {LAGRANGIAN}, {}",
            restriction.text()
        ));
        for _ in 0..STATES {
            let (q, v) = restriction.state(&mut random);
            let xi = frame.at(&q).lu().solve(&v).expect("a frame");
            let x = values(&q, &[("vx", v.x), ("vy", v.y), ("vz", v.z)]);
            let y = values(&q, &[("u", xi.x), ("v", xi.y), ("w", xi.z)]);
            let (expected, obtained) = (original.field(&x), turned.field(&y));
            near("rates", entries(&obtained, COORDINATES).as_slice(), entries(&expected, COORDINATES).as_slice());
            let acceleration = frame.at(&q) * entries(&obtained, names) + frame.along(&q, &v) * xi;
            near("accelerations", acceleration.as_slice(), entries(&expected, RATES).as_slice());
            near("reactions", &turned.outputs(&y), &original.outputs(&x));
            let (energy, other) = (turned.integrals(&y), original.integrals(&x));
            near("energy", &energy[energy.len() - 1..], &other[other.len() - 1..]);
        }
    }
}

#[test]
fn any_frame_will_do_without_constraints() {
    any_frame_will_do(Restriction::Nothing);
}

#[test]
fn any_frame_will_do_with_a_velocity_constraint() {
    any_frame_will_do(Restriction::Blade);
}

#[test]
fn any_frame_will_do_with_a_holonomic_constraint() {
    any_frame_will_do(Restriction::Rod);
}

/// The blade's own velocity, put to zero: the same motion, and the same reaction, without a constraint that could drift.
#[test]
fn what_is_put_to_zero_is_held() {
    let original = plain(Restriction::Blade);
    let adapted = Machine::new(&format!(
        "coordinates(x, y, z), velocities(slip, v: [2]), kinematics(x = v[0], y = v[1], z = x.sin() * v[1] + slip),
         lagrangian = {LAGRANGIAN}, velocity_constraint(blade = slip), output(force = multiplier(blade))"
    ));
    assert_eq!(adapted.states, ["x", "y", "z", "v[0]", "v[1]"]);
    let mut random = Random::new(5);
    for _ in 0..STATES {
        let (q, v) = Restriction::Blade.state(&mut random);
        let x = values(&q, &[("vx", v.x), ("vy", v.y), ("vz", v.z)]);
        let y = values(&q, &[("v[0]", v.x), ("v[1]", v.y)]);
        let (expected, obtained) = (original.field(&x), adapted.field(&y));
        near("rates", entries(&obtained, COORDINATES).as_slice(), entries(&expected, COORDINATES).as_slice());
        near("accelerations", &[obtained["v[0]"], obtained["v[1]"]], &[expected["vx"], expected["vy"]]);
        near("reactions", &adapted.outputs(&y), &original.outputs(&x));
    }
}

/// Names, order and shapes of velocities carry no meaning, in any state.
#[test]
fn names_order_and_shapes_do_not_matter() {
    for restriction in [Restriction::Nothing, Restriction::Blade, Restriction::Rod] {
        let original = plain(restriction);
        let text = restriction.text();
        let reordered = Machine::new(&format!(
            "coordinates(x, y, z), velocities(c, a, b), kinematics(z = c, x = a, y = b), lagrangian = {LAGRANGIAN}, {text}"
        ));
        let vector = Machine::new(&format!(
            "coordinates(x, y, z), velocities(v: [3]), kinematics(x = v[0], y = v[1], z = v[2]), lagrangian = {LAGRANGIAN}, {text}"
        ));
        let matrix = Machine::new(&format!(
            "coordinates(x, y, z), velocities(v: [1, 3]), kinematics(x = v[(0, 0)], y = v[(0, 1)], z = v[(0, 2)]),
             lagrangian = {LAGRANGIAN}, {text}"
        ));
        let others = [
            (reordered, ["a", "b", "c"]),
            (vector, ["v[0]", "v[1]", "v[2]"]),
            (matrix, ["v[(0, 0)]", "v[(0, 1)]", "v[(0, 2)]"]),
        ];
        let mut random = Random::new(6);
        for _ in 0..STATES {
            let q = Vector3::from_fn(|_, _| random.between(0.3, 1.5));
            let v = Vector3::from_fn(|_, _| random.between(-1.5, 1.5));
            let x = values(&q, &[("vx", v.x), ("vy", v.y), ("vz", v.z)]);
            let expected = original.field(&x);
            for (other, names) in &others {
                let y = values(&q, &[(names[0], v.x), (names[1], v.y), (names[2], v.z)]);
                let obtained = other.field(&y);
                near("rates", entries(&obtained, COORDINATES).as_slice(), entries(&expected, COORDINATES).as_slice());
                near("accelerations", entries(&obtained, *names).as_slice(), entries(&expected, RATES).as_slice());
                near("integrals", &other.integrals(&y), &original.integrals(&x));
                near("outputs", &other.outputs(&y), &original.outputs(&x));
            }
        }
    }
}

/// A multiple of L has the same field, in any state, and that multiple of the energy and of the reactions.
#[test]
fn a_multiple_of_the_lagrangian_has_the_same_field() {
    for restriction in [Restriction::Nothing, Restriction::Blade, Restriction::Rod] {
        let original = plain(restriction);
        let scaled = Machine::new(&format!(
            "coordinates(x, y, z), velocities(vx, vy, vz), lagrangian = 5 / 2 * ({LAGRANGIAN}), {}",
            restriction.text()
        ));
        let mut random = Random::new(7);
        for _ in 0..STATES {
            let q = Vector3::from_fn(|_, _| random.between(0.3, 1.5));
            let v = Vector3::from_fn(|_, _| random.between(-1.5, 1.5));
            let x = values(&q, &[("vx", v.x), ("vy", v.y), ("vz", v.z)]);
            let (expected, obtained) = (original.field(&x), scaled.field(&x));
            let all = |field: &BTreeMap<String, f64>| field.values().copied().collect::<Vec<f64>>();
            near("field", &all(&obtained), &all(&expected));
            let (energy, other) = (scaled.integrals(&x), original.integrals(&x));
            near("energy", &energy[energy.len() - 1..], &[2.5 * other[other.len() - 1]]);
            near("constraints", &energy[..energy.len() - 1], &other[..other.len() - 1]);
            if restriction != Restriction::Nothing {
                near("reactions", &scaled.outputs(&x), &[2.5 * original.outputs(&x)[0]]);
            }
        }
    }
}

/// A rotor on a body that turns: with the turn in the frame of the body, the directions close only where the matrix is a rotation.
#[test]
fn frames_close_where_constraints_hold() {
    let machine = |kinematics: &str, base: &str, turn: &str| {
        Machine::new(&format!(
            "coordinates(r: [3, 3], s: [3, 3], q), velocities({kinematics}),
             define(base = {base}, turn = {turn} + s.column(2) * v, rotor = s.transpose() * turn),
             lagrangian = (base[0].powi(2) + 2 * base[1].powi(2) + 3 * base[2].powi(2)) / 2
                 + (rotor[0].powi(2) + 1.5 * rotor[1].powi(2) + 0.7 * rotor[2].powi(2)) / 2 - s[(2, 2)] - 0.3 * r[(0, 1)],
             constraint(turning = r.transpose() * r - identity(3), right_handed = r.determinant() - 1)"
        ))
    };
    let inside =
        machine("o: [3], v), kinematics(r = r * hat(o), s = hat(r * o + s.column(2) * v) * s, q = v", "o", "r * o");
    let outside = machine(
        "w: [3], v), kinematics(r = hat(w) * r, s = hat(w + s.column(2) * v) * s, q = v",
        "r.transpose() * w",
        "w",
    );
    let mut random = Random::new(8);
    for _ in 0..STATES {
        let mut vector = || Vector3::from_fn(|_, _| random.between(-1.5, 1.5));
        let [r, s] = [vector(), vector()].map(|axis| *Rotation3::new(axis).matrix());
        let (o, v) = (vector(), vector().x);
        let at = |name: &str, turn: Vector3<f64>| {
            let places = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
            let of = |matrix: Matrix3<f64>, letter: &str| {
                let entry = |(i, j)| (format!("{letter}[({i}, {j})]"), matrix[(i, j)]);
                places.clone().map(entry).collect::<Vec<_>>()
            };
            let turn = (0..3).map(|i| (format!("{name}[{i}]"), turn[i]));
            let others = [("q".to_owned(), 0.3), ("v".to_owned(), v)];
            of(r, "r").into_iter().chain(of(s, "s")).chain(turn).chain(others).collect::<BTreeMap<String, f64>>()
        };
        let (obtained, expected) = (inside.field(&at("o", o)), outside.field(&at("w", r * o)));
        let rates = |field: &BTreeMap<String, f64>| {
            let positions = field.iter().filter(|(name, _)| matches!(&name[..1], "r" | "s" | "q" | "v"));
            positions.map(|(_, rate)| *rate).collect::<Vec<f64>>()
        };
        near("rates", &rates(&obtained), &rates(&expected));
        let turned = r * entries(&obtained, ["o[0]", "o[1]", "o[2]"]);
        near("accelerations", turned.as_slice(), entries(&expected, ["w[0]", "w[1]", "w[2]"]).as_slice());
    }
}
