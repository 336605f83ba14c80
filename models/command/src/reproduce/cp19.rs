//! Feedback integrators for nonholonomic systems: the examples of D. E. Chang and M. Perlmutter, J. Nonlinear Sci. 29 (2019) 1165.
//!
//! Each system is integrated from its start by Euler's method with h = 1e-3 and by the classical Runge-Kutta method with h = 0.05, left to
//! themselves, with feedback and with a projection after each step. Velocity constraints are integrals that all of them hold or lose.

use std::error::Error;

use fbint_command::catalogue::Feedback;
use fbint_command::figure::{self, Line, envelope};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::{Aid, Contender, Scheme, Stroke};
use fbint_runtime::{GeneratedSystem, Integral, Method};
use models::{
    HeisenbergSystem, HeldSleigh, KnifeEdge, NonholonomicOscillator, RollerRacer, RollingDisk, SuslovProblem,
};

use super::result::{Reproduction, Verdict};
use super::trial::{Setting, Trial, at_most};

/// The systems as they are called, the names of their models, and their integrals.
const SYSTEMS: [(&str, &str, &[Integral]); 7] = [
    ("Suslov problem", "suslov-problem", SuslovProblem::FACTS.integrals),
    ("knife edge", "knife-edge", KnifeEdge::FACTS.integrals),
    ("Chaplygin sleigh", "held-sleigh", HeldSleigh::FACTS.integrals),
    ("rolling disk", "rolling-disk", RollingDisk::FACTS.integrals),
    ("roller racer", "roller-racer", RollerRacer::FACTS.integrals),
    ("Heisenberg system", "heisenberg-system", HeisenbergSystem::FACTS.integrals),
    ("nonholonomic oscillator", "nonholonomic-oscillator", NonholonomicOscillator::FACTS.integrals),
];
const UNTIL: f64 = 20.0;
const EULER: Method = Method::Euler { h: 1e-3 };
const RK4: Method = Method::Rk4 { h: 0.05 };
/// The rows of the Heisenberg system's constraint grow with the distance from its axis: with this gain, RK4 is stable until the end.
const GAIN: f64 = 0.4;
/// The rest of any constraint after a projection.
const HELD: f64 = 1e-9;

/// All systems by all methods.
pub(super) fn cp19() -> Result<Reproduction, Box<dyn Error>> {
    let mut systems = Vec::new();
    for (name, model, integrals) in SYSTEMS {
        let setting = Setting::of(model, UNTIL, UNTIL / 400.0)?;
        let mut trials = Vec::new();
        for method in [EULER, RK4] {
            trials.push(setting.plain(method)?);
            trials.push(setting.with_feedback(method, Feedback::Uniform(GAIN))?);
            trials.push(setting.with_projection(method)?);
        }
        systems.push(SystemTrials { name, constraints: constraints(integrals), trials });
    }
    Ok(Reproduction {
        name: "cp19",
        title: "feedback integrators for seven nonholonomic systems: Euler h = 1e-3, RK4 h = 0.05, t <= 20, k = 0.4",
        words: systems.iter().map(SystemTrials::words).collect(),
        figures: vec![
            picture("cp19-constraints", &systems, SystemTrials::constraint),
            picture("cp19-energy", &systems, SystemTrials::energy),
        ],
        tables: vec![
            table(
                "cp19-constraints",
                "Largest change of any constraint until t = 20",
                &systems,
                SystemTrials::worst_constraint,
            ),
            table("cp19-energy", "Largest change of the energy until t = 20", &systems, |_, trial| trial.max("energy")),
        ],
        verdicts: systems.iter().flat_map(SystemTrials::verdicts).collect(),
    })
}

/// One system by all methods: Euler plain, with feedback and projected, and RK4 in the same order.
struct SystemTrials {
    name: &'static str,
    /// The places of the constraints among the integrals.
    constraints: Vec<usize>,
    trials: Vec<Trial>,
}

fn constraints(integrals: &[Integral]) -> Vec<usize> {
    (0..integrals.len()).filter(|&place| integrals[place].kind.is_constraint()).collect()
}

impl SystemTrials {
    fn worst_constraint(&self, trial: &Trial) -> f64 {
        self.constraints.iter().map(|&place| trial.drift[place].max).fold(0.0, f64::max)
    }

    /// The largest change of any constraint over time.
    fn constraint(&self, trial: &Trial) -> Vec<(f64, f64)> {
        let largest = |change: &[f64]| self.constraints.iter().map(|&place| change[place].abs()).fold(0.0, f64::max);
        trial.trajectory.iter().map(|sample| (sample.time, largest(&sample.change))).collect()
    }

    fn energy(&self, trial: &Trial) -> Vec<(f64, f64)> {
        let place = trial.drift.iter().position(|integral| integral.name == "energy").unwrap_or(0);
        trial.trajectory.iter().map(|sample| (sample.time, sample.change[place].abs())).collect()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let [plain, feedback, projected] = [0, 1, 2].map(|place| &self.trials[place]);
        let worst = |trial: &Trial| self.worst_constraint(trial).max(trial.max("energy"));
        vec![
            at_most(
                format!("{}: constraints and energy, Euler + feedback against Euler", self.name),
                worst(plain).max(HELD),
                worst(feedback),
            ),
            at_most(format!("{}: constraints, Euler + projection", self.name), HELD, self.worst_constraint(projected)),
            at_most(
                format!("{}: constraints, RK4 + projection", self.name),
                HELD,
                self.worst_constraint(&self.trials[5]),
            ),
        ]
    }

    fn words(&self) -> String {
        let energy = |place: usize| self.trials[place].max("energy");
        let verb = if energy(1) <= energy(0) { "helps" } else { "hurts" };
        let other = if energy(4) <= energy(3) { "helps" } else { "hurts" };
        format!(
            "The {}: feedback {verb} Euler's method ({:.1e} instead of {:.1e} of the energy) and {other} RK4 ({:.1e} instead of {:.1e}).",
            self.name,
            energy(1),
            energy(0),
            energy(4),
            energy(3)
        )
    }
}

fn table(
    name: &str,
    caption: &str,
    systems: &[SystemTrials],
    quantity: impl Fn(&SystemTrials, &Trial) -> f64,
) -> ResultTable {
    let methods = systems[0].trials.iter().map(|trial| trial.contender.to_string());
    ResultTable {
        name: name.to_owned(),
        caption: caption.to_owned(),
        columns: ["system".to_owned()].into_iter().chain(methods).collect(),
        rows: systems
            .iter()
            .map(|system| (system.name.to_owned(), system.trials.iter().map(|trial| quantity(system, trial)).collect()))
            .collect(),
    }
}

fn picture(name: &str, systems: &[SystemTrials], quantity: fn(&SystemTrials, &Trial) -> Vec<(f64, f64)>) -> Picture {
    let panels = systems.iter().map(|system| {
        let lines = system.trials.iter().map(|trial| {
            let points = envelope(&quantity(system, trial));
            match trial.contender {
                // Both methods are projected here, and must be told apart.
                contender @ Contender { scheme: Scheme::EULER, aid: Aid::Projection } => {
                    Line::named(&contender.to_string(), "#E69F00", Stroke::Dotted, points)
                }
                contender => Line::of(contender, points),
            }
        });
        (system.name, lines.collect())
    });
    let what = if name.ends_with("energy") { "the energy" } else { "any constraint" };
    Picture {
        name: name.to_owned(),
        caption: format!("The largest change of {what} over time."),
        svg: figure::over_time(
            "Nonholonomic systems, Euler h = 1e-3, RK4 h = 0.05, k = 0.4",
            2,
            "time t",
            "|change|",
            panels.collect(),
        ),
    }
}
