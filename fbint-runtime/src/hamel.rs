//! The discrete Hamel integrator of Lagrangian systems.
//!
//! With z = (q, p), p = dL/dxi, a step from z0 of size h is the implicit midpoint rule z' = f(q, xi) in the frame of the velocities,
//! solved for the coordinates and the velocities in the middle:
//!
//! q_m = q0 + h/2 U(q_m) xi,   p(q_m, xi) = p0 + h/2 F(q_m, xi),   z1 = z0 + h f(q_m, xi)
//!
//! This is the variational integrator of Ball and Zenkov (2015) for Hamel's equations, written with momenta at the nodes. It has
//! order 2 and is symmetric. Linear and quadratic invariants of (q, p) are exact, and so is the energy where the mass matrix is
//! constant in the frame and the potential at most quadratic; everywhere else the error of the energy is bounded, O(h^2). So the frame
//! is part of the method. For accuracy alone, the classical Runge-Kutta method is better by orders of magnitude at the same step.

use derive_where::derive_where;

use crate::entries::Entries;
use crate::error::Error;
use crate::facts::SystemFacts;
use crate::failure::{StepError, StepFailure};
use crate::linear::{Lu, filled, largest, sum};
use crate::scalar::Scalar;
use crate::system::{FeedbackSystem, IntegralKind, PreparedSystem, StateRole, Vector};

/// Newton's iterations that a step may take.
const MOST_ITERATIONS: u32 = 50;
/// Updates that are larger than this, relative to the state, and do not shrink have not converged.
const ROUNDING: f64 = 1e-9;

/// A system that the discrete Hamel integrator integrates: a Lagrangian system without reactions that is not driven.
///
/// Implemented by `#[feedback_system]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "the discrete Hamel integrator does not integrate `{Self}`",
    note = "it integrates systems with `velocities` and a `lagrangian`, without forces, inputs, time or constraints that reactions \
            hold: choose a Runge-Kutta method, or put velocities to zero by `velocity_constraint(name = velocity)`"
)]
pub trait HamelSystem: FeedbackSystem {
    /// (q, p) in the state (q, xi), with p = dL/dxi.
    fn momentum_state<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Vector<Self, T>;
    /// (q', p'): U(q) xi, and `c^a_ij p_a xi^i + u_j[L]`.
    fn momentum_rates<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Vector<Self, T>;
    /// The derivatives of [`momentum_state`](Self::momentum_state) by the entries of the state, row by row.
    fn momentum_state_jacobian<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Vector<Self, Vector<Self, T>>;
    /// The derivatives of [`momentum_rates`](Self::momentum_rates) by the entries of the state, row by row.
    fn momentum_rates_jacobian<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Vector<Self, Vector<Self, T>>;
}

/// The discrete Hamel integrator of a Lagrangian system, one step at a time. Nothing allocates.
///
/// The sums of all steps are compensated, so that rounding does not grow with their number.
///
/// ```
/// use fbint_runtime::{DiscreteHamel, feedback_system};
///
/// /// A skate on ice: it does not slip sideways.
/// #[feedback_system(
///     coordinates(x, y, theta),
///     velocities(omega, v, slip),
///     kinematics(
///         x = v * theta.cos() - slip * theta.sin(),
///         y = v * theta.sin() + slip * theta.cos(),
///         theta = omega,
///     ),
///     lagrangian = (v.powi(2) + slip.powi(2) + omega.powi(2)) / 2,
///     velocity_constraint(blade = slip),
/// )]
/// pub struct Skate;
///
/// let start = SkateState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: 1.0 };
/// let mut skate = DiscreteHamel::new(&Skate, start)?;
/// for _ in 0..1000 {
///     skate.step(0.1)?;
/// }
/// let state = SkateState::from(*skate.state());
/// assert_eq!((state.omega, state.v), (1.0, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive_where(Clone, Debug)]
pub struct DiscreteHamel<S: FeedbackSystem> {
    #[derive_where(skip)]
    system: S::Prepared<f64>,
    time: f64,
    state: Vector<S>,
    carried: Carried<Vector<S>>,
    iterations: u64,
}

/// The data carried from step to step in addition to the state: (q, p) = `node` - `excess`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried<V> {
    pub(crate) node: V,
    /// The excess that rounding added in the last additions to `node`.
    pub(crate) excess: V,
}

/// The steps of the discrete Hamel integrator, for programs that find out at run time whether a system has them.
#[derive_where(Clone, Copy)]
#[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only simulations are chosen at run time"))]
pub struct HamelSteps<S: FeedbackSystem> {
    pub(crate) begin: BeginCarried<S>,
    pub(crate) advance: AdvanceCarried<S>,
}

/// The data carried in a state.
type BeginCarried<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Carried<Vector<S>>;

/// A step of a size from a state and what is carried there.
type AdvanceCarried<S> = fn(
    &<S as FeedbackSystem>::Prepared<f64>,
    &Vector<S>,
    &Carried<Vector<S>>,
    f64,
) -> Result<Advanced<Vector<S>>, StepFailure>;

/// The functions of a [`HamelSystem`], for programs that find out at run time whether a system has them.
#[derive_where(Clone, Copy)]
pub struct HamelFunctions<S: FeedbackSystem> {
    /// [`HamelSystem::momentum_state`].
    pub momentum_state: ListOfState<S>,
    /// [`HamelSystem::momentum_rates`].
    pub momentum_rates: ListOfState<S>,
    /// [`HamelSystem::momentum_state_jacobian`].
    pub momentum_state_jacobian: MatrixOfState<S>,
    /// [`HamelSystem::momentum_rates_jacobian`].
    pub momentum_rates_jacobian: MatrixOfState<S>,
}

/// A list with an entry for each of the state.
type ListOfState<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Vector<S>;

/// A matrix with a row and a column for each entry of the state.
type MatrixOfState<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Vector<S, Vector<S>>;

impl<S: HamelSystem> HamelFunctions<S> {
    /// Those of this system.
    pub const OF_SYSTEM: Self = Self {
        momentum_state: S::momentum_state::<f64>,
        momentum_rates: S::momentum_rates::<f64>,
        momentum_state_jacobian: S::momentum_state_jacobian::<f64>,
        momentum_rates_jacobian: S::momentum_rates_jacobian::<f64>,
    };
}

impl<S: HamelSystem> HamelSteps<S> {
    /// The steps of this system.
    pub const OF_SYSTEM: Self = Self { begin: Carried::at::<S>, advance: advance::<S> };
}

impl<S: FeedbackSystem> HamelSteps<S> {
    /// The steps of a system that may have none.
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if it has none.
    pub fn of_any(system: &S) -> Result<Self, Error> {
        system.hamel_steps().ok_or_else(|| refusal(system.facts()))
    }
}

/// Why a system has no discrete Hamel integrator.
pub(crate) fn refusal(facts: &SystemFacts) -> Error {
    Error::NotApplicable {
        method: "the discrete Hamel integrator",
        system: facts.name,
        reason: reason_of_refusal(facts),
    }
}

fn reason_of_refusal(facts: &SystemFacts) -> &'static str {
    let has_entry = |role| facts.state.iter().any(|entry| entry.role == role);
    if !has_entry(StateRole::Velocity) {
        return "it is not declared by `velocities` and a `lagrangian`";
    }
    if has_entry(StateRole::Work) {
        return "it is driven, and this method takes neither forces nor the time; choose a Runge-Kutta method";
    }
    if facts.integrals.iter().any(|integral| matches!(integral.kind, IntegralKind::HolonomicConstraint { .. })) {
        return "it has constraints that reactions hold; choose velocities that keep to them, and put the others to zero by \
                `velocity_constraint(name = velocity)`";
    }
    "it has velocity constraints that reactions hold; choose velocities some of which are these constraints, and put them to zero by \
     `velocity_constraint(name = velocity)`"
}

impl<S: HamelSystem> DiscreteHamel<S> {
    /// The integrator of `system` from `start`.
    ///
    /// # Errors
    ///
    /// [`Error::Start`] if an entry of the start is not finite.
    pub fn new(system: &S, start: impl Into<Vector<S>>) -> Result<Self, Error> {
        let state = start.into();
        if let Some((entry, &value)) =
            system.facts().state.iter().zip(state.as_ref()).find(|(_, value)| !value.is_finite())
        {
            return Err(Error::Start { name: entry.name, value });
        }
        let system = system.prepare();
        let carried = Carried::at::<S>(&system, &state);
        Ok(Self { system, time: 0.0, state, carried, iterations: 0 })
    }

    /// The time that was reached.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state that was reached: coordinates and velocities.
    pub fn state(&self) -> &Vector<S> {
        &self.state
    }

    /// The iterations of Newton's method in all steps so far.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Makes a step of size `h`.
    ///
    /// # Errors
    ///
    /// [`StepFailure::NotConverged`] if Newton's method does not converge, because the step is too long. The integrator stays where it
    /// was.
    pub fn step(&mut self, h: f64) -> Result<(), StepError<Vector<S>>> {
        match advance::<S>(&self.system, &self.state, &self.carried, h) {
            Ok(Advanced { state, carried, iterations }) => {
                self.time += h;
                (self.state, self.carried) = (state, carried);
                self.iterations += u64::from(iterations);
                Ok(())
            }
            Err(reason) => Err(StepError { reason, time: self.time, state: self.state }),
        }
    }
}

impl<V: Entries<f64>> Carried<V> {
    /// (q, p) in a state (q, xi).
    fn at<S: HamelSystem<Vector<f64> = V>>(system: &S::Prepared<f64>, state: &V) -> Self {
        Self { node: S::momentum_state(system, state), excess: filled(0.0) }
    }

    /// The sum of z and a change, by Kahan's method.
    fn plus(&self, change: &V) -> Self {
        let (mut node, mut excess) = (self.node, self.excess);
        for i in 0..V::LEN {
            let change = change[i] - self.excess[i];
            node[i] = self.node[i] + change;
            excess[i] = (node[i] - self.node[i]) - change;
        }
        Self { node, excess }
    }
}

/// The end of a step.
pub(crate) struct Advanced<V> {
    pub(crate) state: V,
    pub(crate) carried: Carried<V>,
    pub(crate) iterations: u32,
}

/// A step of size `h` from a state and what is carried there.
fn advance<S: HamelSystem>(
    system: &S::Prepared<f64>,
    state: &Vector<S>,
    carried: &Carried<Vector<S>>,
    h: f64,
) -> Result<Advanced<Vector<S>>, StepFailure> {
    let guess = sum(state, 0.5 * h, &system.vector_field(state));
    let (middle, first) = solve::<S>(system, carried, 0.5 * h, guess)?;
    let rates = S::momentum_rates(system, &middle);
    let carried = carried.plus(&Entries::from_fn(|i| h * rates[i]));
    // The coordinates are there already; the velocities follow from the momenta.
    let entries = system.facts().state;
    let is_velocity = |i: usize| entries.get(i).is_some_and(|entry| entry.role == StateRole::Velocity);
    let guess = Entries::from_fn(|i| if is_velocity(i) { middle[i] } else { carried.node[i] });
    let (state, second) = solve::<S>(system, &carried, 0.0, guess)?;
    Ok(Advanced { state, carried, iterations: first + second })
}

/// The state x = (q, xi) with (q, p)(x) - t (q', p')(x) = z, by Newton's method: until the update no longer shrinks, which is what
/// takes invariants to the last digits. Gives the number of iterations, too.
fn solve<S: HamelSystem>(
    system: &S::Prepared<f64>,
    z: &Carried<Vector<S>>,
    t: f64,
    mut x: Vector<S>,
) -> Result<(Vector<S>, u32), StepFailure> {
    let mut before = f64::INFINITY;
    let mut size = f64::INFINITY;
    for iteration in 1..=MOST_ITERATIONS {
        let (momenta, rates) = (S::momentum_state(system, &x), S::momentum_rates(system, &x));
        let residual: Vector<S> = Entries::from_fn(|i| ((momenta[i] - z.node[i]) - t * rates[i]) + z.excess[i]);
        if residual.as_ref().iter().all(|entry| *entry == 0.0) {
            return Ok((x, iteration));
        }
        let (of_momenta, of_rates) = (S::momentum_state_jacobian(system, &x), S::momentum_rates_jacobian(system, &x));
        let matrix: Vector<S, Vector<S>> =
            Entries::from_fn(|i| Entries::from_fn(|j| of_momenta[i][j] - t * of_rates[i][j]));
        let update: Vector<S> = Lu::new(matrix).solve(&residual, system.facts().state.len());
        size = largest(&update);
        let is_finite = update.as_ref().iter().all(|entry| entry.is_finite());
        if !is_finite || size >= before {
            // Rounding is all that is left, or the iteration leads nowhere.
            let is_small = before <= ROUNDING * (largest(&x) + before);
            return if is_small {
                Ok((x, iteration))
            } else {
                Err(StepFailure::NotConverged { residual: largest(&residual) })
            };
        }
        x = sum(&x, -1.0, &update);
        before = size;
    }
    let is_small = size <= ROUNDING * largest(&x);
    if is_small { Ok((x, MOST_ITERATIONS)) } else { Err(StepFailure::NotConverged { residual: size }) }
}
