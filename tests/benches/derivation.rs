//! How long the compiler takes for each shipped model and each system of the tests, unoptimised, in a process that has
//! compiled nothing before.
//!
//! `cargo bench -p fbint-tests --profile dev --bench derivation` prints it: the whole of `#[feedback_system]`, from tokens to
//! tokens. The process starts itself again for each model.
#![allow(missing_docs)]

use std::time::Instant;

use fbint_tests::compiler::Declaration;

const FILES: [&str; 8] = [
    include_str!("../../models/src/spherical_pendulum.rs"),
    include_str!("../../models/src/planar_pendulum.rs"),
    include_str!("../../models/src/four_bar.rs"),
    include_str!("../../models/src/free_rigid_body.rs"),
    include_str!("../../models/src/euler_top.rs"),
    include_str!("../../models/src/kepler.rs"),
    include_str!("../../models/src/perturbed_kepler.rs"),
    include_str!("../systems.rs"),
];

fn main() {
    let mut declarations: Vec<Declaration> = FILES.into_iter().flat_map(Declaration::all).collect();
    declarations.extend([4, 8, 16, 32].map(|links| Declaration::one(&chain(links))));
    match std::env::var("FBINT_TESTS_DERIVE") {
        Ok(name) => {
            let declaration = declarations.iter().find(|declaration| declaration.name == name);
            let declaration = declaration.unwrap_or_else(|| panic!("no model `{name}`"));
            println!("{name:24} {}", seconds(declaration));
        }
        Err(_) => {
            for declaration in declarations {
                let program = std::env::current_exe().expect("the path of this program");
                let status = std::process::Command::new(program).env("FBINT_TESTS_DERIVE", &declaration.name).status();
                assert!(status.expect("this program runs").success(), "{}", declaration.name);
            }
        }
    }
}

/// The shipped chains are declared by a macro, which this file cannot read.
fn chain(links: usize) -> String {
    format!(
        "#[feedback_system(
            coordinates(q: [3, {links}]),
            momenta(p: [3, {links}]),
            hamiltonian = (0..{links}).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
            constraint(
                anchor = q.column(0).norm_squared() - l.powi(2),
                link[i in 1..{links}] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
            ),
            output(anchor_tension = -2 * l * multiplier(anchor)),
        )]
        pub struct ShippedChain{links} {{ pub m: f64, pub g: f64, pub l: f64 }}"
    )
}

fn seconds(declaration: &Declaration) -> String {
    let start = Instant::now();
    declaration.expand();
    let cold = start.elapsed().as_secs_f64();
    let start = Instant::now();
    declaration.expand();
    let warm = start.elapsed().as_secs_f64();
    format!("{cold:6.3} s cold, {warm:6.3} s a second time")
}
