//! The hash of the mathematics that a derivation was derived from.

use std::fmt;
use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use super::file::FORMAT;
use super::problem;
use crate::derivation::Problem;

/// The hash of a problem without names: equal for declarations of the same mathematics, whatever they call its parts and however
/// they are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u128);

impl Key {
    /// The key of a problem in this version of the format.
    pub fn of(problem: &Problem) -> Self {
        Self(hash(&format!("{FORMAT}\n{}", problem::text(problem))))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// A checksum of a text, by which accidents are noticed.
pub fn checksum(text: &str) -> String {
    format!("{:032x}", hash(text))
}

fn hash(text: &str) -> u128 {
    let mut hasher = SipHasher24::new();
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}
