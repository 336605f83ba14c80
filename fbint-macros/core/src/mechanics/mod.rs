//! From a [`Problem`] to its [`Derivation`], in the order of the paper: phase space, constraints and their partners, the field.
//!
//! Runs within a session.

mod circle;
mod dirac;
mod extent;
mod implicit;
mod phase_space;
mod written;

pub(crate) use phase_space::{Observable, PhaseSpace};
use written::Written;

pub use extent::{Overlong, Place};

use crate::derivation::{
    Declared, Derivation, Dynamics, Field, Integral, IntegralId, Integrals, Kind, Lagrangian, Problem, Role, Structure,
};
use crate::expression::{Expression, Symbol};
use crate::implicit::motion;
use crate::proofs::kinetic_energy;
use crate::symbolic::{Expr, NotReal};
use crate::table::Table;

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

/// Derives everything that the generated code computes, or says which quantities are in the way.
pub fn derive(problem: &Problem) -> Result<Derivation, Underived> {
    let structure = match &problem.dynamics {
        Dynamics::Canonical { .. } => Structure::Canonical,
        _ => Structure::of(problem),
    };
    let motion = motion(&implicit::in_lowest_terms(problem)?);
    let space = PhaseSpace::new(&problem.symbols, &structure);
    let energy = problem.energy_function();
    let hamiltonian = energy.as_ref().map(|hamiltonian| space.observable(Expr::read(hamiltonian)));
    let derived = motion.as_ref().map(|motion| &motion.derived);
    let value = |(id, integral): (IntegralId, &Declared)| {
        let derived = || derived?.get(&id).map(|derived| Expr::read(&circle::simplified(derived)).simplest());
        let value = integral.value.as_ref().map(Expr::read).or_else(derived)?;
        Some(space.observable(value))
    };
    let declared: Table<IntegralId, Option<Observable>> = problem.integrals.iter().map(value).collect();
    let unreal = unreal(problem, &space, hamiltonian.as_ref(), &declared);
    if !unreal.is_empty() {
        return Err(Underived::Unreal(unreal));
    }
    let observables = observables(problem, &space, hamiltonian.as_ref(), &declared)?;
    // Where motion is implicit, brackets are not derived.
    let constraints = if motion.is_some() { Vec::new() } else { problem.constraints() };
    extent::check_observables(&space, &observables, &constraints)?;
    let written = Written::of(problem);
    let field = match &motion {
        Some(motion) => Field::Implicit(implicit::field(&motion.field, &written)?),
        None => field(problem, &space, hamiltonian.as_ref(), &observables, &written)?,
    };
    extent::check_field(&field)?;
    // What is derived from real quantities fails to be real only where H itself is to blame.
    let integrals = problem.integrals.rows().zip(observables.rows());
    let integral = |(declared, observable)| {
        let integral = integral(declared, energy.as_ref(), observable, &written)?;
        // Of canonical systems nothing else is known that would need it.
        Ok(if motion.is_some() { integral.mapped(circle::simplified) } else { integral })
    };
    let integrals: Integrals =
        integrals.map(integral).collect::<Result<_, NotReal>>().map_err(|NotReal| Unreal::Hamiltonian)?;
    let kinetic_energy = kinetic_energy(&problem.symbols, &integrals);
    let mut derivation = problem.derivation(integrals, field, kinetic_energy);
    if let Some(hamel) = motion.and_then(|motion| motion.hamel) {
        derivation.hamel = Some(implicit::hamel(&hamel, &written)?);
    }
    Ok(derivation)
}

/// Every declared quantity that has no finite real derivative.
fn unreal(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    hamiltonian: Option<&Observable>,
    declared: &Table<IntegralId, Option<Observable>>,
) -> Vec<Unreal> {
    let is_unreal = |observable: &Observable| !observable.is_real();
    let integrals = declared.iter().filter(|(_, observable)| observable.as_ref().is_some_and(is_unreal));
    let hamiltonian = hamiltonian.filter(|hamiltonian| is_unreal(hamiltonian));
    let mut all: Vec<Unreal> = integrals.map(|(id, _)| Unreal::Integral(id)).collect();
    all.extend(hamiltonian.map(|_| Unreal::Hamiltonian));
    match &problem.dynamics {
        Dynamics::Canonical { .. } => {}
        Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
            let is_unreal = |expression: &Expression| Expr::read(expression).write().is_err();
            all.extend(is_unreal(lagrangian).then_some(Unreal::Lagrangian));
            let rates = kinematics.iter().filter(|(_, rate)| is_unreal(rate));
            all.extend(rates.map(|(coordinate, _)| Unreal::Rate(*coordinate)));
        }
        Dynamics::Poisson { matrix, .. } => {
            let mut entries = matrix.iter().flatten().map(|entry| space.observable(Expr::read(entry)));
            all.extend(entries.any(|entry| is_unreal(&entry)).then_some(Unreal::Poisson));
        }
        Dynamics::Given { rates } => {
            let rates = problem.symbols.states().zip(rates);
            let rates = rates.filter(|(_, rate)| Expr::read(rate).write().is_err());
            all.extend(rates.map(|(state, _)| Unreal::Rate(state)));
        }
    }
    all
}

/// Every integral, with rates derived: the partner of a holonomic constraint g is {g, H}.
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
            Ok(space.observable(space.bracket(constraint, hamiltonian.ok_or(Unreal::Hamiltonian)?)))
        }
        (None, Kind::Energy) => hamiltonian.cloned().ok_or(Unreal::Hamiltonian),
        (None, _) => Err(Unreal::Integral(id)),
    };
    problem.integrals.iter().map(observable).collect()
}

/// X
fn field(
    problem: &Problem,
    space: &PhaseSpace<'_>,
    hamiltonian: Option<&Observable>,
    observables: &Table<IntegralId, Observable>,
    written: &Written,
) -> Result<Field, Unreal> {
    let hamiltonian = || hamiltonian.ok_or(Unreal::Hamiltonian);
    let rates = match &problem.dynamics {
        Dynamics::Canonical { .. } => {
            let constraints = dirac::constraints(space, hamiltonian()?, problem, observables);
            return constraints.map(Field::Dirac).map_err(|NotReal| Unreal::Hamiltonian);
        }
        // Its field is implicit.
        Dynamics::Lagrangian(_) => return Err(Unreal::Lagrangian),
        Dynamics::Poisson { .. } => {
            let hamiltonian = hamiltonian()?;
            let time = problem.symbols.only(Role::Time);
            let by_time = || time.and_then(|time| hamiltonian.derivative(time)).cloned().unwrap_or_else(Expr::zero);
            let derived = |state: Symbol| match problem.symbols[state].role {
                Role::Time => Expr::read(&Expression::one()),
                Role::Work => by_time(),
                _ => space.rate(state, hamiltonian),
            };
            let rate = |state| match derived(state).write() {
                Ok(rate) => Ok(written.restored(&rate)),
                Err(NotReal) => Err(Unreal::Poisson),
            };
            problem.symbols.states().map(rate).collect::<Result<_, _>>()?
        }
        Dynamics::Given { rates } => {
            let rates = problem.symbols.states().zip(rates);
            let rate = |(state, rate): (Symbol, &Expression)| {
                let derived = Expr::read(rate).write().map_err(|NotReal| Unreal::Rate(state))?;
                Ok(written.form(rate, &derived))
            };
            rates.map(rate).collect::<Result<_, _>>()?
        }
    };
    Ok(Field::Given(rates))
}

fn integral(
    declared: &Declared,
    hamiltonian: Option<&Expression>,
    observable: &Observable,
    written: &Written,
) -> Result<Integral, NotReal> {
    let form = if declared.kind == Kind::Energy { hamiltonian } else { declared.value.as_ref() };
    let value = observable.value()?;
    let value = form.map_or_else(|| written.restored(&value), |form| written.form(form, &value));
    let gradient = observable.gradient()?.into_iter();
    Ok(declared.derived(value, gradient.map(|(symbol, entry)| (symbol, written.restored(&entry))).collect()))
}
