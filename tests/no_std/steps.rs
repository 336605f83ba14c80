//! The crate without the standard library computes: the two pendulums agree.
#![allow(missing_docs)]

use fbint_no_std::{angle, released};

#[test]
fn pendulums_in_the_plane_and_by_the_angle_agree() {
    let end = released(9.81, 1e-3, 2000).expect("the start is on the circle");
    let angle = angle(9.81, 2.0).expect("the start is finite");
    assert!((end.q.x - angle.sin()).abs() < 1e-8 && (end.q.y + angle.cos()).abs() < 1e-8, "{end:?}, angle {angle}");
    assert!((angle - std::f64::consts::FRAC_PI_2).abs() > 0.1, "it moved: {angle}");
}
