//! Dense linear systems in doubles: factors for steps and for iterative refinement, whose residuals are precise.

/// A = P L U by partial pivoting.
pub(super) struct Lu {
    rows: Vec<Vec<f64>>,
    order: Vec<usize>,
}

impl Lu {
    /// `None` where a pivot vanishes or is not finite.
    pub(super) fn factor(mut rows: Vec<Vec<f64>>) -> Option<Self> {
        let n = rows.len();
        let mut order: Vec<usize> = (0..n).collect();
        for step in 0..n {
            let best = (step..n).max_by(|&i, &j| rows[i][step].abs().total_cmp(&rows[j][step].abs()))?;
            let pivot = rows[best][step];
            if pivot == 0.0 || !pivot.is_finite() {
                return None;
            }
            rows.swap(step, best);
            order.swap(step, best);
            let (above, below) = rows.split_at_mut(step + 1);
            let source = &above[step];
            for row in below.iter_mut().filter(|row| row[step] != 0.0) {
                row[step] /= pivot;
                let factor = row[step];
                for (entry, other) in row[step + 1..].iter_mut().zip(&source[step + 1..]) {
                    *entry -= factor * other;
                }
            }
        }
        Some(Self { rows, order })
    }

    /// The solution of A x = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.rows.len();
        let mut x: Vec<f64> = self.order.iter().map(|&row| b[row]).collect();
        for i in 0..n {
            let sum: f64 = (0..i).map(|j| self.rows[i][j] * x[j]).sum();
            x[i] -= sum;
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|j| self.rows[i][j] * x[j]).sum();
            x[i] = (x[i] - sum) / self.rows[i][i];
        }
        x
    }
}
