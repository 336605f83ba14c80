//! The steps of a run alone, without drift, samples and watch, so that their time is the time of the method.
//!
//! Fields are called through a pointer here, once for each evaluation or fused step. That costs a nanosecond or two, and saves
//! compiling every method for every kind of gains once more. Results are bit-identical to the results of whole runs.

use fbint_runtime::{
    Correction, Error, Feedback, FeedbackSystem, Field, Gains, Integrator, Method, OneStep, PlainField, PreparedSystem,
    Projector, Tolerance,
};
use nalgebra::SVector;

use fbint_runtime::tableau::{HEUN, MIDPOINT};

use super::Plan;

/// A field whose kind is known only at run time.
type AnyField<'a, const N: usize> = Box<dyn Field<N> + 'a>;

/// The state at the end of a planned run.
pub(super) fn run<S, const N: usize, const M: usize>(
    system: &S,
    start: SVector<f64, N>,
    plan: &Plan,
) -> Result<SVector<f64, N>, Error>
where
    S: FeedbackSystem<N, M>,
{
    let (field, targets) = field(system, &start, &plan.feedback)?;
    let is_projected = plan.correction != Correction::times(0);
    let mut projector = is_projected.then(|| Projector::new(system, &start, targets, plan.correction));
    let mut fixed = |h: f64, step: &dyn Fn(&mut SVector<f64, N>)| {
        let mut x = start;
        for _ in 0..(plan.until / h).round() as u64 {
            match &mut projector {
                Some(projector) => {
                    plan.method.projected_step(projector, |x| field.value(x), &mut x, h);
                }
                None => step(&mut x),
            }
        }
        Ok(x)
    };
    match plan.method {
        Method::Euler { h } => fixed(h, &|x| field.euler_step(x, h)),
        Method::Midpoint { h } => fixed(h, &|x| MIDPOINT.step(|x| field.value(x), x, h)),
        Method::Heun { h } => fixed(h, &|x| HEUN.step(|x| field.value(x), x, h)),
        Method::Rk4 { h } => fixed(h, &|x| field.rk4_step(x, h)),
        Method::DormandPrince { rtol, atol } => Ok(controlled(
            Integrator::dormand_prince(&field, start, Tolerance::new(rtol, atol)?),
            plan.until,
            projector,
        )),
        Method::Dop853 { rtol, atol } => {
            Ok(controlled(Integrator::dop853(&field, start, Tolerance::new(rtol, atol)?), plan.until, projector))
        }
    }
}

/// The state at the end of the steps of a geometric integrator.
pub(super) fn run_by<const N: usize>(
    method: &dyn OneStep<N>,
    start: SVector<f64, N>,
    h: f64,
    until: f64,
) -> SVector<f64, N> {
    let mut x = start;
    for _ in 0..(until / h).round() as u64 {
        method.step(&mut x, h);
    }
    x
}

/// The state at the end with error control. A run that fails ends early.
fn controlled<P: PreparedSystem<N, M>, const N: usize, const M: usize, const STAGES: usize>(
    mut integrator: Integrator<'_, AnyField<'_, N>, N, STAGES>,
    until: f64,
    mut projector: Option<Projector<P, f64, N, M>>,
) -> SVector<f64, N> {
    while integrator.time() < until {
        let step = match &mut projector {
            Some(projector) => integrator.projected_step(until, projector).map(|_| ()),
            None => integrator.step(until),
        };
        if step.is_err() {
            break;
        }
    }
    *integrator.state()
}

/// The field with the gains of a plan, and the targets of the integrals.
fn field<'a, S, const N: usize, const M: usize>(
    system: &S,
    start: &SVector<f64, N>,
    feedback: &super::Feedback,
) -> Result<(AnyField<'a, N>, SVector<f64, M>), Error>
where
    S: FeedbackSystem<N, M> + 'a,
{
    let targets = *Feedback::new(system, start, Gains::uniform(1.0))?.targets();
    let field: AnyField<'a, N> = match feedback {
        super::Feedback::None => Box::new(PlainField::new(system)),
        super::Feedback::Uniform(k) => Box::new(Feedback::new(system, start, Gains::uniform(*k))?),
        super::Feedback::Diagonal(gains) => {
            let gains = SVector::<f64, M>::from_column_slice(gains).into();
            Box::new(Feedback::new(system, start, Gains::diagonal(gains))?)
        }
        super::Feedback::Relaxation(tau) => Box::new(Feedback::new(system, start, Gains::relaxation(*tau))?),
        super::Feedback::DiagonalScaled(rate) => Box::new(Feedback::new(system, start, Gains::diagonal_scaled(*rate))?),
        super::Feedback::BaeChang(h) => Box::new(Feedback::new(system, start, Gains::bae_chang(*h))?),
    };
    Ok((field, targets))
}
