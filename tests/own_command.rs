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
    fn new() -> Result<Self, Box<dyn Error>> {
        let readme = fs::read_to_string(home().join("fbint-runtime/command/README.md"))?;
        let block = |language: &str| {
            let rest = readme.split(&format!("```{language}\n")).nth(1);
            rest.and_then(|rest| rest.split("```").next()).ok_or_else(|| format!("no block of {language}"))
        };
        let folder = std::env::temp_dir().join(format!("fbint-own-command-{}", std::process::id()));
        let user = Self { folder: folder.join("pendulums") };
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
    let user = User::new()?;
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
