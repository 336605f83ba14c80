//! Figures as SVG: panels of lines, of which either axis may be logarithmic, and one legend for all.
//!
//! The only module that names kuva. Its logarithmic axis draws no ticks below 1e-10, where the changes of a good method are, so that
//! the decimal logarithm is plotted on a linear axis whose ticks are written as powers of ten. Values that are exactly zero
//! have no logarithm; what lies below 1e-17 is drawn there.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::histogram::Histogram;
use kuva::plot::line::{LinePlot, LineStyle};
use kuva::plot::scatter::ScatterPlot;
use kuva::render::figure::Figure;
use kuva::render::layout::{AxisLine, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;

use crate::bitmap::Painter;
use crate::catalogue::Sample;
use crate::names::Group;
use crate::output::{Output, WholeDraft};
use crate::scheme::{Contender, Stroke};
use crate::typography::{raised, typeset};

/// The smallest value drawn on a logarithmic axis. Rounding alone moves a quantity of order one by about this much.
const FLOOR: f64 = 1e-17;

/// The colour of lines that are not methods: outlines and slopes to compare with.
const GUIDE: &str = "#999999";

/// Maximum number of points of a curve of drift.
const WINDOWS: usize = 400;

/// The radius of a dot.
const DOT: f64 = 4.0;
/// The radius of one dot among many.
const SMALL_DOT: f64 = 1.6;
/// The margin of an axis around its values, as a fraction of their range.
const MARGIN: f64 = 0.06;
/// The range of values, as a fraction of the largest, below which ticks of three digits could not be told apart.
const NEAR: f64 = 1e-2;
/// The size of the largest number on an axis below which its ticks have powers of ten.
const SMALL: f64 = 1e-3;

/// The size of the letters of a figure's title.
const TITLE_SIZE: u32 = 17;
/// The width of a letter, as a fraction of its size.
const LETTER: f64 = 0.58;

const PANEL_WIDTH: f64 = 430.0;
const PANEL_HEIGHT: f64 = 300.0;
/// The width of a single panel.
const SINGLE_WIDTH: f64 = 600.0;
const SINGLE_HEIGHT: f64 = 400.0;
/// The side of a panel whose axes have a common scale, chosen such that its plot is about square.
const MAP_SIDE: f64 = 300.0;

/// One panel.
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the last on top.
    pub lines: Vec<Line>,
    /// Whether both axes have a common scale, as on a map.
    pub is_map: bool,
}

/// The label, the range and the scale of an axis.
#[derive(Clone)]
pub struct Axis {
    label: String,
    /// The range of what is plotted; for a logarithmic axis, of the exponents.
    range: (f64, f64),
    /// What is taken off all values, because they are so near to one another that their ticks could not be told apart.
    offset: f64,
    is_logarithmic: bool,
}

/// A line through points.
pub struct Line {
    /// The name in the legend; a line without a name is left out of it.
    name: Option<String>,
    colour: &'static str,
    stroke: Stroke,
    points: Vec<(f64, f64)>,
}

/// The trajectory of one run, of which a figure of drift shows every integral.
pub struct Curve<'a> {
    /// The method, which decides the colour and the stroke.
    pub contender: Contender,
    /// The samples of the run.
    pub trajectory: &'a [Sample],
}

/// Panels that belong together, in rows of their own.
pub(crate) struct Section {
    title: &'static str,
    charts: Vec<Chart>,
}

impl Section {
    pub(crate) fn new(title: &'static str, charts: Vec<Chart>) -> Self {
        Self { title, charts }
    }
}

/// Draws how far each integral is from its target over time: a panel for each, two in a row, with one legend next to them if
/// there is more than one curve.
pub fn drift(title: &str, time: &str, integrals: &[&str], curves: &[Curve<'_>]) -> String {
    let panels: Vec<(&str, Vec<Line>)> =
        integrals.iter().enumerate().map(|(index, name)| (*name, drift_of(index, curves))).collect();
    over_time(title, integrals.len().clamp(1, 2), time, "|change|", panels)
}

/// A panel for each group of integrals, with the largest |change| of its entries in one run.
pub(crate) fn drift_charts(time: &str, groups: &[Group<'_>], curve: &Curve<'_>) -> Vec<Chart> {
    // There are no other curves that its stroke would have to tell it from.
    let line = |group: &Group<'_>| Line {
        name: None,
        stroke: Stroke::Solid,
        ..curve.drift(group.first..group.first + group.entries.len())
    };
    let lines: Vec<Line> = groups.iter().map(line).collect();
    let end = curve.trajectory.last().map_or(0.0, |sample| sample.time);
    let y = Axis::decades("largest |change|", lines.iter().flat_map(Line::values));
    let chart = |(group, line): (&Group<'_>, Line)| {
        Chart::new(&group.name(), Axis::linear(time, (0.0, end)), y.clone(), vec![line])
    };
    groups.iter().zip(lines).map(chart).collect()
}

/// |change| of one integral over time, a line for each curve.
pub fn drift_of(integral: usize, curves: &[Curve<'_>]) -> Vec<Line> {
    curves.iter().map(|curve| curve.drift(integral..integral + 1)).collect()
}

/// Draws titled panels of lines over time in `columns` columns, all with the same decades, so that they compare by eye.
pub fn over_time(title: &str, columns: usize, time: &str, what: &str, panels: Vec<(&str, Vec<Line>)>) -> String {
    let lines = || panels.iter().flat_map(|panel| &panel.1);
    let end = lines().filter_map(|line| line.points.last()).map(|point| point.0).fold(0.0, f64::max);
    let x = Axis::linear(time, (0.0, end));
    let y = Axis::decades(what, lines().flat_map(Line::values));
    let charts = panels.into_iter().map(|(name, lines)| Chart::new(name, x.clone(), y.clone(), lines));
    draw(title, columns, &charts.collect::<Vec<_>>())
}

/// Draws charts in `columns` columns, with one legend next to them if any has more than one named line.
pub fn draw(title: &str, columns: usize, charts: &[Chart]) -> String {
    let (width, height) = match charts {
        [single] if !single.is_map => (SINGLE_WIDTH, SINGLE_HEIGHT),
        _ if charts.iter().any(|chart| chart.is_map) => (MAP_SIDE, MAP_SIDE),
        _ => (PANEL_WIDTH, PANEL_HEIGHT),
    };
    let mut figure = grid(title, charts.len().div_ceil(columns).max(1), columns)
        .with_cell_size(width, height)
        .with_plots(charts.iter().map(Chart::plots).collect())
        .with_layouts(charts.iter().map(Chart::layout).collect());
    if charts.iter().any(Chart::needs_legend) {
        figure = figure.with_shared_legend_right_top();
    }
    SvgBackend::new().render_scene(&figure.render())
}

/// Draws sections below one another, with two panels in a row. A panel with more than one named line has a legend of its own.
pub(crate) fn draw_sections(title: &str, sections: &[Section]) -> String {
    let is_single = sections.iter().map(|section| section.charts.len()).sum::<usize>() == 1;
    // A single panel is as wide as two, so that the title has room.
    let (columns, width, height) =
        if is_single { (1, 2.0 * PANEL_WIDTH, SINGLE_HEIGHT) } else { (2, PANEL_WIDTH, PANEL_HEIGHT) };
    let (mut cells, mut plots, mut layouts, mut row) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for section in sections {
        for (index, chart) in section.charts.iter().enumerate() {
            cells.push(vec![columns * (row + index / columns) + index % columns]);
            plots.push(chart.plots());
            let mut layout = chart.layout();
            layout.show_legend = chart.needs_legend();
            let section = if index == 0 { section.title } else { "" };
            let parts = [section, &chart.title].into_iter().filter(|part| !part.is_empty());
            layouts.push(layout.with_title(parts.collect::<Vec<_>>().join(": ")));
        }
        row += section.charts.len().div_ceil(columns);
    }
    // A long title is set smaller, or it would be cut off.
    let fitting = 2.0 * PANEL_WIDTH / (LETTER * title.chars().count().max(1) as f64);
    let figure = grid(title, row.max(1), columns)
        .with_title_size(TITLE_SIZE.min(fitting as u32))
        .with_cell_size(width, height)
        .with_structure(cells)
        .with_plots(plots)
        .with_layouts(layouts);
    SvgBackend::new().render_scene(&figure.render())
}

fn grid(title: &str, rows: usize, columns: usize) -> Figure {
    Figure::new(rows, columns)
        .with_title(typeset(title))
        .with_title_size(TITLE_SIZE)
        .with_spacing(18.0)
        .with_padding(14.0)
}

impl Curve<'_> {
    /// The largest |change| of integrals over time, in windows, since a quantity that oscillates about its target dives to zero
    /// twice a period.
    fn drift(&self, integrals: Range<usize>) -> Line {
        let largest = |sample: &Sample| sample.change[integrals.clone()].iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let points = self.trajectory.iter().map(|sample| (sample.time, largest(sample)));
        Line::of(self.contender, envelope(&points.collect::<Vec<_>>()))
    }
}

/// Writes a figure, as PNG if there is a painter, and does not publish it yet.
pub(crate) fn draft(svg: &str, painter: Option<&Painter>, file: &Output) -> Result<WholeDraft, Box<dyn Error>> {
    match painter {
        Some(painter) => {
            let png = painter.png(svg)?;
            file.draft(|file| file.write_all(&png))
        }
        None => file.draft(|file| file.write_all(svg.as_bytes())),
    }
}

/// The largest value in each of at most 400 windows, at the window's end.
pub fn envelope(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let window = points.len().div_ceil(WINDOWS).max(1);
    let largest = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(0.0, f64::max);
    points.chunks(window).map(|points| (points[points.len() - 1].0, largest(points))).collect()
}

impl Chart {
    /// A panel with a scale for each axis.
    pub fn new(title: &str, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self { title: typeset(title), x, y, lines, is_map: false }
    }

    /// Whether there is more than one named line.
    fn needs_legend(&self) -> bool {
        self.lines.iter().filter(|line| line.name.is_some()).count() > 1
    }

    fn plots(&self) -> Vec<Plot> {
        self.lines.iter().map(|line| line.plot(&self.x, &self.y)).collect()
    }

    fn layout(&self) -> Layout {
        let (x, y) = (&self.x, &self.y);
        let mut layout = Layout::new(x.range, y.range)
            .with_title(self.title.as_str())
            .with_title_size(14)
            .with_x_label(x.label.as_str())
            .with_y_label(y.label.as_str())
            .with_label_size(12)
            .with_tick_size(11)
            .with_body_size(12)
            .with_x_label_offset(0.0, -8.0)
            .with_theme(theme())
            .with_axis_line(AxisLine::Box)
            .with_x_axis_min(x.range.0)
            .with_x_axis_max(x.range.1)
            .with_y_axis_min(y.range.0)
            .with_y_axis_max(y.range.1);
        if let Some(format) = x.format_of_small_numbers() {
            layout = layout.with_x_tick_format(format);
        }
        if let Some(format) = y.format_of_small_numbers() {
            layout = layout.with_y_tick_format(format);
        }
        if x.is_logarithmic {
            layout = layout.with_x_tick_step(x.decades_a_tick()).with_x_tick_format(powers_of_ten());
        }
        if y.is_logarithmic {
            layout = layout.with_y_tick_step(y.decades_a_tick()).with_y_tick_format(powers_of_ten());
        }
        if self.is_map { layout.with_equal_aspect() } else { layout }
    }
}

impl Axis {
    /// A linear axis with this range.
    pub fn linear(label: &str, range: (f64, f64)) -> Self {
        Self { label: label.to_owned(), range, offset: 0.0, is_logarithmic: false }
    }

    /// A linear axis with all values and a margin.
    pub fn around(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| (ends.0.min(value), ends.1.max(value)));
        let (size, span) = (low.abs().max(high.abs()), high - low);
        let range = match span {
            span if span > 0.0 => (low - MARGIN * span, high + MARGIN * span),
            0.0 => (low - size.max(1.0), high + size.max(1.0)),
            _ => (-1.0, 1.0),
        };
        let are_near = 0.0 < span && span < NEAR * size;
        if !are_near {
            return Self::linear(label, range);
        }
        let (sign, offset) = if low < 0.0 { ('+', -low) } else { ('-', low) };
        let text = format!("{offset:.*e}", (size / span).log10().ceil() as usize);
        let near: f64 = text.parse().unwrap_or(offset);
        let near = if low < 0.0 { -near } else { near };
        let range = (range.0 - near, range.1 - near);
        Self { offset: near, ..Self::linear(&typeset(&format!("{label} {sign} {text}")), range) }
    }

    /// A logarithmic axis with the whole decades that hold all positive values.
    pub fn decades(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (mut bottom, mut top) = (f64::INFINITY, f64::NEG_INFINITY);
        for exponent in values.filter_map(exponent) {
            (bottom, top) = (bottom.min(exponent.floor()), top.max(exponent.ceil()));
        }
        let range = if bottom < top { (bottom, top) } else { (FLOOR.log10(), 0.0) };
        Self { label: label.to_owned(), range, offset: 0.0, is_logarithmic: true }
    }

    /// The position of a value on the axis; `None` if it cannot be plotted.
    fn position(&self, value: f64) -> Option<f64> {
        if self.is_logarithmic { exponent(value) } else { value.is_finite().then_some(value - self.offset) }
    }

    /// How ticks are written on a linear axis of small numbers: as multiples of a power of ten, rounded, because a tick at five of them
    /// may be a double that is a little less.
    fn format_of_small_numbers(&self) -> Option<TickFormat> {
        let largest = self.range.0.abs().max(self.range.1.abs());
        let format = move |tick: f64| match tick.abs() {
            size if size < 1e-6 * largest => "0".to_owned(),
            _ => {
                let text = format!("{tick:.2e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                typeset(&format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.')))
            }
        };
        (!self.is_logarithmic && largest < SMALL).then(|| TickFormat::Custom(Arc::new(format)))
    }

    /// Decades between ticks: at most about eight ticks.
    fn decades_a_tick(&self) -> f64 {
        ((self.range.1 - self.range.0) / 8.0).ceil().max(1.0)
    }
}

fn exponent(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.max(FLOOR).log10())
}

impl Line {
    /// The line of a method, in its colour.
    pub fn of(contender: Contender, points: Vec<(f64, f64)>) -> Self {
        let name = Some(contender.to_string());
        Self { name, colour: contender.colour(), stroke: contender.stroke(), points }
    }

    /// A line that does not belong to a contender, or has another name.
    pub fn named(name: &str, colour: &'static str, stroke: Stroke, points: Vec<(f64, f64)>) -> Self {
        Self { name: Some(name.to_owned()), colour, stroke, points }
    }

    /// A line to compare with, in grey.
    pub fn guide(name: Option<&str>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.map(str::to_owned), colour: GUIDE, stroke: Stroke::Thin, points }
    }

    /// A path on a map whose title names the method: solid, so that nothing of it is missing, and thin.
    pub fn path(contender: Contender, points: Vec<(f64, f64)>) -> Self {
        Self { name: None, colour: contender.colour(), stroke: Stroke::Thin, points }
    }

    /// A line without a name, on a chart that says what it is.
    pub(crate) fn unnamed(colour: &'static str, stroke: Stroke, points: Vec<(f64, f64)>) -> Self {
        Self { name: None, colour, stroke, points }
    }

    /// A dot, for what does not move or where something begins.
    pub fn dot(colour: &'static str, at: (f64, f64)) -> Self {
        Self { name: None, colour, stroke: Stroke::Solid, points: vec![at] }
    }

    /// The values along the horizontal axis.
    pub fn arguments(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.0)
    }

    /// The values along the vertical axis.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.1)
    }

    /// Where it begins, if it has points.
    pub(crate) fn first(&self) -> Option<(f64, f64)> {
        self.points.first().copied()
    }

    /// The line through its points. A single point has no line, and is drawn as a dot.
    fn plot(&self, x: &Axis, y: &Axis) -> Plot {
        let position = |point: &(f64, f64)| Some((x.position(point.0)?, y.position(point.1)?));
        let points: Vec<(f64, f64)> = self.points.iter().filter_map(position).collect();
        if self.stroke == Stroke::Bars {
            let (edges, mut heights): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            heights.pop();
            return Histogram::from_bins(edges, heights).with_color(self.colour).into();
        }
        if self.stroke == Stroke::Dots {
            let dots = ScatterPlot::new().with_data(points).with_color(self.colour).with_size(SMALL_DOT);
            return dots.with_marker_opacity(0.6).into();
        }
        if points.len() == 1 {
            let dot = ScatterPlot::new().with_data(points).with_color(self.colour).with_size(DOT);
            return match &self.name {
                Some(name) => dot.with_legend(typeset(name)).into(),
                None => dot.into(),
            };
        }
        let line = LinePlot::new().with_data(points).with_color(self.colour);
        let line = match self.stroke {
            Stroke::Solid | Stroke::Thin | Stroke::Dots | Stroke::Bars => line,
            Stroke::Dashed => line.with_line_style(LineStyle::Custom("5 3".to_owned())),
            Stroke::Dotted => line.with_line_style(LineStyle::Custom("1.5 2.5".to_owned())),
        };
        let line = line.with_stroke_width(if self.stroke == Stroke::Thin { 0.8 } else { 1.6 });
        match &self.name {
            Some(name) => line.with_legend(typeset(name)).into(),
            None => line.into(),
        }
    }
}

/// Black on white, with a grid that stays behind the curves.
fn theme() -> Theme {
    Theme { grid_color: "#e6e6e6".into(), legend_border: "#bbb".into(), ..Theme::light() }
}

fn powers_of_ten() -> TickFormat {
    TickFormat::Custom(Arc::new(power_of_ten))
}

fn power_of_ten(exponent: f64) -> String {
    format!("10{}", raised(&format!("{exponent:.0}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(points: Vec<(f64, f64)>) -> String {
        let line = Line::named("one of 1e3", "#0072B2", Stroke::Solid, points);
        let axis = |values: Vec<f64>| Axis::around("", values.into_iter());
        let (x, y) = (axis(line.arguments().collect()), axis(line.values().collect()));
        draw("h = 1e-3", 1, &[Chart::new("at 1e-9", x, y, vec![line])])
    }

    #[test]
    fn a_curve_of_one_point_is_a_dot() {
        assert!(svg(vec![(1.0, 2.0)]).contains("<circle"));
        assert!(!svg(vec![(1.0, 2.0), (2.0, 3.0)]).contains("<circle"));
    }

    #[test]
    fn titles_have_powers_of_ten() {
        let svg = svg(vec![(1.0, 2.0)]);
        assert!(svg.contains("h = 10⁻³") && svg.contains("at 10⁻⁹") && !svg.contains("1e-"));
    }

    #[test]
    fn an_axis_is_around_its_values_and_never_empty() {
        assert_eq!(Axis::around("", [0.5, f64::NAN, 0.5].into_iter()).range, (-0.5, 1.5));
        assert_eq!(Axis::around("", [3.0].into_iter()).range, (0.0, 6.0));
        assert_eq!(Axis::around("", [].into_iter()).range, (-1.0, 1.0));
        assert_eq!(Axis::around("", [0.0, 100.0].into_iter()).range, (-6.0, 106.0));
    }

    #[test]
    fn values_that_are_near_to_one_another_are_shown_without_what_they_have_in_common() {
        for (values, label) in [
            ([0.472_456_7, 0.472_456_9], "q - 4.7245670·10⁻¹"),
            ([-1000.001, -1000.0], "q + 1.0000010·10³"),
            ([1.0, 1.0 + f64::EPSILON], "q - 1.0000000000000000"),
        ] {
            let axis = Axis::around("q", values.into_iter());
            assert_eq!(axis.label, label);
            let [low, high] = values.map(|value| axis.position(value).unwrap());
            assert!(axis.range.0 <= low && low < high && high <= axis.range.1, "{:?}", axis.range);
            assert!(low.abs() <= high - low && high.abs() <= 2.0 * (high - low), "{low:e}, {high:e}");
        }
    }
}
