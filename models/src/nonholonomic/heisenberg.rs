//! The Heisenberg system (Blo15, section 1.8): a particle with z' = y x' - x y'.
//!
//! Its reaction is 0, so that it moves along straight lines at constant speed.

use fbint_runtime::feedback_system;

/// A free particle that rises as it goes round the vertical axis.
#[feedback_system(
    coordinates(x, y, z),
    velocities(vx, vy, vz),
    lagrangian = m * (vx.powi(2) + vy.powi(2) + vz.powi(2)) / 2,
    velocity_constraint(rise = vz - y * vx + x * vy),
    invariant(speed_x = vx, speed_y = vy),
    default(m = 1),
    draw(
        guide(vector![x, y, 0], vector![x, y, z]), pivot(vector![0, 0, 0]), point(vector![x, y, z]), trace(vector![x, y, z]),
        trace(vector![x, y, 0]), guide(vector![0, 0, 0], vector![x, y, 0]),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct HeisenbergSystem {
    /// The mass.
    pub m: f64,
}

impl HeisenbergSystem {
    /// A start off the vertical axis.
    pub fn start(&self) -> HeisenbergSystemState {
        HeisenbergSystemState { x: 1.0, y: 0.5, z: 0.0, vx: 0.3, vy: -0.4, vz: 0.55 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    #[test]
    fn moves_along_a_straight_line() -> Result<(), Error> {
        let system = HeisenbergSystem { m: 1.3 };
        let start = system.start();
        let time = 10.0;
        let end = Simulation::new(&system, start)?.run(Method::Rk4 { h: 0.01 }, time)?.state();
        let off = |end: f64, start: f64, speed: f64| (end - start - speed * time).abs();
        assert!(off(end.x, start.x, start.vx) < 1e-11, "{end:?}");
        assert!(off(end.y, start.y, start.vy) < 1e-11 && off(end.z, start.z, start.vz) < 1e-11, "{end:?}");
        Ok(())
    }
}
