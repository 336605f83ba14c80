//! What expressions are evaluated in, and the linear algebra of it.

pub(crate) mod determinant;
pub(crate) mod linear;
