//! Where feedback wins and where it loses, in words that follow from the numbers of all tables.
//!
//! In every table a number of a method "+ feedback" is compared with the number of the method alone, and with the best of all
//! others. Drifts, errors, evaluations and times are the better the smaller. Where methods are columns, the middle row stands for
//! all; a table that two reproductions share counts once.

use std::fmt::Write as _;

use fbint_command::results::ResultTable;

use super::super::result::Reproduction;
use super::{escaped, link, number};

/// The ending of the name of a method with feedback.
const FEEDBACK: &str = " + feedback";
/// Rounding of a quantity of order one: smaller numbers count as this one.
const ROUNDING: f64 = 1e-15;
/// A difference of fewer decimal digits is not counted as one.
const NOTABLE: f64 = 0.5;

pub(super) fn feedback(reproductions: &[Reproduction]) -> String {
    let mut text = String::from(
        "<h2 id=\"feedback\">Where feedback wins and where it loses</h2>\n<p>Feedback leaves the motion as it is where \
         every constraint and invariant has its value, and pulls back whatever strays. It can only repair what the method \
         under it breaks, and the pull itself has to be resolved by the steps: strong gains make the equations stiff. A \
         crude method may therefore gain much, an accurate one may lose. All numbers compared are drifts, errors or costs, \
         the better the smaller; a digit is a factor of ten.</p>\n",
    );
    text += &itself(&comparisons(reproductions, with_and_without));
    text += &rivals(&comparisons(reproductions, best_of_both));
    text
}

/// A number obtained with feedback and one obtained without.
#[derive(Debug, PartialEq)]
struct Comparison<'a> {
    /// The name of the reproduction.
    name: &'static str,
    /// The quantity, as the table names it.
    what: String,
    with: MethodValue<'a>,
    without: MethodValue<'a>,
}

/// A method with a number.
type MethodValue<'a> = (&'a str, f64);

impl Comparison<'_> {
    /// The decimal digits that feedback gains.
    fn digits(&self) -> f64 {
        (self.without.1.max(ROUNDING) / self.with.1.max(ROUNDING)).log10()
    }
}

/// Each method with feedback, compared with the method without.
fn itself(comparisons: &[Comparison<'_>]) -> String {
    let (wins, losses) = notable(comparisons);
    let mut text = format!(
        "<h3>Each method with feedback and without</h3>\n<p>{}</p>\n<ul>\n",
        counted(comparisons, &wins, &losses)
    );
    let mut methods: Vec<&str> = comparisons.iter().map(|comparison| comparison.without.0).collect();
    methods.sort_unstable();
    methods.dedup();
    for name in methods {
        let _ = writeln!(text, "<li>{}</li>", balance(name, comparisons));
    }
    text += "</ul>\n";
    text + listed("Feedback wins", &wins).as_str() + listed("Feedback loses", &losses).as_str()
}

/// The effect of feedback on a method, over all numbers of the method.
fn balance(name: &str, comparisons: &[Comparison<'_>]) -> String {
    let own = comparisons.iter().filter(|comparison| comparison.without.0 == name);
    let mut own: Vec<&Comparison<'_>> = own.collect();
    own.sort_by(|a, b| a.digits().total_cmp(&b.digits()));
    let (worst, best) = (own[0], own[own.len() - 1]);
    let median = own[own.len() / 2].digits();
    let effect = match median {
        _ if median.abs() < NOTABLE => "changes little".to_owned(),
        _ if median > 0.0 => format!("gains {median:.1} digits"),
        _ => format!("costs {:.1} digits", -median),
    };
    let told = |comparison: &Comparison<'_>| {
        let digits = signed(comparison.digits());
        format!("{digits} digits for {} in {}", escaped(&comparison.what), link(comparison.name))
    };
    let name = escaped(name);
    if own.len() == 1 {
        return format!("<strong>{name}</strong>: feedback {effect}, by one number: {}.", told(best));
    }
    format!(
        "<strong>{name}</strong>: feedback {effect} in the median of {} numbers; at best {}, at worst {}.",
        own.len(),
        told(best),
        told(worst)
    )
}

/// The best of a table's methods with feedback, compared with the best without.
fn rivals(comparisons: &[Comparison<'_>]) -> String {
    let (wins, losses) = notable(comparisons);
    format!(
        "<h3>The best method with feedback and the best without</h3>\n<p>Every other method of a table counts here: methods \
         that keep the structure by construction, methods that project, and methods of high order. {}</p>\n{}{}",
        counted(comparisons, &wins, &losses),
        listed("The best has feedback", &wins),
        listed("The best does without", &losses),
    )
}

fn counted(all: &[Comparison<'_>], wins: &[&Comparison<'_>], losses: &[&Comparison<'_>]) -> String {
    if all.is_empty() {
        return "No table has both.".to_owned();
    }
    format!(
        "Of {} numbers compared: smaller with feedback by half a digit or more {}, larger {}, nearly equal {}.",
        all.len(),
        wins.len(),
        losses.len(),
        all.len() - wins.len() - losses.len(),
    )
}

/// The comparisons in which feedback gains notably, and those in which it costs, the most notable first.
fn notable<'c, 'a>(comparisons: &'c [Comparison<'a>]) -> (Vec<&'c Comparison<'a>>, Vec<&'c Comparison<'a>>) {
    let select = |sign: f64| {
        let mut chosen: Vec<_> =
            comparisons.iter().filter(|comparison| sign * comparison.digits() >= NOTABLE).collect();
        chosen.sort_by(|a, b| (sign * b.digits()).total_cmp(&(sign * a.digits())));
        chosen
    };
    (select(1.0), select(-1.0))
}

fn listed(title: &str, comparisons: &[&Comparison<'_>]) -> String {
    if comparisons.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<details><summary>{title}: {}</summary>\n<div class=\"wide\"><table>\n<thead><tr><th>what</th><th>with \
         feedback</th><th></th><th>without</th><th></th><th class=\"number\">digits</th><th>from</th></tr></thead>\n<tbody>\n",
        comparisons.len()
    );
    for comparison in comparisons {
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td>{}</td></tr>",
            escaped(&comparison.what),
            escaped(comparison.with.0),
            number(comparison.with.1),
            escaped(comparison.without.0),
            number(comparison.without.1),
            signed(comparison.digits()),
            link(comparison.name),
        );
    }
    text + "</tbody></table></div></details>\n"
}

fn signed(digits: f64) -> String {
    format!("{digits:+.1}").replace('-', "−")
}

/// The comparisons that `compare` makes in each table: in its columns where methods are rows, in its middle row where methods
/// are columns.
fn comparisons<'a>(
    reproductions: &'a [Reproduction],
    compare: fn(&[MethodValue<'a>]) -> Vec<(MethodValue<'a>, MethodValue<'a>)>,
) -> Vec<Comparison<'a>> {
    let mut comparisons = Vec::new();
    let mut seen: Vec<&ResultTable> = Vec::new();
    for Reproduction { name, tables, .. } in reproductions {
        let is_new =
            |table: &&ResultTable| !seen.iter().any(|other| other.columns == table.columns && other.rows == table.rows);
        let new: Vec<&ResultTable> = tables.iter().filter(is_new).collect();
        seen.extend(&new);
        for (what, mut entries) in new.into_iter().flat_map(lines) {
            entries.retain(|entry| entry.1.is_finite());
            let pairs = compare(&entries).into_iter();
            comparisons.extend(pairs.map(|(with, without)| Comparison { name, what: what.clone(), with, without }));
        }
    }
    comparisons
}

/// The columns of a table, or its middle row, along which methods compare, and what each is of.
fn lines(table: &ResultTable) -> Vec<(String, Vec<MethodValue<'_>>)> {
    let heads = table.columns.get(1..).unwrap_or_default();
    if heads.iter().any(|head| head.contains(FEEDBACK)) {
        let middle = table.rows.get(table.rows.len() / 2);
        return middle.map(|row| lines_of_row(&table.columns[0], heads, row)).unwrap_or_default();
    }
    heads.iter().enumerate().map(|(index, head)| (head.clone(), entries_of_column(table, index))).collect()
}

fn entries_of_column(table: &ResultTable, index: usize) -> Vec<MethodValue<'_>> {
    table.rows.iter().filter_map(|(row, values)| Some((row.as_str(), *values.get(index)?))).collect()
}

/// The entries of a row for each quantity, where columns are headed "method" or "method: quantity".
fn lines_of_row<'a>(
    setting: &str,
    heads: &'a [String],
    (row, values): &'a (String, Vec<f64>),
) -> Vec<(String, Vec<MethodValue<'a>>)> {
    let heads: Vec<(&str, &str)> = heads.iter().map(|head| head.split_once(": ").unwrap_or((head, ""))).collect();
    let mut lines: Vec<(&str, Vec<MethodValue<'a>>)> = Vec::new();
    for (&(method, quantity), &value) in heads.iter().zip(values) {
        match lines.iter_mut().find(|line| line.0 == quantity) {
            Some(line) => line.1.push((method, value)),
            None => lines.push((quantity, vec![(method, value)])),
        }
    }
    let what = |quantity: &str| format!("{quantity}{}{setting} = {row}", if quantity.is_empty() { "" } else { ", " });
    lines.into_iter().map(|(quantity, entries)| (what(quantity), entries)).collect()
}

/// Each method with feedback, with the method without.
fn with_and_without<'a>(entries: &[MethodValue<'a>]) -> Vec<(MethodValue<'a>, MethodValue<'a>)> {
    let alone = |with: &MethodValue<'a>| {
        let method = with.0.replace(FEEDBACK, "");
        entries.iter().find(|entry| entry.0 == method).copied()
    };
    entries.iter().filter(|entry| entry.0.contains(FEEDBACK)).filter_map(|with| Some((*with, alone(with)?))).collect()
}

/// The smallest number with feedback and the smallest without, where there are both.
fn best_of_both<'a>(entries: &[MethodValue<'a>]) -> Vec<(MethodValue<'a>, MethodValue<'a>)> {
    let best = |feedback: bool| {
        let of_kind = entries.iter().filter(|entry| entry.0.contains(FEEDBACK) == feedback);
        of_kind.min_by(|a, b| a.1.total_cmp(&b.1)).copied()
    };
    best(true).zip(best(false)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pendulum, pendulum_again};
    use super::*;

    #[test]
    fn rows_with_feedback_are_compared_with_their_method_and_with_all_others() {
        let reproductions = [pendulum()];
        let same = comparisons(&reproductions, with_and_without);
        let digits: Vec<f64> = same.iter().map(|comparison| comparison.digits().round()).collect();
        assert_eq!(digits, [4.0, -5.0]);
        let best = comparisons(&reproductions, best_of_both);
        assert_eq!(best.len(), 1);
        assert_eq!((best[0].with.0, best[0].without.0), ("RK4 + feedback", "RK4"));
        let words = feedback(&reproductions);
        assert!(words.contains("smaller with feedback by half a digit or more 1, larger 1, nearly equal 0"), "{words}");
        assert!(words.contains("<strong>Euler</strong>: feedback gains 4.0 digits"), "{words}");
        assert!(words.contains("<strong>RK4</strong>: feedback costs 5.0 digits"), "{words}");
    }

    #[test]
    fn a_table_that_two_reproductions_share_counts_once() {
        assert_eq!(comparisons(&[pendulum(), pendulum_again()], with_and_without).len(), 2);
    }

    #[test]
    fn methods_compare_along_rows_where_they_are_columns() {
        let heads = ["RK4 + feedback: cost", "RK4 + feedback: error", "RK4: cost", "RK4: error", "RATTLE: error"];
        let table = ResultTable {
            name: "work".to_owned(),
            caption: "Work and precision".to_owned(),
            columns: std::iter::once("h").chain(heads).map(str::to_owned).collect(),
            rows: vec![("0.1".to_owned(), vec![400.0, 1e-5, 100.0, 1e-6, 1e-7])],
        };
        let reproductions = [Reproduction { tables: vec![table], ..pendulum() }];
        let same = comparisons(&reproductions, with_and_without);
        let told: Vec<_> = same.iter().map(|one| (one.what.as_str(), one.with.1, one.without.1)).collect();
        assert_eq!(told, [("cost, h = 0.1", 400.0, 100.0), ("error, h = 0.1", 1e-5, 1e-6)]);
        let best = comparisons(&reproductions, best_of_both);
        assert_eq!(best.iter().map(|one| one.without.0).collect::<Vec<_>>(), ["RK4", "RATTLE"]);
    }
}
