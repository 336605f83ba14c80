//! What the README of `fbint-command` says as a program of its own, which has the whole command.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use fbint_tests::is_thorough;
use fbint_tests::workspaces::{home, target_folder};

type Outcome = Result<(), Box<dyn Error>>;

/// A user in a folder of their own, with a program.
struct User {
    folder: PathBuf,
    program: PathBuf,
}

impl User {
    fn with(program: PathBuf) -> Result<Self, Box<dyn Error>> {
        let name = program.file_stem().and_then(|name| name.to_str()).ok_or("a program has a name")?;
        let folder = std::env::temp_dir().join(format!("fbint-own-command-{name}-{}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Self { folder, program })
    }

    /// The user of a crate that `cargo new` begins and the README continues.
    fn from_cargo_new(name: &str) -> Result<Self, Box<dyn Error>> {
        let target = target_folder(env!("CARGO_TARGET_TMPDIR"));
        let user = Self::with(target.join("debug").join(name))?;
        user.cargo(&["new", "--quiet", "--vcs", "none", name])?;
        let readme = fs::read_to_string(home().join("fbint-runtime/command/README.md"))?;
        let block = |language: &str| {
            let rest = readme.split(&format!("```{language}\n")).nth(1);
            rest.and_then(|rest| rest.split("```").next()).ok_or_else(|| format!("no block of {language}"))
        };
        // What stands below `[dependencies]`, with this clone in the place of the user's.
        let dependencies = block("toml")?.split("[dependencies]\n").nth(1).ok_or("no dependencies")?;
        let dependencies = dependencies.split("\n\n").next().unwrap_or_default();
        assert_eq!(dependencies.lines().count(), 1, "one dependency is enough: {dependencies}");
        let clone = home().to_str().ok_or("a path in Unicode")?;
        let package = user.folder.join(name);
        let manifest = package.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)? + dependencies.replace("../fbint", clone).as_str() + "\n";
        fs::write(manifest, text)?;
        fs::copy(home().join("Cargo.lock"), package.join("Cargo.lock"))?;
        fs::write(package.join("src/main.rs"), block("rust")?)?;
        let settings = home().join(".cargo/config.toml");
        let settings = settings.to_str().ok_or("a path in Unicode")?;
        let manifest = format!("{name}/Cargo.toml");
        user.cargo(&["build", "--quiet", "--offline", "--config", settings, "--manifest-path", &manifest])?;
        Ok(user)
    }

    fn cargo(&self, arguments: &[&str]) -> Outcome {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(arguments).current_dir(&self.folder).env_remove("FBINT_DERIVATIONS");
        let output = cargo.env("CARGO_TARGET_DIR", target_folder(env!("CARGO_TARGET_TMPDIR"))).output()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, Box<dyn Error>> {
        Ok(Command::new(&self.program).args(arguments).current_dir(&self.folder).output()?)
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
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// By `.ci/thorough` from `cargo new` on, where everything has the features that the crate alone asks for.
#[test]
fn from_a_figure_to_every_subcommand() -> Outcome {
    let built = env!("CARGO_BIN_EXE_pendulums").into();
    let user = if is_thorough() { User::from_cargo_new("pendulums") } else { User::with(built) }?;
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

#[test]
fn a_name_means_one_thing_in_tables_figures_and_conditions() -> Outcome {
    let user = User::with(env!("CARGO_BIN_EXE_clocks").into())?;
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
