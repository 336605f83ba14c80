//! Workspaces of users, outside this one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The setting of a [`Member`] that has its models derived by computer algebra.
pub const WITH_ALGEBRA: &str = ", features = [\"derive\"]";

/// A package of such a workspace, which depends on the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Its name, and that of its folder.
    pub name: &'a str,
    /// Its edition of Rust.
    pub edition: &'a str,
    /// More settings for the dependency on the runtime, such as [`WITH_ALGEBRA`]; the empty text for its default.
    pub runtime: &'a str,
    /// More dependencies, a line each.
    pub dependencies: &'a str,
}

/// Writes a workspace without sources, with the versions of this workspace and, by way of its `.cargo/config.toml`, its profiles, so that
/// what was compiled before is used again.
pub fn write_workspace(folder: &Path, members: &[Member<'_>]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::copy(home().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let names: Vec<&str> = members.iter().map(|member| member.name).collect();
    fs::write(folder.join("Cargo.toml"), format!("[workspace]\nresolver = \"3\"\nmembers = {names:?}\n"))?;
    members.iter().try_for_each(|member| write_manifest(folder, *member))
}

/// Writes the manifest of a member.
pub fn write_manifest(folder: &Path, Member { name, edition, runtime, dependencies }: Member<'_>) -> io::Result<()> {
    let package = folder.join(name);
    fs::create_dir_all(package.join("src"))?;
    let [path, features] = ["fbint-runtime", "tests/features"].map(|package| home().join(package));
    // With a feature of a member the lock file keeps what the algebra depends on.
    let manifest = format!(
        r#"
[package]
name = "{name}"
edition = "{edition}"
license = "MIT"
publish = false

[features]
algebra = ["fbint-runtime/derive"]

[dependencies]
fbint-features = {{ path = {features:?} }}
fbint-runtime = {{ path = {path:?}{runtime} }}
{dependencies}"#
    );
    fs::write(package.join("Cargo.toml"), manifest)
}

/// The target folder that a test was built in, from its `CARGO_TARGET_TMPDIR`: what such a workspace depends on is there already.
pub fn target_folder(temporary: &str) -> PathBuf {
    Path::new(temporary).parent().expect("the folder for temporary files lies in the target folder").to_owned()
}

/// The folder of this workspace.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in a workspace")
}
