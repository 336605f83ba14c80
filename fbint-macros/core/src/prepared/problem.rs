//! The mathematics of a problem as text, without the names that it was declared with.

use std::fmt::Write as _;

use super::notation::Writer;
use crate::derivation::table::Id;
use crate::derivation::{Dynamics, Kind, Lagrangian, Problem, Reaction, Role};
use crate::expression::{Expression, Symbol};

/// Equal for problems that are equal but for names.
pub(super) fn text(problem: &Problem) -> String {
    let mut lines: Vec<(String, Option<&Expression>)> = Vec::new();
    for (id, symbol) in problem.symbols.iter() {
        let role = match symbol.role {
            Role::Coordinate { momentum } => format!("coordinate of {}", momentum.place()),
            Role::Momentum { coordinate } => format!("momentum of {}", coordinate.place()),
            Role::Position => "position".to_owned(),
            Role::Velocity => "velocity".to_owned(),
            Role::Vanishing { reaction } => format!("vanishing by {}", reaction.place()),
            Role::Reaction { of } => format!("reaction of {}", of.place()),
            Role::Rate { of } => format!("rate of {}", of.place()),
            Role::Conjugate { of } => format!("conjugate of {}", of.place()),
            Role::Acceleration { of } => format!("acceleration of {}", of.place()),
            Role::Response { of, to } => format!("response of {} to {}", of.place(), to.place()),
            Role::State => "state".to_owned(),
            Role::Time => "time".to_owned(),
            Role::Work => "work".to_owned(),
            Role::Parameter => "parameter".to_owned(),
            Role::Input => "input".to_owned(),
            Role::Multiplier(constraint) => format!("multiplier of {}", constraint.place()),
        };
        lines.push((format!("symbol {} {role}", id.place()), None));
    }
    match &problem.dynamics {
        Dynamics::Canonical { hamiltonian } => lines.push(("canonical".to_owned(), Some(hamiltonian))),
        Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
            lines.push(("lagrangian".to_owned(), Some(lagrangian)));
            lines.extend(
                kinematics
                    .iter()
                    .map(|(coordinate, rate)| (format!("kinematics of {}", coordinate.place()), Some(rate))),
            );
        }
        Dynamics::Poisson { matrix, hamiltonian } => {
            lines.push(("poisson".to_owned(), Some(hamiltonian)));
            lines.extend(matrix.iter().flatten().map(|entry| ("entry".to_owned(), Some(entry))));
        }
        Dynamics::Given { rates } => lines.extend(rates.iter().map(|rate| ("rate".to_owned(), Some(rate)))),
    }
    for integral in problem.integrals.rows() {
        let kind = match integral.kind {
            Kind::Holonomic { rate } => format!("holonomic with {}", rate.place()),
            Kind::Rate { of } => format!("rate of {}", of.place()),
            Kind::Phase => "phase".to_owned(),
            Kind::Velocity => "velocity".to_owned(),
            Kind::InvariantSet => "invariant set".to_owned(),
            Kind::Energy => "energy".to_owned(),
            Kind::Invariant => "invariant".to_owned(),
        };
        let assumed = if integral.assumed { " assumed" } else { "" };
        lines.push((format!("integral {kind}, weight {}{assumed}", integral.weight), integral.value.as_ref()));
    }
    for Reaction { constraint, along } in &problem.reactions {
        let name = |symbol: Symbol| format!("reaction {} along {}", constraint.place(), symbol.place());
        lines.extend(along.iter().map(|(symbol, entry)| (name(*symbol), Some(entry))));
    }
    let forces = problem.forces.iter();
    lines.extend(forces.map(|(along, force)| (format!("force along {}", along.place()), Some(force))));
    lines.extend(problem.outputs.iter().map(|output| ("output".to_owned(), Some(&output.value))));

    let mut writer = Writer::default();
    lines.iter().filter_map(|(_, expression)| *expression).for_each(|expression| writer.announce(expression));
    let mut text = String::new();
    for (name, expression) in lines {
        let value = expression.map(|expression| writer.expression(expression, &mut text));
        let _ = match value {
            Some(value) => writeln!(text, "{name} = {value}"),
            None => writeln!(text, "{name}"),
        };
    }
    text
}
