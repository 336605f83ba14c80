//! Models are freed when nothing uses them any more.

use std::env;
use std::error::Error;
use std::process::Command;

use fbint_catalogue::FlatModel;
use fbint_runtime::{Method, Settings};
use fbint_text::models;

/// Pendulums that differ in a number alone.
fn pendulum(number: usize) -> String {
    format!(
        "#[feedback_system(
            coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + {number}.5 * m * g * q[1],
            constraint(length = q.norm_squared() - l.powi(2)),
            default(m = 1, g = 9.81, l = 1), start(q = vector![l, 0], p = vector![0, 0]),
        )]
        struct Pendulum {{ m: f64, g: f64, l: f64 }}"
    )
}

#[test]
fn texts_that_differ_in_a_number_share_their_names() -> Result<(), Box<dyn Error>> {
    let [one, other] = [1, 2].map(|number| models(&pendulum(number)));
    let (one, other) = (one?.remove(0), other?.remove(0));
    assert!(std::ptr::eq(one.facts(), other.facts()));
    assert_ne!(one.equations(), other.equations());
    Ok(())
}

/// The variable that makes the test below measure.
const MEASURES: &str = "FBINT_TEST_MEASURES_MEMORY";

/// A model takes some 90 KiB: 60 texts that stayed would take more than 5 MB.
#[test]
fn sixty_texts_take_the_memory_of_a_few() -> Result<(), Box<dyn Error>> {
    if env::var_os(MEASURES).is_some() {
        return measure();
    }
    // Other tests allocate, too: another process measures.
    let mut alone = Command::new(env::current_exe()?);
    alone.args(["--exact", "memory::sixty_texts_take_the_memory_of_a_few", "--test-threads", "1"]);
    let output = alone.env(MEASURES, "1").output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

fn measure() -> Result<(), Box<dyn Error>> {
    let used = |texts: std::ops::Range<usize>| -> Result<Option<usize>, Box<dyn Error>> {
        texts.into_iter().try_for_each(run)?;
        resident_kilobytes()
    };
    let (Some(before), Some(after)) = (used(0..15)?, used(15..75)?) else { return Ok(()) };
    let grown = after.saturating_sub(before);
    println!("{before} kB, and {grown} kB more after 60 texts");
    assert!(grown < 1_500, "{grown} kB");
    Ok(())
}

/// Makes everything of a text, and a run.
fn run(number: usize) -> Result<(), Box<dyn Error>> {
    let model = models(&pendulum(number))?.remove(0);
    let (entry, start) = (model.entry(), model.start()?);
    let plan = fbint_catalogue::Plan::new(Settings::new(Method::Rk4 { h: 1e-2 }, 0.1), fbint_catalogue::Feedback::None);
    (entry.load)().run_bare(&start, &plan)?;
    Ok(())
}

/// The memory of this process, where the system tells.
fn resident_kilobytes() -> Result<Option<usize>, Box<dyn Error>> {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return Ok(None) };
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no memory")?;
    Ok(Some(line.trim().trim_end_matches(" kB").parse()?))
}
