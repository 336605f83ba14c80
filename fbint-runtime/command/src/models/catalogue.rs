//! The models of a program by name, and those in files.

use std::error::Error;
use std::path::Path;

pub use fbint_catalogue::*;

use crate::models::file::{self, InFile};
#[cfg(feature = "text")]
pub use crate::models::file::{Say, left_out, of_text};
use crate::words::help::program;
use crate::words::nearest;

/// The model of that name, or in the file that is named instead, with its default parameters. A file is called `FILE.rs`, and a model
/// of several in it `FILE.rs:MODEL`; it takes the feature `text` to read it.
///
/// # Errors
///
/// If the model does not exist: one line with the nearest name and the list of all names. If the file cannot be read or is mistaken.
pub fn load(models: &[Entry], name: &str) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    if let Some(file) = InFile::named(name) {
        return file.load();
    }
    if file::record_named(name).is_some() {
        return Err(format!(
            "{name} is a record and not a model: `{} run {name}` repeats the run of a record",
            program()
        )
        .into());
    }
    Ok((models[find(models, name)?].load)())
}

/// The position of the model of this name, or of the struct of this name.
///
/// # Errors
///
/// If there is none: one line with the nearest name and the list of all names.
pub fn find(models: &[Entry], name: &str) -> Result<usize, Box<dyn Error>> {
    if let Some(index) = models.iter().position(|entry| entry.type_name == name) {
        return Ok(index);
    }
    let names: Vec<&str> = models.iter().map(|entry| &*entry.name).collect();
    nearest::find("model", name, &names)
}

/// The same, where the path of a file starts from a folder.
pub(crate) fn load_from(
    folder: Option<&Path>,
    models: &[Entry],
    name: &str,
) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    match folder.zip(InFile::named(name)) {
        Some((folder, file)) => file.load_from(folder),
        None => load(models, name),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::{env, error, fs, process};

    use clap::Parser;
    use fbint_runtime::{Method, Settings};

    use super::{Controller, Entry, Feedback, Member, Model, Plan};
    use crate::{Arguments, Error, Event, feedback_system, models};

    /// A ball that bounces.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(height),
        momenta(p),
        hamiltonian = p.powi(2) / 2 + g * height,
    )]
    struct Ball {
        g: f64,
    }

    impl Default for Ball {
        fn default() -> Self {
            Self { g: 10.0 }
        }
    }

    impl Model for Ball {
        fn start(&self) -> Result<BallState, Error> {
            Ok(BallState { height: 0.2, p: 0.0 })
        }

        fn events(&self) -> Vec<Event<'_, BallState>> {
            let floor = Event::new("floor", |_, ball: &BallState| ball.height).falling();
            let over = Event::new("over", |time, _: &BallState| 0.3 * self.g - time).falling().terminal();
            vec![floor.reset(|_, ball| BallState { p: -0.9 * ball.p, ..*ball }), over]
        }
    }

    /// A pendulum whose motor takes it to a horizontal position.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(angle),
        momenta(p),
        hamiltonian = p.powi(2) / 2 - g * angle.cos(),
        input(torque),
        force(p = torque),
        output(effort = torque),
    )]
    struct Servo {
        g: f64,
    }

    impl Default for Servo {
        fn default() -> Self {
            Self { g: 9.81 }
        }
    }

    impl Model for Servo {
        fn start(&self) -> Result<ServoState, Error> {
            Ok(ServoState { angle: 0.0, p: 0.0, time: 0.0, work: 0.0 })
        }

        fn input(&self) -> Option<Controller<Self>> {
            let g = self.g;
            Some(Controller::new(move |_: f64, at: &ServoState| ServoInput {
                torque: g * at.angle.sin() - 4.0 * (at.angle - 1.0) - 4.0 * at.p,
            }))
        }
    }

    /// A mass on a spring.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(q),
        momenta(p),
        hamiltonian = (p.powi(2) + k * q.powi(2)) / 2,
        default(k = 4),
        start(q = 1, p = 0),
    )]
    struct Spring {
        k: f64,
    }

    impl Model for Spring {}

    #[test]
    fn ensembles_take_gains_that_follow_from_the_state() -> Result<(), Error> {
        let model = (Entry::of::<Spring>().load)();
        let start = model.start()?;
        let run = |feedback| {
            let plan = Plan::new(Settings::new(Method::Rk4 { h: 0.1 }, 2.0), feedback);
            model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(())).map(|run| (run.state, plan))
        };
        let (plain, _) = run(Feedback::None)?;
        let (state, plan) = run(Feedback::BaeChang(0.1))?;
        let member = || Member { parameters: vec![4.0], start: start.clone(), gain: None };
        let members = [member(), member(), member()];
        let ensemble = model.run_ensemble(&members, &plan, &mut |_| ControlFlow::Continue(()), None)?;
        for end in ensemble.ends {
            let end = end?;
            assert!(end.state == state && end.state != plain, "{:?}, {state:?}, {plain:?}", end.state);
        }
        Ok(())
    }

    /// The angle of the servo, whatever g is.
    fn angle(t: f64) -> f64 {
        1.0 - (1.0 + 2.0 * t) * (-2.0 * t).exp()
    }

    /// The height of the ball that keeps 0.9 of its momentum, in its second flight and in its third.
    fn height(t: f64) -> f64 {
        let (begun, speed) = if t < 0.56 { (0.2, 1.8) } else { (0.56, 1.62) };
        let t = t - begun;
        speed * t - 5.0 * t * t
    }

    /// The rows of a table that the command writes, without their header, in numbers.
    fn table(command: &[&str], file: &str) -> Result<Vec<Vec<f64>>, Box<dyn error::Error>> {
        let folder = env::temp_dir().join(format!("fbint-events-and-inputs-{}-{}", process::id(), command.join("-")));
        fs::create_dir_all(&folder)?;
        let path = folder.join("table.csv");
        let path = path.to_str().ok_or("a path in Unicode")?;
        let line = [&["fbint"], command, &[file, path]].concat();
        Arguments::try_parse_from(line)?.command.execute(&models![Ball, Servo])?;
        let text = fs::read_to_string(path)?;
        fs::remove_dir_all(&folder)?;
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        Ok(rows.map(|row| row.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect())
    }

    #[test]
    fn events_and_inputs_are_in_tables_of_runs() -> Result<(), Box<dyn error::Error>> {
        let method = ["--method", "dop853", "--every", "0.1"];
        let ball = table(&[&["run", "ball", "--until", "0.8"], &method[..]].concat(), "--out")?;
        assert_eq!(ball.len(), 9);
        for row in &ball[3..] {
            assert!((row[1] - height(row[0])).abs() < 1e-9, "{row:?}");
            assert!(row[3].abs() < 1e-12, "the target of the energy is that of the flight: {row:?}");
        }
        // An event of the model ends the run.
        let ball = table(&[&["run", "ball", "--until", "3.7"], &method[..]].concat(), "--out")?;
        assert!(ball.last().is_some_and(|end| (end[0] - 3.0).abs() < 1e-12), "{ball:?}");

        let servo = table(&[&["run", "servo", "--until", "2"], &method[..]].concat(), "--out")?;
        assert!(servo.len() == 21 && (servo[0].last(), servo[0][1]) == (Some(&4.0), 0.0), "{:?}", servo[0]);
        for row in &servo {
            assert!((row[1] - angle(row[0])).abs() < 1e-8, "{row:?}");
        }
        Ok(())
    }

    #[test]
    fn models_with_events_and_inputs_are_drawn() -> Result<(), Box<dyn error::Error>> {
        for model in ["ball", "servo"] {
            for (option, file, end) in [("--plot", "run.svg", "</svg>"), ("--animate", "run.html", "</html>")] {
                let folder = env::temp_dir().join(format!("fbint-drawn-{}-{model}", process::id()));
                fs::create_dir_all(&folder)?;
                let path = folder.join(file);
                let path = path.to_str().ok_or("a path in Unicode")?;
                let line = ["fbint", "run", model, "--until", "0.8", "--method", "dop853", option, path];
                Arguments::try_parse_from(line)?.command.execute(&models![Ball, Servo])?;
                assert!(fs::read_to_string(path)?.trim_end().ends_with(end), "{path}");
                fs::remove_dir_all(&folder)?;
            }
        }
        Ok(())
    }

    #[test]
    fn events_and_inputs_are_in_ensembles() -> Result<(), Box<dyn error::Error>> {
        let vary = ["--members", "3", "--vary", "g=linspace:9,10", "--step", "1e-3"];
        let ensemble = |model: &str, until: &str, rest: &[&str], file: &str| {
            table(&[&["ensemble", model, "--until", until], &vary[..], rest].concat(), file)
        };
        // The last member is the ball of the run.
        let ball = ensemble("ball", "0.8", &[], "--ends")?;
        assert!(ball.len() == 3 && (ball[2][2] - height(0.8)).abs() < 1e-9, "{ball:?}");
        // Members end after 2.7, 2.85 and 3.
        let balls = ensemble("ball", "2.9", &[], "--out")?;
        let members = |time: f64| balls.iter().find(|row| (row[0] - time).abs() < 1e-9).map(|row| row[1]);
        assert_eq!([2.697, 2.726, 2.9].map(members), [Some(3.0), Some(2.0), Some(1.0)]);

        for gains in ["none", "relaxation:0.1"] {
            let servo = ensemble("servo", "2", &["--gains", gains], "--ends")?;
            assert!(servo.len() == 3 && servo.iter().all(|row| (row[2] - angle(2.0)).abs() < 1e-9), "{servo:?}");
        }
        Ok(())
    }

    #[test]
    fn events_are_in_runs_by_geometric_integrators() -> Result<(), Error> {
        let model = (Entry::of::<Ball>().load)();
        let start = model.start()?;
        let plan = Plan::new(Settings::new(Method::StormerVerlet { h: 1e-3 }, 0.8), Feedback::None);
        let run = model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(()))?;
        assert!((run.state[0] - height(0.8)).abs() < 1e-9, "{:?}", run.state);
        assert_eq!(model.run_bare(&start, &plan)?, run.state);
        Ok(())
    }

    #[test]
    fn runs_with_events_and_inputs_are_resumed() -> Result<(), Error> {
        for entry in models![Ball, Servo] {
            let model = (entry.load)();
            let start = model.start()?;
            let plan = Plan::new(Settings::new(Method::Rk4 { h: 1e-3 }, 0.8), Feedback::None);
            let whole = model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(()))?;
            let mut snapshot = None;
            let half = model.run(&start, &plan, None, &mut |moment| {
                snapshot = Some(moment.snapshot());
                if moment.time() < 0.4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            let resumed = model.run(&start, &plan, snapshot, &mut |_| ControlFlow::Continue(()))?;
            assert!(half.time < 0.8 && resumed.state == whole.state, "{:?} {:?}", resumed.state, whole.state);
        }
        Ok(())
    }
}
