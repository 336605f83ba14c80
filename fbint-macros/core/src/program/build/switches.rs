//! Where the field switches: the arguments of `step`, `sign` and `abs` in it.
//!
//! The field is smooth on either side of a zero of such an argument a, and a method keeps its order if every step stays on one side. So
//! programs compute `sign(a + s)` with a number s of the prepared model, its side: 0 by default, and infinite while a run holds the side on
//! which a step began. `abs(a)` is `sign(a + s) a`. Under a root or a logarithm, which have no values beyond, no side is held. Runs look for
//! the zeros of a as they look for events.
//!
//! A function that an integral contains, too, is no switch: beyond its zero, a step on a held side would leave the integral's level set, and
//! the projection would bend it.

use std::collections::HashSet;

use crate::derivation::{Derivation, Symbols};
use crate::expression::{Expression, Function, Identity};
use crate::program::code::Sign;

/// An argument of functions that switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The argument.
    pub argument: Expression,
    /// `true` if it is held on one side during a step.
    pub is_held: bool,
}

impl Switch {
    /// The sign with which it is the argument of a function, if it is.
    fn sign_in(&self, argument: &Expression) -> Option<Sign> {
        if self.argument.identity() == argument.identity() {
            return Some(Sign::Plus);
        }
        let identities = |negated: bool, of: &Expression| -> HashSet<Identity> {
            let term = |term: &Expression| if negated { (-term.clone()).identity() } else { term.identity() };
            of.terms().iter().map(term).collect()
        };
        (identities(true, &self.argument) == identities(false, argument)).then_some(Sign::Minus)
    }
}

/// The place of the switch that a function of this argument has, and the sign of the argument in it.
pub(super) fn place(switches: &[Switch], argument: &Expression) -> Option<(usize, Sign)> {
    switches.iter().enumerate().find_map(|(place, switch)| Some((place, switch.sign_in(argument)?)))
}

/// The argument of a function that switches.
pub(super) fn argument(part: &Expression) -> Option<&Expression> {
    match part {
        Expression::Call(Function::Step | Function::Sign | Function::Abs, arguments) => arguments.first(),
        _ => None,
    }
}

/// The switches of the field and of the laws of inputs that vary with the state or the inputs. Those inside of others come first.
pub fn switches(derivation: &Derivation) -> Vec<Switch> {
    let (mut all, mut seen, mut under_roots) = (Vec::new(), HashSet::new(), HashSet::new());
    let of_integrals = of_integrals(derivation);
    for root in expressions(derivation) {
        // Parts come after what contains them.
        let parts: Vec<&Expression> = root.nodes().collect();
        for part in parts.into_iter().rev() {
            if let Some(argument) = argument(part)
                && seen.insert(argument.identity())
                && place(&of_integrals, argument).is_none()
            {
                add(&mut all, argument, &derivation.symbols);
            }
            under_roots.extend(switches_under_root(part));
        }
    }
    all.iter_mut().for_each(|switch| switch.is_held = !under_roots.contains(&switch.argument.identity()));
    all
}

/// The arguments of functions that switch in integrals.
fn of_integrals(derivation: &Derivation) -> Vec<Switch> {
    let parts = derivation.integrals.rows().flat_map(|integral| integral.value.nodes());
    let arguments = parts.filter_map(argument);
    arguments.map(|argument| Switch { argument: argument.clone(), is_held: false }).collect()
}

/// The arguments of what switches under a root, a logarithm or a power.
fn switches_under_root(part: &Expression) -> Vec<Identity> {
    let base = match part {
        Expression::Power(base, exponent) if !exponent.is_integer() => base,
        Expression::Call(Function::Ln | Function::Powf, arguments) => &arguments[0],
        _ => return Vec::new(),
    };
    base.nodes().filter_map(argument).map(Expression::identity).collect()
}

/// Adds the switch of an argument, unless it is there, or follows from parameters or from what is solved for.
fn add(all: &mut Vec<Switch>, argument: &Expression, symbols: &Symbols) {
    let own = argument.symbols();
    let changing: HashSet<_> = symbols.states().chain(symbols.inputs()).collect();
    let is_known = |symbol| changing.contains(symbol) || symbols.parameters().any(|parameter| parameter == *symbol);
    let varies = own.iter().any(|symbol| changing.contains(symbol)) && own.iter().all(is_known);
    if varies && place(all, argument).is_none() {
        all.push(Switch { argument: argument.clone(), is_held: true });
    }
}

/// Everything that makes the state move.
fn expressions(derivation: &Derivation) -> impl Iterator<Item = &Expression> {
    let systems = derivation.field.systems.iter().flat_map(|system| system.expressions());
    let forces = derivation.drive.forces.iter().map(|force| &force.value);
    // The field is made of them where brackets of constraints determine it.
    let gradients = derivation.integrals.rows().flat_map(|integral| integral.gradient.values());
    let of_field = systems.chain(derivation.field.rates.rows()).chain(forces).chain(gradients);
    of_field.chain(&derivation.laws)
}
