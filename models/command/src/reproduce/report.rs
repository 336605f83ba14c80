//! The report: one HTML file with the models in motion, every figure, table and verdict, and the derived equations.
//!
//! The file is self-contained: figures are inlined SVG, equations are MathML, there are no scripts, and nothing is fetched. Inlined figures
//! share one name space, so that their ids are prefixed. Content that is too wide for a phone scrolls.

mod comparison;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fbint_command::equations;
use fbint_command::output::{OutputFile, Replace, marked};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::typography::typeset;

use super::result::{Reproduction, Rule, Verdict};
use super::stroboscope;

/// The name of the report's file.
const FILE: &str = "report.html";
/// A table with more rows is folded up.
const LONG: usize = 16;
/// A figure this wide does not fit onto a phone.
const WIDE: f64 = 400.0;
/// The factor by which a wide figure may shrink before its letters are too small.
const SHRINKAGE: f64 = 1.4;

const STYLE: &str = "\
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 3rem; color: #1a1a1a; background: #fff;
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1.5rem 0 0.5rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.5rem 0 0.5rem; padding-top: 0.6rem; border-top: 1px solid #ddd; }
h3 { font-size: 1.05rem; margin: 1.5rem 0 0.3rem; }
a { color: #0072B2; }
nav ul { padding-left: 1.2rem; }
figure { margin: 1.2rem 0; }
figcaption { color: #444; font-size: 0.92rem; text-align: left; padding: 0.3rem 0; }
.wide { overflow-x: auto; }
.wide > svg { display: block; max-width: 100%; height: auto; }
.motions { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 0 1.5rem; }
.motions svg { width: 100%; max-width: 30rem; }
table { border-collapse: collapse; font-size: 0.92rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #e5e5e5; text-align: left; vertical-align: top; }
small:not([class]) { color: #555; }
th:first-child, td:first-child { padding-left: 0; }
td:first-child { min-width: 6.5rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
.holds { color: #00674b; white-space: nowrap; }
.fails { color: #a33f00; font-weight: bold; white-space: nowrap; }
details { margin: 0.5rem 0; border: 1px solid #ddd; border-radius: 4px; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; }
@media (prefers-reduced-motion: reduce) { .moving { display: none; } }
";

/// Writes the report into a folder, whole or not at all, and returns its path.
pub(crate) fn write(
    reproductions: &[Reproduction],
    directory: &Path,
    replace: Replace,
) -> Result<PathBuf, Box<dyn Error>> {
    let path = directory.join(FILE);
    let output = OutputFile::at(&path, replace)?;
    let page = page(reproductions, &stroboscope::pictures()?);
    output.write(|file| file.write_all(marked(&page).as_bytes()))?;
    Ok(path)
}

fn page(reproductions: &[Reproduction], motions: &[Picture]) -> String {
    let mut figures = Figures::default();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Feedback integrators: figures and tables reproduced</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n",
        equations::STYLE
    );
    page += &opening(reproductions);
    page += &in_motion(motions, &mut figures);
    for reproduction in reproductions {
        page += &section(reproduction, &mut figures);
    }
    page += &comparison::feedback(reproductions);
    page += &derived_equations();
    page + "</body>\n</html>\n"
}

fn opening(reproductions: &[Reproduction]) -> String {
    let mut text = format!(
        "<h1>Feedback integrators: figures and tables reproduced</h1>\n\
         <p>Constrained mechanical systems, integrated by fbint with feedback and without, next to the methods that compete \
         with it, and compared with what was published or computed independently. {}\n<nav><ul>\n\
         <li><a href=\"#motions\">The models in motion</a></li>\n",
        outcome(reproductions)
    );
    for Reproduction { name, title, .. } in reproductions {
        let _ = writeln!(text, "<li><a href=\"#{}\">{}</a></li>", escaped(name), heading(title));
    }
    text + "<li><a href=\"#feedback\">Where feedback wins and where it loses</a></li>\n\
            <li><a href=\"#equations\">The derived equations</a></li>\n</ul></nav>\n"
}

/// The number of verdicts that hold, and the names of the others, as the end of a paragraph.
fn outcome(reproductions: &[Reproduction]) -> String {
    let all = || reproductions.iter().flat_map(|one| one.verdicts.iter().map(|verdict| (one.name, verdict)));
    let failed: Vec<_> = all().filter(|(_, verdict)| !verdict.holds()).collect();
    let total = all().count();
    if failed.is_empty() {
        return format!("<strong>All {total} verdicts hold.</strong></p>");
    }
    let mut text =
        format!("<strong>{} of {total} verdicts hold.</strong> These do not:</p>\n<ul>\n", total - failed.len());
    for (name, verdict) in failed {
        let Verdict { what, expected, obtained, .. } = verdict;
        let (expected, obtained, rule) = (number(*expected), number(*obtained), rule(verdict.rule));
        let _ = writeln!(
            text,
            "<li>{}: {}, obtained {obtained}, expected {expected} ({rule})</li>",
            link(name),
            escaped(what)
        );
    }
    text + "</ul>"
}

/// The verdicts of a reproduction, folded up: how many hold is all that most readers want to know.
fn verdicts(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let holding = verdicts.iter().filter(|verdict| verdict.holds()).count();
    let rows: String = verdicts.iter().map(verdict).collect();
    format!(
        "<details><summary>{holding} of {} verdicts hold</summary>\n<div class=\"wide\"><table>\n<thead><tr><th>what</th>\
         <th class=\"number\">expected</th><th class=\"number\">obtained</th></tr></thead>\n<tbody>\n{rows}</tbody></table></div>\
         </details>\n",
        verdicts.len()
    )
}

fn verdict(verdict: &Verdict) -> String {
    let (class, word) = if verdict.holds() { ("holds", "holds") } else { ("fails", "fails") };
    format!(
        "<tr><td>{}</td><td class=\"number\">{}<br><small>{}</small></td>\
         <td class=\"number\">{}<br><small class=\"{class}\">{word}</small></td></tr>\n",
        escaped(&verdict.what),
        number(verdict.expected),
        rule(verdict.rule),
        number(verdict.obtained),
    )
}

fn rule(rule: Rule) -> String {
    match rule {
        Rule::Within(fraction) => format!("within {}&#8239;%", two_digits(100.0 * fraction)),
        Rule::AtMost => "at most".to_owned(),
        Rule::AtLeast => "at least".to_owned(),
    }
}

/// A number with two digits, without trailing zeros.
fn two_digits(number: f64) -> String {
    let decimals = (1.0 - number.abs().log10().floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{number:.decimals$}");
    if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn section(reproduction: &Reproduction, figures: &mut Figures) -> String {
    let Reproduction { name, title, words, figures: pictures, tables, verdicts: all } = reproduction;
    let mut text = format!("<h2 id=\"{}\">{}</h2>\n", escaped(name), heading(title));
    text.extend(pictures.iter().map(|picture| figures.inline(picture)));
    for words in words {
        let _ = writeln!(text, "<p>{}</p>", escaped(words));
    }
    text.extend(tables.iter().map(table));
    text + verdicts(all).as_str()
}

/// A table below its caption, folded up if it is long.
fn table(table: &ResultTable) -> String {
    let (caption, table_element) = (escaped(&table.caption), table_element(table));
    if table.rows.len() > LONG {
        let rows = table.rows.len();
        return format!("<details><summary>{caption} ({rows} rows)</summary>\n{table_element}</details>\n");
    }
    format!("<figure><figcaption>{caption}</figcaption>\n{table_element}</figure>\n")
}

fn table_element(table: &ResultTable) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    for (index, column) in table.columns.iter().enumerate() {
        let class = if index == 0 { "" } else { " class=\"number\"" };
        let _ = write!(text, "<th{class}>{}</th>", escaped(column));
    }
    text += "</tr></thead>\n<tbody>\n";
    for (name, values) in &table.rows {
        let _ = write!(text, "<tr><td>{}</td>", escaped(name));
        for &value in values {
            let _ = write!(text, "<td class=\"number\">{}</td>", number(value));
        }
        text += "</tr>\n";
    }
    text + "</tbody></table></div>\n"
}

fn in_motion(motions: &[Picture], figures: &mut Figures) -> String {
    let mut text = String::from(
        "<h2 id=\"motions\">The models in motion</h2>\n<p>Poses at equal time steps, from light to dark; what moves runs \
         through the motion again and again. Drawn from runs by DOP853 at a tolerance of 10<sup>−10</sup>.</p>\n\
         <div class=\"motions\">\n",
    );
    text.extend(motions.iter().map(|motion| figures.inline(motion)));
    text + "</div>\n"
}

fn derived_equations() -> String {
    let mut text = String::from(
        "<h2 id=\"equations\">The derived equations</h2>\n<p>What the compiler derived from each declaration while this \
         program was built. Multipliers c solve the small linear system that is given, not a closed formula.</p>\n",
    );
    for entry in catalogue::all() {
        let model = (entry.load)();
        let _ = writeln!(
            text,
            "<details><summary><strong>{}</strong>: {}</summary>\n{}</details>",
            escaped(&entry.name),
            escaped(entry.summary),
            equations::html(&*model)
        );
    }
    text
}

/// Gives every figure that is inlined its number, so that no two share an id.
#[derive(Default)]
struct Figures {
    count: usize,
}

impl Figures {
    fn inline(&mut self, picture: &Picture) -> String {
        self.count += 1;
        let svg = with_prefixed_ids(without_prolog(&picture.svg), &format!("f{}-", self.count));
        let caption = escaped(&picture.caption);
        format!("<figure><div class=\"wide\">{}</div>\n<figcaption>{caption}</figcaption></figure>\n", legible(&svg))
    }
}

/// The `svg` element of a document.
fn without_prolog(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |start| svg[start..].trim_end())
}

/// A figure with `prefix` before each id, where the id is given and where it is used.
fn with_prefixed_ids(svg: &str, prefix: &str) -> String {
    let mut renamed = String::with_capacity(svg.len());
    let mut rest = svg;
    let marks = [" id=\"", "url(#", "href=\"#"];
    while let Some((at, mark)) = marks.iter().filter_map(|mark| rest.find(mark).map(|at| (at, mark))).min() {
        let end = at + mark.len();
        renamed += &rest[..end];
        renamed += prefix;
        rest = &rest[end..];
    }
    renamed + rest
}

/// A figure in the width of the page. On a narrow screen it scrolls, so that it stays legible.
fn legible(svg: &str) -> String {
    let size = |name: &str| attribute(svg, name)?.parse::<f64>().ok();
    let size = size("width").zip(size("height"));
    let view = match (attribute(svg, "viewBox"), size) {
        (None, Some((width, height))) => format!(" viewBox=\"0 0 {width} {height}\""),
        _ => String::new(),
    };
    let style = match size {
        Some((width, _)) if width > WIDE => format!(" style=\"min-width: {:.0}px\"", width / SHRINKAGE),
        _ => String::new(),
    };
    svg.replacen("<svg", &format!("<svg{view}{style}"), 1)
}

/// An attribute of the element that a text begins with.
fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (tag, _) = element.split_once('>')?;
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0)
}

fn link(name: &str) -> String {
    format!("<a href=\"#{0}\">{0}</a>", escaped(name))
}

/// A number with three digits; whole numbers below a million in full, because they are counts. NaN stands for what was not
/// computed.
fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        let sign = if value > 0.0 { "∞" } else { "−∞" };
        return if value.is_nan() { "–" } else { sign }.to_owned();
    }
    let text = if size < 1e6 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else if (1e-2..1e6).contains(&size) {
        format!("{value:.*}", (2.0 - size.log10().floor()).clamp(0.0, 4.0) as usize)
    } else {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{digits}&#8239;·&#8239;10<sup>{exponent}</sup>")
    };
    text.replace('-', "−")
}

/// A title as HTML, with a capital letter at its beginning.
fn heading(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    escaped(&(first + letters.as_str()))
}

/// Text as HTML, with powers of ten set as such.
fn escaped(text: &str) -> String {
    typeset(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use tempfile::tempdir;

    use super::*;

    type Outcome = Result<(), Box<dyn Error>>;

    #[test]
    fn a_report_is_one_file_that_stands_alone() -> Outcome {
        let folder = tempdir()?;
        let path = write(&[pendulum(), pendulum_again()], folder.path(), fbint_command::output::Replace::Own)?;
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        let page = fs::read_to_string(path)?;
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
        for outward in ["<script", "src=", "@import", "href=\"http"] {
            assert!(!page.contains(outward), "the page has {outward}");
        }
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(ids.len(), ids.iter().collect::<BTreeSet<_>>().len(), "an id is used twice: {ids:?}");
        for used in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(ids.contains(&used), "nothing is named {used}");
        }
        for used in page.split("url(#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(ids.contains(&used), "nothing is named {used}");
        }
        Ok(())
    }

    #[test]
    fn every_model_shows_its_equations() {
        let page = page(&[], &[]);
        for entry in catalogue::all() {
            assert!(page.contains(&format!("<strong>{}</strong>", entry.name)), "{} is missing", entry.name);
        }
        assert!(page.contains("<math") && page.contains("Feedback potential"));
        assert!(!page.contains("<merror"));
    }

    #[test]
    fn text_is_text_and_not_markup() {
        let page = page(&[pendulum()], &[]);
        assert!(page.contains("k &lt; 3 &amp; more") && !page.contains("k < 3"));
    }

    #[test]
    fn verdicts_are_counted_and_those_that_fail_are_marked() {
        let page = page(&[pendulum()], &[]);
        assert!(page.contains("1 of 2 verdicts hold.</strong> These do not:"), "{page}");
        assert!(page.contains("f2, obtained 2.00&#8239;·&#8239;10<sup>−5</sup>, expected 1.00"), "{page}");
        assert!(page.contains("<small class=\"holds\">holds</small>"));
        assert!(page.contains("<small class=\"fails\">fails</small>"));
        assert!(page.contains("within 1&#8239;%"));
    }

    #[test]
    fn figures_come_first_and_verdicts_are_folded_up() {
        let motion =
            Picture { name: "motion".to_owned(), caption: "A swing".to_owned(), svg: "<svg></svg>".to_owned() };
        let page = page(&[pendulum()], &[motion]);
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
        assert!(place("<figcaption>A swing") < place("<h2 id=\"pendulum\">"));
        assert!(place("<figcaption>Drift") < place("<p>With k"));
        assert!(place("<p>With k") < place("<details><summary>1 of 2 verdicts hold"));
        assert!(place("<details><summary>1 of 2 verdicts hold") < place("<th>what</th>"));
    }

    #[test]
    fn powers_of_ten_are_set_in_headings() {
        let page = page(&[Reproduction { title: "A pendulum with h = 1e-3", ..pendulum() }], &[]);
        assert!(page.contains("<h2 id=\"pendulum\">A pendulum with h = 10⁻³</h2>"), "{page}");
    }

    #[test]
    fn percentages_have_two_digits() {
        for (fraction, text) in [(0.01, "1"), (0.1, "10"), (0.025, "2.5"), (0.005_494_505, "0.55"), (1e-9, "0.0000001")]
        {
            assert_eq!(rule(Rule::Within(fraction)), format!("within {text}&#8239;%"));
        }
    }

    #[test]
    fn a_figure_without_a_view_box_gets_one_and_scrolls_if_wide() {
        let wide = legible("<svg width=\"906\" height=\"300.5\"><g/></svg>");
        assert!(wide.starts_with("<svg viewBox=\"0 0 906 300.5\" style=\"min-width: 647px\" width="), "{wide}");
        let narrow = "<svg viewBox=\"0 0 360 200\"><rect width=\"9\" height=\"9\"/></svg>";
        assert_eq!(legible(narrow), narrow);
    }

    #[test]
    fn numbers_are_short_and_counts_whole() {
        let cases = [
            (14966.0, "14966"),
            (0.0, "0"),
            (-0.5, "−0.500"),
            (4.56e-5, "4.56&#8239;·&#8239;10<sup>−5</sup>"),
            (123.456, "123"),
            (9142.3, "9142"),
            (f64::INFINITY, "∞"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }

    pub(super) fn pendulum() -> Reproduction {
        reproduction("pendulum")
    }

    pub(super) fn pendulum_again() -> Reproduction {
        reproduction("pendulum-again")
    }

    fn reproduction(name: &'static str) -> Reproduction {
        let row = |name: &str, drift: f64| (name.to_owned(), vec![drift]);
        let svg = "<?xml version=\"1.0\"?><svg width=\"800\" height=\"300\"><clipPath id=\"a\"><rect width=\"9\" height=\"9\"/></clipPath>\
                   <g clip-path=\"url(#a)\"><text y=\"20\">a figure</text></g></svg>";
        Reproduction {
            name,
            title: "A pendulum",
            words: vec!["With k < 3 & more.".to_owned()],
            figures: vec![Picture { name: "figure".to_owned(), caption: "Drift".to_owned(), svg: svg.to_owned() }],
            tables: vec![ResultTable {
                name: "table".to_owned(),
                caption: "Largest change".to_owned(),
                columns: vec!["method".to_owned(), "|f1|".to_owned()],
                rows: vec![
                    row("Euler + feedback", 1e-5),
                    row("Euler", 1e-1),
                    row("RK4 + feedback", 1e-8),
                    row("RK4", 1e-13),
                ],
            }],
            verdicts: vec![
                Verdict { what: "f1".to_owned(), expected: 1.0, obtained: 1.005, rule: Rule::Within(0.01) },
                Verdict { what: "f2".to_owned(), expected: 1e-5, obtained: 2e-5, rule: Rule::AtMost },
            ],
        }
    }
}
