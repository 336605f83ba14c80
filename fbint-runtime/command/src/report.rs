//! What a run came to, in words.

pub(crate) mod page;

use std::fmt::Write as _;

use fbint_runtime::{Dependence, IntegralJump, LargestProjection};

use crate::catalogue::{AnyModel, Feedback, Run};
use crate::job::Job;
use crate::names::quantities_of_state;

/// The drift of every integral, what ended the run if a condition was asked for, and what it took.
pub(crate) fn report(job: &Job, model: &dyn AnyModel, run: &Run) -> String {
    let mut text = format!("{}\n\n{}\n\n", title(job), run.report);
    match (&run.ended_by, &job.until_event) {
        (Some(event), _) => {
            let state = quantities_of_state(model).into_iter().zip(&run.state);
            let state: Vec<String> = state.map(|(name, value)| format!("{name} = {value:?}")).collect();
            let _ = writeln!(text, "{event} at t = {:?}, where {}", run.time, state.join(", "));
        }
        (None, Some(event)) => {
            let _ = writeln!(text, "{event} did not become true until t = {:?}", run.time);
        }
        (None, None) => {}
    }
    let _ = writeln!(text, "{} steps, {} evaluations of the field", run.steps, run.evaluations);
    if let Some(projection) = &run.largest_projection {
        text += &largest_projection(projection);
    }
    if let Some(doubt) = doubt(run) {
        let _ = writeln!(text, "doubtful: {doubt}");
    }
    text
}

/// Model, method and end.
pub(crate) fn title(job: &Job) -> String {
    format!("{}: {}", job.model, manner(job))
}

/// The method, what aids it, its accuracy and the time.
pub(crate) fn manner(job: &Job) -> String {
    let method = job.settings.method;
    let step = method.step().map(|h| format!("h = {h}"));
    let tolerances = method.tolerances().map(|[rtol, atol]| format!("rtol = {rtol:?}, atol = {atol:?}"));
    let accuracy = step.or(tolerances).unwrap_or_default();
    format!("{}, {accuracy}, t = 0 .. {}", method_label(job), job.settings.until)
}

/// Why a run is not to be trusted: constraints are nearly dependent somewhere, or an integral has jumped.
pub(crate) fn doubt(run: &Run) -> Option<String> {
    let dependent = |dependence: &Dependence| {
        format!(
            "at t = {:?} {dependence}: the field is singular where they are, and steps across such a point are not to be trusted",
            dependence.time,
        )
    };
    let jumped = |IntegralJump { time, integral, change }: &IntegralJump| {
        format!(
            "`{integral}` changed by {change:.1e} in the step to t = {time:?}: it jumps there, or the step passes a singularity of the \
             field that it does not resolve, such as a collision"
        )
    };
    let doubt = run.dependence.as_ref().map(dependent).or(run.integral_jump.as_ref().map(jumped))?;
    Some(format!("{doubt}; compare with a run with a smaller --step or --rtol"))
}

fn largest_projection(
    LargestProjection { time, entry, distance, per_error, per_tolerance }: &LargestProjection,
) -> String {
    let tolerance = per_tolerance.map_or(String::new(), |ratio| format!(" and {ratio:.1e} times the tolerance"));
    format!(
        "largest projection: `{entry}` by {distance:.1e} at t = {time:?}, {per_error:.1e} times the error of the step{tolerance}\n"
    )
}

fn method_label(job: &Job) -> String {
    let method = job.settings.method.name();
    let feedback = match &job.gains {
        Feedback::None if job.settings.projection.is_some() => return format!("{method}, projected after each step"),
        Feedback::None => format!("{method} without feedback"),
        Feedback::Uniform(k) => format!("{method} with feedback, k = {k}"),
        Feedback::Diagonal(_) => format!("{method} with feedback"),
        Feedback::Relaxation(tau) => format!("{method} with feedback, relaxation time {tau}"),
        Feedback::DiagonalScaled(rate) => format!("{method} with feedback, scaled to the rate {rate}"),
        Feedback::BaeChang(_) => format!("{method} with feedback, gains of Bae and Chang"),
    };
    if job.settings.projection.is_some() { feedback + ", projected" } else { feedback }
}
