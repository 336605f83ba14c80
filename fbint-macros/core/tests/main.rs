//! All tests of the compiler but `fuzz`, which replaces the panic hook of its process: one program, so that Symbolica is linked once.

mod angles;
mod assumptions;
mod common;
mod conservation;
mod documentation;
mod driven_mistakes;
mod elaborate;
mod environment;
mod expansion;
mod feasibility;
mod further;
mod linkages;
mod magnitudes;
mod mistakes;
mod robustness;
mod sizes;
mod start_values;
mod symbolic;
mod velocity_mistakes;
