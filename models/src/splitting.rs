//! Splitting methods that need a model's own geometry: exact flows of parts of it, one after the other (HLW06 II.5).
//!
//! On the sphere, the free motion is a rotation along a great circle and gravity is a kick in the tangent plane; for the free
//! rigid body, each third of the energy pi_i^2 / (2 I_i) turns the body about its own axis i. Both keep their manifolds to
//! rounding.

use fbint_runtime::OneStep;
use nalgebra::{Matrix3, Rotation3, Vector3};

/// A point mass on a sphere around the origin, in the flat state (q, p), with gravity along `-q[2]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
}

impl Sphere {
    /// The motion without gravity, exactly: along the great circle through q in the direction of p. Rounding leaves p a
    /// little off the tangent plane, which would add up in |q| and is taken out.
    fn rotate(x: &mut [f64; 6], m: f64, h: f64) {
        let (q, p) = split(x);
        let p = p - q * (q.dot(&p) / q.norm_squared());
        let (radius, momentum) = (q.norm(), p.norm());
        if momentum == 0.0 {
            return;
        }
        let angle = h * momentum / (m * radius);
        // 1 - cos, without the cancellation whose rounding would add up over many short steps.
        let (sin, versine) = (angle.sin(), 2.0 * (0.5 * angle).sin().powi(2));
        let (dq, dp) = (p * (sin * radius / momentum) - q * versine, -q * (sin * momentum / radius) - p * versine);
        join(x, q + dq, p + dp);
    }

    /// The motion under gravity alone, which changes p within the tangent plane.
    fn kick(&self, x: &mut [f64; 6], h: f64) {
        let (q, p) = split(x);
        let tangential = Vector3::z() - q * (q.z / q.norm_squared());
        join(x, q, p - tangential * (h * self.m * self.g));
    }
}

fn split(&[q0, q1, q2, p0, p1, p2]: &[f64; 6]) -> (Vector3<f64>, Vector3<f64>) {
    (Vector3::new(q0, q1, q2), Vector3::new(p0, p1, p2))
}

fn join(x: &mut [f64; 6], q: Vector3<f64>, p: Vector3<f64>) {
    *x = [q.x, q.y, q.z, p.x, p.y, p.z];
}

/// Rotation, then kick: of order 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LieTrotter(pub Sphere);

impl OneStep<[f64; 6]> for LieTrotter {
    fn step(&self, x: &mut [f64; 6], h: f64) {
        Sphere::rotate(x, self.0.m, h);
        self.0.kick(x, h);
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// Half a kick, rotation, half a kick: symmetric and of order 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strang(pub Sphere);

impl OneStep<[f64; 6]> for Strang {
    fn step(&self, x: &mut [f64; 6], h: f64) {
        self.0.kick(x, 0.5 * h);
        Sphere::rotate(x, self.0.m, h);
        self.0.kick(x, 0.5 * h);
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// The free rigid body in the flat state (R column by column, omega): turns about the axes 1, 2, 3, 2, 1, symmetric and of
/// order 2 (HLW06 VII.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidBody {
    /// The principal moments of inertia.
    pub inertia: Vector3<f64>,
}

impl RigidBody {
    /// The flow of pi_i^2 / (2 I_i): a turn by h omega_i about body axis i, exactly.
    fn turn(&self, x: &mut [f64; 12], axis: usize, h: f64) {
        let (r, omega) = (Matrix3::from_column_slice(&x[..9]), Vector3::from_column_slice(&x[9..]));
        let turn = Rotation3::from_axis_angle(&Vector3::ith_axis(axis), h * omega[axis]);
        let momentum = turn.inverse_transform_vector(&self.inertia.component_mul(&omega));
        let r = r * turn.matrix();
        x[..9].copy_from_slice(r.as_slice());
        x[9..].copy_from_slice(momentum.component_div(&self.inertia).as_slice());
    }
}

impl OneStep<[f64; 12]> for RigidBody {
    fn step(&self, x: &mut [f64; 12], h: f64) {
        for (axis, part) in [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)] {
            self.turn(x, axis, part * h);
        }
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}
