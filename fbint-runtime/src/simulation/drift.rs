//! The drift of every integral in a run: the largest change, the final one, and the trend.
//!
//! The change is F - F_target. Its secular slope is the slope of the least-squares line through all (t, change) that were recorded: it is
//! near 0 for an oscillation that stays bounded, and not for a steady loss. The record is streamed (running means and co-moments), so that
//! it costs the same memory however long the run.

use core::fmt;

use crate::error::dependence::Dependence;
use crate::hold::consistent_start::StartMove;
use crate::hold::projection::{LeftOutReason, Omission};
use crate::numbers::linear::Four;
use crate::system::{Conservation, Integral, IntegralKind};

/// The record of the integrals of a system over a run. Displays as a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    integrals: &'static [Integral],
    undeclared: &'static [&'static str],
    targets: Vec<f64>,
    changes: DriftRecord,
    start_move: Option<StartMove>,
    undetermined: Vec<Dependence>,
}

/// A [`Drift`] without its names and targets, which come from the system and the start.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct DriftRecord {
    /// The changes of the integrals, four by four.
    changes: Vec<ChangesOfFour>,
    mean_time: f64,
    /// sum (t - mean t)^2.
    time_moment: f64,
    count: f64,
    /// The left-out projections of each integral that was the reason, by its index.
    left_out: Vec<(usize, LeftOut)>,
}

/// The drift of four integrals, or fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ChangesOfFour {
    largest: Four,
    last: Four,
    mean: Four,
    /// sum (t - mean t) (change - mean change).
    moment: Four,
}

impl DriftRecord {
    fn none(integrals: usize) -> Self {
        let changes = vec![ChangesOfFour::default(); integrals.div_ceil(4)];
        Self { changes, mean_time: 0.0, time_moment: 0.0, count: 0.0, left_out: Vec::new() }
    }

    /// Returns `true` if they belong to this number of integrals.
    pub(crate) fn has_length(&self, integrals: usize) -> bool {
        self.changes.len() == integrals.div_ceil(4) && self.left_out.iter().all(|(integral, _)| *integral < integrals)
    }

    /// Adds F - F_target at time t.
    #[inline]
    fn record(&mut self, time: f64, changes: &[Four]) {
        self.count += 1.0;
        let ahead = time - self.mean_time;
        self.mean_time += ahead / self.count;
        self.time_moment += ahead * (time - self.mean_time);
        let count = self.count;
        self.changes
            .iter_mut()
            .zip(changes)
            .for_each(|(so_far, changes)| *so_far = so_far.after(*changes, ahead, count));
    }
}

impl ChangesOfFour {
    /// Adds changes that come a time `ahead` of the mean time, as the last of a number of them. By value, so that four divisions are made
    /// at once.
    #[inline]
    fn after(mut self, changes: Four, ahead: f64, count: f64) -> Self {
        for (i, change) in changes.into_iter().enumerate() {
            self.mean[i] += (change - self.mean[i]) / count;
            self.moment[i] += (change - self.mean[i]) * ahead;
            self.largest[i] = self.largest[i].max(change.abs());
            self.last[i] = change;
        }
        self
    }
}

/// Steps after which an integral, or because of it the whole projection, was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LeftOut {
    /// Why it was left out first.
    pub reason: LeftOutReason,
    /// When that was.
    pub time: f64,
    /// The number of steps.
    pub steps: u64,
}

/// As a run reports it after the name of the integral.
impl fmt::Display for LeftOut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, time, steps } = self;
        let after = if *steps == 1 { "1 step".to_string() } else { format!("{steps} steps") };
        match reason {
            LeftOutReason::OutOfProportion => write!(
                out,
                "drifted far beyond the errors of steps: not projected after {after}, first at t = {time:?}, and held where they ended"
            ),
            LeftOutReason::Jump => write!(out, "jumped: left out after {after}, first at t = {time:?}"),
            LeftOutReason::NotCloser => write!(
                out,
                "came no closer to its target by a projection, damped or not: left out after {after}, first at t = {time:?}, and held \
                 where it ended"
            ),
            LeftOutReason::NotFinite if *steps == 0 => write!(
                out,
                "has no finite gradient at the start: left out of every projection; declare what is smooth there, such as its square"
            ),
            LeftOutReason::NotFinite => write!(
                out,
                "is not finite, or has no finite gradient: not projected after {after}, first at t = {time:?}; declare what is \
                 smooth there, such as its square"
            ),
        }
    }
}

/// The drift of one integral in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IntegralDrift {
    /// The name of the integral.
    pub name: &'static str,
    /// The value it should keep; the last one, if an event has reset it.
    pub target: f64,
    /// The largest |F - F_target|.
    pub max: f64,
    /// The last F - F_target.
    pub last: f64,
    /// The slope of the least-squares line through F - F_target over time: the secular drift per unit of time.
    pub slope: f64,
    /// `true` if the declaration assumes that the field conserves it, and nothing proves it.
    pub assumed: bool,
    /// Where it was left out of the projection, if it was.
    pub left_out: Option<LeftOut>,
}

impl Drift {
    /// An empty record of integrals that should keep these values.
    pub(crate) fn new(integrals: &'static [Integral], undeclared: &'static [&'static str], targets: Vec<f64>) -> Self {
        let (changes, start_move, undetermined) = (DriftRecord::none(targets.len()), None, Vec::new());
        Self { integrals, undeclared, changes, targets, start_move, undetermined }
    }

    /// For each redundant constraint, itself and the constraints that imply it: one by one, their reactions are not determined.
    pub fn undetermined_reactions(&self) -> &[Dependence] {
        &self.undetermined
    }

    pub(crate) fn set_undetermined_reactions(&mut self, undetermined: Vec<Dependence>) {
        self.undetermined = undetermined;
    }

    /// By how much the start was moved onto the constraints, if it was; see [`Run::start_move`](crate::Run::start_move).
    pub fn start_move(&self) -> Option<&StartMove> {
        self.start_move.as_ref()
    }

    pub(crate) fn set_start_move(&mut self, start_move: Option<StartMove>) {
        self.start_move = start_move;
    }

    /// Counts steps after which something was left out of a projection.
    pub(crate) fn leave_out(&mut self, time: f64, Omission { integral, reason }: Omission, steps: u64) {
        let left_out = &mut self.changes.left_out;
        let index = left_out.binary_search_by_key(&integral, |(index, _)| *index).unwrap_or_else(|index| {
            left_out.insert(index, (integral, LeftOut { reason, time, steps: 0 }));
            index
        });
        left_out[index].1.steps += steps;
    }

    /// Adds F - F_target at time t.
    #[inline]
    pub(crate) fn record(&mut self, time: f64, changes: &[Four]) {
        self.changes.record(time, changes);
    }

    /// DriftRecord the values that the integrals should keep from now on.
    pub(crate) fn set_targets(&mut self, targets: &[f64]) {
        self.targets.copy_from_slice(targets);
    }

    pub(crate) fn changes(&self) -> &DriftRecord {
        &self.changes
    }

    /// Resumes from the changes of as many integrals.
    pub(crate) fn restore(&mut self, changes: &DriftRecord) {
        self.changes = changes.clone();
    }

    /// The drift of each integral, in the order of [`SystemFacts::integrals`](crate::SystemFacts::integrals).
    pub fn integrals(&self) -> impl Iterator<Item = IntegralDrift> + '_ {
        let DriftRecord { changes, time_moment, left_out, .. } = &self.changes;
        self.integrals.iter().enumerate().map(move |(i, integral)| {
            let ChangesOfFour { largest, last, moment, .. } = &changes[i / 4];
            IntegralDrift {
                name: integral.name,
                target: self.targets[i],
                max: largest[i % 4],
                last: last[i % 4],
                slope: if *time_moment > 0.0 { moment[i % 4] / time_moment } else { 0.0 },
                assumed: integral.conservation == Conservation::Assumed,
                left_out: left_out.iter().find(|(index, _)| *index == i).map(|(_, left_out)| *left_out),
            }
        })
    }

    /// The drift of the integral of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<IntegralDrift> {
        self.integrals().find(|integral| integral.name == name)
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width =
            self.integrals.iter().map(|integral| integral.name.chars().count()).fold("integral".len(), usize::max);
        write!(
            out,
            "{:width$}  {:>10}  {:>12}  {:>12}  {:>13}",
            "integral", "target", "max |change|", "final change", "secular slope"
        )?;
        let kinds = self.integrals.iter().map(|integral| integral.kind);
        for (IntegralDrift { name, target, max, last, slope, assumed, .. }, kind) in self.integrals().zip(kinds) {
            // Adding zero turns -0 into 0.
            let [target, last, slope] = [target, last, slope].map(|number| number + 0.0);
            write!(out, "\n{name:width$}  {target:>10.2e}  {max:>12.2e}  {last:>12.2e}  {slope:>13.2e}")?;
            if kind == IntegralKind::RedundantConstraint {
                write!(out, "  redundant")?;
            } else if assumed {
                write!(out, "  assumed to be conserved")?;
            }
        }
        if let Some(start_move) = &self.start_move {
            write!(out, "\n{start_move}")?;
        }
        for dependence in &self.undetermined {
            if let [redundant, others @ ..] = dependence.constraints() {
                write!(out, "\nnot determined one by one: the reactions of")?;
                for (index, name) in others.iter().enumerate() {
                    write!(out, "{} `{name}`", if index == 0 { "" } else { "," })?;
                }
                let more = dependence.involved - dependence.constraints().len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                write!(out, "{more}, which imply `{redundant}`; they do without its reaction")?;
            }
        }
        for (name, left_out) in self.integrals().filter_map(|integral| Some((integral.name, integral.left_out?))) {
            write!(out, "\n`{name}` {left_out}")?;
        }
        for (place, function) in self.undeclared.iter().enumerate() {
            write!(
                out,
                "{} `{function}`",
                if place == 0 { "\nconserved, too, but not declared by `invariant(..)`:" } else { "," }
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Drift;
    use crate::{GeneratedSystem, feedback_system};

    /// A system at rest, whose integrals have names.
    #[feedback_system(
        state(x, y),
        dynamics(x = 0 * x, y = 0 * y),
        invariant(sway = x, constant = y),
        crate = crate,
    )]
    struct Still;

    #[test]
    fn drift_finds_the_slope_under_an_oscillation() {
        let mut drift = Drift::new(Still::FACTS.integrals, Still::FACTS.undeclared, vec![5.0, -1.0]);
        // Whole periods from a crest, which leave the slope as it is.
        for step in 0..=100_000 {
            let t = 0.002 * f64::from(step);
            let sway = (std::f64::consts::PI * t).cos();
            drift.record(t, &[[1e-3 * t + sway, 0.0, 0.0, 0.0]]);
        }
        let integrals: Vec<_> = drift.integrals().collect();
        let [sway, constant] = integrals[..] else { panic!("{integrals:?}") };
        assert_eq!((sway.name, constant.name), ("sway", "constant"));
        assert!((sway.slope - 1e-3).abs() < 1e-8, "{}", sway.slope);
        assert!((sway.last - 1.2).abs() < 1e-9 && (sway.max - 1.2).abs() < 1e-3);
        assert_eq!((constant.max, constant.last, constant.slope), (0.0, 0.0, 0.0));
        assert_eq!(drift.get("nothing"), None);
        assert_eq!(
            drift.to_string(),
            "integral      target  max |change|  final change  secular slope\n\
             sway          5.00e0        1.20e0        1.20e0        1.00e-3\n\
             constant     -1.00e0        0.00e0        0.00e0         0.00e0",
        );
    }

    #[test]
    fn drift_shows_no_negative_zero() {
        let mut drift = Drift::new(Still::FACTS.integrals, Still::FACTS.undeclared, vec![-0.0; 2]);
        drift.record(0.0, &[[0.0; 4]]);
        assert!(!drift.to_string().contains("-0.0"), "{drift}");
    }
}
