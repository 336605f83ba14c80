//! Nothing: a package for its features.
