//! The wording for an inertia or reactions that determine no motion.

use super::Messages;
use crate::derivation::{IntegralId, Kind};
use crate::elaborate::joined;
use crate::expression::Symbol;
use crate::soundness::{Inertialess, Unsoundness};
use crate::syntax::diagnostics::Errors;
use crate::syntax::{AttributeKey, MARK_AS_REDUNDANT};

impl Messages<'_> {
    /// Reports what leaves the motion open.
    pub(in crate::compile) fn unsound(&self, mistakes: &[Unsoundness], errors: &Errors) {
        let lagrangian = &self.declaration.lagrangian;
        for mistake in mistakes {
            match mistake {
                Unsoundness::Indefinite => errors.push_spanned(
                    lagrangian,
                    "the mass matrix of the Lagrangian has both signs: along some velocities the inertia is negative\nhelp: check the signs of \
                     the kinetic energy",
                ),
                Unsoundness::Inertialess(motion) => errors.push_spanned(lagrangian, self.inertialess(motion)),
                Unsoundness::Dependent(members) => self.dependent(members, errors),
                Unsoundness::Motionless => {
                    let message = "no velocity is left: the constraints rule out every motion";
                    errors.push(self.declaration.place(AttributeKey::VelocityConstraint), message);
                }
            }
        }
    }

    fn inertialess(&self, motion: &Inertialess) -> String {
        let involved = motion.involved();
        let name = |symbol: Symbol| &self.model.problem.symbols[symbol].name;
        let all: Vec<&str> = motion.kernel.iter().map(|(velocity, _)| &**name(*velocity)).collect();
        let numbers: Vec<String> = motion.kernel.iter().map(|(_, entry)| entry.to_string()).collect();
        let kernel = format!("({}) = ({})", all.join(", "), numbers.join(", "));
        let names: Vec<String> = involved.iter().map(|velocity| self.state(*velocity)).collect();
        let remedy = self.remedy(motion, &involved);
        let along = joined(&names);
        let (undetermined, also) = match motion.is_augmented {
            true => (", and no constraint determines this motion", ", which the constraints do not determine either"),
            false => ("", ""),
        };
        match &names[..] {
            [] => format!(
                "the mass matrix of the Lagrangian is singular in every state, along a direction that depends on it{also}{remedy}"
            ),
            _ => format!(
                "the Lagrangian has no inertia along {along}{undetermined}: its mass matrix has the kernel {kernel}{remedy}"
            ),
        }
    }

    /// The remedy for velocities without inertia, which have no equation for their rates. Without a force they are free; otherwise their
    /// equations are of first order.
    fn remedy(&self, motion: &Inertialess, involved: &[Symbol]) -> String {
        let first_order =
            "declare equations of first order: a `state` with `dynamics`, or with `poisson` and a `hamiltonian`";
        if motion.is_linear {
            return format!("; it is linear in the velocities\nhelp: {first_order}");
        }
        if motion.is_held {
            return "\nhelp: add inertia, or constraints that determine it".to_owned();
        }
        match involved {
            // A velocity that is no coordinate's rate may be one of a motion that does not occur.
            [velocity] if !self.declaration.kinematics.is_empty() => {
                let name = &self.model.problem.symbols[*velocity].name;
                format!(
                    "\nhelp: add inertia, hold `{name}` at 0 by `velocity_constraint(name = {name})`, or {first_order}"
                )
            }
            [velocity] if !motion.matters => {
                let name = self.state(*velocity);
                format!(
                    "; nothing else depends on this motion\nhelp: remove {name} with its coordinate, or add inertia"
                )
            }
            _ => format!("\nhelp: add inertia, or {first_order}"),
        }
    }

    fn dependent(&self, members: &[IntegralId], errors: &Errors) {
        let names: Vec<String> = members.iter().map(|id| self.name(*id)).collect();
        let is_velocity = |id: &IntegralId| self.model.problem.integrals[*id].kind == Kind::Velocity;
        let first = members.iter().find(|id| is_velocity(id)).or(members.last());
        let kind = if members.iter().all(is_velocity) { "velocity constraints" } else { "constraints" };
        let message = match &names[..] {
            [only] => format!("{only} restricts no velocity\nhelp: remove it"),
            _ => {
                let mark = if kind == "constraints" { MARK_AS_REDUNDANT } else { "" };
                format!(
                    "the {kind} {} depend on one another everywhere\nhelp: remove one of them{mark}",
                    names.join(", ")
                )
            }
        };
        let span = first.map_or_else(|| self.declaration.item.ident.span(), |id| self.model.spans[*id]);
        errors.push(span, message);
    }
}
