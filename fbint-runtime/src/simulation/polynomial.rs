//! Zeros of polynomials between 0 and 1.
//!
//! In the basis of Bernstein the coefficients of a polynomial between 0 and 1 bound it, and their changes of sign are as many as its zeros
//! there or an even number more (Descartes). So no change proves that there is no zero, and one that there is one. What is left is halved
//! by the algorithm of de Casteljau until pieces have at most one, or are so short that two zeros are one.

use std::vec::Vec;

/// The number of times that a piece is halved at most.
const HALVINGS: u32 = 32;

/// Points in order between which a polynomial, by its coefficients, has at most one zero: none if it has at most one between 0 and 1. Zeros
/// nearer to one another than 2^-32 are one or none.
pub(super) fn separators(polynomial: &[f64]) -> Vec<f64> {
    let mut found = Vec::new();
    if has_no_zero(polynomial) || !polynomial.iter().all(|coefficient| coefficient.is_finite()) {
        return found;
    }
    separate(bernstein(polynomial), [0.0, 1.0], 0, &mut found);
    found
}

/// Returns `true` if the first coefficient alone proves that a polynomial has no zero between 0 and 1.
fn has_no_zero(polynomial: &[f64]) -> bool {
    let Some((first, others)) = polynomial.split_first() else { return true };
    others.iter().map(|coefficient| coefficient.abs()).sum::<f64>() < first.abs()
}

/// The first point at which a polynomial changes its sign after 0, if it does up to 1. The point is a little beyond the zero.
pub(super) fn first_change(polynomial: &[f64]) -> Option<f64> {
    // A zero at the beginning is divided out.
    let zeros = polynomial.iter().take_while(|coefficient| **coefficient == 0.0).count();
    let polynomial = &polynomial[zeros..];
    let value = |at: f64| polynomial.iter().rev().fold(0.0, |sum: f64, coefficient| sum * at + coefficient);
    let is_positive = *polynomial.first()? > 0.0;
    let mut ends = separators(polynomial);
    ends.push(1.0);
    let has_changed = |at: f64| value(at) != 0.0 && (value(at) > 0.0) != is_positive;
    let place = ends.iter().position(|end| has_changed(*end))?;
    let (mut from, mut until) = (if place > 0 { ends[place - 1] } else { 0.0 }, ends[place]);
    while until - from > BEYOND {
        let middle = 0.5 * (from + until);
        *(if has_changed(middle) { &mut until } else { &mut from }) = middle;
    }
    Some((until + BEYOND).min(1.0))
}

/// The distance of a point at which a sign has changed: so large that rounding does not hide the change.
const BEYOND: f64 = 1.0 / (1_u64 << 36) as f64;

fn separate(coefficients: Vec<f64>, [from, until]: [f64; 2], halvings: u32, found: &mut Vec<f64>) {
    let signs = || coefficients.iter().filter(|coefficient| **coefficient != 0.0).map(|coefficient| *coefficient > 0.0);
    let changes = signs().zip(signs().skip(1)).filter(|(one, next)| one != next).count();
    if changes <= 1 || halvings == HALVINGS {
        return;
    }
    let (left, right) = halves(coefficients);
    let middle = 0.5 * (from + until);
    separate(left, [from, middle], halvings + 1, found);
    found.push(middle);
    separate(right, [middle, until], halvings + 1, found);
}

/// The coefficients in the basis of Bernstein: b_i = sum_j C(i, j) / C(n, j) a_j.
fn bernstein(polynomial: &[f64]) -> Vec<f64> {
    let degree = polynomial.len() - 1;
    let coefficient = |i: usize| {
        let (mut ratio, mut sum) = (1.0, 0.0);
        for (j, a) in polynomial[..=i].iter().enumerate() {
            sum += ratio * a;
            ratio *= (i - j) as f64 / (degree - j).max(1) as f64;
        }
        sum
    };
    (0..=degree).map(coefficient).collect()
}

/// The coefficients of both halves.
fn halves(mut coefficients: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    let (degree, mut left) = (coefficients.len() - 1, Vec::with_capacity(coefficients.len()));
    for level in 0..=degree {
        left.push(coefficients[0]);
        for i in 0..degree - level {
            coefficients[i] = 0.5 * (coefficients[i] + coefficients[i + 1]);
        }
    }
    // Each level leaves its last coefficient in place.
    (left, coefficients)
}

#[cfg(test)]
mod tests {
    use super::{first_change, separators};

    /// The coefficients of a polynomial with these zeros.
    fn with_zeros(zeros: &[f64]) -> Vec<f64> {
        let mut polynomial = vec![1.0];
        for zero in zeros {
            polynomial.push(0.0);
            for place in (0..polynomial.len()).rev() {
                let below = if place > 0 { polynomial[place - 1] } else { 0.0 };
                polynomial[place] = below - zero * polynomial[place];
            }
        }
        polynomial
    }

    #[test]
    fn zeros_are_separated_pairs_included() {
        let cases: [&[f64]; 6] = [
            &[0.3],
            &[0.3, 0.3 + 1e-6],
            &[0.1, 0.5, 0.9],
            &[-0.2, 1.3],
            &[0.25, 0.5, 0.75, 1.5],
            &[0.4, 0.400_01, 0.6],
        ];
        for zeros in cases {
            let separators = separators(&with_zeros(zeros));
            let inside: Vec<f64> = zeros.iter().copied().filter(|zero| (0.0..1.0).contains(zero)).collect();
            for pair in inside.windows(2) {
                let between = |at: &&f64| pair[0] <= **at && **at <= pair[1];
                assert!(separators.iter().any(|at| between(&at)), "{zeros:?}: {separators:?}");
            }
            assert!(separators.is_sorted(), "{separators:?}");
        }
    }

    #[test]
    fn what_has_no_zero_is_not_divided() {
        assert!(separators(&[2.0, 0.5, -0.5]).is_empty());
        // (t - 1/2)^2 + 1e-3
        assert!(separators(&[0.251, -1.0, 1.0]).len() < 20);
        assert_eq!(first_change(&[0.251, -1.0, 1.0]), None);
        // A zero without a change.
        assert_eq!(first_change(&[0.25, -1.0, 1.0]), None);
    }

    #[test]
    fn the_first_change_is_found() {
        for zeros in [&[0.3, 0.7][..], &[0.5], &[0.1, 0.2, 0.3], &[0.9, 2.0]] {
            let change = first_change(&with_zeros(zeros)).expect("a change");
            assert!(change > zeros[0] && change < zeros[0] + 1e-10, "{zeros:?}: {change}");
        }
        // From a zero at the beginning.
        let change = first_change(&with_zeros(&[0.0, 0.4])).expect("a change");
        assert!((change - 0.4).abs() < 1e-10, "{change}");
        assert_eq!(first_change(&with_zeros(&[0.0, 1.4])), None);
        assert_eq!(first_change(&[0.0, 0.0]), None);
    }
}
