//! Integrals and their gradients without constant factors and summands.
//!
//! The gradient of |d|^2 - l^2 is 2 d: the 2 would be multiplied with every entry, or with every coefficient of the row. Here
//! each row is divided by a factor made of numbers and parameters, dF = factor row, and each integral gets a form with
//! fewer operations, F = scale (f + offset). The feedback law has factors, scales and offsets in its gains and targets,
//! computed once, and C c = b keeps its solution up to the factors.
//!
//! Nothing is divided by a parameter that could be zero: a factor has a positive power of one only if all entries share it.

use super::lower::{Lowering, TermOrder};
use super::monomial::Monomial;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, IntegralId, SparseRow};
use crate::program::code::{LookUp, Value};

/// The integrals and their gradients, normalised.
#[derive(Clone, Debug)]
pub(crate) struct Normalised {
    /// dF_r = factors[r] rows[r]
    pub(crate) rows: Table<IntegralId, SparseRow<Monomial>>,
    pub(crate) factors: Table<IntegralId, Monomial>,
    /// F_r = scales[r] (forms[r] + offsets[r])
    forms: Table<IntegralId, Vec<Monomial>>,
    pub(crate) scales: Table<IntegralId, Monomial>,
    pub(crate) offsets: Table<IntegralId, Monomial>,
}

impl Normalised {
    pub(crate) fn of(derivation: &Derivation, lowering: &mut Lowering) -> Self {
        let mut rows = derivation.integrals.map(|integral| {
            integral.gradient.iter().map(|(column, entry)| (*column, lowering.monomial(entry))).collect()
        });
        let factors = take_factors_out(derivation, lowering, &mut rows);
        let (forms, scales, offsets) = Default::default();
        let mut normalised = Self { rows, factors, forms, scales, offsets };
        for integral in derivation.integrals.rows() {
            let terms = lowering.terms(&integral.value);
            let scale = common_factor(lowering, terms.iter(), false);
            let inverse = scale.inverse();
            let terms = terms.into_iter().map(|term| term.times(&inverse));
            let is_offset = |term: &Monomial| lowering.is_parametric(term);
            let (offset, form): (Vec<_>, Vec<_>) = terms.partition(is_offset);
            normalised.offsets.push(lowering.sum(offset));
            normalised.forms.push(form);
            normalised.scales.push(scale);
        }
        normalised
    }

    /// f for each integral.
    pub(crate) fn integrals(&self, lowering: &mut Lowering) -> Vec<Value> {
        let mut value = |form: &Vec<Monomial>| {
            let sum = lowering.sum_in(TermOrder::Written, form.clone());
            lowering.materialise(&sum)
        };
        self.forms.rows().map(&mut value).collect()
    }

    /// F itself.
    pub(crate) fn value(&self, lowering: &mut Lowering, id: IntegralId) -> Monomial {
        let form = lowering.sum_in(TermOrder::Written, self.forms[id].clone());
        let sum = if self.offsets[id].is_zero() { form } else { lowering.sum(vec![form, self.offsets[id].clone()]) };
        sum.times(&self.scales[id])
    }
}

/// Divides each row by its factor. The factors of holonomic constraints and of their rates differ by one factor for all, which keeps A_ij =
/// {g_i, g'_j} symmetric.
fn take_factors_out(
    derivation: &Derivation,
    lowering: &mut Lowering,
    rows: &mut Table<IntegralId, SparseRow<Monomial>>,
) -> Table<IntegralId, Monomial> {
    let pairs = derivation.holonomic_pairs();
    let constraint_of = |id: IntegralId| pairs.iter().find(|(_, rate)| *rate == id).map(|(constraint, _)| *constraint);
    let mut factors: Table<IntegralId, Monomial> = Table::default();
    for (id, row) in derivation.integrals.ids().zip(rows.rows_mut()) {
        let factor = match constraint_of(id) {
            Some(constraint) => factors[constraint].clone(),
            None => common_factor(lowering, row.values(), true),
        };
        divide(row, &factor);
        factors.push(factor);
    }
    let entries = pairs.iter().flat_map(|(_, rate)| &rows[*rate]).map(|(_, entry)| entry);
    let of_rates = common_factor(lowering, entries, true);
    for (_, rate) in pairs {
        divide(&mut rows[rate], &of_rates);
        factors[rate] = factors[rate].clone().times(&of_rates);
    }
    factors
}

fn divide(row: &mut SparseRow<Monomial>, factor: &Monomial) {
    let inverse = factor.inverse();
    row.iter_mut().for_each(|(_, entry)| *entry = entry.clone().times(&inverse));
}

/// The factor that, taken out, leaves the fewest terms with a factor of numbers and parameters. Terms of parameters alone
/// cost nothing in any form. A number that is hardly a double stays. Positive powers of parameters are taken out if all terms have them and `positive` allows it.
fn common_factor<'a>(
    lowering: &mut Lowering,
    terms: impl Iterator<Item = &'a Monomial> + Clone,
    positive: bool,
) -> Monomial {
    let parts: Vec<Monomial> = terms.clone().map(|term| lowering.parametric_part(term)).collect();
    let moving = terms.zip(&parts).filter(|(term, _)| !lowering.is_parametric(term)).map(|(_, part)| part);
    let (mut kinds, mut counts): (Vec<&Monomial>, LookUp<&Monomial, usize>) = Default::default();
    for part in moving {
        let count = counts.entry(part).or_default();
        kinds.extend((*count == 0).then_some(part));
        *count += 1;
    }
    let least = if positive { least_exponents(&parts) } else { LookUp::default() };
    let taken_out = |value, exponent: i32| match least.get(&value) {
        _ if exponent < 0 => exponent,
        Some(least) => exponent.min(*least),
        None => 0,
    };
    // The terms that are the factor itself keep nothing.
    let saved = |factor: &Monomial| counts.get(factor).copied().unwrap_or(0);
    let one = Monomial::one();
    let mut best = (saved(&one), one);
    for part in kinds {
        let candidate = Monomial { factors: part.factors.map(taken_out), ..part.clone() };
        let saved = saved(&candidate);
        if saved > best.0 && candidate.coefficient.is_moderate() {
            best = (saved, candidate);
        }
    }
    best.1
}

/// The values that all parts have positive powers of, with the least exponents.
fn least_exponents(parts: &[Monomial]) -> LookUp<Value, i32> {
    let Some((first, others)) = parts.split_first() else { return LookUp::default() };
    let mut least: LookUp<Value, i32> = first.factors.iter().copied().collect();
    for part in others {
        least.iter_mut().for_each(|(value, exponent)| *exponent = part.factors.exponent(*value).min(*exponent));
        least.retain(|_, exponent| *exponent > 0);
    }
    least.retain(|_, exponent| *exponent > 0);
    least
}
