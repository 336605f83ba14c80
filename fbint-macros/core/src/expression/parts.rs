//! Parts of expressions, each with an identity: equal parts have equal identities, wherever they were made.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use num_rational::BigRational;
use num_traits::ToPrimitive;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

use crate::expression::{Expression, Symbol};

/// An odd number whose bits look random: the bits of pi after its point.
const SPREAD: u128 = 0x243f_6a88_85a3_08d3_1319_8a2e_0370_7345;

/// A hash of 128 bits of everything that an expression consists of. Different expressions have different identities but for a
/// probability that is negligible among any number of expressions that fits into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u128);

impl Identity {
    pub(super) fn of(content: impl Hash) -> Self {
        let mut hasher = SipHasher24::new();
        content.hash(&mut hasher);
        Self(hasher.finish128().as_u128())
    }

    /// The identity of something that consists of what has this one and of `content`, in this order. Both are spread over all bits.
    pub(super) fn with(self, content: u128) -> Self {
        let mixed = (self.0.rotate_left(43) ^ content).wrapping_mul(SPREAD);
        Self(mixed ^ mixed >> 71)
    }

    /// The identity of a number.
    pub(super) fn of_number(number: &BigRational) -> Self {
        match (number.numer().to_i64(), number.denom().to_i64()) {
            (Some(numerator), Some(denominator)) => {
                Self(0).with(u128::from(numerator as u64) << 64 | u128::from(denominator as u64))
            }
            _ => Self::of((0_u8, number.numer(), number.denom())),
        }
    }

    pub(super) fn of_symbol(symbol: Symbol) -> Self {
        Self(2).with(u128::from(symbol.0))
    }

    /// The identity of a power.
    pub(crate) fn of_power(base: &Expression, exponent: &BigRational) -> Self {
        Self::of_number(exponent).with(5).with(base.identity().0)
    }

    /// The identity of things in any order.
    pub(crate) fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().map(|identity| identity.with(0)).fold(Self(0), Self::joined)
    }

    /// The identity of things in any order, from identities of some of them and of the others.
    pub(crate) fn joined(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The identity of a kind of expression with these parts.
    pub(super) fn of_kind(kind: u8, parts: &Parts) -> Self {
        parts.0.identity.with(u128::from(kind))
    }
}

impl Hash for Identity {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0 as u64);
        hasher.write_u64((self.0 >> 64) as u64);
    }
}

/// The terms, factors or arguments of an expression: a slice that is cheap to copy and to compare.
#[derive(Clone)]
pub struct Parts(Arc<Shared>);

struct Shared {
    identity: Identity,
    operations: usize,
    depth: usize,
    parts: Box<[Expression]>,
}

impl Parts {
    /// The number of operations in all parts, saturating.
    #[inline]
    pub(super) fn operations(&self) -> usize {
        self.0.operations
    }

    /// The levels of the deepest part.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.0.depth
    }
}

impl From<Vec<Expression>> for Parts {
    fn from(parts: Vec<Expression>) -> Self {
        let length = Identity(parts.len() as u128).with(0);
        let identity = parts.iter().fold(length, |identity, part| identity.with(part.identity().0));
        let operations = parts.iter().fold(0, |sum: usize, part| sum.saturating_add(part.operations()));
        let depth = parts.iter().map(Expression::depth).max().unwrap_or(0);
        Self(Arc::new(Shared { identity, operations, depth, parts: parts.into() }))
    }
}

impl FromIterator<Expression> for Parts {
    fn from_iter<I: IntoIterator<Item = Expression>>(parts: I) -> Self {
        Self::from(parts.into_iter().collect::<Vec<_>>())
    }
}

impl Deref for Parts {
    type Target = [Expression];

    fn deref(&self) -> &[Expression] {
        &self.0.parts
    }
}

impl Debug for Parts {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.0.parts.fmt(formatter)
    }
}

impl PartialEq for Parts {
    fn eq(&self, other: &Self) -> bool {
        self.0.identity == other.0.identity
    }
}

impl Eq for Parts {}

/// The order of slices, which compares only the first parts that differ.
impl Ord for Parts {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other { Ordering::Equal } else { self.0.parts.cmp(&other.0.parts) }
    }
}

impl PartialOrd for Parts {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Parts {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.identity.hash(hasher);
    }
}

/// Passes repeat fewer operations faster than they look them up. Functions are looked up always.
const FEW: usize = 8;

/// Something for each of several expressions, for look-up alone.
pub(crate) type ByIdentity<T> = HashMap<Identity, T, BuildHasherDefault<LowBits>>;

/// Several expressions, for look-up alone.
pub(crate) type Identities = HashSet<Identity, BuildHasherDefault<LowBits>>;

/// The results of a pass, one for each distinct expression.
#[derive(Clone, Debug)]
pub(crate) struct Results<T>(RefCell<ByIdentity<T>>);

impl<T> Default for Results<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> Results<T> {
    /// The result for an expression, which is computed where it is not known.
    pub(crate) fn of(&self, expression: &Expression, compute: impl FnOnce() -> T) -> T {
        if !is_kept(expression) {
            return compute();
        }
        let identity = expression.identity();
        if let Some(known) = self.0.borrow().get(&identity) {
            return known.clone();
        }
        let result = compute();
        self.0.borrow_mut().insert(identity, result.clone());
        result
    }

    /// The result for an expression, if it is kept.
    pub(crate) fn get(&self, expression: &Expression) -> Option<T> {
        if !is_kept(expression) {
            return None;
        }
        self.0.borrow().get(&expression.identity()).cloned()
    }

    pub(crate) fn insert(&self, expression: &Expression, result: &T) {
        if is_kept(expression) {
            self.0.borrow_mut().insert(expression.identity(), result.clone());
        }
    }
}

/// Returns `true` if the result of a pass on this expression is kept: a look-up has to be faster than the pass.
#[inline]
fn is_kept(expression: &Expression) -> bool {
    expression.operations() >= FEW || matches!(expression, Expression::Call(..))
}

/// Takes the low bits of what is a hash already.
#[derive(Default)]
pub(crate) struct LowBits(u64);

impl Hasher for LowBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, bits: u64) {
        self.0 ^= bits;
    }
}
