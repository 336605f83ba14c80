//! Motions that pass by singularities of their coordinates, and by collisions: a default run is as near to the truth as a plain one, or says
//! that it is doubtful.

use std::ops::ControlFlow;

use fbint_catalogue::{AnyModel, Feedback, Plan, Run};
use fbint_runtime::{Error, LeftOutReason, Method, Projection, Settings, feedback_system};
use fbint_tests::{Random, amount};
use nalgebra::{Vector3, vector};

use crate::comparison::{ALLOWED, alone};
use crate::systems::{PlanarKepler, PlanarKeplerWithAxis};

/// A heavy body about a fixed point in yaw, pitch and roll, which are singular at a pitch of a right angle.
#[feedback_system(
    coordinates(yaw, pitch, roll),
    velocities(a, b, c),
    define(w = vector![
        c - a * pitch.sin(),
        b * roll.cos() + a * roll.sin() * pitch.cos(),
        a * roll.cos() * pitch.cos() - b * roll.sin(),
    ]),
    lagrangian = w.dot(&j.component_mul(&w)) / 2 - weight * pitch.sin(),
)]
struct Tilt {
    j: Vector3<f64>,
    weight: f64,
}

/// A pendulum in spherical coordinates, which are singular at the poles.
#[feedback_system(
    coordinates(theta, phi),
    momenta(p, l),
    hamiltonian = (p.powi(2) + l.powi(2) / theta.sin().powi(2)) / 2 + g * theta.cos(),
)]
struct Polar {
    g: f64,
}

/// A double pendulum of equal rods on constraints, with the end on the line through the pivot: collinear where it is stretched.
#[feedback_system(
    coordinates(q: [2, 2]),
    momenta(p: [2, 2]),
    hamiltonian = p.norm_squared() / 2 + g * (q[(1, 0)] + q[(1, 1)]),
    constraint(
        crank = q.column(0).norm_squared() - 1,
        coupler = (q.column(1) - q.column(0)).norm_squared() - rod.powi(2),
        slide = q[(1, 1)],
    ),
)]
struct Slider {
    g: f64,
    rod: f64,
}

/// A way past a singularity.
struct Passage {
    name: &'static str,
    system: Box<dyn AnyModel>,
    start: Vec<f64>,
    until: f64,
}

/// Passages at a distance.
fn passages(distance: f64, random: &mut Random) -> Vec<Passage> {
    let mut about = |size: f64| size * random.between(0.8, 1.2);
    let tilt = Tilt { j: vector![1.0, 2.0, 3.0], weight: about(4.905) };
    let polar = Polar { g: about(1.0) };
    let crank = std::f64::consts::FRAC_PI_2 - 0.7;
    let rod = 1.0 + distance;
    let slider = Slider { g: about(1.0), rod };
    let (x, y) = (crank.cos(), crank.sin());
    let end = x + (rod * rod - y * y).sqrt();
    vec![
        Passage {
            name: "gimbal lock",
            start: vec![0.0, 0.0, 0.0, 5.0 * distance, about(5.0), 0.0],
            system: alone(tilt),
            until: 1.0,
        },
        Passage {
            name: "pole",
            start: vec![about(1.0), 0.0, about(-2.0), about(distance)],
            system: alone(polar),
            until: 1.0,
        },
        Passage {
            name: "collinear linkage",
            start: vec![x, y, end, 0.0, 0.0, 0.0, 0.0, 0.0],
            system: alone(slider),
            until: 2.0,
        },
        Passage {
            name: "collision",
            start: vec![about(1.0), 0.0, 0.0, about(distance.sqrt())],
            system: alone(PlanarKepler { mu: 1.0 }),
            until: 2.0,
        },
        Passage {
            name: "collision, A",
            start: vec![about(1.0), 0.0, 0.0, about(distance.sqrt())],
            system: alone(PlanarKeplerWithAxis { mu: 1.0 }),
            until: 2.0,
        },
    ]
}

const METHODS: [Method; 9] = [
    Method::Euler { h: 1e-4 },
    Method::Midpoint { h: 1e-3 },
    Method::Heun { h: 1e-3 },
    Method::Rk4 { h: 1e-3 },
    Method::Rk4 { h: 1e-2 },
    Method::DormandPrince { rtol: 1e-8, atol: Some(1e-8) },
    Method::DormandPrince { rtol: 1e-9, atol: None },
    Method::Dop853 { rtol: 1e-8, atol: None },
    Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) },
];
/// A plain run that fell into an orbit of its own would never end.
const MOST_STEPS: u64 = 100_000;
/// A plain run that is off by more than this part of the state follows no truth that a default run could lose.
const RESOLVED: f64 = 0.1;
/// What steps of error control may lose without a doubt: errors of both runs are below the tolerance, and plain ones may cancel.
const ALLOWED_CONTROLLED: f64 = 8.0;

/// The ratio of errors that is allowed.
fn allowed(method: Method) -> f64 {
    if method.tolerances().is_some() { ALLOWED_CONTROLLED } else { ALLOWED }
}

impl Passage {
    fn run(&self, method: Method, projection: Option<Projection>) -> Result<Run, Error> {
        let settings = Settings { projection, max_steps: Some(MOST_STEPS), ..Settings::new(method, self.until) };
        self.system.run(&self.start, &Plan::new(settings, Feedback::None), None, &mut |_| ControlFlow::Continue(()))
    }

    fn truth(&self, rtol: f64) -> Result<Vec<f64>, Error> {
        Ok(self.run(Method::Dop853 { rtol, atol: Some(rtol) }, None)?.state)
    }
}

/// Whether a run says that it is doubtful.
fn is_doubtful(run: &Run) -> bool {
    let is_far = |reason: LeftOutReason| reason == LeftOutReason::NotCloser;
    let is_left_out =
        run.findings.drift.integrals().any(|it| it.left_out.is_some_and(|left_out| is_far(left_out.reason)));
    run.findings.dependence.is_some() || run.findings.jump.is_some() || is_left_out
}

fn distance(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn a_singularity_is_passed_as_by_plain_steps_or_with_a_doubt() {
    let rounds = amount(2, 15);
    let (mut random, mut pairs, mut doubts, mut losses) = (Random::new(63), 0, 0, Vec::new());
    for round in 0..rounds {
        for power in (-9..=-3).step_by(amount(3, 1)) {
            for passage in passages(10_f64.powi(power), &mut random) {
                let [Ok(truth), Ok(coarser)] = [1e-11, 1e-10].map(|rtol| passage.truth(rtol)) else { continue };
                let size = distance(&truth, &vec![0.0; truth.len()]);
                let floor = 1e-12 * size + 2.0 * distance(&truth, &coarser);
                let index = round + power.unsigned_abs() as usize;
                for method in METHODS.into_iter().skip(index % amount(3, 1)).step_by(amount(3, 1)) {
                    let Ok(plain) = passage.run(method, None) else { continue };
                    pairs += 1;
                    let plain = distance(&plain.state, &truth);
                    let is_resolved = plain <= RESOLVED * size;
                    match passage.run(method, passage.system.default_projection()) {
                        // An error says more than a doubt.
                        Err(_) => doubts += 1,
                        Ok(run) if is_doubtful(&run) => doubts += 1,
                        Ok(run) => {
                            let default = distance(&run.state, &truth);
                            let is_no_worse = default <= allowed(method) * plain + floor;
                            if is_resolved && !is_no_worse {
                                let name = passage.name;
                                losses.push(format!(
                                    "{name}, 1e{power}, {method:?}: {default:.1e} against {plain:.1e}, floor {floor:.0e}, {:?}",
                                    run.findings.largest_projection.map(|it| (it.time, it.per_error)),
                                ));
                            }
                        }
                    }
                }
            }
        }
    }
    println!("{pairs} pairs, {doubts} of them doubtful");
    assert!(losses.is_empty(), "{} of {pairs} default runs lose:\n{}", losses.len(), losses.join("\n"));
    assert!(pairs >= amount(50, 500), "only {pairs} pairs");
    assert!(doubts < pairs * 3 / 4, "{doubts} of {pairs} runs are doubtful");
}

/// Error control passes it, and a projection there loses by far: the run names what nearly coincides.
#[test]
fn gimbal_lock_is_named_by_its_velocities() -> Result<(), Error> {
    let tilt = alone(Tilt { j: vector![1.0, 2.0, 3.0], weight: 4.905 });
    let passage = Passage { name: "gimbal lock", start: vec![0.0, 0.0, 0.0, 5e-3, 5.0, 0.0], system: tilt, until: 1.0 };
    let run = passage.run(Method::Dop853 { rtol: 1e-9, atol: None }, passage.system.default_projection())?;
    let dependence = run.findings.dependence.expect("a mass matrix that is nearly singular");
    assert!(dependence.is_of_velocities && dependence.pivot_ratio < 1e-4, "{dependence}");
    assert_eq!(dependence.constraints(), ["a", "c"]);
    // Away from it there is nothing to say.
    let away = Passage { until: 0.2, ..passage };
    let run = away.run(Method::Dop853 { rtol: 1e-9, atol: None }, away.system.default_projection())?;
    assert!(run.findings.dependence.is_none(), "{:?}", run.findings.dependence);
    Ok(())
}
