//! Unrolled solves of the small linear systems behind c. No symbolic inverse, no allocation, no branch at run time.
//!
//! A (symmetric, positive definite where the constraints are independent and H_pp is positive definite) is factored as
//! L D L^T in a fill-reducing order that is chosen here, from its pattern of zeros; a chain of k links costs O(k).
//! C (antisymmetric, zero diagonal) has no such factorisation: it falls into blocks that do not touch; a block of two is
//! one division, a block of four has a closed inverse through its Pfaffian, and a larger one is solved by the normal
//! equations C C^T c = C b, which need no pivot. They square the condition number kappa of C; each step of iterative
//! refinement multiplies the error by about 1e-16 kappa^2, so two make up for it where kappa is below 1e6.

use super::lower::Lowering;
use super::{Builder, Value};

/// Steps of iterative refinement after a solve by normal equations.
const REFINEMENTS: usize = 2;

/// A matrix with `None` for entries that vanish identically.
pub(super) type Matrix = Vec<Vec<Option<Value>>>;

/// A symmetric matrix, from its entries on the diagonal and below it.
pub(super) fn symmetric(size: usize, mut entry: impl FnMut(usize, usize) -> Option<Value>) -> Matrix {
    let mut matrix: Matrix = vec![vec![None; size]; size];
    for i in 0..size {
        for j in 0..=i {
            matrix[i][j] = entry(i, j);
            matrix[j][i] = matrix[i][j];
        }
    }
    matrix
}

/// Which pivots an elimination takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pivots {
    /// One row at a time: the fewest operations.
    Single,
    /// Coupled rows in pairs, if they wait for the same number of divisions: half as many then wait for one another.
    Pairs,
}

/// A = L D L^T in the order of elimination, D in blocks of one or two rows.
pub(super) struct Ldl {
    order: Vec<usize>,
    /// Strictly lower triangle, in the order of elimination.
    lower: Matrix,
    /// L D below the diagonal blocks: what couples a row to a block when the block is eliminated.
    couplings: Matrix,
    /// The inverses of the blocks of D with their first rows.
    inverse_blocks: Vec<(usize, InverseBlock)>,
}

/// The inverse of a block of D: the adjugate divided by the determinant. They are kept apart, so that what is multiplied by
/// the adjugate need not wait for the division.
struct InverseBlock {
    /// (0, 0), (0, 1) and (1, 1) of a block of two; one of a single row is 1.
    adjugate: Option<[Value; 3]>,
    /// 1 / determinant
    inverse: Value,
}

impl Ldl {
    pub(super) fn factor(builder: &mut Builder, a: &Matrix, pivots: Pivots) -> Self {
        let order = minimum_degree_order(a);
        let k = order.len();
        let (mut lower, mut couplings): (Matrix, Matrix) = (vec![vec![None; k]; k], vec![vec![None; k]; k]);
        let mut inverse_blocks = Vec::new();
        let mut work: Matrix = order.iter().map(|&i| order.iter().map(|&j| a[i][j]).collect()).collect();
        // How many divisions, one after the other, come before that of each row.
        let mut depth = vec![0; k];
        let mut j = 0;
        while j < k {
            let is_pair = pivots == Pivots::Pairs && j + 1 < k && work[j + 1][j].is_some() && depth[j + 1] == depth[j];
            let size = if is_pair { 2 } else { 1 };
            for i in j + size..k {
                if work[i][j..j + size].iter().any(Option::is_some) {
                    depth[i] = depth[i].max(depth[j] + 1);
                }
            }
            let block = InverseBlock::of(builder, &work, j, size);
            for i in j + size..k {
                couplings[i][j..j + size].copy_from_slice(&work[i][j..j + size]);
                lower[i][j..j + size].copy_from_slice(&block.multiply(builder, &couplings[i][j..j + size]));
            }
            for i in j + size..k {
                for l in j + size..=i {
                    let (left, right) = (&work[i][j..j + size], &work[l][j..j + size]);
                    let update = match pivots {
                        Pivots::Single => dot(builder, left, &lower[l][j..j + size]),
                        Pivots::Pairs => block.product(builder, left, right),
                    };
                    if let Some(update) = update {
                        work[i][l] = Some(subtract(builder, work[i][l], update));
                    }
                }
            }
            inverse_blocks.push((j, block));
            j += size;
        }
        Self { order, lower, couplings, inverse_blocks }
    }

    /// The solution of A x = b.
    pub(super) fn solve(&self, builder: &mut Builder, b: &[Option<Value>]) -> Vec<Option<Value>> {
        let mut x: Vec<Option<Value>> = self.order.iter().map(|&i| b[i]).collect();
        self.substitute_forwards(builder, &mut x);
        divide(builder, &self.inverse_blocks, &mut x);
        self.substitute_backwards(builder, &mut x);
        self.in_given_order(x)
    }

    /// The solution of A x = b before the last division, for which nothing in it waits.
    pub(super) fn solve_ahead(&self, builder: &mut Builder, b: &[Option<Value>]) -> Solution {
        let Some(((first, block), leading)) = self.inverse_blocks.split_last() else { return Solution::default() };
        let mut known: Vec<Option<Value>> = self.order.iter().map(|&i| b[i]).collect();
        self.eliminate(builder, leading, &mut known);
        let numerators = block.times_adjugate(builder, &known[*first..]);
        known.truncate(*first);
        self.substitute_backwards(builder, &mut known);
        let mut waiting = vec![None; *first];
        for (lower, &numerator) in self.lower[*first..].iter().zip(&numerators) {
            for (sum, &factor) in waiting.iter_mut().zip(lower) {
                if let Some(update) = product(builder, factor, numerator) {
                    *sum = Some(subtract(builder, *sum, update));
                }
            }
        }
        self.substitute_backwards(builder, &mut waiting);
        waiting.extend(numerators);
        let (known, waiting) = (self.in_given_order(known), self.in_given_order(waiting));
        Solution { known, waiting, inverse: Some(block.inverse) }
    }

    /// The entries of the rows that were eliminated first, in the order in which the rows were given; nothing for all other rows.
    fn in_given_order(&self, x: Vec<Option<Value>>) -> Vec<Option<Value>> {
        let mut given = vec![None; self.order.len()];
        for (&index, value) in self.order.iter().zip(x) {
            given[index] = value;
        }
        given
    }

    /// Replaces b by L^-1 b, in the order of elimination.
    fn substitute_forwards(&self, builder: &mut Builder, x: &mut [Option<Value>]) {
        for i in 0..x.len() {
            for j in 0..i {
                if let Some(update) = product(builder, self.lower[i][j], x[j]) {
                    x[i] = Some(subtract(builder, x[i], update));
                }
            }
        }
    }

    /// Divides the rows of these blocks by D, and subtracts what they say from the rows below. Nothing but one product and one difference
    /// in a row below waits for the division.
    fn eliminate(&self, builder: &mut Builder, blocks: &[(usize, InverseBlock)], x: &mut [Option<Value>]) {
        for (first, block) in blocks {
            let rows = *first..*first + block.size();
            let numerators = block.times_adjugate(builder, &x[rows.clone()]);
            for i in rows.end..x.len() {
                if let Some(numerator) = dot(builder, &self.couplings[i][rows.clone()], &numerators) {
                    let update = builder.mul(numerator, block.inverse);
                    x[i] = Some(subtract(builder, x[i], update));
                }
            }
            x[rows].copy_from_slice(&block.divide(builder, &numerators));
        }
    }

    /// Replaces b by L^-T b, with as many of the first rows and columns of L as b has rows.
    fn substitute_backwards(&self, builder: &mut Builder, x: &mut [Option<Value>]) {
        for i in (0..x.len()).rev() {
            for j in i + 1..x.len() {
                if let Some(update) = product(builder, self.lower[j][i], x[j]) {
                    x[i] = Some(subtract(builder, x[i], update));
                }
            }
        }
    }
}

/// The solution `known` + `inverse` times `waiting` of A x = b.
#[derive(Default)]
pub(super) struct Solution {
    /// The solution where the last block's rows are left out; nothing in these.
    pub(super) known: Vec<Option<Value>>,
    pub(super) waiting: Vec<Option<Value>>,
    /// 1 / the last divisor, unless there are no rows.
    pub(super) inverse: Option<Value>,
}

/// Multiplies by the inverses of blocks of D.
fn divide(builder: &mut Builder, blocks: &[(usize, InverseBlock)], x: &mut [Option<Value>]) {
    for (first, block) in blocks {
        let rows = *first..*first + block.size();
        let product = block.multiply(builder, &x[rows.clone()]);
        x[rows].copy_from_slice(&product);
    }
}

impl InverseBlock {
    fn of(builder: &mut Builder, work: &Matrix, first: usize, size: usize) -> Self {
        let mut entry = |i: usize, j: usize| work[first + i][first + j].unwrap_or_else(|| builder.constant(0.0));
        if size == 1 {
            let pivot = entry(0, 0);
            return Self { adjugate: None, inverse: builder.recip(pivot) };
        }
        let (a, b, c) = (entry(0, 0), entry(1, 0), entry(1, 1));
        let (ac, bb) = (builder.mul(a, c), builder.mul(b, b));
        let determinant = builder.sub(ac, bb);
        Self { adjugate: Some([c, builder.neg(b), a]), inverse: builder.recip(determinant) }
    }

    fn size(&self) -> usize {
        if self.adjugate.is_some() { 2 } else { 1 }
    }

    /// The inverse times v.
    fn multiply(&self, builder: &mut Builder, v: &[Option<Value>]) -> Vec<Option<Value>> {
        let numerators = self.times_adjugate(builder, v);
        self.divide(builder, &numerators)
    }

    /// What was multiplied by the adjugate, divided by the determinant.
    fn divide(&self, builder: &mut Builder, numerators: &[Option<Value>]) -> Vec<Option<Value>> {
        numerators.iter().map(|entry| entry.map(|entry| builder.mul(entry, self.inverse))).collect()
    }

    /// v^T times the inverse times w.
    fn product(&self, builder: &mut Builder, v: &[Option<Value>], w: &[Option<Value>]) -> Option<Value> {
        let w = self.times_adjugate(builder, w);
        dot(builder, v, &w).map(|product| builder.mul(product, self.inverse))
    }

    fn times_adjugate(&self, builder: &mut Builder, v: &[Option<Value>]) -> Vec<Option<Value>> {
        match self.adjugate {
            None => v.to_vec(),
            Some([a, b, c]) => [[a, b], [b, c]].map(|row| dot(builder, &row.map(Some), v)).to_vec(),
        }
    }
}

fn subtract(builder: &mut Builder, a: Option<Value>, b: Value) -> Value {
    match a {
        Some(a) => builder.sub(a, b),
        None => builder.neg(b),
    }
}

/// Eliminates the row with the fewest neighbours first. Of several, one that waits for the fewest divisions, so that a chain
/// is eliminated from both ends at once; then by index, so that the order is reproducible.
fn minimum_degree_order(a: &Matrix) -> Vec<usize> {
    let k = a.len();
    let mut adjacent: Vec<Vec<bool>> = a.iter().map(|row| row.iter().map(Option::is_some).collect()).collect();
    let mut remaining: Vec<usize> = (0..k).collect();
    // How many divisions, one after the other, come before the pivot of each row.
    let mut depth = vec![0; k];
    let mut order = Vec::with_capacity(k);
    while let Some(position) = (0..remaining.len()).min_by_key(|&position| {
        let i = remaining[position];
        (remaining.iter().filter(|&&j| j != i && adjacent[i][j]).count(), depth[i])
    }) {
        let pivot = remaining.remove(position);
        for &i in &remaining {
            if adjacent[pivot][i] {
                depth[i] = depth[i].max(depth[pivot] + 1);
            }
            for &j in &remaining {
                if adjacent[pivot][i] && adjacent[pivot][j] {
                    adjacent[i][j] = true;
                }
            }
        }
        order.push(pivot);
    }
    order
}

/// The solution of C^T c = b for an antisymmetric C.
pub(super) fn solve_antisymmetric(lowering: &mut Lowering, c: &Matrix, b: &[Option<Value>]) -> Vec<Option<Value>> {
    let mut solution = vec![None; b.len()];
    for block in blocks(c) {
        let sub_matrix: Matrix = block.iter().map(|&i| block.iter().map(|&j| c[i][j]).collect()).collect();
        let sub_vector: Vec<_> = block.iter().map(|&i| b[i]).collect();
        let builder = &mut lowering.builder;
        let x = match block.len() {
            2 => solve_two(builder, &sub_matrix, &sub_vector),
            4 => solve_four(builder, &sub_matrix, &sub_vector),
            _ => solve_normal_equations(builder, &sub_matrix, &sub_vector),
        };
        for (&index, value) in block.iter().zip(x) {
            solution[index] = value;
        }
    }
    solution
}

/// The connected components of the pattern of non-zeros, each in increasing order.
pub(super) fn blocks(c: &Matrix) -> Vec<Vec<usize>> {
    let mut seen = vec![false; c.len()];
    let mut blocks = Vec::new();
    for start in 0..c.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let mut block = vec![start];
        let mut next = 0;
        while next < block.len() {
            let i = block[next];
            for j in 0..c.len() {
                if c[i][j].is_some() && !seen[j] {
                    seen[j] = true;
                    block.push(j);
                }
            }
            next += 1;
        }
        block.sort_unstable();
        blocks.push(block);
    }
    blocks
}

/// C = [[0, c], [-c, 0]]: c_1 = b_2 / c, c_2 = -b_1 / c.
fn solve_two(builder: &mut Builder, c: &Matrix, b: &[Option<Value>]) -> Vec<Option<Value>> {
    let inverse = reciprocal(builder, c[0][1]);
    let first = b[1].map(|b| builder.mul(b, inverse));
    let second = b[0].map(|b| builder.mul(b, inverse)).map(|product| builder.neg(product));
    vec![first, second]
}

/// With Pf = c_12 c_34 - c_13 c_24 + c_14 c_23, row i of the inverse of C holds +- the entry of C that has neither index.
fn solve_four(builder: &mut Builder, c: &Matrix, b: &[Option<Value>]) -> Vec<Option<Value>> {
    let plus = dot(builder, &[c[0][1], c[0][3]], &[c[2][3], c[1][2]]);
    let minus = product(builder, c[0][2], c[1][3]);
    let pfaffian = match (plus, minus) {
        (Some(plus), Some(minus)) => Some(builder.sub(plus, minus)),
        (Some(plus), None) => Some(plus),
        (None, minus) => minus.map(|minus| builder.neg(minus)),
    };
    let inverse = reciprocal(builder, pfaffian);
    let mut negated = |entry: Option<Value>| entry.map(|entry| builder.neg(entry));
    // C^-1 times Pf, row by row; c = -C^-1 b because C^T = -C, so every sign is turned.
    let rows = [
        [None, c[2][3], negated(c[1][3]), c[1][2]],
        [negated(c[2][3]), None, c[0][3], negated(c[0][2])],
        [c[1][3], negated(c[0][3]), None, c[0][1]],
        [negated(c[1][2]), c[0][2], negated(c[0][1]), None],
    ];
    rows.into_iter().map(|row| dot(builder, &row, b).map(|sum| builder.mul(sum, inverse))).collect()
}

fn solve_normal_equations(builder: &mut Builder, c: &Matrix, b: &[Option<Value>]) -> Vec<Option<Value>> {
    let gram = symmetric(c.len(), |i, j| dot(builder, &c[i], &c[j]));
    let ldl = Ldl::factor(builder, &gram, Pivots::Single);
    let apply = |builder: &mut Builder, residual: &[Option<Value>]| {
        let right: Vec<_> = c.iter().map(|row| dot(builder, row, residual)).collect();
        ldl.solve(builder, &right)
    };
    let mut x = apply(builder, b);
    for _ in 0..REFINEMENTS {
        // b - C^T x = b + C x
        let residual: Vec<_> = c
            .iter()
            .zip(b)
            .map(|(row, &b)| {
                let product = dot(builder, row, &x);
                add(builder, b, product)
            })
            .collect();
        let correction = apply(builder, &residual);
        x = x.into_iter().zip(correction).map(|(x, dx)| add(builder, x, dx)).collect();
    }
    x
}

pub(super) fn add(builder: &mut Builder, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.add(a, b)),
        (a, b) => a.or(b),
    }
}

pub(super) fn product(builder: &mut Builder, a: Option<Value>, b: Option<Value>) -> Option<Value> {
    Some(builder.mul(a?, b?))
}

fn dot(builder: &mut Builder, v: &[Option<Value>], w: &[Option<Value>]) -> Option<Value> {
    let mut sum = None;
    for (&a, &b) in v.iter().zip(w) {
        let term = product(builder, a, b);
        sum = add(builder, sum, term);
    }
    sum
}

fn reciprocal(builder: &mut Builder, value: Option<Value>) -> Value {
    let value = value.unwrap_or_else(|| builder.constant(0.0));
    builder.recip(value)
}
