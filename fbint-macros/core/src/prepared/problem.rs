//! The mathematics of a problem as text, without the names that it was declared with.

use super::notation::Lines;
use crate::derivation::table::Id;
use crate::derivation::{Dynamics, Kind, Lagrangian, Problem, Reaction, Role};

/// Equal for problems that are equal but for names.
pub(super) fn text(problem: &Problem) -> String {
    let mut lines = Lines::default();
    for (id, symbol) in problem.symbols.iter() {
        lines.alone(format!("symbol {} {}", id.place(), role(symbol.role)));
    }
    add_dynamics(&problem.dynamics, &mut lines);
    for integral in problem.integrals.rows() {
        let assumed = if integral.assumed { " assumed" } else { "" };
        let name = format!("integral {}, weight {}{assumed}", kind(integral.kind), integral.weight);
        match &integral.value {
            Some(value) => lines.expression(name, value),
            None => lines.alone(name),
        }
    }
    for Reaction { constraint, along, offset } in &problem.reactions {
        lines.by_symbol(&format!("reaction {} along", constraint.place()), along);
        if !offset.is_zero() {
            lines.expression(format!("offset {}", constraint.place()), offset);
        }
    }
    lines.by_symbol("force along", problem.forces.iter().map(|(along, force)| (along, force)));
    problem.outputs.iter().for_each(|output| lines.expression("output", &output.value));
    problem.laws.iter().for_each(|law| lines.expression("law", law));
    lines.text()
}

fn add_dynamics<'e>(dynamics: &'e Dynamics, lines: &mut Lines<'e>) {
    match dynamics {
        Dynamics::Canonical { hamiltonian } => lines.expression("canonical", hamiltonian),
        Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
            lines.expression("lagrangian", lagrangian);
            lines.by_symbol("kinematics of", kinematics.iter().map(|(coordinate, rate)| (coordinate, rate)));
        }
        Dynamics::Poisson { matrix, hamiltonian } => {
            lines.expression("poisson", hamiltonian);
            matrix.iter().flatten().for_each(|entry| lines.expression("entry", entry));
        }
        Dynamics::Given { rates } => rates.iter().for_each(|rate| lines.expression("rate", rate)),
    }
}

fn role(role: Role) -> String {
    match role {
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
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Holonomic { rate } => format!("holonomic with {}", rate.place()),
        Kind::Rate { of } => format!("rate of {}", of.place()),
        Kind::Phase => "phase".to_owned(),
        Kind::Velocity => "velocity".to_owned(),
        Kind::Redundant => "redundant".to_owned(),
        Kind::InvariantSet => "invariant set".to_owned(),
        Kind::Energy => "energy".to_owned(),
        Kind::Invariant => "invariant".to_owned(),
    }
}
