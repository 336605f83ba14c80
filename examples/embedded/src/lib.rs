//! A pendulum for a microcontroller: no standard library, no allocator, one step at each tick of a timer.
//!
//! A step takes the same operations whatever the state, so you can measure its time once. Numbers are `f32` where the processor
//! computes in single precision, as on a Cortex-M4F, or `f64`.
#![no_std]
#![forbid(unsafe_code)]

use fbint_runtime::{Error, Feedback, Gains, Scalar, Uniform, feedback_system};

/// A point mass on a sphere of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
)]
#[derive(Clone, Copy, Debug)]
pub struct SphericalPendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

/// The pendulum in `f32` or `f64`, one step of RK4 for each tick.
#[derive(Clone, Debug)]
pub struct Loop<T: Scalar + Into<f64>> {
    field: Feedback<SphericalPendulum, Uniform, T>,
    x: [T; 6],
    h: T,
}

impl<T: Scalar + Into<f64>> Loop<T> {
    /// A loop from a state, with a tick of `h` seconds. Checks and constants are computed in double precision, once.
    ///
    /// # Errors
    ///
    /// If a number is not finite or the state is off the sphere.
    pub fn new(pendulum: &SphericalPendulum, start: SphericalPendulumState, h: f64) -> Result<Self, Error> {
        let x: [f64; 6] = start.into();
        let field = Feedback::new(pendulum, &x, Gains::uniform(1.0))?.cast();
        Ok(Self { field, x: x.map(T::from_f64), h: T::from_f64(h) })
    }

    /// One step.
    pub fn tick(&mut self) {
        self.field.rk4_step(&mut self.x, self.h);
    }

    /// The height of the mass.
    pub fn height(&self) -> f64 {
        self.x[2].into()
    }

    /// The largest distance of an integral from the value that it had at the start.
    pub fn violation(&self) -> f64 {
        let changes = self.field.violations(&self.x).map(|change| change.abs().into());
        changes.into_iter().fold(0.0, f64::max)
    }
}
