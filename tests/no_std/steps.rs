//! The crate without the standard library computes: the three pendulums agree.
#![allow(missing_docs)]

use fbint_no_std::{angle, angle_of_hamel, by_gravity, released};

#[test]
fn pendulums_in_the_plane_and_by_the_angle_agree() {
    let end = released(9.81, 1e-3, 2000).expect("the start is on the circle");
    let angle = angle(9.81, 2.0).expect("the start is finite");
    assert!((end.q.x - angle.sin()).abs() < 1e-8 && (end.q.y + angle.cos()).abs() < 1e-8, "{end:?}, angle {angle}");
    assert!((angle - std::f64::consts::FRAC_PI_2).abs() > 0.1, "it moved: {angle}");
}

/// The discrete Hamel integrator has order 2: of steps of 1 ms, the error is of the order of 1e-6.
#[test]
fn a_pendulum_by_its_lagrangian_agrees() {
    let hamel = angle_of_hamel(9.81, 1e-3, 2000).expect("a Lagrangian system and a finite start");
    let angle = angle(9.81, 2.0).expect("the start is finite");
    assert!((hamel - angle).abs() < 1e-4, "{hamel}, {angle} by DOP853");
}

#[test]
fn a_run_is_differentiated() {
    let end = |g: f64| by_gravity(g, 1e-2, 200)[0];
    let difference = (end(9.81 + 1e-5) - end(9.81 - 1e-5)) / 2e-5;
    let slope = by_gravity(9.81, 1e-2, 200)[1];
    assert!((slope - difference).abs() < 1e-7, "{slope}, {difference} by a difference");
    assert!(slope.abs() > 1e-3, "it depends on gravity: {slope}");
}
