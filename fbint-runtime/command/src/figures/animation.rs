//! The animation of a run: one page that needs no network, with the mechanism in motion and what happened to its integrals.
//!
//! A model gives the picture of a state, a [`Drawing`], by [`Model::drawing`](crate::Model::drawing). The page has the drawings of evenly
//! chosen samples as JSON, with as many digits as can be seen, and a small script that draws them as SVG: `scene.js` turns drawings into
//! pictures, and `player.js` plays them.
//!
//! A drawing is made of the declaration's shapes or by code, and a model without one is drawn all the same. The page has drawings and not states: drawings of the samples, and where a method takes long steps, of states between them on
//! Hermite's cubic polynomials of the derived field. Changes of integrals are shown at samples alone, because interpolated states are not
//! on the constraints.
//!
//! `scene.js` is a function from a film, a time and a view to SVG: animations, saved pictures, the gallery and its stills are
//! drawn by the same code, and tests read positions off the page.

mod film;

use serde::Serialize;

use self::film::Film;
use crate::files::output::marked;
use fbint_catalogue::{AnyModel, Sample};
pub use fbint_catalogue::{Camera, Drawing, Position, circle, circle_about};

/// Maximum number of samples on a page. A run whose samples are not chosen has no more.
const SAMPLES: usize = 2000;

const PAGE: &str = include_str!("animation/page.html");
const PAGE_STYLE: &str = include_str!("animation/page.css");
const PLAYER: &str = include_str!("animation/player.js");
/// The style of pictures, which a picture that is saved takes along.
pub(crate) const SCENE_STYLE: &str = include_str!("animation/scene.css");
/// The functions that turn a [`Film`] into pictures.
pub(crate) const SCENE: &str = include_str!("animation/scene.js");

/// A run to be animated.
pub struct Animation<'a> {
    /// The name of the model.
    pub name: &'a str,
    /// The method, and how it was used.
    pub method: &'a str,
    /// The model with its parameters.
    pub model: &'a dyn AnyModel,
    /// The samples of the run.
    pub samples: &'a [Sample],
}

impl<'a> Animation<'a> {
    /// The page, a complete HTML document.
    ///
    /// # Errors
    ///
    /// If a drawing has a coordinate that is not finite: one line with the model and the time.
    pub fn page(&self) -> Result<String, String> {
        let film = embedded(&self.film(SAMPLES)?)?;
        let parts = [("page-style", PAGE_STYLE), ("scene-style", SCENE_STYLE), ("scene", SCENE), ("player", PLAYER)];
        Ok(marked(&filled(PAGE, parts.into_iter().chain([("film", &*film)]))))
    }

    /// The page's data for a limited number of samples, chosen evenly.
    pub(crate) fn film(&self, most: usize) -> Result<Film<'a>, String> {
        Film::of(self, most)
    }
}

/// Data as JSON in an element of a page, which nothing in it can end.
pub(crate) fn embedded(data: &impl Serialize) -> Result<String, String> {
    let json = serde_json::to_string(data).map_err(|error| format!("cannot write the animation: {error}"))?;
    Ok(json.replace('<', "\\u003c"))
}

/// A template with `{{name}}` replaced for each part.
pub(crate) fn filled<'a>(template: &str, parts: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    parts.into_iter().fold(template.to_owned(), |page, (name, part)| page.replace(&format!("{{{{{name}}}}}"), part))
}
