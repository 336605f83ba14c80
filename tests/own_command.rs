//! From `cargo new` to a figure: a crate made from what the README of `fbint-command` says, which has the whole command.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use fbint_tests::workspaces::{home, target_folder};

type Outcome = Result<(), Box<dyn Error>>;

/// A user's crate in a folder of its own. It has the versions and the profiles of this workspace, so that what was compiled before is
/// used again.
struct User {
    folder: PathBuf,
}

impl User {
    fn new(name: &str) -> Result<Self, Box<dyn Error>> {
        let readme = fs::read_to_string(home().join("fbint-runtime/command/README.md"))?;
        let block = |language: &str| {
            let rest = readme.split(&format!("```{language}\n")).nth(1);
            rest.and_then(|rest| rest.split("```").next()).ok_or_else(|| format!("no block of {language}"))
        };
        let folder = std::env::temp_dir().join(format!("fbint-own-command-{name}-{}", std::process::id()));
        let user = Self { folder: folder.join(name) };
        let path = user.folder.to_str().ok_or("a path in Unicode")?;
        let made = Command::new(env!("CARGO")).args(["new", "--quiet", "--vcs", "none", path]).output()?;
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

        // What stands below `[dependencies]`, with this clone in the place of the user's.
        let dependencies = block("toml")?.split("[dependencies]\n").nth(1).ok_or("no dependencies")?;
        let dependencies = dependencies.split("\n\n").next().unwrap_or_default();
        assert_eq!(dependencies.lines().count(), 1, "one dependency is enough: {dependencies}");
        let clone = home().to_str().ok_or("a path in Unicode")?;
        let manifest = user.folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)? + dependencies.replace("../fbint", clone).as_str() + "\n";
        fs::write(manifest, text)?;
        fs::copy(home().join("Cargo.lock"), user.folder.join("Cargo.lock"))?;
        fs::write(user.folder.join("src/main.rs"), block("rust")?)?;
        Ok(user)
    }

    /// What `cargo run -- ARGUMENTS` does.
    fn run(&self, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "--offline", "--config"]).arg(home().join(".cargo/config.toml")).arg("--");
        cargo.args(arguments).current_dir(&self.folder);
        cargo.env("CARGO_TARGET_DIR", target_folder(env!("CARGO_TARGET_TMPDIR"))).env_remove("FBINT_DERIVATIONS");
        Ok(cargo.output()?)
    }

    /// What a run that succeeds prints.
    fn succeeds(&self, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
        let output = self.run(arguments)?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    fn read(&self, file: &str) -> Result<String, Box<dyn Error>> {
        fs::read_to_string(self.folder.join(file)).map_err(|error| format!("{file}: {error}").into())
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = self.folder.parent().map(fs::remove_dir_all);
    }
}

#[test]
fn from_cargo_new_to_a_figure_and_to_every_subcommand() -> Outcome {
    let user = User::new("pendulums")?;
    let run = user.succeeds(&["run", "pendulum", "--until", "1", "--plot", "pendulum.svg"])?;
    assert!(run.contains("energy") && run.contains("figure: pendulum.svg"), "{run}");
    assert!(user.read("pendulum.svg")?.ends_with("</svg>"));
    assert!(user.read("pendulum.run.json")?.contains("\"status\": \"complete\""));

    user.succeeds(&["run", "pendulum", "--until", "1", "--animate", "pendulum.html"])?;
    assert!(user.read("pendulum.html")?.contains("[\"rod\",0.0,0.0,1.0,0.0]"));

    let list = user.succeeds(&["list"])?;
    assert!(
        list.contains("A point mass on a circle of radius `l` under gravity.") && list.contains("g = 9.81"),
        "{list}"
    );
    assert!(list.contains("`pendulums run MODEL`"), "{list}");
    assert!(user.succeeds(&["show", "pendulum"])?.contains("length = q[0]^2 + q[1]^2 - l^2"));
    let vary = ["--members", "12", "--vary", "l=uniform:0.9,1.1", "--until", "0.1", "--ends", "ends.csv"];
    user.succeeds(&[&["ensemble", "pendulum"], &vary[..]].concat())?;
    assert_eq!(user.read("ends.csv")?.lines().count(), 13);
    user.succeeds(&["run", "pendulum", "--until", "0.1", "--checkpoint", "run.checkpoint"])?;
    assert!(user.succeeds(&["resume", "run.checkpoint"])?.contains("energy"));
    // The first model is the default.
    user.succeeds(&["work-precision", "--until", "0.1"])?;
    assert!(user.read("out/work-precision-pendulum.csv")?.contains("RATTLE"));

    user.succeeds(&["report", "pendulum", "--until", "1"])?;
    assert!(user.read("report.html")?.contains("<math"));
    user.succeeds(&["gallery", "--until", "1", "--no-stills"])?;
    user.succeeds(&["run", "pendulum", "--method", "dop853", "--until", "1", "--animate", "run.html"])?;
    assert_eq!(user.read("gallery/pendulum.html")?, user.read("run.html")?);
    assert!(user.read("gallery/index.html")?.contains("[\"rod\",0.0,0.0,1.0,0.0]"));

    assert!(user.succeeds(&[])?.contains("Usage: pendulums <COMMAND>"));
    let help = user.succeeds(&["run", "--help"])?;
    assert!(help.contains("pendulums run pendulum --start q[0]=0.3 --repair") && !help.contains('{'), "{help}");
    let refused = user.run(&["run", "pendulm"])?;
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(refused.stderr)?,
        "error: unknown model `pendulm`, did you mean `pendulum`? known: pendulum\n"
    );
    Ok(())
}

/// A clock that runs backwards, with names that tables have for something else.
const CLOCK: &str = r#"
use fbint_command::{Error, Model, feedback_system};

/// A clock.
#[feedback_system(
    coordinates(t, drift: [2]),
    momenta(p, member: [2]),
    hamiltonian = member.norm_squared() / 2 - p * c,
    output(error = 2 * t),
)]
pub struct Clock { pub c: f64 }

impl Default for Clock {
    fn default() -> Self {
        Self { c: 1.0 }
    }
}

impl Model for Clock {
    fn start(&self) -> Result<ClockState, Error> {
        Ok(ClockState { t: 5.0, drift: [7.0, 8.0].into(), p: 1.0, member: [0.5, 0.25].into() })
    }
}

fn main() -> std::process::ExitCode {
    fbint_command::main![Clock]
}
"#;

#[test]
fn a_name_means_one_thing_in_tables_figures_and_conditions() -> Outcome {
    let user = User::new("clocks")?;
    fs::write(user.folder.join("src/main.rs"), CLOCK)?;
    let header = |file: &str| user.read(file).map(|table| table.lines().next().unwrap_or_default().to_owned());
    let own = "state.t,state.drift[0],state.drift[1],p,state.member[0],state.member[1],d(energy)";

    let until = ["--until", "2", "--until-event", "state.t < 4"];
    let files = ["--out", "run.csv", "--plot", "run.svg", "--of", "state.t", "--of", "drift"];
    let run = user.succeeds(&[&["run", "clock"], &until[..], &files].concat())?;
    assert!(run.contains(", where state.t = 4.0, state.drift[0] = "), "{run}");
    assert_eq!(header("run.csv")?, format!("t,{own},output.error"));
    assert!(user.read("run.csv")?.lines().any(|row| row.starts_with("0.0,5.0,7.0,8.0,1.0,")));
    let figure = user.read("run.svg")?;
    assert!(figure.contains(">state.t<") && figure.contains("energy"), "{figure}");
    let refused = String::from_utf8(user.run(&["run", "clock", "--until-event", "t < 4"])?.stderr)?;
    assert!(refused.contains("unknown entry of the state or output `t`, known: state.t,"), "{refused}");

    let files = ["--out", "statistics.csv", "--ends", "ends.csv", "--samples", "samples.csv"];
    let ensemble = ["ensemble", "clock", "--members", "2", "--until", "0.1", "--vary", "t=uniform:0,1"];
    user.succeeds(&[&ensemble[..], &files].concat())?;
    assert!(header("statistics.csv")?.starts_with("t,members,mean(state.t),"));
    assert_eq!(header("ends.csv")?, format!("member,drawn(t),{own},error"));
    assert_eq!(header("samples.csv")?, format!("member,t,{own}"));
    Ok(())
}
