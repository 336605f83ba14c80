//! Exports of models in files.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use super::common::{fbint, names_in, refused};
use super::files::PENDULUM;

#[test]
fn c_repeats_a_run() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    fs::write(folder.path().join("pendulum.rs"), PENDULUM)?;
    let output =
        fbint(&folder, &["export", "pendulum.rs", "-p", "l=2", "--c", "c", "--casadi", "c", "--fmu", "p.fmu"])?;
    let told = String::from_utf8(output.stdout)?;
    assert!(output.status.success() && told.contains("written: c/planar_pendulum.c\n"), "{told}");
    assert!(told.contains("note: C has no derivatives"), "{told}");
    let files = ["CMakeLists.txt", "main.c", "planar_pendulum.c", "planar_pendulum.h", "planar_pendulum_casadi.c"];
    assert_eq!(names_in(folder.path().join("c"))?, files);
    assert!(fs::read(folder.path().join("p.fmu"))?.starts_with(b"PK"));
    // What fbint wrote is replaced.
    assert!(fbint(&folder, &["export", "pendulum.rs", "--fmu", "p.fmu", "--fmi", "2"])?.status.success());

    let compiler = ["-std=c99", "-O2", "-ffp-contract=off", "main.c", "planar_pendulum.c", "-o", "run", "-lm"];
    match Command::new("cc").args(compiler).current_dir(folder.path().join("c")).status() {
        Ok(status) => assert!(status.success()),
        Err(_) => return Ok(()),
    }
    let table = String::from_utf8(Command::new(folder.path().join("c/run")).args(["0.001", "1000"]).output()?.stdout)?;
    let run = ["run", "pendulum.rs", "-p", "l=2", "--until", "1", "--every", "0", "--out", "run.csv"];
    assert!(fbint(&folder, &run)?.status.success());
    let expected = fs::read_to_string(folder.path().join("run.csv"))?;
    let numbers = |line: &str| -> Vec<f64> {
        line.split(',').skip(1).take(4).map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()
    };
    let [found, expected]: [Vec<_>; 2] =
        [table.lines().map(numbers).collect(), expected.lines().skip(1).map(numbers).collect()];
    assert_eq!(found.len(), 1001);
    let difference = found.iter().zip(&expected).find(|(own, other)| own != other);
    assert_eq!(difference, None);
    Ok(())
}

/// The source file of a model of this workspace, whose derivation the package keeps, and whose start is a function in Rust.
#[test]
fn source_files_of_crates_are_exported() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/planar_pendulum.rs");
    refused(&fbint(&folder, &["export", source, "--c", "c"])?, &["nothing says where", "`q[0]`"]);
    let output = fbint(&folder, &["export", source, "--start", "q=1,0", "--start", "p=0,0", "--c", "c"])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.path().join("c/planar_pendulum.c"))?;
    assert!(text.contains("x[0] = R(1.0);") && text.contains("parameters->g = R(1.0);"), "{text}");
    Ok(())
}

/// A model of the program, with the start and the parameters of its crate; a macro writes the declaration of the chain.
#[test]
fn models_are_exported_by_name() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    for name in ["cart-pole", "chain-4"] {
        let output = fbint(&folder, &["export", name, "--c", name])?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = fs::read_to_string(folder.path().join("cart-pole/cart_pole.c"))?;
    assert!(text.contains("x[1] = R(0.2);") && text.contains("parameters->friction = R(0.1);"), "{text}");
    assert!(fs::read_to_string(folder.path().join("chain-4/chain_4.h"))?.contains("Four point masses on a chain."));
    Ok(())
}

#[test]
fn exports_that_cannot_be_are_refused() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    fs::write(folder.path().join("pendulum.rs"), PENDULUM)?;
    fs::create_dir(folder.path().join("mine"))?;
    fs::write(folder.path().join("mine/main.c"), "int main(void) { return 0; }")?;
    fs::create_dir_all(folder.path().join("in-the-way/planar_pendulum.c"))?;
    fs::create_dir(folder.path().join("p.fmu"))?;
    let before = names_in(&folder)?;
    let cases: [(&[&str], &[&str]); 14] = [
        (&["four-barr", "--c", "c"], &["four-barr", "four-bar"]),
        (&["four-bar", "--c", "new", "--casadi", "new-too", "--fmu", "nowhere/p.fmu"], &["nowhere"]),
        (&["nowhere.rs", "--c", "c"], &["cannot read nowhere.rs"]),
        (&["pendulum.rs:planar-penduum", "--c", "c"], &["planar-penduum", "planar-pendulum"]),
        (&["pendulum.rs", "--c", "nowhere/c"], &["cannot create the folder nowhere/c"]),
        (&["pendulum.rs", "--fmu", "p.zip"], &["--fmu p.zip", ".fmu"]),
        (&["pendulum.rs", "--c", "pendulum.rs"], &["into pendulum.rs", "not a folder"]),
        (&["pendulum.rs", "--c", "mine"], &["mine/main.c", "--force"]),
        (&["pendulum.rs"], &["--c", "--fmu", "--casadi"]),
        (&["pendulum.rs", "-p", "k=1", "--c", "c"], &["unknown parameter `k`", "known: m, g, l"]),
        (&["pendulum.rs", "-p", "m=nan", "--c", "c"], &["parameter `m` is NaN", "finite"]),
        (&["pendulum.rs", "--c", "in-the-way"], &["in-the-way/planar_pendulum.c", "not a regular file"]),
        (&["pendulum.rs", "--c", "c", "--fmu", "p.fmu"], &["p.fmu", "not a regular file"]),
        (&["pendulum.rs", "--c", "x.fmu", "--fmu", "x.fmu"], &["x.fmu", "not a regular file"]),
    ];
    for (arguments, words) in cases {
        refused(&fbint(&folder, &[&["export"], arguments].concat())?, words);
    }
    // Where nobody can write, not even root.
    if Path::new("/sys/kernel").is_dir() {
        refused(&fbint(&folder, &["export", "pendulum.rs", "--c", "/sys"])?, &["cannot write into /sys: ", "denied"]);
        let new = fbint(&folder, &["export", "pendulum.rs", "--casadi", "c", "--c", "/sys/c"])?;
        refused(&new, &["cannot create the folder /sys/c: "]);
        let fmu = fbint(&folder, &["export", "pendulum.rs", "--casadi", "c", "--fmu", "/sys/p.fmu"])?;
        refused(&fmu, &["cannot write /sys/p.fmu: "]);
    }
    assert_eq!(names_in(&folder)?, before);
    assert_eq!(names_in(folder.path().join("mine"))?, ["main.c"]);
    assert_eq!(names_in(folder.path().join("in-the-way"))?, ["planar_pendulum.c"]);
    Ok(())
}

/// A folder is created before the place of the FMU is looked at, and a file that is part of two exports is written once.
#[test]
fn exports_share_a_new_folder() -> Result<(), Box<dyn Error>> {
    let folder = tempdir()?;
    fs::write(folder.path().join("pendulum.rs"), PENDULUM)?;
    let output = fbint(&folder, &["export", "pendulum.rs", "--c", "all", "--casadi", "all", "--fmu", "all/p.fmu"])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout)?;
    let mut written: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("written: all/")).collect();
    written.sort_unstable();
    assert_eq!(written, names_in(folder.path().join("all"))?);
    // The functions that the library of CasADi calls are there.
    assert!(fs::read_to_string(folder.path().join("all/planar_pendulum.h"))?.contains("vector_field_derivatives("));
    Ok(())
}

/// Without a C compiler, or with one that fails, an FMU has its sources, and says why it has no library.
#[cfg(unix)]
#[test]
fn an_fmu_without_a_compiler_says_so() -> Result<(), Box<dyn Error>> {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempdir()?;
    fs::write(folder.path().join("pendulum.rs"), PENDULUM)?;
    let (programs, compiler) = (folder.path().join("bin"), folder.path().join("bin/cc"));
    fs::create_dir(&programs)?;
    let cases = [
        (None, "the C compiler `cc` is not installed"),
        (Some("echo 'no such option' >&2; exit 1"), "the C compiler `cc` refuses its sources: no such option"),
        (Some("exit 0"), "the C compiler `cc` wrote no library"),
    ];
    for (script, why) in cases {
        if let Some(script) = script {
            fs::write(&compiler, format!("#!/bin/sh\n{script}\n"))?;
            fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755))?;
        }
        let arguments = ["export", "pendulum.rs", "--fmu", "p.fmu"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
        let output = command.current_dir(&folder).args(arguments).env("PATH", &programs).output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told = String::from_utf8(output.stdout)?;
        assert!(told.contains(&format!("note: the FMU has sources alone, because {why}")), "{told}");
        assert!(fs::read(folder.path().join("p.fmu"))?.starts_with(b"PK"));
    }
    assert_eq!(names_in(&folder)?, ["bin", "p.fmu", "pendulum.rs"]);
    Ok(())
}
