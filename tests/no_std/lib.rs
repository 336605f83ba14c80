//! One pendulum declared three times, where generated code has least to stand on: no standard library, no allocator, the edition of
//! 2021, and a runtime that is called something else.
//!
//! That nothing below needs the standard library either is proved by building with the feature `freestanding` as a static
//! library: a second panic handler, which the standard library would bring, is refused, and so is a crate that allocates
//! where there is no allocator. Built together with crates that use the runtime's feature `std`, the runtime has it, too.
#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub, unused_qualifications, unused_results)]
#![deny(clippy::pedantic, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]

use integrators::tableau::RK4;
use integrators::{
    feedback_system, DiscreteHamel, Error, Feedback, FeedbackSystem, Gains, Integrator, Sensitivity, Tolerance,
};

/// A point mass on a circle under gravity, in the plane.
#[feedback_system(
    crate = integrators,
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    output(tension = -2 * l * multiplier(length)),
    derivatives,
)]
#[derive(Clone, Copy, Debug)]
pub struct Planar {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// A pendulum described by the angle from the downward vertical.
#[feedback_system(
    crate = integrators,
    coordinates(angle),
    momenta(spin),
    hamiltonian = spin.powi(2) / (2 * m * l.powi(2)) - m * g * l * angle.cos(),
)]
#[derive(Clone, Copy, Debug)]
pub struct ByAngle {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// A pendulum by its Lagrangian, in the angle from the downward vertical and the speed of the mass.
#[feedback_system(
    crate = integrators,
    coordinates(angle),
    velocities(speed),
    kinematics(angle = speed / l),
    lagrangian = m * speed.powi(2) / 2 + m * g * l * angle.cos(),
)]
#[derive(Clone, Copy, Debug)]
pub struct BySpeed {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// The state of a pendulum of mass and length 1, released level with its pivot, after `steps` steps of RK4 with feedback.
///
/// # Errors
///
/// None: the parameters and the start are right.
pub fn released(g: f64, h: f64, steps: u32) -> Result<PlanarState, Error> {
    let mut x = [1.0, 0.0, 0.0, 0.0];
    let feedback = Feedback::new(&Planar { m: 1.0, g, l: 1.0 }, &x, Gains::uniform(1.0))?;
    for _ in 0..steps {
        feedback.rk4_step(&mut x, h);
    }
    Ok(x.into())
}

/// `q[0]` of the pendulum after `steps` steps of RK4 without feedback, and its derivative by g.
#[must_use]
pub fn by_gravity(g: f64, h: f64, steps: usize) -> [f64; 2] {
    let run = Sensitivity::<Planar>::new(Planar { m: 1.0, g, l: 1.0 }.prepare());
    let (end, gradient) = run.gradient(&RK4, [1.0, 0.0, 0.0, 0.0], h, steps, 8, |_| [1.0, 0.0, 0.0, 0.0]);
    [end[0], gradient.parameters[1]]
}

/// The angle of the pendulum at a time, by DOP853 with error control, or NaN if it cannot be integrated.
///
/// # Errors
///
/// None: the parameters, the start and the tolerances are right.
pub fn angle(g: f64, time: f64) -> Result<f64, Error> {
    let start = ByAngleState { angle: core::f64::consts::FRAC_PI_2, spin: 0.0 };
    let x = start.into();
    let feedback = Feedback::new(&ByAngle { m: 1.0, g, l: 1.0 }, &x, Gains::uniform(1.0))?;
    let mut integrator = Integrator::dop853(&feedback, x, Tolerance::new(1e-12, 1e-12)?);
    let end = integrator.advance_to(time).map(|()| ByAngleState::from(*integrator.state()).angle);
    Ok(end.unwrap_or(f64::NAN))
}

/// The angle of the pendulum after `steps` steps of the discrete Hamel integrator, or NaN if a step does not converge.
///
/// # Errors
///
/// None: the system is a Lagrangian one, and the start is finite.
pub fn angle_of_hamel(g: f64, h: f64, steps: u32) -> Result<f64, Error> {
    let start = BySpeedState { angle: core::f64::consts::FRAC_PI_2, speed: 0.0 };
    let mut integrator = DiscreteHamel::new(&BySpeed { m: 1.0, g, l: 1.0 }, start)?;
    for _ in 0..steps {
        if integrator.step(h).is_err() {
            return Ok(f64::NAN);
        }
    }
    Ok(BySpeedState::from(*integrator.state()).angle)
}

#[cfg(feature = "freestanding")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
