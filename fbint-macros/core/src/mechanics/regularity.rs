//! Whether C is invertible anywhere: a set of constraints whose C is singular at every point is not second class.

use crate::derivation::Derivation;
use crate::expression::Expression;
use crate::sample::sample_points;

/// C is identically singular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Singularity {
    /// The constraints that a vector of the null space involves, by their index in the integrals.
    pub members: Vec<usize>,
}

/// Entries of a normalised null vector below this count as zero.
const NEGLIGIBLE: f64 = 1e-6;

/// Decides the rank of C numerically, at points in general position: a singular C at all of them is identically singular.
pub fn find_singularity(derivation: &Derivation) -> Option<Singularity> {
    let mut singularity = None;
    for point in sample_points() {
        match null_vector(derivation, &|expression| point.evaluate(expression)) {
            Rank::Full => return None,
            Rank::Undefined => {}
            Rank::Deficient(members) => singularity = Some(Singularity { members }),
        }
    }
    singularity
}

/// The rank of C in one state.
pub(super) enum Rank {
    Full,
    /// The constraints that a vector of the null space involves.
    Deficient(Vec<usize>),
    /// Some entry is not finite.
    Undefined,
}

impl Rank {
    pub(super) fn deficient(self) -> Option<Vec<usize>> {
        match self {
            Self::Deficient(members) => Some(members),
            Self::Full | Self::Undefined => None,
        }
    }
}

/// Gaussian elimination with complete pivoting on rows scaled to one.
pub(super) fn null_vector(derivation: &Derivation, value: &impl Fn(&Expression) -> f64) -> Rank {
    let mut c = derivation.constraint_matrix(value);
    let m = c.len();
    if c.iter().flatten().any(|entry| !entry.is_finite()) {
        return Rank::Undefined;
    }
    for row in &mut c {
        let largest = row.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
        row.iter_mut().for_each(|entry| *entry /= if largest > 0.0 { largest } else { 1.0 });
    }
    let mut columns: Vec<usize> = (0..m).collect();
    for step in 0..m {
        let (mut pivot, mut at) = (0.0, (step, step));
        for i in step..m {
            for j in step..m {
                if c[i][j].abs() > pivot {
                    (pivot, at) = (c[i][j].abs(), (i, j));
                }
            }
        }
        if pivot < 1e-10 {
            return Rank::Deficient(support(&c, step, &columns));
        }
        c.swap(step, at.0);
        c.iter_mut().for_each(|row| row.swap(step, at.1));
        columns.swap(step, at.1);
        for i in step + 1..m {
            let factor = c[i][step] / c[step][step];
            for j in step..m {
                c[i][j] -= factor * c[step][j];
            }
        }
    }
    Rank::Full
}

/// The columns that take part in the null vector whose free entry is column `rank`, from the upper triangle.
fn support(c: &[Vec<f64>], rank: usize, columns: &[usize]) -> Vec<usize> {
    let mut null = vec![0.0; rank + 1];
    null[rank] = 1.0;
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..=rank).map(|j| c[i][j] * null[j]).sum();
        null[i] = -sum / c[i][i];
    }
    let mut members: Vec<usize> = (0..=rank).filter(|&i| null[i].abs() > NEGLIGIBLE).map(|i| columns[i]).collect();
    members.sort_unstable();
    members
}
