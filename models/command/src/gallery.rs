//! `fbint gallery`: an animation of every model, and a still picture of each.
//!
//! The overview, `index.html`, draws the pictures by the code that draws the animations. Where Chromium is installed, it opens the
//! overview without a window, and the pictures are also written as SVG.

use std::error::Error;
use std::ffi::OsStr;
use std::io::{self, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use fbint_command::animation::{Animation, SCENE, SCENE_STYLE, embedded, filled};
use fbint_command::catalogue::{AnyModel, Feedback, Plan, Sample};
use fbint_command::clap::{self, Args};
use fbint_command::output::Output;
use fbint_command::progress::Progress;
use fbint_command::results::prepare;
use fbint_command::scheme::{Contender, Scheme};
use fbint_runtime::{Method, Settings};
use tempfile::tempdir;

const GALLERY_EXAMPLES: &str = "\
Examples:
  fbint gallery
  fbint gallery --out animations --no-stills

The folder gets an animation of each model, a page with pictures of all of them, index.html, and, where Chromium is installed, each
picture as SVG and six of them side by side in gallery.svg.";

#[derive(Args, Debug)]
#[command(after_help = GALLERY_EXAMPLES)]
pub(crate) struct Gallery {
    /// The folder, which is created if necessary.
    #[arg(long, value_name = "DIR", default_value = "gallery")]
    out: PathBuf,
    /// Write no pictures as SVG, which takes Chromium.
    #[arg(long)]
    no_stills: bool,
}

const TOLERANCE: f64 = 1e-9;
/// Maximum number of samples in a picture, which its traces lead through.
const SAMPLES_OF_A_PICTURE: usize = 500;
/// Models whose pictures stand side by side in gallery.svg, three in a row.
const SHEET: [&str; 6] =
    ["driven-four-bar", "chain-8", "free-rigid-body", "rolling-disk", "spherical-pendulum", "roller-racer"];
/// The width and the height of a picture.
const PICTURE: [u32; 2] = [320, 240];
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const OVERVIEW: &str = include_str!("gallery.html");

/// Writes the gallery.
pub(crate) fn gallery(arguments: &Gallery) -> Result<ExitCode, Box<dyn Error>> {
    let folder = &arguments.out;
    prepare(folder)?;
    let mut films = Vec::new();
    for entry in catalogue::all() {
        let (model, until) = ((entry.load)(), until(&entry.name));
        let samples = samples(&entry.name, &*model, until)?;
        let contender = match model.default_projection() {
            Some(_) => Contender::with_projection(Scheme::Dop853),
            None => Contender::plain(Scheme::Dop853),
        };
        let method = format!("{contender}, rtol = atol = {TOLERANCE:?}, t = 0 .. {until}");
        let animation = Animation { name: &entry.name, method: &method, model: &*model, samples: &samples };
        let path = written(folder, &format!("{}.html", entry.name), &animation.page()?)?;
        writeln!(stdout().lock(), "written: {}", path.display())?;
        films.push(embedded(&animation.film(SAMPLES_OF_A_PICTURE)?)?);
    }
    let overview = filled(
        OVERVIEW,
        [
            ("scene-style", SCENE_STYLE),
            ("scene", SCENE),
            ("width", &PICTURE[0].to_string()),
            ("height", &PICTURE[1].to_string()),
            ("films", &format!("[{}]", films.join(",\n"))),
        ],
    );
    let overview = written(folder, "index.html", &overview)?;
    if !arguments.no_stills {
        stills(&overview, folder)?;
    }
    writeln!(stdout().lock(), "overview: {}", overview.display())?;
    Ok(ExitCode::SUCCESS)
}

/// How long a model runs: long enough to see what is special about it, and not longer than one cares to watch.
fn until(model: &str) -> f64 {
    match model {
        "four-bar" | "driven-four-bar" | "cart-pole" | "kapitza-pendulum" => 6.0,
        "planar-pendulum" | "hamel-pendulum" => 15.0,
        "kepler" => 12.6,
        "balanced-sleigh" | "chaplygin-sleigh" | "held-sleigh" => 12.0,
        "rolling-disk" => 12.6,
        "perturbed-kepler" | "driven-pendulum" | "suslov-problem" | "nonholonomic-oscillator" => 40.0,
        "spherical-pendulum" | "spherical-pendulum-cpv22" | "degenerate-pendulum" => 30.0,
        _ => 20.0,
    }
}

/// The start of a model; chains, which else swing gently, fall from the horizontal.
fn start(name: &str, model: &dyn AnyModel) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut start = model.start()?;
    if name.starts_with("chain-") {
        for mass in start.chunks_exact_mut(3) {
            let along = mass[0].hypot(mass[2]);
            mass.copy_from_slice(&[along, 0.0, 0.0]);
        }
    }
    Ok(start)
}

fn samples(name: &str, model: &dyn AnyModel, until: f64) -> Result<Vec<Sample>, Box<dyn Error>> {
    let method = Method::Dop853 { rtol: TOLERANCE, atol: TOLERANCE };
    let settings = Settings { projection: model.default_projection(), ..Settings::new(method, until) };
    let mut progress = Progress::new(name);
    let run = model.run(&start(name, model)?, &Plan::new(settings, Feedback::None), None, &mut progress.watch())?;
    Ok(run.trajectory)
}

fn written(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Box<dyn Error>> {
    let path = folder.join(name);
    Output::at(&path)?.write(|file| file.write_all(text.as_bytes()))?;
    Ok(path)
}

/// Writes the pictures of the overview as SVG, if there is a browser that draws them.
fn stills(overview: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let Some(page) = drawn(overview)? else {
        writeln!(stdout().lock(), "no pictures as SVG: Chromium is not installed")?;
        return Ok(());
    };
    let mut sheet = Vec::new();
    for entry in catalogue::all() {
        let begin = format!("<svg id=\"{}\" ", entry.name);
        let picture = page.split(&begin).nth(1).and_then(|rest| rest.split("</svg>").next());
        let picture = picture
            .ok_or_else(|| format!("the browser has not drawn `{}`: --no-stills does without it", entry.name))?;
        let name = format!("{}.svg", entry.name);
        let path = written(folder, &name, &format!("<svg {picture}</svg>\n"))?;
        writeln!(stdout().lock(), "written: {}", path.display())?;
        if let Some(place) = SHEET.iter().position(|name| *name == entry.name) {
            sheet.push((place, picture));
        }
    }
    sheet.sort_by_key(|(place, _)| *place);
    let path = written(folder, "gallery.svg", &side_by_side(sheet.into_iter().map(|(_, picture)| picture)))?;
    writeln!(stdout().lock(), "written: {}", path.display())?;
    Ok(())
}

/// One picture of pictures, three in a row.
fn side_by_side<'a>(pictures: impl Iterator<Item = &'a str>) -> String {
    const COLUMNS: u32 = 3;
    let [width, height] = PICTURE;
    let place = |(index, picture): (u32, &str)| {
        let (x, y) = (index % COLUMNS * width, index / COLUMNS * height);
        format!("<svg x=\"{x}\" y=\"{y}\" {picture}</svg>\n")
    };
    let pictures: String = (0..).zip(pictures).map(place).collect();
    let (width, height) = (COLUMNS * width, SHEET.len() as u32 / COLUMNS * height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\">\n{pictures}</svg>\n"
    )
}

/// The page after its script has run, without a window; `None` if there is no browser.
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

/// Chromium without a window and with a profile of its own. It is not to look for anything in the network, and the page that it opens is
/// ours, so that it needs no sandbox, which it does not get in many containers.
fn chromium(browser: &OsStr, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    // What it leaves behind goes with the profile.
    command.env("TMPDIR", profile).stderr(Stdio::null());
    command
}
