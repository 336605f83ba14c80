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

use crate::error::Error;
use crate::error::failure::{StepError, StepFailure};
#[cfg(feature = "std")]
use crate::hold::projection::Lander;
#[cfg(feature = "std")]
use crate::method::advance::Advance;
use crate::numbers::entries::Entries;
#[cfg(feature = "std")]
use crate::numbers::linear::from_slice;
use crate::numbers::linear::{Lu, difference, filled, largest, sum};
use crate::stages::tolerance::{largest_of_variables, nudged};
use crate::system::{FeedbackSystem, HamelFunctions, HamelSystem, PreparedSystem, StateEntry, StateRole, Vector};
#[cfg(feature = "std")]
use crate::system::{IntegralKind, SystemFacts};

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
    system: S::Prepared<f64>,
    time: f64,
    state: Vector<S>,
    carried: Carried<Vector<S>>,
    iterations: u64,
}

/// The data carried from step to step in addition to the state: (q, p) = `node` - `excess`.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        let system = system.prepare();
        let carried = Carried::at(&HamelFunctions::<S>::OF_SYSTEM, &system, &state);
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
        match advance(&HamelFunctions::<S>::OF_SYSTEM, &self.system, &self.state, &self.carried, h) {
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
    fn at<S>(functions: &HamelFunctions<S>, system: &S::Prepared<f64>, state: &V) -> Self
    where
        S: FeedbackSystem<Vector<f64> = V>,
    {
        Self { node: (functions.momentum_state)(system, state), excess: filled(0.0) }
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
struct Advanced<V> {
    state: V,
    carried: Carried<V>,
    iterations: u32,
}

/// A step of size `h` from a state and what is carried there.
fn advance<S: FeedbackSystem>(
    functions: &HamelFunctions<S>,
    system: &S::Prepared<f64>,
    state: &Vector<S>,
    carried: &Carried<Vector<S>>,
    h: f64,
) -> Result<Advanced<Vector<S>>, StepFailure> {
    let guess = sum(state, 0.5 * h, &system.vector_field(state));
    let (middle, first) = solve(functions, system, carried, 0.5 * h, guess)?;
    let rates = (functions.momentum_rates)(system, &middle);
    let carried = carried.plus(&Entries::from_fn(|i| h * rates[i]));
    // The coordinates are there already; the velocities follow from the momenta.
    let entries = system.facts().state;
    let is_velocity = |i: usize| entries.get(i).is_some_and(|entry| entry.role == StateRole::Velocity);
    let guess = Entries::from_fn(|i| if is_velocity(i) { middle[i] } else { carried.node[i] });
    let (state, second) = solve(functions, system, &carried, 0.0, guess)?;
    Ok(Advanced { state, carried, iterations: first + second })
}

/// The state x = (q, xi) with (q, p)(x) - t (q', p')(x) = z, by Newton's method: until the update no longer shrinks, which is what
/// takes invariants to the last digits. Gives the number of iterations, too.
fn solve<S: FeedbackSystem>(
    functions: &HamelFunctions<S>,
    system: &S::Prepared<f64>,
    z: &Carried<Vector<S>>,
    t: f64,
    mut x: Vector<S>,
) -> Result<(Vector<S>, u32), StepFailure> {
    let residual_at = |x: &Vector<S>| -> Vector<S> {
        let (momenta, rates) = ((functions.momentum_state)(system, x), (functions.momentum_rates)(system, x));
        Entries::from_fn(|i| ((momenta[i] - z.node[i]) - t * rates[i]) + z.excess[i])
    };
    let entries = system.facts().state;
    // The largest update before, in units of what each entry may be off by, and the rounding of the entries, as far as it was measured.
    let (mut before, mut roundings): (f64, Vector<S>) = (f64::INFINITY, filled(0.0));
    for iteration in 1..=MOST_ITERATIONS {
        let residual = residual_at(&x);
        if residual.as_ref().iter().all(|entry| *entry == 0.0) {
            return Ok((x, iteration));
        }
        let of_momenta = (functions.momentum_state_jacobian)(system, &x);
        let of_rates = (functions.momentum_rates_jacobian)(system, &x);
        let matrix: Vector<S, Vector<S>> =
            Entries::from_fn(|i| Entries::from_fn(|j| of_momenta[i][j] - t * of_rates[i][j]));
        let update: Vector<S> = Lu::new(matrix).solve(&residual, entries.len());
        let next = sum(&x, -1.0, &update);
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
                let beside = difference(&residual_at(&nudged(&x, None, place.into())), &residual);
                let change: Vector<S> = Lu::new(matrix).solve(&beside, entries.len());
                roundings = Entries::from_fn(|i| roundings[i].max(change[i].abs()));
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
fn in_tolerances<V: Entries<f64>>(entries: &[StateEntry], update: &V, states: [&V; 2], roundings: &V) -> f64 {
    let sizes = states.map(|state| largest_of_variables(state, |entry| StateEntry::continues(entries, entry)));
    let in_tolerance = |i: usize| {
        let tolerance = (ROUNDING * sizes[0][i].max(sizes[1][i])).max(ROUNDINGS * roundings[i]);
        if update[i] == 0.0 { 0.0 } else { update[i].abs() / tolerance }
    };
    (0..V::LEN).map(in_tolerance).fold(0.0, f64::max)
}

#[cfg(feature = "std")]
/// Steps of the discrete Hamel integrator.
pub(crate) struct HamelMethod<S: FeedbackSystem> {
    system: S::Prepared<f64>,
    functions: HamelFunctions<S>,
    carried: Carried<Vector<S>>,
    /// The state that it belongs to.
    end: Vector<S>,
}

#[cfg(feature = "std")]
impl<S: FeedbackSystem> HamelMethod<S> {
    pub(crate) fn new(system: &S, x: &Vector<S>) -> Result<Self, Error> {
        let functions = system.hamel_functions().ok_or_else(|| refusal(system.facts()))?;
        let system = system.prepare();
        let carried = Carried::at(&functions, &system, x);
        Ok(Self { system, functions, carried, end: *x })
    }

    /// The values that a start in this state carries.
    fn anew(&self, x: &Vector<S>) -> Carried<Vector<S>> {
        Carried::at(&self.functions, &self.system, x)
    }
}

#[cfg(feature = "std")]
impl<S: FeedbackSystem> Advance<Lander<S>> for HamelMethod<S> {
    fn step(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        // What is carried belongs to the end of the last step: a projection makes it another state.
        let own = if *x == self.end { self.carried } else { self.anew(x) };
        let Advanced { state, carried, .. } = advance(&self.functions, &self.system, x, &own, h)?;
        (self.carried, self.end, *x) = (carried, state, state);
        Ok(())
    }

    fn step_alone(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        *x = advance(&self.functions, &self.system, x, &self.anew(x), h)?.state;
        Ok(())
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.system.vector_field(x)
    }

    fn evaluations(&self) -> u64 {
        1
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        let (facts, Carried { node, excess }) = (PreparedSystem::facts(&self.system), &self.carried);
        let own = |carried| facts.of_state::<S, _>(carried).to_vec();
        Some(vec![own(node), own(excess), own(&self.end)])
    }

    fn carry(&mut self, x: &Vector<S>, carried: Option<&[Vec<f64>]>) {
        (self.carried, self.end) = match carried {
            Some([node, excess, end]) => {
                (Carried { node: from_slice(node), excess: from_slice(excess) }, from_slice(end))
            }
            _ => (self.anew(x), *x),
        };
    }
}
