//! The result of a reproduction, for the terminal, files and the report.

use fbint_command::results::{Picture, ResultTable};

/// A reproduced figure or table of a paper.
pub(crate) struct Reproduction {
    /// The name on the command line, such as `cpv22-figure-6`.
    pub(crate) name: &'static str,
    /// The reproduced item, and its publication.
    pub(crate) title: &'static str,
    /// Where feedback wins and where it loses, in words that follow from the numbers.
    pub(crate) words: Vec<String>,
    /// The figures.
    pub(crate) figures: Vec<Picture>,
    /// The tables, which are also written as CSV.
    pub(crate) tables: Vec<ResultTable>,
    /// Expected numbers compared with obtained ones.
    pub(crate) verdicts: Vec<Verdict>,
}

/// A published or independently computed number, compared with the obtained one.
#[derive(Clone)]
pub(crate) struct Verdict {
    /// The quantity that is compared.
    pub(crate) what: String,
    /// The published or independently computed number, or the bound.
    pub(crate) expected: f64,
    /// The obtained number.
    pub(crate) obtained: f64,
    /// The rule by which the numbers are compared.
    pub(crate) rule: Rule,
}

/// The condition under which a number counts as reproduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Within this fraction of the expected number.
    Within(f64),
    /// Not above the expected number.
    AtMost,
    /// Not below the expected number.
    AtLeast,
}

impl Verdict {
    /// Returns `true` if the number is reproduced. A number that is not finite never is.
    pub(crate) fn holds(&self) -> bool {
        let Self { expected, obtained, .. } = *self;
        obtained.is_finite()
            && match self.rule {
                Rule::Within(fraction) => (obtained - expected).abs() <= fraction * expected.abs(),
                Rule::AtMost => obtained <= expected,
                Rule::AtLeast => obtained >= expected,
            }
    }
}
