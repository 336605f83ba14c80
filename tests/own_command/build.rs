//! Writes what the README of `fbint-command` has as `src/main.rs` to where `pendulums.rs` includes it.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    const README: &str = "../../fbint-runtime/command/README.md";
    println!("cargo::rerun-if-changed={README}");
    let text = fs::read_to_string(README)?;
    let rest = text.split("```rust\n").nth(1).ok_or("the README has no Rust")?;
    let program = rest.split("```").next().unwrap_or_default();
    Ok(fs::write(Path::new(&env::var("OUT_DIR")?).join("main.rs"), program)?)
}
