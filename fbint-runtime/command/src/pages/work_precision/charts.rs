//! The figures of a study: the methods against one another, and for each method the policies of gains.

use super::Study;
use super::series::{Measured, Policy, Series};
use crate::figures::figure::{self, Axis, Chart, Line};
use crate::figures::results::Picture;
use fbint_catalogue::scheme::{Aid, Scheme, Stroke};

/// A panel with the quantities of its axes.
struct PanelAxes {
    name: &'static str,
    x: (&'static str, fn(&Measured) -> f64),
    y: (&'static str, fn(&Measured) -> f64),
}

const PANELS: [PanelAxes; 3] = [
    PanelAxes {
        name: "error against evaluations",
        x: ("evaluations of the field", |measured| measured.evaluations),
        y: ("error at the end", |measured| measured.error),
    },
    PanelAxes {
        name: "error against time",
        x: ("wall time in seconds", |measured| measured.seconds),
        y: ("error at the end", |measured| measured.error),
    },
    PanelAxes {
        name: "drift against evaluations",
        x: ("evaluations of the field", |measured| measured.evaluations),
        y: ("largest drift of an integral", |measured| measured.drift),
    },
];

impl Study {
    /// The figure of methods and the figure of policies.
    pub(super) fn figures(&self) -> Vec<Picture> {
        let methods = PANELS.iter().map(|panel| self.chart(panel, panel.name, self.lines_of_methods(panel)));
        let policies = self.schemes().into_iter().flat_map(|scheme| {
            PANELS.iter().map(move |panel| {
                let title = format!("{scheme}: {}", panel.name);
                self.chart(panel, &title, self.lines_of_policies(scheme, panel))
            })
        });
        vec![
            self.picture("", "methods, plain and projected after each step", &methods.collect::<Vec<_>>()),
            self.picture("-gains", "policies of gains", &policies.collect::<Vec<_>>()),
        ]
    }

    fn picture(&self, suffix: &str, what: &str, charts: &[Chart]) -> Picture {
        Picture {
            name: format!("work-precision-{}{suffix}", self.model),
            caption: what.to_owned(),
            svg: figure::draw(&format!("{}, t = {}: {what}", self.model, self.until), PANELS.len(), charts),
        }
    }

    /// Every chart of a panel has the same axes, so that they compare by eye.
    fn chart(&self, panel: &PanelAxes, title: &str, mut lines: Vec<Line>) -> Chart {
        let all = || self.series.iter().flat_map(Series::done);
        let x = Axis::decades(panel.x.0, all().map(panel.x.1));
        let y = Axis::decades(panel.y.0, all().map(panel.y.1));
        if panel.y.0 == PANELS[0].y.0 {
            let ends = all().map(panel.x.1).fold((f64::INFINITY, 0.0), |(a, b), x| (x.min(a), x.max(b)));
            let level = vec![(ends.0, self.uncertainty), (ends.1, self.uncertainty)];
            lines.push(Line::guide(Some("error of the reference"), level));
        }
        Chart::new(title, x, y, lines)
    }

    /// Each method plain and projected, in its colour, and the geometric ones.
    fn lines_of_methods(&self, panel: &PanelAxes) -> Vec<Line> {
        let shown = self.series.iter().filter(|series| matches!(series.policy, Policy::Plain | Policy::Projected));
        let line = |series: &Series| {
            let contender = series.contender();
            Line::named(&series.to_string(), contender.scheme.colour(), contender.stroke(), points(series, panel))
        };
        shown.map(line).collect()
    }

    /// One method with every policy. The title names the method, so that colour can tell the policy.
    fn lines_of_policies(&self, scheme: Scheme, panel: &PanelAxes) -> Vec<Line> {
        let own = self.series.iter().filter(|series| series.scheme == scheme);
        own.map(|series| {
            let policy = series.policy;
            Line::named(&policy.to_string(), colour(policy), stroke(policy), points(series, panel))
        })
        .collect()
    }

    /// Each method with policies once.
    fn schemes(&self) -> Vec<Scheme> {
        let plain = self.series.iter().filter(|series| series.policy == Policy::Plain);
        plain.map(|series| series.scheme).filter(|scheme| !scheme.is_geometric()).collect()
    }
}

fn points(series: &Series, panel: &PanelAxes) -> Vec<(f64, f64)> {
    series.done().map(|measured| ((panel.x.1)(measured), (panel.y.1)(measured))).collect()
}

const fn colour(policy: Policy) -> &'static str {
    match policy {
        Policy::Plain => "#000000",
        Policy::Projected => "#009E73",
        Policy::Relaxation => "#0072B2",
        Policy::Uniform(1) => "#E69F00",
        Policy::Uniform(_) => "#D55E00",
        Policy::BaeChang => "#CC79A7",
    }
}

/// The stroke of a policy, which is the stroke of its kind of aid.
const fn stroke(policy: Policy) -> Stroke {
    match policy.aid() {
        Aid::Nothing => Stroke::Dashed,
        Aid::Projection => Stroke::Dotted,
        Aid::Feedback => Stroke::Solid,
    }
}
