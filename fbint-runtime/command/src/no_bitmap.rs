//! What stands in for figures as PNG without the feature `png`: a refusal.

use std::error::Error;

use crate::help::program;

/// A renderer of SVG documents, of which there are none.
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

    /// Never called.
    pub fn png(&self, _: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        match *self {}
    }
}
