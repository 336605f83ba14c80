//! All tests of models from text: one program, so that it is linked once.

mod emitted;
mod functions;
mod hostile;
mod mistakes;
mod random;
mod shipped;
