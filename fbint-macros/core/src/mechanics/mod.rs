//! From a [`Problem`] to its [`Derivation`], in the order of the paper: phase space, constraints and their partners, the field.
//!
//! Everything is written by exact differentiation of what is declared, and [`Simplify`] makes it shorter.

mod dirac;
mod extent;
pub mod factored;
pub(crate) mod motion;
pub(crate) mod phase_space;
mod poisson;
mod rates;
mod shorter;
mod simplify;
mod written;

use dirac::Flow;
pub use extent::{DerivedExpression, Overlong};
use phase_space::{Observable, PhaseSpace};
pub use poisson::NotPoisson;
pub use rates::claims;
pub use simplify::{Collect, Simplify, is_long};
use written::Written;

use crate::derivation::table::Table;
use crate::derivation::{
    Conservation, Declared, Derivation, Drive, Dynamics, Field, IntegralId, Integrals, Kind, Prepared, Problem,
    Quantity, Structure,
};
use crate::expression::{Expression, Symbol};
use crate::mechanics::motion::{LagrangianMotion, motion};
use crate::proofs::grades;
use crate::proofs::involution::involution;

/// A quantity that has no finite real derivative, or from which something is derived that has none.
pub type Unreal = Quantity;

/// The message about such a quantity.
pub const NO_DERIVATIVE: &str = "has no finite real derivative: some part of it divides by zero or takes the root of a negative number\nhelp: \
                                 remove that part";

/// Why nothing is derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Underived {
    /// Declared quantities have no finite real derivative.
    Unreal(Vec<Unreal>),
    /// The derivation becomes too long.
    Overlong(Overlong),
    /// The matrix of a Poisson system is not a Poisson matrix.
    NotPoisson(NotPoisson),
}

impl From<Unreal> for Underived {
    fn from(unreal: Unreal) -> Self {
        Self::Unreal(vec![unreal])
    }
}

impl From<Overlong> for Underived {
    fn from(overlong: Overlong) -> Self {
        Self::Overlong(overlong)
    }
}

/// The derivation from a problem without algebra, and the proofs by numbers.
pub fn prepare(problem: &Problem) -> Result<Prepared, Underived> {
    let simplify = Collect::default();
    let derivation = derive(problem, &simplify)?;
    let grades = grades(&derivation);
    Ok(concluded(derivation, &grades, &simplify))
}

/// A derivation with these grades, and with all other findings about its integrals.
pub fn concluded(
    derivation: Derivation,
    grades: &Table<IntegralId, Option<Conservation>>,
    simplify: &dyn Simplify,
) -> Prepared {
    let claims = claims(&derivation, grades, simplify);
    let involution = involution(&derivation, &claims, &|expression| simplify.simplified(expression));
    Prepared { derivation, claims, involution }
}

/// Derives everything that the generated code computes, or says which quantities are in the way.
pub fn derive(problem: &Problem, simplify: &dyn Simplify) -> Result<Derivation, Underived> {
    let structure = match &problem.dynamics {
        Dynamics::Canonical { .. } => Structure::Canonical,
        _ => Structure::of(problem),
    };
    let drive = Drive::of(problem);
    let space = PhaseSpace { symbols: &problem.symbols, structure: &structure, drive: &drive, simplify };
    if let Dynamics::Poisson { matrix, .. } = &problem.dynamics
        && let Some(reason) = poisson::not_poisson(&space, matrix)
    {
        return Err(Underived::NotPoisson(reason));
    }
    let motion = motion(&shorter::in_lowest_terms(problem, simplify).ok_or(Unreal::Lagrangian)?);
    let functions = functions(problem, motion.as_ref());
    let known = functions.map(|function| space.observable(function.as_ref()?));
    let unreal = unreal(problem, &space, &functions, &known);
    if !unreal.is_empty() {
        return Err(Underived::Unreal(unreal));
    }
    let observables = observables(problem, &space, &known)?;
    // Of a Lagrangian system brackets are not derived.
    let constraints = if motion.is_some() {
        Vec::new()
    } else {
        problem.integrals.constraints().filter(|(_, it)| it.kind != Kind::Redundant).map(|(id, _)| id).collect()
    };
    extent::check_observables(&space, &observables, &constraints)?;
    let written = Written::of(problem);
    let integrals = integrals(problem, &observables, &written);
    let simplified = |field| shorter::field(field, &written, simplify).ok_or(Unreal::Lagrangian);
    let (field, hamel) = match motion {
        Some(LagrangianMotion { field, hamel, .. }) => (simplified(field)?, Some(hamel)),
        None => (field(&Flow { problem, space: &space, integrals: &integrals }, &observables, &written)?, None),
    };
    extent::check_field(&field)?;
    let mut derivation = problem.derivation(integrals, field);
    let simplified = |hamel| shorter::hamel(hamel, &written, simplify).ok_or(Unreal::Lagrangian);
    derivation.hamel = hamel.map(simplified).transpose()?;
    Ok(derivation)
}

/// The functions of integrals that are declared, H, and what follows from the motion of a Lagrangian system.
fn functions(problem: &Problem, motion: Option<&LagrangianMotion>) -> Table<IntegralId, Option<Expression>> {
    let function = |(id, integral): (IntegralId, &Declared)| match (integral.kind, motion) {
        (Kind::Energy, None) => problem.energy_function(),
        _ => integral.value.clone().or_else(|| motion?.derived.get(&id).cloned()),
    };
    problem.integrals.iter().map(function).collect()
}

/// Every declared quantity that has no finite real derivative: functions that are not observable among them.
fn unreal(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    functions: &Table<IntegralId, Option<Expression>>,
    observables: &Table<IntegralId, Option<Observable>>,
) -> Vec<Unreal> {
    let is_hamiltonian = |id| problem.integrals.energy() == Some(id) && problem.dynamics.hamiltonian().is_some();
    let integral = |id| if is_hamiltonian(id) { Unreal::Hamiltonian } else { Unreal::Integral(id) };
    let integrals = functions.iter().filter(|(id, function)| function.is_some() && observables[*id].is_none());
    let mut all: Vec<Unreal> = integrals.map(|(id, _)| integral(id)).collect();
    let is_unreal = |(quantity, function): &(Unreal, &Expression)| match quantity {
        Unreal::Lagrangian | Unreal::Rate(_) => space.simplified(function).is_none(),
        Unreal::Poisson => space.observable(function).is_none(),
        // H and integrals are among the observables; outputs and laws are not differentiated.
        Unreal::Hamiltonian | Unreal::Force(_) | Unreal::Integral(_) | Unreal::Output(_) | Unreal::Law(_) => false,
    };
    all.extend(problem.functions().into_iter().filter(is_unreal).map(|(quantity, _)| quantity));
    // The entries of a matrix are one mistake.
    all.dedup();
    all
}

/// Every integral, with rates derived: the partner of a holonomic constraint g is y(g), which is {g, H} where nothing drives the system.
fn observables(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    known: &Table<IntegralId, Option<Observable>>,
) -> Result<Table<IntegralId, Observable>, Unreal> {
    let hamiltonian = || problem.integrals.energy().and_then(|energy| known[energy].as_ref());
    let observable = |(id, integral): (IntegralId, &Declared)| match (&known[id], integral.kind) {
        (Some(observable), _) => Ok(observable.clone()),
        (None, Kind::Rate { of }) => {
            let constraint = known[of].as_ref().ok_or(Unreal::Integral(of))?;
            // What is derived from real quantities fails to be real only where H itself is to blame.
            let rate =
                hamiltonian().and_then(|hamiltonian| space.free_rate(&constraint.gradient, &hamiltonian.gradient));
            rate.and_then(|rate| space.observable(&rate)).ok_or(Unreal::Hamiltonian)
        }
        (None, _) => Err(Unreal::Integral(id)),
    };
    problem.integrals.iter().map(observable).collect()
}

/// X
fn field(flow: &Flow<'_>, observables: &Table<IntegralId, Observable>, written: &Written) -> Result<Field, Unreal> {
    let Flow { problem, space, .. } = flow;
    let rates = match &problem.dynamics {
        Dynamics::Canonical { .. } => {
            let systems = flow.systems(observables).ok_or(Unreal::Hamiltonian)?;
            return Ok(Field { systems, rates: flow.rates() });
        }
        // Its field follows from Hamel's equations.
        Dynamics::Lagrangian(_) => return Err(Unreal::Lagrangian),
        Dynamics::Poisson { .. } => {
            let rate = |rate| Ok(written.restored(&space.simplified(rate).ok_or(Unreal::Poisson)?));
            flow.rates().rows().map(rate).collect::<Result<_, Unreal>>()?
        }
        Dynamics::Given { rates } => {
            let rates = problem.symbols.states().zip(rates);
            let rate = |(state, rate): (Symbol, &Expression)| {
                Ok(written.form(rate, &space.simplified(rate).ok_or(Unreal::Rate(state))?))
            };
            rates.map(rate).collect::<Result<_, Unreal>>()?
        }
    };
    Ok(Field { systems: Vec::new(), rates })
}

/// F, with DF in the gradients.
fn integrals(problem: &Problem, observables: &Table<IntegralId, Observable>, written: &Written) -> Integrals {
    let energy = problem.energy_function();
    let integral = |(declared, observable): (&Declared, &Observable)| {
        let form = if declared.kind == Kind::Energy { energy.as_ref() } else { declared.value.as_ref() };
        let value = &observable.value;
        let value = form.map_or_else(|| written.restored(value), |form| written.form(form, value));
        let gradient = observable.gradient.iter().map(|(symbol, entry)| (*symbol, written.restored(entry)));
        declared.derived(value, gradient.collect())
    };
    problem.integrals.rows().zip(observables.rows()).map(integral).collect()
}
