//! Rotation matrices among the variables: constraints r^T r = 1, which cannot be solved for one entry after the other.
//!
//! Their points are the rotations of all quaternions and, since r may reflect, these times -1. Quaternions are numbers without a
//! relation, so that a random one gives a point in general position of each of the two parts. A further constraint det r - 1 leaves
//! one part.

use std::collections::{BTreeMap, BTreeSet};

use super::identities::vanishes_identically;
use super::point::{ModularPoint, Signs};
use super::set::Constraint;
use crate::expression::{Expression, Symbol};
use crate::numbers::determinant::determinant;

/// A bound on the degree of an expression in a quaternion, divided by its degree in the entries: entries are quotients of quadratic forms.
pub(super) const DEGREE: f64 = 4.0;
/// The bound where the quotients are multiplied with an unknown.
pub(super) const DEGREE_OF_MULTIPLES: f64 = DEGREE + 1.0;

/// A matrix that constraints keep orthonormal.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    /// Column by column, or row by row: the transpose of a rotation is another one.
    entries: [[Symbol; 3]; 3],
    /// The determinant of these, 1 or -1, where a constraint says it.
    determinant: Option<i8>,
}

impl Rotation {
    /// The matrices that six of the constraints keep orthonormal; takes these constraints out of the list, and those that say what the
    /// determinant of such a matrix is.
    pub(super) fn take(constraints: &mut Vec<Constraint<'_>>) -> Vec<Self> {
        let products = ScalarProducts::among(constraints);
        let (mut rotations, mut members) = (Vec::new(), BTreeSet::new());
        while let Some((entries, own)) = products.orthonormal(&members) {
            let mut rotation = Self { entries, determinant: None };
            members.extend(own);
            for (index, Constraint { value, .. }) in constraints.iter().enumerate() {
                if let Some(determinant) = rotation.determinant_in(value) {
                    rotation.determinant = Some(determinant);
                    members.insert(index);
                }
            }
            rotations.push(rotation);
        }
        let mut indices = 0..;
        constraints.retain(|_| indices.next().is_none_or(|index| !members.contains(&index)));
        rotations
    }

    /// The value of det r where an expression, d - det r or det r - d, vanishes.
    fn determinant_in(&self, value: &Expression) -> Option<i8> {
        if !value.symbols().into_iter().eq(self.symbols().collect::<BTreeSet<_>>()) {
            return None;
        }
        let own = self.determinant();
        let is_said = |number: i8| {
            let difference = own.clone() - Expression::integer(number.into());
            vanishes_identically(&(value.clone() - difference.clone()))
                || vanishes_identically(&(value.clone() + difference))
        };
        [1, -1].into_iter().find(|number| is_said(*number))
    }

    /// det r
    fn determinant(&self) -> Expression {
        determinant(&self.entries.map(|row| row.map(Expression::from).to_vec()))
    }

    /// Returns `true` if the matrix may reflect, for all that constraints say.
    pub(super) fn may_reflect(&self) -> bool {
        self.determinant.is_none()
    }

    /// Returns `true` if the determinant that these values of expressions give the matrix is what constraints say.
    pub(super) fn admits(&self, value: &impl Fn(&Expression) -> f64) -> bool {
        self.determinant.is_none_or(|determinant| value(&self.determinant()) * f64::from(determinant) > 0.0)
    }

    /// This matrix with the condition that its determinant, with the symbols in the order of the state, is 1.
    pub(super) fn right_handed(self) -> Self {
        let order = |a: &[Symbol; 3], b: &[Symbol; 3]| if a < b { 1 } else { -1 };
        let [a, b, c] = &self.entries;
        Self { determinant: Some(order(a, b) * order(a, c) * order(b, c)), ..self }
    }

    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> + use<> {
        self.entries.into_iter().flatten()
    }

    /// Binds the entries to a random rotation's, in a part of the set where it may reflect, or of an unknown multiple of it.
    pub(super) fn bind(&self, point: &mut ModularPoint, reflects: bool) -> Option<()> {
        let by = match (self.determinant, point.knows) {
            (None, Signs::Free) => point.random(),
            (determinant, _) => {
                point.signs += u32::from(determinant.is_none());
                let is_reflection = determinant.map_or(reflects, |determinant| determinant < 0);
                if is_reflection { point.field.negative(1) } else { 1 }
            }
        };
        let [w, x, y, z] = [0; 4].map(|_| point.random());
        let field = point.field;
        let norm = [w, x, y, z].iter().fold(0, |sum, entry| field.add(sum, field.multiply(*entry, *entry)));
        let factor = field.quotient(2, norm)?;
        // r = 1 + 2 (w + h) h / |q|^2, where h u = v x u.
        let [minus_x, minus_y, minus_z] = [x, y, z].map(|entry| field.negative(entry));
        let h = [[0, minus_z, y], [z, 0, minus_x], [minus_y, x, 0]];
        for (i, symbols) in self.entries.iter().enumerate() {
            for (j, symbol) in symbols.iter().enumerate() {
                let products = (0..3).map(|k| field.multiply(h[i][k], h[k][j]));
                let turn = products.fold(field.multiply(w, h[i][j]), |sum, product| field.add(sum, product));
                let entry = field.add(u64::from(i == j), field.multiply(factor, turn));
                point.bind(*symbol, field.multiply(by, entry));
            }
        }
        Some(())
    }
}

/// Constraints by the symbols that they contain: candidates for scalar products of vectors of symbols.
struct ScalarProducts<'a> {
    by_symbols: BTreeMap<BTreeSet<Symbol>, Vec<(usize, &'a Expression)>>,
    /// Vectors that a constraint, of this index, makes unit vectors.
    units: Vec<(usize, [Symbol; 3])>,
}

impl<'a> ScalarProducts<'a> {
    fn among(constraints: &[Constraint<'a>]) -> Self {
        let mut products = Self { by_symbols: BTreeMap::new(), units: Vec::new() };
        for (index, Constraint { value, .. }) in constraints.iter().enumerate() {
            let symbols = value.symbols();
            if let Ok(vector) = <[Symbol; 3]>::try_from(symbols.iter().copied().collect::<Vec<_>>())
                && is_product(value, &vector, &vector, 1)
            {
                products.units.push((index, vector));
            }
            products.by_symbols.entry(symbols).or_default().push((index, value));
        }
        products
    }

    /// The constraint that makes two vectors orthogonal.
    fn of(&self, one: &[Symbol; 3], other: &[Symbol; 3]) -> Option<usize> {
        let candidates = self.by_symbols.get(&one.iter().chain(other).copied().collect::<BTreeSet<_>>())?;
        candidates.iter().find(|(_, value)| is_product(value, one, other, 0)).map(|(index, _)| *index)
    }

    /// Three vectors that constraints keep orthonormal, and the indices of these constraints: none of those that are taken.
    fn orthonormal(&self, taken: &BTreeSet<usize>) -> Option<([[Symbol; 3]; 3], [usize; 6])> {
        let units: Vec<_> = self.units.iter().filter(|(index, _)| !taken.contains(index)).collect();
        for (place, (first, a)) in units.iter().enumerate() {
            for (next, (second, b)) in units.iter().enumerate().skip(place + 1) {
                let Some(ab) = self.of(a, b) else { continue };
                for (third, c) in &units[next + 1..] {
                    if let (Some(ac), Some(bc)) = (self.of(a, c), self.of(b, c)) {
                        return Some(([*a, *b, *c], [*first, *second, *third, ab, ac, bc]));
                    }
                }
            }
        }
        None
    }
}

/// Returns `true` if an expression is a . b - `constant`.
fn is_product(value: &Expression, a: &[Symbol; 3], b: &[Symbol; 3], constant: i64) -> bool {
    let symbols = value.symbols();
    if a.iter().chain(b).any(|symbol| !symbols.contains(symbol)) || a != b && symbols.len() != 6 {
        return false;
    }
    let product = |(a, b): (&Symbol, &Symbol)| Expression::from(*a) * Expression::from(*b);
    let difference = Expression::sum(a.iter().zip(b).map(product)) - Expression::integer(constant) - value.clone();
    vanishes_identically(&difference)
}
