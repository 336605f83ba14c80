//! The geometric integrators keep what they promise, to the published figures.

use fbint_runtime::{
    Composition, Error, GeneratedSystem, Method, OneStep, Rattle, Simulation, StormerVerlet, feedback_system,
};
use models::splitting::{LieTrotter, RigidBody, Sphere, Strang};
use models::{PlanarPendulum, SphericalPendulum, SphericalPendulumCpv22, SphericalPendulumState};
use nalgebra::{Matrix3, SVector, Vector3, vector};

type Outcome = Result<(), Error>;

/// CPV22's table: the spherical pendulum, h = 1e-3, t <= 100.
mod spherical_pendulum {
    use super::*;

    fn maxima(method: &impl OneStep<[f64; 6]>) -> Result<[f64; 4], Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run =
            Simulation::new(&pendulum, pendulum.start())?.one_step(method).run(Method::OneStep { h: 1e-3 }, 100.0)?;
        let max = |name| run.drift().get(name).unwrap_or_else(|| panic!("no integral {name}")).max;
        Ok(["f1", "f2", "energy", "vertical_momentum"].map(max))
    }

    fn assert_near(obtained: f64, expected: f64) {
        assert!((obtained / expected - 1.0).abs() < 0.01, "{obtained:e} instead of {expected:e}");
    }

    #[test]
    fn rattle() -> Outcome {
        let pendulum = SphericalPendulum::default();
        let [f1, f2, energy, momentum] = maxima(&Rattle::new(&pendulum)?)?;
        assert_near(energy, 7.0e-7);
        assert!(f1 < 1e-14 && f2 < 1e-14 && momentum < 1e-12, "{f1:e} {f2:e} {momentum:e}");
        Ok(())
    }

    #[test]
    fn lie_trotter() -> Outcome {
        let [f1, f2, energy, momentum] = maxima(&LieTrotter(Sphere { m: 1.0, g: 1.0 }))?;
        assert_near(energy, 1.09e-3);
        assert!(f1 < 1e-12 && f2 < 1e-12 && momentum < 1e-12, "{f1:e} {f2:e} {momentum:e}");
        Ok(())
    }

    #[test]
    fn strang() -> Outcome {
        let [f1, f2, energy, momentum] = maxima(&Strang(Sphere { m: 1.0, g: 1.0 }))?;
        assert!((1.98e-7..3.03e-7).contains(&energy), "{energy:e}");
        assert!(f1 < 1e-12 && f2 < 1e-12 && momentum < 1e-12, "{f1:e} {f2:e} {momentum:e}");
        Ok(())
    }
}

mod orders {
    use super::*;

    /// The order by halving `h`, from the difference to a run with an eighth of it.
    fn order<const N: usize>(method: &impl OneStep<[f64; N]>, start: [f64; N], end: f64, h: f64) -> f64 {
        let run = |h: f64| {
            let mut x = start;
            (0..(end / h).round() as u64).for_each(|_| method.step(&mut x, h));
            SVector::from(x)
        };
        let exact = run(h / 16.0);
        ((run(h) - exact).norm() / (run(h / 2.0) - exact).norm()).log2()
    }

    #[test]
    fn rattle_is_of_order_2_and_its_composition_of_order_4() -> Outcome {
        let pendulum = PlanarPendulum::default();
        let start = [1.0, 0.0, 0.0, 0.0];
        let rattle = Rattle::new(&pendulum)?;
        let (second, fourth) = (order(&rattle, start, 4.0, 0.01), order(&Composition(rattle), start, 4.0, 0.02));
        assert!((second - 2.0).abs() < 0.1 && (fourth - 4.0).abs() < 0.1, "{second} {fourth}");
        Ok(())
    }

    #[test]
    fn splittings_on_the_sphere_are_of_order_1_and_2() {
        let state = SphericalPendulumState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] };
        let sphere = Sphere { m: 1.0, g: 1.0 };
        let first = order(&LieTrotter(sphere), state.into(), 2.0, 1e-3);
        let second = order(&Strang(sphere), state.into(), 2.0, 1e-2);
        assert!((first - 1.0).abs() < 0.1 && (second - 2.0).abs() < 0.1, "{first} {second}");
    }

    #[test]
    fn the_splitting_of_the_rigid_body_is_of_order_2_and_keeps_its_manifold() {
        let body = RigidBody { inertia: Vector3::new(3.0, 2.0, 1.0) };
        let mut x = [0.0; 12];
        for i in [0, 4, 8, 9, 10, 11] {
            x[i] = 1.0;
        }
        assert!((order(&body, x, 4.0, 0.02) - 2.0).abs() < 0.1);
        (0..10_000).for_each(|_| body.step(&mut x, 0.02));
        let r = Matrix3::from_iterator(x.iter().take(9).copied());
        let momentum = r * vector![3.0 * x[9], 2.0 * x[10], x[11]];
        assert!((r.transpose() * r - Matrix3::identity()).norm() < 1e-11);
        assert!((momentum - vector![3.0, 2.0, 1.0]).norm() < 1e-11, "{momentum}");
    }

    #[test]
    fn stormer_verlet_is_of_order_2_and_its_composition_of_order_4() -> Outcome {
        let method = StormerVerlet::new(&Oscillator { k: 2.0 })?;
        let start = [1.0, 0.2];
        let (second, fourth) = (order(&method, start, 4.0, 0.02), order(&Composition(method), start, 4.0, 0.04));
        assert!((second - 2.0).abs() < 0.1 && (fourth - 4.0).abs() < 0.1, "{second} {fourth}");
        Ok(())
    }
}

/// A Duffing oscillator.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2 + q.powi(4) / 4)]
pub(crate) struct Oscillator {
    /// The stiffness.
    pub k: f64,
}

/// A bead on a rotating hoop in its angle: the kinetic energy depends on the angle.
#[feedback_system(coordinates(a), momenta(p), hamiltonian = p.powi(2) / (2 + k * a.sin().powi(2)))]
pub(crate) struct Coupled {
    /// The coupling.
    pub k: f64,
}

/// An oscillator with friction.
#[feedback_system(coordinates(a), momenta(p), hamiltonian = (p.powi(2) + a.powi(2)) / 2, force(p = -c * p))]
pub(crate) struct Damped {
    /// The friction.
    pub c: f64,
}

/// A ball on a slope.
#[feedback_system(coordinates(x), velocities(v), lagrangian = 0.7 * v.powi(2) + x)]
pub(crate) struct Rolling;

#[test]
fn methods_that_do_not_apply_say_why() {
    let text = |result: Result<(), Error>| result.unwrap_err().to_string();
    assert_eq!(
        text(Rattle::new(&Coupled { k: 1.0 }).map(drop)),
        "RATTLE cannot integrate `Coupled`: its Hamiltonian is not p^T M^-1 p / 2 + U(q) with a constant mass matrix M"
    );
    assert_eq!(
        text(Rattle::new(&SphericalPendulumCpv22::default()).map(drop)),
        "RATTLE cannot integrate `SphericalPendulumCpv22`: it has phase constraints, and only holonomic ones can be kept"
    );
    assert_eq!(
        text(StormerVerlet::new(&Coupled { k: 1.0 }).map(drop)),
        "Stormer-Verlet cannot integrate `Coupled`: its Hamiltonian is not T(p) + U(q)"
    );
    assert_eq!(
        text(StormerVerlet::new(&PlanarPendulum::default()).map(drop)),
        "Stormer-Verlet cannot integrate `PlanarPendulum`: it has constraints: take RATTLE"
    );
    assert_eq!(
        text(StormerVerlet::new(&Damped { c: 0.1 }).map(drop)),
        "Stormer-Verlet cannot integrate `Damped`: forces, inputs or the time act on it, and the method knows a potential alone"
    );
    assert_eq!(
        text(Rattle::new(&Rolling).map(drop)),
        "RATTLE cannot integrate `Rolling`: its state has velocities in place of momenta"
    );
    assert!(Oscillator::FACTS.integrals.iter().all(|integral| !integral.kind.is_constraint()));
}
