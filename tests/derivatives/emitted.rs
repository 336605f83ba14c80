//! The emitted derivatives do what their programs say, bit by bit, for a system with each kind of field.

use fbint_macros_core::program::{
    FEEDBACK_FIELD_ADJOINT, FEEDBACK_FIELD_DERIVATIVES, FEEDBACK_FIELD_STATE_TANGENT, FEEDBACK_FIELD_TANGENT,
    GeneratedFunction, INTEGRALS_ADJOINT, INTEGRALS_DERIVATIVES, INTEGRALS_TANGENT, OUTPUTS_ADJOINT,
    OUTPUTS_DERIVATIVES, OUTPUTS_TANGENT, PROJECTION_ADJOINT, PROJECTION_TANGENT, VECTOR_FIELD_ADJOINT,
    VECTOR_FIELD_DERIVATIVES, VECTOR_FIELD_STATE_TANGENT, VECTOR_FIELD_TANGENT,
};
use fbint_runtime::{
    DifferentiableSystem, Direction, DrivenSystem, Entries, FeedbackSystem, GeneratedSystem, Gradient, Integrals,
    ProjectionGradient, Vector,
};
use fbint_tests::Random;
use fbint_tests::compiler::Declaration;
use nalgebra::Vector3;

use super::agreement::Place;
use super::systems::*;

const STATES: usize = 100;

/// How a system takes inputs.
type WithInputs<S> = fn(<S as FeedbackSystem>::Prepared<f64>, &[f64]) -> <S as FeedbackSystem>::Prepared<f64>;

fn agrees<S: DifferentiableSystem + GeneratedSystem>(mut system: S, with_inputs: WithInputs<S>) {
    let compiled = Declaration::named(include_str!("systems.rs"), S::FACTS.name).compile_with_derivatives();
    let mut random = Random::new(1);
    for _ in 0..STATES {
        let place = Place::random(&compiled, [-1.5, 1.5], &mut random);
        for index in 0..place.parameters {
            *system.parameter_mut(index).expect("a parameter") = place.unknowns[place.states + index];
        }
        let inputs = &place.unknowns[place.states + place.parameters..place.symbols];
        for (function, obtained) in emitted::<S>(&with_inputs(system.prepare(), inputs), &place) {
            let expected = place.derivative(function);
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&obtained),
                bits(&expected),
                "{} {}: {obtained:?} {expected:?}",
                S::FACTS.name,
                function.name
            );
        }
    }
}

/// The results of every derivative, in the order of the program's.
fn emitted<S: DifferentiableSystem + GeneratedSystem>(
    system: &S::Prepared<f64>,
    place: &Place<'_>,
) -> [(&'static GeneratedFunction, Vec<f64>); 16] {
    let x: &Vector<S> = &part(&place.unknowns, 0);
    let direction = direction(place);
    let (v, along) = (&direction.prepare(system), &direction.state);
    let (w, of_integrals, of_outputs) = (&part(&place.weights, 0), &part(&place.weights, 0), &part(&place.weights, 0));
    let (gains, noise): (&Integrals<S>, &Integrals<S>) = (&part(&place.gains, 0), &part(&place.noise, 0));
    let variances = |flat: &[f64]| -> Vector<S> { part(flat, place.symbols) };
    let targets = |flat: &[f64]| -> Integrals<S> { part(flat, place.symbols + place.states) };
    let (s, s_direction) = (&variances(&place.unknowns), &variances(&place.direction));
    let (t, t_direction) = (&targets(&place.unknowns), &targets(&place.direction));
    let dense = |rows: usize, pattern: &[(usize, usize)], entries: &[f64]| {
        let mut dense = vec![0.0; rows * place.symbols];
        let places = pattern.iter().map(|(row, column)| row * place.symbols + column);
        places.zip(entries).for_each(|(place, entry)| dense[place] = *entry);
        dense
    };
    let dense_by_state = |pattern, entries: &[f64]| dense(place.states, pattern, entries);
    let outputs = <S::Outputs<f64> as Entries<f64>>::LEN;
    [
        (&VECTOR_FIELD_TANGENT, pair(S::vector_field_tangent(system, x, v))),
        (&VECTOR_FIELD_STATE_TANGENT, pair(S::vector_field_state_tangent(system, x, along))),
        (&VECTOR_FIELD_ADJOINT, gradient(S::vector_field_adjoint(system, x, w))),
        (
            &VECTOR_FIELD_DERIVATIVES,
            dense_by_state(S::VECTOR_FIELD_PATTERN, S::vector_field_derivatives(system, x).as_ref()),
        ),
        (&FEEDBACK_FIELD_TANGENT, pair(S::feedback_field_tangent(system, x, gains, t, v))),
        (&FEEDBACK_FIELD_STATE_TANGENT, pair(S::feedback_field_state_tangent(system, x, gains, t, along))),
        (&FEEDBACK_FIELD_ADJOINT, gradient(S::feedback_field_adjoint(system, x, gains, t, w))),
        (
            &FEEDBACK_FIELD_DERIVATIVES,
            dense_by_state(S::FEEDBACK_FIELD_PATTERN, S::feedback_field_derivatives(system, x, gains, t).as_ref()),
        ),
        (&INTEGRALS_TANGENT, pair(S::integrals_tangent(system, x, v))),
        (&INTEGRALS_ADJOINT, gradient(S::integrals_adjoint(system, x, of_integrals))),
        (
            &INTEGRALS_DERIVATIVES,
            dense(S::FACTS.integrals.len(), S::INTEGRALS_PATTERN, S::integrals_derivatives(system, x).as_ref()),
        ),
        (&OUTPUTS_TANGENT, pair(S::outputs_tangent(system, x, v))),
        (&OUTPUTS_ADJOINT, gradient(S::outputs_adjoint(system, x, of_outputs))),
        (&OUTPUTS_DERIVATIVES, dense(outputs, S::OUTPUTS_PATTERN, S::outputs_derivatives(system, x).as_ref())),
        (&PROJECTION_TANGENT, pair(S::projection_tangent(system, x, s, noise, t, v, s_direction, t_direction))),
        (&PROJECTION_ADJOINT, projection_gradient(S::projection_adjoint(system, x, s, noise, t, w))),
    ]
}

/// The entries that begin at a place.
fn part<V: Entries<f64>>(flat: &[f64], first: usize) -> V {
    Entries::from_fn(|i| flat[first + i])
}

fn direction<S: DifferentiableSystem + GeneratedSystem>(place: &Place<'_>) -> Direction<S> {
    Direction {
        state: part(&place.direction, 0),
        parameters: part(&place.direction, place.states),
        inputs: part(&place.direction, place.states + place.parameters),
    }
}

fn pair<V: Entries<f64>>((value, tangent): (V, V)) -> Vec<f64> {
    [value.as_ref(), tangent.as_ref()].concat()
}

fn gradient<S: DifferentiableSystem + GeneratedSystem>(
    Gradient { state, parameters, inputs }: Gradient<S>,
) -> Vec<f64> {
    [state.as_ref(), parameters.as_ref(), inputs.as_ref()].concat()
}

fn projection_gradient<S: DifferentiableSystem + GeneratedSystem>(of: ProjectionGradient<S>) -> Vec<f64> {
    [&gradient(of.unknowns)[..], of.variances.as_ref(), of.targets.as_ref()].concat()
}

#[test]
fn a_pendulum() {
    agrees(PlanarPendulum { m: 1.0, g: 1.0, l: 1.0 }, |system, _| system);
}

#[test]
fn a_rigid_body() {
    agrees(EulerTop { inertia: Vector3::repeat(1.0) }, |system, _| system);
}

#[test]
fn a_sleigh() {
    agrees(HeldSleigh { m: 1.0, j: 1.0, a: 1.0 }, |system, _| system);
}

#[test]
fn a_cart_with_a_motor() {
    agrees(CartPole { cart: 1.0, m: 1.0, l: 1.0, g: 1.0, c: 1.0 }, |system, inputs| {
        CartPole::with_input(system, [inputs[0]])
    });
}
