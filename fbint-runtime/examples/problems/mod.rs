//! Problems of the literature, which examples, benches and the tests of the whole have by their paths.

pub(crate) mod stiff;
