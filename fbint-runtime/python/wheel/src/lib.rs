//! The Python module `fbint`, whose models are declared as text and derived when they are read. Nothing in it needs more than a
//! permissive licence.

fbint_python::module!(fbint = []);
