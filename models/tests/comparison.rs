//! The comparison as its user meets it: what it prints, and the figure that it draws.

use std::error::Error;
use std::fs;
use std::process::Command;

use tempfile::tempdir;

#[test]
fn four_methods_are_compared() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    let output = Command::new(env!("CARGO_BIN_EXE_comparison")).current_dir(&folder).output()?;
    let text = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));

    // CPV22's figures for Euler with feedback, in the first column.
    let published = [("f1", 4.56e-5), ("f2", 1.79e-5), ("energy", 4.89e-5), ("vertical_momentum", 1.49e-5)];
    for (name, published) in published {
        let row = text.lines().find_map(|line| line.strip_prefix(name)).ok_or(name)?;
        let maxima = row.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        assert_eq!(maxima.len(), 4, "{row}");
        assert!((maxima[0] / published - 1.0).abs() < 0.01, "{name}: {maxima:?}, published {published:e}");
    }
    // The words follow the numbers: feedback helps Euler and hurts RK4.
    assert!(text.contains("Euler: feedback gains 3.9 digits"), "{text}");
    assert!(text.contains("RK4: feedback costs"), "{text}");

    let figure = text.lines().find_map(|line| line.strip_prefix("figure: ")).ok_or("no figure is named")?;
    let svg = fs::read_to_string(figure)?;
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    for label in ["Euler + feedback", "RK4 + feedback", "vertical_momentum", "10⁻⁴"] {
        assert!(svg.contains(label), "the figure lacks {label}");
    }
    let names = fs::read_dir(&folder)?.map(|file| Ok(file?.file_name()));
    assert_eq!(names.collect::<Result<Vec<_>, std::io::Error>>()?, ["spherical-pendulum.svg"]);
    Ok(())
}
