//! Every program prints the figure that its page quotes.

use std::process::Command;

#[test]
fn programs_print_their_figures() {
    let programs = [
        (env!("CARGO_BIN_EXE_controller"), "from 0.3 rad the pole is at rest after 4.97 s"),
        (
            env!("CARGO_BIN_EXE_embedded"),
            "after 100000 ticks of 1 ms no integral is off by more than 19 roundings in f32; in f64: 7.3e-12",
        ),
        (
            env!("CARGO_BIN_EXE_ensemble"),
            "after 10 revolutions the fragments scatter by 1.090 rad, 1.088 rad to first order",
        ),
        (
            env!("CARGO_BIN_EXE_integrator"),
            "after 20000 steps of the implicit midpoint rule no integral is off by 1e-12",
        ),
    ];
    for (program, expected) in programs {
        let output = Command::new(program).output().expect("a program");
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        let (found, wanted): (Vec<&str>, Vec<&str>) =
            (printed.split_whitespace().collect(), expected.split_whitespace().collect());
        let agree =
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(found, wanted)| is_alike(found, wanted));
        assert!(agree, "{program} prints\n{printed}and not\n{expected}");
    }
}

/// The same word, or a number that differs by less than a tenth: rounding depends on the processor.
fn is_alike(found: &str, wanted: &str) -> bool {
    let numbers = found.parse::<f64>().ok().zip(wanted.parse::<f64>().ok());
    numbers.map_or(found == wanted, |(found, wanted)| (found - wanted).abs() <= 0.1 * wanted.abs())
}
