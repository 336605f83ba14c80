//! What memory does not hold: an error that says how many bytes were asked for, and no abort.

use std::env;
use std::iter::repeat;
use std::process::Command;

use fbint_runtime::{Ensemble, Error, Method, Simulation};

use super::limits::{Oscillator, OscillatorState};

/// Set where little memory is left.
const LIMITED: &str = "FBINT_LIMITED_MEMORY";
const METHOD: Method = Method::Rk4 { h: 1e-8 };

/// The other test of this file, with 192 MiB of addresses.
#[test]
#[cfg(target_os = "linux")]
fn what_memory_does_not_hold_is_an_error() {
    let this = env::current_exe().unwrap();
    let limited = Command::new("sh")
        .args(["-c", "ulimit -v 196608 && exec \"$0\" \"$@\""])
        .arg(this)
        .args(["memory::in_little_memory", "--exact", "--ignored", "--test-threads=1"])
        .env(LIMITED, "")
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .unwrap();
    let [out, errors] = [&limited.stdout, &limited.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(limited.status.success() && out.contains("1 passed"), "{}\n{out}\n{errors}", limited.status);
}

#[test]
#[ignore = "asks for all the memory there is: another test calls it with a limit"]
fn in_little_memory() {
    if env::var_os(LIMITED).is_none() {
        return;
    }
    let start = OscillatorState { q: 1.0, p: 0.0 };
    let members = Ensemble::new(&Oscillator, repeat(start)).run(METHOD, 1e-6);
    let samples = Ensemble::new(&Oscillator, [start]).record_every(1e-8).run(METHOD, 0.9);
    let statistics = Ensemble::new(&Oscillator, [start]).record_every(1e-8).run(METHOD, 0.04);
    let steps = Simulation::new(&Oscillator, start).unwrap().dense().run(METHOD, 0.9);
    for (error, what) in [
        (members.unwrap_err(), "the members of an ensemble"),
        (samples.unwrap_err(), "the samples of a run"),
        (statistics.unwrap_err(), "the statistics of an ensemble"),
        (steps.unwrap_err(), "the steps of a dense run"),
    ] {
        let Error::Memory { what: found, bytes, .. } = error else { panic!("{what}: {error}") };
        assert_eq!(found, what);
        assert!(bytes < 1 << 31, "{what}: {bytes}");
        assert!(error.to_string().contains(&format!("{bytes} bytes were asked for; ")), "{error}");
    }
}
