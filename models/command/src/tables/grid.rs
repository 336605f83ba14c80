//! A table in Markdown, and numbers as its cells show them.

use std::fmt;

/// Bounds of what rounding adds up to in a run. A smaller change is shown as smaller than the bound.
const ROUNDING: [f64; 2] = [1e-13, 1e-12];
/// The exponent of the last digit that rounding leaves alone.
const LAST_DIGIT: f64 = -12.0;

/// A table in Markdown.
pub(super) struct Grid {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows; the first column names them.
    pub(super) fn new<const N: usize>(columns: [&str; N]) -> Self {
        Self { columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Appends a row.
    pub(super) fn row(&mut self, name: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        self.rows.push(std::iter::once(name.into()).chain(cells).collect());
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "| {} |", self.columns.join(" | ").trim_start())?;
        writeln!(out, "|{}", "---|".repeat(self.columns.len()))?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        Ok(())
    }
}

/// The first cell of a row, by which a reader finds it.
pub(super) fn name_of_row(row: &str) -> &str {
    let first = row.trim_start_matches("| ").split(" | ").next().unwrap_or_default();
    if row.starts_with("| | ") || row.starts_with("|---") { "(header)" } else { first }
}

/// Returns `true` if two rows are equal but for the last digits of their numbers.
pub(super) fn agree(written: &str, computed: &str) -> bool {
    let words = |row: &'_ str| -> Vec<String> { row.split_whitespace().map(str::to_owned).collect() };
    let (written, computed) = (words(written), words(computed));
    let same = |(written, computed): (&String, &String)| written == computed || are_close(written, computed);
    written.len() == computed.len() && written.iter().zip(&computed).all(same)
}

/// Returns `true` if two words are numbers that differ by at most one unit of the last digit; whole numbers, by a thousandth.
fn are_close(written: &str, computed: &str) -> bool {
    let plain = |word: &str| word.trim_matches(['*', '(', ')']).replace(',', "");
    let (written, computed) = (plain(written), plain(computed));
    let (Ok(a), Ok(b)) = (written.parse::<f64>(), computed.parse::<f64>()) else { return false };
    let (mantissa, exponent) = computed.split_once('e').unwrap_or((&computed, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    let is_count = decimals == 0 && !computed.contains('e');
    let unit = 10_f64.powi(exponent.parse::<i32>().unwrap_or(0) - decimals);
    (a - b).abs() <= if is_count { 1e-3 * b.abs() } else { 1.001 * unit }
}

/// A drift or an error with two digits, as a bound where it is rounding.
pub(super) fn change(value: f64) -> String {
    change_with_digits(value, 2)
}

/// A drift or an error with at most this many digits, none of them below rounding.
pub(super) fn change_with_digits(value: f64, digits: usize) -> String {
    if let Some(bound) = ROUNDING.into_iter().find(|bound| value < *bound) {
        return format!("< {bound:e}");
    }
    let decimals = digits - 1;
    if (1.0..10.0).contains(&value) {
        return format!("{value:.decimals$}");
    }
    let above_rounding = (value.log10().floor() - LAST_DIGIT) as usize;
    format!("{value:.*e}", decimals.min(above_rounding))
}

/// A ratio with two digits.
pub(super) fn ratio(value: f64) -> String {
    if !(1e-2..1e4).contains(&value) {
        return format!("{value:.1e}");
    }
    let exponent = value.log10().floor() as i32;
    let unit = 10_f64.powi(exponent - 1);
    let decimals = usize::try_from(1 - exponent).unwrap_or(0);
    format!("{:.decimals$}", (value / unit).round() * unit)
}

/// A whole number with commas between thousands.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Text in bold where it marks a loss.
pub(super) fn bold_if(is_loss: bool, text: String) -> String {
    if is_loss { format!("**{text}**") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_a_bound_and_shows_in_no_digit() {
        let cases = [
            (6.7e-16, "< 1e-13"),
            (6.31e-13, "< 1e-12"),
            (5.26e-12, "5e-12"),
            (1.34e-11, "1.3e-11"),
            (0.398, "4.0e-1"),
            (2.84, "2.8"),
        ];
        for (value, text) in cases {
            assert_eq!(change(value), text);
        }
        assert_eq!(change_with_digits(2.634e-11, 3), "2.6e-11");
        assert_eq!(change_with_digits(4.561e-5, 3), "4.56e-5");
    }

    #[test]
    fn ratios_have_two_digits_and_counts_have_commas() {
        let cases = [(1.0, "1.0"), (0.0166, "0.017"), (5217.0, "5200"), (77.3, "77"), (3.4e-3, "3.4e-3"), (2.5, "2.5")];
        for (value, text) in cases {
            assert_eq!(ratio(value), text);
        }
        assert_eq!([1, 999, 6823, 1_319_078].map(count), ["1", "999", "6,823", "1,319,078"]);
    }

    #[test]
    fn rows_agree_up_to_the_last_digit() {
        let computed = "| RK4 | 5.3e-9 | **2.5** | < 1e-13 (319,078 evaluations) |";
        assert!(agree(computed, computed));
        assert!(agree("| RK4 | 5.4e-9 | **2.4** | < 1e-13 (319,100 evaluations) |", computed));
        for wrong in ["5.5e-9", "5.3e-8", "fails", "53e-9"] {
            assert!(!agree(&computed.replace("5.3e-9", wrong), computed), "{wrong}");
        }
        assert!(!agree(&computed.replace("319,078", "320,078"), computed));
        assert!(!agree(&computed.replace("< 1e-13", "< 1e-12"), computed));
        assert!(!agree("| RK4 |", computed));
    }

    #[test]
    fn a_grid_is_markdown() {
        let mut grid = Grid::new(["", "plain"]);
        grid.row("Euler", ["1".to_owned()]);
        assert_eq!(grid.to_string(), "| | plain |\n|---|---|\n| Euler | 1 |\n");
        assert_eq!(name_of_row("| Euler | 1 |"), "Euler");
        assert_eq!(name_of_row("| | plain |"), "(header)");
    }
}
