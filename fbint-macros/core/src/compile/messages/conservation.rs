//! The wording for integrals that are not conserved.

use super::Messages;
use crate::derivation::{Derivation, Kind, Role};
use crate::expression::Symbol;
use crate::notation;
use crate::proofs::{Found, Violation, Witness};
use crate::syntax::ASSUME;
use crate::syntax::diagnostics::Errors;

/// The most values that a witness lists.
const MOST_VALUES: usize = 16;

impl Messages<'_> {
    /// One message for each declared name: entries of a vector that fail together are one mistake.
    pub(in crate::compile) fn not_conserved(&self, derivation: &Derivation, violations: &[Violation]) -> syn::Error {
        let errors = Errors::new();
        let key = |violation: &Violation| {
            let is_refuted = matches!(violation.found, Found::Witness(_));
            (&derivation.integrals[violation.integral].entry.name, is_refuted)
        };
        for alike in violations.chunk_by(|a, b| key(a) == key(b)) {
            errors.push(self.model.spans[alike[0].integral], self.violation(derivation, &alike[0], &alike[1..]));
        }
        super::mistakes(self.declaration, errors)
    }

    /// The message for an integral whose conservation is neither proved nor refuted.
    fn undecided(&self, violation: &Violation, rate: &str, states: usize, others: &[Violation]) -> String {
        let name = self.name(violation.integral);
        let declared = &self.model.problem.integrals[violation.integral].entry.name;
        let also = self.also(others);
        let tried = match states {
            0 => "the search found no state in which that is defined".to_owned(),
            1 => "it vanishes in the only state that the search found".to_owned(),
            _ => format!("it vanishes in all {states} states that were tried, to 70 digits"),
        };
        let remedy = if self.environment.has_algebra() {
            ""
        } else if self.environment.algebra {
            "use the feature `derive` of `fbint-runtime`, whose algebra, free for non-commercial use, may prove it, "
        } else {
            "declare the model in a crate, whose algebra may prove it, "
        };
        format!(
            "cannot prove that {name} is conserved: {rate} is not shown to be 0, and {tried}{also}\nhelp: {remedy}rewrite it, or declare \
             `{ASSUME} {declared} = ..` to accept it unproved"
        )
    }

    /// Further places of the message.
    fn also(&self, others: &[Violation]) -> String {
        let names = self.names(others.iter().map(|other| other.integral));
        if names.is_empty() { names } else { format!("; nor is {names} conserved") }
    }

    /// Which reactions of velocity constraints take part in a rate.
    fn reactions(&self, derivation: &Derivation, violation: &Violation) -> String {
        let symbols = violation.rate.symbols();
        let held = |symbol: &Symbol| derivation.symbols.constraint(*symbol);
        let held = symbols.iter().filter_map(held);
        let names = self.names(held.filter(|id| derivation.integrals[*id].kind == Kind::Velocity));
        if names.is_empty() { names } else { format!("; it is changed by what holds {names}") }
    }

    fn violation(&self, derivation: &Derivation, violation: &Violation, others: &[Violation]) -> String {
        let name = self.name(violation.integral);
        let is_set = derivation.integrals[violation.integral].kind.is_constraint();
        let restricted = derivation.integrals.constraints().next().is_some();
        let what = match (is_set, restricted) {
            (true, _) => "is not an invariant set of the field: where all constraints hold,",
            (false, true) => "is not conserved: where the constraints hold,",
            (false, false) => "is not conserved:",
        };
        let rate = notation::short(&violation.rate, &derivation.symbols);
        let legend = legend(derivation, violation);
        let found = match &violation.found {
            Found::Witness(witness) => witness,
            Found::Nothing(states) => {
                return self.undecided(violation, &format!("d/dt = {rate}{legend}"), *states, others);
            }
        };
        let value = number(found.value);
        let reactions = self.reactions(derivation, violation);
        let witness = witness(derivation, violation, found);
        let also = self.also(others);
        let remedy = if is_set {
            "\nhelp: correct it or the field, or remove it"
        } else {
            "\nhelp: correct its expression, or remove it"
        };
        format!("{name} {what} d/dt = {rate}{legend}, which is {value} {witness}{reactions}{also}{remedy}")
    }
}

/// The terms of the rate that are found with it.
fn legend(derivation: &Derivation, violation: &Violation) -> String {
    let symbols = violation.rate.symbols();
    let roles = || symbols.iter().map(|symbol| derivation.symbols[*symbol].role);
    let words = [
        (roles().any(|role| matches!(role, Role::Acceleration { .. })), "a: the rates of velocities without reactions"),
        (roles().any(|role| matches!(role, Role::Response { .. })), "w: what reactions add to them"),
        (
            roles().any(|role| matches!(role, Role::Multiplier(_) | Role::Reaction { .. })),
            "c: the multipliers of the constraints",
        ),
    ];
    let words: Vec<&str> = words.into_iter().filter(|(occurs, _)| *occurs).map(|(_, word)| word).collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// The values of the symbols that the rate depends on; of all, where it contains what is solved for.
fn witness(derivation: &Derivation, violation: &Violation, found: &Witness) -> String {
    let unknowns: Vec<Symbol> = derivation.symbols.unknowns().collect();
    let relevant: Vec<Symbol> = if !legend(derivation, violation).is_empty() && unknowns.len() <= MOST_VALUES {
        unknowns
    } else {
        let symbols = violation.rate.symbols();
        unknowns.into_iter().filter(|symbol| symbols.contains(symbol)).collect()
    };
    if relevant.is_empty() {
        return "in every state".to_owned();
    }
    let digits = if found.is_exact { exact } else { number };
    let value = |&symbol: &Symbol| format!("{} = {}", derivation.symbols[symbol].name, digits(found.state[symbol]));
    let mut values: Vec<String> = relevant.iter().take(MOST_VALUES).map(value).collect();
    if relevant.len() > MOST_VALUES {
        values.push("..".to_owned());
    }
    format!("at {}", values.join(", "))
}

/// A number with all digits.
fn exact(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) { format!("{value}") } else { format!("{value:e}") }
}

/// A number with three digits.
fn number(value: f64) -> String {
    exact(format!("{value:.2e}").parse().unwrap_or(value))
}
