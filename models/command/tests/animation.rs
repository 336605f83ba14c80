//! Animations, in Chromium without a window where it and ChromeDriver are installed; elsewhere the tests say that they are skipped.
//!
//! A page plays, pauses, turns, and follows its slider and its keys. A pendulum's bob is where the table of another run has it, to a
//! fifth of a pixel, and springs reach from end to end at any length. Every shipped model is drawn and moves, without overlapping texts
//! and without loading anything; pages are the same in every run.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use super::common::browser::Browser;
use super::common::{fbint, is_thorough, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

const DESKTOP: [u32; 2] = [1280, 800];
const PHONE: [u32; 2] = [360, 740];
const PHONE_ON_ITS_SIDE: [u32; 2] = [740, 360];
/// The arrow key to the right, as WebDriver writes it.
const RIGHT: &str = "\u{e014}";
/// The arrow key to the left.
const LEFT: &str = "\u{e012}";

fn animated(folder: &TempDir, model: &str, more: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
    let page = format!("{model}.html");
    let output = fbint(folder, &[&["run", model, "--animate", &page], more].concat())?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("animation: {page}\n")));
    Ok(folder.path().join(page))
}

fn number(value: &Value) -> Result<f64, Box<dyn Error>> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).ok_or_else(|| format!("not a number: {value}").into())
}

/// The time of the slider.
const TIME: &str = "return document.getElementById('time').value";
/// The middle of the first thing of a class.
fn centre(class: &str) -> String {
    format!(
        "const it = document.querySelector('#picture .{class}'); return [it.getAttribute('cx'), it.getAttribute('cy')]"
    )
}

fn position(browser: &Browser, class: &str) -> Result<[f64; 2], Box<dyn Error>> {
    let place = browser.run(&centre(class))?;
    Ok([number(&place[0])?, number(&place[1])?])
}

#[test]
fn the_page_plays_pauses_and_follows_its_slider() -> Outcome {
    let Some(browser) = Browser::open(DESKTOP, false)? else { return Ok(()) };
    let folder = tempdir()?;
    browser.load(&animated(&folder, "planar-pendulum", &["--until", "200"])?)?;

    // It plays by itself.
    let begin = position(&browser, "point")?;
    browser.until("return Number(document.getElementById('time').value) > 0.05")?;
    browser.click("#play")?;
    let paused = (browser.run(TIME)?, position(&browser, "point")?);
    assert_ne!(begin, paused.1);
    browser.let_draw(20)?;
    assert_eq!((browser.run(TIME)?, position(&browser, "point")?), paused, "it moves while it is paused");
    browser.click("#play")?;
    browser.until(&format!("return Number(document.getElementById('time').value) > {}", 0.1 + number(&paused.0)?))?;

    // The keyboard: a space pauses, arrows go a two-hundredth of the run, the cursor of the chart goes along.
    let cursor = "return document.getElementById('cursor').getAttribute('d')";
    browser.press("body", " ")?;
    let (before, place, line) = (number(&browser.run(TIME)?)?, position(&browser, "point")?, browser.run(cursor)?);
    browser.press("#time", &RIGHT.repeat(3))?;
    let after = number(&browser.run(TIME)?)?;
    assert!((after - before - 3.0).abs() < 1e-9, "{before} {after}");
    assert_ne!(position(&browser, "point")?, place);
    assert_ne!(browser.run(cursor)?, line);
    browser.press("#time", &LEFT.repeat(3))?;
    assert_eq!((position(&browser, "point")?, browser.run(cursor)?), (place, line));

    // Traces go when they are switched off.
    let traces = "return document.querySelectorAll('#picture .trace').length";
    assert_eq!(browser.run(traces)?, 1);
    browser.click("#traces")?;
    assert_eq!(browser.run(traces)?, 0);

    let loaded = browser.run("return performance.getEntriesByType('resource').map((resource) => resource.name)")?;
    assert_eq!(loaded, serde_json::json!([]), "the page loads what is not in it");
    assert_eq!(browser.complaints()?, Vec::<Value>::new());
    Ok(())
}

/// On the page the bob of a pendulum is where the table of the same run says, but for one scale, at samples and between them, for a
/// method with a fixed step and one that chooses steps of which there are few.
#[test]
fn the_mechanism_moves_as_the_run_does() -> Outcome {
    let Some(browser) = Browser::open(DESKTOP, false)? else { return Ok(()) };
    for method in ["rk4", "dop853"] {
        let folder = tempdir()?;
        let run = ["--until", "12", "--method", method];
        let page = animated(&folder, "planar-pendulum", &run)?;
        // The same motion, sampled at other times.
        let table = ["run", "planar-pendulum", "--out", "a.csv", "--every", "0.7"];
        assert!(fbint(&folder, &[&table[..], &run].concat())?.status.success());
        browser.load(&page)?;
        browser.run("pause()")?;
        let mut scale = None;
        for row in csv::Reader::from_path(folder.path().join("a.csv"))?.deserialize() {
            let row: Vec<f64> = row?;
            browser.run(&format!("seek({})", row[0]))?;
            let (pivot, bob) = (position(&browser, "pivot")?, position(&browser, "point")?);
            let arm = [bob[0] - pivot[0], pivot[1] - bob[1]];
            let scale = *scale.get_or_insert(arm[0].hypot(arm[1]));
            assert!(scale > 100.0, "the picture is small");
            for (drawn, computed) in arm.iter().zip(&row[1..3]) {
                let error = drawn - scale * computed;
                assert!(error.abs() < 0.2, "{method}: {error} pixels at t = {}", row[0]);
            }
        }
        assert_eq!(browser.complaints()?, Vec::<Value>::new());
    }
    Ok(())
}

#[test]
fn mechanisms_in_space_turn_by_mouse_finger_and_keys() -> Outcome {
    let Some(browser) = Browser::open(DESKTOP, true)? else { return Ok(()) };
    let folder = tempdir()?;
    browser.load(&animated(&folder, "spherical-pendulum", &["--until", "5"])?)?;
    browser.run("pause(); seek(2)")?;
    let begin = position(&browser, "point")?;
    let mut before = begin;
    for pointer in ["mouse", "touch"] {
        browser.drag(pointer, "#picture", [60, 0])?;
        let after = position(&browser, "point")?;
        assert!((after[0] - before[0]).hypot(after[1] - before[1]) > 5.0, "{pointer}: {before:?} {after:?}");
        before = after;
    }
    browser.press("#picture", RIGHT)?;
    assert_ne!(position(&browser, "point")?, before);
    browser.click("#turn")?;
    assert_eq!(position(&browser, "point")?, begin);
    let back = "return getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.run(back)?, "rgb(20, 24, 29)");
    assert_eq!(browser.complaints()?, Vec::<Value>::new());
    Ok(())
}

/// A spring has as many turns at any length, between its ends, and is never wider than it is long.
#[test]
fn springs_are_drawn_between_their_ends() -> Outcome {
    let Some(browser) = Browser::open(DESKTOP, false)? else { return Ok(()) };
    let folder = tempdir()?;
    // y = cos t, by itself.
    browser.load(&animated(&folder, "nonholonomic-oscillator", &["--start", "x=0", "--until", "2"])?)?;
    let mut lengths = Vec::new();
    for time in ["0", "0.8", "1.4", "1.5708"] {
        browser.run(&format!("pause(); seek({time})"))?;
        let drawn = browser.run("return document.querySelector('#picture .spring').getAttribute('points')")?;
        let points =
            drawn.as_str().ok_or("no spring")?.split([' ', ',']).map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let points: Vec<[f64; 2]> = points.chunks_exact(2).map(|point| [point[0], point[1]]).collect();
        assert_eq!(points.len(), 16, "t = {time}: {points:?}");
        let (from, to, pivot) = (points[0], points[15], position(&browser, "pivot")?);
        assert!((from[0] - pivot[0]).hypot(from[1] - pivot[1]) < 0.1, "t = {time}: {from:?} {pivot:?}");
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let length = dx.hypot(dy);
        let across = |at: &[f64; 2]| (dx * (at[1] - from[1]) - dy * (at[0] - from[0])) / length.max(1.0);
        let sides: Vec<f64> = points[2..14].iter().map(across).collect();
        assert!(sides.iter().all(|side| 2.0 * side.abs() <= length), "t = {time}: {sides:?} in {length}");
        // Pixels are drawn to tenths.
        assert!(length < 10.0 || sides.windows(2).all(|pair| pair[0] * pair[1] < 0.0), "t = {time}: {sides:?}");
        lengths.push(length);
    }
    assert!(lengths.is_sorted_by(|one, next| one > next) && lengths[0] > 50.0 && lengths[3] < 0.5, "{lengths:?}");
    assert_eq!(browser.complaints()?, Vec::<Value>::new());
    Ok(())
}

/// Texts that overlap, and texts beyond the edges of a window of this width. `innerWidth` is not asked, for it grows with what is too wide.
const COLLISIONS: &str = "
    const texts = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.data.trim() || node.parentElement.closest('script, style, noscript, option, .hidden')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const box of range.getClientRects()) if (box.width > 0) texts.push([node.data.trim(), box]);
    }
    const found = [];
    texts.forEach(([text, box], index) => {
        if (box.left < -1 || box.right > WIDTH + 1) found.push(text);
        for (const [other, around] of texts.slice(0, index)) {
            const across = Math.min(box.right, around.right) - Math.max(box.left, around.left);
            const along = Math.min(box.bottom, around.bottom) - Math.max(box.top, around.top);
            // Lines of text have some room of their own.
            if (across > 1 && along > 0.3 * Math.min(box.height, around.height)) found.push(`${text} | ${other}`);
        }
    });
    return found;";

/// Every shipped model is drawn by shapes that move, on a window of one of three shapes, or on each, without texts that overlap.
#[test]
fn every_model_is_drawn_at_every_size() -> Outcome {
    let folder = tempdir()?;
    let gallery = fbint(&folder, &["gallery", "--no-stills"])?;
    assert!(gallery.status.success(), "{}", String::from_utf8_lossy(&gallery.stderr));
    for (shape, size) in [DESKTOP, PHONE, PHONE_ON_ITS_SIDE].into_iter().enumerate() {
        let Some(browser) = Browser::open(size, false)? else { return Ok(()) };
        let is_due = |model: usize| is_thorough() || model % 3 == shape;
        for (_, entry) in catalogue::all().into_iter().enumerate().filter(|(model, _)| is_due(*model)) {
            let name = &entry.name;
            browser.load(&folder.path().join(format!("gallery/{name}.html")))?;
            let shapes = |part: f64| {
                browser.run(&format!(
                "pause(); seek({part} * end); return [...document.querySelectorAll('#picture .rod, #picture .point, #picture .arrow')]\
                 .map((shape) => shape.outerHTML)"
            ))
            };
            let (first, second) = (shapes(0.1)?, shapes(0.57)?);
            assert!(first.as_array().is_some_and(|shapes| !shapes.is_empty()), "{name} is not drawn");
            assert!(first != second, "{name} does not move");
            assert!(!first.to_string().contains("NaN") && !second.to_string().contains("NaN"), "{name}");
            assert_eq!(
                browser.run(&COLLISIONS.replace("WIDTH", &size[0].to_string()))?,
                serde_json::json!([]),
                "{name} at {size:?}"
            );
            let width = browser.run("return document.documentElement.scrollWidth")?;
            assert!(number(&width)? <= f64::from(size[0]), "{name} is wider than {size:?}");
            assert_eq!(browser.complaints()?, Vec::<Value>::new(), "{name}");
        }
        browser.load(&folder.path().join("gallery/index.html"))?;
        assert_eq!(browser.run("return document.querySelectorAll('li svg .backdrop').length")?, catalogue::all().len());
        assert_eq!(browser.complaints()?, Vec::<Value>::new());
    }
    Ok(())
}

/// The picture that a page saves is the picture that it shows.
#[test]
fn a_picture_is_a_file_of_its_own() -> Outcome {
    let Some(browser) = Browser::open(DESKTOP, false)? else { return Ok(()) };
    let folder = tempdir()?;
    browser.load(&animated(&folder, "four-bar", &["--until", "1"])?)?;
    let saved = browser.run(
        "pause(); seek(0.4); return standalone(film, time, view, 300, 200, true, document.getElementById('scene-style').textContent)",
    )?;
    let file = folder.path().join("saved.svg");
    fs::write(&file, saved.as_str().ok_or("no text")?)?;
    browser.load(&file)?;
    let shapes =
        "return ['rod', 'pivot', 'point', 'trace'].map((kind) => document.querySelectorAll('.' + kind).length)";
    assert_eq!(browser.run(shapes)?, serde_json::json!([1, 2, 2, 1]));
    assert_eq!(browser.complaints()?, Vec::<Value>::new());
    Ok(())
}

#[test]
fn two_runs_write_the_same_page_and_resumed_runs_do_too() -> Outcome {
    let folders = [tempdir()?, tempdir()?];
    let [page, other] =
        [0, 1].map(|run| animated(&folders[run], "chain-4", &["--until", "1"]).and_then(|page| Ok(fs::read(page)?)));
    let page = page?;
    assert_eq!(page, other?);
    let path = animated(&folders[0], "chain-4", &["--until", "1", "--checkpoint", "c"])?;
    fs::remove_file(&path)?;
    assert!(fbint(&folders[0], &["resume", "c"])?.status.success());
    assert_eq!(fs::read(&path)?, page);
    Ok(())
}

#[test]
fn a_page_that_cannot_be_written_is_refused_and_a_run_that_fails_leaves_none() -> Outcome {
    let folder = tempdir()?;
    fs::create_dir(folder.path().join("taken.html"))?;
    // Refused at once, or this test would last for days.
    let endless = ["run", "kepler", "--until", "1e9", "--animate"];
    for (path, words) in [
        ("nowhere/a.html", ["nowhere/a.html", "no such folder"]),
        ("taken.html", ["taken.html", "not a regular file"]),
        ("a.gif", ["--animate a.gif", "must be .html"]),
    ] {
        refused(&fbint(&folder, &[&endless[..], &[path]].concat())?, &words);
    }
    let both = ["a.html", "--checkpoint", "a.html"];
    refused(&fbint(&folder, &[&endless[..], &both].concat())?, &["--animate and --checkpoint both name a.html"]);
    assert_eq!(names_in(&folder)?, ["taken.html"]);

    // A planet that falls into its sun, where no step is short enough.
    let earlier = "<html><!-- written by fbint --></html>";
    fs::write(folder.path().join("a.html"), earlier)?;
    let falls = ["run", "kepler", "--method", "dop853", "--start", "v[1]=0", "--until", "5", "--animate", "a.html"];
    refused(&fbint(&folder, &falls)?, &[" at t = "]);
    assert_eq!(names_in(&folder)?, ["a.html", "a.run.json", "taken.html"]);
    assert_eq!(fs::read_to_string(folder.path().join("a.html"))?, earlier);
    fs::write(folder.path().join("file"), "")?;
    refused(&fbint(&folder, &["gallery", "--out", "file"])?, &["file", "not a folder"]);
    refused(&fbint(&folder, &["gallery", "--out", "no/where"])?, &["no/where", "does not exist"]);
    refused(&fbint(&folder, &["gallery", "keppler"])?, &["unknown model `keppler`, did you mean `kepler`?"]);
    Ok(())
}
