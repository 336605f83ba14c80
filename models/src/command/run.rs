//! `fbint run`: one model by one method.

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use fbint_runtime::{Correction, Method};
use models::catalogue::{Feedback, Model, Plan};

use super::arguments::{Assignment, GainsArgument, MethodName, Run};
use super::figure::{self, Curve};
use super::output::Output;
use super::progress::Progress;
use super::scheme::Contender;
use super::{load, nearest, table};

/// The step size unless given.
const STEP: f64 = 1e-3;
/// The relative tolerance unless given.
const RTOL: f64 = 1e-9;
/// More samples than this hardly fit into memory.
const MAX_SAMPLES: f64 = 1e7;

/// Integrates a model, reports its drift and writes the files asked for.
pub(crate) fn run(arguments: &Run) -> Result<(), Box<dyn Error>> {
    let mut model = load(&arguments.model)?;
    set_parameters(&mut *model, &arguments.parameters)?;
    let start = start(&*model, arguments)?;
    let plan = plan(&*model, arguments)?;
    let (out, plot) = outputs(arguments.out.as_deref(), arguments.plot.as_deref())?;

    let mut progress = Progress::new(&arguments.model);
    let run = model.run(&start, &plan, &mut |fraction| progress.report(fraction)).map_err(in_terms_of_options)?;
    drop(progress);

    let title = title(arguments, plan.method);
    if let Some(out) = &out {
        out.write(|file| table::write(&*model, &run.trajectory, file))?;
    }
    if let Some(plot) = &plot {
        let curve = Curve { contender: contender(&plan), trajectory: &run.trajectory };
        let svg = figure::drift(&title, model.integral_names(), &[curve]);
        plot.write(|file| file.write_all(svg.as_bytes()))?;
    }

    let mut terminal = stdout().lock();
    writeln!(terminal, "{title}\n\n{}\n", run.report)?;
    writeln!(terminal, "{} steps, {} evaluations of the field", run.steps, run.evaluations)?;
    for (what, file) in [("trajectory", &out), ("figure", &plot)] {
        if let Some(file) = file {
            writeln!(terminal, "{what}: {}", file.path().display())?;
        }
    }
    Ok(())
}

fn set_parameters(model: &mut dyn Model, assignments: &[Assignment]) -> Result<(), Box<dyn Error>> {
    for Assignment { name, value } in assignments {
        let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
        let index = nearest::find("parameter", name, &names)?;
        model.set_parameter(index, *value);
    }
    Ok(())
}

/// The model's own start with the entries that were set, repaired around them if asked.
fn start(model: &dyn Model, arguments: &Run) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut start = model.start()?;
    let mut held = Vec::new();
    for Assignment { name, value } in &arguments.start {
        let entry = nearest::find("entry of the state", name, model.state_names())?;
        start[entry] = *value;
        held.push(model.state_names()[entry]);
    }
    if arguments.repair { model.repair(&start, &held).map_err(in_terms_of_options) } else { Ok(start) }
}

fn plan(model: &dyn Model, arguments: &Run) -> Result<Plan, Box<dyn Error>> {
    let method = method(arguments)?;
    if let Some(every) = arguments.every
        && arguments.until / every.max(step(method).unwrap_or(0.0)) > MAX_SAMPLES
    {
        return Err(format!("--every {every:?} makes more than {MAX_SAMPLES:e} samples: take a longer interval").into());
    }
    Ok(Plan {
        method,
        correction: if arguments.correct { Correction::once() } else { Correction::times(0) },
        until: arguments.until,
        feedback: feedback(model, &arguments.gains)?,
        every: arguments.every,
    })
}

/// The method with its step or its tolerances, whichever it takes; the other is refused.
fn method(arguments: &Run) -> Result<Method, Box<dyn Error>> {
    let h = arguments.step.unwrap_or(STEP);
    let rtol = arguments.rtol.unwrap_or(RTOL);
    let atol = arguments.atol.unwrap_or(rtol);
    let method = match arguments.method {
        MethodName::Euler => Method::Euler { h },
        MethodName::Midpoint => Method::Midpoint { h },
        MethodName::Heun => Method::Heun { h },
        MethodName::Rk4 => Method::Rk4 { h },
        MethodName::DormandPrince => Method::DormandPrince { rtol, atol },
        MethodName::Dop853 => Method::Dop853 { rtol, atol },
    };
    let name = method_name(arguments.method);
    let tolerance = arguments.rtol.map(|_| "--rtol").or(arguments.atol.map(|_| "--atol"));
    match (step(method), tolerance) {
        (None, _) if arguments.step.is_some() => {
            Err(format!("{name} chooses its steps: give --rtol and --atol instead of --step").into())
        }
        (Some(_), Some(given)) => {
            Err(format!("{name} takes steps of one size: give --step instead of {given}, or --method dop853").into())
        }
        _ => Ok(method),
    }
}

/// The size of the steps, of a method that does not choose it.
fn step(method: Method) -> Option<f64> {
    match method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => Some(h),
        Method::DormandPrince { .. } | Method::Dop853 { .. } => None,
    }
}

fn feedback(model: &dyn Model, argument: &GainsArgument) -> Result<Feedback, Box<dyn Error>> {
    let names = model.integral_names();
    match argument {
        GainsArgument::None => Ok(Feedback::None),
        GainsArgument::Uniform(k) => Ok(Feedback::Uniform(*k)),
        GainsArgument::Each(gains) if gains.len() == names.len() => Ok(Feedback::Diagonal(gains.clone())),
        GainsArgument::Each(gains) => {
            let (given, wanted, order) = (gains.len(), names.len(), names.join(", "));
            Err(format!("--gains has {given} values but there are {wanted} integrals: {order}").into())
        }
    }
}

/// Both files, known to be writable before the run starts.
fn outputs(out: Option<&Path>, plot: Option<&Path>) -> Result<(Option<Output>, Option<Output>), Box<dyn Error>> {
    let out = out.map(Output::at).transpose()?;
    let plot = plot.map(Output::at).transpose()?;
    match (&out, &plot) {
        (Some(out), Some(plot)) if out.is_same_file(plot) => {
            Err(format!("--out and --plot both name {}", plot.path().display()).into())
        }
        _ => Ok((out, plot)),
    }
}

/// The runtime's remedy for a bad start, as an option of this command.
fn in_terms_of_options(error: fbint_runtime::Error) -> Box<dyn Error> {
    match error {
        fbint_runtime::Error::OffConstraint { name, value, tolerance } => format!(
            "the start violates the constraint `{name}`: its value there is {value:?} where 0 is asked, give or take \
             {tolerance:.1e}; correct it by --start, or pass --repair"
        )
        .into(),
        fbint_runtime::Error::NoConsistentStart { name, value, iterations } => format!(
            "--repair found no consistent start: the constraint `{name}` is still {value:?} after {iterations} iterations; \
             set entries nearer to the constraints by --start, or fewer of them, because those set are kept"
        )
        .into(),
        other => other.into(),
    }
}

fn contender(plan: &Plan) -> Contender {
    let scheme = plan.method.into();
    match plan.feedback {
        Feedback::None => Contender::plain(scheme),
        Feedback::Uniform(_) | Feedback::Diagonal(_) => Contender::with_feedback(scheme),
    }
}

fn title(arguments: &Run, method: Method) -> String {
    let accuracy = match method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => format!("h = {h}"),
        Method::DormandPrince { rtol, atol } | Method::Dop853 { rtol, atol } => {
            format!("rtol = {rtol:?}, atol = {atol:?}")
        }
    };
    format!("{}: {}, {accuracy}, t = 0 .. {}", arguments.model, method_label(arguments), arguments.until)
}

fn method_label(arguments: &Run) -> String {
    let method = method_name(arguments.method);
    let feedback = match &arguments.gains {
        GainsArgument::None => format!("{method} without feedback"),
        GainsArgument::Uniform(k) => format!("{method} with feedback, k = {k}"),
        GainsArgument::Each(_) => format!("{method} with feedback"),
    };
    if arguments.correct { feedback + ", corrected" } else { feedback }
}

fn method_name(method: MethodName) -> &'static str {
    match method {
        MethodName::Euler => "Euler",
        MethodName::Midpoint => "the midpoint rule",
        MethodName::Heun => "Heun",
        MethodName::Rk4 => "RK4",
        MethodName::DormandPrince => "Dormand-Prince",
        MethodName::Dop853 => "DOP853",
    }
}
