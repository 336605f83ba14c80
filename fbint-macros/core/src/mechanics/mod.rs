//! From a [`Problem`] to its [`Derivation`], in the order of the paper: phase space, constraints and their partners, the field.
//!
//! Everything is written by exact differentiation of what is declared, and [`Simplify`] makes it shorter.

mod dirac;
mod extent;
mod involution;
pub(crate) mod motion;
pub(crate) mod phase_space;
mod poisson;
mod rates;
mod shorter;
mod simplify;
mod written;

pub use extent::{DerivedExpression, Overlong};
pub use involution::involution;
use phase_space::{Observable, PhaseSpace};
pub use poisson::NotPoisson;
pub use rates::{RateParts, rate};
pub use simplify::{Collect, Simplify};
use written::Written;

use crate::derivation::table::Table;
use crate::derivation::{
    Claim, Conservation, Declared, Derivation, Drive, Dynamics, Field, IntegralId, Integrals, Kind, Lagrangian,
    Prepared, Problem, Structure,
};
use crate::expression::{Expression, Symbol};
use crate::mechanics::motion::{LagrangianMotion, motion};
use crate::proofs::{grades, kinetic_energy};

/// A declared quantity that has no finite real derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreal {
    /// H, or what is derived from it.
    Hamiltonian,
    /// L, or what is derived from it.
    Lagrangian,
    /// A constraint or an invariant.
    Integral(IntegralId),
    /// The rate of an entry of the state.
    Rate(Symbol),
    /// An entry of the Poisson matrix.
    Poisson,
}

/// Why nothing is derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Underived {
    /// Declared quantities have no finite real derivative.
    Unreal(Vec<Unreal>),
    /// What is derived becomes too long.
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

/// What follows from a problem without algebra: its derivation, and what numbers prove of it.
pub fn prepare(problem: &Problem) -> Result<Prepared, Underived> {
    let derivation = derive(problem, &Collect)?;
    let claim = |(integral, grade): (IntegralId, &Option<Conservation>)| match grade {
        Some(grade) => Claim::Proved(*grade),
        None => Claim::Open { rate: rate(&derivation, integral, &Collect) },
    };
    let claims = grades(&derivation).iter().map(claim).collect();
    let involution = involution(&derivation, &claims, &Collect);
    Ok(Prepared { derivation, claims, involution })
}

/// Derives everything that the generated code computes, or says which quantities are in the way.
pub fn derive(problem: &Problem, simplify: &dyn Simplify) -> Result<Derivation, Underived> {
    let structure = match &problem.dynamics {
        Dynamics::Canonical { .. } => Structure::Canonical,
        _ => Structure::of(problem),
    };
    let drive = Drive::of(problem);
    let space = PhaseSpace::new(&problem.symbols, &structure, &drive, simplify);
    if let Structure::Matrix(rows) = &structure
        && let Some(reason) = poisson::not_poisson(&space, &problem.symbols, rows)
    {
        return Err(Underived::NotPoisson(reason));
    }
    let motion = motion(&shorter::in_lowest_terms(problem, simplify).ok_or(Unreal::Lagrangian)?);
    let energy = problem.energy_function();
    let functions = functions(problem, motion.as_ref());
    let observed = |function: &Option<Expression>| function.as_ref().map(|function| space.observable(function));
    let hamiltonian = observed(&energy);
    let declared: Table<IntegralId, Option<Option<Observable>>> = functions.map(observed);
    let unreal = unreal(problem, &space, &hamiltonian, &declared);
    if !unreal.is_empty() {
        return Err(Underived::Unreal(unreal));
    }
    let (hamiltonian, declared) = (hamiltonian.flatten(), declared.map(|observable| observable.clone().flatten()));
    let observables = observables(problem, &space, hamiltonian.as_ref(), &declared)?;
    // Of a Lagrangian system brackets are not derived.
    let constraints = if motion.is_some() { Vec::new() } else { problem.constraints() };
    extent::check_observables(&space, &observables, &constraints)?;
    let written = Written::of(problem);
    let integrals = integrals(problem, energy.as_ref(), &observables, &written);
    let flow = dirac::Flow { problem, structure: &structure, drive: &drive, integrals: &integrals };
    let field = match &motion {
        Some(motion) => shorter::field(&motion.field, &written, simplify).ok_or(Unreal::Lagrangian)?,
        None => field(&flow, &space, hamiltonian.as_ref(), &observables, &written)?,
    };
    extent::check_field(&field)?;
    let kinetic_energy = kinetic_energy(&problem.symbols, &integrals);
    let mut derivation = problem.derivation(integrals, field, kinetic_energy);
    if let Some(motion) = motion {
        derivation.hamel = Some(shorter::hamel(&motion.hamel, &written, simplify).ok_or(Unreal::Lagrangian)?);
    }
    Ok(derivation)
}

/// The functions of integrals that are declared, or follow from the motion of a Lagrangian system.
fn functions(problem: &Problem, motion: Option<&LagrangianMotion>) -> Table<IntegralId, Option<Expression>> {
    let derived = |id: IntegralId| motion?.derived.get(&id).cloned();
    let function = |(id, integral): (IntegralId, &Declared)| integral.value.clone().or_else(|| derived(id));
    problem.integrals.iter().map(function).collect()
}

/// Every declared quantity that has no finite real derivative. What is observed of a function is `None` where it has none.
fn unreal(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    hamiltonian: &Option<Option<Observable>>,
    declared: &Table<IntegralId, Option<Option<Observable>>>,
) -> Vec<Unreal> {
    let is_unreal = |observed: &Option<Option<Observable>>| matches!(observed, Some(None));
    let integrals = declared.iter().filter(|(_, observed)| is_unreal(observed));
    let mut all: Vec<Unreal> = integrals.map(|(id, _)| Unreal::Integral(id)).collect();
    all.extend(is_unreal(hamiltonian).then_some(Unreal::Hamiltonian));
    let is_unreal = |expression: &Expression| space.simplified(expression).is_none();
    match &problem.dynamics {
        Dynamics::Canonical { .. } => {}
        Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
            all.extend(is_unreal(lagrangian).then_some(Unreal::Lagrangian));
            let rates = kinematics.iter().filter(|(_, rate)| is_unreal(rate));
            all.extend(rates.map(|(coordinate, _)| Unreal::Rate(*coordinate)));
        }
        Dynamics::Poisson { matrix, .. } => {
            let mut entries = matrix.iter().flatten();
            all.extend(entries.any(|entry| space.observable(entry).is_none()).then_some(Unreal::Poisson));
        }
        Dynamics::Given { rates } => {
            let rates = problem.symbols.states().zip(rates).filter(|(_, rate)| is_unreal(rate));
            all.extend(rates.map(|(state, _)| Unreal::Rate(state)));
        }
    }
    all
}

/// Every integral, with rates derived: the partner of a holonomic constraint g is y(g), which is {g, H} where nothing drives the system.
fn observables(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    hamiltonian: Option<&Observable>,
    declared: &Table<IntegralId, Option<Observable>>,
) -> Result<Table<IntegralId, Observable>, Unreal> {
    let observable = |(id, integral): (IntegralId, &Declared)| match (&declared[id], integral.kind) {
        (Some(observable), _) => Ok(observable.clone()),
        (None, Kind::Rate { of }) => {
            let constraint = declared[of].as_ref().ok_or(Unreal::Integral(of))?;
            // What is derived from real quantities fails to be real only where H itself is to blame.
            let rate = space.free_rate(constraint, hamiltonian.ok_or(Unreal::Hamiltonian)?);
            rate.and_then(|rate| space.observable(&rate)).ok_or(Unreal::Hamiltonian)
        }
        (None, Kind::Energy) => hamiltonian.cloned().ok_or(Unreal::Hamiltonian),
        (None, _) => Err(Unreal::Integral(id)),
    };
    problem.integrals.iter().map(observable).collect()
}

/// X
fn field(
    flow: &dirac::Flow<'_>,
    space: &PhaseSpace<'_>,
    hamiltonian: Option<&Observable>,
    observables: &Table<IntegralId, Observable>,
    written: &Written,
) -> Result<Field, Unreal> {
    let problem = flow.problem;
    let rates = match &problem.dynamics {
        Dynamics::Canonical { .. } => {
            let hamiltonian = hamiltonian.ok_or(Unreal::Hamiltonian)?;
            let systems = dirac::systems(space, hamiltonian, problem, observables, flow.integrals);
            return Ok(Field { systems: systems.ok_or(Unreal::Hamiltonian)?, rates: flow.rates() });
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
    Ok(Field::of_rates(rates))
}

/// F, with DF in the gradients.
fn integrals(
    problem: &Problem,
    energy: Option<&Expression>,
    observables: &Table<IntegralId, Observable>,
    written: &Written,
) -> Integrals {
    let integral = |(declared, observable): (&Declared, &Observable)| {
        let form = if declared.kind == Kind::Energy { energy } else { declared.value.as_ref() };
        let value = &observable.value;
        let value = form.map_or_else(|| written.restored(value), |form| written.form(form, value));
        let gradient = observable.slopes().map(|(symbol, entry)| (symbol, written.restored(entry)));
        declared.derived(value, gradient.collect())
    };
    problem.integrals.rows().zip(observables.rows()).map(integral).collect()
}
