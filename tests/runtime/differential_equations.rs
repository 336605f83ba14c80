//! Fields with and without feedback as equations of the crate `differential-equations`.

use super::models::{SPHERICAL_PENDULUM, SphericalPendulum};
use differential_equations::ode::ODE;
use differential_equations::prelude::{DiagonallyImplicitRungeKutta, IVP, ImplicitRungeKutta};
use fbint_runtime::nalgebra::Vector6;
use fbint_runtime::{Feedback, Field, Gains, Integrator, PlainField, Tolerance};

#[test]
fn implicit_methods_end_where_dop853_does() {
    let feedback = Feedback::new(&SPHERICAL_PENDULUM, &SphericalPendulum::start(), Gains::uniform(1.0)).unwrap();
    assert_same_end(&feedback);
    assert_same_end(&PlainField::new(&SPHERICAL_PENDULUM));
}

fn assert_same_end<F: Field<Vector = [f64; 6]> + ODE<f64, Vector6<f64>>>(field: &F) {
    let start = SphericalPendulum::start();
    let mut dop853 = Integrator::dop853(field, start, Tolerance::new(1e-12, 1e-12).unwrap());
    dop853.advance_to(2.0).unwrap();
    let (start, end) = (Vector6::from(start), Vector6::from(*dop853.state()));

    let method = DiagonallyImplicitRungeKutta::kvaerno745().rtol(1e-9).atol(1e-9);
    let kvaerno = IVP::ode(field, 0.0, 2.0, start).method(method).solve().unwrap();
    let error = (kvaerno.y.last().unwrap() - end).norm();
    assert!(error < 1e-6, "Kvaerno: {error}");

    // This is as close as that crate's Radau comes: its steps hardly grow in number with a smaller tolerance.
    let method = ImplicitRungeKutta::radau5().rtol(1e-9).atol(1e-9);
    let radau = IVP::ode(field, 0.0, 2.0, start).method(method).solve().unwrap();
    let error = (radau.y.last().unwrap() - end).norm();
    assert!(error < 2e-3, "Radau: {error}");
}
