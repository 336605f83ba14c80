//! The derivation of a model as HTML: MathML made of its LaTeX, or the plain equations where there is too much of it.
//!
//! The LaTeX is a row of `\paragraph{title}` and `align*`, and MathML takes some ten times as many bytes.

use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

use crate::words::typography::MAX_LATEX;
use fbint_catalogue::AnyModel;

/// The style of the equations, for the page that has them.
pub const STYLE: &str = "\
pre { overflow-x: auto; font-size: 0.85rem; }
.wide > math { font-size: 1.05rem; width: max-content; min-width: 100%; }
mtable { math-style: normal; }
mtable > mtr > mtd { padding: 0.3em 0; }
mtable > mtr > mtd:nth-child(odd) { text-align: right; text-align: -webkit-right; }
mtable > mtr > mtd:nth-child(even) { text-align: left; text-align: -webkit-left; }
";

/// The derivation, each block below its heading.
pub fn html(model: &dyn AnyModel) -> String {
    let latex = model.flat().latex();
    let set = if latex.len() <= MAX_LATEX { blocks(latex) } else { None };
    set.unwrap_or_else(|| format!("<div class=\"wide\"><pre>{}</pre></div>\n", escaped(model.flat().equations())))
}

/// Title and formulas of each paragraph; `None` if a formula cannot be set.
fn blocks(latex: &str) -> Option<String> {
    let paragraphs = latex.split("\\paragraph{").skip(1);
    let block = |paragraph: &str| {
        let (title, formulas) = paragraph.split_once('}')?;
        let title = escaped(&title.replace("\\_", "_"));
        Some(format!("<h3>{title}</h3>\n<div class=\"wide\">{}</div>\n", mathml(formulas.trim())?))
    };
    paragraphs.map(block).collect()
}

fn mathml(latex: &str) -> Option<String> {
    // pulldown-latex turns the space `\ ` into an entity, and then escapes the entity.
    let latex = latex.replace(",\\ ", ",\\;");
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(&latex, &storage).collect::<Result<_, _>>().ok()?;
    let mut mathml = String::new();
    let config = RenderConfig { display_mode: DisplayMode::Block, ..RenderConfig::default() };
    let events = events.into_iter().map(Ok::<_, std::convert::Infallible>);
    push_mathml(&mut mathml, events, config).ok()?;
    Some(mathml)
}

/// Text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
