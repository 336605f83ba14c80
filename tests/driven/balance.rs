//! Integrals of driven systems are constant along their fields: dF.X = 0 in every state, for any inputs.

use fbint_runtime::{
    DrivenSystem, Entries, FeedbackSystem, GeneratedSystem, IntegralKind, Integrals, PreparedSystem, StateRole, Vector,
};
use fbint_tests::Random;

use super::systems::*;

const STATES: usize = 1_000;

/// dF.X of each integral, relative to the terms that it is made of.
fn changes<S: GeneratedSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Integrals<S> {
    let (field, jacobian) = (system.vector_field(x), system.integrals_jacobian(x));
    Entries::from_fn(|i| {
        let terms: Vec<f64> = (0..Vector::<S>::LEN).map(|j| jacobian[i][j] * field[j]).collect();
        let size: f64 = terms.iter().map(|term| term.abs()).sum();
        terms.iter().sum::<f64>().abs() / size.max(1e-3)
    })
}

/// Everything that is kept in every state.
fn assert_kept<S: GeneratedSystem>(prepared: impl Fn(&mut Random) -> S::Prepared<f64>) {
    let mut random = Random::new(17);
    for _ in 0..STATES {
        let x = Vector::<S>::from_fn(|_| random.between(-1.5, 1.5));
        let system = prepared(&mut random);
        let changes = changes::<S>(&system, &x);
        let field = system.vector_field(&x);
        for (i, integral) in S::FACTS.integrals.iter().enumerate() {
            assert!(changes[i] < 1e-11, "{} of {}: {:e} at {x:?}", integral.name, S::FACTS.name, changes[i]);
        }
        for (rate, entry) in field.as_ref().iter().zip(S::FACTS.state) {
            assert!(entry.role != StateRole::Time || *rate == 1.0, "the time passes");
        }
    }
}

fn any_input<S: DrivenSystem + GeneratedSystem>(system: &S) -> impl Fn(&mut Random) -> S::Prepared<f64> + use<'_, S> {
    |random| S::with_input(system.prepare(), Entries::from_fn(|_| random.between(-2.0, 2.0)))
}

pub fn pendulum() -> Pendulum {
    Pendulum { m: 1.3, l: 0.7, g: 9.81, c: 0.3, torque: 0.8, omega: 2.3 }
}

#[test]
fn every_integral_is_kept_in_every_state() {
    assert_kept::<Pendulum>(|_| pendulum().prepare());
    let pivot = MovingPivot { m: 1.3, l: 0.7, g: 9.81, c: 0.3, a: 0.2, omega: 2.3 };
    assert_kept::<MovingPivot>(|_| pivot.prepare());
    let pivot = MovingPivotVelocities { m: 1.3, l: 0.7, g: 9.81, c: 0.3, a: 0.2, omega: 2.3 };
    assert_kept::<MovingPivotVelocities>(|_| pivot.prepare());
    assert_kept::<Kapitza>(|_| Kapitza { m: 1.3, l: 0.7, g: 9.81, c: 0.3, a: 0.2, omega: 2.3 }.prepare());
    assert_kept::<CartPole>(any_input(&CartPole { cart: 2.0, m: 0.5, l: 0.8, g: 9.81, c: 0.3 }));
    assert_kept::<ParticleOnSurface>(any_input(&ParticleOnSurface { m: 1.7, g: 0.9 }));
    assert_kept::<Sleigh>(any_input(&Sleigh { m: 1.2, a: 0.4, j: 0.6 }));
    assert_kept::<PhaseConstrained>(|_| PhaseConstrained.prepare());
    assert_kept::<ManyPhaseConstraints>(any_input(&ManyPhaseConstraints));
    assert_kept::<Top>(|_| Top { i1: 1.1, i2: 1.9 }.prepare());
    assert_kept::<Rotor>(any_input(&Rotor));
}

/// The reactions of velocity constraints do work where these do not hold: there, the balance is off by lambda . (A q').
#[test]
fn reactions_of_velocity_constraints_work_off_their_set() {
    fn assert_off_by_work<S: DrivenSystem + GeneratedSystem>(system: &S) {
        let mut random = Random::new(18);
        for _ in 0..STATES {
            let x = Vector::<S>::from_fn(|_| random.between(-1.5, 1.5));
            let system = any_input(system)(&mut random);
            let (field, jacobian) = (system.vector_field(&x), system.integrals_jacobian(&x));
            let multipliers = system.multipliers(&x);
            let t = x[6];
            let blade = field[0] * t.sin() - field[1] * (2.0 + t.cos());
            for (i, integral) in S::FACTS.integrals.iter().enumerate() {
                let rate: f64 = (0..Vector::<S>::LEN).map(|j| jacobian[i][j] * field[j]).sum();
                let size: f64 = (0..Vector::<S>::LEN).map(|j| (jacobian[i][j] * field[j]).abs()).sum();
                let held = S::FACTS.integrals.iter().position(|other| other.kind == IntegralKind::VelocityConstraint);
                let is_energy = integral.kind == IntegralKind::Energy;
                let expected = if is_energy { multipliers[held.unwrap()] * blade } else { 0.0 };
                assert!((rate - expected).abs() < 1e-10 * size.max(1.0), "{}: {rate} {expected}", integral.name);
            }
        }
    }
    assert_off_by_work(&Particle { m: 1.7, g: 0.9 });
    assert_off_by_work(&CanonicalParticle { m: 1.7, g: 0.9 });
}

/// The time is no matter of the integrals: feedback does not move it, nor does relaxation.
#[test]
fn feedback_does_not_move_the_time() {
    use fbint_runtime::{Feedback, Field, Gains};
    let system = MovingPivot { m: 1.3, l: 0.7, g: 9.81, c: 0.3, a: 0.2, omega: 2.3 };
    let start = Vector::<MovingPivot>::from(MovingPivotState {
        q: nalgebra::vector![0.0, -0.7],
        p: nalgebra::vector![0.0, 1.3 * 0.2 * 2.3],
        t: 0.0,
        work: 0.0,
    });
    let elsewhere = start.map(|entry| entry + 0.1);
    let clock = 4;
    let rates = [
        Feedback::new(&system, &start, Gains::uniform(20.0)).unwrap().value(&elsewhere),
        Feedback::new(&system, &start, Gains::relaxation(0.1)).unwrap().value(&elsewhere),
    ];
    assert_eq!(rates.map(|rate| rate[clock]), [1.0; 2]);
}

/// The largest change of any integral in a run.
pub fn worst<S: GeneratedSystem>(run: &fbint_runtime::Run<S>) -> f64 {
    run.drift().integrals().map(|integral| integral.max).fold(0.0, f64::max)
}
