//! Pendulums: a rod from a pivot to a bob.

use fbint_command::Drawing;
use fbint_command::animation::{Position, circle_about};
use nalgebra::{Matrix3, Vector3, vector};

use crate::{
    DegeneratePendulum, DegeneratePendulumState, DrivenPendulum, DrivenPendulumState, HamelPendulum,
    HamelPendulumState, KapitzaPendulum, KapitzaPendulumState, PlanarPendulum, PlanarPendulumState, RotatingHoop,
    RotatingHoopState, SphericalPendulum, SphericalPendulumCpv22, SphericalPendulumCpv22State, SphericalPendulumState,
};

pub(crate) fn planar_pendulum(_: &PlanarPendulum, at: &PlanarPendulumState) -> Drawing {
    pendulum(Drawing::new(), [0.0, 0.0], at.q)
}

pub(crate) fn hamel_pendulum(_: &HamelPendulum, at: &HamelPendulumState) -> Drawing {
    pendulum(Drawing::new(), [0.0, 0.0], [at.x, at.y])
}

pub(crate) fn driven_pendulum(model: &DrivenPendulum, at: &DrivenPendulumState) -> Drawing {
    let (sin, cos) = at.angle.sin_cos();
    pendulum(Drawing::new(), [0.0, 0.0], [model.l * sin, -model.l * cos])
}

/// The pivot goes up and down in a slot.
pub(crate) fn kapitza_pendulum(model: &KapitzaPendulum, at: &KapitzaPendulumState) -> Drawing {
    let &KapitzaPendulum { amplitude, frequency, .. } = model;
    let slot = [[0.0, -amplitude], [0.0, amplitude]];
    pendulum(Drawing::new().guide(slot), [0.0, amplitude * (frequency * at.t).cos()], at.q)
}

pub(crate) fn spherical_pendulum(model: &SphericalPendulum, at: &SphericalPendulumState) -> Drawing {
    on_sphere(model.l, at.q)
}

pub(crate) fn spherical_pendulum_cpv22(model: &SphericalPendulumCpv22, at: &SphericalPendulumCpv22State) -> Drawing {
    on_sphere(model.l, at.q)
}

/// Seen from the body: its rod stands still, and the direction of the vertical moves on a sphere.
pub(crate) fn degenerate_pendulum(model: &DegeneratePendulum, at: &DegeneratePendulumState) -> Drawing {
    let vertical = model.r * at.gamma;
    let (pivot, bob) = ([0.0, 0.0, 0.0], [0.0, 0.0, model.r]);
    sphere(model.r).rod(pivot, bob).pivot(pivot).point(bob).arrow(pivot, vertical).trace(vertical)
}

/// The bead on its hoop, and the axis about which the hoop turns.
pub(crate) fn rotating_hoop(model: &RotatingHoop, at: &RotatingHoopState) -> Drawing {
    let (sin, cos) = (model.omega * at.t).sin_cos();
    let hoop = circle_about(&vector![-sin, cos, 0.0], &Vector3::zeros(), model.r);
    let axis = [[0.0, 0.0, -1.2 * model.r], [0.0, 0.0, 1.2 * model.r]];
    Drawing::new().guide(axis).rods(hoop).point(at.q).trace(at.q)
}

fn on_sphere(radius: f64, bob: Vector3<f64>) -> Drawing {
    pendulum(sphere(radius), [0.0, 0.0, 0.0], bob)
}

/// Three circles of a sphere about the origin.
pub(super) fn sphere(radius: f64) -> Drawing {
    let axes = Matrix3::<f64>::identity();
    axes.column_iter().fold(Drawing::new(), |drawing, axis| {
        drawing.guide(circle_about(&axis.into_owned(), &Vector3::zeros(), radius))
    })
}

/// A rod from a pivot to a bob that leaves a trace.
pub(super) fn pendulum(drawing: Drawing, pivot: impl Into<Position>, bob: impl Into<Position>) -> Drawing {
    let (pivot, bob) = (pivot.into(), bob.into());
    drawing.rod(pivot, bob).pivot(pivot).point(bob).trace(bob)
}
