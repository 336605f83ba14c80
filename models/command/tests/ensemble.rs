//! `fbint ensemble` as its user meets it.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::tempdir;

use super::common::refused;

type Outcome = Result<(), Box<dyn Error>>;

const PENDULUM: &str = "spherical-pendulum";

fn fbint(folder: &Path, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_fbint")).current_dir(folder).arg("ensemble").args(arguments).output()
}

fn succeeded(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The header of a table and its rows.
type Cells = (Vec<String>, Vec<Vec<String>>);

fn cells(path: &Path) -> Result<Cells, Box<dyn Error>> {
    let mut table = csv::Reader::from_path(path)?;
    let header = table.headers()?.iter().map(str::to_owned).collect();
    let rows = table.records().map(|row| Ok(row?.iter().map(str::to_owned).collect()));
    Ok((header, rows.collect::<Result<_, csv::Error>>()?))
}

#[test]
fn tables_say_what_varied_and_what_came_of_it() -> Outcome {
    let folder = tempdir()?;
    let vary = ["--vary", "q[0]=normal:0,0.1", "--vary", "m=uniform:0.9,1.1", "--vary", "gains=linspace:1,3"];
    let run = [PENDULUM, "--members", "50", "--until", "1", "--step", "0.01", "--every", "0.5"];
    let files = ["--out", "statistics.csv", "--ends", "ends.csv"];
    let text = succeeded(&fbint(folder.path(), &[&run[..], &vary, &files].concat())?);
    assert!(text.contains("50 members") && !text.contains("failed"), "{text}");

    let (header, rows) = cells(&folder.path().join("ends.csv"))?;
    assert_eq!(header[..5], ["member", "drawn(q[0])", "drawn(m)", "drawn(gains)", "q[0]"]);
    assert_eq!(header[header.len() - 2..], ["d(vertical_momentum)", "error"]);
    let number = |row: &[String], column: usize| row[column].parse::<f64>();
    let mut squares = 0.0;
    for (member, row) in rows.iter().enumerate() {
        assert_eq!(row[0], member.to_string());
        squares += number(row, 1)?.powi(2);
        assert!((0.9..1.1).contains(&number(row, 2)?));
        assert!((number(row, 3)? - (1.0 + 2.0 * member as f64 / 49.0)).abs() < 1e-12);
        assert_eq!(row.last().map(String::as_str), Some(""));
        let radius = number(row, 4)?.hypot(number(row, 5)?).hypot(number(row, 6)?);
        assert!((radius - 1.0).abs() < 1e-6, "member {member} is off the sphere by {:e}", radius - 1.0);
    }
    let deviation = (squares / 50.0).sqrt();
    assert!((0.07..0.13).contains(&deviation), "the standard deviation drawn is {deviation}");

    let (header, statistics) = cells(&folder.path().join("statistics.csv"))?;
    assert_eq!(header[..6], ["t", "members", "mean(q[0])", "variance(q[0])", "min(q[0])", "max(q[0])"]);
    assert_eq!(statistics.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["0.0", "0.5", "1.0"]);
    let last = &statistics[2];
    let ends: Vec<f64> = rows.iter().map(|row| number(row, 4)).collect::<Result<_, _>>()?;
    assert_eq!(last[1], "50");
    assert!((number(last, 2)? - ends.iter().sum::<f64>() / 50.0).abs() < 1e-12);
    assert_eq!(number(last, 4)?, ends.iter().copied().fold(f64::INFINITY, f64::min));
    Ok(())
}

/// The samples of a member are the samples of its own run, and the last of them is its end.
#[test]
fn samples_of_members_are_those_of_their_runs() -> Outcome {
    let folder = tempdir()?;
    let vary = ["--vary", "q[0]=linspace:0,1.5", "--vary", "m=linspace:1,2"];
    let settings = ["--until", "1", "--step", "0.01", "--every", "0.25"];
    let files = ["--ends", "ends.csv", "--samples", "samples.csv"];
    succeeded(&fbint(folder.path(), &[&[PENDULUM, "--members", "11"], &vary[..], &settings, &files].concat())?);
    let (header, samples) = cells(&folder.path().join("samples.csv"))?;
    assert_eq!(header[..3], ["member", "t", "q[0]"]);
    let (_, ends) = cells(&folder.path().join("ends.csv"))?;
    // Those that do not fail, which are the first seven.
    assert_eq!(samples.len(), 7 * 5);
    for (member, of_member) in samples.chunks(5).enumerate() {
        assert!(of_member.iter().all(|row| row[0] == member.to_string()));
        assert_eq!(of_member[4][2..], ends[member][3..ends[member].len() - 1]);
        let (start, mass) = (format!("q[0]={}", ends[member][1]), format!("m={}", ends[member][2]));
        let alone = ["run", PENDULUM, "--start", &start, "--repair", "-p", &mass, "--out", "alone.csv"];
        let alone = [&alone[..], &settings].concat();
        succeeded(&Command::new(env!("CARGO_BIN_EXE_fbint")).current_dir(folder.path()).args(alone).output()?);
        let (names, rows) = cells(&folder.path().join("alone.csv"))?;
        // A run has outputs, too.
        assert_eq!(names[..header.len() - 1], header[1..]);
        for (row, sample) in rows.iter().zip(of_member) {
            assert_eq!(row[..header.len() - 1], sample[1..]);
        }
    }
    Ok(())
}

/// More members than a block has: their rows follow one another, and their statistics are summed up.
#[test]
fn blocks_of_members_are_one_ensemble() -> Outcome {
    let folder = tempdir()?;
    let (members, block) = (20_000, 2048);
    let run = ["kepler", "--members", "20000", "--until", "0.02", "--step", "0.01", "--every", "0.02", "--threads"];
    let files = ["--vary", "mu=uniform:0.9,1.1", "--out", "s.csv", "--ends", "e.csv", "--samples", "m.csv"];
    let write = |threads: &str| -> Result<Vec<String>, Box<dyn Error>> {
        succeeded(&fbint(folder.path(), &[&run[..], &[threads], &files].concat())?);
        let read = |name| fs::read_to_string(folder.path().join(name));
        Ok(["s.csv", "e.csv", "m.csv"].map(read).into_iter().collect::<Result<_, _>>()?)
    };
    assert!(write("1")? == write("3")?);
    let (names, ends) = cells(&folder.path().join("e.csv"))?;
    assert!(ends.len() == members && ends.iter().enumerate().all(|(member, row)| row[0] == member.to_string()));
    // Members of different blocks draw from streams of their own.
    assert!(ends[0][1] != ends[block][1]);
    let (_, samples) = cells(&folder.path().join("m.csv"))?;
    assert_eq!(samples.len(), 2 * members);
    let (header, statistics) = cells(&folder.path().join("s.csv"))?;
    let column = |what: &str| {
        let name = format!("{what}({})", names[2]);
        header.iter().position(|head| *head == name).ok_or("no such column")
    };
    let last = statistics.last().ok_or("no row")?;
    assert_eq!(last[1], members.to_string());
    let values: Vec<f64> = ends.iter().map(|row| row[2].parse()).collect::<Result<_, _>>()?;
    let mean = values.iter().sum::<f64>() / members as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (members - 1) as f64;
    assert!((last[column("mean")?].parse::<f64>()? - mean).abs() < 1e-12);
    assert!((last[column("variance")?].parse::<f64>()? / variance - 1.0).abs() < 1e-9);
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(last[column("min")?].parse::<f64>()?, least);
    Ok(())
}

/// Histograms of entries of the state, or what is asked for, of the members that did not fail.
#[test]
fn figures_show_how_members_are_spread() -> Outcome {
    let folder = tempdir()?;
    let run = [PENDULUM, "--until", "0.1", "--step", "0.01", "--vary", "q[0]=linspace:-0.5,0.5", "--plot", "a.svg"];
    let draw = |options: &[&str]| -> Result<String, Box<dyn Error>> {
        let text = succeeded(&fbint(folder.path(), &[&run[..], options].concat())?);
        assert!(text.contains("figure: a.svg\nrecord: a.ensemble.json\n"), "{text}");
        Ok(fs::read_to_string(folder.path().join("a.svg"))?)
    };
    let all = draw(&["--members", "64"])?;
    for name in ["q[0]", "q[1]", "q[2]", "p[0]", "p[1]", "p[2]"] {
        assert_eq!(all.matches(&format!(">{name}<")).count(), 2, "the title and the label of {name}");
    }
    assert_eq!(all.matches(">members<").count(), 6);
    let dots = draw(&["--members", "64", "--of", "drawn(q[0]),q[0]", "--of", "d(energy)"])?;
    assert!(dots.contains("q[0] against drawn(q[0])") && dots.contains(">d(energy)<") && !dots.contains("p[1]"));
    assert_eq!(dots.matches("<circle").count(), 64);
    let many = draw(&["--members", "8001", "--of", "q[0],p[0]"])?;
    assert!(many.contains("p[0] against q[0], one member in 3"));
    assert_eq!(many.matches("<circle").count(), 2667);
    Ok(())
}

/// Like the record of a run, it holds all that the ensemble was made from, and what came out.
#[test]
fn an_ensemble_leaves_a_record() -> Outcome {
    let folder = tempdir()?;
    let vary = ["--vary", "q[0]=linspace:0,1.5", "--vary", "m=normal:1,0.1", "--seed", "5", "--start", "p[0]=0.5"];
    let run = [PENDULUM, "--members", "11", "--until", "0.1", "--step", "0.01"];
    let record = |options: &[&str], name: &str| -> Result<(String, Value), Box<dyn Error>> {
        let text = succeeded(&fbint(folder.path(), &[&run[..], &vary, options].concat())?);
        Ok((text, serde_json::from_str(&fs::read_to_string(folder.path().join(name))?)?))
    };
    let (text, record_of_files) = record(&["--out", "s.csv", "--ends", "e.csv"], "s.ensemble.json")?;
    assert!(text.ends_with("record: s.ensemble.json\n"), "{text}");
    let (_, record) = record(&[], &format!("{PENDULUM}.ensemble.json"))?;
    for key in ["model", "members", "seed", "vary", "start_entries", "method", "code_sha256", "end"] {
        assert!(!record[key].is_null() && record[key] == record_of_files[key], "{key}: {}", record[key]);
    }
    assert_eq!(record["status"], json!("complete"));
    assert_eq!((&record["members"], &record["seed"], &record["failed"]), (&json!(11), &json!(5), &json!(4)));
    let vary =
        json!({"q[0]": {"linspace": {"from": 0.0, "to": 1.5}}, "m": {"normal": {"mean": 1.0, "deviation": 0.1}}});
    assert_eq!((&record["vary"], &record["start_entries"]), (&vary, &json!({"p[0]": 0.5})));

    // The record has the statistics of the table's last row.
    let (header, rows) = cells(&folder.path().join("s.csv"))?;
    let last = rows.last().ok_or("no row")?;
    for (name, value) in header.iter().zip(last).skip(2) {
        let (what, quantity) = name.trim_end_matches(')').split_once('(').ok_or("a strange column")?;
        let quantity = if quantity.contains('(') { format!("{quantity})") } else { quantity.to_owned() };
        assert_eq!(record["end"][&quantity][what].as_f64(), Some(value.parse::<f64>()?), "{name}");
    }

    let hopeless = [PENDULUM, "--members", "3", "--vary", "q[0]=linspace:2,3", "--ends", "hopeless.csv"];
    refused(&fbint(folder.path(), &hopeless)?, &["all 3 members failed"]);
    let record: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("hopeless.ensemble.json"))?)?;
    assert_eq!(record["status"], json!("failed"));
    assert!(record["message"].as_str().is_some_and(|message| message.starts_with("all 3 members failed")), "{record}");
    Ok(())
}

/// No byte of a member depends on the number of threads or on other members; another seed changes it.
#[test]
fn the_same_seed_gives_the_same_bytes() -> Outcome {
    let folder = tempdir()?;
    let ends = |options: &[&str]| -> Result<String, Box<dyn Error>> {
        let run = [PENDULUM, "--until", "0.5", "--step", "0.01", "--vary", "g=normal:1,0.1", "--ends", "ends.csv"];
        succeeded(&fbint(folder.path(), &[&run[..], options].concat())?);
        Ok(fs::read_to_string(folder.path().join("ends.csv"))?)
    };
    let one = ends(&["--members", "41", "--threads", "1"])?;
    assert_eq!(one, ends(&["--members", "41", "--threads", "3"])?);
    let more = ends(&["--members", "60"])?;
    assert!(more.starts_with(&one) && more.len() > one.len());
    assert_ne!(one, ends(&["--members", "41", "--seed", "2"])?);
    Ok(())
}

#[test]
fn members_that_fail_are_named_and_the_others_kept() -> Outcome {
    let folder = tempdir()?;
    // Where q[0] is beyond the length of the rod there is no consistent start.
    let run = [PENDULUM, "--members", "11", "--until", "0.1", "--vary", "q[0]=linspace:0,1.5", "--ends", "ends.csv"];
    let text = succeeded(&fbint(folder.path(), &run)?);
    assert!(text.contains("4 of 11 members failed") && text.contains("member 7: no consistent start"), "{text}");
    let (_, rows) = cells(&folder.path().join("ends.csv"))?;
    for (member, row) in rows.iter().enumerate() {
        let error = row.last().ok_or("an empty row")?;
        assert_eq!(error.contains("no consistent start"), member > 6, "{error}");
        assert_eq!(row[2].is_empty(), member > 6);
    }
    refused(
        &fbint(folder.path(), &[PENDULUM, "--members", "3", "--vary", "q[0]=linspace:2,3"])?,
        &["all 3 members failed", "no consistent start"],
    );
    Ok(())
}

#[test]
fn bad_input_is_one_line_exit_code_2_and_no_file() -> Outcome {
    let folder = tempdir()?;
    let cases: [(&[&str], &[&str]); 20] = [
        (&["--vary", "mass=uniform:1,2"], &["unknown name in --vary `mass`", "known: m, g, l"]),
        (&["--vary", "m"], &["NAME=normal:MEAN,DEVIATION"]),
        (&["--vary", "m=normal:1"], &["NAME=normal:MEAN,DEVIATION"]),
        (&["--vary", "m=cauchy:0,1"], &["`cauchy`", "normal, uniform, linspace"]),
        (&["--vary", "m=normal:1,x"], &["`x` is not a number"]),
        (&["--vary", "m=normal:1,-1"], &["-1.0", "not be negative"]),
        (&["--vary", "m=uniform:0,inf"], &["must be finite"]),
        (&["--vary", "m=uniform:1,2", "--vary", "m=uniform:1,2"], &["`m` twice"]),
        (&["--vary", "gains=uniform:1,2", "--gains", "1"], &["exclude one another"]),
        (&["--gains", "bae-chang"], &["relaxation:TAU"]),
        (&["--members", "0"], &["--members", "whole number from 1 to 10000000"]),
        (&["--members", "-3"], &["--members", "'-3'", "whole number from 1 to 10000000"]),
        (&["--seed", "-3"], &["--seed", "'-3'", "whole number from 0"]),
        (&["--threads", "0"], &["--threads"]),
        (&["--until", "-1"], &["--until -1.0", "is not after the start"]),
        (&["--out", "a.csv", "--ends", "./a.csv"], &["--out and --ends both name"]),
        (&["--samples", "a.csv", "--ends", "./a.csv"], &["--ends and --samples both name"]),
        (&["--plot", "a.svg", "--of", "q[0],p[9]"], &["unknown quantity in --of `p[9]`", "did you mean `p["]),
        (&["--plot", "a.svg", "--of", "drift"], &["unknown quantity in --of `drift`", "known: q[0]"]),
        (&["--of", "q[0]"], &["--plot"]),
    ];
    for (options, words) in cases {
        refused(&fbint(folder.path(), &[&[PENDULUM], options].concat())?, words);
    }
    refused(&fbint(folder.path(), &["pendulum"])?, &["unknown model"]);
    if cfg!(not(feature = "mpi")) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
        let one_of_four = command.args(["ensemble", PENDULUM]).env("OMPI_COMM_WORLD_SIZE", "4").output()?;
        refused(&one_of_four, &["4 processes", "the feature `mpi`", "--features fbint-command/mpi"]);
    }
    assert_eq!(fs::read_dir(folder.path())?.count(), 0);
    Ok(())
}

/// Every model, with the default of a projection after each step, and with gains that relax.
#[test]
fn every_model_has_ensembles() -> Outcome {
    let folder = tempdir()?;
    for entry in catalogue::all() {
        for gains in [&[][..], &["--gains", "relaxation:0.5"]] {
            let run = [&entry.name, "--members", "3", "--until", "0.01"];
            let text = succeeded(&fbint(folder.path(), &[&run[..], gains].concat())?);
            assert!(text.contains("3 members") && !text.contains("failed"), "{text}");
        }
    }
    Ok(())
}
