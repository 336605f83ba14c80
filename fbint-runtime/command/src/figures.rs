//! Figures as SVG and PNG, and pages on which a mechanism moves.

pub mod animation;
pub(crate) mod bitmap;
pub mod figure;
pub(crate) mod motion;
pub(crate) mod panels;
pub mod results;
pub(crate) mod section;
