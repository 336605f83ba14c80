//! Products that have a limit where a norm in them is 0.

use super::lower::Lowering;
use super::monomial::Monomial;
use crate::program::code::{Instruction, Value, is_square, raised, squared};

impl Lowering<'_> {
    /// The monomial with a value where it has a limit at the zero of a norm that it is divided by once: n^2 / n is n, and f_i f_j / n is 0
    /// there.
    pub(crate) fn continued(&mut self, mut monomial: Monomial) -> Monomial {
        let roots = monomial.factors.iter().filter(|&&(_, exponent)| exponent == -1);
        let roots: Vec<Value> = roots.map(|&(value, _)| value).collect();
        for root in roots {
            let Instruction::Sqrt(radicand) = self.builder.instruction(root) else { continue };
            let times = monomial.factors.exponent(radicand);
            if times > 0 {
                monomial.factors.raise(radicand, -times);
                monomial.factors.raise(root, 2 * times);
            } else if is_square(&self.builder, radicand) {
                let mut entries = Vec::new();
                squared(&self.builder, radicand, &mut entries);
                let degree: i32 = entries.iter().map(|entry| monomial.factors.exponent(*entry).max(0)).sum();
                if degree >= 2 {
                    monomial.factors.raise(root, 1);
                    let divisor = raised(&mut self.builder, root);
                    monomial = monomial.times(&Monomial::value(divisor).inverse());
                }
            }
        }
        monomial
    }
}
