//! The data embedded in a page.

use std::ops::Range;

use fbint_runtime::Declared;
use serde::Serialize;

use super::{Animation, Camera, Drawing, Position};
use crate::figures::motion::roundings;
use crate::files::trajectory::few_digits;
use crate::words::names;
use fbint_catalogue::{AnyModel, DrawnShape, Sample};

/// The least distance that can be seen, as a fraction of the size of a scene.
const RESOLUTION: f64 = 2e-5;

/// The contents of a page: drawings over time, and the changes of integrals.
#[derive(Serialize)]
pub(crate) struct Film<'a> {
    name: &'a str,
    summary: &'static str,
    method: &'a str,
    parameters: Vec<(&'static str, f64)>,
    /// The labels of the axes, if they have no common scale.
    axes: Option<[&'static str; 2]>,
    /// The middle of the picture at each time, unless it is the middle of everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    centres: Option<Vec<Vec<f64>>>,
    /// The distance from the middle to the sides at each time, unless the picture has everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<Vec<f64>>,
    /// The direction from which it is seen at first.
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<[f64; 3]>,
    /// The least coordinates of anything at any time, and the largest.
    bounds: [Vec<f64>; 2],
    times: Vec<f64>,
    /// The shapes at each time, or 0 for a shape that was the same in the frame before.
    frames: Vec<Vec<FrameShape>>,
    /// The number of samples of the run.
    samples: usize,
    /// The times of the samples that were chosen.
    sampled: Vec<f64>,
    integrals: Vec<Changes>,
}

/// A shape in a frame.
#[derive(Serialize)]
#[serde(untagged)]
enum FrameShape {
    AsBefore(u8),
    New(DrawnShape),
}

/// The largest |F - F_target| of a group of integrals since the sample before.
#[derive(Serialize)]
struct Changes {
    name: String,
    changes: Vec<f64>,
    /// `true` if they are no larger than by rounding of the state.
    rounding: bool,
}

impl<'a> Film<'a> {
    /// A limited number of samples, chosen evenly, and moments between them where they are far apart.
    pub(super) fn of(run: &Animation<'a>, most: usize) -> Result<Self, String> {
        let windows = windows(run.samples, most);
        // Times as tables have them, from which a page may be drawn as well.
        let as_in_tables = |sample: &Sample| Sample { time: few_digits(sample.time), ..sample.clone() };
        let chosen: Vec<Sample> = windows.iter().filter_map(|window| window.last().map(as_in_tables)).collect();
        let (times, drawings) = drawings(run, &filled_in(run.model, &chosen, most))?;
        let axes = drawings.first().and_then(|drawing| drawing.axes);
        let bounds = bounds(&drawings);
        let ranges: Option<Vec<f64>> = drawings.iter().map(|drawing| drawing.camera.range).collect();
        let places = places(&bounds, axes.is_some(), ranges.as_deref());
        let drawings: Vec<Drawing> = drawings.into_iter().map(|drawing| rounded_drawing(drawing, &places)).collect();
        let centre = |drawing: &Drawing| drawing.camera.centre.map(|at| at.coordinates().to_vec());
        Ok(Self {
            name: run.name,
            summary: run.model.facts().summary,
            method: run.method,
            parameters: run.model.parameters(),
            axes,
            times,
            centres: drawings.iter().map(centre).collect(),
            ranges,
            view: drawings.first().and_then(|drawing| drawing.camera.view),
            frames: frame_shapes(&drawings),
            bounds,
            samples: run.samples.len(),
            sampled: chosen.iter().map(|sample| sample.time).collect(),
            integrals: changes(run.model.facts().declared_integrals, &windows, &roundings(run.model, run.samples)),
        })
    }
}

/// The drawings at these moments, all in the plane or all in space.
fn drawings(run: &Animation<'_>, moments: &[(f64, Vec<f64>)]) -> Result<(Vec<f64>, Vec<Drawing>), String> {
    let drawings: Vec<Drawing> = moments.iter().map(|(_, state)| run.model.drawing(state)).collect();
    let times: Vec<f64> = moments.iter().map(|(time, _)| *time).collect();
    let is_finite = |drawing: &Drawing| {
        let Camera { centre, range, view } = drawing.camera;
        let positions = drawing.positions().chain(&centre).flat_map(Position::coordinates);
        positions.chain(&range).chain(view.iter().flatten()).all(|at| at.is_finite())
    };
    if let Some(bad) = drawings.iter().position(|drawing| !is_finite(drawing)) {
        let (name, time) = (run.name, times[bad]);
        return Err(format!(
            "the drawing of `{name}` has a coordinate that is not finite at t = {time:?}: correct its `Model::drawing`, or do \
             without an animation"
        ));
    }
    let positions =
        |drawing: &'_ Drawing| drawing.positions().chain(&drawing.camera.centre).copied().collect::<Vec<_>>();
    let is_spatial = drawings.iter().flat_map(positions).any(|at| matches!(at, Position::Space(_)));
    let in_space = |drawing: Drawing| drawing.with_positions(|position| position.in_space().into());
    Ok((times, if is_spatial { drawings.into_iter().map(in_space).collect() } else { drawings }))
}

/// A limited number of windows of samples: the start, and groups whose last sample is chosen.
fn windows(samples: &[Sample], most: usize) -> Vec<&[Sample]> {
    let (first, rest) = samples.split_at(samples.len().min(1));
    let stride = rest.len().div_ceil(most.saturating_sub(1).max(1)).max(1);
    first.chunks(1).chain(rest.chunks(stride)).collect()
}

/// Times and states: the samples, and moments between those that are more than a fraction of the run apart. There, the state
/// follows the cubic polynomial that has the states and the rates at both ends (Hermite).
fn filled_in(model: &dyn AnyModel, samples: &[Sample], most: usize) -> Vec<(f64, Vec<f64>)> {
    let Some((first, last)) = samples.first().zip(samples.last()) else { return Vec::new() };
    let step = (last.time - first.time) * 2.0 / most as f64;
    let mut moments = vec![(first.time, first.state.clone())];
    for pair in samples.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
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
fn changes(integrals: &[Declared], windows: &[&[Sample]], roundings: &[f64]) -> Vec<Changes> {
    let largest = |entries: Range<usize>, window: &[Sample]| {
        let changes = window.iter().flat_map(|sample| &sample.change[entries.clone()]);
        changes.fold(0.0, |largest: f64, change| largest.max(change.abs()))
    };
    let of_declared = |declared: &Declared| {
        let entries = declared.entries();
        let rounding = roundings[entries.clone()].iter().copied().fold(0.0, f64::max);
        let all: Vec<f64> = windows.iter().map(|window| largest(entries.clone(), window)).collect();
        Changes {
            name: names::name(declared),
            rounding: all.iter().all(|change| *change <= rounding),
            changes: all.into_iter().map(|change| with_digits(change, 3)).collect(),
        }
    };
    integrals.iter().map(of_declared).collect()
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

/// The number of decimal places that can be seen along each axis, negative where tens cannot. A picture that goes no farther than a range
/// shows more.
fn places([low, high]: &[Vec<f64>; 2], has_scales: bool, ranges: Option<&[f64]>) -> Vec<i32> {
    let seen = ranges.into_iter().flatten().map(|range| 2.0 * range).fold(f64::INFINITY, f64::min);
    let sizes: Vec<f64> = low.iter().zip(high).map(|(low, high)| (high - low).min(seen)).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let place = |size: f64| if size > 0.0 { -(size * RESOLUTION).log10().floor() as i32 } else { 0 };
    sizes.iter().map(|size| place(if has_scales { *size } else { largest })).collect()
}

/// Replaces shapes that are the same as in the frame before.
fn frame_shapes(drawings: &[Drawing]) -> Vec<Vec<FrameShape>> {
    let same = |index: usize, place: usize, shape: &DrawnShape| {
        index > 0 && drawings[index - 1].shapes.get(place) == Some(shape)
    };
    let frame = |(index, drawing): (usize, &Drawing)| {
        let shapes = drawing.shapes.iter().enumerate();
        let frame_shape = |(place, shape): (usize, &DrawnShape)| {
            if same(index, place, shape) { FrameShape::AsBefore(0) } else { FrameShape::New(shape.clone()) }
        };
        shapes.map(frame_shape).collect()
    };
    drawings.iter().enumerate().map(frame).collect()
}

/// A drawing rounded to the given decimal places along each axis.
fn rounded_drawing(drawing: Drawing, places: &[i32]) -> Drawing {
    let round = |axis: usize, coordinate: f64| rounded(coordinate, places[axis]);
    drawing.with_positions(|position| match position {
        Position::Plane([x, y]) => [round(0, x), round(1, y)].into(),
        Position::Space([x, y, z]) => [round(0, x), round(1, y), round(2, z)].into(),
    })
}

/// A number rounded to the given decimal places; the negative zero is zero.
fn rounded(number: f64, places: i32) -> f64 {
    let power = 10_f64.powi(places.abs());
    let rounded = if places < 0 { (number / power).round() * power } else { (number * power).round() / power };
    // What is too large or too small for this needs no rounding.
    if rounded.is_finite() { rounded + 0.0 } else { number }
}

/// A number rounded to the given digits.
fn with_digits(number: f64, digits: i32) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    rounded(number, digits - 1 - number.abs().log10().floor() as i32)
}

#[cfg(test)]
mod tests {
    use fbint_runtime::nalgebra::Matrix2;
    use fbint_runtime::{Error, GeneratedSystem, Method, Settings};

    use super::*;
    use crate::figures::animation::SAMPLES;
    use crate::{Model, feedback_system};
    use fbint_catalogue::{Entry, Feedback, Plan};

    /// A mass on a spring.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(q),
        momenta(p),
        hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
    )]
    struct Oscillator {
        m: f64,
        k: f64,
    }

    impl Default for Oscillator {
        fn default() -> Self {
            Self { m: 1.0, k: 1.0 }
        }
    }

    impl Model for Oscillator {
        fn start(&self) -> Result<OscillatorState, Error> {
            Ok(OscillatorState { q: 1.0, p: 0.0 })
        }
    }

    /// Two planets </script> that attract one another.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(x: [2, 2]),
        momenta(p: [2, 2]),
        hamiltonian = p.norm_squared() / 2 - 1 / (x.column(0) - x.column(1)).norm(),
    )]
    #[derive(Default)]
    struct Planets {}

    impl Model for Planets {
        fn start(&self) -> Result<PlanetsState, Error> {
            let x = Matrix2::new(0.5, -0.5, 0.0, 0.0);
            Ok(PlanetsState { x, p: Matrix2::new(0.0, 0.0, 0.6, -0.6) })
        }
    }

    /// A point that is drawn above a line by a square root.
    #[feedback_system(crate = fbint_runtime, coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2)]
    #[derive(Default)]
    struct Lost {}

    impl Model for Lost {
        fn start(&self) -> Result<LostState, Error> {
            Ok(LostState { q: 1.0, p: -1.0 })
        }

        fn drawing(&self, state: &LostState) -> Drawing {
            Drawing::new().point([state.q, state.q.sqrt()])
        }
    }

    fn animated<S: Model + GeneratedSystem + Default, T>(
        method: Method,
        until: f64,
        look: impl FnOnce(&Animation<'_>) -> T,
    ) -> T {
        let entry = Entry::of::<S>();
        let model = (entry.load)();
        let start = model.start().expect("a start");
        let plan = Plan::new(Settings::new(method, until), Feedback::None);
        let run = model.run(&start, &plan, None, &mut |_| std::ops::ControlFlow::Continue(())).expect("a run");
        look(&Animation { name: &entry.name, method: "a method", model: &*model, samples: &run.trajectory })
    }

    const STEPS: Method = Method::Rk4 { h: 1e-2 };

    /// Between few samples the oscillator is where it has to be, drawn as its phase.
    #[test]
    fn a_model_without_vectors_is_drawn_as_its_phase() {
        let film = animated::<Oscillator, _>(Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) }, 20.0, |run| {
            assert!(run.samples.len() < 100);
            serde_json::to_value(run.film(SAMPLES).expect("a film")).expect("JSON")
        });
        assert_eq!(film["axes"], serde_json::json!(["q", "p"]));
        let (times, frames) = (film["times"].as_array().expect("times"), film["frames"].as_array().expect("frames"));
        assert!(times.len() == frames.len() && times.len() > 1000);
        for (time, frame) in times.iter().zip(frames) {
            let time = time.as_f64().expect("a number");
            let [q, p] = [1, 2].map(|entry| frame[0][entry].as_f64().expect("a number"));
            assert!((q - time.cos()).abs() < 1e-3 && (p + time.sin()).abs() < 1e-3, "{q} {p} at t = {time}");
        }
    }

    /// Vectors are points; nothing that a model says ends the script.
    #[test]
    fn columns_are_points_and_words_are_safe() {
        animated::<Planets, _>(STEPS, 1.0, |run| {
            let film = serde_json::to_value(run.film(SAMPLES).expect("a film")).expect("JSON");
            let kinds: Vec<_> = film["frames"][0].as_array().expect("shapes").iter().map(|shape| &shape[0]).collect();
            assert_eq!(kinds, ["point", "trace", "point", "trace"]);
            let page = run.page().expect("a page");
            assert_eq!((page.matches("</script>").count(), page.matches("{{").count()), (2, 0));
        });
    }

    #[test]
    fn a_drawing_that_is_not_finite_is_refused_with_its_time() {
        let error = animated::<Lost, _>(STEPS, 2.0, |run| run.page()).expect_err("the root of a negative number");
        assert!(error.starts_with("the drawing of `lost` has a coordinate that is not finite at t = 1.0"), "{error}");
    }

    #[test]
    fn samples_are_chosen_evenly_with_both_ends() {
        animated::<Oscillator, _>(STEPS, 10.0, |run| {
            let film = run.film(101).expect("a film");
            assert_eq!((film.samples, film.sampled.len()), (1001, 101));
            let ends = (film.sampled[0], film.sampled[100]);
            assert!(ends == (0.0, 10.0) && film.sampled.windows(2).all(|pair| (pair[1] - pair[0] - 0.1).abs() < 1e-9));
            // The largest change since the sample before, which need not be at a sample that was chosen.
            let largest = run.samples.iter().map(|sample| sample.change[0].abs()).fold(0.0, f64::max);
            let shown = film.integrals[0].changes.iter().copied().fold(0.0, f64::max);
            assert!((shown / largest - 1.0).abs() < 1e-2);
        });
    }

    #[test]
    fn numbers_have_as_many_digits_as_can_be_seen() {
        assert_eq!(rounded(0.123_456, 3), 0.123);
        assert_eq!(rounded(123_456.0, -3), 123_000.0);
        assert_eq!(rounded(-0.000_1, 3).to_bits(), 0.0_f64.to_bits());
        assert_eq!(with_digits(1.234_567e-13, 3), 1.23e-13);
        assert_eq!(places(&[vec![0.0, -1.0], vec![2.0, 1.0]], false, None), [5, 5]);
        assert_eq!(places(&[vec![0.0, -1e-3], vec![1e9, 1e-3]], true, None), [-4, 8]);
    }
}
