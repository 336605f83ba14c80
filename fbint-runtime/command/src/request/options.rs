//! The options of a run, read one by one: a short run takes less time than a parser of command lines.

use clap::Parser;

use super::parsed;
use crate::line::arguments::{RunOptions, values};

/// The options of a run with these texts, each as on the command line, unless it is a switch.
///
/// # Errors
///
/// If a text is not a value of its option, in the words of the command.
pub(super) fn of_run<'a>(
    model: &str,
    options: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Result<RunOptions, String> {
    let (options, mut read): (Vec<_>, _) = (options.into_iter().collect(), RunOptions::of(model));
    match options.iter().try_for_each(|(name, text)| set(&mut read, name, text.as_deref().unwrap_or_default())) {
        Ok(()) => Ok(read),
        // The parser has the words.
        Err(_) => parsed::<CommandLine>(model, options).map(|line| line.options),
    }
}

/// The options of a run as the command line has them.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct CommandLine {
    #[command(flatten)]
    options: RunOptions,
}

/// Gives an option its value.
fn set(options: &mut RunOptions, name: &str, text: &str) -> Result<(), String> {
    let RunOptions { integration: of, until_event, every } = options;
    match name {
        "method" => of.method = values::method(text)?,
        "until" => of.until = values::finite(text)?,
        "step" => of.step = Some(values::positive(text)?),
        "rtol" => of.rtol = Some(values::positive(text)?),
        "atol" => of.atol = Some(values::positive(text)?),
        "max_step" => of.max_step = Some(values::positive(text)?),
        "max_steps" => of.max_steps = Some(values::steps(text)?),
        "every" => *every = Some(values::interval(text)?),
        "gains" => of.gains = Some(values::gains(text)?),
        "parameter" => of.parameters.push(values::assignment(text)?),
        "start" => of.start.push(values::assignment(text)?),
        "guess" => of.guess.push(values::assignment(text)?),
        "input" => of.inputs.push(values::input(text)?),
        "until_event" => *until_event = Some(values::condition(text)?),
        "project" => of.project = true,
        "repair" => of.repair = true,
        _ => return Err("a run has no such option".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same options by the command line.
    fn on_the_command_line(options: &[(&str, Option<String>)]) -> Result<RunOptions, String> {
        parsed::<CommandLine>("model", options.iter().cloned()).map(|line| line.options)
    }

    fn shown(options: Result<RunOptions, String>) -> String {
        format!("{options:?}")
    }

    #[test]
    fn options_are_those_of_the_command_line() {
        let text = |name: &'static str, text: &str| (name, Some(text.to_owned()));
        let valid = [
            vec![],
            vec![
                text("method", "dop853"),
                text("until", "-3.5"),
                text("step", "1e-3"),
                ("project", None),
                ("repair", None),
            ],
            vec![
                text("rtol", "1e-12"),
                text("atol", "0.1"),
                text("max_step", "2"),
                text("max_steps", "7"),
                text("every", "0"),
            ],
            vec![text("gains", "1,2"), text("parameter", "m=2"), text("parameter", "q=1,2"), text("start", "q[0]=-1")],
            vec![text("method", "DOP853")],
            vec![text("method", "RK45")],
            vec![text("method", "Dormand-Prince")],
            vec![text("guess", "q = 3"), text("input", "u=sin(t)"), text("until_event", "q < 1")],
        ];
        for options in valid {
            assert_eq!(shown(of_run("model", options.clone())), shown(on_the_command_line(&options)), "{options:?}");
        }
        for (name, key) in [("DOP853", "dop853"), ("RK45", "dormand-prince"), ("Dormand-Prince", "dormand-prince")] {
            let read = of_run("model", [text("method", name)]).map(|options| options.integration.method);
            assert_eq!(read.as_deref(), Ok(key));
        }
        let invalid = [
            ("step", "-1"),
            ("until", "inf"),
            ("gains", "x"),
            ("max_steps", "0"),
            ("start", "q"),
            ("input", "u"),
            ("until_event", "q"),
            ("every", "-1"),
            ("method", "rk5"),
        ];
        for (name, value) in invalid {
            let options = [text(name, value)];
            assert!(set(&mut RunOptions::of("model"), name, value).is_err(), "{options:?}");
            assert_eq!(shown(of_run("model", options.clone())), shown(on_the_command_line(&options)), "{options:?}");
        }
    }
}
