//! A progress bar for runs that outlast half a second, on a terminal only.

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use fbint_runtime::Moment;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const PATIENCE: Duration = Duration::from_millis(500);
const REFRESHES_PER_SECOND: u8 = 10;
const THOUSANDTHS: f64 = 1000.0;

/// The progress of one run.
pub struct Progress {
    label: String,
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// The progress of a run that begins now, with a label before its bar.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), begun: Instant::now(), wanted: stderr().is_terminal(), bar: None }
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
    }
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
