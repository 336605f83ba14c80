//! X and the multipliers, from gradients of what is declared and one dense linear system.
//!
//! X = y - sum c J df, with Df.X = 0, where y is J dH + Q, or the field that is given. A velocity constraint has the row A, along which its
//! reaction acts, instead of df. So no form of the derived field is supposed: neither which linear systems it takes nor how they are
//! eliminated.

use super::declared::{Covector, DeclaredAtPoint, add_multiple};
use crate::derivation::{IntegralId, Kind, Reaction, Role};
use crate::expression::Symbol;
use crate::numbers::derivative::dot;
use crate::numbers::number::Number;
use crate::numbers::precise::Real;
use crate::proofs::solve;

/// The motion of the state.
pub(super) struct ExpectedMotion {
    /// X
    pub(super) rates: Covector,
    /// The multipliers of declared constraints.
    pub(super) multipliers: Covector,
}

impl DeclaredAtPoint<'_> {
    /// Returns `true` if the gradients of held constraints are dependent, as where one of them vanishes: no multipliers are determined there.
    pub(super) fn has_dependent_constraints(&self) -> bool {
        let held = self.problem.integrals.constraints().filter(|(_, constraint)| constraint.kind.is_held());
        let slopes: Vec<&Covector> = held.map(|(id, _)| &self.integrals[id].gradient).collect();
        let row = |slope: &&Covector| slopes.iter().map(|other| dot(slope, other)).chain([Real::zero()]).collect();
        solve(slopes.iter().map(row).collect()).is_none()
    }

    /// Nothing where the multipliers are not determined.
    pub(super) fn motion(&self) -> Option<ExpectedMotion> {
        let is_held = |id: &IntegralId| self.problem.integrals[*id].kind.is_held();
        let constraints: Vec<IntegralId> =
            self.problem.integrals.constraints().map(|(id, _)| id).filter(is_held).collect();
        let slopes: Vec<&Covector> = constraints.iter().map(|id| &self.integrals[*id].gradient).collect();
        let reaction = |id: &IntegralId| self.problem.reactions.iter().find(|reaction| reaction.constraint == *id);
        let push = |(id, slope): (&IntegralId, &&Covector)| match reaction(id) {
            Some(reaction) => self.pushed_by(reaction),
            None => Some(self.moved(slope)),
        };
        let mut pushes: Vec<Covector> = constraints.iter().zip(&slopes).map(push).collect::<Option<_>>()?;
        pushes.push(self.flow.clone());
        let row = |slope: &&Covector| pushes.iter().map(|push| dot(slope, push)).collect();
        let c = solve(slopes.iter().map(row).collect())?;

        let mut rates = self.flow.clone();
        c.iter().zip(&pushes).for_each(|(c, push)| add_multiple(&mut rates, &c.negated(), push));
        if let Some(work) = self.problem.symbols.only(Role::Work) {
            let mut covector = self.energy.as_ref()?.gradient.clone();
            let mut power = Real::zero();
            for ((id, slope), c) in constraints.iter().zip(&slopes).zip(&c) {
                match reaction(id) {
                    Some(reaction) => power = &power - &c.times(&self.evaluate(&reaction.offset)?),
                    None => add_multiple(&mut covector, &c.negated(), slope),
                }
            }
            let driven = &dot(&self.forces, &covector) + &self.by_time(&covector);
            rates.insert(work, &driven + &power);
        }
        let declared = constraints.into_iter().zip(c);
        let declared = declared.filter(|(id, _)| !matches!(self.problem.integrals[*id].kind, Kind::Rate { .. }));
        let multiplier = |(id, c)| Some((self.problem.symbols.multiplier(id)?, c));
        let multipliers = declared.filter_map(multiplier).collect();
        Some(ExpectedMotion { rates, multipliers })
    }

    /// The change of the momenta by a reaction, for a multiplier of -1.
    fn pushed_by(&self, reaction: &Reaction) -> Option<Covector> {
        let momentum = |symbol: Symbol| match self.problem.symbols[symbol].role {
            Role::Coordinate { momentum } => momentum,
            _ => symbol,
        };
        let entries = reaction.along.iter();
        entries.map(|(symbol, entry)| Some((momentum(*symbol), self.evaluate(entry)?.negated()))).collect()
    }
}
