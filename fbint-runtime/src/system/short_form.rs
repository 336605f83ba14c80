//! Facts on at most two pages, for snapshots that people review.

use core::fmt::{self, Display, Formatter, Write};

use crate::system::facts::SystemFacts;

/// Two pages, in lines,
const LINES: usize = 110;
/// each of at most this many characters.
const WIDTH: usize = 120;
/// The most lines of equations that leave room for code.
const EQUATIONS: usize = 60;

/// The short form of a model: its names, its operation counts, its equations, and the code of its field. See
/// [`SystemFacts::short_form`].
#[derive(Clone, Copy, Debug)]
pub struct ShortForm<'f> {
    facts: &'f SystemFacts,
    source: &'f str,
    equations: &'f str,
}

impl SystemFacts {
    /// At most two pages for a reviewer: names, operation counts, equations, and the code of the vector field. The form counts the lines and
    /// characters that it leaves out, and the digest of [`source`](Self::source) changes with every change of the generated code.
    ///
    /// ```
    /// use fbint_runtime::{GeneratedSystem, feedback_system};
    ///
    /// #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2)]
    /// pub struct Oscillator { pub m: f64, pub k: f64 }
    ///
    /// let short_form = Oscillator::FACTS.short_form().to_string();
    /// assert!(short_form.starts_with("Oscillator\nstate: q, p\nparameters: m, k\n"), "{short_form}");
    /// ```
    pub const fn short_form(&self) -> ShortForm<'_> {
        self.short_form_of(self.source, self.equations)
    }

    /// The short form with code and equations that were printed elsewhere.
    #[doc(hidden)]
    pub const fn short_form_of<'f>(&'f self, source: &'f str, equations: &'f str) -> ShortForm<'f> {
        ShortForm { facts: self, source, equations }
    }
}

impl Display for ShortForm<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { facts, source, equations } = *self;
        line(out, format_args!("{}", facts.name))?;
        names(out, "state", facts.state.iter().map(|entry| entry.name))?;
        names(out, "parameters", facts.parameter_names.iter().copied())?;
        names(out, "inputs", facts.input_names.iter().copied())?;
        names(out, "outputs", facts.output_names.iter().copied())?;
        line(out, format_args!("operations of the field: {}", facts.vector_field_operations))?;
        line(out, format_args!("operations with feedback: {}", facts.feedback_field_operations))?;
        let (lines, digest) = (source.lines().count(), digest(source));
        line(out, format_args!("generated code: {lines} lines, digest {digest:016x}"))?;
        out.write_str("\nEquations\n")?;
        listed(out, equations.lines(), EQUATIONS)?;
        out.write_str("\nCode of the field\n")?;
        // Names, headings, and lines between them.
        let left = LINES - EQUATIONS.min(equations.lines().count()) - 16;
        listed(out, field(source), left)
    }
}

/// The lines of the body of the vector field.
fn field(source: &str) -> impl Iterator<Item = &str> + Clone {
    let lines = source.lines().skip_while(|line| !line.trim_start().starts_with("fn vector_field("));
    lines.skip(1).take_while(|line| *line != "    }").map(|line| line.get(4..).unwrap_or(line))
}

/// The names of some kind, if there are any.
fn names<'n>(out: &mut Formatter<'_>, kind: &str, names: impl Iterator<Item = &'n str> + Clone) -> fmt::Result {
    if names.clone().next().is_none() {
        return Ok(());
    }
    line(out, format_args!("{kind}: {}", Separated(names)))
}

/// Names with commas between them.
struct Separated<N>(N);

impl<'n, N: Iterator<Item = &'n str> + Clone> Display for Separated<N> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.clone().enumerate().try_for_each(|(place, name)| {
            let comma = if place == 0 { "" } else { ", " };
            write!(out, "{comma}{name}")
        })
    }
}

/// As many lines as there is room for, and the number of the rest.
fn listed<'l>(out: &mut Formatter<'_>, lines: impl Iterator<Item = &'l str> + Clone, room: usize) -> fmt::Result {
    let count = lines.clone().count();
    let shown = if count > room { room - 1 } else { count };
    lines.take(shown).try_for_each(|text| line(out, format_args!("{text}")))?;
    if shown < count { writeln!(out, "  .. and {} more lines", count - shown) } else { Ok(()) }
}

/// One line, cut where the page ends.
fn line(out: &mut Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    let mut cut = Cut { out, left: WIDTH, over: 0 };
    cut.write_fmt(text)?;
    let over = cut.over;
    if over > 0 { writeln!(out, " .. and {over} more characters") } else { writeln!(out) }
}

/// The first characters of what is written; the rest is counted.
struct Cut<'o, 'f> {
    out: &'o mut Formatter<'f>,
    left: usize,
    over: usize,
}

impl Write for Cut<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(end, _)| end);
        let (shown, rest) = text.split_at(end);
        self.left -= shown.chars().count();
        self.over += rest.chars().count();
        self.out.write_str(shown)
    }
}

/// FNV-1a in 64 bits.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
