//! The examples that are no Rust: the commands in their first comments run, and the figures agree with closed forms.

use std::error::Error;
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::{TempDir, tempdir};

use super::common::fbint;

/// A copy of the files in a folder of the examples.
fn copied(from: &str, names: &[&str]) -> std::io::Result<TempDir> {
    let (folder, examples) = (tempdir()?, Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"));
    for name in names {
        fs::copy(examples.join(from).join(name), folder.path().join(name))?;
    }
    Ok(folder)
}

/// Runs the commands that are indented in the first comment of a file; what they print.
fn printed(folder: &TempDir, file: &str) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(folder.path().join(file))?;
    let comment = text.lines().map_while(|line| line.trim_start().strip_prefix(['/', '*']));
    let commands = comment.filter_map(|line| line.trim_start_matches(['/', '*']).strip_prefix("     "));
    let (mut printed, mut count) = (String::new(), 0);
    for command in commands {
        // Only conditions are quoted.
        let words: Vec<&str> = command.split('\'').enumerate().flat_map(|(place, part)| words(place, part)).collect();
        let output = match words[0] {
            "fbint" => fbint(folder, &words[1..])?,
            "cc" => Command::new("cc").args(&words[1..]).current_dir(folder).output()?,
            own => Command::new(folder.path().join(own)).current_dir(folder).output()?,
        };
        assert!(output.status.success(), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
        printed += &String::from_utf8(output.stdout)?;
        count += 1;
    }
    assert!(count >= 2, "{file} names {count} commands");
    Ok(printed)
}

/// The words of a part of a command line; every second part is in quotes.
fn words(place: usize, part: &str) -> Vec<&str> {
    if place % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
}

/// The number after these words.
fn number_after(text: &str, words: &str) -> Option<f64> {
    let rest = text.split(words).nth(1)?;
    rest.split([',', ' ', '\n']).next()?.parse().ok()
}

/// By the energy, with the crank at an angle a, whose rate is w: the pin has the speed r w, the slider the speed s(a) r w, and
/// (m + M s^2) r^2 w^2 / 2 + m g r sin a is constant. The time is the integral of 1 / w.
#[test]
fn a_text_runs() -> Result<(), Box<dyn Error>> {
    let folder = copied(".", &["slider_crank.rs"])?;
    let text = printed(&folder, "slider_crank.rs")?;
    let (m, slider, g, r, l, speed) = (0.5, 1.0, 9.81, 0.1, 0.3, 2.0);
    let energy = m * speed * speed / 2.0;
    let rate = |angle: f64| -> f64 {
        let (sin, cos) = angle.sin_cos();
        let ratio = sin + r * sin * cos / (l * l - r * r * sin * sin).sqrt();
        (2.0 * (energy - m * g * r * sin) / (m + slider * ratio * ratio)).sqrt() / r
    };
    // The midpoint rule.
    let count = 100_000;
    let width = PI / f64::from(count);
    let time: f64 = (0..count).map(|i| width / rate((f64::from(i) + 0.5) * width)).sum();
    let found = number_after(&text, "pin[1] < 0.0 at t = ").ok_or("no time")?;
    assert!((found - time).abs() < 1e-8, "{found}, {time} by the energy");
    for file in ["slider_crank.svg", "slider_crank.html"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    Ok(())
}

#[test]
fn c_has_the_period_of_a_pendulum() -> Result<(), Box<dyn Error>> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler");
        return Ok(());
    }
    let folder = copied("c", &["pendulum.rs", "period.c"])?;
    let text = printed(&folder, "period.c")?;
    // 2 pi sqrt(l / g) / agm(1, cos(amplitude / 2)), and the amplitude is a right angle.
    let (mut a, mut b) = (1.0, FRAC_1_SQRT_2);
    for _ in 0..6 {
        (a, b) = ((a + b) / 2.0, f64::sqrt(a * b));
    }
    let period = 2.0 * PI * f64::sqrt(0.25 / 9.81) / a;
    assert!(text.ends_with(&format!("has a period of {period:.5} s\n")), "{text}, {period} in closed form");
    Ok(())
}
