//! The stepper of each method.

use super::schedule::GivenLimits;
use super::stepper::{ControlledSteps, FixedSteps, StepEnds, Stepper};
use super::taylor_steps::{Rates, TaylorSteps, without_series};
use crate::error::Error;
use crate::field::Field;
use crate::field::sides::Side;
use crate::hold::projection::Lander;
use crate::method::advance::{Advance, Explicit, Geometric};
use crate::method::gauss::{Coefficients, GaussMethod};
use crate::method::geometric::{OneStep, Rattle, StormerVerlet};
use crate::method::hamel::{self, HamelMethod, InVectors};
use crate::method::integrator::Integrator;
use crate::method::settings::{ErrorControl, GeometricMap, Stepping};
use crate::numbers::entries::Entries;
use crate::numbers::linear::from_slice;
use crate::stages::step_size::StepLimits;
use crate::stages::tolerance::Tolerance;
use crate::system::{FeedbackSystem, NOT_GENERATED, Vector};

/// The least relative tolerance of DOP853 in the place of Taylor's method.
const LEAST_TOLERANCE: f64 = 1e-13;

/// The settings of a method that a simulation changes.
pub(super) struct StepControl<'m, V> {
    pub(super) time: f64,
    pub(super) scales: Option<V>,
    pub(super) given: GivenLimits,
    pub(super) limits: StepLimits,
    pub(super) map: Option<&'m dyn OneStep<V>>,
}

impl<V: Entries<f64>> StepControl<'_, V> {
    fn set<'f, F: Field<Vector = V>, const STAGES: usize>(
        &self,
        integrator: Integrator<'f, F, STAGES>,
    ) -> Result<Integrator<'f, F, STAGES>, Error> {
        let integrator = integrator.from_time(self.time).with_limits(self.limits);
        let integrator = integrator.with_max_steps(self.given.max_steps());
        match &self.scales {
            Some(scales) => integrator.with_scales(scales),
            None => Ok(integrator),
        }
    }
}

impl Stepping {
    /// The steps from where switches are held on these sides. A field that slides along switches has no Taylor series: from there on, DOP853
    /// makes the steps with the same tolerance.
    pub(super) fn on_sides(self, sides: &[Side]) -> Self {
        match self {
            Self::Taylor { tolerance } if sides.contains(&Side::Sliding) => {
                Self::Controlled { method: ErrorControl::Dop853, tolerances: (tolerance.max(LEAST_TOLERANCE), None) }
            }
            _ => self,
        }
    }

    /// The stepper.
    pub(super) fn stepper<'s, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
        self,
        system: &S,
        field: &'s F,
        start: Vector<S>,
        control: &StepControl<'s, Vector<S>>,
        ends: StepEnds<'s, Lander<S>>,
    ) -> Result<Box<dyn Stepper + 's>, Error> {
        let fixed: Box<dyn Advance<Lander<S>> + 's> = match self {
            // The steps that take least time are not called through another pointer.
            Self::Fixed { method, .. } => {
                return Ok(Box::new(FixedSteps::new(Explicit { method, field }, control.time, start, ends)));
            }
            Self::Gauss { stages, h } => Box::new(GaussMethod::new(field, Coefficients::of_stages(stages), h, &start)),
            Self::Geometric { map, .. } => map.steps(system, field, &start, control.map)?,
            Self::Controlled { method, tolerances } => return method.stepper(field, start, tolerances, control, ends),
            Self::Taylor { tolerance } => {
                // A constant, so that the steps are compiled for systems that can have them alone.
                if const { !S::MAY_HAVE_SERIES } {
                    return Err(without_series(system.facts(), NOT_GENERATED));
                }
                let series = field.series().map_err(|reason| without_series(system.facts(), reason))?;
                let (facts, limits) = (system.facts(), (control.time, control.limits, control.given.max_steps()));
                let scales = control.scales.as_ref().map(|scales| facts.of_state::<S, _>(scales));
                let (of_field, start) = ((facts, series, field.driver()), facts.of_state::<S, _>(&start));
                let rates = |x: &[f64], rates: &mut [f64]| {
                    rates.copy_from_slice(facts.of_state::<S, _>(&field.value(&from_slice(x))));
                };
                let (of_field, ends) = ((of_field, Box::new(rates) as Box<Rates<'s>>), Box::new(ends));
                return Ok(Box::new(TaylorSteps::new(of_field, start, (tolerance, scales), limits, ends)?));
            }
            Self::Rodas5P { tolerances: (rtol, atol) } => {
                // The first condition is a constant, so that the steps are compiled for systems that can have them alone.
                if const { matches!(S::KNOWN_FACTS, Some(facts) if !facts.has_jacobian) }
                    || !system.facts().has_jacobian
                {
                    let reason = "its derivatives are not generated; declare it with the key `derivatives`";
                    return Err(Error::NotApplicable { method: "Rodas5P", system: system.facts().name, reason });
                }
                let integrator = control.set(Integrator::rodas5p(field, start, Tolerance::new(rtol, atol)?)?)?;
                return Ok(Box::new(ControlledSteps::new(integrator, ends)));
            }
        };
        Ok(Box::new(FixedSteps::new(fixed, control.time, start, ends)))
    }
}

impl ErrorControl {
    /// The stepper.
    fn stepper<'s, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
        self,
        field: &'s F,
        start: Vector<S>,
        (rtol, atol): (f64, Option<f64>),
        control: &StepControl<'s, Vector<S>>,
        ends: StepEnds<'s, Lander<S>>,
    ) -> Result<Box<dyn Stepper + 's>, Error> {
        let tolerance = Tolerance::new(rtol, atol)?;
        Ok(match self {
            Self::DormandPrince => {
                let integrator = control.set(Integrator::dormand_prince(field, start, tolerance))?;
                Box::new(ControlledSteps::new(integrator, ends))
            }
            Self::Dop853 => {
                let integrator = control.set(Integrator::dop853(field, start, tolerance))?;
                Box::new(ControlledSteps::new(integrator, ends))
            }
        })
    }
}

impl GeometricMap {
    /// The stepper.
    fn steps<'m, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
        self,
        system: &S,
        field: &'m F,
        start: &Vector<S>,
        given: Option<&'m dyn OneStep<Vector<S>>>,
    ) -> Result<Box<dyn Advance<Lander<S>> + 'm>, Error> {
        // Constant conditions, so that steps are compiled for systems that can have them alone.
        let facts = system.facts();
        let map: Box<dyn OneStep<Vector<S>> + 'm> = match self {
            Self::DiscreteHamel if const { matches!(S::KNOWN_FACTS, Some(facts) if !facts.has_hamel_steps) } => {
                return Err(hamel::refusal(facts));
            }
            Self::Rattle if Rattle::<S>::IS_EXCLUDED => return Err(Rattle::<S>::refusal(facts)),
            Self::StormerVerlet if StormerVerlet::<S>::IS_EXCLUDED => return Err(StormerVerlet::<S>::refusal(facts)),
            Self::DiscreteHamel => return Ok(Box::new(HamelMethod::new(InVectors::of(system)?, start))),
            Self::Rattle => Box::new(Rattle::new(system)?),
            Self::StormerVerlet => Box::new(StormerVerlet::new(system)?),
            Self::Given => Box::new(given.ok_or(Error::NotApplicable {
                method: "the given map",
                system: facts.name,
                reason: "no map was given: give one by `Simulation::one_step`, or choose another method",
            })?),
        };
        Ok(Box::new(Geometric { map, field }))
    }
}
