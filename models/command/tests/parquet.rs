//! Tables as Parquet: the values of CSV bit by bit, read by the readers of others; without the feature, how they are refused.

use std::error::Error;

use tempfile::tempdir;

#[cfg(not(feature = "parquet"))]
use super::common::refused;
use super::common::{fbint, names_in};

type Outcome = Result<(), Box<dyn Error>>;

/// Which tables a command writes, by their options.
#[cfg(feature = "parquet")]
type Tables<'a> = [(&'a str, &'a str)];

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_with_what_to_do() -> Outcome {
    let folder = tempdir()?;
    let words = ["cannot write Parquet", "feature `parquet`", "--features fbint-command/parquet", ".csv"];
    refused(&fbint(&folder, &["run", "kepler", "--until", "0.1", "--out", "a.parquet"])?, &words);
    for option in ["--out", "--ends", "--samples"] {
        let files = if option == "--out" { &["a.Parquet"][..] } else { &["a.Parquet", "a/"] };
        for file in files {
            let run = ["ensemble", "kepler", "--members", "2", "--until", "0.1", option, file];
            refused(&fbint(&folder, &run)?, &words);
        }
    }
    assert!(names_in(&folder)?.is_empty());
    Ok(())
}

/// Python is the interpreter of the folder `python` next to the builds, which `.ci/run` makes and which has the readers, or else the one of
/// the computer, which may not have them.
#[cfg(feature = "parquet")]
#[test]
fn pyarrow_and_polars_read_what_csv_has() -> Outcome {
    use std::path::Path;
    use std::process::Command;

    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python").join("bin/python");
    let python = if own.exists() { own.clone() } else { "python3".into() };
    let has_readers = || Command::new(&python).args(["-c", "import polars, pyarrow"]).output();
    if !own.exists() && !has_readers().is_ok_and(|output| output.status.success()) {
        println!(
            "skipped: it takes pyarrow and polars: `python3 -m venv target/python && target/python/bin/pip install pyarrow polars`"
        );
        return Ok(());
    }
    let folder = tempdir()?;
    // An output as a column, members that fail, and a run that does.
    let run = ["run", "spherical-pendulum", "--until", "2", "--method", "dop853"];
    write(folder.path(), &run, &[("--out", "run")], 0)?;
    let vary = ["--vary", "q[0]=linspace:0,1.5", "--vary", "m=normal:1,0.1", "--every", "0.25"];
    let ensemble = [&["ensemble", "spherical-pendulum", "--members", "40", "--until", "1"][..], &vary].concat();
    write(folder.path(), &ensemble, &[("--out", "statistics"), ("--ends", "ends"), ("--samples", "samples")], 0)?;
    let fails = ["run", "kepler", "--method", "dop853", "--gains", "none", "--start", "v[1]=0", "--until", "5"];
    write(folder.path(), &fails, &[("--out", "failed")], 2)?;
    // Several blocks, each a part. All members of the last one fail, so that it has no samples.
    let many = ["ensemble", "spherical-pendulum", "--members", "5000", "--until", "0.02", "--step", "0.01"];
    let many = [&many[..], &["--vary", "q[0]=linspace:0,1.4", "--every", "0.01"]].concat();
    for files in
        [["--ends", "one.parquet", "--samples", "one-s.parquet"], ["--ends", "parts/", "--samples", "parts-s/"]]
    {
        let output = fbint(&folder, &[&many[..], &files].concat())?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let pairs = [
        "parts/:one.parquet",
        "parts-s/:one-s.parquet",
        "run:run.run.json",
        "statistics:statistics.ensemble.json",
        "ends:statistics.ensemble.json",
        "samples:statistics.ensemble.json",
        "failed:failed.run.json",
    ];
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/parquet.py");
    let output = Command::new(&python).arg(script).args(pairs).current_dir(folder.path()).output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), pairs.len());
    Ok(())
}

/// Runs a command once for each format.
#[cfg(feature = "parquet")]
fn write(folder: &std::path::Path, command: &[&str], tables: &Tables<'_>, code: i32) -> Outcome {
    for ending in ["parquet", "csv"] {
        let names: Vec<String> = tables.iter().map(|(_, name)| format!("{name}.{ending}")).collect();
        let files = tables.iter().zip(&names).flat_map(|((option, _), name)| [*option, name]);
        let output = fbint(folder, &command.iter().copied().chain(files).collect::<Vec<_>>())?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{command:?}: {complaint}");
        for name in names {
            assert!(std::fs::metadata(folder.join(&name))?.len() > 0, "{name}");
        }
    }
    Ok(())
}

/// A part for each block, with the same bytes for any number of threads, and whether blocks are put on disk or not.
#[cfg(feature = "parquet")]
#[test]
fn a_folder_has_a_part_for_each_block() -> Outcome {
    use super::common::{files_in, json_in, refused};

    let folder = tempdir()?;
    let run = ["ensemble", "kepler", "--members", "5000", "--until", "0.02", "--step", "0.01", "--every", "0.01"];
    let run = [&run[..], &["--vary", "mu=normal:1,0.01"]].concat();
    let write = |options: &[&str]| -> Result<_, Box<dyn Error>> {
        let files = ["--ends", "ends/", "--samples", "samples/", "--out", "statistics.csv"];
        let output = fbint(&folder, &[&run[..], &files, options].concat())?;
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("ends: ends/\nsamples: samples/\n"), "{text}");
        assert_eq!(names_in(&folder)?, ["ends", "samples", "statistics.csv", "statistics.ensemble.json"]);
        assert_eq!(json_in(&folder, "statistics.ensemble.json")?["status"], "complete");
        let [ends, samples] = ["ends", "samples"].map(|name| folder.path().join(name));
        let parts = [files_in(&ends)?, files_in(&samples)?];
        for parts in &parts {
            assert!(parts.keys().eq(["part-0000000.parquet", "part-0000001.parquet", "part-0000002.parquet"]));
        }
        std::fs::remove_dir_all(ends)?;
        std::fs::remove_dir_all(samples)?;
        Ok((parts, std::fs::read(folder.path().join("statistics.csv"))?))
    };
    let expected = write(&["--threads", "1"])?;
    assert!(write(&["--threads", "3"])? == expected);
    assert!(write(&["--threads", "1", "--checkpoint", "c"])? == expected);

    std::fs::create_dir(folder.path().join("full"))?;
    std::fs::write(folder.path().join("full/precious"), "")?;
    let cases: [(&[&str], &str); 6] = [
        (&["--ends", "full/"], "full/ is not empty: give another folder"),
        (&["--ends", "statistics.csv/"], "cannot write statistics.csv/: not a folder"),
        (&["--ends", "nowhere/ends/"], "cannot write nowhere/ends/: no such folder"),
        (&["--ends", "ends/", "--samples", "ends/"], "--ends and --samples both name ends/"),
        (&["--ends", "ends/", "--checkpoint", "ends"], "--ends and --checkpoint both name ends"),
        (&["--out", "statistics/"], "must be .csv or .parquet"),
    ];
    for (files, words) in cases {
        refused(&fbint(&folder, &[&run[..], files].concat())?, &[words]);
    }
    assert_eq!(names_in(&folder)?, ["full", "statistics.csv", "statistics.ensemble.json"]);
    Ok(())
}

/// Neither the number of threads nor the time that it takes is in a file.
#[cfg(feature = "parquet")]
#[test]
fn the_same_command_writes_the_same_bytes() -> Outcome {
    let folder = tempdir()?;
    let tables = ["statistics.parquet", "ends.parquet", "samples.parquet"];
    let run = |threads: &str| -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let vary = ["--vary", "g=normal:1,0.1", "--until", "0.5", "--step", "0.01", "--threads", threads];
        let files = ["--out", tables[0], "--ends", tables[1], "--samples", tables[2]];
        let ensemble = [&["ensemble", "spherical-pendulum", "--members", "700"][..], &vary, &files].concat();
        let output = fbint(&folder, &ensemble)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(tables.iter().map(|name| std::fs::read(folder.path().join(name))).collect::<Result<_, _>>()?)
    };
    assert!(run("1")? == run("3")?);
    assert_eq!(
        names_in(&folder)?,
        ["ends.parquet", "samples.parquet", "statistics.ensemble.json", "statistics.parquet"]
    );
    Ok(())
}
