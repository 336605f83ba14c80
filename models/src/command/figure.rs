//! Figures of drift: how far each integral has strayed from its target over time, one panel an integral, one curve a
//! method, as SVG.
//!
//! The only module that names kuva. Its logarithmic axis draws no tick below 1e-10, where a good method lives, so the
//! decimal logarithm is plotted on a linear axis whose ticks are written as powers of ten. Changes that are exactly zero
//! have no logarithm; what lies below [`FLOOR`] is drawn at it.

use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::render::figure::Figure;
use kuva::render::layout::{AxisLine, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;
use models::catalogue::Sample;

/// The smallest change drawn. Rounding alone moves a quantity of order one by about this much.
const FLOOR: f64 = 1e-17;

/// Okabe and Ito's colours that read on white, which the colour-blind tell apart.
const PALETTE: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// Points of a curve, at most.
const WINDOWS: usize = 400;

const PANEL_WIDTH: f64 = 430.0;
const PANEL_HEIGHT: f64 = 300.0;

/// One run, in every panel.
pub(crate) struct Curve<'a> {
    pub(crate) method: String,
    pub(crate) trajectory: &'a [Sample],
}

/// Draws a panel for each integral, two a row, with one legend beside them if there is more than one curve.
pub(crate) fn drift(title: &str, integrals: &[&str], curves: &[Curve<'_>]) -> String {
    let panels: Vec<Panel> = (0..integrals.len()).map(|integral| panel(integral, curves)).collect();
    let decades = decades(&panels);
    let layouts = integrals.iter().map(|name| layout(name, end(curves), decades)).collect();
    let columns = integrals.len().clamp(1, 2);
    let mut figure = Figure::new(integrals.len().div_ceil(columns).max(1), columns)
        .with_title(title)
        .with_title_size(17)
        .with_cell_size(PANEL_WIDTH, PANEL_HEIGHT)
        .with_spacing(18.0)
        .with_padding(14.0)
        .with_plots(panels.iter().map(|panel| lines(panel, curves)).collect())
        .with_layouts(layouts);
    if curves.len() > 1 {
        figure = figure.with_shared_legend_right_top();
    }
    SvgBackend::new().render_scene(&figure.render())
}

/// For each curve the points (t, log10 |change|) of one integral.
type Panel = Vec<Vec<(f64, f64)>>;

fn panel(integral: usize, curves: &[Curve<'_>]) -> Panel {
    curves.iter().map(|curve| envelope(curve.trajectory, integral)).collect()
}

/// The largest |change| in each window of time, since a quantity that oscillates about its target dives to zero twice a
/// period. A window in which nothing changed has no point.
fn envelope(trajectory: &[Sample], integral: usize) -> Vec<(f64, f64)> {
    let window = trajectory.len().div_ceil(WINDOWS).max(1);
    let largest = |samples: &[Sample]| samples.iter().map(|sample| sample.change[integral].abs()).fold(0.0, f64::max);
    let middle = |samples: &[Sample]| 0.5 * (samples[0].time + samples[samples.len() - 1].time);
    let points = trajectory.chunks(window).map(|samples| (middle(samples), largest(samples)));
    points.filter(|&(_, change)| change > 0.0).map(|(t, change)| (t, change.max(FLOOR).log10())).collect()
}

fn lines(panel: &Panel, curves: &[Curve<'_>]) -> Vec<Plot> {
    let coloured = panel.iter().zip(curves).zip(PALETTE.iter().cycle());
    coloured.map(|((points, curve), colour)| line(points, curve, colour).into()).collect()
}

fn line(points: &[(f64, f64)], curve: &Curve<'_>, colour: &str) -> LinePlot {
    let line = LinePlot::new().with_data(points.iter().copied()).with_color(colour).with_stroke_width(1.6);
    line.with_legend(curve.method.as_str())
}

fn layout(name: &str, end: f64, (bottom, top): (f64, f64)) -> Layout {
    Layout::new((0.0, end), (bottom, top))
        .with_title(name)
        .with_title_size(14)
        .with_x_label("time t")
        .with_y_label("|change|")
        .with_label_size(12)
        .with_tick_size(11)
        .with_body_size(12)
        .with_x_label_offset(0.0, -8.0)
        .with_theme(theme())
        .with_axis_line(AxisLine::Box)
        .with_x_axis_min(0.0)
        .with_x_axis_max(end)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_y_tick_step(tick_step(top - bottom))
        .with_y_tick_format(TickFormat::Custom(Arc::new(power_of_ten)))
}

/// Black on white, with a grid that stays behind the curves.
fn theme() -> Theme {
    Theme { grid_color: "#e6e6e6".into(), legend_border: "#bbb".into(), ..Theme::light() }
}

fn end(curves: &[Curve<'_>]) -> f64 {
    curves.iter().filter_map(|curve| curve.trajectory.last()).map(|sample| sample.time).fold(0.0, f64::max)
}

/// The decades that hold every curve of every panel, so that panels compare by eye.
fn decades(panels: &[Panel]) -> (f64, f64) {
    let logarithms = || panels.iter().flatten().flatten().map(|point| point.1);
    let bottom = logarithms().fold(f64::INFINITY, f64::min).floor();
    let top = logarithms().fold(f64::NEG_INFINITY, f64::max).ceil();
    if bottom < top { (bottom, top) } else { (FLOOR.log10(), 0.0) }
}

/// Decades between ticks: at most about eight ticks.
fn tick_step(decades: f64) -> f64 {
    (decades / 8.0).ceil().max(1.0)
}

fn power_of_ten(exponent: f64) -> String {
    let digits = format!("{:.0}", exponent);
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
