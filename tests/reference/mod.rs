//! Values computed independently of this project, to test against.

#[rustfmt::skip]
pub mod field_points;
// The square root of two is a momentum there, not a constant.
#[allow(clippy::approx_constant)]
#[rustfmt::skip]
pub mod trajectories;

/// What a model should give at one state.
#[derive(Debug)]
pub struct FieldPoint {
    /// The state.
    pub state: &'static [f64],
    /// F
    pub integrals: &'static [f64],
    /// DF, row by row, where it is stored.
    pub jacobian: &'static [&'static [f64]],
    /// X
    pub field: &'static [f64],
    /// grad V with K = 50.
    pub potential_gradient: &'static [f64],
    /// X - grad V with K = 50.
    pub feedback: &'static [f64],
    /// grad V with K = diag(1, 2, 3, ..).
    pub distinct_gradient: &'static [f64],
}
