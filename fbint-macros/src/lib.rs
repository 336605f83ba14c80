//! The attribute `#[feedback_system]`.
