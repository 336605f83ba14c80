//! Variational equations by Taylor's method: a solution and directions along it, in one field, whose directions are lanes.

use std::vec::Vec;

use derive_where::derive_where;

use super::Sensitivity;
use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::numbers::entries::Entries;
#[cfg(feature = "lanes")]
use crate::numbers::lanes::Lanes;
use crate::numbers::linear::{filled, not_finite};
use crate::numbers::scalar::Scalar;
use crate::stages::series_step::{self, StepRule, carry_on, is_too_short, slope};
use crate::stages::step_size::StepLimits;
use crate::system::derivatives::{Direction, PreparedDirection};
use crate::system::taylor::TaylorTangents;
use crate::system::{PreparedSystem, Vector};

/// Directions that are computed together.
#[cfg(feature = "lanes")]
type Together = Lanes<1>;
#[cfg(not(feature = "lanes"))]
type Together = f64;

#[cfg(feature = "lanes")]
const COUNT: usize = Together::COUNT;
#[cfg(not(feature = "lanes"))]
const COUNT: usize = 1;

#[cfg(feature = "lanes")]
fn in_lane(number: Together, lane: usize) -> f64 {
    number.lane(lane)
}
#[cfg(not(feature = "lanes"))]
fn in_lane(number: Together, _: usize) -> f64 {
    number
}

/// A run by Taylor's method with derivatives of its state along directions; see [`Sensitivity::series`].
#[derive_where(Clone, Debug)]
pub struct SeriesRun<S: TaylorTangents> {
    system: S::Prepared<Together>,
    time: f64,
    steps: u64,
    state: Vector<S>,
    carry: Vector<S>,
    rule: StepRule<Vector<S>>,
    blocks: Vec<Block<S>>,
    memory: Vec<Together>,
    /// See [`SeriesShape`](crate::system::taylor::SeriesShape).
    is_polynomial: bool,
}

/// Directions side by side.
#[derive_where(Clone, Debug)]
struct Block<S: TaylorTangents> {
    /// The change of the parameters and of the inputs.
    direction: PreparedDirection<S, Together>,
    along: Vector<S, Together>,
    carry: Vector<S, Together>,
    /// Of each direction.
    rules: Vec<StepRule<Vector<S>>>,
    /// Of the state and the directions.
    coefficients: Vec<[Vector<S, Together>; 2]>,
}

impl<S: TaylorTangents> Sensitivity<S> {
    /// A run from `start` by Taylor's method, with the derivatives of its state along directions: solutions of the variational equations,
    /// to the tolerance, and not those of a discrete step. Four or eight directions take little more time than one.
    ///
    /// ```
    /// use fbint_runtime::{Direction, FeedbackSystem, Sensitivity, feedback_system};
    ///
    /// /// A harmonic oscillator.
    /// #[feedback_system(
    ///     coordinates(q),
    ///     momenta(p),
    ///     hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2,
    ///     taylor,
    ///     derivatives,
    /// )]
    /// pub struct Oscillator { pub k: f64 }
    ///
    /// let oscillator = Sensitivity::<Oscillator>::new(Oscillator { k: 1.0 }.prepare());
    /// let mut run = oscillator.series(1e-15, [1.0, 0.0], &[Direction::of_state([0.0, 1.0])])?;
    /// run.advance(1.0)?;
    /// assert!((run.derivatives()[0][0] - 1.0_f64.sin()).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the tolerance is not positive, or if the run is with feedback, is projected, or has inputs by laws: such runs have no series.
    pub fn series(&self, tolerance: f64, start: Vector<S>, directions: &[Direction<S>]) -> Result<SeriesRun<S>, Error> {
        let facts = self.system.facts();
        if self.law.is_some() || self.projection.is_some() || facts.has_laws() {
            return Err(Error::NotApplicable {
                method: "Taylor's method with directions",
                system: facts.name,
                reason: "its runs have feedback, projections or inputs by laws, which have no Taylor series; use `Sensitivity::along`",
            });
        }
        let mut rule = StepRule::new(facts, tolerance, filled(0.0), None, StepLimits::NONE)?;
        let block = |directions: &[Direction<S>]| Block::new(&self.system, directions, &rule);
        // The coefficients of the state come with those of directions.
        let blocks = match directions {
            [] => vec![Block { rules: Vec::new(), ..block(&[Direction::of_state(filled(0.0))]) }],
            _ => directions.chunks(COUNT).map(block).collect(),
        };
        rule.remember(start.as_ref());
        Ok(SeriesRun {
            system: S::gather(&|_| &self.system),
            time: facts.time_in(&start),
            steps: 0,
            state: start,
            carry: filled(0.0),
            memory: vec![Scalar::from_f64(0.0); rule.order * S::TANGENT_COLUMNS],
            rule,
            blocks,
            is_polynomial: S::taylor_functions(&self.system).is_ok_and(|functions| functions.shape.is_polynomial),
        })
    }
}

impl<S: TaylorTangents> Block<S> {
    fn new(system: &S::Prepared<f64>, directions: &[Direction<S>], rule: &StepRule<Vector<S>>) -> Self {
        // Lanes that no direction takes repeat the last one.
        let of = |lane: usize| &directions[lane.min(directions.len() - 1)];
        let prepared: Vec<S::ByPrepared<f64>> =
            (0..COUNT).map(|lane| S::prepare_direction(system, &of(lane).parameters)).collect();
        let (zero, along) =
            (Scalar::from_f64(0.0), Entries::from_fn(|i| Scalar::from_lanes(&|lane| of(lane).state[i])));
        let direction = PreparedDirection {
            state: along,
            prepared: Entries::from_fn(|i| Scalar::from_lanes(&|lane| prepared[lane][i])),
            inputs: Entries::from_fn(|i| Scalar::from_lanes(&|lane| of(lane).inputs[i])),
        };
        let with_size = |direction: &Direction<S>| {
            let mut rule = rule.clone();
            rule.remember(direction.state.as_ref());
            rule
        };
        let rules = directions.iter().map(with_size).collect();
        Self { direction, along, carry: filled(zero), rules, coefficients: vec![[filled(zero); 2]; rule.order + 1] }
    }

    fn expand(&mut self, system: &S::Prepared<Together>, state: &Vector<S>, memory: &mut [Together]) {
        self.coefficients[0] = [Entries::from_fn(|i| Scalar::from_f64(state[i])), self.along];
        S::taylor_tangents(system, &self.direction, &mut self.coefficients, memory);
    }

    /// Makes a step of this size in all directions.
    fn advance(&mut self, h: f64) {
        let mut next = self.change(1, h);
        carry_on(self.along.as_ref(), next.as_mut(), self.carry.as_mut(), None);
        self.along = next;
        for (lane, rule) in self.rules.iter_mut().enumerate() {
            rule.remember(vector_in_lane::<Vector<S>, _>(&self.along, lane).as_ref());
        }
    }

    /// The change of the state (part 0) or of the directions (part 1) in a step of this size.
    fn change(&self, part: usize, h: f64) -> Vector<S, Together> {
        let rows = Vector::<S, Together>::flat(&self.coefficients.as_flattened()[part..]);
        let mut change = filled(Scalar::from_f64(0.0));
        series_step::change(
            rows,
            2 * Vector::<S>::LEN,
            Scalar::from_f64(h),
            Vector::<S, Together>::as_mut(&mut change),
        );
        change
    }
}

fn vector_in_lane<V: Entries<f64>, L: Entries<Together>>(vector: &L, lane: usize) -> V {
    V::from_fn(|i| in_lane(vector[i], lane))
}

impl<S: TaylorTangents> SeriesRun<S> {
    /// Advances to a time.
    ///
    /// # Errors
    ///
    /// If no further step is possible, or if the solution or a direction leaves the doubles. The run stays where its last step ended, and can
    /// be asked for the state there.
    pub fn advance(&mut self, until: f64) -> Result<(), StepFailure> {
        while self.time < until {
            self.step(until)?;
        }
        Ok(())
    }

    /// One step, which ends at a time at the latest.
    ///
    /// # Errors
    ///
    /// See [`advance`](Self::advance).
    pub fn step(&mut self, until: f64) -> Result<(), StepFailure> {
        for block in &mut self.blocks {
            block.expand(&self.system, &self.state, &mut self.memory);
        }
        let (end, h) = self.end_of_step(until)?;
        let facts = self.system.facts();
        let changes = self.blocks.iter().flat_map(|block| [block.change(0, h), block.change(1, h)]);
        for change in changes {
            let lane = |lane| not_finite(&vector_in_lane::<Vector<S>, _>(&change, lane));
            if let Some(entry) = (0..COUNT).find_map(lane) {
                return Err(StepFailure::NotFinite { entry });
            }
        }
        let mut next: Vector<S> = vector_in_lane(&self.blocks[0].change(0, h), 0);
        if !self.is_polynomial && !self.keeps_to_the_field(&next, h) {
            // A direction may jump there.
            return Err(StepFailure::Underflow);
        }
        carry_on(self.state.as_ref(), next.as_mut(), self.carry.as_mut(), facts.clock);
        self.state = next;
        facts.set_clock(&mut self.state, end);
        self.rule.remember(self.state.as_ref());
        self.blocks.iter_mut().for_each(|block| block.advance(h));
        self.time = end;
        self.steps += 1;
        Ok(())
    }

    /// Returns `true` if the field has the slopes of the polynomial where a step ends, as steps of a simulation have to.
    fn keeps_to_the_field(&self, change: &Vector<S>, h: f64) -> bool {
        let coefficients = &self.blocks[0].coefficients;
        let mut end: Vector<S, Together> = Entries::from_fn(|i| Scalar::from_f64(self.state[i] + change[i]));
        if let Some(clock) = self.system.facts().clock {
            end[clock] = Scalar::from_f64(self.time + h);
        }
        let rates = self.system.vector_field(&end);
        let order = self.rule.order;
        let slopes = Entries::from_fn(|i| slope(order, |n| coefficients[n][0][i], Scalar::from_f64(h)));
        let [end, rates, slopes] =
            [end, rates, slopes].map(|of: Vector<S, Together>| vector_in_lane::<Vector<S>, _>(&of, 0));
        self.rule.keeps_to_the_field([&end, &rates, &slopes], h)
    }

    /// Where the step ends that all take, and its size.
    fn end_of_step(&mut self, until: f64) -> Result<(f64, f64), StepFailure> {
        let remaining = until - self.time;
        let of_state = &self.blocks[0].coefficients;
        let mut least = self.rule.size(|order| vector_in_lane::<Vector<S>, _>(&of_state[order][0], 0), remaining);
        for Block { rules, coefficients, .. } in &mut self.blocks {
            for (lane, rule) in rules.iter_mut().enumerate() {
                let own = rule.size(|order| vector_in_lane::<Vector<S>, _>(&coefficients[order][1], lane), remaining);
                least = (least.0.min(own.0), least.1 && own.1);
            }
        }
        let (size, is_last) = least;
        if is_last {
            return Ok((until, remaining));
        }
        let end = (self.time + size).min(until);
        if is_too_short(size, self.time) { Err(StepFailure::Underflow) } else { Ok((end, end - self.time)) }
    }

    /// The time that was reached.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The state.
    pub fn state(&self) -> &Vector<S> {
        &self.state
    }

    /// The derivative of the state along each of the directions.
    pub fn derivatives(&self) -> Vec<Vector<S>> {
        let of = |block: &Block<S>| {
            let along = block.along;
            (0..block.rules.len()).map(move |lane| vector_in_lane(&along, lane)).collect::<Vec<_>>()
        };
        self.blocks.iter().flat_map(of).collect()
    }
}
