//! Where a function changes its sign within a step.
//!
//! A piece of the step is sampled at nine Chebyshev points, two more than dense output has degrees. The polynomial through the samples
//! shows that the function has no zero in the piece, or is monotonic there, so that its signs at the ends say everything; the doubt in its
//! last coefficients counts against it. A piece that shows neither is halved. Smooth functions are halved until an extremum differs from a
//! pair of zeros; others until a piece is about a thousandth of the step.

use core::f64::consts::FRAC_1_SQRT_2;

use crate::simulation::event::BracketingInterval;

/// The degree of the polynomial through the samples of a piece.
const DEGREE: usize = 8;
/// The number of samples of a piece.
pub(super) const SAMPLES: usize = DEGREE + 1;
/// Where a piece is sampled, as fractions of it: (1 - cos(k pi / 8)) / 2.
pub(super) const FRACTIONS: [f64; SAMPLES] = [
    0.0,
    0.038_060_233_744_356_63,
    0.146_446_609_406_726_27,
    0.308_658_283_817_455_1,
    0.5,
    0.691_341_716_182_544_9,
    0.853_553_390_593_273_7,
    0.961_939_766_255_643_4,
    1.0,
];
/// cos(k pi / 8).
const COSINES: [f64; 2 * DEGREE] = [
    1.0,
    0.923_879_532_511_286_7,
    FRAC_1_SQRT_2,
    0.382_683_432_365_089_84,
    0.0,
    -0.382_683_432_365_089_84,
    -FRAC_1_SQRT_2,
    -0.923_879_532_511_286_7,
    -1.0,
    -0.923_879_532_511_286_7,
    -FRAC_1_SQRT_2,
    -0.382_683_432_365_089_84,
    0.0,
    0.382_683_432_365_089_84,
    FRAC_1_SQRT_2,
    0.923_879_532_511_286_7,
];
/// The number of times that a piece of a rough function is halved: to less than a thousandth of the step.
const HALVINGS: u32 = 10;
/// The most times that a piece around an extremum is halved.
const HALVINGS_AROUND_EXTREMA: u32 = 26;
/// A polynomial whose last coefficients are below this fraction of the others is the function of a smooth piece. One in 100,000 sets of
/// nine samples of a fast oscillation seems to be smooth.
const SMOOTH: f64 = 1e-2;
/// The distance from 0 that a rough function needs, in units of its variation.
const FAR: f64 = 8.0;
/// A function with more pieces than these that stay rough is noise, and compared only at the ends of the step.
const MOST_ROUGH_PIECES: u32 = 16;

/// The polynomial through the samples of a piece, as a Chebyshev series.
pub(super) struct Series([f64; SAMPLES]);

impl Series {
    pub(super) fn through(samples: &[f64; SAMPLES]) -> Self {
        let coefficient = |j: usize| {
            let term = |(k, sample): (usize, &f64)| {
                let weight = if k == 0 || k == DEGREE { 0.5 } else { 1.0 };
                weight * sample * COSINES[(j * k) % COSINES.len()]
            };
            let factor = if j == 0 || j == DEGREE { 1.0 } else { 2.0 } / DEGREE as f64;
            // The points go from left to right, cosines from right to left.
            let sign = if j.is_multiple_of(2) { 1.0 } else { -1.0 };
            sign * factor * samples.iter().enumerate().map(term).sum::<f64>()
        };
        Self(core::array::from_fn(coefficient))
    }

    /// The largest of the last coefficients: what a higher degree might add.
    fn rest(&self) -> f64 {
        self.0[DEGREE - 2..].iter().fold(0.0, |largest: f64, c| largest.max(c.abs()))
    }

    /// Returns `true` if the function has no zero in the piece, even if it varies by `margin` times what the samples show.
    pub(super) fn has_no_zero(&self, margin: f64) -> bool {
        let spread = self.0[1..].iter().map(|c| c.abs()).sum::<f64>() + 4.0 * self.rest();
        let margin = if self.is_smooth() { margin } else { FAR * margin };
        self.0[0].abs() > margin * spread
    }

    /// Returns `true` if the function is monotonic in the piece, even if its slope varies by `margin` times what the samples show.
    pub(super) fn is_monotonic(&self, margin: f64) -> bool {
        let slope = |(k, c): (usize, &f64)| (k * k) as f64 * c.abs();
        let varying: f64 = self.0.iter().enumerate().skip(2).map(slope).sum();
        self.0[1].abs() > margin * (varying + 2.0 * (DEGREE * DEGREE) as f64 * self.rest())
    }

    fn is_smooth(&self) -> bool {
        self.rest() <= SMOOTH * self.0[1..].iter().fold(0.0, |largest: f64, c| largest.max(c.abs()))
    }
}

/// A search for the sign changes of a function, from left to right.
pub(super) struct SignChanges<'f, E> {
    /// The function.
    value: &'f mut dyn FnMut(f64) -> Result<f64, E>,
    /// `true` if a change from one value to another counts.
    counts: &'f dyn Fn(f64, f64) -> bool,
    /// `true` if only the first change that counts is needed.
    first_alone: bool,
    /// The last point that was passed, where the function was not 0, or else the only one.
    side: (f64, f64),
    found: Vec<BracketingInterval>,
    rough_pieces: u32,
}

/// A piece of a step, with the function at its ends.
#[derive(Clone, Copy)]
struct Piece {
    from: (f64, f64),
    until: (f64, f64),
    halvings: u32,
}

impl<'f, E> SignChanges<'f, E> {
    /// A search from a time on, where the function has this value.
    pub(super) fn new(
        value: &'f mut dyn FnMut(f64) -> Result<f64, E>,
        counts: &'f dyn Fn(f64, f64) -> bool,
        first_alone: bool,
        side: (f64, f64),
    ) -> Self {
        Self { value, counts, first_alone, side, found: Vec::new(), rough_pieces: 0 }
    }

    /// The changes that were found, in their order.
    pub(super) fn found(self) -> Vec<BracketingInterval> {
        self.found
    }

    pub(super) fn is_over(&self) -> bool {
        self.first_alone && !self.found.is_empty()
    }

    /// Continues to a point without examining the interval.
    pub(super) fn pass(&mut self, (time, value): (f64, f64)) {
        let (from, first) = self.side;
        if (self.counts)(first, value) && !self.is_over() {
            self.found.push(BracketingInterval { from, until: time, first, last: value });
        }
        self.side = (time, value);
    }

    /// Looks at all between two points, which have the function's values.
    pub(super) fn look(&mut self, from: (f64, f64), until: (f64, f64)) -> Result<(), E> {
        let (side, found) = (self.side, self.found.len());
        self.search(Piece { from, until, halvings: 0 })?;
        if self.rough_pieces > MOST_ROUGH_PIECES {
            self.side = side;
            self.found.truncate(found);
            self.pass(until);
        }
        Ok(())
    }

    fn search(&mut self, piece: Piece) -> Result<(), E> {
        if self.is_over() || self.rough_pieces > MOST_ROUGH_PIECES {
            return Ok(());
        }
        let Piece { from, until, halvings } = piece;
        let points = self.points(piece)?;
        let series = Series::through(&points.map(|(_, value)| value));
        let middle = points[DEGREE / 2];
        let has_middle = from.0 < middle.0 && middle.0 < until.0;
        let is_at_zero = points.iter().all(|(_, value)| *value == 0.0);
        if is_at_zero || series.has_no_zero(1.0) || series.is_monotonic(1.0) || !has_middle {
            self.pass_unless_zero(until);
        } else if halvings < HALVINGS || series.is_smooth() && halvings < HALVINGS_AROUND_EXTREMA {
            self.search(Piece { from, until: middle, halvings: halvings + 1 })?;
            self.search(Piece { from: middle, until, halvings: halvings + 1 })?;
        } else if halvings == HALVINGS {
            self.rough_pieces += 1;
            points[1..].iter().for_each(|point| self.pass_unless_zero(*point));
        } else {
            // What is left is rounding.
            self.pass_unless_zero(until);
        }
        Ok(())
    }

    /// A zero between two pieces is found with the point after it.
    pub(super) fn pass_unless_zero(&mut self, point: (f64, f64)) {
        if point.1 != 0.0 {
            self.pass(point);
        }
    }

    fn points(&mut self, Piece { from, until, .. }: Piece) -> Result<[(f64, f64); SAMPLES], E> {
        let mut points = [from; SAMPLES];
        for (point, fraction) in points.iter_mut().zip(FRACTIONS).take(DEGREE).skip(1) {
            let time = from.0 + fraction * (until.0 - from.0);
            *point = (time, (self.value)(time)?);
        }
        points[DEGREE] = until;
        Ok(points)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::f64::consts::PI;

    use super::{BracketingInterval, Series, SignChanges};

    /// A random number between -1 and 1.
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// The changes of a function between 0 and 1, and how many evaluations they took.
    fn changes(function: &dyn Fn(f64) -> f64) -> (Vec<BracketingInterval>, usize) {
        let mut evaluations = 0;
        let mut value = |time: f64| {
            evaluations += 1;
            Ok::<_, Infallible>(function(time))
        };
        let [from, until] = [0.0, 1.0].map(|time| (time, function(time)));
        let counts = |first: f64, last: f64| first * last < 0.0 || first != 0.0 && last == 0.0;
        let mut search = SignChanges::new(&mut value, &counts, false, from);
        let Ok(()) = search.look(from, until);
        let found = search.found();
        (found, evaluations)
    }

    /// Every sign change between two samples of a thousandth is found, and no other is.
    fn assert_complete(function: &dyn Fn(f64) -> f64, what: &str) {
        let (found, evaluations) = changes(function);
        for BracketingInterval { from, until, first, last } in &found {
            assert!(function(*from) == *first && function(*until) == *last && first * last < 0.0, "{what}");
        }
        for sample in 0..1000 {
            let [from, until] = [sample, sample + 1].map(|sample| f64::from(sample) / 1000.0);
            if function(from) * function(until) < 0.0 {
                let is_there = found.iter().any(|change| change.from <= until && from <= change.until);
                assert!(is_there, "{what}: the change between {from} and {until} is not in {found:?}");
                // As many as there are: an odd number between the samples.
                let between = |root: f64| from < root && root <= until;
                let roots = found.iter().filter(|change| between(bisected(function, change))).count();
                assert!(roots % 2 == 1, "{what}: {roots} between {from} and {until}");
            }
        }
        assert!(evaluations < 8 * 2048, "{what}: {evaluations}");
    }

    fn bisected(function: &dyn Fn(f64) -> f64, change: &BracketingInterval) -> f64 {
        let (mut from, mut until) = (change.from, change.until);
        for _ in 0..60 {
            let middle = 0.5 * (from + until);
            let is_left = (function(middle) > 0.0) == (change.first > 0.0);
            *(if is_left { &mut from } else { &mut until }) = middle;
        }
        until
    }

    fn cases() -> usize {
        if std::env::var_os("FBINT_THOROUGH").is_some() { 10_000 } else { 500 }
    }

    #[test]
    fn no_change_of_a_random_polynomial_is_missed() {
        let mut state = 1;
        for case in 0..cases() {
            let degree = 1 + case % 12;
            let roots: Vec<f64> = (0..degree).map(|_| 0.5 + uniform(&mut state)).collect();
            let function = |t: f64| roots.iter().map(|root| t - root).product::<f64>();
            assert_complete(&function, &format!("roots {roots:?}"));
            let coefficients: Vec<f64> = (0..=degree).map(|_| uniform(&mut state)).collect();
            let function = |t: f64| coefficients.iter().fold(0.0, |sum, c| sum * (2.0 * t - 1.0) + c);
            assert_complete(&function, &format!("coefficients {coefficients:?}"));
        }
    }

    #[test]
    fn no_change_of_a_random_sine_is_missed() {
        let mut state = 2;
        for case in 0..cases() {
            let frequency = 2.0 * PI * (0.1 + 40.0 * uniform(&mut state).powi(4));
            let phase = PI * uniform(&mut state);
            // Half of them nearly touch 0.
            let level =
                if case % 2 == 0 { uniform(&mut state) } else { 1.0 - 10f64.powf(5.0 * uniform(&mut state) - 6.0) };
            let function = |t: f64| (frequency * t + phase).sin() - level;
            assert_complete(&function, &format!("sin({frequency} t + {phase}) - {level}"));
        }
    }

    #[test]
    fn what_is_near_to_a_touch_is_told_from_it() {
        for depth in [1e-3, 1e-6, 1e-9, 1e-12] {
            assert_eq!(changes(&|t| (t - 0.3).powi(2) - depth).0.len(), 2, "{depth}");
            assert_eq!(changes(&|t| (t - 0.3).powi(2) + depth).0.len(), 0, "{depth}");
        }
        assert_eq!(changes(&|t| (t - 0.5).powi(2)).0.len(), 0);
        assert_eq!(changes(&|t| (t - 0.5) * (t - 0.25)).0.len(), 2);
    }

    /// Functions that are far from 0 take the samples of one piece, kinks and jumps those around them, and noise is given up.
    #[test]
    fn work_is_bounded() {
        assert_eq!(changes(&|t| 3.0 + (2.0 * t).sin()).1, 7);
        let (found, evaluations) = changes(&|t: f64| (t - 0.7).abs() - 0.01);
        assert!(found.len() == 2 && evaluations < 500, "{found:?} after {evaluations}");
        let (found, evaluations) = changes(&|t: f64| if t < 0.123 { 1.0 } else { -1.0 });
        assert!(found.len() == 1 && evaluations < 200, "{found:?} after {evaluations}");
        let noise = |t: f64| (1e6 * t.exp()).sin();
        let (found, evaluations) = changes(&noise);
        assert!(found.len() == usize::from(noise(0.0) * noise(1.0) < 0.0) && evaluations < 500, "{evaluations}");
    }

    #[test]
    fn a_function_may_rest_at_zero() {
        assert_eq!(changes(&|_| 0.0).0.len(), 0);
        let (found, evaluations) = changes(&|t: f64| (t - 0.6).max(0.0) - (0.3 - t).max(0.0));
        assert!(found.len() == 1 && evaluations < 500, "{found:?} after {evaluations}");
    }

    #[test]
    fn series_are_those_of_chebyshev() {
        let x = |k: usize| 2.0 * super::FRACTIONS[k] - 1.0;
        let series = Series::through(&core::array::from_fn(|k| 0.5 + 2.0 * x(k) + (2.0 * x(k) * x(k) - 1.0)));
        for (coefficient, exact) in series.0.iter().zip([0.5, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) {
            assert!((coefficient - exact).abs() < 1e-15, "{:?}", series.0);
        }
    }
}
