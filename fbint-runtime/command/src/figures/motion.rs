//! The figure of a run: its state over time, paths, coordinates against their momenta or rates, and the changes of the integrals; or
//! the panels that are asked for.

use fbint_runtime::nalgebra::Vector3;
use fbint_runtime::{Declared, StateRole};

use crate::figures::figure::{self, Axis, Chart, Line, MOST_PANELS};
use crate::figures::panels::Panel;
use crate::files::trajectory;
use crate::words::names::{self, Quantity, TIME, columns, declared_outputs, shape, variables};
use fbint_catalogue::scheme::Stroke;
use fbint_catalogue::{AnyModel, Sample};

/// Okabe and Ito's colours that read on white, a brown and a grey. There are as many lines in a panel, at most.
pub(crate) const COLOURS: [&str; 9] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#888888"];

/// The most panels of coordinates against their momenta or rates.
const MOST_PHASES: usize = 6;
/// The most changes of integrals with separate lines.
const MOST_CHANGES: usize = COLOURS.len() - 1;
/// A change counts as rounding up to this multiple of an integral's change by rounding of the state.
const ROUNDINGS: f64 = 100.0;

/// A run to be drawn.
pub(crate) struct DrawnRun<'a> {
    pub(crate) model: &'a dyn AnyModel,
    /// The samples of the run, with the changes of integrals that its steps have.
    pub(crate) samples: &'a [Sample],
    /// The samples through which curves of the state are smooth.
    pub(crate) smooth: &'a [Sample],
}

impl DrawnRun<'_> {
    /// Draws the panels that are asked for, or else all of the motion and the integrals.
    pub(crate) fn draw(&self, title: &str, panels: &[Panel]) -> String {
        let (mut charts, mut remarks) = (Vec::new(), Vec::new());
        if panels.is_empty() {
            let drift = self.drift(&mut remarks);
            let (paths, phases) = (self.paths(), some_of_charts(self.phases(), MOST_PHASES));
            let states = self.over_time();
            let (most, all) = (MOST_PANELS - paths.len() - phases.len() - 1, states.len());
            if all > most {
                remarks.push(format!("{most} of {all} parts of the state, --of draws others"));
            }
            charts.extend(some_of_charts(states, most).into_iter().chain(paths).chain(phases).chain(drift));
        }
        for panel in panels {
            charts.extend(match *panel {
                Panel::Drift => self.drift(&mut remarks),
                Panel::One(quantity) => Some(self.chart_of(0, quantity)),
                Panel::Pair(right, up) => Some(self.chart_of(right, up)),
            });
        }
        figure::draw_page(title, &charts, &remarks.join("; "))
    }

    /// One quantity against another; the first quantity of all is the time.
    fn chart_of(&self, right: usize, up: usize) -> Chart {
        let names = trajectory::names(self.model);
        let changes = trajectory::changes(self.model);
        let samples = if changes.contains(&right) || changes.contains(&up) { self.samples } else { self.smooth };
        let point = |sample: &Sample| {
            let values = trajectory::values(self.model, sample);
            (values[right], values[up])
        };
        let path = Line::unnamed(COLOURS[0], Stroke::Solid, samples.iter().map(point).collect());
        let y = Axis::around(&names[up], path.values());
        if right == 0 {
            return Chart::new(&names[up], self.time(), y, vec![path]);
        }
        let x = Axis::around(&names[right], path.arguments());
        let start = path.first().map(|point| Line::dot(COLOURS[0], point));
        let title = format!("{} against {}, from the dot", names[up], names[right]);
        let mut chart = Chart::new(&title, x, y, [path].into_iter().chain(start).collect());
        let quantities = [variables(self.model), declared_outputs(self.model)].concat();
        chart.is_map =
            quantities.iter().any(|own| own.entries.contains(&names[right]) && own.entries.contains(&names[up]));
        chart
    }

    fn time(&self) -> Axis {
        let end = |of: Option<&Sample>| of.map_or(0.0, |sample| sample.time);
        Axis::linear(TIME, (end(self.samples.first()), end(self.samples.last())))
    }

    /// The points of an entry of the state over time.
    fn entry(&self, index: usize) -> Vec<(f64, f64)> {
        self.smooth.iter().map(|sample| (sample.time, sample.state[index])).collect()
    }

    /// A panel for each vector, matrix or scalar of the state but the time.
    fn over_time(&self) -> Vec<Chart> {
        let roles = self.model.state_roles();
        let chart = |Quantity { name, entries, declared }: &Quantity| {
            let size = entries.len();
            let lines = some_of(size).into_iter().zip(COLOURS).map(|(entry, colour)| {
                Line::named(&entries[entry], colour, Stroke::Solid, self.entry(declared.first + entry))
            });
            let lines: Vec<Line> = lines.collect();
            let title = match size > COLOURS.len() {
                true => format!("{}, {} of {size} entries", shape(declared), COLOURS.len()),
                false => name.clone(),
            };
            let y = Axis::around(name, lines.iter().flat_map(Line::values));
            Chart::new(&title, self.time(), y, lines)
        };
        let moving =
            variables(self.model).into_iter().filter(|variable| roles[variable.declared.first] != StateRole::Time);
        moving.map(|variable| chart(&variable)).collect()
    }

    /// A panel for each plane in which something moves.
    fn paths(&self) -> Vec<Chart> {
        let movers = self.movers();
        [("y", 1), ("z", 2)].into_iter().filter_map(|(label, up)| chart_of_plane(label, up, &movers)).collect()
    }

    /// The points and traces of the model's drawings that move, each once.
    fn movers(&self) -> Vec<Mover> {
        let places = |sample: &Sample| self.model.drawing(&sample.state).places().collect::<Vec<_>>();
        let places: Vec<Vec<(&'static str, Vector3<f64>)>> = self.smooth.iter().map(places).collect();
        let kinds: Vec<&'static str> = places.first().into_iter().flatten().map(|place| place.0).collect();
        let mut movers: Vec<Mover> = Vec::new();
        for (index, kind) in kinds.into_iter().enumerate() {
            let path: Vec<Vector3<f64>> = places.iter().filter_map(|places| Some(places.get(index)?.1)).collect();
            if path.iter().any(|at| *at != path[0]) && movers.iter().all(|mover| mover.path != path) {
                movers.push(Mover { vector: self.vector_along(&path), kind, path });
            }
        }
        movers
    }

    /// The vector, or the column of a matrix, of the state that moves along a path.
    fn vector_along(&self, path: &[Vector3<f64>]) -> Option<String> {
        let is_along = |column: &[usize]| {
            [2, 3].contains(&column.len())
                && self.smooth.iter().zip(path).all(|(sample, at)| {
                    let entry = |axis: usize| column.get(axis).map_or(0.0, |&entry| sample.state[entry]);
                    Vector3::from_fn(|axis, _| entry(axis)) == *at
                })
        };
        self.model.facts().variables.iter().find_map(|variable| {
            let columns = columns(variable);
            let column = columns.iter().position(|column| is_along(column))?;
            Some(if columns.len() == 1 {
                variable.name.to_owned()
            } else {
                format!("{}, column {column}", variable.name)
            })
        })
    }

    /// A panel for each scalar coordinate, against its momentum or its rate.
    fn phases(&self) -> Vec<Chart> {
        let (names, roles) = (self.model.state_names(), self.model.state_roles());
        let phase = |&Declared { name, first: index, indices }: &Declared| {
            let values = |of: &dyn Fn(&Sample) -> f64| self.smooth.iter().map(of).collect::<Vec<f64>>();
            let (label, ups) = match roles[index] {
                _ if indices.len() > 1 => return None,
                StateRole::Coordinate { momentum } => {
                    (names[momentum].to_owned(), values(&|sample| sample.state[momentum]))
                }
                StateRole::Position => {
                    (format!("rate of {name}"), values(&|sample| self.model.rates(&sample.state)[index]))
                }
                _ => return None,
            };
            let points: Vec<_> = self.entry(index).into_iter().map(|(_, value)| value).zip(ups).collect();
            let title = format!("phase portrait of {name}");
            let x = Axis::around(name, points.iter().map(|point| point.0));
            let y = Axis::around(&label, points.iter().map(|point| point.1));
            let dot = points.first().map(|point| Line::dot(COLOURS[0], *point));
            let path = Line::unnamed(COLOURS[0], Stroke::Solid, points);
            Some(Chart::new(&title, x, y, [path].into_iter().chain(dot).collect()))
        };
        self.model.facts().variables.iter().filter_map(phase).collect()
    }

    /// The change of each integral or family of them, the largest first; `None` without integrals. Integrals that change by rounding share
    /// one line, and a remark names them.
    fn drift(&self, remarks: &mut Vec<String>) -> Option<Chart> {
        let changes = self.changes();
        let all: Vec<(f64, f64)> = changes.first()?.points.iter().map(|point| (point.0, 0.0)).collect();
        let (zero, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.most == 0.0);
        let (rounding, mut moved): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(|change| change.most <= change.rounding);
        moved.sort_by(|a, b| b.most.total_cmp(&a.most));
        let named = |changes: &[ChangeCurve]| changes.iter().map(|change| &*change.name).collect::<Vec<_>>().join(", ");
        if moved.len() > MOST_CHANGES {
            remarks.push(format!("smaller changes: {}", named(&moved.split_off(MOST_CHANGES))));
        }
        let line = |(change, colour): (&ChangeCurve, _)| {
            Line::named(&change.name, colour, Stroke::Solid, figure::envelope(&change.points))
        };
        let mut lines: Vec<Line> = moved.iter().zip(COLOURS).map(line).collect();
        if !rounding.is_empty() {
            let level = rounding.iter().fold(all.clone(), |level, change| {
                level.iter().zip(&change.points).map(|(a, b)| (a.0, a.1.max(b.1))).collect()
            });
            let most = rounding.iter().map(|change| change.most).fold(0.0, f64::max);
            remarks.push(format!("at rounding, up to {most:.0e}: {}", named(&rounding)));
            lines.push(Line::guide(Some("at rounding"), figure::envelope(&level)));
        }
        if !zero.is_empty() {
            remarks.push(format!("0 throughout: {}", named(&zero)));
        }
        let title = match &*moved {
            [only] if lines.len() == 1 => format!("change of {}", only.name),
            _ => "changes of the integrals".to_owned(),
        };
        let y = match lines.is_empty() {
            true => Axis::linear(CHANGE, (-1.0, 1.0)),
            false => Axis::decades(CHANGE, lines.iter().flat_map(Line::values)),
        };
        if lines.is_empty() {
            lines.push(Line::unnamed(COLOURS[0], Stroke::Solid, all));
        }
        Some(Chart::new(&title, self.time(), y, lines))
    }

    /// The largest |change| over time of each integral or family of them.
    fn changes(&self) -> Vec<ChangeCurve> {
        let roundings = roundings(self.model, self.samples);
        let change = |declared: &Declared| {
            let largest = |values: &[f64]| {
                let entries = values[declared.entries()].iter();
                entries.fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b.abs()) })
            };
            let points: Vec<_> = self.samples.iter().map(|sample| (sample.time, largest(&sample.change))).collect();
            let most = points.iter().map(|point| point.1).fold(0.0, f64::max);
            ChangeCurve { name: names::name(declared), points, most, rounding: largest(&roundings) }
        };
        self.model.facts().declared_integrals.iter().map(change).collect()
    }
}

/// The change up to which each integral is at rounding, along these samples.
pub(crate) fn roundings(model: &dyn AnyModel, samples: &[Sample]) -> Vec<f64> {
    let most = |most: Vec<f64>, sample: &Sample| {
        most.iter().zip(model.roundings(&sample.state)).map(|(a, b)| a.max(ROUNDINGS * b)).collect()
    };
    samples.iter().fold(vec![0.0; model.integral_names().len()], most)
}

const CHANGE: &str = "largest |change|";

/// Positions among `size` entries, evenly spread, at most as many as there are colours.
pub(crate) fn some_of(size: usize) -> Vec<usize> {
    evenly(size, COLOURS.len())
}

/// Positions among `size`, evenly spread, at most `most`.
fn evenly(size: usize, most: usize) -> Vec<usize> {
    let count = size.min(most);
    (0..count).map(|index| index * (size - 1) / (count - 1).max(1)).collect()
}

pub(crate) fn some_of_charts(charts: Vec<Chart>, most: usize) -> Vec<Chart> {
    let shown = evenly(charts.len(), most);
    charts.into_iter().enumerate().filter(|(index, _)| shown.contains(index)).map(|(_, chart)| chart).collect()
}

/// The changes of an integral, or of a family of them.
struct ChangeCurve {
    name: String,
    /// The largest |change| over time, infinite where it is not a number.
    points: Vec<(f64, f64)>,
    most: f64,
    /// The size up to which it is rounding.
    rounding: f64,
}

/// The points that leave a path.
struct Mover {
    /// The vector of the state that it is, if it is one.
    vector: Option<String>,
    /// Its mark in the drawing.
    kind: &'static str,
    path: Vec<Vector3<f64>>,
}

/// The paths in the plane of the first axis and another one, each from a dot; `None` if nothing moves along that.
fn chart_of_plane(label: &str, up: usize, movers: &[Mover]) -> Option<Chart> {
    let mut lines = Vec::new();
    for (index, colour) in some_of(movers.len()).into_iter().zip(COLOURS) {
        let Mover { vector, kind, path } = &movers[index];
        let points: Vec<_> = path.iter().map(|at| (at.x, at[up])).collect();
        lines.push(Line::dot(colour, points[0]));
        let name = vector.clone().unwrap_or_else(|| format!("{kind} {}", index + 1));
        lines.push(Line::named(&name, colour, Stroke::Thin, points));
    }
    let x = Axis::around("x", lines.iter().flat_map(Line::arguments));
    let y = Axis::around(label, lines.iter().flat_map(Line::values));
    let moves = movers.iter().any(|mover| mover.path.iter().any(|at| at[up] != mover.path[0][up]));
    let title = match movers {
        [Mover { vector: Some(vector), .. }] => format!("path of {vector}, from the dot"),
        [_] => "path, from the dot".to_owned(),
        _ => "paths, from the dots".to_owned(),
    };
    let mut chart = Chart::new(&title, x, y, lines);
    chart.is_map = true;
    moves.then_some(chart)
}

#[cfg(test)]
mod tests {
    use fbint_runtime::Error;

    use super::*;
    use crate::{Drawing, Model, feedback_system};
    use fbint_catalogue::Entry;

    #[test]
    fn lines_are_spread_over_many_entries() {
        assert_eq!(some_of(0), Vec::<usize>::new());
        assert_eq!(some_of(1), [0]);
        assert_eq!(some_of(3), [0, 1, 2]);
        assert_eq!(some_of(96), [0, 11, 23, 35, 47, 59, 71, 83, 95]);
    }

    /// Two pendulums, coupled by a spring.
    #[feedback_system(
        crate = fbint_runtime,
        coordinates(theta: [2]),
        momenta(p: [2]),
        hamiltonian = p.norm_squared() / 2 - theta[0].cos() - theta[1].cos() + (theta[0] - theta[1]).powi(2) / 2,
    )]
    #[derive(Default)]
    struct Coupled {}

    impl Model for Coupled {
        fn start(&self) -> Result<CoupledState, Error> {
            Ok(CoupledState { theta: [1.0, 0.5].into(), p: [0.0, 0.0].into() })
        }

        fn drawing(&self, state: &CoupledState) -> Drawing {
            let [left, right] = [0, 1].map(|rod| [rod as f64 + state.theta[rod].sin(), -state.theta[rod].cos()]);
            Drawing::new().point(left).point(right).trace(left).trace(right)
        }
    }

    #[test]
    fn angles_are_not_places() {
        let model = (Entry::of::<Coupled>().load)();
        let sample = |angle: f64| Sample { time: angle, state: vec![angle, 2.0 * angle, 0.0, 0.0], change: vec![0.0] };
        let samples = [sample(0.0), sample(0.1), sample(0.2)];
        let run = DrawnRun { model: &*model, samples: &samples, smooth: &samples };
        let movers: Vec<_> = run.movers().into_iter().map(|mover| (mover.vector, mover.kind)).collect();
        assert_eq!(movers, [(None, "point"), (None, "point")]);
        assert_eq!((run.paths().len(), run.phases().len()), (1, 0));
        assert!(run.draw("still", &[]).contains(">0 throughout<"));
    }
}
