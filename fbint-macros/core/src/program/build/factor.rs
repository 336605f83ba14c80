//! Unrolled solves of the small linear systems behind c. No symbolic inverse, no allocation, no branch at run time.
//!
//! A (symmetric, positive definite where the constraints are independent and H_pp is positive definite) is factored as
//! L D L^T in a fill-reducing order that is chosen here, from its pattern of zeros; a chain of k links costs O(k).
//! C (antisymmetric, zero diagonal) has no such factorisation: it falls into blocks that do not touch; a block of two is
//! one division, a block of four has a closed inverse through its Pfaffian, and a larger one is solved by the normal
//! equations C C^T c = C b, which need no pivot. They square the condition number kappa of C; each step of iterative
//! refinement multiplies the error by about 1e-16 kappa^2, so two make up for it where kappa is below 1e6.

use crate::program::code::{Builder, Value};

/// Steps of iterative refinement after a solve by normal equations.
const REFINEMENTS: usize = 2;

/// A matrix, row by row. Entries that vanish identically are the number 0.
pub(crate) type Matrix = Vec<Vec<Value>>;

/// A symmetric matrix, from its entries on the diagonal and below it.
pub(crate) fn symmetric(size: usize, mut entry: impl FnMut(usize, usize) -> Value) -> Matrix {
    let mut matrix: Matrix = vec![vec![Value::at(0); size]; size];
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
pub(crate) enum Pivots {
    /// One row at a time: the fewest operations.
    Single,
    /// Coupled rows in pairs, if they wait for the same number of divisions: half as many then wait for one another.
    Pairs,
}

/// A = L D L^T in the order of elimination, D in blocks of one or two rows.
pub(crate) struct Ldl {
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
    pub(crate) fn factor(builder: &mut Builder, a: &Matrix, pivots: Pivots) -> Self {
        let order = minimum_degree_order(builder, a);
        let (k, zero) = (order.len(), builder.constant(0.0));
        let (mut lower, mut couplings): (Matrix, Matrix) = (vec![vec![zero; k]; k], vec![vec![zero; k]; k]);
        let mut inverse_blocks = Vec::new();
        let mut work: Matrix = order.iter().map(|&i| order.iter().map(|&j| a[i][j]).collect()).collect();
        // How many divisions, one after the other, come before that of each row.
        let mut depth = vec![0; k];
        let mut j = 0;
        while j < k {
            let is_pair = pivots == Pivots::Pairs && j + 1 < k && work[j + 1][j] != zero && depth[j + 1] == depth[j];
            let size = if is_pair { 2 } else { 1 };
            for i in j + size..k {
                if work[i][j..j + size].iter().any(|entry| *entry != zero) {
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
                    work[i][l] = builder.sub(work[i][l], update);
                }
            }
            inverse_blocks.push((j, block));
            j += size;
        }
        Self { order, lower, couplings, inverse_blocks }
    }

    /// The solution of A x = b.
    pub(crate) fn solve(&self, builder: &mut Builder, b: &[Value]) -> Vec<Value> {
        let mut x: Vec<Value> = self.order.iter().map(|&i| b[i]).collect();
        self.substitute_forwards(builder, &mut x);
        divide(builder, &self.inverse_blocks, &mut x);
        self.substitute_backwards(builder, &mut x);
        self.in_given_order(builder, x)
    }

    /// The solution of A x = b before the last division, for which nothing in it waits.
    pub(crate) fn solve_ahead(&self, builder: &mut Builder, b: &[Value]) -> Solution {
        let zero = builder.constant(0.0);
        let Some(((first, block), leading)) = self.inverse_blocks.split_last() else {
            return Solution { known: Vec::new(), waiting: Vec::new(), inverse: zero };
        };
        let mut known: Vec<Value> = self.order.iter().map(|&i| b[i]).collect();
        self.eliminate(builder, leading, &mut known);
        let numerators = block.times_adjugate(builder, &known[*first..]);
        known.truncate(*first);
        self.substitute_backwards(builder, &mut known);
        let mut waiting = vec![zero; *first];
        for (lower, &numerator) in self.lower[*first..].iter().zip(&numerators) {
            for (sum, &factor) in waiting.iter_mut().zip(lower) {
                let update = builder.mul(factor, numerator);
                *sum = builder.sub(*sum, update);
            }
        }
        self.substitute_backwards(builder, &mut waiting);
        waiting.extend(numerators);
        let (known, waiting) = (self.in_given_order(builder, known), self.in_given_order(builder, waiting));
        Solution { known, waiting, inverse: block.inverse }
    }

    /// The entries of the rows that were eliminated first, in the order in which the rows were given; 0 for all other rows.
    fn in_given_order(&self, builder: &mut Builder, x: Vec<Value>) -> Vec<Value> {
        let mut given = vec![builder.constant(0.0); self.order.len()];
        for (&index, value) in self.order.iter().zip(x) {
            given[index] = value;
        }
        given
    }

    /// Replaces b by L^-1 b, in the order of elimination.
    fn substitute_forwards(&self, builder: &mut Builder, x: &mut [Value]) {
        for i in 0..x.len() {
            for j in 0..i {
                let update = builder.mul(self.lower[i][j], x[j]);
                x[i] = builder.sub(x[i], update);
            }
        }
    }

    /// Divides the rows of these blocks by D, and subtracts what they say from the rows below. Nothing but one product and one difference
    /// in a row below waits for the division.
    fn eliminate(&self, builder: &mut Builder, blocks: &[(usize, InverseBlock)], x: &mut [Value]) {
        for (first, block) in blocks {
            let rows = *first..*first + block.size();
            let numerators = block.times_adjugate(builder, &x[rows.clone()]);
            for i in rows.end..x.len() {
                let numerator = dot(builder, &self.couplings[i][rows.clone()], &numerators);
                let update = builder.mul(numerator, block.inverse);
                x[i] = builder.sub(x[i], update);
            }
            x[rows].copy_from_slice(&block.divide(builder, &numerators));
        }
    }

    /// Replaces b by L^-T b, with as many of the first rows and columns of L as b has rows.
    fn substitute_backwards(&self, builder: &mut Builder, x: &mut [Value]) {
        for i in (0..x.len()).rev() {
            for j in i + 1..x.len() {
                let update = builder.mul(self.lower[j][i], x[j]);
                x[i] = builder.sub(x[i], update);
            }
        }
    }
}

/// The solution `known` + `inverse` times `waiting` of A x = b.
pub(crate) struct Solution {
    /// The solution where the last block's rows are left out; 0 in these.
    pub(crate) known: Vec<Value>,
    pub(crate) waiting: Vec<Value>,
    /// 1 / the last divisor.
    pub(crate) inverse: Value,
}

/// Multiplies by the inverses of blocks of D.
fn divide(builder: &mut Builder, blocks: &[(usize, InverseBlock)], x: &mut [Value]) {
    for (first, block) in blocks {
        let rows = *first..*first + block.size();
        let product = block.multiply(builder, &x[rows.clone()]);
        x[rows].copy_from_slice(&product);
    }
}

impl InverseBlock {
    fn of(builder: &mut Builder, work: &Matrix, first: usize, size: usize) -> Self {
        let entry = |i: usize, j: usize| work[first + i][first + j];
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
    fn multiply(&self, builder: &mut Builder, v: &[Value]) -> Vec<Value> {
        let numerators = self.times_adjugate(builder, v);
        self.divide(builder, &numerators)
    }

    /// A product with the adjugate, divided by the determinant.
    fn divide(&self, builder: &mut Builder, numerators: &[Value]) -> Vec<Value> {
        numerators.iter().map(|entry| builder.mul(*entry, self.inverse)).collect()
    }

    /// v^T times the inverse times w.
    fn product(&self, builder: &mut Builder, v: &[Value], w: &[Value]) -> Value {
        let w = self.times_adjugate(builder, w);
        let product = dot(builder, v, &w);
        builder.mul(product, self.inverse)
    }

    fn times_adjugate(&self, builder: &mut Builder, v: &[Value]) -> Vec<Value> {
        match self.adjugate {
            None => v.to_vec(),
            Some([a, b, c]) => [[a, b], [b, c]].map(|row| dot(builder, &row, v)).to_vec(),
        }
    }
}

/// Eliminates the row with the fewest neighbours first. Among several, it takes one that waits for the fewest divisions, so that a chain is
/// eliminated from both ends at once; then by index, so that the order is reproducible.
fn minimum_degree_order(builder: &Builder, a: &Matrix) -> Vec<usize> {
    let k = a.len();
    let mut adjacent: Vec<Vec<bool>> =
        a.iter().map(|row| row.iter().map(|entry| !builder.is_zero(*entry)).collect()).collect();
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
pub(crate) fn solve_antisymmetric(builder: &mut Builder, c: &Matrix, b: &[Value]) -> Vec<Value> {
    let mut solution = b.to_vec();
    for block in blocks(builder, c) {
        let (c, b) = (restricted(c, &block), block.iter().map(|&i| b[i]).collect::<Vec<_>>());
        let x = match block.len() {
            2 => solve_two(builder, &c, &b),
            4 => solve_four(builder, &c, &b),
            _ => solve_normal_equations(builder, &c, &b),
        };
        for (&index, value) in block.iter().zip(x) {
            solution[index] = value;
        }
    }
    solution
}

/// The rows and columns of a block.
pub(crate) fn restricted(matrix: &Matrix, block: &[usize]) -> Matrix {
    block.iter().map(|&i| block.iter().map(|&j| matrix[i][j]).collect()).collect()
}

/// The connected components of the pattern of non-zeros, each in increasing order.
pub(crate) fn blocks(builder: &Builder, c: &Matrix) -> Vec<Vec<usize>> {
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
                if !builder.is_zero(c[i][j]) && !seen[j] {
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
fn solve_two(builder: &mut Builder, c: &Matrix, b: &[Value]) -> Vec<Value> {
    let inverse = builder.recip(c[0][1]);
    let [first, second] = [b[1], b[0]].map(|b| builder.mul(b, inverse));
    vec![first, builder.neg(second)]
}

/// With Pf = c_12 c_34 - c_13 c_24 + c_14 c_23, row i of the inverse of C holds +- the entry of C that has neither index.
fn solve_four(builder: &mut Builder, c: &Matrix, b: &[Value]) -> Vec<Value> {
    let plus = dot(builder, &[c[0][1], c[0][3]], &[c[2][3], c[1][2]]);
    let minus = builder.mul(c[0][2], c[1][3]);
    let pfaffian = builder.sub(plus, minus);
    let inverse = builder.recip(pfaffian);
    let zero = builder.constant(0.0);
    let mut negated = |entry: Value| builder.neg(entry);
    // C^-1 times Pf, row by row; c = -C^-1 b because C^T = -C, so every sign is turned.
    let rows = [
        [zero, c[2][3], negated(c[1][3]), c[1][2]],
        [negated(c[2][3]), zero, c[0][3], negated(c[0][2])],
        [c[1][3], negated(c[0][3]), zero, c[0][1]],
        [negated(c[1][2]), c[0][2], negated(c[0][1]), zero],
    ];
    let entry = |row: [Value; 4]| {
        let sum = dot(builder, &row, b);
        builder.mul(sum, inverse)
    };
    rows.map(entry).to_vec()
}

fn solve_normal_equations(builder: &mut Builder, c: &Matrix, b: &[Value]) -> Vec<Value> {
    let gram = symmetric(c.len(), |i, j| dot(builder, &c[i], &c[j]));
    let ldl = Ldl::factor(builder, &gram, Pivots::Single);
    let apply = |builder: &mut Builder, residual: &[Value]| {
        let right: Vec<Value> = c.iter().map(|row| dot(builder, row, residual)).collect();
        ldl.solve(builder, &right)
    };
    let mut x = apply(builder, b);
    for _ in 0..REFINEMENTS {
        // b - C^T x = b + C x
        let residual = c.iter().zip(b).map(|(row, b)| {
            let product = dot(builder, row, &x);
            builder.add(*b, product)
        });
        let residual: Vec<Value> = residual.collect();
        let correction = apply(builder, &residual);
        x = x.into_iter().zip(correction).map(|(x, dx)| builder.add(x, dx)).collect();
    }
    x
}

fn dot(builder: &mut Builder, v: &[Value], w: &[Value]) -> Value {
    let mut sum = builder.constant(0.0);
    for (&a, &b) in v.iter().zip(w) {
        let term = builder.mul(a, b);
        sum = builder.add(sum, term);
    }
    sum
}
