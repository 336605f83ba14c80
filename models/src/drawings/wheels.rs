//! Bodies that roll or glide on a plane.

use fbint_command::Drawing;
use fbint_command::animation::circle_about;
use nalgebra::{Vector2, vector};

use crate::{
    BalancedSleigh, BalancedSleighState, ChaplyginSleigh, ChaplyginSleighState, HeldSleigh, HeldSleighState, KnifeEdge,
    KnifeEdgeState, RollerRacer, RollerRacerState, RollingDisk, RollingDiskState,
};

pub(crate) fn chaplygin_sleigh(model: &ChaplyginSleigh, at: &ChaplyginSleighState) -> Drawing {
    let &ChaplyginSleigh { m, j, a } = model;
    sleigh(vector![at.x, at.y], at.theta, a, (j / m).sqrt())
}

pub(crate) fn held_sleigh(model: &HeldSleigh, at: &HeldSleighState) -> Drawing {
    let &HeldSleigh { m, j, a } = model;
    sleigh(vector![at.x, at.y], at.theta, a, (j / m).sqrt())
}

pub(crate) fn balanced_sleigh(model: &BalancedSleigh, at: &BalancedSleighState) -> Drawing {
    sleigh(vector![at.x, at.y], at.theta, 0.0, (model.j / model.m).sqrt() / 2.0)
}

/// A body with its blade at `contact` and its centre of mass `a` before it; `size` is about its radius of gyration.
fn sleigh(contact: Vector2<f64>, angle: f64, a: f64, size: f64) -> Drawing {
    let ahead = vector![angle.cos(), angle.sin()];
    let aside = vector![-angle.sin(), angle.cos()];
    let corner = |along: f64, across: f64| contact + (a + size * along) * ahead + size * across * aside;
    Drawing::new()
        .face([corner(1.2, 0.0), corner(0.3, 0.7), corner(-1.0, 0.6), corner(-1.0, -0.6), corner(0.3, -0.7)])
        .rod(contact - 0.4 * size * ahead, contact + 0.4 * size * ahead)
        .point(contact + a * ahead)
        .trace(contact)
}

/// The plane as seen from above, with what is downhill below.
pub(crate) fn knife_edge(model: &KnifeEdge, at: &KnifeEdgeState) -> Drawing {
    let (sin, cos) = at.phi.sin_cos();
    let contact = vector![at.y, -at.x];
    let half = 0.1 * (model.j / model.m).sqrt() * vector![sin, -cos];
    Drawing::new().rod(contact - half, contact + half).trace(contact).point(contact + half)
}

/// The disk with a spoke, whose end leaves a trace, as the point of contact does.
pub(crate) fn rolling_disk(model: &RollingDisk, at: &RollingDiskState) -> Drawing {
    let radius = model.radius;
    let (ahead, up) = (vector![at.phi.cos(), at.phi.sin(), 0.0], vector![0.0, 0.0, 1.0]);
    let contact = vector![at.x, at.y, 0.0];
    let centre = contact + radius * up;
    let rim = centre + radius * (at.psi.cos() * up + at.psi.sin() * ahead);
    let disk = circle_about(&ahead.cross(&up), &centre, radius);
    Drawing::new().face(disk).rod(centre, rim).point(rim).trace(contact).trace(rim)
}

/// Two bodies joined by a hinge, each with an axle.
pub(crate) fn roller_racer(model: &RollerRacer, at: &RollerRacerState) -> Drawing {
    let direction = |angle: f64| vector![angle.cos(), angle.sin()];
    let seat = vector![at.x, at.y];
    let hinge = seat + model.d1 * direction(at.theta);
    let arm = hinge + model.d2 * direction(at.theta + at.phi);
    let drawing = Drawing::new().rods([seat, hinge, arm]);
    let drawing = axle(drawing, seat, at.theta, model.d1);
    axle(drawing, arm, at.theta + at.phi, model.d1).point(hinge).trace(seat).trace(arm)
}

/// An axle across a direction, with a wheel at either end; `length` is the length of the vehicle.
fn axle(drawing: Drawing, middle: Vector2<f64>, angle: f64, length: f64) -> Drawing {
    let wheel = 0.15 * length * vector![angle.cos(), angle.sin()];
    let half = 0.35 * length * vector![-angle.sin(), angle.cos()];
    let ends = [middle - half, middle + half];
    ends.into_iter().fold(drawing.guide(ends), |drawing, end| drawing.rod(end - wheel, end + wheel))
}
