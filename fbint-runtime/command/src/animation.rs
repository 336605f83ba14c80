//! The animation of a run: one page that needs no network, with the mechanism in motion and what happened to its integrals.
//!
//! What is drawn of a state is a [`Drawing`], which a model gives by [`Model::drawing`](crate::Model::drawing). The page has the drawings of
//! evenly chosen samples as JSON, with as many digits as can be seen, and a small script that draws them as SVG: `scene.js` turns
//! drawings into pictures, and `player.js` plays them.

mod drawing;

use std::ops::Range;

use serde::Serialize;

use self::drawing::Shape;
pub use self::drawing::{Drawing, Position, circle, circle_about};
use crate::catalogue::{AnyModel, Sample};
use crate::names::{Group, groups};

/// Maximum number of samples on a page. A run whose samples are not chosen has no more.
const SAMPLES: usize = 2000;
/// The least distance that can be seen, as a fraction of the size of a scene.
const RESOLUTION: f64 = 2e-5;

const PAGE: &str = include_str!("animation/page.html");
const PAGE_STYLE: &str = include_str!("animation/page.css");
const PLAYER: &str = include_str!("animation/player.js");
/// The style of pictures, which a picture that is saved takes along.
pub const SCENE_STYLE: &str = include_str!("animation/scene.css");
/// The functions that turn a [`Film`] into pictures.
pub const SCENE: &str = include_str!("animation/scene.js");

/// A run to be animated.
pub struct Animation<'a> {
    /// The name of the model.
    pub name: &'a str,
    /// What the model is, in a sentence.
    pub summary: &'a str,
    /// The method, and how it was used.
    pub method: &'a str,
    /// The model with its parameters.
    pub model: &'a dyn AnyModel,
    /// The samples of the run.
    pub samples: &'a [Sample],
}

/// What a page shows: drawings over time, and the changes of integrals.
#[derive(Serialize)]
pub struct Film<'a> {
    name: &'a str,
    summary: &'a str,
    method: &'a str,
    parameters: Vec<(&'static str, f64)>,
    /// What is along the axes, if they have no common scale.
    axes: Option<[&'static str; 2]>,
    /// The least coordinates of anything at any time, and the largest.
    bounds: [Vec<f64>; 2],
    times: Vec<f64>,
    /// The shapes at each time, or 0 for a shape that was the same in the frame before.
    frames: Vec<Vec<Cell>>,
    /// The number of samples of the run.
    samples: usize,
    /// The times of the samples that were chosen.
    sampled: Vec<f64>,
    integrals: Vec<Changes>,
}

/// A shape in a frame.
#[derive(Serialize)]
#[serde(untagged)]
enum Cell {
    AsBefore(u8),
    New(Shape),
}

/// The largest |F - F_target| of a group of integrals since the sample before.
#[derive(Serialize)]
struct Changes {
    name: String,
    changes: Vec<f64>,
}

impl<'a> Animation<'a> {
    /// The page, a complete HTML document.
    ///
    /// # Errors
    ///
    /// If a drawing has a coordinate that is not finite: one line with the model and the time.
    pub fn page(&self) -> Result<String, String> {
        let film = embedded(&self.film(SAMPLES)?)?;
        let parts = [("page-style", PAGE_STYLE), ("scene-style", SCENE_STYLE), ("scene", SCENE), ("player", PLAYER)];
        Ok(filled(PAGE, parts.into_iter().chain([("film", &*film)])))
    }

    /// At most so many samples, evenly chosen, and positions between them where they are far apart.
    ///
    /// # Errors
    ///
    /// If a drawing has a coordinate that is not finite: one line with the model and the time.
    pub fn film(&self, most: usize) -> Result<Film<'a>, String> {
        let windows = windows(self.samples, most);
        let chosen: Vec<&Sample> = windows.iter().filter_map(|window| window.last()).collect();
        let (times, drawings) = self.drawings(&filled_in(self.model, &chosen, most))?;
        let axes = drawings.first().and_then(|drawing| drawing.axes);
        let bounds = bounds(&drawings);
        let places = places(&bounds, axes.is_some());
        Ok(Film {
            name: self.name,
            summary: self.summary,
            method: self.method,
            parameters: self.model.parameters(),
            axes,
            times,
            frames: cells(&drawings.into_iter().map(|drawing| drawing.rounded(&places)).collect::<Vec<_>>()),
            bounds,
            samples: self.samples.len(),
            sampled: chosen.iter().map(|sample| sample.time).collect(),
            integrals: changes(&self.model.integral_names(), &windows),
        })
    }

    /// The drawings at these moments, all in the plane or all in space.
    fn drawings(&self, moments: &[(f64, Vec<f64>)]) -> Result<(Vec<f64>, Vec<Drawing>), String> {
        let drawings: Vec<Drawing> = moments.iter().map(|(_, state)| self.model.drawing(state)).collect();
        let times: Vec<f64> = moments.iter().map(|(time, _)| *time).collect();
        let is_finite =
            |drawing: &Drawing| drawing.positions().flat_map(Position::coordinates).all(|at| at.is_finite());
        if let Some(bad) = drawings.iter().position(|drawing| !is_finite(drawing)) {
            let (name, time) = (self.name, times[bad]);
            return Err(format!(
                "the drawing of `{name}` has a coordinate that is not finite at t = {time:?}: correct its `Model::drawing`, or leave \
                 --animate out"
            ));
        }
        let is_spatial = drawings.iter().flat_map(Drawing::positions).any(|at| matches!(at, Position::Space(_)));
        let in_space = |drawing: Drawing| drawing.with_positions(|position| position.in_space().into());
        Ok((times, if is_spatial { drawings.into_iter().map(in_space).collect() } else { drawings }))
    }
}

/// At most so many windows of samples: the start, and samples of which the last is chosen.
fn windows(samples: &[Sample], most: usize) -> Vec<&[Sample]> {
    let (first, rest) = samples.split_at(samples.len().min(1));
    let stride = rest.len().div_ceil(most.saturating_sub(1).max(1)).max(1);
    first.chunks(1).chain(rest.chunks(stride)).collect()
}

/// Times and states: the samples, and moments between those that are more than a fraction of the run apart. There, the state
/// follows the cubic polynomial that has the states and the rates at both ends (Hermite).
fn filled_in(model: &dyn AnyModel, samples: &[&Sample], most: usize) -> Vec<(f64, Vec<f64>)> {
    let Some((first, last)) = samples.first().zip(samples.last()) else { return Vec::new() };
    let step = (last.time - first.time) * 2.0 / most as f64;
    let mut moments = vec![(first.time, first.state.clone())];
    for pair in samples.windows(2) {
        let (before, after) = (pair[0], pair[1]);
        let gap = after.time - before.time;
        let pieces = if step > 0.0 { (gap / step * (1.0 - 1e-9)).ceil() as usize } else { 1 };
        if pieces > 1 {
            let rates = [before, after].map(|sample| model.rates(&sample.state));
            moments.extend((1..pieces).map(|piece| {
                let part = piece as f64 / pieces as f64;
                (before.time + part * gap, hermite([&before.state, &after.state], &rates, gap, part))
            }));
        }
        moments.push((after.time, after.state.clone()));
    }
    moments
}

/// The cubic polynomial with these values and rates at both ends of an interval, a part of the way along it.
fn hermite([from, to]: [&[f64]; 2], rates: &[Vec<f64>; 2], length: f64, part: f64) -> Vec<f64> {
    let rest = 1.0 - part;
    let entry = |index: usize| {
        let straight = rest * from[index] + part * to[index];
        let [at_start, at_end] = [&rates[0], &rates[1]].map(|rates| length * rates[index] - (to[index] - from[index]));
        straight + part * rest * (rest * at_start - part * at_end)
    };
    (0..from.len()).map(entry).collect()
}

/// The largest |change| in each window, of each group of integrals, to three digits.
fn changes(names: &[&str], windows: &[&[Sample]]) -> Vec<Changes> {
    let largest = |entries: Range<usize>, window: &[Sample]| {
        let changes = window.iter().flat_map(|sample| &sample.change[entries.clone()]);
        changes.fold(0.0, |largest: f64, change| largest.max(change.abs()))
    };
    let of_group = |group: &Group<'_>| {
        let entries = group.first..group.first + group.entries.len();
        let changes = windows.iter().map(|window| with_digits(largest(entries.clone(), window), 3)).collect();
        Changes { name: group.name(), changes }
    };
    groups(names).iter().map(of_group).collect()
}

/// The least and the largest coordinates.
fn bounds(drawings: &[Drawing]) -> [Vec<f64>; 2] {
    let dimension = drawings.iter().flat_map(Drawing::positions).next().map_or(2, |at| at.coordinates().len());
    let mut bounds = [vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]];
    for position in drawings.iter().flat_map(Drawing::positions) {
        for (axis, &coordinate) in position.coordinates().iter().enumerate() {
            bounds[0][axis] = coordinate.min(bounds[0][axis]);
            bounds[1][axis] = coordinate.max(bounds[1][axis]);
        }
    }
    if bounds[0][0] > bounds[1][0] {
        bounds = [vec![-1.0; dimension], vec![1.0; dimension]];
    }
    bounds
}

/// The number of decimal places that can be seen along each axis, negative where tens cannot.
fn places([low, high]: &[Vec<f64>; 2], has_scales: bool) -> Vec<i32> {
    let sizes: Vec<f64> = low.iter().zip(high).map(|(low, high)| high - low).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let place = |size: f64| if size > 0.0 { -(size * RESOLUTION).log10().floor() as i32 } else { 0 };
    sizes.iter().map(|size| place(if has_scales { *size } else { largest })).collect()
}

/// Replaces shapes that are the same as in the frame before.
fn cells(drawings: &[Drawing]) -> Vec<Vec<Cell>> {
    let same =
        |index: usize, place: usize, shape: &Shape| index > 0 && drawings[index - 1].shapes.get(place) == Some(shape);
    let frame = |(index, drawing): (usize, &Drawing)| {
        let shapes = drawing.shapes.iter().enumerate();
        let cell = |(place, shape): (usize, &Shape)| {
            if same(index, place, shape) { Cell::AsBefore(0) } else { Cell::New(shape.clone()) }
        };
        shapes.map(cell).collect()
    };
    drawings.iter().enumerate().map(frame).collect()
}

impl Drawing {
    fn positions(&self) -> impl Iterator<Item = &Position> {
        self.shapes.iter().flat_map(|shape| &shape.positions)
    }

    fn with_positions(mut self, change: impl Fn(Position) -> Position) -> Self {
        for position in self.shapes.iter_mut().flat_map(|shape| &mut shape.positions) {
            *position = change(*position);
        }
        self
    }

    /// With so many decimal places along each axis.
    fn rounded(self, places: &[i32]) -> Self {
        let round = |axis: usize, coordinate: f64| rounded(coordinate, places[axis]);
        self.with_positions(|position| match position {
            Position::Plane([x, y]) => [round(0, x), round(1, y)].into(),
            Position::Space([x, y, z]) => [round(0, x), round(1, y), round(2, z)].into(),
        })
    }
}

/// A number with so many decimal places; the negative zero is zero.
fn rounded(number: f64, places: i32) -> f64 {
    let power = 10_f64.powi(places.abs());
    let rounded = if places < 0 { (number / power).round() * power } else { (number * power).round() / power };
    // What is too large or too small for this needs no rounding.
    if rounded.is_finite() { rounded + 0.0 } else { number }
}

/// A number with so many digits.
fn with_digits(number: f64, digits: i32) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    rounded(number, digits - 1 - number.abs().log10().floor() as i32)
}

/// Data as JSON in an element of a page, which nothing in it can end.
///
/// # Errors
///
/// If it cannot be written as JSON.
pub fn embedded(data: &impl Serialize) -> Result<String, String> {
    let json = serde_json::to_string(data).map_err(|error| format!("cannot write the animation: {error}"))?;
    Ok(json.replace('<', "\\u003c"))
}

/// A template with `{{name}}` replaced for each part.
pub fn filled<'a>(template: &str, parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    parts.into_iter().fold(template.to_owned(), |page, (name, part)| page.replace(&format!("{{{{{name}}}}}"), part))
}
