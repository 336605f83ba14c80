//! Random Lagrangian systems: every text ends in a model, whose functions agree with its derivation, or in a message about the model. A
//! panic of the compiler and a generated function that is wrong both ask for a report.

use fbint_text::models;

use crate::amount;
use crate::random::Random;

/// What an expression may read.
const POSITIONS: [&str; 4] = ["x", "y", "mu", "time"];
const VELOCITIES: [&str; 2] = ["vx", "vy"];
/// Numbers, some of which cancel.
const NUMBERS: [&str; 8] =
    ["2", "0.1", "PI", "(PI - 3.141592653589793)", "0", "-1", "1e-12", "(2.sqrt() - 1.4142135623730951)"];

impl Random {
    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// An expression of these symbols that is smooth nearly everywhere.
    fn expression(&mut self, symbols: &[&str], depth: usize) -> String {
        if depth == 0 {
            return if self.below(3) == 0 { self.one_of(&NUMBERS) } else { self.one_of(symbols) }.to_owned();
        }
        let a = self.expression(symbols, depth - 1);
        match self.below(14) {
            0..=2 => format!("({a} + {})", self.expression(symbols, depth - 1)),
            3 | 4 => format!("({a} - {})", self.expression(symbols, depth - 1)),
            5..=8 => format!("{a} * {}", self.expression(symbols, depth - 1)),
            9 => format!("{a} / (1 + ({}).powi(2))", self.expression(symbols, depth - 1)),
            10 => format!("({a}).powi({})", 2 + self.below(3)),
            11 => format!("(1 + ({a}).powi(2)).sqrt()"),
            12 => format!("(-({a})).exp()"),
            _ => format!("({a}).{}()", self.one_of(&["sin", "cos", "tanh", "atan", "abs"])),
        }
    }

    /// A Lagrangian with some energy for every velocity, most of them with terms that are linear in velocities, among which are total
    /// derivatives of functions of the coordinates.
    fn lagrangian(&mut self) -> String {
        let mut terms = vec!["(vx.powi(2) + 2 * vy.powi(2)) / 2".to_owned()];
        for _ in 0..1 + self.below(3) {
            let (factor, depth) = (self.one_of(&VELOCITIES), self.below(3));
            terms.push(match self.below(4) {
                0 => format!("{factor} * {}", self.expression(&POSITIONS, depth)),
                1 => format!("{factor}.powi(2) * {}", self.expression(&POSITIONS, depth)),
                2 => self.expression(&[&POSITIONS[..], &VELOCITIES].concat(), depth),
                _ => self.expression(&POSITIONS, 1 + depth),
            });
        }
        terms.join(" + ")
    }

    /// The declaration of a model of one of several kinds.
    fn model(&mut self) -> String {
        let lagrangian = self.lagrangian();
        let rate = self.expression(&["x", "y", "mu"], 2);
        let further = match self.below(6) {
            0 => ", constraint(g = x.powi(2) + y.powi(2) - 1)".to_owned(),
            1 => format!(", constraint(g = x - {rate})"),
            2 => format!(", velocity_constraint(g = vx * ({rate}) - vy)"),
            3 => format!(", force(vx = -vx * ({rate}), vy = {rate})"),
            4 => format!(", kinematics(x = vx + ({rate}) * vy, y = vy)"),
            _ => String::new(),
        };
        let further = further + if self.below(4) == 0 { ", derivatives" } else { "" };
        let has = |name: &str| lagrangian.contains(name) || further.contains(name);
        let time = if has("time") { "time(time), " } else { "" };
        let parameter = if has("mu") { "mu: f64" } else { "" };
        format!(
            "#[feedback_system(coordinates(x, y), velocities(vx, vy), {time}lagrangian = {lagrangian}{further})] \
             struct S {{ {parameter} }}"
        )
    }
}

#[test]
fn random_lagrangians_end_in_models_or_messages() {
    let mut random = Random::new(63);
    let (mut derived, mut bugs) = (0, Vec::new());
    for _ in 0..amount(60, 10_000) {
        let text = random.model();
        match models(&text) {
            Ok(_) => derived += 1,
            Err(mistakes) => {
                let message = mistakes.to_string();
                bugs.extend(message.contains("please report").then(|| format!("{text}\n{message}")));
            }
        }
    }
    assert!(bugs.is_empty(), "{}", bugs.join("\n"));
    assert!(derived > amount(30, 5_000), "{derived} models");
}

/// A constraint whose gradient vanishes on one side of a switch, where no motion is determined.
#[test]
fn a_constraint_may_lose_its_gradient_beyond_a_switch() {
    for (kinetic, constraint) in [
        ("(vx.powi(2) + 2 * vy.powi(2)) / 2 + vx.powi(2) * (y - x).exp()", "x + x.abs() - 1.exp()"),
        ("(vx.powi(2) + vy.powi(2)) / 2", "(y + x.abs() + x).powi(2) - y.powi(2) - 1"),
    ] {
        let text = format!(
            "#[feedback_system(coordinates(x, y), velocities(vx, vy), lagrangian = {kinetic}, constraint(g = {constraint}))] struct S;"
        );
        assert!(models(&text).is_ok(), "{text}\n{}", models(&text).unwrap_err());
    }
}

/// A constraint whose gradient is the rest of a cancellation, and 0 in doubles.
#[test]
fn a_gradient_may_be_smaller_than_its_rounding() {
    let text = "#[feedback_system(
        coordinates(x, y), velocities(vx, vy), lagrangian = (vx.powi(2) + 2 * vy.powi(2)) / 2, derivatives,
        constraint(g = x - (1 + (2.sqrt() - 1.4142135623730951).powi(2)).sqrt() * (x - 1e-12)),
    )] struct S;";
    let model = models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    let doubt = model.declared().doubts.concat() + fbint_catalogue::FlatModel::equations(&model);
    assert!(doubt.contains("no state was found in which the generated `vector_field`"), "{doubt}");
}

/// Differences that turn out to be 0 while sums are written, as both sides are one value.
#[test]
fn sums_that_cancel_while_they_are_lowered_are_zero() {
    let circle = "constraint(g = x.powi(2) + y.powi(2) - 1)";
    let pi = "(PI - 3.141592653589793)";
    for (lagrangian, further) in [
        ("vy * (-y).exp()".to_owned(), circle),
        ("vx * y.sin() * x.cos() + vy * x.sin() * y.cos()".to_owned(), circle),
        (format!("{pi} * x.powi(2) * y + {pi} * vx * vy"), circle),
        (format!("{pi} * vx + PI * x - 3.141592653589793 * x"), "force(vx = PI * vx - 3.141592653589793 * vx)"),
    ] {
        let text = format!(
            "#[feedback_system(coordinates(x, y), velocities(vx, vy), lagrangian = (vx.powi(2) + vy.powi(2)) / 2 + {lagrangian}, \
             {further}, derivatives)] struct S;"
        );
        assert!(models(&text).is_ok(), "{text}\n{}", models(&text).unwrap_err());
    }
}

/// Numbers of which nothing but the last digits is left, once the sum that they stand in is a term of another one, or nothing at all.
#[test]
fn numbers_that_cancel_in_a_sum_of_sums_are_no_bug() {
    for number in ["PI - 3.141592653589793", "2.sqrt() - 1.4142135623730951", "1.exp() - 2.718281828459045"] {
        for declaration in [
            format!("velocities(v), lagrangian = v.powi(2) + v.powi(2) * (({number}) - 1)"),
            format!(
                "velocities(v), kinematics(x = v * (1 + ({number}).powi(2)).sqrt()), lagrangian = v.powi(2) / 2 - x.exp()"
            ),
            format!("momenta(p), hamiltonian = (p.powi(2) + x.powi(2)) / 2 + p.powi(2) * (({number}) - 0.5)"),
        ] {
            let text = format!("#[feedback_system(coordinates(x), {declaration}, derivatives)] struct S;");
            assert!(models(&text).is_ok(), "{text}\n{}", models(&text).unwrap_err());
        }
    }
}

/// A term of the energy that is 1 in doubles, and is more by 5e-24.
#[test]
fn numbers_that_are_rounded_before_they_are_compared_are_no_bug() {
    let text = "#[feedback_system(
        coordinates(x, y), velocities(vx, vy), constraint(g = x.powi(2) + y.powi(2) - 1), derivatives,
        lagrangian = (vx.powi(2) + 2 * vy.powi(2)) / 2 + (1 + (1e-12 * PI).powi(2)).sqrt(),
    )] struct S;";
    assert!(models(text).is_ok(), "{}", models(text).unwrap_err());
}
