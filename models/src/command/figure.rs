//! Figures as SVG: panels of lines, of which either axis may be logarithmic, and one legend for all.
//!
//! The only module that names kuva. Its logarithmic axis draws no tick below 1e-10, where a good method lives, so the
//! decimal logarithm is plotted on a linear axis whose ticks are written as powers of ten. Values that are exactly zero
//! have no logarithm; what lies below [`FLOOR`] is drawn at it.

use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::line::{LinePlot, LineStyle};
use kuva::render::figure::Figure;
use kuva::render::layout::{AxisLine, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;
use models::catalogue::Sample;

use super::scheme::{Contender, Stroke};

/// The smallest value drawn on a logarithmic axis. Rounding alone moves a quantity of order one by about this much.
const FLOOR: f64 = 1e-17;

/// Of what is no method: outlines and slopes to compare with.
const GUIDE: &str = "#999999";

/// Points of a curve of drift, at most.
const WINDOWS: usize = 400;

const PANEL_WIDTH: f64 = 430.0;
const PANEL_HEIGHT: f64 = 300.0;
/// Of a panel that is alone.
const SINGLE_WIDTH: f64 = 600.0;
const SINGLE_HEIGHT: f64 = 400.0;
/// The side of a panel whose axes have one scale, such that its plot is about square.
const MAP_SIDE: f64 = 300.0;

/// One panel.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
    /// Whether both axes have one scale, as on a map.
    pub(crate) is_map: bool,
}

/// What an axis shows.
#[derive(Clone)]
pub(crate) struct Axis {
    label: String,
    /// In what is plotted: of a logarithmic axis, the exponents.
    range: (f64, f64),
    is_logarithmic: bool,
}

/// A line through points.
pub(crate) struct Line {
    /// What the legend says; `None` stays out of it.
    name: Option<String>,
    colour: &'static str,
    stroke: Stroke,
    points: Vec<(f64, f64)>,
}

/// The trajectory of one run, of which a figure of drift shows every integral.
pub(crate) struct Curve<'a> {
    pub(crate) contender: Contender,
    pub(crate) trajectory: &'a [Sample],
}

/// Draws how far each integral has strayed from its target over time: a panel for each, two a row, with one legend beside
/// them if there is more than one curve.
pub(crate) fn drift(title: &str, integrals: &[&str], curves: &[Curve<'_>]) -> String {
    let panels: Vec<(&str, Vec<Line>)> =
        integrals.iter().enumerate().map(|(index, name)| (*name, drift_of(index, curves))).collect();
    over_time(title, integrals.len().clamp(1, 2), "|change|", panels)
}

/// |change| of one integral over time, a line for each curve.
pub(crate) fn drift_of(integral: usize, curves: &[Curve<'_>]) -> Vec<Line> {
    curves.iter().map(|curve| curve.drift(integral)).collect()
}

/// Draws titled panels of lines over time, so many a row, all with the same decades, so that they compare by eye.
pub(crate) fn over_time(title: &str, columns: usize, what: &str, panels: Vec<(&str, Vec<Line>)>) -> String {
    let lines = || panels.iter().flat_map(|panel| &panel.1);
    let end = lines().filter_map(|line| line.points.last()).map(|point| point.0).fold(0.0, f64::max);
    let x = Axis::linear("time t", (0.0, end));
    let y = Axis::decades(what, lines().flat_map(Line::values));
    let charts = panels.into_iter().map(|(name, lines)| Chart::new(name, x.clone(), y.clone(), lines));
    draw(title, columns, &charts.collect::<Vec<_>>())
}

/// Draws charts, so many a row, with one legend beside them if any has more than one line that has a name.
pub(crate) fn draw(title: &str, columns: usize, charts: &[Chart]) -> String {
    let (width, height) = match charts {
        [single] if !single.is_map => (SINGLE_WIDTH, SINGLE_HEIGHT),
        _ if charts.iter().any(|chart| chart.is_map) => (MAP_SIDE, MAP_SIDE),
        _ => (PANEL_WIDTH, PANEL_HEIGHT),
    };
    let mut figure = Figure::new(charts.len().div_ceil(columns).max(1), columns)
        .with_title(title)
        .with_title_size(17)
        .with_cell_size(width, height)
        .with_spacing(18.0)
        .with_padding(14.0)
        .with_plots(charts.iter().map(Chart::plots).collect())
        .with_layouts(charts.iter().map(Chart::layout).collect());
    if charts.iter().any(|chart| chart.lines.iter().filter(|line| line.name.is_some()).count() > 1) {
        figure = figure.with_shared_legend_right_top();
    }
    SvgBackend::new().render_scene(&figure.render())
}

impl Curve<'_> {
    /// |change| over time, as the largest in each window, since a quantity that oscillates about its target dives to zero
    /// twice a period.
    fn drift(&self, integral: usize) -> Line {
        let points = self.trajectory.iter().map(|sample| (sample.time, sample.change[integral].abs()));
        Line::of(self.contender, envelope(&points.collect::<Vec<_>>()))
    }
}

/// The largest value in each of at most [`WINDOWS`] windows, at the window's end.
pub(crate) fn envelope(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let window = points.len().div_ceil(WINDOWS).max(1);
    let largest = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(0.0, f64::max);
    points.chunks(window).map(|points| (points[points.len() - 1].0, largest(points))).collect()
}

impl Chart {
    pub(crate) fn new(title: &str, x: Axis, y: Axis, lines: Vec<Line>) -> Self {
        Self { title: title.to_owned(), x, y, lines, is_map: false }
    }

    fn plots(&self) -> Vec<Plot> {
        self.lines.iter().map(|line| line.plot(&self.x, &self.y).into()).collect()
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
    pub(crate) fn linear(label: &str, range: (f64, f64)) -> Self {
        Self { label: label.to_owned(), range, is_logarithmic: false }
    }

    /// A logarithmic axis with the whole decades that hold all positive values.
    pub(crate) fn decades(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (mut bottom, mut top) = (f64::INFINITY, f64::NEG_INFINITY);
        for exponent in values.filter_map(exponent) {
            (bottom, top) = (bottom.min(exponent.floor()), top.max(exponent.ceil()));
        }
        let range = if bottom < top { (bottom, top) } else { (FLOOR.log10(), 0.0) };
        Self { label: label.to_owned(), range, is_logarithmic: true }
    }

    /// Where a value is plotted, if it can be.
    fn position(&self, value: f64) -> Option<f64> {
        if self.is_logarithmic { exponent(value) } else { value.is_finite().then_some(value) }
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
    pub(crate) fn of(contender: Contender, points: Vec<(f64, f64)>) -> Self {
        let name = Some(contender.to_string());
        Self { name, colour: contender.colour(), stroke: contender.stroke(), points }
    }

    /// A line that is no contender's, or goes by another name.
    pub(crate) fn named(name: &str, colour: &'static str, stroke: Stroke, points: Vec<(f64, f64)>) -> Self {
        Self { name: Some(name.to_owned()), colour, stroke, points }
    }

    /// A line to compare with, in grey.
    pub(crate) fn guide(name: Option<&str>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.map(str::to_owned), colour: GUIDE, stroke: Stroke::Thin, points }
    }

    /// A path on a map whose title names the method: solid, so that nothing of it is missing, and thin.
    pub(crate) fn path(contender: Contender, points: Vec<(f64, f64)>) -> Self {
        Self { name: None, colour: contender.colour(), stroke: Stroke::Thin, points }
    }

    /// What is plotted to the right.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.0)
    }

    /// What is plotted upwards.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().map(|point| point.1)
    }

    fn plot(&self, x: &Axis, y: &Axis) -> LinePlot {
        let position = |point: &(f64, f64)| Some((x.position(point.0)?, y.position(point.1)?));
        let line = LinePlot::new().with_data(self.points.iter().filter_map(position)).with_color(self.colour);
        let line = match self.stroke {
            Stroke::Solid | Stroke::Thin => line,
            Stroke::Dashed => line.with_line_style(LineStyle::Custom("5 3".to_owned())),
            Stroke::Dotted => line.with_line_style(LineStyle::Custom("1.5 2.5".to_owned())),
        };
        let line = line.with_stroke_width(if self.stroke == Stroke::Thin { 0.8 } else { 1.6 });
        match &self.name {
            Some(name) => line.with_legend(name.as_str()),
            None => line,
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
    let digits = format!("{exponent:.0}");
    let raised: String = digits.chars().map(superscript).collect();
    format!("10{raised}")
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
        other => other,
    }
}
