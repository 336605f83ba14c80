//! The hash of the mathematics that a derivation was derived from.

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use super::file::FORMAT;
use super::problem;
use crate::derivation::Problem;

/// The hash of a problem without names, in this version of the format: equal for declarations of the same mathematics, whatever they call
/// its parts and however they are formatted.
pub fn key(problem: &Problem) -> String {
    checksum(&format!("{FORMAT}\n{}", problem::text(problem)))
}

/// A checksum of a text, by which accidents are noticed.
pub fn checksum(text: &str) -> String {
    let mut hasher = SipHasher24::new();
    hasher.write(text.as_bytes());
    format!("{:032x}", hasher.finish128().as_u128())
}
