//! Constraints, or velocities, that are nearly dependent on one another.

use core::fmt;

use crate::system::Integral;

/// Maximum number of constraints that a message names.
const NAMED: usize = 4;
/// The least share, relative to the largest, with which a constraint takes part.
const SHARE: f64 = 0.05;

/// Constraints that are nearly dependent on one another in some state, so that their multipliers are not determined there; or velocities
/// that the mass matrix hardly tells apart, so that accelerations are not.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Dependence {
    /// The time of the state.
    pub time: f64,
    names: [&'static str; NAMED],
    /// The number of constraints or velocities that take part.
    pub involved: usize,
    /// `true` if these are velocities, which the mass matrix hardly tells apart.
    pub is_of_velocities: bool,
    /// `true` if they are so by masses of very different sizes, and not by their gradients.
    pub is_by_masses: bool,
    /// The smallest pivot of their matrix over the largest.
    pub pivot_ratio: f64,
}

impl Dependence {
    /// A dependence of these integrals with these shares in it.
    pub(crate) fn among(
        integrals: &[Integral],
        time: f64,
        pivot_ratio: f64,
        shares: impl Iterator<Item = (usize, f64)> + Clone,
    ) -> Self {
        Self::of_shares(time, pivot_ratio, shares.map(|(integral, share)| (integrals[integral].name, share)))
    }

    /// A dependence of what has these names, with these shares in it.
    pub(crate) fn of_shares(
        time: f64,
        pivot_ratio: f64,
        shares: impl Iterator<Item = (&'static str, f64)> + Clone,
    ) -> Self {
        let least = SHARE * shares.clone().fold(0.0, |largest: f64, (_, share)| largest.max(share.abs()));
        let mut names = [""; NAMED];
        let mut involved = 0;
        for (own, _) in shares.filter(|(_, share)| share.abs() >= least) {
            if let Some(name) = names.get_mut(involved) {
                *name = own;
            }
            involved += 1;
        }
        Self { time, names, involved, is_of_velocities: false, is_by_masses: false, pivot_ratio }
    }

    /// The constraints, or the velocities, that take part, the first four at most.
    pub fn constraints(&self) -> &[&'static str] {
        &self.names[..self.involved.min(NAMED)]
    }
}

impl fmt::Display for Dependence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([name], true) = (self.constraints(), self.is_of_velocities) {
            return write!(out, "the mass matrix is singular along the velocity `{name}`");
        }
        if let [name] = self.constraints() {
            return write!(out, "the constraint `{name}` is degenerate (its row of the constraint matrix vanishes)");
        }
        out.write_str(if self.is_of_velocities { "the velocities " } else { "the constraints " })?;
        let last = self.constraints().len() - 1;
        for (index, name) in self.constraints().iter().enumerate() {
            let before = match index {
                0 => "",
                _ if index == last && self.involved <= NAMED => " and ",
                _ => ", ",
            };
            write!(out, "{before}`{name}`")?;
        }
        if self.involved > NAMED {
            write!(out, " and {} more", self.involved - NAMED)?;
        }
        let of = if self.is_of_velocities { "of the mass matrix " } else { "" };
        write!(out, " are nearly dependent on one another (pivot ratio {of}{:.1e})", self.pivot_ratio)?;
        out.write_str(if self.is_by_masses {
            " by masses of very different sizes, and not by their gradients"
        } else {
            ""
        })
    }
}
