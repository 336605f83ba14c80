//! A progress bar for runs that outlast half a second, on a terminal only, and a line that says how long a long one will take.

use std::io::{IsTerminal, Write, stderr};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use fbint_runtime::Moment;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_millis(500);
/// The duration of a measurement of a run's speed.
const LOOK: Duration = Duration::from_secs(1);
/// The number of measurements: the run may compile its code during the first one.
const LOOKS: u8 = 2;
/// The seconds left from which an estimate is worth a line.
const LONG: f64 = 300.0;
const REFRESHES_PER_SECOND: u8 = 10;
const THOUSANDTHS: f64 = 1000.0;

/// The progress of one run.
pub struct Progress {
    label: String,
    begun: Instant,
    wanted: bool,
    estimate: Estimate,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// The progress of a run that begins now, with a label before its bar.
    pub fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            begun: Instant::now(),
            wanted: stderr().is_terminal(),
            estimate: Estimate::new(),
            bar: None,
        }
    }

    /// A function that watches a run.
    pub fn observer(&mut self) -> impl FnMut(&Moment<'_>) -> ControlFlow<()> + '_ {
        |moment| {
            self.report(moment.fraction());
            ControlFlow::Continue(())
        }
    }

    /// Shows which fraction of the run is done.
    pub fn report(&mut self, fraction: f64) {
        if self.wanted && self.begun.elapsed() > PATIENCE {
            let bar = self.bar.get_or_insert_with(|| bar(&self.label));
            bar.set_position((THOUSANDTHS * fraction) as u64);
        }
        if let Some(left) = self.estimate.after(fraction) {
            let line = format!("{}: {left}; Ctrl-C interrupts, and --max-steps refuses such a run", self.label);
            match &self.bar {
                Some(bar) => bar.println(line),
                // Whoever does not read it misses nothing else.
                None => drop(writeln!(stderr(), "{line}")),
            }
        }
    }
}

/// An estimate of the time that a run will take.
pub struct Estimate {
    /// When this look at the run began, and which fraction of it was done then.
    begun: Option<(Instant, f64)>,
    looks: u8,
}

impl Estimate {
    /// No estimate yet.
    #[expect(clippy::new_without_default, reason = "nothing makes one by default")]
    pub fn new() -> Self {
        Self { begun: None, looks: 0 }
    }

    /// The time that is left when this fraction of the run is done, as a clause: once, after two seconds, and only where that is long.
    pub fn after(&mut self, fraction: f64) -> Option<String> {
        self.at(fraction, Instant::now())
    }

    fn at(&mut self, fraction: f64, now: Instant) -> Option<String> {
        let (begun, before) = *self.begun.get_or_insert((now, fraction));
        let elapsed = now.duration_since(begun);
        if self.looks == LOOKS || elapsed <= LOOK || fraction <= before {
            return None;
        }
        let left = estimate((fraction - before) / (1.0 - before), elapsed.as_secs_f64());
        // Once a look finds that little is left, no further one says anything else.
        self.looks = if left.is_some() { self.looks + 1 } else { LOOKS };
        self.begun = Some((now, fraction));
        left.filter(|_| self.looks == LOOKS)
    }
}

/// The time that a run will take, from the fraction that was done after some seconds, if that is long.
fn estimate(fraction: f64, seconds: f64) -> Option<String> {
    let left = seconds * (1.0 - fraction) / fraction;
    if left < LONG {
        return None;
    }
    let units = [("minutes", 60.0), ("hours", 3600.0), ("days", 86_400.0), ("years", 31_557_600.0)];
    let (unit, size) = units.into_iter().rev().find(|(_, size)| left >= 2.0 * size)?;
    let number = left / size;
    let number = if number < 1e6 { format!("{number:.0}") } else { format!("{number:.0e}") };
    Some(format!("about {number} {unit} are left"))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(label: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(REFRESHES_PER_SECOND);
    let bar = ProgressBar::with_draw_target(Some(THOUSANDTHS as u64), target);
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent} %, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(label.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Estimate, estimate};

    /// The estimates for a run that has reached these fractions after these seconds.
    fn said_of(run: &[(f64, f64)]) -> Vec<String> {
        let (mut estimates, begun) = (Estimate::new(), Instant::now());
        let said = run.iter().map(|(seconds, done)| estimates.at(*done, begun + Duration::from_secs_f64(*seconds)));
        said.flatten().collect()
    }

    #[test]
    fn time_in_which_code_is_made_counts_for_nothing() {
        assert!(said_of(&[(0.0, 0.0), (9.0, 0.001), (9.5, 0.2), (10.1, 0.5), (11.2, 0.9)]).is_empty());
        assert_eq!(
            said_of(&[(0.0, 0.0), (9.0, 1e-6), (9.9, 2e-6), (10.5, 3e-6), (12.0, 5e-6)]),
            ["about 9 days are left"]
        );
    }

    #[test]
    fn long_runs_are_estimated() {
        let said =
            |fraction, seconds| estimate(fraction, seconds).map(|text| text.split(" are").next().unwrap().to_owned());
        assert_eq!(said(0.5, 1.0), None);
        assert_eq!(said(1.0, 1e9), None);
        assert_eq!(said(1.0 / 301.0, 1.0).as_deref(), Some("about 5 minutes"));
        assert_eq!(said(1.0 / 7201.0, 1.0).as_deref(), Some("about 2 hours"));
        assert_eq!(said(4e-10, 1.01).as_deref(), Some("about 80 years"));
        assert_eq!(said(1e-300, 1.0).as_deref(), Some("about 3e292 years"));
    }
}
