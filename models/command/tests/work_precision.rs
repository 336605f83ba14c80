//! Work-precision studies: the steps that are timed are the steps of the runs, and the files hold what was measured.

use std::error::Error;
use std::ops::ControlFlow;
use std::process::Command;

use fbint_command::catalogue::{Feedback, Plan};
use fbint_command::scheme::Scheme;
use fbint_command::work_precision::{Policy, Study};
use fbint_runtime::{Method, Projection, Settings};
use tempfile::tempdir;

use super::common::is_thorough;

type Outcome = Result<(), Box<dyn Error>>;

const STEP: f64 = 1e-3;
const UNTIL: f64 = 0.003;

#[test]
fn the_steps_alone_end_where_the_run_does() -> Outcome {
    let feedbacks = [Feedback::None, Feedback::Uniform(1.0), Feedback::Relaxation(0.1), Feedback::BaeChang(STEP)];
    let tolerance = 1e-6;
    let methods = [
        Method::Euler { h: STEP },
        Method::Midpoint { h: STEP },
        Method::Heun { h: STEP },
        Method::Rk4 { h: STEP },
        Method::DormandPrince { rtol: tolerance, atol: Some(tolerance) },
        Method::Dop853 { rtol: tolerance, atol: Some(tolerance) },
    ];
    let mut refused = Vec::new();
    let long = if is_thorough() { &["chain-32"][..] } else { &["chain-8", "chain-16", "chain-32"] };
    for entry in catalogue::all().iter().filter(|entry| !long.contains(&&entry.name[..])) {
        let model = (entry.load)();
        let start = model.start()?;
        for (method, feedback) in
            methods.iter().flat_map(|method| feedbacks.iter().map(move |feedback| (method, feedback)))
        {
            for projection in [None, Some(Projection::default())] {
                let settings = Settings { projection, ..Settings::new(*method, UNTIL) };
                let plan = Plan::new(settings, feedback.clone());
                match model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(())) {
                    Ok(run) => assert_eq!(model.run_bare(&start, &plan)?, run.state, "{}: {plan:?}", entry.name),
                    Err(_) => refused.push((entry.name.clone(), method, projection.is_some())),
                }
            }
        }
        for scheme in model.further_methods() {
            let plan = Policy::Plain.plan(scheme, STEP, UNTIL);
            let run = model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(()))?;
            assert_eq!(model.run_bare(&start, &plan)?, run.state, "{}: {scheme}", entry.name);
        }
    }
    assert_eq!(refused, []);
    Ok(())
}

#[test]
fn a_study_writes_its_figures_and_tables_and_says_what_they_show() -> Outcome {
    let folder = tempdir()?;
    let output = fbint(&["work-precision", "planar-pendulum", "--until", "0.3"]).current_dir(&folder).output()?;
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    // The answers first.
    for (line, goal) in text.lines().zip(["1e-3", "1e-6", "1e-9"]) {
        assert!(line.starts_with(&format!("Least time to an error of {goal}: ")), "{line}");
    }
    for part in [
        "RK4, projected",
        "Euler, Bae-Chang",
        "RATTLE",
        "Gauss 16",
        "refused as unstable",
        "Least time to an error of 1e-6: ",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }

    let out = folder.path().join("out");
    for figure in ["work-precision-planar-pendulum.svg", "work-precision-planar-pendulum-gains.svg"] {
        let svg = std::fs::read_to_string(out.join(figure))?;
        assert!(svg.contains("drift against evaluations") && svg.contains("10⁻⁶"), "{figure}");
    }
    let mut table = csv::Reader::from_path(out.join("work-precision-planar-pendulum.csv"))?;
    let rows: Vec<csv::StringRecord> = table.records().collect::<Result<_, _>>()?;
    let column = |method: &str, column: usize| -> Vec<f64> {
        rows.iter().filter(|row| &row[0] == method).flat_map(|row| row[column].parse()).collect()
    };
    let (steps, evaluations, seconds, errors, drifts) = (1, 5, 6, 7, 8);
    for (method, order, stages) in [("Euler, plain", 1.0, 1.0), ("Heun, projected", 2.0, 2.0), ("RATTLE", 2.0, 1.0)] {
        let (h, errors) = (column(method, steps), column(method, errors));
        let last = h.len() - 1;
        let measured = (errors[2] / errors[last]).ln() / (h[2] / h[last]).ln();
        assert!((measured - order).abs() < 0.1, "{method} is of order {measured}");
        // A projected run takes one evaluation more.
        let additional = column(method, evaluations)[last] - stages * 0.3 / h[last];
        assert!(
            (additional - if method.ends_with("projected") { 1.0 } else { 0.0 }).abs() < 1e-6,
            "{method}: {additional}"
        );
        assert!(column(method, seconds).iter().all(|&seconds| seconds >= 0.0), "{method}");
    }
    let (h, of_gauss) = (column("Gauss 4", steps), column("Gauss 4", errors));
    let measured = (of_gauss[0] / of_gauss[2]).ln() / (h[0] / h[2]).ln();
    assert!((measured - 4.0).abs() < 0.2, "Gauss 4 is of order {measured}");
    // Gains as strong as in the papers are refused at long steps, which is recorded, too.
    assert!(column("RK4, k = 50", 3).contains(&1.0) && column("RK4, k = 50", errors).len() < 9);
    assert!(column("RK4, projected", drifts)[4..].iter().all(|&drift| drift < 1e-13));
    Ok(())
}

#[test]
fn a_study_has_rodas5p_where_there_are_derivatives() -> Outcome {
    let named = ["Rodas5P, plain", "Rodas5P, projected", "Rodas5P, k = 1", "Rodas5P, k = 50"];
    for (name, expected) in [("driven-pendulum", &named[..]), ("planar-pendulum", &[])] {
        let model = catalogue::load(name)?;
        let study = Study::without_times(&*model, name, 0.3, |series| series.scheme == Scheme::RODAS5P)?;
        assert_eq!(study.series.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        for series in &study.series {
            let errors: Vec<f64> = series.done().map(|measured| measured.error).collect();
            assert!(errors.len() == series.points.len() && errors[errors.len() - 1] < 1e-9, "{series}: {errors:?}");
        }
    }
    Ok(())
}

#[test]
fn a_study_that_cannot_be_made_is_refused() -> Outcome {
    let folder = tempdir()?;
    for (arguments, part) in [
        (["work-precision", "spherical-pendulm", "--until", "1"], "did you mean `spherical-pendulum`"),
        (["work-precision", "euler-top", "--until", "-1"], "--until"),
        (["work-precision", "euler-top", "--out", "no/where"], "no/where"),
    ] {
        let output = fbint(&arguments).current_dir(&folder).output()?;
        let text = String::from_utf8(output.stderr)?;
        assert!(output.status.code() == Some(2) && text.contains(part) && text.lines().count() == 1, "{text}");
    }
    Ok(())
}

fn fbint(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
    command.args(arguments);
    command
}
