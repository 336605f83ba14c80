//! Files of others, which no output replaces unless `--force` is given.

use std::error::Error;
use std::fs;

use tempfile::tempdir;

use super::common::{fbint, refused};
use super::files::PENDULUM;

type Outcome = Result<(), Box<dyn Error>>;

const RUN: [&str; 4] = ["run", "pendulum.rs", "--until", "0.01"];

#[test]
fn files_of_others_are_replaced_by_force_alone() -> Outcome {
    let folder = tempdir()?;
    let path = |name: &str| folder.path().join(name);
    fs::write(path("pendulum.rs"), PENDULUM)?;
    let measured = "t,q[0],q[1]\n0,1,2\n";
    let cases: [(&str, &[&str]); 8] = [
        ("notes.txt", &["--checkpoint", "notes.txt"]),
        ("measured.csv", &["--out", "measured.csv"]),
        ("drawn.svg", &["--plot", "drawn.svg"]),
        ("page.html", &["--animate", "page.html"]),
        ("a.run.json", &["--out", "a.csv"]),
        ("pendulum.run.json", &[]),
        ("report.html", &["report"]),
        ("ends.csv", &["ensemble", "--members", "2", "--ends", "ends.csv"]),
    ];
    for (name, options) in cases {
        fs::write(path(name), measured)?;
        let command = match options {
            ["report", ..] => vec!["report", "pendulum.rs", "--until", "0.01"],
            ["ensemble", rest @ ..] => [&["ensemble", "pendulum.rs", "--until", "0.01"][..], rest].concat(),
            options => [&RUN[..], options].concat(),
        };
        refused(&fbint(&folder, &command)?, &[name, "not written by fbint", "--force"]);
        assert_eq!(fs::read_to_string(path(name))?, measured, "{name}");
        // Twice, the second time over what fbint has written.
        for force in [&["--force"][..], &[]] {
            let output = fbint(&folder, &[&command[..], force].concat())?;
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
        assert_ne!(fs::read_to_string(path(name))?, measured, "{name}");
    }
    Ok(())
}

#[test]
fn sources_of_models_stay_even_so() -> Outcome {
    let folder = tempdir()?;
    let source = folder.path().join("pendulum.rs");
    fs::write(&source, PENDULUM)?;
    let mut outputs = vec!["pendulum.rs", "./pendulum.rs"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&source, folder.path().join("link"))?;
        outputs.push("link");
    }
    for output in outputs {
        for force in [&[][..], &["--force"]] {
            let run = [&RUN[..], &["--checkpoint", output], force].concat();
            refused(&fbint(&folder, &run)?, &[output, "never replaced"]);
            assert_eq!(fs::read_to_string(&source)?, PENDULUM);
        }
    }
    Ok(())
}
