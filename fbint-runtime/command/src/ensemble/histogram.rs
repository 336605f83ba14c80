//! Histograms of numbers that come one by one, in bounded memory.

use std::collections::BTreeMap;

/// Maximum number of bins.
const MOST: i64 = 128;
/// The exponent of a number less the exponent of its finest bins: bins of doubles that differ are never finer.
const FINEST: i32 = 60;
/// The width of the bin of numbers that are all equal, as a fraction of them, or of 1 if they are 0.
const ALONE: f64 = 1.0 / 64.0;

/// Counts of numbers in bins of one width, a power of two that is doubled until there are few enough bins. So the counts do not
/// depend on the order of the numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    exponent: i32,
    /// The numbers from `bin * 2^exponent` to below `(bin + 1) * 2^exponent`, for each bin that has any.
    counts: BTreeMap<i64, u64>,
    total: u64,
    least: f64,
    largest: f64,
}

impl Histogram {
    /// Counts a number. Those that are not finite are left out.
    pub(crate) fn add(&mut self, number: f64) {
        if !number.is_finite() {
            return;
        }
        if self.total == 0 {
            self.exponent = if number == 0.0 { f64::MIN_EXP } else { number.abs().log2().floor() as i32 - FINEST };
        }
        let (least, largest) = if self.total == 0 { (number, number) } else { (self.least, self.largest) };
        (self.least, self.largest) = (least.min(number), largest.max(number));
        self.total += 1;
        while !self.has_room_for(number) {
            self.double();
        }
        *self.counts.entry(self.bin(number) as i64).or_default() += 1;
    }

    /// The edges of bins, and the count of each: few bins for few numbers, by Rice's rule. There is one bin if all numbers are equal.
    pub(crate) fn bins(&self) -> (Vec<f64>, Vec<u64>) {
        if self.total > 0 && self.least == self.largest {
            let size = if self.least == 0.0 { 1.0 } else { self.least.abs() };
            let half = 0.5 * ALONE * size;
            return (vec![self.least - half, self.least + half], vec![self.total]);
        }
        let mut coarse = self.clone();
        let rice = (2.0 * (self.total as f64).cbrt()).ceil() as i64;
        while coarse.span() > rice.max(8) {
            coarse.double();
        }
        let Some((first, last)) = coarse.ends() else { return (Vec::new(), Vec::new()) };
        let edges = (first..=last + 1).map(|bin| bin as f64 * coarse.width());
        let counts = (first..=last).map(|bin| coarse.counts.get(&bin).copied().unwrap_or(0));
        (edges.collect(), counts.collect())
    }

    fn width(&self) -> f64 {
        f64::from(self.exponent).exp2()
    }

    fn bin(&self, number: f64) -> f64 {
        // In two steps, because a width may be too small for its inverse to be a number.
        let half = f64::from(self.exponent / 2);
        (number / half.exp2() / (f64::from(self.exponent) - half).exp2()).floor()
    }

    fn has_room_for(&self, number: f64) -> bool {
        let bin = self.bin(number);
        if bin.abs() > (1_i64 << 62) as f64 {
            return false;
        }
        let (first, last) =
            self.ends().map_or((bin, bin), |(first, last)| (bin.min(first as f64), bin.max(last as f64)));
        last - first < MOST as f64
    }

    fn ends(&self) -> Option<(i64, i64)> {
        Some((*self.counts.keys().next()?, *self.counts.keys().next_back()?))
    }

    /// The number of bins between the first and the last.
    fn span(&self) -> i64 {
        self.ends().map_or(0, |(first, last)| last - first + 1)
    }

    fn double(&mut self) {
        self.exponent += 1;
        let mut counts = BTreeMap::new();
        for (bin, count) in &self.counts {
            *counts.entry(bin.div_euclid(2)).or_default() += count;
        }
        self.counts = counts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> Histogram {
        let mut histogram = Histogram::default();
        numbers.into_iter().for_each(|number| histogram.add(number));
        histogram
    }

    #[test]
    fn every_number_is_in_its_bin() {
        let numbers: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 997) / 997.0 - 0.25).collect();
        let (edges, counts) = of(numbers.iter().copied()).bins();
        assert!((8..=20).contains(&counts.len()), "{} bins", counts.len());
        for (bin, &count) in counts.iter().enumerate() {
            let within = numbers.iter().filter(|&&number| edges[bin] <= number && number < edges[bin + 1]);
            assert_eq!(count, within.count() as u64);
        }
        assert_eq!(counts.iter().sum::<u64>(), 1000);
    }

    #[test]
    fn bins_do_not_depend_on_the_order() {
        let numbers: Vec<f64> = (0..500).map(|i| (f64::from(i * 7919 % 500) - 250.0).powi(3) * 1e-9).collect();
        let (mut sorted, mut reversed) = (numbers.clone(), numbers.clone());
        sorted.sort_by(f64::total_cmp);
        reversed.reverse();
        for order in [sorted, reversed] {
            assert_eq!(of(order).bins(), of(numbers.iter().copied()).bins());
        }
    }

    #[test]
    fn numbers_of_any_size_have_bins() {
        let cases: [&[f64]; 8] = [
            &[0.0],
            &[1.0, 1.0],
            &[1.0, 1.0 + f64::EPSILON],
            &[0.0, 5e-324],
            &[-1e300, 1e300],
            &[1e-300, 1e300, f64::NAN],
            &[0.0, 1e-17, 1.0],
            &[f64::MAX, f64::MIN],
        ];
        for numbers in cases {
            let (edges, counts) = of(numbers.iter().copied()).bins();
            let finite = numbers.iter().filter(|number| number.is_finite()).count() as u64;
            assert_eq!(counts.iter().sum::<u64>(), finite, "{numbers:?}");
            assert!(edges.is_sorted() && edges.len() == counts.len() + 1, "{numbers:?}: {edges:?}");
        }
        assert_eq!(of([]).bins(), (Vec::new(), Vec::new()));
    }
}
