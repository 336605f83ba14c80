//! Mistakes in a text as rustc shows them.

use std::error::Error;
use std::fmt;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use fbint_catalogue::printable;
use fbint_macros_core::syntax::diagnostics::HELP;
use fbint_macros_core::text::Mistake;

/// All mistakes in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes {
    text: String,
    list: Vec<Mistake>,
}

impl Mistakes {
    pub(crate) fn new(text: &str, list: Vec<Mistake>) -> Self {
        let list = list.into_iter().map(|mistake| Mistake { message: printable(&mistake.message), ..mistake });
        Self { text: text.to_owned(), list: list.collect() }
    }

    /// Each of them, in the order of the text.
    pub fn list(&self) -> &[Mistake] {
        &self.list
    }

    /// As rustc shows them, for a text that is called `name`: file, line, column, the line and carets under what is mistaken; in colours,
    /// by the escape sequences of terminals, if that is wanted.
    pub fn rendered(&self, name: &str, in_colours: bool) -> String {
        let renderer = if in_colours { Renderer::styled() } else { Renderer::plain() };
        let groups: Vec<Group<'_>> = self.list.iter().map(|mistake| self.group(name, mistake)).collect();
        let reports: Vec<String> = groups.iter().map(|group| renderer.render(std::slice::from_ref(group))).collect();
        reports.join("\n\n")
    }

    fn group<'a>(&'a self, name: &'a str, mistake: &'a Mistake) -> Group<'a> {
        let (what, remedy) = match mistake.message.split_once(HELP) {
            Some((what, remedy)) => (what, Some(remedy)),
            None => (&*mistake.message, None),
        };
        let title = Level::ERROR.primary_title(what);
        let shown = if mistake.range.is_empty() {
            title.element(Origin::path(name))
        } else {
            let place = AnnotationKind::Primary.span(mistake.range.clone());
            title.element(Snippet::source(&self.text).path(name).annotation(place))
        };
        shown.elements(remedy.map(|remedy| Level::HELP.message(remedy)))
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.rendered("text", false))
    }
}

impl Error for Mistakes {}
