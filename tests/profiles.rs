//! With the settings that README.md gives, cargo compiles the computer-algebra system once for everything but `--release`, and
//! never optimised. Small stand-ins for a user's crate, the macro and Symbolica take its place.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Outcome = Result<(), Box<dyn Error>>;

/// Stands for Symbolica.
const ALGEBRA: &str = "algebra";

#[test]
fn one_profile_compiles_the_algebra_once_and_never_optimised() -> Outcome {
    let user = User::with(&readme_profiles()?)?;
    let everyday = [&["build"][..], &["check"], &["test", "--no-run"], &["clippy"], &["doc", "--no-deps"], &["run"]];
    let compilations = user.compilations(&everyday)?;
    assert_eq!(compilations.len(), 1, "{compilations:#?}");
    assert_unoptimised(&compilations);
    Ok(())
}

/// Cargo keeps what it builds in release in another folder.
#[test]
fn release_compiles_the_algebra_once_more_and_never_optimised() -> Outcome {
    let user = User::with(&readme_profiles()?)?;
    let compilations = user.compilations(&[&["build", "--release"], &["check", "--release"]])?;
    assert_eq!(compilations.len(), 1, "{compilations:#?}");
    assert_unoptimised(&compilations);
    Ok(())
}

/// What the user's crate computes is optimised all the same.
#[test]
fn the_program_is_optimised() -> Outcome {
    let user = User::with(&readme_profiles()?)?;
    let lines = user.rustc("user", &["build"])?;
    assert!(lines.iter().all(|line| line.contains("-C opt-level=3")) && !lines.is_empty(), "{lines:#?}");
    Ok(())
}

fn assert_unoptimised(compilations: &[String]) {
    for line in compilations {
        assert!(!line.contains("opt-level") || line.contains("opt-level=0"), "{line}");
        assert!(!line.contains("-C debuginfo"), "{line}");
    }
}

/// The sections of profiles in the `Cargo.toml` of README.md.
fn readme_profiles() -> Result<String, Box<dyn Error>> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md"))?;
    let manifest = readme.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).ok_or("no manifest")?;
    let start = manifest.find("[profile").ok_or("no profile")?;
    Ok(manifest[start..].to_owned())
}

/// A user's crate with a macro from another workspace that depends on the algebra, in a folder that inherits no settings.
struct User {
    folder: PathBuf,
}

impl User {
    fn with(profiles: &str) -> Result<Self, Box<dyn Error>> {
        let unique = format!("fbint-profiles-{}-{:?}", std::process::id(), std::thread::current().id());
        let user = Self { folder: std::env::temp_dir().join(unique) };
        user.package(ALGEBRA, "", "pub fn derive() {}")?;
        user.package(
            "macros",
            "[lib]\nproc-macro = true\n[dependencies]\nalgebra.path = \"../algebra\"\n",
            "#[proc_macro]\npub fn model(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             algebra::derive();\n    \"fn main() {}\".parse().unwrap()\n}\n",
        )?;
        let dependencies = "[workspace]\n[dependencies]\nmacros.path = \"../macros\"\n";
        user.package("user", &format!("{dependencies}{profiles}"), "")?;
        user.write("user/src/main.rs", "macros::model!();\n")?;
        Ok(user)
    }

    fn package(&self, name: &str, rest: &str, library: &str) -> Outcome {
        self.write(
            &format!("{name}/Cargo.toml"),
            &format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{rest}"),
        )?;
        self.write(&format!("{name}/src/lib.rs"), library)
    }

    fn write(&self, path: &str, text: &str) -> Outcome {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().ok_or("a file lies in a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// How rustc was called for the algebra by all of these commands of cargo, in their order.
    fn compilations(&self, commands: &[&[&str]]) -> Result<Vec<String>, Box<dyn Error>> {
        let calls = commands.iter().map(|arguments| self.rustc(ALGEBRA, arguments)).collect::<Result<Vec<_>, _>>()?;
        Ok(calls.concat())
    }

    fn rustc(&self, package: &str, arguments: &[&str]) -> Result<Vec<String>, Box<dyn Error>> {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .args(["--offline", "--verbose"])
            .current_dir(self.folder.join("user"))
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .output()?;
        let messages = String::from_utf8(output.stderr)?;
        assert!(output.status.success(), "{arguments:?}: {messages}");
        let name = format!("--crate-name {package} ");
        let calls = messages.lines().filter(|line| line.contains("Running") && line.contains(&name));
        Ok(calls.map(str::to_owned).collect())
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
