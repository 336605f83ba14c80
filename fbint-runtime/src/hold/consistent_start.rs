//! Starts that satisfy every constraint: the check of a given one, and the search for one near a guess.
//!
//! The search is Gauss-Newton with Levenberg's damping. Each step is the shortest that solves the linearised constraints,
//! dx = -D^T (D D^T + mu I)^-1 g, where D holds the gradients with the columns of held entries struck out; mu shrinks while
//! steps succeed, so that the end is quadratic, and keeps steps bounded where D loses rank. It is computed from orthonormal rows of
//! D, because D D^T has the square of its condition number. A step succeeds if it leaves smaller violations or a shorter way, by the
//! gradients where it began: where constraints are nearly dependent, one of the two says little. Where a violated constraint has no
//! gradient at all in the free entries, as |q|^2 - 1 has none in q_2 at q_2 = 0, these are nudged first.

mod constraint_set;

#[cfg(feature = "std")]
pub use self::constraint_set::StartMove;
pub(crate) use self::constraint_set::{
    Parameters, check_distinct, check_start, go_onto_constraints, put_targets, size_of_variable, targets,
};
use self::constraint_set::{check, check_finite, go_shortest, scaled_constraints, square_of_distances};
#[cfg(feature = "std")]
pub(crate) use self::constraint_set::{
    check_flat_distinct, check_flat_start, flat_targets, project_start, projected_start, scales, undetermined_reactions,
};
use crate::error::Error;
use crate::error::names::GivenName;
use crate::numbers::entries::Entries;
use crate::numbers::linear::{add, inner, largest, not_finite};
use crate::numbers::scalar::Scalar;
use crate::system::SystemFacts;
use crate::system::dynamical_system::{DynamicalSystem, Scratch};
use crate::system::{FeedbackSystem, StateEntry, Vector};

const MAX_ITERATIONS: u32 = 200;
/// The least mu. Gradients of length 1 that differ by 1e-9 are told apart, and those that differ by rounding are not.
const LEAST_DAMPING: f64 = 1e-20;
/// The size of the nudge that takes an entry out of a state in which a gradient vanishes, relative to the entry's size.
const NUDGE: f64 = 0.1;

/// Searches a state on the constraint set, near a guess.
///
/// ```
/// use fbint_runtime::{ConsistentStart, feedback_system};
/// use nalgebra::vector;
///
/// /// A point mass on a circle.
/// #[feedback_system(
///     coordinates(q: [2]),
///     momenta(p: [2]),
///     hamiltonian = p.norm_squared() / 2 + q.y,
///     constraint(length = q.norm_squared() - l.powi(2)),
/// )]
/// pub struct Pendulum { pub l: f64 }
///
/// // The abscissa is given; the height and the momentum follow.
/// let guess = PendulumState { q: vector![0.6, -1.0], p: vector![0.1, 0.1] };
/// let start = ConsistentStart::new(&Pendulum { l: 1.0 }).hold(&["q[0]"])?.solve(guess)?;
/// assert_eq!(start.q.x, 0.6);
/// assert!((start.q.y + 0.8).abs() < 1e-12 && start.q.dot(&start.p).abs() < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
pub struct ConsistentStart<'a, S: FeedbackSystem> {
    system: &'a S,
    held: Vector<S, bool>,
}

impl<'a, S: FeedbackSystem> ConsistentStart<'a, S> {
    /// A search in which every entry of the state but the time may change.
    pub fn new(system: &'a S) -> Self {
        Self { system, held: Entries::from_fn(|i| system.facts().clock == Some(i)) }
    }

    /// Keeps entries at their guess: `a[0]` is one entry, `a` all of a vector or matrix.
    ///
    /// # Errors
    ///
    /// If no entry of the state has a name.
    pub fn hold(mut self, names: &[&str]) -> Result<Self, Error> {
        let facts = self.system.facts();
        names.iter().try_for_each(|name| hold(self.held.as_mut(), facts, name))?;
        Ok(self)
    }

    /// A state near `guess` that satisfies every constraint to rounding, or at least well enough to start from.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the guess is not finite, or if the search ends elsewhere than on the constraint set.
    pub fn solve(&self, guess: impl Into<Vector<S>>) -> Result<S::State, Error> {
        let mut x = guess.into();
        let parameter = |index: usize| self.system.parameter(index);
        let parameters = Parameters { names: self.system.facts().parameter_names, value: &parameter };
        let facts = self.system.facts();
        find_start(
            &self.system.prepare(),
            &parameters,
            facts.of_state::<S, _>(&self.held),
            facts.of_state_mut::<S, _>(&mut x),
        )?;
        Ok(x.into())
    }
}

/// Holds the entry or the variable of a name.
pub(crate) fn hold(held: &mut [bool], facts: &SystemFacts, name: &str) -> Result<(), Error> {
    let variable = facts.variables.iter().position(|variable| variable.name == name);
    let is_named = |entry: &StateEntry| entry.name == name || Some(entry.variable) == variable;
    if !facts.state.iter().any(is_named) {
        return Err(Error::UnknownEntry { name: GivenName::new(name), known: facts.state });
    }
    held.iter_mut().zip(facts.state).for_each(|(held, entry)| *held |= is_named(entry));
    Ok(())
}

/// Moves `x` onto the constraint set, but for the entries that are held.
pub(crate) fn find_start(
    system: &dyn DynamicalSystem,
    parameters: &Parameters<'_>,
    held: &[bool],
    x: &mut [f64],
) -> Result<(), Error> {
    let mut found = Ok(());
    system.with_scratch(&mut |scratch| found = StartSearch { system, held }.solve(parameters, x, scratch));
    found
}

/// A search on slices.
struct StartSearch<'a> {
    system: &'a dyn DynamicalSystem,
    /// Whether an entry of the state stays at its guess.
    held: &'a [bool],
}

impl StartSearch<'_> {
    /// Moves `x` onto the constraint set.
    fn solve(&self, parameters: &Parameters<'_>, x: &mut [f64], mut scratch: Scratch<'_>) -> Result<(), Error> {
        check_finite(parameters, self.system.facts().state, x)?;
        let (system, integrals) = (self.system, self.system.facts().integrals);
        let g = scratch.values();
        scaled_constraints(system, x, g, scratch.rest());
        let is_stuck = |&i: &usize, scratch: Scratch<'_>| g[i].abs() > f64::EPSILON && !self.moves(x, i, scratch);
        if let Some(stuck) = (0..integrals.len()).find(|i| is_stuck(i, scratch.rest())) {
            self.nudge(x, stuck, scratch.rest());
            scaled_constraints(system, x, g, scratch.rest());
        }
        let iterations = self.iterate(x, g, scratch.rest());
        match check(system, parameters, x, scratch.rest()) {
            Err(Error::OffConstraint { .. }) => {
                let size = |i: &usize| g[*i].abs();
                let worst = (0..integrals.len()).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
                let values = scratch.values();
                system.integrals_at(x, values);
                Err(Error::NoConsistentStart { name: integrals[worst].name, value: values[worst], iterations })
            }
            checked => checked,
        }
    }

    /// Makes steps for as long as violations `g` are left and steps succeed; returns their number.
    fn iterate(&self, x: &mut [f64], g: &mut [f64], mut scratch: Scratch<'_>) -> u32 {
        let (system, jacobian) = (self.system, scratch.rows());
        let (values, trial, step) = (scratch.values(), scratch.state(), scratch.state());
        // Sizes of terms change from state to state, and the terms of a rate vanish at rest: distances are compared.
        let mut distances = square_of_distances(system, x, scratch.rest());
        let mut damping = 1e-3;
        let mut iterations = 0;
        while iterations < MAX_ITERATIONS && largest(g) > f64::EPSILON && damping < 1e6 {
            iterations += 1;
            system.jacobian_at(x, jacobian);
            system.integrals_at(x, values);
            self.step(jacobian, values, damping, step, scratch.rest());
            trial.copy_from_slice(x);
            add(trial, -1.0, step);
            let distances_of_trial = square_of_distances(system, trial, scratch.rest());
            // What is left of the way, by the gradients here: where constraints are nearly dependent, their distances say little.
            let mut way = |at: &[f64]| {
                system.integrals_at(at, values);
                self.step(jacobian, values, LEAST_DAMPING, step, scratch.rest());
                inner(step, step)
            };
            let is_nearer = distances_of_trial < distances || way(trial) < way(x);
            if is_nearer && distances_of_trial.is_finite() {
                x.copy_from_slice(trial);
                distances = distances_of_trial;
                scaled_constraints(system, x, g, scratch.rest());
                damping = (damping * 0.1).max(LEAST_DAMPING);
            } else {
                damping *= 10.0;
            }
        }
        iterations
    }

    /// Returns `true` if integral `i` has a gradient in the free entries.
    fn moves(&self, x: &[f64], i: usize, mut scratch: Scratch<'_>) -> bool {
        let jacobian = scratch.rows();
        self.system.jacobian_at(x, jacobian);
        let gradient = &jacobian[i * x.len()..][..x.len()];
        gradient.iter().zip(self.held).any(|(slope, is_held)| !is_held && *slope != 0.0)
    }

    /// Moves every free entry a little that gives integral `i` a gradient, each by another distance.
    fn nudge(&self, x: &mut [f64], i: usize, mut scratch: Scratch<'_>) {
        let (nudged, alone) = (scratch.state(), scratch.state());
        nudged.copy_from_slice(x);
        for j in (0..x.len()).filter(|&j| !self.held[j]) {
            alone.copy_from_slice(x);
            alone[j] += NUDGE * (1.0 + x[j].abs()) * (1.0 - 0.1 * (j % 5) as f64);
            if self.moves(alone, i, scratch.rest()) {
                nudged[j] = alone[j];
            }
        }
        x.copy_from_slice(nudged);
    }

    /// Puts the damped step that these gradients and values of the integrals ask for into `step`, with each row of D scaled to length 1
    /// so that the damping has no unit.
    fn step(&self, jacobian: &[f64], integrals: &[f64], damping: f64, step: &mut [f64], mut scratch: Scratch<'_>) {
        let (residual, d) = (scratch.values(), scratch.rows());
        let rows = d.chunks_exact_mut(step.len()).zip(jacobian.chunks_exact(step.len()));
        for (i, (row, gradient)) in rows.enumerate() {
            if !self.system.facts().integrals[i].kind.is_constraint() {
                continue;
            }
            residual[i] = integrals[i];
            let free = row.iter_mut().zip(gradient).zip(self.held);
            free.filter(|(_, is_held)| !**is_held).for_each(|((entry, slope), _)| *entry = *slope);
            let length = Scalar::sqrt(inner(row, row));
            if length != 0.0 {
                residual[i] /= length;
                row.iter_mut().for_each(|entry| *entry /= length);
            }
        }
        go_shortest(d, Scalar::sqrt(damping), step, residual, scratch.rest());
        if not_finite(step).is_some() {
            step.fill(0.0);
        }
    }
}
