//! The result of a run, in words.

use std::fmt::Write as _;

use fbint_runtime::{Dependence, IntegralJump, LargestProjection, LeftOut, LeftOutReason};

use crate::files::trajectory::few_digits;
use crate::line::condition::Condition;
use crate::runs::job::Job;
use crate::runs::record::EventCount;
use crate::words::names::{quantities_of_state, shapes_of};
use fbint_catalogue::{AnyModel, Feedback, Occurrence, Run};

/// The drift of every integral, what ended the run if a condition was asked for, and what it took.
pub(crate) fn report(job: &Job, model: &dyn AnyModel, run: &Run) -> String {
    let mut text = format!("{}\n\n{}\n\n", title(job), run.findings.drift);
    match (run.end(), &job.until_event) {
        (Some(event), _) => {
            let state = quantities_of_state(model).into_iter().zip(&run.state);
            let state: Vec<String> = state.map(|(name, value)| format!("{name} = {value:?}")).collect();
            let _ = writeln!(text, "{event} at t = {:?}, where {}", run.time, state.join(", "));
        }
        (None, Some(event)) => {
            text += &not_seen(event, model, run);
        }
        (None, None) => {}
    }
    text += &events(&run.events, run.end());
    let _ = writeln!(text, "{} steps, {} evaluations of the field", run.steps, run.evaluations);
    if run.stride > 1 {
        let (kept, stride) = (run.trajectory.len(), run.stride);
        let _ = writeln!(text, "{kept} samples of {} steps: one in {stride} is kept; --every 0 keeps all", run.steps);
    }
    if let Some(projection) = &run.findings.largest_projection {
        text += &largest_projection(projection);
    }
    for doubt in model.facts().doubts {
        let _ = writeln!(text, "doubtful: {doubt}");
    }
    if let Some(doubt) = doubt(run) {
        let _ = writeln!(text, "doubtful: {doubt}");
    }
    text
}

/// The observations of a condition that did not end the run.
fn not_seen(condition: &Condition, model: &dyn AnyModel, run: &Run) -> String {
    let mut text = format!("{condition} was not seen to become true until t = {:?}", run.time);
    if let Ok(crossing) = condition.of(model) {
        let sign = if crossing.is_below { 1.0 } else { -1.0 };
        let values =
            run.trajectory.iter().map(|sample| (crossing.value(model, sample.time, &sample.state), sample.time));
        let nearest = values.min_by(|(one, _), (other, _)| (sign * one).total_cmp(&(sign * other)));
        if let Some((value, time)) = nearest {
            let _ = write!(
                text,
                "; {} is nearest at t = {:?} of all samples, {value:?}",
                condition.compared(),
                few_digits(time)
            );
        }
    }
    text + "\n"
}

/// The inputs that nothing gives, in words.
pub(crate) fn open_inputs(model: &dyn AnyModel) -> Option<String> {
    match model.open_inputs()[..] {
        [] => None,
        [name] => Some(format!("input `{name}` is 0: nothing gives it")),
        ref names => {
            let facts = model.facts();
            let shapes = shapes_of(names, facts.inputs, facts.input_names);
            Some(format!("inputs {shapes} are 0: nothing gives them"))
        }
    }
}

/// The laws whose switches end no step, unlike the switches of a model's own laws, in words.
pub(crate) fn switching_laws(model: &dyn AnyModel) -> Option<String> {
    let names: Vec<String> = model.inputs()?.that_switch().iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "steps pass the switches of the laws of {} as they are, and results are of the order of the step there: a declaration of all \
             laws, as in `input(u = -v.signum())`, ends a step at each",
            names.join(", ")
        )
    })
}

/// The samples and counts that a continued run begins anew, in words.
pub(crate) fn begun_anew(job: &Job, model: &dyn AnyModel) -> Option<String> {
    let facts = model.facts();
    let is_given = |name: &str| job.inputs.contains_key(name) || job.functions.contains_key(name);
    let is_sampled = |name: &&&str| facts.law_delay.is_some() && !facts.open_inputs.contains(*name) && !is_given(name);
    let laws = facts.input_names.iter().filter(is_sampled).map(|name| format!("the law of `{name}` is sampled anew"));
    let counted = facts.events.iter().filter(|event| event.count.is_some());
    let counts = counted.map(|event| format!("`{}` is counted from 0", event.name));
    let anew: Vec<String> = laws.chain(counts).collect();
    let from = job.settings.from;
    (!anew.is_empty()).then(|| format!("`start` is the end of a run: from t = {from:?} on, {}", anew.join(", ")))
}

/// A line for each event that occurred, but not for one that only ended the run, which the report says already. A reset gives integrals new
/// targets, so that no drift shows what it changed.
fn events(occurrences: &[Occurrence], ended_by: Option<&str>) -> String {
    let mut text = String::new();
    let is_new = |count: &EventCount| count.occurrences > 1 || ended_by != Some(&*count.event);
    for EventCount { event, occurrences, resets, first } in EventCount::all(occurrences).into_iter().filter(is_new) {
        let times = if occurrences == 1 { "once".to_owned() } else { format!("{occurrences} times, first") };
        let _ = write!(text, "event `{event}`: {times} at t = {first:?}");
        text += match resets {
            0 => "\n",
            1 => "; it reset the state, which set new targets\n",
            _ => "; each reset of the state set new targets\n",
        };
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
    let step = method.step().map(|h| format!("h = {}", number(h)));
    let tolerances = method.tolerances().map(|(rtol, atol)| {
        let atol = atol.map_or(String::new(), |atol| format!(", atol = {atol:?}"));
        format!("rtol = {rtol:?}{atol}")
    });
    let accuracy = step.or(tolerances).unwrap_or_default();
    format!("{}, {accuracy}, {}", method_label(job), interval(job))
}

/// From when until when it goes.
pub(crate) fn interval(job: &Job) -> String {
    format!("t = {} .. {}", number(job.settings.from), number(job.settings.until))
}

/// A number as short as can be: `10`, `0.1`, `1e-11`.
fn number(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Why a run is not to be trusted: constraints or velocities are nearly dependent somewhere, an integral has jumped, or no projection brought it closer
/// to its target.
pub(crate) fn doubt(run: &Run) -> Option<String> {
    let dependent = |dependence: &Dependence| {
        format!(
            "at t = {:?} {dependence}: the field is singular where they are, and steps across such a point are not to be trusted",
            few_digits(dependence.time),
        )
    };
    let jumped = |IntegralJump { time, integral, change }: &IntegralJump| {
        let time = few_digits(*time);
        format!(
            "`{integral}` changed by {change:.1e} in the step to t = {time:?}: it jumps there, or the step is too long, or passes a \
             singularity of the field that it does not resolve, such as a collision"
        )
    };
    let far = |(name, left_out): (&str, LeftOut)| {
        format!(
            "no projection brought `{name}` closer to its target after the step to t = {:?}: it is far from linear within the error of \
             that step, which does not resolve what happens there, such as a singularity of the coordinates",
            left_out.time
        )
    };
    let is_far = |left_out: &LeftOut| left_out.reason == LeftOutReason::NotCloser;
    let left_out = run.findings.drift.integrals().find_map(|it| Some((it.name, it.left_out.filter(is_far)?)));
    let doubt = run.findings.dependence.as_ref().map(dependent).or(run.findings.jump.as_ref().map(jumped));
    let doubt = doubt.or(left_out.map(far))?;
    Some(format!("{doubt}; compare with a run with a smaller --step or --rtol"))
}

fn largest_projection(
    LargestProjection { time, entry, distance, per_error, per_tolerance }: &LargestProjection,
) -> String {
    let time = few_digits(*time);
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
        Feedback::BaeChang(_) => format!("{method} with feedback, gains of Bae and Chang"),
    };
    if job.settings.projection.is_some() { feedback + ", projected" } else { feedback }
}

#[cfg(test)]
mod tests {
    use super::events;
    use fbint_catalogue::Occurrence;

    /// Each once, in the order of their first occurrences.
    #[test]
    fn events_are_counted() {
        let occurrence = |name: &str, time: f64, reset: Option<Vec<f64>>| Occurrence {
            event: 0,
            name: name.to_owned(),
            time,
            state: vec![0.0],
            reset,
        };
        let reset = Some(vec![1.0]);
        let occurrences = [
            occurrence("floor", 0.5, reset.clone()),
            occurrence("top", 0.75, None),
            occurrence("floor", 1.0, reset.clone()),
            occurrence("door", 2.0, reset),
        ];
        assert_eq!(
            events(&occurrences, None),
            "event `floor`: 2 times, first at t = 0.5; each reset of the state set new targets\n\
             event `top`: once at t = 0.75\n\
             event `door`: once at t = 2.0; it reset the state, which set new targets\n"
        );
        assert_eq!(events(&[], None), "");
        assert_eq!(events(&occurrences[1..2], Some("top")), "");
        assert!(events(&occurrences, Some("floor")).starts_with("event `floor`: 2 times"));
    }
}
