//! The texts that declare the models, from which they are exported.

use std::borrow::Cow;

use fbint_command::catalogue::Declaration;
use fbint_runtime::GeneratedSystem;

/// The files with a declaration for each struct.
const FILES: [&str; 23] = [
    include_str!("cart_pendulum.rs"),
    include_str!("cart_pole.rs"),
    include_str!("chaplygin_sleigh.rs"),
    include_str!("degenerate_pendulum.rs"),
    include_str!("driven_four_bar.rs"),
    include_str!("driven_pendulum.rs"),
    include_str!("euler_top.rs"),
    include_str!("four_bar.rs"),
    include_str!("four_bar_in_angles.rs"),
    include_str!("free_rigid_body.rs"),
    include_str!("hamel_pendulum.rs"),
    include_str!("kapitza_pendulum.rs"),
    include_str!("kepler.rs"),
    include_str!("nonholonomic/heisenberg.rs"),
    include_str!("nonholonomic/knife_edge.rs"),
    include_str!("nonholonomic/oscillator.rs"),
    include_str!("nonholonomic/roller_racer.rs"),
    include_str!("nonholonomic/rolling_disk.rs"),
    include_str!("nonholonomic/suslov.rs"),
    include_str!("perturbed_kepler.rs"),
    include_str!("planar_pendulum.rs"),
    include_str!("rotating_hoop.rs"),
    include_str!("spherical_pendulum.rs"),
];
/// The file with one declaration for all chains.
const CHAINS: &str = include_str!("chain.rs");

/// The text that declares a model.
pub(crate) fn of<S: GeneratedSystem>() -> Option<Declaration> {
    let name = S::FACTS.name;
    let item = format!("pub struct {name} {{");
    let own = FILES.into_iter().find(|file| file.contains(&item)).map(Cow::Borrowed);
    let text = own.or_else(|| chain(name).map(Cow::Owned))?;
    Some(Declaration { text, package: env!("CARGO_MANIFEST_DIR") })
}

/// The expansion of the macro of the chains for one of them.
fn chain(name: &str) -> Option<String> {
    let (_, arguments) = CHAINS.split_once(&format!("chain!({name}, "))?;
    let (_, summary) = arguments.split_once(");")?.0.rsplit_once(", ")?;
    let (declaration, _) = CHAINS.split_once("=> {")?.1.split_once("impl $name")?;
    let links = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    Some(declaration.replace("$name", name).replace("$n", links).replace("$summary", summary))
}
