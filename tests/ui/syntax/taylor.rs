//! The series of a field with |x|: its functions are there all the same.

use fbint_runtime::{FeedbackSystem, Four, TaylorSystem, feedback_system};

#[feedback_system(state(x, v), dynamics(x = v, v = -x.abs()), taylor)]
struct Bouncing;

fn main() {
    let mut coefficients = [[1.0, 0.0], [0.0; 2]];
    Bouncing::taylor_coefficients(&Bouncing.prepare(), &mut coefficients, &mut [Four::ZERO; Bouncing::COLUMNS]);
}
