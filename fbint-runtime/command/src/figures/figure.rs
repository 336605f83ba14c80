//! Figures as SVG: panels of lines, with linear or logarithmic axes, and one legend for all.
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
use kuva::render::annotations::TextAnnotation;
use kuva::render::figure::Figure;
use kuva::render::layout::{AxisLine, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor};
use kuva::render::theme::Theme;

use crate::figures::bitmap::Painter;
use crate::files::output::{OutputFile, WholeDraft, marked};
use crate::words::typography::{raised, typeset};
use fbint_catalogue::Sample;
use fbint_catalogue::scheme::{Contender, Stroke};

/// The exponent of the smallest value drawn on a logarithmic axis, unless all values are small. Rounding alone moves a quantity of
/// order one by about this much.
const FLOOR: f64 = -17.0;
/// The least number of decades of a logarithmic axis whose values are all small.
const DECADES: f64 = 3.0;

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
/// Values differ if they differ by this many roundings of the largest one.
const ROUNDINGS: f64 = 16.0;
/// The sizes of the largest number on an axis between which its ticks are written out.
const WRITTEN_OUT: Range<f64> = 1e-3..1e5;

/// The size of the letters of a figure's title.
const TITLE_SIZE: u32 = 17;
/// The size of the letters of a panel's title.
const TITLE_OF_PANEL: u32 = 14;
/// The width of a letter, as a fraction of its size.
const LETTER: f64 = 0.58;

const PANEL_WIDTH: f64 = 430.0;
const PANEL_HEIGHT: f64 = 300.0;
/// The least height of a panel; a figure of too many panels is longer than a page.
const LEAST_HEIGHT: f64 = 150.0;
/// The space between panels.
const SPACING: f64 = 18.0;
/// The margin of a figure.
const PADDING: f64 = 14.0;
/// The width of a page of two panels in a row; it is as high as a sheet of A4.
const PAGE_WIDTH: f64 = 2.0 * (PANEL_WIDTH + PADDING) + SPACING;
const PAGE_HEIGHT: f64 = PAGE_WIDTH * std::f64::consts::SQRT_2;
/// The most panels in rows of two.
const IN_PAIRS: usize = 8;
/// The most panels on a page.
pub(crate) const MOST_PANELS: usize = 18;
/// The height of a panel's title.
const HEAD: f64 = 36.0;
/// The height of a line of a legend, or of the text below a figure, and the size of its letters.
const LEGEND_LINE: f64 = 16.0;
const LEGEND_SIZE: u32 = 12;
/// The size of the smallest letters.
const LEAST_SIZE: u32 = 8;
/// The beginning of the names of clips.
const CLIP: &str = "kuva-clip-";
/// The length of the stroke in a legend.
const SWATCH: f64 = 14.0;
/// About what the ticks and the label of a vertical axis take.
const LEFT: f64 = 48.0;
/// The width of a single panel.
const SINGLE_WIDTH: f64 = 600.0;
const SINGLE_HEIGHT: f64 = 400.0;
/// The side of a panel whose axes have a common scale, chosen such that its plot is about square.
const MAP_SIDE: f64 = 300.0;

/// One panel.
pub struct Chart {
    /// The heading above it.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The shapes, the last on top.
    pub lines: Vec<Line>,
    /// `true` if both axes have a common scale, as on a map.
    pub is_map: bool,
}

/// The label, the range and the scale of an axis.
#[derive(Clone)]
pub struct Axis {
    label: String,
    /// The range of what is plotted: of multiples of the power of ten, or of the exponents of a logarithmic axis.
    range: (f64, f64),
    /// The offset subtracted from all values that are too near to one another for distinct ticks.
    offset: f64,
    /// The power of ten by which all values are divided: 0 where they can be written out. A linear axis of tiny or huge numbers would have
    /// no ticks that can be told apart.
    power: i32,
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

/// The trajectory of one run. A figure of drift shows every integral of it.
pub struct Curve<'a> {
    /// The method, which decides the colour and the stroke.
    pub contender: Contender,
    /// The samples of the run.
    pub trajectory: &'a [Sample],
}

/// Draws how far each integral is from its target over time: a panel for each, two in a row, with one legend next to them if
/// there is more than one curve.
pub fn drift(title: &str, time: &str, integrals: &[&str], curves: &[Curve<'_>]) -> String {
    let panels: Vec<(&str, Vec<Line>)> =
        integrals.iter().enumerate().map(|(index, name)| (*name, drift_of(index, curves))).collect();
    over_time(title, integrals.len().clamp(1, 2), time, "|change|", panels)
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
    let mut scene = figure.render();
    scene.height = scene.height.max(lowest_edge(&scene) + PADDING);
    document(&scene)
}

/// Where the lowest rectangle ends: kuva does not make a figure higher for a legend of many lines.
fn lowest_edge(scene: &Scene) -> f64 {
    let edge = |primitive: &Primitive| if let Primitive::Rect { y, height, .. } = primitive { y + height } else { 0.0 };
    scene.elements.iter().map(edge).fold(0.0, f64::max)
}

/// Draws panels of one size on a page, each with a legend below its title if it has more than one named line, and `caption` in one line
/// below them.
pub(crate) fn draw_page(title: &str, charts: &[Chart], caption: &str) -> String {
    let columns = match charts.len() {
        1 => 1,
        2..=IN_PAIRS => 2,
        _ => 3,
    };
    let rows = charts.len().div_ceil(columns).max(1);
    let shared = |all: f64, parts: usize| (all - 2.0 * PADDING + SPACING) / parts as f64 - SPACING;
    let width = shared(PAGE_WIDTH, columns);
    let highest = if columns == 1 { SINGLE_HEIGHT } else { PANEL_HEIGHT };
    let height = shared(PAGE_HEIGHT - f64::from(TITLE_SIZE) * 2.0 - LEGEND_LINE, rows).clamp(LEAST_HEIGHT, highest);
    let legends: Vec<Legend<'_>> = charts.iter().map(|chart| Legend::of(chart, width)).collect();
    let mut layouts = Vec::new();
    for (charts, legends) in charts.chunks(columns).zip(legends.chunks(columns)) {
        // The plots of a row begin at one height.
        let lines = legends.iter().map(Legend::lines).max().unwrap_or(0);
        for chart in charts {
            let mut layout = chart.layout().with_title_size(fitting(&chart.title, width, TITLE_OF_PANEL));
            layout.force_margin_top = Some(HEAD + LEGEND_LINE * lines as f64);
            layouts.push(layout);
        }
    }
    let mut scene = grid(title, rows, columns)
        .with_title_size(fitting(title, PAGE_WIDTH - 2.0 * PADDING, TITLE_SIZE))
        .with_cell_size(width, height)
        .with_structure((0..charts.len()).map(|cell| vec![cell]).collect())
        .with_plots(charts.iter().map(Chart::plots).collect())
        .with_layouts(layouts)
        .render();
    let top = scene.height - PADDING - rows as f64 * (height + SPACING) + SPACING;
    for (index, legend) in legends.iter().enumerate() {
        let (row, column) = (index / columns, index % columns);
        let at = |number: usize, size: f64| number as f64 * (size + SPACING);
        legend.draw(&mut scene, (PADDING + at(column, width) + LEFT, top + at(row, height) + HEAD));
    }
    if !caption.is_empty() {
        let (y, width) = (scene.height, PAGE_WIDTH - 2.0 * PADDING);
        scene.height += LEGEND_LINE;
        let most = (width / (LETTER * f64::from(LEAST_SIZE))) as usize;
        let caption = match caption.char_indices().nth(most) {
            Some((end, _)) => format!("{} ..", caption[..end].trim_end_matches(|letter| letter != ',')),
            None => caption.to_owned(),
        };
        scene.add(text(&caption, (PADDING, y), fitting(&caption, width, LEGEND_SIZE)));
    }
    document(&scene)
}

/// The document. Kuva numbers the clips of all figures of a process; here each figure numbers its own, so that equal figures have equal
/// bytes.
fn document(scene: &Scene) -> String {
    let svg = SvgBackend::new().render_scene(scene);
    let mut parts = svg.split(CLIP);
    let (mut document, mut numbers) = (parts.next().unwrap_or_default().to_owned(), Vec::new());
    for part in parts {
        let (number, rest) = part.split_at(part.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(part.len()));
        let index = numbers.iter().position(|known| *known == number).unwrap_or(numbers.len());
        if index == numbers.len() {
            numbers.push(number);
        }
        document += &format!("{CLIP}{index}{rest}");
    }
    marked(&document)
}

/// The size of letters, at most `size`, at which a line of this width is not cut off.
fn fitting(line: &str, width: f64, size: u32) -> u32 {
    ((width / (LETTER * line.chars().count().max(1) as f64)) as u32).clamp(LEAST_SIZE, size)
}

fn text(content: &str, (x, y): (f64, f64), size: u32) -> Primitive {
    let (content, anchor) = (typeset(content), TextAnchor::Start);
    Primitive::Text { x, y, content, size, anchor, rotate: None, bold: false, color: None }
}

/// The legend of a panel, in columns.
struct Legend<'a> {
    lines: Vec<&'a Line>,
    columns: usize,
    column_width: f64,
}

impl<'a> Legend<'a> {
    /// The legend of a panel of this width; an empty one if there is nothing to tell apart.
    fn of(chart: &'a Chart, width: f64) -> Self {
        let named = chart.lines.iter().filter(|line| chart.needs_legend() && line.name.is_some());
        let lines: Vec<&Line> = named.collect();
        let longest = lines.iter().flat_map(|line| &line.name).map(|name| name.chars().count()).max().unwrap_or(0);
        let column_width = 2.0 * SWATCH + LETTER * f64::from(LEGEND_SIZE) * longest as f64;
        Self { lines, columns: (((width - LEFT) / column_width) as usize).max(1), column_width }
    }

    fn lines(&self) -> usize {
        self.lines.len().div_ceil(self.columns)
    }

    /// Draws it below and to the right of a place.
    fn draw(&self, scene: &mut Scene, (left, top): (f64, f64)) {
        for (index, line) in self.lines.iter().enumerate() {
            let (row, column) = (index / self.columns, index % self.columns);
            let (x, y) = (left + column as f64 * self.column_width, top + (row as f64 + 0.2) * LEGEND_LINE);
            let stroke = line.colour.into();
            scene.add(Primitive::Line {
                x1: x,
                y1: y,
                x2: x + SWATCH,
                y2: y,
                stroke,
                stroke_width: 2.0,
                stroke_dasharray: None,
            });
            let name = line.name.as_deref().unwrap_or_default();
            scene.add(text(name, (x + 1.3 * SWATCH, y + 0.35 * f64::from(LEGEND_SIZE)), LEGEND_SIZE));
        }
    }
}

fn grid(title: &str, rows: usize, columns: usize) -> Figure {
    Figure::new(rows, columns)
        .with_title(typeset(title))
        .with_title_size(TITLE_SIZE)
        .with_spacing(SPACING)
        .with_padding(PADDING)
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
pub(crate) fn draft(svg: &str, painter: Option<&Painter>, file: &OutputFile) -> Result<WholeDraft, Box<dyn Error>> {
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

    /// Returns `true` if there is more than one named line.
    fn needs_legend(&self) -> bool {
        self.lines.iter().filter(|line| line.name.is_some()).count() > 1
    }

    /// Returns `true` if there are lines, and all of them stay at 0.
    fn is_zero(&self) -> bool {
        let is_line = |line: &Line| line.points.len() > 1 && !matches!(line.stroke, Stroke::Dots | Stroke::Bars);
        let stays = |line: &Line| is_line(line) && line.values().all(|value| value == 0.0);
        !self.lines.is_empty() && self.lines.iter().all(stays)
    }

    fn plots(&self) -> Vec<Plot> {
        let [x, y] = self.axes();
        self.lines.iter().map(|line| line.plot(&x, &y)).collect()
    }

    /// The axes as they are drawn: on a map with a common power of ten.
    fn axes(&self) -> [Axis; 2] {
        let axes = [self.x.clone(), self.y.clone()];
        let common = self.x.power.max(self.y.power);
        if self.is_map { axes.map(|axis| axis.with_power(common)) } else { axes }
    }

    fn layout(&self) -> Layout {
        let [x, y] = self.axes();
        let mut layout = Layout::new(x.range, y.range)
            .with_title(self.title.as_str())
            .with_title_size(TITLE_OF_PANEL)
            .with_x_label(x.label_with_power())
            .with_y_label(y.label_with_power())
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
        if x.power != 0 {
            layout = layout.with_x_tick_format(rounded());
        }
        if y.power != 0 {
            layout = layout.with_y_tick_format(rounded());
        }
        if x.is_logarithmic {
            layout = layout.with_x_tick_step(x.decades_a_tick()).with_x_tick_format(powers_of_ten());
        }
        if y.is_logarithmic {
            layout = layout.with_y_tick_step(y.decades_a_tick()).with_y_tick_format(powers_of_ten());
        }
        if self.is_zero() {
            let middle = f64::midpoint(x.range.0, x.range.1);
            layout =
                layout.with_annotation(TextAnnotation::new("0 throughout", middle, y.position(0.0).unwrap_or(0.0)));
        }
        if self.is_map { layout.with_equal_aspect() } else { layout }
    }
}

impl Axis {
    /// A linear axis with this range.
    pub fn linear(label: &str, range: (f64, f64)) -> Self {
        let largest = range.0.abs().max(range.1.abs());
        let power = if is_written_out(largest) { 0 } else { largest.log10().floor() as i32 };
        Self { label: label.to_owned(), range, offset: 0.0, power: 0, is_logarithmic: false }.with_power(power)
    }

    /// The linear axis with values in multiples of another power of ten.
    fn with_power(self, power: i32) -> Self {
        let (by, (low, high)) = (power - self.power, self.range);
        Self { range: (divided(low, by), divided(high, by)), power, ..self }
    }

    /// A linear axis with all values and a margin.
    pub fn around(label: &str, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |ends, value| (ends.0.min(value), ends.1.max(value)));
        let size = low.abs().max(high.abs());
        // What differs by rounding alone is the same.
        let span = if high - low > ROUNDINGS * f64::EPSILON * size { high - low } else { (high - low) * 0.0 };
        let range = match span {
            span if span > 0.0 => (low - MARGIN * span, high + MARGIN * span),
            0.0 => {
                let margin = if is_written_out(size) { size.max(1.0) } else { size };
                (low - margin, high + margin)
            }
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
        let bottom = bottom.max(FLOOR.min(top - DECADES));
        let range = if bottom < top { (bottom, top) } else { (FLOOR, 0.0) };
        Self { label: label.to_owned(), range, offset: 0.0, power: 0, is_logarithmic: true }
    }

    /// The position of a value on the axis; `None` if it cannot be plotted.
    fn position(&self, value: f64) -> Option<f64> {
        if self.is_logarithmic {
            exponent(value).map(|exponent| exponent.max(self.range.0))
        } else {
            value.is_finite().then(|| divided(value - self.offset, self.power))
        }
    }

    fn label_with_power(&self) -> String {
        let power = power_of_ten(f64::from(self.power));
        match self.power {
            0 => self.label.clone(),
            _ if self.offset == 0.0 => format!("{} / {power}", self.label),
            _ => format!("({}) / {power}", self.label),
        }
    }

    /// Decades between ticks: at most about eight ticks.
    fn decades_a_tick(&self) -> f64 {
        ((self.range.1 - self.range.0) / 8.0).ceil().max(1.0)
    }
}

/// Returns `true` if the ticks of an axis are written out whose largest number has this size.
fn is_written_out(size: f64) -> bool {
    size == 0.0 || WRITTEN_OUT.contains(&size)
}

/// A number divided by a power of ten, in two steps where the power is not a normal number.
fn divided(number: f64, power: i32) -> f64 {
    let ten_to = |power: i32| format!("1e{power}").parse().unwrap_or(1.0_f64);
    match power {
        0 => number,
        -300..=300 => number / ten_to(power),
        _ => number / ten_to(power / 2) / ten_to(power - power / 2),
    }
}

fn exponent(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then(|| value.log10())
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

/// Ticks with three digits, because a tick at 0.3 may be a double that is a little more.
fn rounded() -> TickFormat {
    TickFormat::Custom(Arc::new(|tick| format!("{}", (tick * 1000.0).round() / 1000.0 + 0.0)))
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
    fn a_figure_is_as_high_as_its_legend() {
        let line =
            |number| Line::named(&format!("line {number}"), "#000000", Stroke::Solid, vec![(0.0, 0.0), (1.0, 1.0)]);
        let height = |lines: usize| {
            let axis = || Axis::linear("", (0.0, 1.0));
            let svg = draw("", 1, &[Chart::new("", axis(), axis(), (0..lines).map(line).collect())]);
            let height = svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
            height.unwrap_or(f64::NAN)
        };
        assert!(height(2) == height(10) && height(50) > height(40) + 100.0, "{} {}", height(2), height(50));
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
            ([1.0, 1.0 + 1e-13], "q - 1.00000000000000"),
        ] {
            let axis = Axis::around("q", values.into_iter());
            assert_eq!(axis.label, label);
            let [low, high] = values.map(|value| axis.position(value).unwrap());
            assert!(axis.range.0 <= low && low < high && high <= axis.range.1, "{:?}", axis.range);
            assert!(low.abs() <= high - low && high.abs() <= 2.0 * (high - low), "{low:e}, {high:e}");
        }
    }

    #[test]
    fn ticks_of_tiny_values_are_multiples_of_a_power_of_ten() {
        let axis = Axis::around("q", [-4e-16, 4e-16].into_iter());
        assert_eq!(axis.label_with_power(), "q / 10⁻¹⁶");
        let values = [(0.0, -4e-16), (1.0, 4e-16)].to_vec();
        let ticks = svg(values);
        for tick in ["-4", "-2", "0", "2", "4"] {
            assert!(ticks.contains(&format!(">{tick}<")), "{tick} is missing");
        }
    }

    /// An oscillation of any size has one form: ticks at the same places with the same numbers, and only the power is another.
    #[test]
    fn oscillations_of_any_size_look_the_same() {
        let wave = |size: f64| (0..=40).map(|step| (f64::from(step), size * (f64::from(step) * 0.3).sin())).collect();
        let form = |power: i32| {
            let size = format!("1e{power}").parse::<f64>().unwrap();
            let axis = Axis::around("q", [-size, size].into_iter());
            assert_eq!(axis.label_with_power(), format!("q / {}", power_of_ten(f64::from(power))));
            let svg: String = svg(wave(size));
            // Coordinates have two digits behind the point, the last of which may be rounded.
            let places = svg.split(['"', ' ', ',', '>', '<']).filter_map(|word| word.parse::<f64>().ok());
            places.map(|place| place.round()).collect::<Vec<_>>()
        };
        let expected = form(6);
        for power in [-300, -120, -20, -17, -16, -5, 20, 160, 300] {
            let form = form(power);
            assert_eq!(form.len(), expected.len());
            assert!(form.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1.0), "10^{power}");
        }
    }

    #[test]
    fn what_is_tiny_and_constant_is_around_itself() {
        let axis = Axis::around("q", [3e-20, 3e-20].into_iter());
        assert_eq!(axis.label_with_power(), "q / 10⁻²⁰");
        let (low, high) = axis.range;
        let middle = axis.position(3e-20).unwrap();
        assert!(low == 0.0 && (middle - 3.0).abs() < 1e-12 && (high - 6.0).abs() < 1e-12, "{low} {middle} {high}");
    }

    #[test]
    fn what_differs_by_rounding_alone_is_drawn_as_one_value() {
        let axis = Axis::around("q", [2.0, 2.0 - f64::EPSILON].into_iter());
        assert_eq!((axis.label_with_power(), axis.range), ("q".to_owned(), (-f64::EPSILON, 4.0)));
    }

    /// Small values have separate decades, and zero has none.
    #[test]
    fn logarithmic_axes_reach_down_to_what_is_drawn() {
        assert_eq!(Axis::decades("", [0.0, 1e-30, 2e-3].into_iter()).range, (-17.0, -2.0));
        assert_eq!(Axis::decades("", [3e-24, 2e-26].into_iter()).range, (-26.0, -23.0));
        assert_eq!(Axis::decades("", [0.0].into_iter()).range, (-17.0, 0.0));
    }
}
