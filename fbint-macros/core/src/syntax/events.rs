//! Events, sections and drawings: what a run finds and shows beyond its state.

use proc_macro2::{Delimiter, Group, TokenTree};
use syn::{Expr, Ident};

use super::attribute::{AttributeReader, KeyEntry, after_equals};
use super::lists::{List, family};
use super::written::{stream, written_or};
use super::{AttributeKey, Family, NamedExpression, did_you_mean, plain};

/// `event(floor = q[1], falling, terminal, count = 3, when = p[1] < 0, reset(p = -p))`, or a `section` without an effect.
#[derive(Clone, Debug)]
pub struct EventDeclaration {
    /// The name and the function that passes 0.
    pub named: NamedExpression,
    /// The direction in which it has to pass 0, unless both count.
    pub direction: Option<Crossing>,
    /// `true` if it ends the run.
    pub is_terminal: bool,
    /// The number of the occurrence that ends the run, and its place.
    pub count: Option<Expr>,
    /// The condition under which it counts.
    pub condition: Option<Expr>,
    /// The variables of the state that change there.
    pub resets: Vec<NamedExpression>,
}

/// A direction in which a function passes 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
}

/// A shape of a drawing: `rod(a, b)`, or the family `rod[i in 0..8](a, b)`.
#[derive(Clone, Debug)]
pub struct ShapeDeclaration {
    /// Its sort.
    pub kind: ShapeKind,
    /// The word for it.
    pub word: Ident,
    /// The index that makes it a family.
    pub family: Option<Family>,
    /// Its points and lengths.
    pub arguments: Vec<Expr>,
}

/// The sorts of shapes, each with its word and its arguments in messages.
macro_rules! shapes {
    ($($(#[$doc:meta])* $kind:ident: $word:literal, [$($argument:literal),*];)*) => {
        /// The sort of a shape.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ShapeKind { $($(#[$doc])* $kind,)* }

        impl ShapeKind {
            const ALL: &[Self] = &[$(Self::$kind),*];

            fn word(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }

            /// The names of its arguments, one of which may be left out, or may be followed by more of its sort.
            fn arguments(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &[$($argument),*],)* }
            }
        }
    };
}

shapes! {
    /// A line through points.
    Rod: "rod", ["from", "to", ".."];
    /// A fixed point.
    Pivot: "pivot", ["place"];
    /// A moving point.
    Point: "point", ["place"];
    /// A point that leaves a trace.
    Trace: "trace", ["place"];
    /// A coil between two points.
    Spring: "spring", ["from", "to"];
    /// An arrow between two points.
    Arrow: "arrow", ["from", "to"];
    /// A thin line through points, for what only guides the eye.
    Guide: "guide", ["from", "to", ".."];
    /// A flat face, filled.
    Face: "face", ["corner", "corner", "corner", ".."];
    /// A thin circle about a point, in space about an axis.
    Circle: "circle", ["centre", "radius", "[axis]"];
    /// A circle like a rod.
    Hoop: "hoop", ["centre", "radius", "[axis]"];
    /// A circle, filled.
    Disk: "disk", ["centre", "radius", "[axis]"];
    /// A box, or a rectangle in the plane, turned by a matrix or an angle.
    Body: "body", ["centre", "rotation", "sides"];
    /// The axes of a frame as arrows.
    Frame: "frame", ["origin", "rotation", "length"];
    /// The middle of an animation's picture.
    Centre: "centre", ["centre"];
    /// The distance from the middle of an animation's picture to its sides.
    Range: "range", ["range"];
    /// The direction from which an animation is seen.
    View: "view", ["view"];
}

/// The sort of an argument of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeArgument {
    /// A vector of 2 or 3, as many as the other points of the shape have.
    Point,
    /// A number.
    Length,
    /// A vector of 3.
    Axis,
    /// An angle, or a matrix of 3 rows and columns.
    Rotation,
}

impl EventDeclaration {
    /// The expressions besides the function that passes 0.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.condition.iter().chain(self.resets.iter().map(|reset| &reset.value))
    }
}

impl ShapeKind {
    /// Returns `true` for what `film` takes by name, and `draw` does not.
    pub fn is_of_film(self) -> bool {
        matches!(self, Self::Centre | Self::Range | Self::View)
    }

    /// The shapes of a drawing, or the words of a film.
    fn all(are_of_film: bool) -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(move |kind| kind.is_of_film() == are_of_film)
    }

    /// The name and the sort of the argument at an index.
    pub fn argument(self, index: usize) -> (&'static str, ShapeArgument) {
        let named = || self.arguments().iter().filter(|name| **name != "..");
        let name = named().nth(index).or(named().next_back()).map_or("place", |name| name.trim_matches(['[', ']']));
        let sort = match name {
            "radius" | "length" | "range" => ShapeArgument::Length,
            "axis" | "view" => ShapeArgument::Axis,
            "rotation" => ShapeArgument::Rotation,
            _ => ShapeArgument::Point,
        };
        (name, sort)
    }

    /// The least and the largest number of its arguments.
    fn counts(self) -> [usize; 2] {
        let names = self.arguments();
        let least = names.iter().filter(|name| **name != ".." && !name.starts_with('[')).count();
        [least, if names.contains(&"..") { usize::MAX } else { names.len() }]
    }

    /// Its notation.
    fn usage(self) -> String {
        format!("{}({})", self.word(), self.arguments().join(", "))
    }
}

impl AttributeReader<'_> {
    /// `key(name = expression, ..)`, with the options of an event. Each key declares one event.
    pub(super) fn event(&mut self, entry: &KeyEntry<'_>) -> Option<EventDeclaration> {
        let entries = self.list(entry, "name a function that passes 0");
        let (first, options) = entries.split_first()?;
        let named = self.definition(entry.key, first);
        let mut event = EventDeclaration {
            named: named.clone().unwrap_or_else(|| unnamed(entry.word)),
            direction: None,
            is_terminal: false,
            count: None,
            condition: None,
            resets: Vec::new(),
        };
        for option in options {
            self.option(entry.key, option, &mut event);
        }
        named.map(|_| event)
    }

    fn option(&mut self, key: AttributeKey, tokens: &[TokenTree], event: &mut EventDeclaration) {
        let is_section = key == AttributeKey::Section;
        match tokens {
            [TokenTree::Ident(word)] if word == "rising" || word == "falling" => {
                let direction = if word == "rising" { Crossing::Rising } else { Crossing::Falling };
                if event.direction.replace(direction).is_some() {
                    let message = "a direction is given already\nhelp: keep one, or none for both";
                    self.errors.push(word.span(), message);
                }
            }
            [TokenTree::Ident(word), rest @ ..] if word == "when" && after_equals(rest).is_some() => {
                let value = self.parsed(&rest[1..]);
                event.condition = self.errors.reported(value);
            }
            [TokenTree::Ident(word)] if word == "terminal" && !is_section => event.is_terminal = true,
            [TokenTree::Ident(word), rest @ ..] if word == "count" && !is_section && after_equals(rest).is_some() => {
                let value = self.parsed(&rest[1..]);
                event.count = self.errors.reported(value);
            }
            [TokenTree::Ident(word), TokenTree::Group(group), rest @ ..]
                if word == "reset" && !is_section && group.delimiter() == Delimiter::Parenthesis =>
            {
                self.leftover(rest);
                for tokens in self.entries(group.stream()) {
                    event.resets.extend(self.definition(List::RESET, &tokens));
                }
            }
            [first, ..] => {
                let options = if is_section {
                    "a section takes `rising` or `falling`, and `when = condition`; what changes the state is an `event`"
                } else {
                    "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another \
                     event is another `event(..)`"
                };
                let remedy = foreign(key, tokens).map_or_else(String::new, |remedy| format!("\nhelp: write {remedy}"));
                self.spoil(key, first.span(), format_args!("{options}{remedy}"));
            }
            [] => {}
        }
    }

    /// `draw(rod(a, b), point(c))`
    pub(super) fn shapes(&mut self, entry: &KeyEntry<'_>) -> Vec<ShapeDeclaration> {
        let entries = self.list(entry, "name its shapes");
        entries.iter().filter_map(|tokens| self.shape_of_drawing(entry.key, tokens)).collect()
    }

    /// `film(centre = q, range = 2, view = vector![1, 0, 0])`
    pub(super) fn film(&mut self, entry: &KeyEntry<'_>) -> Vec<ShapeDeclaration> {
        let mut film: Vec<ShapeDeclaration> = Vec::new();
        for tokens in self.list(entry, "give a centre, a range or a view") {
            let Some(NamedExpression { name, value, family, .. }) = self.definition(entry.key, &tokens) else {
                continue;
            };
            let kinds = ShapeKind::all(true);
            let Some(kind) = kinds.clone().find(|kind| name == kind.word()).filter(|_| family.is_none()) else {
                let question = did_you_mean(&plain(&name), kinds.map(ShapeKind::word));
                let question = question.map_or_else(String::new, |question| format!("{question} "));
                let message =
                    format!("a film has no `{name}`\nhelp: {question}it has a `centre`, a `range` and a `view`");
                self.spoil(entry.key, name.span(), message);
                continue;
            };
            if self.declaration.film.iter().chain(&film).any(|known| known.kind == kind) {
                self.errors.push(name.span(), format!("the film has a {name} already\nhelp: keep one"));
                continue;
            }
            film.push(ShapeDeclaration { kind, word: entry.word.clone(), family: None, arguments: vec![value] });
        }
        film
    }

    fn shape_of_drawing(&mut self, key: AttributeKey, tokens: &[TokenTree]) -> Option<ShapeDeclaration> {
        let (word, index, arguments, rest): (_, Option<&Group>, _, _) = match tokens {
            [TokenTree::Ident(word), TokenTree::Group(index), TokenTree::Group(arguments), rest @ ..]
                if index.delimiter() == Delimiter::Bracket =>
            {
                (word, Some(index), arguments, rest)
            }
            [TokenTree::Ident(word), TokenTree::Group(arguments), rest @ ..] => (word, None, arguments, rest),
            _ => {
                let usage = key.row().usage;
                self.spoil(
                    key,
                    tokens[0].span(),
                    format_args!("a shape has its points in parentheses, as in `{usage}`"),
                );
                return None;
            }
        };
        let kinds = ShapeKind::all(false);
        let Some(kind) = kinds.clone().find(|kind| word == kind.word()) else {
            let question = did_you_mean(&plain(word), kinds.clone().map(ShapeKind::word));
            let question = question.map_or_else(String::new, |question| format!("{question} "));
            let known: Vec<String> = kinds.map(|kind| format!("`{}`", kind.usage())).collect();
            let message = format!("there is no shape `{word}`\nhelp: {question}shapes are {}", known.join(", "));
            self.spoil(key, word.span(), message);
            return None;
        };
        self.leftover(rest);
        let family = index.map(|index| family(key, word, index)).transpose();
        let family = self.errors.reported(family)?;
        let written = self.entries(arguments.stream());
        let (count, [least, most]) = (written.len(), kind.counts());
        if !(least..=most).contains(&count) {
            let expected = match most {
                usize::MAX => format!("{least} or more"),
                most if most > least => format!("{least} or {most}"),
                _ => least.to_string(),
            };
            let message = format!("`{word}` takes {expected}, and there are {count}: `{}`", kind.usage());
            self.spoil(key, word.span(), message);
            return None;
        }
        let mut values = Vec::new();
        for tokens in &written {
            let value = self.parsed(tokens);
            values.push(self.errors.reported(value)?);
        }
        Some(ShapeDeclaration { kind, word: word.clone(), family, arguments: values })
    }
}

/// The notation of an option that other languages write differently: `direction = -1`, `terminal = true`, `stop`.
fn foreign(key: AttributeKey, tokens: &[TokenTree]) -> Option<String> {
    let [TokenTree::Ident(word), rest @ ..] = tokens else { return None };
    let value = after_equals(rest).map(|value| written_or(stream(value), ".."));
    let value = value.as_deref().unwrap_or_default();
    let remedy = match (&plain(word).to_lowercase()[..], value) {
        ("direction", value) if value.starts_with('-') => "`falling`",
        ("direction", "0") => "none, for both directions",
        ("direction", _) | ("up" | "increasing" | "upwards" | "positive", _) => "`rising`",
        ("down" | "decreasing" | "downwards" | "negative", _) => "`falling`",
        // A section changes nothing.
        ("terminal" | "terminate" | "stop" | "end" | "halt" | "reset" | "affect" | "action" | "then", _)
            if key != AttributeKey::Event =>
        {
            return None;
        }
        ("terminal", "false") => "nothing: only a `terminal` event ends a run",
        ("terminal" | "terminate" | "stop" | "end" | "halt", _) => "`terminal`",
        ("if" | "condition" | "only_if", condition) if !condition.is_empty() => {
            return Some(format!("`when = {condition}`"));
        }
        ("reset" | "affect" | "action" | "then", value) if !value.is_empty() => {
            "`reset(p = ..)`, with the name of what changes"
        }
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// Stands for the function of an event whose name could not be read.
fn unnamed(word: &Ident) -> NamedExpression {
    let name = word.clone();
    NamedExpression { value: syn::parse_quote!(0), mark: None, family: None, name }
}
