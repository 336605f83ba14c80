//! The figure of a run: the motion first, as entries over time and as paths, then the changes of the integrals; or the panels that
//! are asked for.

use fbint_runtime::StateRole;

use crate::catalogue::{AnyModel, Sample};
use crate::figure::{self, Axis, Chart, Curve, Line, Section};
use crate::names::{Group, base, groups, quantities_of_state};
use crate::panels::Panel;
use crate::scheme::Stroke;
use crate::trajectory;

/// Okabe and Ito's colours that read on white, a brown and a grey. There are as many lines in a panel, at most.
pub(crate) const COLOURS: [&str; 9] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C510A", "#888888"];
pub(crate) const TIME: &str = "time t, in the units of the parameters";

/// Draws a run of `model`: the panels that are asked for, or else all of the motion and the integrals.
pub(crate) fn draw(title: &str, model: &dyn AnyModel, curve: &Curve<'_>, panels: &[Panel]) -> String {
    if !panels.is_empty() {
        let charts = panels.iter().flat_map(|panel| charts_of(*panel, model, curve));
        return figure::draw_sections(title, &[Section::new("", charts.collect())]);
    }
    let (states, integrals) = (quantities_of_state(model), model.integral_names());
    let states: Vec<&str> = states.iter().map(String::as_str).collect();
    let groups_of_state = groups(&states);
    let sections = [
        Section::new("The state over time", over_time(&groups_of_state, curve.trajectory)),
        Section::new("Paths, from the dot", paths(&moving(groups_of_state, model), &states, curve.trajectory)),
        Section::new("What happened to the integrals", figure::drift_charts(TIME, &groups(&integrals), curve)),
    ];
    figure::draw_sections(title, &sections)
}

/// What a panel shows that is asked for; the drift has a chart for each integral or family of them.
fn charts_of(panel: Panel, model: &dyn AnyModel, curve: &Curve<'_>) -> Vec<Chart> {
    let names = trajectory::names(model);
    let (right, up) = match panel {
        Panel::Drift => return figure::drift_charts(TIME, &groups(&model.integral_names()), curve),
        Panel::One(quantity) => (0, quantity),
        Panel::Pair(right, up) => (right, up),
    };
    let point = |sample: &Sample| {
        let values = trajectory::values(model, sample);
        (values[right], values[up])
    };
    let path = Line::unnamed(COLOURS[0], Stroke::Solid, curve.trajectory.iter().map(point).collect());
    let label = |quantity: usize| if quantity == 0 { TIME } else { &names[quantity] };
    let x = Axis::around(label(right), path.arguments());
    let y = Axis::around(label(up), path.values());
    if right == 0 {
        let end = curve.trajectory.last().map_or(0.0, |sample| sample.time);
        return vec![Chart::new(&names[up], Axis::linear(TIME, (0.0, end)), y, vec![path])];
    }
    let start = path.first().map(|point| Line::dot(COLOURS[0], point));
    let title = format!("{} against {}, from the dot", names[up], names[right]);
    let mut chart = Chart::new(&title, x, y, [path].into_iter().chain(start).collect());
    chart.is_map = base(&names[right]) == base(&names[up]);
    vec![chart]
}

/// A panel for each vector, matrix or scalar of the state.
fn over_time(groups: &[Group<'_>], samples: &[Sample]) -> Vec<Chart> {
    let end = samples.last().map_or(0.0, |sample| sample.time);
    let chart = |group: &Group<'_>| {
        let size = group.entries.len();
        let lines = some_of(size).into_iter().zip(COLOURS).map(|(entry, colour)| {
            let points = samples.iter().map(|sample| (sample.time, sample.state[group.first + entry]));
            Line::named(group.entries[entry], colour, Stroke::Solid, points.collect())
        });
        let lines: Vec<Line> = lines.collect();
        let title = match size > COLOURS.len() {
            true => format!("{}, {} of {size} entries", group.shape(), COLOURS.len()),
            false => group.base.to_owned(),
        };
        let y = Axis::around(group.base, lines.iter().flat_map(Line::values));
        Chart::new(&title, Axis::linear(TIME, (0.0, end)), y, lines)
    };
    groups.iter().map(chart).collect()
}

/// Positions among `size` entries, evenly spread, at most as many as there are colours.
pub(crate) fn some_of(size: usize) -> Vec<usize> {
    let count = size.min(COLOURS.len());
    (0..count).map(|index| index * (size - 1) / (count - 1).max(1)).collect()
}

/// A point that leaves a path: its name, and the positions of its coordinates in the state.
type Mover = (String, Vec<usize>);

/// The groups of the state without the time and the work, which say nothing about where anything is.
fn moving<'a>(groups: Vec<Group<'a>>, model: &dyn AnyModel) -> Vec<Group<'a>> {
    let roles = model.state_roles();
    let moves = |group: &Group<'_>| !matches!(roles[group.first], StateRole::Time | StateRole::Work);
    groups.into_iter().filter(moves).collect()
}

/// A panel for each plane in which something moves.
fn paths(groups: &[Group<'_>], names: &[&str], samples: &[Sample]) -> Vec<Chart> {
    let movers = match halves(groups) {
        Some((positions, momenta)) => vec![positions.iter().flat_map(movers).collect(), phases(positions, momenta)],
        None => groups.iter().map(movers).collect(),
    };
    let planes = movers.iter().flat_map(|movers: &Vec<Mover>| {
        [(0, 1), (0, 2)].map(|plane| {
            let within = movers.iter().filter(|(_, entries)| entries.len() > plane.1).cloned();
            (plane, within.collect::<Vec<Mover>>())
        })
    });
    planes.filter_map(|(plane, movers)| chart_of_plane(plane, &movers, names, samples)).collect()
}

/// Positions and momenta or velocities: a state whose second half has the shapes of the first.
fn halves<'g, 'a>(groups: &'g [Group<'a>]) -> Option<(&'g [Group<'a>], &'g [Group<'a>])> {
    let (first, second) = groups.split_at(groups.len() / 2);
    let sizes = |half: &[Group<'_>]| half.iter().map(|group| group.indices.clone()).collect::<Vec<_>>();
    (sizes(first) == sizes(second)).then_some((first, second))
}

/// A vector moves, and so does each column of a matrix.
fn movers(group: &Group<'_>) -> Vec<Mover> {
    let columns = group.columns();
    let is_single = columns.len() == 1;
    let name =
        |column: usize| if is_single { group.base.to_owned() } else { format!("{}, column {column}", group.base) };
    let movers = columns.into_iter().enumerate().filter(|(_, entries)| [2, 3].contains(&entries.len()));
    movers.map(|(column, entries)| (name(column), entries)).collect()
}

/// Scalar coordinates move in the plane of coordinate and momentum.
fn phases(positions: &[Group<'_>], momenta: &[Group<'_>]) -> Vec<Mover> {
    let pairs = positions.iter().zip(momenta).filter(|(position, _)| position.entries.len() == 1);
    pairs.map(|(position, momentum)| (position.base.to_owned(), vec![position.first, momentum.first])).collect()
}

/// The paths in one plane, each from a dot; `None` if nothing moves along the second axis.
fn chart_of_plane((right, up): (usize, usize), movers: &[Mover], names: &[&str], samples: &[Sample]) -> Option<Chart> {
    let shown = some_of(movers.len()).into_iter().map(|index| &movers[index]);
    let mut lines = Vec::new();
    for ((name, entries), colour) in shown.zip(COLOURS) {
        let points: Vec<_> =
            samples.iter().map(|sample| (sample.state[entries[right]], sample.state[entries[up]])).collect();
        lines.push(Line::dot(colour, points[0]));
        lines.push(Line::named(name, colour, Stroke::Thin, points));
    }
    let [x, y] = [right, up].map(|axis| label(axis, movers, names));
    let x = Axis::around(&x, lines.iter().flat_map(Line::arguments));
    let y = Axis::around(&y, lines.iter().flat_map(Line::values));
    let moves = lines.iter().any(|line| line.values().any(|value| Some(value) != line.values().next()));
    let mut chart = Chart::new("", x, y, lines);
    chart.is_map = true;
    moves.then_some(chart)
}

/// The label of an axis: the name of the entry if there is only one path, its number otherwise.
fn label(axis: usize, movers: &[Mover], names: &[&str]) -> String {
    match movers {
        [(_, entries)] => names[entries[axis]].to_owned(),
        _ => format!("entry {axis} of each"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_spread_over_many_entries() {
        assert_eq!(some_of(0), Vec::<usize>::new());
        assert_eq!(some_of(1), [0]);
        assert_eq!(some_of(3), [0, 1, 2]);
        assert_eq!(some_of(96), [0, 11, 23, 35, 47, 59, 71, 83, 95]);
    }

    #[test]
    fn positions_are_told_from_momenta_by_their_shapes() {
        assert!(halves(&groups(&["a[0]", "a[1]", "s", "pa[0]", "pa[1]", "ps"])).is_some());
        assert!(halves(&groups(&["r[0]", "r[1]", "omega"])).is_none());
    }
}
