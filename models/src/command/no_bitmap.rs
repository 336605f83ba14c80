//! What stands in for figures as PNG without the feature `png`: a refusal.

use std::error::Error;

/// A renderer of SVG documents, of which there are none.
pub(crate) enum Painter {}

impl Painter {
    /// No painter.
    ///
    /// # Errors
    ///
    /// Always.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        Err("cannot draw PNG: fbint was built without the feature `png`; build it with `cargo run --release --features png -- ..`, \
             or take the SVG"
            .into())
    }

    /// Never called.
    pub(crate) fn png(&self, _: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        match *self {}
    }
}
