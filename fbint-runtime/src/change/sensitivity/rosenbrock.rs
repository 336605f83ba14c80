//! The derivative of one step of Rodas5P.
//!
//! With M = I / (gamma h) - J(x), a direction v moves by
//!
//! ```text
//! M u'_i = Df(X_i) X'_i + sum_{j<i} c_ij u'_j / h + J' u_i,   X'_i = v + sum_{j<i} a_ij u'_j,
//! ```
//!
//! where Df has the derivatives by parameters and inputs in it, and J' u_i is the derivative of J u_i along the direction, u_i held. Second
//! derivatives are symmetric: it is the derivative of the tangent along the direction when the state moves by u_i, which numbers with
//! a derivative give.

use super::Sensitivity;
use super::step::value;
use crate::error::failure::StepFailure;
use crate::field::laws::{Laws, under_law, under_laws};
use crate::numbers::dual::Dual;
use crate::numbers::entries::Entries;
use crate::numbers::linear::{filled, sum};
use crate::numbers::scalar::Scalar;
use crate::stages::rodas5p::{C, RODAS5P, STAGES, StepMatrix};
use crate::stages::tableau::advanced;
use crate::system::derivatives::{DifferentiableSystem, Direction, PreparedDirection};
use crate::system::{FeedbackSystem, PreparedSystem, Vector};

impl<S: DifferentiableSystem> Sensitivity<S> {
    /// The end of a step of [Rodas5P](crate::Method::Rodas5P) of size `h` from `start`, and its derivative along each of the directions,
    /// exact up to rounding for the numbers that the method computes. A projection takes no part.
    ///
    /// Along a run, a step takes the directions of the step before, with its derivatives for the state. A step of an
    /// [`Integrator`](crate::Integrator) of this size has the same end; that its size depends on the start is not differentiated.
    ///
    /// ```
    /// use fbint_runtime::{Direction, FeedbackSystem, Integrator, PlainField, Sensitivity, Tolerance, feedback_system};
    ///
    /// /// A mass on a spring with a damper that is strong.
    /// #[feedback_system(
    ///     coordinates(q),
    ///     momenta(p),
    ///     hamiltonian = (p.powi(2) + q.powi(2)) / 2,
    ///     force(p = -1e6 * p),
    ///     derivatives,
    /// )]
    /// pub struct Damped;
    ///
    /// let sensitivity = Sensitivity::<Damped>::new(Damped.prepare());
    /// let field = PlainField::new(&Damped);
    /// let mut integrator = Integrator::rodas5p(&field, [1.0, 0.0, 0.0], Tolerance::new(1e-6, 1e-6)?)?;
    /// let (mut state, mut direction) = (*integrator.state(), Direction::of_state([1.0, 0.0, 0.0]));
    /// while integrator.time() < 100.0 {
    ///     let before = integrator.time();
    ///     integrator.step(100.0)?;
    ///     let [change];
    ///     (state, [change]) = sensitivity.rodas5p_step(&state, integrator.time() - before, &[direction])?;
    ///     direction.state = change;
    /// }
    /// // The motion is linear but for the work.
    /// assert!((direction.state[0] - state[0]).abs() < 1e-12 && (state[0] - (-1e-4_f64).exp()).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the Jacobian of the field is not finite, or the matrix of the step is singular.
    pub fn rodas5p_step<const K: usize>(
        &self,
        start: &Vector<S>,
        h: f64,
        directions: &[Direction<S>; K],
    ) -> Result<(Vector<S>, [Vector<S>; K]), StepFailure> {
        let matrix = self.step_matrix(start, h)?;
        let directions = directions.each_ref().map(|direction| direction.prepare(&self.system));
        let (mut stages, mut changes) = ([filled(0.0); STAGES], [[filled(0.0); STAGES]; K]);
        let (mut end, mut ends) = (*start, directions.map(|direction| direction.state));
        for i in 1..STAGES {
            end = advanced(start, 1.0, &stages[..i], &RODAS5P.a[i]);
            stages[i] = advanced(&value::<S>(&self.system, self.law.as_ref(), &end), h.recip(), &stages[..i], &C[i]);
            matrix.solve(stages[i].as_mut());
            for ((direction, changes), state) in directions.iter().zip(&mut changes).zip(&mut ends) {
                *state = advanced(&direction.state, 1.0, &changes[..i], &RODAS5P.a[i]);
                let along = PreparedDirection { state: *state, ..*direction };
                let rates = advanced(&self.tangent(&self.system, &end, &along), h.recip(), &changes[..i], &C[i]);
                changes[i] = sum(&rates, 1.0, &self.turn(start, &stages[i], direction));
                matrix.solve(changes[i].as_mut());
            }
        }
        end = sum(&end, 1.0, &stages[STAGES - 1]);
        if let Some(clock) = self.system.facts().clock {
            end[clock] = start[clock] + h;
        }
        Ok((end, core::array::from_fn(|k| sum(&ends[k], 1.0, &changes[k][STAGES - 1]))))
    }

    fn step_matrix(&self, start: &Vector<S>, h: f64) -> Result<StepMatrix, StepFailure> {
        let mut matrix = StepMatrix::new(self.system.facts().state.len());
        let feedback = self.law.as_ref().map(|law| [&law.gains, &law.targets]);
        matrix.linearise(|add| {
            let laws = (&self.system, Laws::Followed);
            under_laws::<S, f64>(laws, start, &mut |system, add| system.jacobian(start, feedback, add), add)
        });
        if let Some(entry) = matrix.not_finite() {
            return Err(StepFailure::Jacobian { entry });
        }
        matrix.factorise(h);
        if matrix.is_singular() { Err(StepFailure::Singular) } else { Ok(matrix) }
    }

    /// The derivative of the field along a direction.
    fn tangent<T: Scalar>(
        &self,
        system: &S::Prepared<T>,
        x: &Vector<S, T>,
        direction: &PreparedDirection<S, T>,
    ) -> Vector<S, T> {
        let (mut direction, given) = (*direction, system);
        let mut under = None;
        let system = under_law::<S, T>(given, x, &mut under);
        if system.facts().has_laws() {
            direction.inputs = S::law_tangent(given, x, &direction).1;
        }
        let direction = &direction;
        match &self.law {
            None => S::vector_field_tangent(system, x, direction).1,
            Some(law) => {
                S::feedback_field_tangent(system, x, &constants(&law.gains), &constants(&law.targets), direction).1
            }
        }
    }

    /// J' u at x.
    fn turn(&self, x: &Vector<S>, u: &Vector<S>, direction: &PreparedDirection<S>) -> Vector<S> {
        let moving = Entries::from_fn(|i| Dual { value: x[i], slope: u[i] });
        let direction = PreparedDirection {
            state: constants(&direction.state),
            prepared: constants(&direction.prepared),
            inputs: constants(&direction.inputs),
        };
        let system = <S as FeedbackSystem>::gather(&|_| &self.system);
        let tangent: Vector<S, Dual> = self.tangent(&system, &moving, &direction);
        Entries::from_fn(|i| tangent[i].slope)
    }
}

/// These numbers in another type.
fn constants<V: Entries<f64>, W: Entries<T>, T: Scalar>(numbers: &V) -> W {
    W::from_fn(|i| T::from_f64(numbers[i]))
}
