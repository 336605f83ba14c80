//! The figure of the comparison: the change of each integral over time, a panel each, by a curve for each contender.

use kuva::backend::svg::SvgBackend;
use kuva::plot::line::{LinePlot, LineStyle};
use kuva::render::figure::Figure;
use kuva::render::layout::{AxisLine, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::theme::Theme;

/// The exponent of the smallest change that is drawn: a little below rounding.
const FLOOR: f64 = -17.0;
/// Maximum number of points of a curve.
const WINDOWS: usize = 400;
const PANEL: [f64; 2] = [430.0, 300.0];

/// The changes of all integrals in one run: the time and |F - F_target| of each sample.
pub(crate) struct Curve {
    pub(crate) name: &'static str,
    pub(crate) colour: &'static str,
    pub(crate) is_dashed: bool,
    pub(crate) changes: Vec<(f64, Vec<f64>)>,
}

impl Curve {
    /// The largest change of an integral in each of some windows, as a power of ten: a quantity that oscillates about its target dives to
    /// zero twice a period.
    fn exponents(&self, integral: usize) -> Vec<(f64, f64)> {
        let largest = |window: &[(f64, Vec<f64>)]| {
            let change = window.iter().map(|(_, changes)| changes[integral]).fold(0.0, f64::max);
            (change > 0.0).then(|| (window[window.len() - 1].0, change.log10().max(FLOOR)))
        };
        let window = self.changes.len().div_ceil(WINDOWS).max(1);
        self.changes.chunks(window).filter_map(largest).collect()
    }
}

/// The figure as SVG.
pub(crate) fn drawn(title: &str, integrals: &[&str], curves: &[Curve]) -> String {
    let exponents = |integral: usize| curves.iter().map(move |curve| curve.exponents(integral));
    let panels: Vec<Vec<Vec<(f64, f64)>>> =
        (0..integrals.len()).map(|integral| exponents(integral).collect()).collect();
    let all = || panels.iter().flatten().flatten();
    let end = all().map(|point| point.0).fold(0.0, f64::max);
    let (bottom, top) =
        all().fold((0.0, FLOOR), |(low, high): (f64, f64), point| (low.min(point.1), high.max(point.1)));
    let decades = (bottom.floor(), top.ceil());
    let plots =
        panels.iter().map(|panel| panel.iter().zip(curves).map(|(points, curve)| plot(points, curve)).collect());
    let figure = Figure::new(integrals.len().div_ceil(2), 2)
        .with_title(title)
        .with_title_size(17)
        .with_spacing(18.0)
        .with_padding(14.0)
        .with_cell_size(PANEL[0], PANEL[1])
        .with_plots(plots.collect())
        .with_layouts(integrals.iter().map(|name| layout(name, end, decades)).collect())
        .with_shared_legend_right_top();
    SvgBackend::new().render_scene(&figure.render())
}

fn plot(points: &[(f64, f64)], curve: &Curve) -> Plot {
    let line = LinePlot::new().with_data(points.to_vec()).with_color(curve.colour).with_stroke_width(1.6);
    let line = if curve.is_dashed { line.with_line_style(LineStyle::Custom("5 3".to_owned())) } else { line };
    line.with_legend(curve.name).into()
}

/// A panel whose vertical axis has the decades between two exponents.
fn layout(name: &str, end: f64, (bottom, top): (f64, f64)) -> Layout {
    Layout::new((0.0, end), (bottom, top))
        .with_title(name)
        .with_title_size(14)
        .with_x_label("time t / √(l/g)")
        .with_y_label("|change|")
        .with_label_size(12)
        .with_tick_size(11)
        .with_body_size(12)
        .with_x_label_offset(0.0, -8.0)
        .with_theme(Theme { grid_color: "#e6e6e6".into(), legend_border: "#bbb".into(), ..Theme::light() })
        .with_axis_line(AxisLine::Box)
        .with_x_axis_min(0.0)
        .with_x_axis_max(end)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_y_tick_step(((top - bottom) / 8.0).ceil().max(1.0))
        .with_y_tick_format(TickFormat::Custom(std::sync::Arc::new(|exponent| format!("10{}", raised(exponent)))))
}

/// A whole number in superscripts.
fn raised(number: f64) -> String {
    let superscript = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    format!("{number:.0}").chars().map(superscript).collect()
}
