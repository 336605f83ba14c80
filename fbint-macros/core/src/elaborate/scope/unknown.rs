//! Names without a value, and what may be meant by them.

use std::borrow::Cow;

use syn::{Expr, Ident};

use super::{Meaning, Poison, Reported, Scope};
use crate::syntax::diagnostics::advised;
use crate::syntax::{Declaration, nearest, plain};

/// The remedy for an expression without a name.
pub(super) const NAMED: &str = "name its expression with `define` and use that name in both places";

impl Scope<'_> {
    /// Returns `true` if the name has a value, or would have one but for a mistake.
    pub(in crate::elaborate) fn has_value(&self, name: &Ident) -> bool {
        let name = plain(name);
        let is_valueless = |meaning: &Meaning| matches!(meaning, Meaning::Valueless(_));
        self.indices.iter().any(|(index, _)| *index == name)
            || self.names.get(&name).is_some_and(|meaning| !is_valueless(meaning))
    }

    /// The name at the beginning of `np.linalg`, if nothing has it.
    pub(in crate::elaborate) fn unknown_root(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Field(field) => self.unknown_root(&field.base),
            Expr::Path(path) => {
                let name = path.path.get_ident().filter(|name| *name != "self" && *name != "PI")?;
                (!self.has_value(name) && !self.is_obscure(&plain(name))).then(|| plain(name))
            }
            _ => None,
        }
    }

    /// Reports a name that nothing has, once.
    pub(super) fn unknown<T>(&mut self, name: &Ident) -> Reported<T> {
        let key = plain(name);
        if self.declaration.hidden_names || !self.unknown.insert(key.clone()) {
            return Err(Poison);
        }
        let indices = self.indices.iter().map(|(index, _)| index.as_str());
        let values = self.names.iter().filter(|(_, meaning)| !matches!(meaning, Meaning::Valueless(_)));
        let known: Vec<&str> = values.map(|(name, _)| name.as_str()).collect();
        let near = nearest(&key, known.iter().copied().chain(indices).chain(["PI"])).map(str::to_owned);
        let message = match (foreign_name(&key).or_else(|| self.as_rate(&key)), near) {
            (Some(advice), _) => advised(format_args!("unknown name `{name}`"), advice),
            (None, Some(near)) => {
                self.used.insert(near.clone());
                format!("unknown name `{name}`\nhelp: did you mean `{near}`?")
            }
            (None, None) if !key.chars().any(char::is_lowercase) && key.chars().any(char::is_uppercase) => format!(
                "unknown name `{name}`: the macro cannot see constants of the crate\nhelp: make it a field of the struct, or write its number, \
                 for instance in `define(..)`"
            ),
            (None, None) => {
                let names = list(&known);
                format!(
                    "unknown name `{name}`: a parameter is declared as the field `{name}: f64`; the names here are {names}"
                )
            }
        };
        self.fail_at(name.span(), message)
    }

    /// The advice for the name of a rate, as `q_dot` or `dq`.
    fn as_rate(&self, name: &str) -> Option<Cow<'static, str>> {
        let Declaration { coordinates, velocities, kinematics, .. } = self.declaration;
        let ends = ["_dot", "dot", "_d"].into_iter().filter_map(|end| name.strip_suffix(end));
        let starts = ["d_", "dot_", "d"].into_iter().filter_map(|start| name.strip_prefix(start));
        let stems: Vec<&str> = ends.chain(starts).collect();
        let place = coordinates.iter().position(|coordinate| stems.contains(&&plain(&coordinate.name)[..]))?;
        let coordinate = plain(&coordinates[place].name);
        let velocity = velocities.get(place).filter(|_| kinematics.is_empty());
        let rate = velocity.map_or_else(|| format!("rate({coordinate})"), |velocity| plain(&velocity.name));
        Some(Cow::from(format!("the rate of `{coordinate}` is `{rate}`")))
    }
}

/// The advice for a name that is often expected to be known.
fn foreign_name(name: &str) -> Option<Cow<'static, str>> {
    if let Some((left, right)) = name.split_once('·') {
        return Some(Cow::from(format!("a product is written `{left} * {right}`")));
    }
    match name {
        "hamiltonian" | "lagrangian" => Some(Cow::from(format!("it is a key\nhelp: {NAMED}"))),
        "multiplier" => Some(Cow::from("it is a function\nhelp: write `multiplier(constraint)`")),
        "hat" | "identity" | "zeros" => Some(Cow::from(format!("it is a function\nhelp: write `{name}(..)`"))),
        "vector" | "matrix" => Some(Cow::from(format!("it is a macro\nhelp: write `{name}![..]`"))),
        "t" | "time" => Some(Cow::from(format!("to let the model depend on the time, add `time({name})`"))),
        "deg" | "degree" | "degrees" => {
            Some(Cow::from("angles are in radians\nhelp: write `90 * PI / 180` for 90 degrees"))
        }
        "pi" | "Pi" | "π" | "M_PI" => Some(Cow::from("write `PI`")),
        "e" => Some(Cow::from("write `x.exp()` for a power of e, or declare the parameter as the field `e: f64`")),
        "E" | "TAU" => Some(Cow::from("write `1.exp()` or `2 * PI`: `PI` is the only constant that is known here")),
        _ => None,
    }
}

/// A list for messages, cut short if it is long.
pub(in crate::elaborate) fn list(names: &[&str]) -> String {
    const ENOUGH: usize = 12;
    let shown: Vec<String> = names.iter().take(ENOUGH).map(|name| format!("`{name}`")).collect();
    if names.len() > ENOUGH { format!("{} and others", shown.join(", ")) } else { shown.join(", ") }
}
