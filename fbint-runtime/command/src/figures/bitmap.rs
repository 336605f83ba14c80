//! Figures as PNG, from their SVG, at twice its size, with the feature `png`; without it they are refused.
//!
//! The only module that names resvg. Text is drawn in the fonts of the computer. Without fonts there would be no text, so that
//! PNG is refused.

#[cfg(not(feature = "png"))]
use std::convert::Infallible;
use std::error::Error;
use std::path::Path;
#[cfg(feature = "png")]
use std::sync::Arc;

#[cfg(feature = "png")]
use resvg::tiny_skia::{Pixmap, Transform};
#[cfg(feature = "png")]
use resvg::usvg::fontdb::Database;
#[cfg(feature = "png")]
use resvg::usvg::{Options, Tree};

use crate::files::output::has_ending;
#[cfg(feature = "png")]
use crate::files::output::{CHUNK, END_OF_PNG};
#[cfg(not(feature = "png"))]
use crate::words::help::program;

#[cfg(feature = "png")]
const SCALE: f32 = 2.0;

/// A renderer of SVG documents. Without the feature `png` there is none.
pub struct Painter {
    #[cfg(feature = "png")]
    options: Options<'static>,
    #[cfg(not(feature = "png"))]
    none: Infallible,
}

impl Painter {
    /// A painter with the fonts of this computer.
    ///
    /// # Errors
    ///
    /// If the computer has no fonts, or this program cannot draw PNG.
    #[cfg(feature = "png")]
    pub fn new() -> Result<Self, Box<dyn Error>> {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let Some(font) = fonts.faces().next() else {
            return Err("cannot draw PNG: this computer has no fonts; take the SVG, or install some".into());
        };
        // The family for documents that name one which is not installed.
        let family = font.families.first().map(|family| family.0.clone()).unwrap_or_default();
        Ok(Self { options: Options { font_family: family, fontdb: Arc::new(fonts), ..Options::default() } })
    }

    /// A painter, which this program does not have.
    ///
    /// # Errors
    ///
    /// Always.
    #[cfg(not(feature = "png"))]
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

    /// The document as PNG.
    #[cfg(feature = "png")]
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        let tree = Tree::from_str(svg, &self.options)?;
        let size = tree.size().to_int_size().scale_by(SCALE).ok_or("cannot draw PNG: the figure is empty")?;
        let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("cannot draw PNG: the figure is too large")?;
        resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
        let mut png = pixels.encode_png()?;
        let end = png.len().saturating_sub(END_OF_PNG);
        png.splice(end..end, CHUNK.iter().copied());
        Ok(png)
    }

    /// Never called: there is no painter.
    #[cfg(not(feature = "png"))]
    pub fn png(&self, _: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        match self.none {}
    }
}
