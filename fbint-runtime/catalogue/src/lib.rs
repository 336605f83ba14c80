#![doc = include_str!("../README.md")]

mod any_model;
mod compiled;
mod controller;
mod drawing;
mod entry;
mod evaluation;
mod flat_model;
mod flat_system;
mod functions;
mod inputs;
mod loaded;
mod long;
mod model;
pub mod names;
pub mod padded;
mod plan;
mod printable;
mod results;
pub mod scheme;
mod vectors;

pub use self::any_model::{AnyModel, Continuation, Observer, Visit};
pub use self::compiled::{generated_functions, prepared_numbers};
pub use self::controller::Controller;
pub use self::drawing::{Camera, Drawing, DrawnShape, Position, circle, circle_about};
pub use self::entry::{Entry, check_names};
pub use self::evaluation::{Evaluation, ExplicitMethod, RunDirection, Unknown, slopes_by_differences};
pub use self::flat_model::{FlatGeometricMethod, FlatModel, FlatSignal, Make};
pub use self::functions::{FlatFunctions, FlatSeries, Functions, Given, ListFunction, MatrixFunction, Source};
pub use self::inputs::Inputs;
pub use self::model::{Declaration, GeometricMethod, Model, lower_case};
pub use self::plan::{Crossing, Feedback, Law, Member, Plan, Quantity, Steps};
pub use self::printable::printable;
pub use self::results::{EnsembleRun, Occurrence, Run, Sample, Statistics, Summary};
