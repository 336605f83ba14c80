//! `gallery`: an animation of every model, and a still picture of each.
//!
//! The overview, `index.html`, draws the pictures by the code that draws the animations. Where Chromium is installed, it opens the
//! overview without a window, and the pictures are also written as SVG.
//!
//! The picture in README.md is the `gallery.svg` of
//! `fbint gallery driven-four-bar chain-8 free-rigid-body rolling-disk spherical-pendulum roller-racer`.

use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::tempdir;

use crate::figures::animation::{Animation, SCENE, SCENE_STYLE, embedded, filled};
use crate::figures::results::prepare;
use crate::files::output::{OutputFile, Replace, marked};
use crate::line::arguments::GalleryArguments;
use crate::models::catalogue::find;
use crate::models::file::{InFile, stem};
use crate::request::Request;
use crate::runs::job::Job;
use crate::runs::report::manner;
use crate::words::progress::Progress;
use fbint_catalogue::{AnyModel, Entry, Sample};

/// Maximum number of samples in a picture, which its traces lead through.
const SAMPLES_OF_A_PICTURE: usize = 1500;
/// The width and the height of a picture.
const PICTURE: [u32; 2] = [320, 240];
/// The names of what a gallery has besides its models.
const OVERVIEW: &str = "index";
const SHEET: &str = "gallery";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const TEMPLATE: &str = include_str!("gallery.html");

/// A folder, and what may be replaced in it.
type Place<'a> = (&'a Path, Replace);

/// Writes the gallery.
pub(crate) fn gallery(models: &[Entry], arguments: &GalleryArguments) -> Result<(), Box<dyn Error>> {
    let names = chosen(models, &arguments.models)?;
    let folder = &arguments.out;
    prepare(folder)?;
    let place = (&**folder, Replace::forced(arguments.force));
    let mut films = Vec::new();
    for name in &names {
        let (job, name) = (job(models, name, arguments.until)?, stem(name));
        let model = job.model(models)?;
        let samples = samples(&job, &*model)?;
        let animation = Animation { name, method: &manner(&job), model: &*model, samples: &samples };
        let path = written(place, &format!("{name}.html"), &animation.page()?)?;
        writeln!(stdout().lock(), "written: {}", path.display())?;
        films.push(embedded(&animation.film(SAMPLES_OF_A_PICTURE)?)?);
    }
    let overview = filled(
        TEMPLATE,
        [
            ("scene-style", SCENE_STYLE),
            ("scene", SCENE),
            ("width", &PICTURE[0].to_string()),
            ("height", &PICTURE[1].to_string()),
            ("films", &format!("[{}]", films.join(",\n"))),
        ],
    );
    let overview = written(place, &format!("{OVERVIEW}.html"), &overview)?;
    if !arguments.no_stills {
        stills(&names, &overview, place)?;
    }
    writeln!(stdout().lock(), "overview: {}", overview.display())?;
    Ok(())
}

/// The names of the models that are asked for; all if none is.
fn chosen<'a>(models: &'a [Entry], asked: &'a [String]) -> Result<Vec<&'a str>, Box<dyn Error>> {
    let known: Vec<&str> = models.iter().map(|entry| &*entry.name).collect();
    let named = |name: &'a String| match InFile::named(name) {
        Some(_) => Ok(&**name),
        None => find(models, name).map(|place| known[place]),
    };
    let chosen = if asked.is_empty() { known.clone() } else { asked.iter().map(named).collect::<Result<_, _>>()? };
    let stems: Vec<&str> = chosen.iter().map(|name| stem(name)).collect();
    if let Some((_, twice)) = stems.iter().enumerate().find(|(index, name)| stems[..*index].contains(name)) {
        return Err(format!("the gallery would have two files called {twice}.html: name each model once").into());
    }
    match stems.iter().find(|name| [OVERVIEW, SHEET].contains(name)) {
        Some(name) => Err(format!(
            "the gallery has a file of its own that is called as those of the model `{name}`: give the model another `Model::name`"
        )
        .into()),
        None => Ok(chosen),
    }
}

/// The run of a model by DOP853.
fn job(models: &[Entry], name: &str, until: f64) -> Result<Job, String> {
    let options = [("method", Some("dop853".to_owned())), ("until", Some(until.to_string()))];
    Ok(Request::new(models, name, options).map_err(|error| format!("`{name}`: {error}"))?.job)
}

fn samples(job: &Job, model: &dyn AnyModel) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut progress = Progress::new(&job.model);
    let run = model.run(&job.start(model)?, &job.plan(model)?, None, &mut progress.observer());
    let run = run.map_err(|error| {
        format!("`{}`: {error}; end earlier by --until, or name the models that the gallery is to have", job.model)
    })?;
    Ok(run.trajectory)
}

fn written((folder, replace): Place<'_>, name: &str, text: &str) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(name);
    OutputFile::at(&path, replace)?.write(|file| file.write_all(marked(text).as_bytes()))?;
    Ok(path)
}

/// Writes the pictures of the overview as SVG, if there is a browser that draws them.
fn stills(names: &[&str], overview: &Path, place: Place<'_>) -> Result<(), Box<dyn Error>> {
    let Some(page) = drawn(overview)? else {
        writeln!(stdout().lock(), "no pictures as SVG: Chromium is not installed")?;
        return Ok(());
    };
    let mut pictures = Vec::new();
    for name in names.iter().map(|name| stem(name)) {
        let begin = format!("<svg id=\"{name}\" ");
        let picture = page.split(&begin).nth(1).and_then(|rest| rest.split("</svg>").next());
        let picture =
            picture.ok_or_else(|| format!("the browser has not drawn `{name}`: --no-stills does without it"))?;
        let path = written(place, &format!("{name}.svg"), &format!("<svg {picture}</svg>\n"))?;
        writeln!(stdout().lock(), "written: {}", path.display())?;
        pictures.push(picture);
    }
    let path = written(place, &format!("{SHEET}.svg"), &side_by_side(&pictures))?;
    writeln!(stdout().lock(), "written: {}", path.display())?;
    Ok(())
}

/// One picture of pictures, three in a row.
fn side_by_side(pictures: &[&str]) -> String {
    const COLUMNS: u32 = 3;
    let [width, height] = PICTURE;
    let place = |(index, picture): (u32, &&str)| {
        let (x, y) = (index % COLUMNS * width, index / COLUMNS * height);
        format!("<svg x=\"{x}\" y=\"{y}\" {picture}</svg>\n")
    };
    let count = pictures.len() as u32;
    let pictures: String = (0..).zip(pictures).map(place).collect();
    let (width, height) = (COLUMNS.min(count) * width, count.div_ceil(COLUMNS) * height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n{pictures}</svg>\n"
    )
}

/// The page after its script has run, without a window; `None` without a browser.
fn drawn(page: &Path) -> Result<Option<String>, Box<dyn Error>> {
    let page = std::path::absolute(page)?;
    let profile = tempdir().map_err(|error| format!("cannot create a folder for the browser: {error}"))?;
    for browser in BROWSERS {
        let output = chromium(browser.as_ref(), profile.path()).arg("--dump-dom").arg(&page).output();
        match output {
            Ok(output) if output.status.success() => return Ok(Some(String::from_utf8(output.stdout)?)),
            Ok(output) => {
                return Err(format!(
                    "{browser} cannot open {}: {}; --no-stills does without it",
                    page.display(),
                    output.status
                )
                .into());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot start {browser}: {error}").into()),
        }
    }
    Ok(None)
}

/// Chromium without a window, with a new profile. It looks for nothing in the network, and opens our page alone, so it needs no sandbox,
/// which many containers refuse.
fn chromium(browser: &OsStr, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    // What it leaves behind goes with the profile.
    command.env("TMPDIR", profile).stderr(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn models_are_chosen_in_order_and_no_file_is_two() {
        let entry = |name: &str| Entry {
            name: name.to_owned(),
            type_name: "",
            summary: "",
            load: Arc::new(|| unreachable!("only names are looked at")),
            declaration: None,
        };
        let models = ["pendulum", "index", "disk"].map(entry);
        let chosen = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|&name| name.to_owned()).collect();
            let chosen = chosen(&models, &asked).map_err(|error| error.to_string())?;
            Ok::<_, String>(chosen.join(" "))
        };
        assert_eq!(chosen(&["disk", "pendulum"]).as_deref(), Ok("disk pendulum"));
        assert_eq!(chosen(&["disk", "a/ball.rs"]).as_deref(), Ok("disk a/ball.rs"));
        assert!(chosen(&["disk", "a/disk.rs"]).is_err_and(|error| error.contains("two files called disk.html")));
        assert!(chosen(&["disc"]).is_err_and(|error| error.contains("did you mean `disk`?")));
        assert!(chosen(&[]).is_err_and(|error| error.contains("the model `index`: give the model another")));
    }

    #[test]
    fn pictures_are_three_in_a_row() {
        let sheet = side_by_side(&["id=\"a\">", "id=\"b\">", "id=\"c\">", "id=\"d\">"]);
        assert!(
            sheet.contains("width=\"960\" height=\"480\"") && sheet.contains("<svg x=\"0\" y=\"240\" id=\"d\">"),
            "{sheet}"
        );
        assert!(side_by_side(&["id=\"a\">"]).contains("width=\"320\" height=\"240\""));
    }
}
