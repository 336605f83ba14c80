//! The figure and the animation of a run that came to its end.

use std::error::Error;

use fbint_runtime::Settings;

use crate::figures::animation::Animation;
use crate::figures::motion::DrawnRun;
use crate::figures::panels::Panel;
use crate::runs::job::Job;
use crate::runs::report::{manner, title};
use fbint_catalogue::{AnyModel, Observer, Plan, Run, Sample};

/// The number of samples through which curves are smooth.
const SMOOTH: u64 = 2000;

/// A run to be drawn.
pub(crate) struct Pictures<'a> {
    pub(crate) job: &'a Job,
    pub(crate) model: &'a dyn AnyModel,
    pub(crate) samples: &'a [Sample],
    /// `true` if the times of the samples were chosen, so that nothing else is drawn.
    pub(crate) are_chosen: bool,
    /// The time at the end.
    pub(crate) time: f64,
    /// The number of steps.
    pub(crate) steps: u64,
}

impl<'a> Pictures<'a> {
    /// All of a run.
    pub(crate) fn of(job: &'a Job, model: &'a dyn AnyModel, run: &'a Run) -> Self {
        let are_chosen = job.has_sample_times();
        Self { job, model, samples: &run.trajectory, are_chosen, time: run.time, steps: run.steps }
    }

    /// The figure with these panels, or all of the run if there are none. The `observer` sees the integration for smooth curves.
    pub(crate) fn figure(&self, panels: &[Panel], observer: &mut Observer<'_>) -> Result<String, Box<dyn Error>> {
        let smooth = self.smooth(observer)?;
        let run =
            DrawnRun { model: self.model, samples: self.samples, smooth: smooth.as_deref().unwrap_or(self.samples) };
        Ok(run.draw(&title(self.job), panels))
    }

    /// The page of the animation.
    pub(crate) fn animation(&self) -> Result<String, Box<dyn Error>> {
        let (name, method) = (&*self.job.model, &*manner(self.job));
        Ok(Animation { name, method, model: self.model, samples: self.samples }.page()?)
    }

    /// Samples of the dense output of a run of few steps, at whose ends curves would have corners.
    fn smooth(&self, observer: &mut Observer<'_>) -> Result<Option<Vec<Sample>>, Box<dyn Error>> {
        let settings = self.job.settings;
        if settings.method.step().is_some() || self.are_chosen || self.steps > SMOOTH {
            return Ok(None);
        }
        let every = Some((self.time - settings.from) / SMOOTH as f64);
        let plan = Plan { settings: Settings { every, ..settings }, ..self.job.plan(self.model)? };
        let start = self.job.start(self.model)?;
        let mut is_interrupted = false;
        let run = self.model.run(&start, &plan, None, &mut |moment| {
            let flow = observer(moment);
            is_interrupted |= flow.is_break();
            flow
        })?;
        if is_interrupted { Err("interrupted".into()) } else { Ok(Some(run.trajectory)) }
    }
}
