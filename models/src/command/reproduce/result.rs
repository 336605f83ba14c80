//! What a reproduction yields, whoever shows it: the terminal, files, or the report.

/// One figure or table of a paper, made again.
pub(crate) struct Reproduction {
    /// As given on the command line: `cpv22-figure-1`.
    pub(crate) name: &'static str,
    /// What it is, and where it was published.
    pub(crate) title: &'static str,
    /// What it shows, in plain words and from the numbers: where feedback wins and where it loses.
    pub(crate) words: Vec<String>,
    /// The figures.
    pub(crate) figures: Vec<Picture>,
    /// The tables, which are also written as CSV.
    pub(crate) tables: Vec<Table>,
    /// Expected beside obtained.
    pub(crate) verdicts: Vec<Verdict>,
}

/// A figure as SVG.
pub(crate) struct Picture {
    /// The file's name without its ending.
    pub(crate) name: String,
    /// What it shows.
    pub(crate) caption: String,
    /// A complete SVG document.
    pub(crate) svg: String,
}

/// A table of numbers; the first column names the rows.
pub(crate) struct Table {
    /// The file's name without its ending.
    pub(crate) name: String,
    /// What it shows, with units.
    pub(crate) caption: String,
    /// The heads of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows; a number is written in full to CSV and with three digits elsewhere.
    pub(crate) rows: Vec<(String, Vec<f64>)>,
}

/// A published or independently computed number, beside what came out.
pub(crate) struct Verdict {
    /// What is compared.
    pub(crate) what: String,
    /// The published or independently computed number, or the bound.
    pub(crate) expected: f64,
    /// What came out.
    pub(crate) obtained: f64,
    /// How the two are compared.
    pub(crate) rule: Rule,
}

/// When a number counts as reproduced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// Within this fraction of what is expected.
    Within(f64),
    /// Not above what is expected.
    AtMost,
    /// Not below what is expected.
    AtLeast,
}

impl Verdict {
    /// Whether the number is reproduced. A number that is not finite never is.
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
