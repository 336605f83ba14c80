//! Steps of a fixed size, whatever the method is.

use crate::error::failure::StepFailure;
use crate::field::Field;
use crate::hold::projection::{Land, Lander};
use crate::method::geometric::OneStep;
use crate::method::settings::FixedStep;
use crate::system::{FeedbackSystem, Vector};

/// A stepper with steps of a fixed size.
pub(crate) trait Advance<L: Land> {
    /// Makes a step.
    fn step(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure>;
    /// Makes a step that no other follows.
    fn step_alone(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure> {
        self.step(x, h)
    }
    /// Makes a step to a time, and projects its end. A method that estimates no error lets every entry count alike.
    fn projected_step(&mut self, lander: &mut L, x: &mut L::State, h: f64, _time: f64) -> Result<(), StepFailure> {
        let begin = x.clone();
        self.step(x, h)?;
        lander.land_alike(&begin, h, x);
        Ok(())
    }
    /// Returns `true` if a projected step begins with the derivative with which the one before it has ended.
    fn keeps_derivative(&self) -> bool {
        false
    }
    /// The field.
    fn rates(&self, x: &L::State) -> L::State;
    /// The state after a fraction of the last step, which began at `begin`, on a polynomial that took no evaluation, if there is one.
    fn between(&self, _begin: &L::State, _fraction: f64) -> Option<L::State> {
        None
    }
    /// The number of evaluations of the field in the last step.
    fn evaluations(&self) -> u64;
    /// The largest rate of decay of the feedback.
    fn decay_rate(&self, _x: &L::State) -> f64 {
        0.0
    }
    /// Forgets what is known of the field, because inputs have jumped.
    fn begin_anew(&mut self) {}
    /// Vectors carried from step to step in addition to the state, each as long as the state.
    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        None
    }
    /// Carries what was carried to this state, or what a start there would.
    fn carry(&mut self, _x: &L::State, _carried: Option<&[Vec<f64>]>) {}
}

/// A method that is known only at run time.
impl<L: Land> Advance<L> for Box<dyn Advance<L> + '_> {
    fn step(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure> {
        (**self).step(x, h)
    }

    fn step_alone(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure> {
        (**self).step_alone(x, h)
    }

    fn projected_step(&mut self, lander: &mut L, x: &mut L::State, h: f64, time: f64) -> Result<(), StepFailure> {
        (**self).projected_step(lander, x, h, time)
    }

    fn keeps_derivative(&self) -> bool {
        (**self).keeps_derivative()
    }

    fn rates(&self, x: &L::State) -> L::State {
        (**self).rates(x)
    }

    fn between(&self, begin: &L::State, fraction: f64) -> Option<L::State> {
        (**self).between(begin, fraction)
    }

    fn evaluations(&self) -> u64 {
        (**self).evaluations()
    }

    fn decay_rate(&self, x: &L::State) -> f64 {
        (**self).decay_rate(x)
    }

    fn begin_anew(&mut self) {
        (**self).begin_anew();
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        (**self).carried()
    }

    fn carry(&mut self, x: &L::State, carried: Option<&[Vec<f64>]>) {
        (**self).carry(x, carried);
    }
}

/// Steps of an explicit Runge-Kutta method along a field.
pub(crate) struct Explicit<'f, F> {
    pub(crate) method: FixedStep,
    pub(crate) field: &'f F,
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Advance<Lander<S>> for Explicit<'_, F> {
    fn keeps_derivative(&self) -> bool {
        true
    }

    fn step(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        self.method.step(|x| self.field.value(x), x, h);
        Ok(())
    }

    fn projected_step(
        &mut self,
        Lander { projector, landing }: &mut Lander<S>,
        x: &mut Vector<S>,
        h: f64,
        time: f64,
    ) -> Result<(), StepFailure> {
        *landing = self.method.projected_step(projector, |x| self.field.value(x), x, h, time);
        Ok(())
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.field.value(x)
    }

    fn evaluations(&self) -> u64 {
        self.method.evaluations()
    }

    fn decay_rate(&self, x: &Vector<S>) -> f64 {
        self.field.decay_rate(x)
    }
}

/// Steps of a geometric integrator.
pub(crate) struct Geometric<'m, S: FeedbackSystem, F> {
    pub(crate) map: Box<dyn OneStep<Vector<S>> + 'm>,
    pub(crate) field: &'m F,
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Advance<Lander<S>> for Geometric<'_, S, F> {
    fn step(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        self.map.step(x, h);
        Ok(())
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.field.value(x)
    }

    fn evaluations(&self) -> u64 {
        self.map.evaluations_per_step()
    }
}
