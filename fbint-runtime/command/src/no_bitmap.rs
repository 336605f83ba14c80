//! The stand-in for figures as PNG without the feature `png`: a refusal.

use std::error::Error;
use std::path::Path;

use crate::help::program;
use crate::output::has_ending;

/// A renderer of SVG documents; no value of it exists.
pub enum Painter {}

impl Painter {
    /// No painter.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let program = program();
        Err(format!(
            "cannot draw PNG: {program} was built without the feature `png` of fbint-command; build it with \
             `--features fbint-command/png`, or take the SVG"
        )
        .into())
    }

    /// The painter of the figure at this path: one if it ends in `.png`.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>, Box<dyn Error>> {
        has_ending(path, "png").then(Self::new).transpose()
    }

    /// Never called.
    pub fn png(&self, _: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        match *self {}
    }
}
