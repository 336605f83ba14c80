//! A clock that runs backwards, with names that tables have for something else.

use fbint_command::{Error, Model, feedback_system};

/// A clock.
#[feedback_system(
    coordinates(t, drift: [2]),
    momenta(p, member: [2]),
    hamiltonian = member.norm_squared() / 2 - p * c,
    output(error = 2 * t),
)]
pub struct Clock {
    pub c: f64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

impl Model for Clock {
    fn start(&self) -> Result<ClockState, Error> {
        Ok(ClockState { t: 5.0, drift: [7.0, 8.0].into(), p: 1.0, member: [0.5, 0.25].into() })
    }
}

fn main() -> std::process::ExitCode {
    fbint_command::main![Clock]
}
