//! The figure of an ensemble: how quantities of the members are spread at the end.

use crate::ensemble::histogram::Histogram;
use crate::ensemble::members::Block;
use crate::figures::figure::{self, Axis, Chart, Line};
use crate::figures::motion::{COLOURS, some_of};
use crate::figures::panels::Panel;
use crate::files::rows::Cell;
use fbint_catalogue::AnyModel;
use fbint_catalogue::scheme::Stroke;

/// Maximum number of members that are dots, each.
const DOTS: u32 = 4000;

/// The panels' data of the members so far, in bounded memory.
pub(crate) struct Spread {
    panels: Vec<Ends>,
    /// The number of members that one dot shows.
    stride: u32,
}

/// A panel: positions among the numbers in the rows of ends.
enum Ends {
    Histogram { column: usize, counts: Histogram },
    Scatter { columns: (usize, usize), dots: Vec<(f64, f64)> },
}

impl Spread {
    /// Nothing yet of `members`, in these panels.
    pub(crate) fn new(panels: &[Panel], members: u32) -> Self {
        let ends = |panel: &Panel| match *panel {
            Panel::One(column) => Some(Ends::Histogram { column, counts: Histogram::default() }),
            Panel::Pair(right, up) => Some(Ends::Scatter { columns: (right, up), dots: Vec::new() }),
            Panel::Drift => None,
        };
        Self { panels: panels.iter().filter_map(ends).collect(), stride: members.div_ceil(DOTS) }
    }

    /// The panels of a figure for which none are asked: entries of the state, evenly spread if there are many.
    pub(crate) fn default_panels(model: &dyn AnyModel, drawn: usize) -> Vec<Panel> {
        some_of(model.state_names().len()).into_iter().map(|entry| Panel::One(drawn + entry)).collect()
    }

    /// Adds the members of a block that did not fail.
    pub(crate) fn add(&mut self, block: &Block) {
        let mut add = |row: &[Cell<'_>]| {
            let [Cell::Count(member), numbers @ .., Cell::Nothing] = row else { return Ok(()) };
            let number = |column: usize| match numbers.get(column) {
                Some(&Cell::Number(number)) => number,
                _ => f64::NAN,
            };
            for panel in &mut self.panels {
                match panel {
                    Ends::Histogram { column, counts } => counts.add(number(*column)),
                    Ends::Scatter { columns: (right, up), dots } => {
                        if member % u64::from(self.stride) == 0 {
                            dots.push((number(*right), number(*up)));
                        }
                    }
                }
            }
            Ok::<(), std::convert::Infallible>(())
        };
        let Ok(()) = block.ends(&mut add);
    }

    /// The figure, with the names of the numbers in the rows of ends.
    pub(crate) fn draw(&self, title: &str, names: &[String]) -> String {
        let charts = self.panels.iter().map(|panel| match panel {
            Ends::Histogram { column, counts } => histogram(&names[*column], counts),
            Ends::Scatter { columns: (right, up), dots } => self.scatter(&names[*right], &names[*up], dots),
        });
        figure::draw_page(title, &charts.collect::<Vec<_>>(), "")
    }

    fn scatter(&self, right: &str, up: &str, dots: &[(f64, f64)]) -> Chart {
        let title = match self.stride {
            1 => format!("{up} against {right}"),
            stride => format!("{up} against {right}, one member in {stride}"),
        };
        let x = Axis::around(right, dots.iter().map(|dot| dot.0));
        let y = Axis::around(up, dots.iter().map(|dot| dot.1));
        Chart::new(&title, x, y, vec![Line::unnamed(COLOURS[0], Stroke::Dots, dots.to_vec())])
    }
}

fn histogram(name: &str, counts: &Histogram) -> Chart {
    let (edges, counts) = counts.bins();
    let highest = counts.iter().copied().max().unwrap_or(1);
    let heights = counts.into_iter().map(|count| count as f64).chain([0.0]);
    let bars = edges.iter().copied().zip(heights).collect();
    let x = match edges[..] {
        // One number, with as much room as a single one has.
        [left, right] => Axis::around(name, [f64::midpoint(left, right)].into_iter()),
        _ => Axis::around(name, edges.into_iter()),
    };
    let y = Axis::linear("members", (0.0, 1.06 * highest as f64));
    Chart::new(name, x, y, vec![Line::unnamed(COLOURS[0], Stroke::Bars, bars)])
}
