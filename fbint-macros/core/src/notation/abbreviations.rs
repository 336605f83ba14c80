//! Names for the parts that long equations share, so that they grow with the distinct parts and not with the tree that these stand for.

use crate::derivation::Derivation;
use crate::expression::Expression;
use crate::expression::parts::{ByIdentity, Identities};

/// An expression with more operations, written out, fills a page.
const PAGE: usize = 400;
/// The fewest operations of a part that has a name.
const WORTH_A_NAME: usize = 6;

/// The parts that occur in several places of long expressions, each behind those that it contains.
pub(super) fn shared_parts(derivation: &Derivation) -> Vec<Expression> {
    let long: Vec<&Expression> = derivation.expressions().filter(|expression| expression.operations() > PAGE).collect();
    let mut walk = Walk::default();
    long.iter().for_each(|expression| walk.visit(expression));
    let Walk { occurrences, parts_first, .. } = walk;
    let is_shared = |part: &&&Expression| part.operations() >= WORTH_A_NAME && occurrences[&part.identity()] > 1;
    parts_first.iter().filter(is_shared).map(|part| (*part).clone()).collect()
}

/// A walk over distinct parts.
#[derive(Default)]
struct Walk<'a> {
    /// The number of times that each part occurs in distinct expressions around it.
    occurrences: ByIdentity<usize>,
    seen: Identities,
    parts_first: Vec<&'a Expression>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, expression: &'a Expression) {
        if expression.operations() < WORTH_A_NAME {
            return;
        }
        *self.occurrences.entry(expression.identity()).or_default() += 1;
        if self.seen.insert(expression.identity()) {
            expression.children().for_each(|part| self.visit(part));
            self.parts_first.push(expression);
        }
    }
}
