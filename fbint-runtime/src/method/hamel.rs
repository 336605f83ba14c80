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

#[cfg(feature = "std")]
mod steps;

use derive_where::derive_where;

#[cfg(feature = "std")]
pub(crate) use self::steps::{HamelMethod, InLists, InVectors};
use crate::error::Error;
use crate::error::failure::{StepError, StepFailure};
use crate::numbers::entries::{Entries, Numbers};
use crate::numbers::linear::{Lu, largest};
use crate::stages::tolerance::{largest_of_variables, nudged};
#[cfg(feature = "std")]
use crate::system::IntegralKind;
use crate::system::{FeedbackSystem, HamelSystem, PreparedSystem, StateEntry, StateRole, SystemFacts, Vector};

/// Newton's iterations that a step may take.
const MOST_ITERATIONS: u32 = 50;
/// An update that is larger than this part of the size of its variable, and does not shrink, has not converged,
const ROUNDING: f64 = 1e-9;
/// unless it is at most as many times the rounding of the entry: that hovers about 0.
const ROUNDINGS: f64 = 1e3;
/// The number of places at which roundings are compared.
const PLACES: u32 = 8;

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
    system: Direct<S>,
    time: f64,
    state: Vector<S>,
    carried: Carried<Vector<S>>,
    iterations: u64,
}

/// The data carried from step to step in addition to the state: (q, p) = `node` - `excess`.
#[derive(Clone, Debug)]
struct Carried<V> {
    node: V,
    /// The excess that rounding added in the last additions to `node`.
    excess: V,
}

/// Why a system has no discrete Hamel integrator.
#[cfg(feature = "std")]
pub(crate) fn refusal(facts: &SystemFacts) -> Error {
    Error::NotApplicable {
        method: "the discrete Hamel integrator",
        system: facts.name,
        reason: reason_of_refusal(facts),
    }
}

#[cfg(feature = "std")]
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
        let system = Direct(system.prepare());
        let carried = Carried::at(&system, &state);
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
        match advance(&self.system, &self.state, &self.carried, h) {
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

impl<V: Numbers> Carried<V> {
    /// (q, p) in a state (q, xi).
    fn at<M: Momenta<State = V>>(system: &M, state: &V) -> Self {
        Self { node: system.momentum_state(state), excess: state.like(|_| 0.0) }
    }

    /// The sum of z and a change, by Kahan's method.
    fn plus(&self, change: &V) -> Self {
        let mut sum = self.clone();
        let entries = sum.node.as_mut().iter_mut().zip(sum.excess.as_mut()).zip(change.as_ref());
        for ((node, excess), change) in entries {
            let (before, change) = (*node, change - *excess);
            *node = before + change;
            *excess = (*node - before) - change;
        }
        sum
    }
}

/// The end of a step.
struct Advanced<V> {
    state: V,
    carried: Carried<V>,
    iterations: u32,
}

/// A Lagrangian system with what its steps compute in: vectors of a fixed length, or lists.
pub(crate) trait Momenta {
    /// A number for each entry of the state.
    type State: Numbers;
    /// A row for each entry of the state.
    type Rows;

    /// The facts about the system.
    fn facts(&self) -> &'static SystemFacts;
    /// The rates of the state.
    fn rates(&self, x: &Self::State) -> Self::State;
    /// [`HamelSystem::momentum_state`].
    fn momentum_state(&self, x: &Self::State) -> Self::State;
    /// [`HamelSystem::momentum_rates`].
    fn momentum_rates(&self, x: &Self::State) -> Self::State;
    /// The Jacobian of [`momentum_state`](Self::momentum_state) minus `t` times the one of [`momentum_rates`](Self::momentum_rates).
    fn matrix(&self, x: &Self::State, t: f64) -> Self::Rows;
    /// The solution of A y = b.
    fn solve(&self, matrix: &Self::Rows, b: &Self::State) -> Self::State;
}

/// A step of size `h` from a state and what is carried there.
fn advance<M: Momenta>(
    system: &M,
    state: &M::State,
    carried: &Carried<M::State>,
    h: f64,
) -> Result<Advanced<M::State>, StepFailure> {
    let guess = plus(state, 0.5 * h, &system.rates(state));
    let (middle, first) = solve(system, carried, 0.5 * h, guess)?;
    let rates = system.momentum_rates(&middle);
    let rates = rates.as_ref();
    let carried = carried.plus(&middle.like(|i| h * rates[i]));
    // The coordinates are there already; the velocities follow from the momenta.
    let entries = system.facts().state;
    let is_velocity = |i: usize| entries.get(i).is_some_and(|entry| entry.role == StateRole::Velocity);
    let (of_middle, of_node) = (middle.as_ref(), carried.node.as_ref());
    let guess = middle.like(|i| if is_velocity(i) { of_middle[i] } else { of_node[i] });
    let (state, second) = solve(system, &carried, 0.0, guess)?;
    Ok(Advanced { state, carried, iterations: first + second })
}

/// a + factor b, entry by entry, with two roundings.
fn plus<V: Numbers>(a: &V, factor: f64, b: &V) -> V {
    let (of_a, of_b) = (a.as_ref(), b.as_ref());
    a.like(|i| of_a[i] + factor * of_b[i])
}

/// The state x = (q, xi) with (q, p)(x) - t (q', p')(x) = z, by Newton's method: until the update no longer shrinks, which is what
/// takes invariants to the last digits. Gives the number of iterations, too.
fn solve<M: Momenta>(
    system: &M,
    z: &Carried<M::State>,
    t: f64,
    mut x: M::State,
) -> Result<(M::State, u32), StepFailure> {
    let residual_at = |x: &M::State| -> M::State {
        let (momenta, rates) = (system.momentum_state(x), system.momentum_rates(x));
        let (momenta, rates) = (momenta.as_ref(), rates.as_ref());
        let (node, excess) = (z.node.as_ref(), z.excess.as_ref());
        x.like(|i| ((momenta[i] - node[i]) - t * rates[i]) + excess[i])
    };
    let entries = system.facts().state;
    // The largest update before, in units of what each entry may be off by, and the rounding of the entries, as far as it was measured.
    let (mut before, mut roundings) = (f64::INFINITY, x.like(|_| 0.0));
    for iteration in 1..=MOST_ITERATIONS {
        let residual = residual_at(&x);
        if residual.as_ref().iter().all(|entry| *entry == 0.0) {
            return Ok((x, iteration));
        }
        let matrix = system.matrix(&x, t);
        let update = system.solve(&matrix, &residual);
        let next = plus(&x, -1.0, &update);
        let update_size = in_tolerances(entries, &update, [&x, &next], &roundings);
        let is_finite = update.as_ref().iter().all(|entry| entry.is_finite());
        if is_finite && update_size < before {
            (x, before) = (next, update_size);
        } else if before <= 1.0 {
            // Rounding is all that is left.
            return Ok((x, iteration));
        } else if is_finite {
            // The iteration leads nowhere, or an entry hovers about 0.
            for place in PLACES * iteration..PLACES * (iteration + 1) {
                let beside = plus(&residual_at(&nudged(&x, None, place.into())), -1.0, &residual);
                let change = system.solve(&matrix, &beside);
                let changes = roundings.as_mut().iter_mut().zip(change.as_ref());
                changes.for_each(|(rounding, change)| *rounding = rounding.max(change.abs()));
            }
            before = f64::INFINITY;
        } else {
            return Err(StepFailure::NotConverged { residual: largest(&residual) });
        }
    }
    if before <= 1.0 {
        Ok((x, MOST_ITERATIONS))
    } else {
        Err(StepFailure::NotConverged { residual: largest(&residual_at(&x)) })
    }
}

/// The largest entry of an update from one state to another in units of what it may be off by: a part of the size of its variable, or a
/// number of roundings.
fn in_tolerances<V: Numbers>(entries: &[StateEntry], update: &V, states: [&V; 2], roundings: &V) -> f64 {
    let [begin, end] = states.map(|state| largest_of_variables(state, |entry| StateEntry::continues(entries, entry)));
    let sizes = begin.as_ref().iter().zip(end.as_ref()).map(|(begin, end)| begin.max(*end));
    let parts = sizes.zip(update.as_ref()).zip(roundings.as_ref()).map(|((size, update), rounding)| {
        let tolerance = (ROUNDING * size).max(ROUNDINGS * rounding);
        if *update == 0.0 { 0.0 } else { update.abs() / tolerance }
    });
    parts.fold(0.0, f64::max)
}

/// a - t b
#[inline(always)]
fn minus<S: FeedbackSystem>(a: Vector<S, Vector<S>>, t: f64, b: Vector<S, Vector<S>>) -> Vector<S, Vector<S>> {
    Entries::from_fn(|i| Entries::from_fn(|j| a[i][j] - t * b[i][j]))
}

/// A system whose functions are known of its type.
#[derive_where(Clone)]
struct Direct<S: FeedbackSystem>(S::Prepared<f64>);

impl<S: HamelSystem> Momenta for Direct<S> {
    type State = Vector<S>;
    type Rows = Vector<S, Vector<S>>;

    #[inline(always)]
    fn facts(&self) -> &'static SystemFacts {
        self.0.facts().known::<S>()
    }

    #[inline(always)]
    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.0.vector_field(x)
    }

    #[inline(always)]
    fn momentum_state(&self, x: &Vector<S>) -> Vector<S> {
        S::momentum_state(&self.0, x)
    }

    #[inline(always)]
    fn momentum_rates(&self, x: &Vector<S>) -> Vector<S> {
        S::momentum_rates(&self.0, x)
    }

    #[inline(always)]
    fn matrix(&self, x: &Vector<S>, t: f64) -> Self::Rows {
        minus::<S>(S::momentum_state_jacobian(&self.0, x), t, S::momentum_rates_jacobian(&self.0, x))
    }

    #[inline(always)]
    fn solve(&self, matrix: &Self::Rows, b: &Vector<S>) -> Vector<S> {
        Lu::new(*matrix).solve(b, Momenta::facts(self).state.len())
    }
}
