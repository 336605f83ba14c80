//! The command `fbint` as its user meets it: what it prints, which files it leaves, and how it refuses.

use std::error::Error;
use std::fs;
use std::process::Output;

use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::{TempDir, tempdir};

const MODEL: &str = "spherical-pendulum-cpv22";

use super::common::{fbint, json_in, names_in, refused};
use super::files::PENDULUM;

type Outcome = Result<(), Box<dyn Error>>;

/// Without a command, what there is.
#[test]
fn without_arguments_the_help_is_printed() -> Outcome {
    let folder = tempdir()?;
    assert_eq!(succeeded(&fbint(&folder, &[])?), succeeded(&fbint(&folder, &["--help"])?));
    Ok(())
}

#[test]
fn two_runs_print_and_draw_the_same() -> Outcome {
    let folders = [tempdir()?, tempdir()?];
    let draw = |folder: &TempDir| -> Result<(String, Vec<u8>), Box<dyn Error>> {
        let text = succeeded(&fbint(folder.path(), &["run", MODEL, "--until", "1", "--plot", "a.svg"])?);
        Ok((text, fs::read(folder.path().join("a.svg"))?))
    };
    assert_eq!(draw(&folders[0])?, draw(&folders[1])?);
    Ok(())
}

#[test]
fn every_model_of_the_catalogue_is_listed_runs_and_shows() -> Outcome {
    let folder = tempdir()?;
    let list = succeeded(&fbint(folder.path(), &["list"])?);
    for entry in catalogue::all() {
        assert!(list.contains(&entry.name) && list.contains(entry.summary), "{} is not listed", entry.name);
        let (model, mut output) = ((entry.load)(), fbint(folder.path(), &["run", &entry.name, "--until", "0.1"])?);
        let note = String::from_utf8(std::mem::take(&mut output.stderr))?;
        assert_eq!(note.starts_with("note: input"), !model.open_inputs().is_empty(), "{}: {note}", entry.name);
        let run = succeeded(&output);
        for integral in model.integral_names() {
            assert!(run.contains(integral), "{integral} is not reported:\n{run}");
        }
        for form in ["--equations", "--conserved", "--latex", "--rust", "--summary"] {
            assert!(!succeeded(&fbint(folder.path(), &["show", &entry.name, form])?).trim().is_empty());
        }
        fs::remove_file(folder.path().join(format!("{}.run.json", entry.name)))?;
    }
    assert!(names_in(&folder)?.is_empty());
    Ok(())
}

#[test]
fn show_prints_the_generated_rust_as_it_is() -> Outcome {
    let folder = tempdir()?;
    for entry in catalogue::all() {
        let shown = succeeded(&fbint(folder.path(), &["show", &entry.name, "--rust"])?);
        assert_eq!(shown.trim_end(), (entry.load)().facts().source.trim_end());
    }
    Ok(())
}

/// The time that is an entry of the state is the time of the table.
#[test]
fn a_time_that_is_declared_is_in_tables_once() -> Outcome {
    let folder = tempdir()?;
    let header = |file: &str| -> Result<String, Box<dyn Error>> {
        Ok(csv::Reader::from_path(folder.path().join(file))?.headers()?.iter().collect::<Vec<_>>().join(" "))
    };
    let arguments = ["run", "driven-pendulum", "--until", "1", "--until-event", "t > 0.5", "--out", "run.csv"];
    succeeded(&fbint(folder.path(), &arguments)?);
    assert_eq!(header("run.csv")?, "t angle p work d(energy_balance) energy");
    let arguments = ["ensemble", "driven-pendulum", "--members", "2", "--until", "0.1", "--samples", "samples.csv"];
    succeeded(&fbint(folder.path(), &arguments)?);
    assert_eq!(header("samples.csv")?, "member t angle p work d(energy_balance)");
    let mut rows = csv::Reader::from_path(folder.path().join("samples.csv"))?;
    let last = rows.deserialize::<Vec<f64>>().last().ok_or("a row")??;
    assert_eq!((last.len(), last[0], last[1]), (6, 1.0, 0.1));
    Ok(())
}

#[test]
fn the_table_reads_back() -> Outcome {
    let folder = tempdir()?;
    let arguments = ["run", MODEL, "-p", "l=2", "--until", "1", "--every", "0.25", "--out", "a.csv"];
    succeeded(&fbint(folder.path(), &arguments)?);
    let mut table = csv::Reader::from_path(folder.path().join("a.csv"))?;
    let header: Vec<String> = table.headers()?.iter().map(str::to_owned).collect();
    assert_eq!(header.join(" "), "t q[0] q[1] q[2] p[0] p[1] p[2] d(f1) d(f2) d(energy) d(vertical_momentum)");
    let rows = table.deserialize().collect::<Result<Vec<Vec<f64>>, _>>()?;
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(rows[0][1..], [0.0, 2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    // Every digit survives: the recomputed change of f1 = |q|^2 - l^2 is the one in the table, exactly.
    for row in &rows {
        let f1 = row[1].powi(2) + row[2].powi(2) + row[3].powi(2) - 4.0;
        assert!((f1 - row[7]).abs() <= 2e-15, "{f1:e} in {row:?}");
    }
    assert_eq!(names_in(&folder)?, ["a.csv", "a.run.json"]);
    Ok(())
}

#[test]
fn a_file_that_was_there_is_replaced_whole() -> Outcome {
    let folder = tempdir()?;
    let path = folder.path().join("a.csv");
    fs::write(&path, format!("t,d(old)\n{}", "old\n".repeat(100_000)))?;
    succeeded(&fbint(folder.path(), &["run", MODEL, "--until", "0.01", "--out", "a.csv"])?);
    let text = fs::read_to_string(&path)?;
    assert!(text.starts_with("t,q[0]") && !text.contains("old"));
    Ok(())
}

#[test]
fn a_start_off_the_constraints_is_refused_or_repaired() -> Outcome {
    let folder = tempdir()?;
    let moved = ["run", MODEL, "--until", "0.1", "--start", "q[0]=0.1"];
    refused(&fbint(folder.path(), &moved)?, &["`f1`", "0.0100000", "--repair"]);
    let repaired = succeeded(&fbint(folder.path(), &[&moved[..], &["--repair"]].concat())?);
    assert!(table(&repaired, &["f1"])[0][1] < 1e-8, "{repaired}");
    Ok(())
}

#[test]
fn repair_keeps_the_entries_that_were_set() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", MODEL, "--until", "0.1", "--repair", "--out", "a.csv"];
    succeeded(&fbint(folder.path(), &[&run[..], &["--start", "q[0]=0.3", "--start", "p[2]=0.2"]].concat())?);
    let mut table = csv::Reader::from_path(folder.path().join("a.csv"))?;
    let start: Vec<f64> = table.deserialize().next().ok_or("no row")??;
    assert_eq!((start[1], start[6]), (0.3, 0.2));
    let all = ["--start", "q[0]=0.3", "--start", "q[1]=0.3", "--start", "q[2]=0.3"];
    refused(&fbint(folder.path(), &[&run[..], &all].concat())?, &["--repair", "`f1`", "fewer"]);
    Ok(())
}

#[test]
fn every_method_runs_and_tells_what_it_cost() -> Outcome {
    let folder = tempdir()?;
    let cost = |options: &[&str]| -> Result<(u64, u64), Box<dyn Error>> {
        let text = succeeded(&fbint(folder.path(), &[&["run", MODEL, "--until", "1", "--method"], options].concat())?);
        let line = text.lines().find(|line| line.contains(" steps, ")).ok_or("no cost is told")?;
        let numbers: Vec<u64> = line.split_whitespace().flat_map(str::parse).collect();
        Ok((numbers[0], numbers[1]))
    };
    for (method, stages) in [("euler", 1), ("midpoint", 2), ("heun", 2), ("rk4", 4)] {
        assert_eq!(cost(&[method, "--step", "0.01", "--gains", "none"])?, (100, 100 * stages));
        // The first projected step takes one evaluation more, to begin with.
        assert_eq!(cost(&[method, "--step", "0.01"])?, (100, 100 * stages + 1));
    }
    for method in ["dormand-prince", "dop853"] {
        let (loose, tight) = (cost(&[method, "--rtol", "1e-4"])?, cost(&[method, "--rtol", "1e-10"])?);
        assert!(loose.0 < tight.0 && loose.1 < tight.1, "{method}: {loose:?}, {tight:?}");
        assert!(cost(&[method, "--rtol", "1e-4", "--atol", "1e-10"])?.1 > loose.1, "{method} ignores --atol");
    }
    Ok(())
}

#[test]
fn a_projection_after_each_step_holds_every_integral() -> Outcome {
    let folder = tempdir()?;
    let largest = |options: &[&str]| -> Result<f64, Box<dyn Error>> {
        let run = ["run", MODEL, "--until", "20", "--step", "0.05", "--gains", "none"];
        let text = succeeded(&fbint(folder.path(), &[&run[..], options].concat())?);
        let rows = table(&text, &["f1", "f2", "energy", "vertical_momentum"]);
        Ok(rows.iter().map(|row| row[1]).fold(0.0, f64::max))
    };
    assert!(largest(&[])? > 1e-6);
    assert!(largest(&["--project"])? < 1e-12);
    Ok(())
}

#[test]
fn outputs_are_columns_of_the_table() -> Outcome {
    let folder = tempdir()?;
    let arguments =
        ["run", "spherical-pendulum", "--until", "2", "--method", "dop853", "--every", "0.5", "--out", "a.csv"];
    succeeded(&fbint(folder.path(), &arguments)?);
    let mut table = csv::Reader::from_path(folder.path().join("a.csv"))?;
    assert_eq!(table.headers()?.iter().next_back(), Some("tension"));
    let rows = table.deserialize().collect::<Result<Vec<Vec<f64>>, _>>()?;
    assert_eq!(rows.len(), 5);
    for row in &rows {
        // m = g = l = 1: the rod carries |p|^2 - q[2].
        let carried = row[4] * row[4] + row[5] * row[5] + row[6] * row[6] - row[3];
        assert!((row[row.len() - 1] - carried).abs() < 1e-6, "{row:?}");
    }
    Ok(())
}

#[test]
fn gains_are_taken_one_for_all_or_one_for_each() -> Outcome {
    let folder = tempdir()?;
    let run = |gains: &str| -> Result<String, Box<dyn Error>> {
        let arguments = ["run", MODEL, "--method", "euler", "--until", "1", "--gains", gains];
        let text = succeeded(&fbint(folder.path(), &arguments)?);
        // The title names the gains as given, and the last line says whether there was a record before.
        Ok(text.lines().skip(1).filter(|line| !line.starts_with("record: ")).collect())
    };
    assert_eq!(run("50")?, run("50,50,50,50")?);
    assert_ne!(run("50")?, run("50,50,50,1")?);
    assert_ne!(run("50")?, run("none")?);
    Ok(())
}

/// The page has the numbers of a run with the same options, and its figure.
#[test]
fn a_report_has_equations_parameters_start_and_run() -> Outcome {
    let folder = tempdir()?;
    let options = ["planar-pendulum", "-p", "m=3", "--until", "2", "--method", "dop853"];
    let report = ["report", "--out", "a.html"];
    assert_eq!(succeeded(&fbint(&folder, &[&report[..], &options].concat())?), "report: a.html\n");
    let page = fs::read_to_string(folder.path().join("a.html"))?;
    let run = succeeded(&fbint(&folder, &[&["run", "--plot", "a.svg"], &options[..]].concat())?);
    let (words, _) = run.split_once("figure: ").ok_or("no figure")?;
    assert!(page.contains(words), "{page}");
    assert!(page.contains(&fs::read_to_string(folder.path().join("a.svg"))?));
    assert!(page.contains("<tr><th>m</th><td>3.0</td></tr>") && page.contains("<tr><th>q[1]</th><td>"), "{page}");
    assert!(page.matches("<math").count() > 5 && page.contains("<h3>Poisson brackets</h3>"));
    assert!(!page.contains("{{") && !page.contains("src="));
    assert_eq!(names_in(&folder)?, ["a.html", "a.run.json", "a.svg"]);

    let endless = ["report", "kepler", "--until", "1e9", "--out"];
    refused(&fbint(&folder, &[&endless[..], &["a.txt"]].concat())?, &["--out a.txt", "must be .html"]);
    refused(&fbint(&folder, &[&endless[..], &["no/a.html"]].concat())?, &["no/a.html", "no such folder"]);
    Ok(())
}

#[test]
fn a_record_tells_how_to_make_the_run_again_and_what_came_out() -> Outcome {
    let folder = tempdir()?;
    let options =
        ["-p", "l=0.3", "--repair", "--method", "dop853", "--rtol", "1e-7", "--until", "0.7", "--gains", "1,2,3,4"];
    let run = [&["run", MODEL, "--project", "--every", "0.1"], &options[..]].concat();
    succeeded(&fbint(folder.path(), &[&run[..], &["--out", "b.csv"]].concat())?);
    let record = json_in(&folder, "b.run.json")?;
    assert_eq!(
        (&record["status"], &record["message"], &record["model"]),
        (&json!("complete"), &json!(null), &json!(MODEL))
    );
    assert_eq!(record["parameters"], json!({"m": 1.0, "g": 1.0, "l": 0.3}));
    assert_eq!(record["method"], json!({"dop853": {"rtol": 1e-7, "atol": null}}));
    assert_eq!(record["gains"], json!({"diagonal": [1.0, 2.0, 3.0, 4.0]}));
    assert_eq!(record["projection"], json!({"iterations": 1, "onto_balance": false}));
    assert_eq!((&record["until"], &record["every"]), (&json!(0.7), &json!(0.1)));
    assert_eq!(record["versions"]["fbint"], json!(env!("CARGO_PKG_VERSION")));
    assert!(record["versions"]["rustc"].as_str().is_some_and(|version| version.starts_with("rustc 1.")), "{record}");
    assert!(record["wall_seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0));

    // The hash is the hash of what `show --rust` prints.
    let shown = fbint(folder.path(), &["show", MODEL, "--rust"])?.stdout;
    let digits: String = Sha256::digest(&shown).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(record["code_sha256"], json!(digits));

    // Start and end are the table's first and last row, to the bit.
    let mut table = csv::Reader::from_path(folder.path().join("b.csv"))?;
    let header = table.headers()?.clone();
    let rows = table.deserialize().collect::<Result<Vec<Vec<f64>>, _>>()?;
    for (key, row) in [("start", &rows[0]), ("state", &rows[rows.len() - 1])] {
        for (name, value) in header.iter().zip(row).skip(1).take(6) {
            assert_eq!(record[key][name].as_f64().map(f64::to_bits), Some(value.to_bits()), "{key} {name}");
        }
    }
    let drift = &record["drift"]["energy"];
    assert_eq!(drift["last"].as_f64(), rows.last().map(|row| row[9]));
    assert_eq!(drift["assumed"], json!(false));
    assert_eq!(drift.as_object().map(|drift| drift.len()), Some(5));
    Ok(())
}

#[test]
fn runs_in_one_folder_keep_their_records_apart() -> Outcome {
    let folder = tempdir()?;
    let run = |model: &str, files: &[&str]| -> Result<String, Box<dyn Error>> {
        Ok(succeeded(&fbint(folder.path(), &[&["run", model, "--until", "0.01"], files].concat())?))
    };
    assert!(run(MODEL, &["--out", "a.csv", "--plot", "x.svg"])?.ends_with("record: a.run.json\n"));
    assert!(run(MODEL, &["--plot", "b.svg"])?.ends_with("record: b.run.json\n"));
    assert!(run(MODEL, &["--checkpoint", "c"])?.ends_with("record: c.run.json\n"));
    assert!(run(MODEL, &[])?.ends_with(&format!("record: {MODEL}.run.json\n")));
    assert!(run("kepler", &[])?.ends_with("record: kepler.run.json\n"));
    assert!(run("kepler", &[])?.ends_with("record: kepler.run.json (replaced)\n"));
    let names = ["a.csv", "a.run.json", "b.run.json", "b.svg", "c", "c.run.json", "kepler.run.json"];
    assert_eq!(names_in(&folder)?[..7], names);
    Ok(())
}

#[test]
fn a_run_past_a_singular_point_is_called_doubtful() -> Outcome {
    let folder = tempdir()?;
    // Crank and rocker of one length, coupler and base of another: all in line at the dead centre.
    let bars = ["run", "four-bar", "-p", "la=1", "-p", "lb=2", "-p", "lc=1", "-p", "ln=2", "--gains", "none"];
    let parallel =
        ["--start", "a[0]=0.6", "--start", "a[1]=0.8", "--start", "b[0]=2.6", "--start", "b[1]=0.8", "--repair"];
    let text = succeeded(&fbint(folder.path(), &[&bars[..], &parallel].concat())?);
    for part in ["doubtful: at t = ", "`crank`, `coupler` and `rocker`", "pivot ratio", "--step"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let record = json_in(&folder, "four-bar.run.json")?;
    assert_eq!(record["nearly_dependent"]["constraints"], json!(["crank", "coupler", "rocker"]));

    let in_line = ["--start", "a[0]=1", "--start", "a[1]=0", "--start", "b[0]=3", "--start", "b[1]=0"];
    refused(
        &fbint(folder.path(), &[&bars[..], &in_line].concat())?,
        &["`crank`, `coupler` and `rocker`", "start elsewhere"],
    );
    Ok(())
}

/// Bodies that fall onto one another: error control stops before they meet, and steps of a fixed size end beyond, which is said.
#[test]
fn a_collision_that_steps_pass_is_doubtful() -> Outcome {
    let folder = tempdir()?;
    let fall = ["run", "kepler", "--start", "v[0]=0", "--start", "v[1]=0", "--start", "v[2]=0", "--until"];
    let cases: [(&[&str], bool); 3] = [(&["1"], true), (&["1", "--gains", "none"], true), (&["0.25"], false)];
    for (options, is_doubtful) in cases {
        let text = succeeded(&fbint(&folder, &[&fall, options].concat())?);
        let doubt = "doubtful: `laplace_runge_lenz[0]` changed by 2.0e0 in the step to t = 0.28";
        assert_eq!(text.contains(doubt), is_doubtful, "{text}");
        let record = json_in(&folder, "kepler.run.json")?;
        assert_eq!(record["integral_jump"]["integral"] == json!("laplace_runge_lenz[0]"), is_doubtful);
    }
    for method in ["dop853", "dormand-prince"] {
        refused(
            &fbint(&folder, &[&fall[..], &["1", "--method", method]].concat())?,
            &["the field may be singular here"],
        );
    }
    Ok(())
}

#[test]
fn a_reproduction_writes_its_files_and_compares_with_what_is_known() -> Outcome {
    let folder = tempdir()?;
    let output = fbint(folder.path(), &["reproduce", "cpv22-figure-6", "--out", "out"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    for (name, order) in [("Euler + feedback", 1.0), ("RK4 + feedback", 4.0), ("RATTLE", 2.0)] {
        let row = text.lines().find_map(|line| line.strip_prefix(&format!("{name}: order"))).ok_or("no order")?;
        let numbers: Vec<f64> = row.split_whitespace().flat_map(str::parse).collect();
        assert!(numbers[0] == order && (numbers[1] - order).abs() < 0.1 && row.ends_with("ok"), "{name}: {row}");
    }
    // The exit code is the verdicts'.
    let failed = text.lines().any(|line| line.ends_with("NOT"));
    assert_eq!(output.status.code(), Some(i32::from(failed)), "{text}");

    let out = folder.path().join("out");
    let halves = ["cpv22-figure-6-left", "cpv22-figure-6-right"];
    let files = halves.map(|name| [format!("{name}.csv"), format!("{name}.svg")]).concat();
    assert_eq!(names_in(&out)?, files);
    for name in halves {
        let svg = fs::read_to_string(out.join(format!("{name}.svg")))?;
        assert!(svg.starts_with("<svg") && svg.contains("RK4 + feedback") && svg.contains("10⁻⁶"), "{name}");
    }
    let mut table = csv::Reader::from_path(out.join("cpv22-figure-6-left.csv"))?;
    assert_eq!(table.headers()?.get(0), Some("h"));
    assert!(table.records().count() > 20);
    Ok(())
}

/// Takes half a minute in the profile of the tests, and a second in that of releases.
#[test]
fn everything_is_reproduced() -> Outcome {
    let folder = tempdir()?;
    let output = fbint(folder.path(), &["reproduce", "all", "--out", "out"])?;
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", text.lines().filter(|line| line.contains("NOT")).collect::<String>());
    assert!(folder.path().join("out").join("report.html").exists());
    Ok(())
}

/// The texts of the figure of a run, its width and its height.
fn figure_of(run: &[&str]) -> Result<(Vec<String>, [f64; 2]), Box<dyn Error>> {
    let folder = tempdir()?;
    succeeded(&fbint(folder.path(), &[&["run"], run, &["--plot", "a.svg"]].concat())?);
    let svg = fs::read_to_string(folder.path().join("a.svg"))?;
    let texts = svg.split('>').filter_map(|part| part.split_once("</text").map(|(text, _)| text.to_owned())).collect();
    let size = |name: &str| {
        let value = svg.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next());
        value.ok_or(format!("no {name}"))?.parse::<f64>().map_err(Box::<dyn Error>::from)
    };
    Ok((texts, [size("width")?, size("height")?]))
}

/// The four vectors of the state, the paths and the changes of the integrals, on a sheet of A4; rounding is a line of text.
#[test]
fn the_figure_of_a_run_fits_a_page() -> Outcome {
    let (texts, [width, height]) = figure_of(&["four-bar", "--until", "1"])?;
    let count = |text: &str| texts.iter().filter(|other| *other == text).count();
    for title in ["a", "b", "pa", "pb", "paths, from the dots", "changes of the integrals"] {
        assert!(count(title) > 0, "no panel is called {title}");
    }
    // An axis for each panel but that of the paths.
    assert_eq!((count("t"), count("x"), count("y")), (5, 1, 1));
    let rounding = texts.iter().find(|text| text.starts_with("at rounding, up to ")).ok_or("rounding is not named")?;
    assert!(
        rounding.ends_with("⁵: crank, coupler, rocker, crank_rate, coupler_rate, rocker_rate, energy"),
        "{rounding}"
    );
    assert!(height <= width * 2_f64.sqrt(), "{width} by {height}");
    let (_, [width, height]) = figure_of(&["rolling-disk", "--until", "1"])?;
    assert!(height <= width * 2_f64.sqrt(), "{width} by {height}");
    Ok(())
}

/// What changes by more than rounding has a line of its own, a family of integrals one in common.
#[test]
fn the_changes_of_all_integrals_are_in_one_panel() -> Outcome {
    let (texts, _) = figure_of(&["chain-4", "--until", "1", "--method", "euler", "--gains", "none"])?;
    assert_eq!(texts.iter().filter(|text| *text == "link[1..4]").count(), 1);
    assert!(texts.iter().any(|text| text == "q, column 3") && !texts.iter().any(|text| text.contains("at rounding")));
    let (texts, _) = figure_of(&["chaplygin-sleigh", "--until", "1", "--method", "euler", "--gains", "none"])?;
    assert!(texts.iter().any(|text| text == "change of energy"), "{texts:?}");
    Ok(())
}

#[test]
fn what_does_not_change_is_0_throughout() -> Outcome {
    let (texts, _) = figure_of(&["rolling-disk", "--until", "1"])?;
    assert!(texts.iter().any(|text| text.ends_with("; 0 throughout: turn_momentum")), "{texts:?}");
    let (texts, _) = figure_of(&["rolling-disk", "--until", "1", "--of", "d(turn_momentum)"])?;
    assert!(texts.iter().any(|text| text == "0 throughout"), "{texts:?}");
    Ok(())
}

#[test]
fn a_figure_of_many_panels_is_longer_than_a_page() -> Outcome {
    let of = ["--of", "a[0]"].repeat(60);
    let (texts, [_, height]) = figure_of(&[&["four-bar", "--until", "0.1"], &of[..]].concat())?;
    assert_eq!(texts.iter().filter(|text| *text == "t").count(), 60);
    assert!(height > 20.0 * 150.0, "{height}");
    Ok(())
}

/// The time and the work of a driven system are not places: its angle moves against the momentum, and what is drawn in the plane.
#[test]
fn angles_move_in_their_phase_plane() -> Outcome {
    let (texts, _) = figure_of(&["driven-pendulum"])?;
    let labels = |title: &str| -> Result<[&str; 2], String> {
        // Right before the title.
        let title = texts.iter().position(|text| text == title).ok_or(format!("no panel is called {title}"))?;
        Ok([&texts[title - 2], &texts[title - 1]])
    };
    assert_eq!(labels("phase portrait of angle")?, ["angle", "p"]);
    assert_eq!(labels("path, from the dot")?, ["x", "y"]);
    let (texts, _) = figure_of(&["cart-pendulum", "--until", "1"])?;
    for title in ["phase portrait of s", "phase portrait of theta", "rate of theta"] {
        assert!(texts.iter().any(|text| text == title), "{title} is missing in {texts:?}");
    }
    Ok(())
}

/// A few steps of a high order are drawn through many points of the dense output, and the table has the steps.
#[test]
fn curves_of_few_steps_are_smooth() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", "kepler", "--method", "dop853", "--until", "6", "--out", "a.csv", "--plot", "a.svg"];
    succeeded(&fbint(folder.path(), &run)?);
    let svg = fs::read_to_string(folder.path().join("a.svg"))?;
    let points = svg.split("<path").map(|path| path.matches(" L").count()).max();
    let steps = fs::read_to_string(folder.path().join("a.csv"))?.lines().count();
    assert!(points > Some(1000) && steps < 100, "{points:?} points of {steps} steps");
    Ok(())
}

#[test]
fn times_have_no_rounding_noise() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", MODEL, "--step", "0.01", "--every", "0.1", "--until", "0.8", "--out", "a.csv"];
    succeeded(&fbint(folder.path(), &run)?);
    let table = fs::read_to_string(folder.path().join("a.csv"))?;
    let times: Vec<&str> = table.lines().filter_map(|row| row.split(',').next()).collect();
    assert_eq!(times, ["t", "0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]);
    Ok(())
}

/// One quantity over time, one against another, outputs and changes among them, and the drift.
#[test]
fn a_figure_shows_what_is_asked_for() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", "spherical-pendulum", "--until", "1", "--every", "0.1", "--plot", "a.svg"];
    let draw = |options: &[&str]| -> Result<String, Box<dyn Error>> {
        succeeded(&fbint(folder.path(), &[&run[..], options].concat())?);
        Ok(fs::read_to_string(folder.path().join("a.svg"))?)
    };
    let panels = draw(&["--of", "q[0],p[0]", "--of", "tension", "--of", "t,d(energy)", "--of", "drift"])?;
    for title in ["p[0] against q[0], from the dot", "tension", "d(energy)", "changes of the integrals"] {
        assert!(panels.contains(&format!(">{title}<")), "no panel is called {title}");
    }
    assert!(!panels.contains("q[1]") && draw(&[])?.contains("q[1]"));
    Ok(())
}

#[test]
fn panels_that_do_not_exist_are_refused() -> Outcome {
    let folder = tempdir()?;
    let plot = |of: &[&str]| fbint(folder.path(), &[&["run", MODEL, "--until", "1e9"], of].concat());
    refused(
        &plot(&["--plot", "a.svg", "--of", "q[0],d(enrgy)"])?,
        &["unknown quantity in --of `d(enrgy)`, did you mean `d(energy)`?", "known: t, q[0]", "drift"],
    );
    refused(&plot(&["--plot", "a.svg", "--of", "q[0],q[1],q[2]"])?, &["--of q[0],q[1],q[2]", "repeat --of"]);
    refused(&plot(&["--plot", "a.svg", "--of", "q[0],drift"])?, &["`drift` stands alone"]);
    refused(&plot(&["--of", "q[0]"])?, &["--plot"]);
    assert!(names_in(&folder)?.is_empty());
    Ok(())
}

#[cfg(feature = "png")]
#[test]
fn figures_are_drawn_as_png_where_there_are_fonts() -> Outcome {
    let folder = tempdir()?;
    let run = fbint(folder.path(), &["run", MODEL, "--until", "0.1", "--plot", "a.PNG"])?;
    if run.status.success() {
        assert!(fs::read(folder.path().join("a.PNG"))?.starts_with(b"\x89PNG\r\n\x1a\n"));
    } else {
        refused(&run, &["PNG", "no fonts"]);
    }
    let output = fbint(folder.path(), &["reproduce", "four-bar", "--png"])?;
    if output.status.code() == Some(2) {
        refused(&output, &["PNG", "no fonts"]);
        return Ok(());
    }
    let png = fs::read(folder.path().join("out/four-bar.png"))?;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 10_000, "{} bytes", png.len());
    Ok(())
}

#[cfg(not(feature = "png"))]
#[test]
fn a_figure_as_png_is_refused_with_what_to_do() -> Outcome {
    let folder = tempdir()?;
    let plot = ["run", MODEL, "--until", "0.1", "--plot", "a.PNG"];
    for arguments in [&plot[..], &["reproduce", "four-bar", "--png"], &["work-precision", "--png"]] {
        refused(&fbint(&folder, arguments)?, &["PNG", "--features fbint-command/png", "SVG"]);
    }
    assert!(names_in(&folder)?.is_empty());
    Ok(())
}

#[test]
fn reproductions_that_are_unknown_or_cannot_be_written_are_refused() -> Outcome {
    let folder = tempdir()?;
    fs::write(folder.path().join("file"), "")?;
    refused(
        &fbint(folder.path(), &["reproduce", "cpv22-tabel"])?,
        &["unknown reproduction `cpv22-tabel`", "did you mean `cpv22-table`?", "four-bar", "all"],
    );
    refused(&fbint(folder.path(), &["reproduce", "four-bar", "--out", "file"])?, &["file", "not a folder"]);
    refused(&fbint(folder.path(), &["reproduce", "four-bar", "--out", "file/out"])?, &["file/out", "not a folder"]);
    refused(&fbint(folder.path(), &["reproduce", "four-bar", "--out", "no/where"])?, &["no/where", "does not exist"]);
    assert_eq!(names_in(&folder)?, ["file"]);
    Ok(())
}

/// Every example of every page of help, with its exit code. An explanation may follow an example, two spaces or more behind it.
#[test]
fn every_example_of_the_help_runs() -> Outcome {
    let folder = tempdir()?;
    let help = succeeded(&fbint(folder.path(), &["--help"])?);
    let commands = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).ok_or("no commands")?;
    let commands: Vec<&str> = commands.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.contains(&"ensemble") && commands.len() >= 8, "{commands:?}");
    let mut examples: Vec<String> = Vec::new();
    for command in commands.iter().filter(|command| **command != "help") {
        let page = succeeded(&fbint(folder.path(), &[command, "--help"])?);
        examples.extend(examples_of(&page));
    }
    examples.extend(examples_of(&help));
    for command in commands.iter().filter(|command| !["help", "list"].contains(command)) {
        assert!(examples.iter().any(|example| example.starts_with(command)), "no example of {command}");
    }
    // How they are refused without the feature is another test.
    examples.retain(|example| cfg!(feature = "png") || !example.contains("png"));
    examples.retain(|example| cfg!(feature = "parquet") || !example.contains("parquet"));
    fs::write(folder.path().join("pendulum.rs"), PENDULUM.replace("default(", "section(top = p[1]), default("))?;
    // A run has to write the checkpoint that another example resumes.
    examples.sort_by_key(|example| example.starts_with("resume"));
    for example in &examples {
        let words = words(example);
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        // Shorter, for they take minutes without optimisation.
        match arguments[..] {
            ["work-precision" | "gallery", ..] => match arguments.iter().position(|argument| *argument == "--until") {
                Some(place) => arguments[place + 1] = "0.1",
                None => arguments.extend(["--until", "0.1"]),
            },
            ["ensemble", _, "--members", ..] => arguments[3] = "5",
            _ => {}
        }
        let output = fbint(folder.path(), &arguments)?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "fbint {example}: {complaint}");
        assert!(complaint.is_empty() && !output.stdout.is_empty(), "fbint {example}: {complaint}");
    }
    Ok(())
}

/// The words of a command line; in quotes, spaces belong to a word.
fn words(line: &str) -> Vec<String> {
    let mut is_quoted = false;
    let words = line.split(|letter: char| {
        is_quoted ^= letter == '\'';
        letter.is_whitespace() && !is_quoted
    });
    words.filter(|word| !word.is_empty()).map(|word| word.replace('\'', "")).collect()
}

fn examples_of(page: &str) -> impl Iterator<Item = String> + '_ {
    let commands = page.lines().filter_map(|line| line.strip_prefix("  fbint "));
    commands.filter_map(|line| Some(line.split("  ").next()?.trim().to_owned())).filter(|example| !example.is_empty())
}

/// The output of a command that succeeded without a message.
fn succeeded(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "{}: {complaint}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The numbers in the rows of a printed table that begin with these names.
fn table(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let row = |name: &&str| text.lines().find(|line| line.split_whitespace().next() == Some(*name));
    let numbers = |line: &str| line.split_whitespace().skip(1).flat_map(str::parse).collect();
    names.iter().filter_map(row).map(numbers).collect()
}

/// A pendulum that is let go at the side is at its lowest point after a quarter of its period, K(1 / sqrt 2) sqrt(l / g).
#[test]
fn a_run_ends_where_a_condition_becomes_true() -> Outcome {
    let folder = tempdir()?;
    let run = |condition: &str, more: &[&str]| {
        let run = ["run", "planar-pendulum", "--method", "dop853", "--rtol", "1e-13", "--until-event", condition];
        fbint(folder.path(), &[&run[..], more].concat())
    };
    let text = succeeded(&run("q[0]<0", &["--out", "a.csv"])?);
    let record = json_in(&folder, "a.run.json")?;
    let parameter = |name: &str| record["parameters"][name].as_f64().ok_or("no parameter");
    let exact = 1.854_074_677_301_371_9 * (parameter("l")? / parameter("g")?).sqrt();
    let time = record["time"].as_f64().ok_or("no time")?;
    assert!((time - exact).abs() < 1e-11, "{time} instead of {exact}");
    assert!(record["state"]["q[0]"].as_f64().is_some_and(|q| q.abs() < 1e-13));
    assert_eq!((&record["status"], &record["ended_by"]), (&json!("complete"), &json!("q[0] < 0.0")));
    assert_eq!(record["until_event"], json!("q[0] < 0.0"));
    assert!(text.contains(&format!("q[0] < 0.0 at t = {time:?}, where q[0] = ")), "{text}");
    let table = fs::read_to_string(folder.path().join("a.csv"))?;
    assert!(table.lines().last().is_some_and(|line| line.starts_with(&format!("{time:?},"))));

    // Without such an end nothing of it is recorded, and one that is not reached is told.
    let text = succeeded(&run("p[1] > 1e9", &["--until", "1"])?);
    assert!(
        text.contains("p[1] > 1000000000.0 was not seen to become true until t = 1.0; its left side is nearest"),
        "{text}"
    );
    let record = json_in(&folder, "planar-pendulum.run.json")?;
    assert_eq!((record["time"].as_f64(), record.get("ended_by")), (Some(1.0), None));
    succeeded(&fbint(folder.path(), &["run", "planar-pendulum", "--until", "1"])?);
    assert_eq!(json_in(&folder, "planar-pendulum.run.json")?.get("until_event"), None);
    Ok(())
}

#[test]
fn conditions_that_are_wrong_are_refused() -> Outcome {
    let folder = tempdir()?;
    let run = |condition: &str| fbint(folder.path(), &["run", "planar-pendulum", "--until-event", condition]);
    refused(
        &run("q[7] < 0")?,
        &["unknown entry of the state or output `q[7]`, did you mean `q[", "known: q[0], q[1], p[0]"],
    );
    for condition in ["q[0]", "q[0] = 0", "q[0] <= 0", "< 0", "", "q[0] < 0 < 1"] {
        refused(&run(condition)?, &["--until-event", "one comparison by < or >"]);
    }
    refused(&run("q[0] < inf")?, &["`inf` is not finite"]);
    refused(&run("q[0] > 0.5")?, &["--until-event `q[0] > 0.5` is true at the start, where its left side is 1.0"]);
    // The height is 0 at the start and falls at once; so does the momentum that the other condition waits for, and it comes back.
    refused(&run("q[1] < 0")?, &["--until-event `q[1] < 0.0` becomes true at the start, where its left side is 0.0"]);
    assert!(names_in(&folder)?.is_empty());
    succeeded(&run("p[0] > 0")?);
    assert!(
        json_in(&folder, "planar-pendulum.run.json")?["time"]
            .as_f64()
            .is_some_and(|time| (time - 3.708_149).abs() < 1e-5)
    );
    Ok(())
}

/// What becomes true and false again within a step is found, and the run may go on from there under the same condition.
#[test]
fn a_condition_is_looked_for_within_steps_and_from_its_end_on() -> Outcome {
    let folder = tempdir()?;
    let condition = ["--until", "40", "--method", "dop853", "--until-event", "q[0] < 0"];
    let mut time = 0.0;
    let mut start: Vec<String> = Vec::new();
    for leg in 0..4 {
        let run = [&["run", "planar-pendulum"], &condition[..]].concat();
        let run: Vec<&str> = run.into_iter().chain(start.iter().map(String::as_str)).collect();
        succeeded(&fbint(folder.path(), &run)?);
        let record = json_in(&folder, "planar-pendulum.run.json")?;
        assert_eq!(record["ended_by"], json!("q[0] < 0.0"), "leg {leg}");
        let reached = record["time"].as_f64().ok_or("no time")?;
        // From the first quarter of the period on, the same phase comes back after a period.
        assert!(leg < 2 || (reached - time).abs() < 1e-6, "leg {leg}: {reached} after {time}");
        time = reached;
        let entries = record["state"].as_object().ok_or("no state")?;
        start = entries.iter().map(|(name, value)| format!("--start={name}={value}")).collect();
    }
    Ok(())
}

/// The longest step and the most steps are options and in the record; samples that are left out are counted.
#[test]
fn steps_have_limits() -> Outcome {
    let folder = tempdir()?;
    let bounded = ["run", "planar-pendulum", "--method", "dop853", "--max-step", "0.004", "--max-steps", "5000"];
    let text = succeeded(&fbint(folder.path(), &bounded)?);
    assert!(text.contains(" steps: one in 2 is kept; --every 0 keeps all\n"), "{text}");
    let record = json_in(&folder, "planar-pendulum.run.json")?;
    assert_eq!((&record["max_step"], &record["max_steps"]), (&json!(0.004), &json!(5000)));
    let text = succeeded(&fbint(folder.path(), &[&bounded[..], &["--every", "0", "--out", "all.csv"]].concat())?);
    assert!(!text.contains("is kept"), "{text}");
    let steps = json_in(&folder, "all.run.json")?["steps"].as_u64().ok_or("no steps")?;
    let rows = fs::read_to_string(folder.path().join("all.csv"))?.lines().count() as u64;
    assert!(steps > 2500 && rows == steps + 2, "{rows} rows of {steps} steps");
    succeeded(&fbint(folder.path(), &["run", "planar-pendulum"])?);
    assert_eq!(json_in(&folder, "planar-pendulum.run.json")?.get("max_step"), None);
    Ok(())
}

/// The checkpoint keeps the condition.
#[test]
fn a_run_until_an_event_resumes() -> Outcome {
    let folder = tempdir()?;
    for method in ["rk4", "dop853"] {
        let run = ["run", "four-bar", "--method", method, "--until", "30", "--until-event", "b[1] < 0.5"];
        let files = ["--out", "a.csv", "--checkpoint", "c", "--checkpoint-every", "0"];
        succeeded(&fbint(folder.path(), &[&run[..], &files].concat())?);
        let (record, table) = (json_in(&folder, "a.run.json")?, fs::read(folder.path().join("a.csv"))?);
        fs::remove_file(folder.path().join("a.csv"))?;
        // The last checkpoint is from before the event.
        succeeded(&fbint(folder.path(), &["resume", "c"])?);
        assert_eq!(fs::read(folder.path().join("a.csv"))?, table);
        let resumed = json_in(&folder, "a.run.json")?;
        for key in ["status", "ended_by", "until_event", "time", "state", "steps", "evaluations", "drift"] {
            assert!(record[key] == resumed[key] && !record[key].is_null(), "{method}: {key}");
        }
    }
    Ok(())
}
