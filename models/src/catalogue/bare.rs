//! The steps of a run and nothing else: no drift, no samples, nobody watching, so that their time is the method's own.
//!
//! Fields are called through a pointer here, once an evaluation, which costs a nanosecond or two and saves compiling every method
//! for every kind of gains once more. The result is bit-identical to the result of the whole run.

use fbint_runtime::{
    ErrorControl, Error, Feedback, FeedbackSystem, Field, Gains, Integrals, Integrator, OneStep, PlainField, Projector,
    Stepping, Vector,
};

use super::{Plan, vector};

/// A field of the system `S` whose kind is known only at run time.
type AnyField<S> = Box<dyn Field<Vector = Vector<S>>>;

/// The state at the end of what is planned.
pub(super) fn run<S: FeedbackSystem>(system: &S, start: Vector<S>, plan: &Plan) -> Result<Vector<S>, Error> {
    let (field, targets) = field(system, &start, &plan.feedback)?;
    let projection = plan.settings.projection;
    let mut projector = projection.map(|projection| Projector::new(system, &start, targets, projection));
    let until = plan.settings.until;
    match plan.settings.method.stepping()? {
        Stepping::Fixed { method, h } => {
            let mut x = start;
            let value = |x: &Vector<S>| field.value(x);
            for _ in 0..(until / h).round() as u64 {
                match &mut projector {
                    Some(projector) => {
                        method.projected_step(projector, value, &mut x, h);
                    }
                    None => method.step(value, &mut x, h),
                }
            }
            Ok(x)
        }
        Stepping::Controlled { method: ErrorControl::DormandPrince, tolerance } => {
            Ok(controlled(Integrator::dormand_prince(&field, start, tolerance), until, projector))
        }
        Stepping::Controlled { method: ErrorControl::Dop853, tolerance } => {
            Ok(controlled(Integrator::dop853(&field, start, tolerance), until, projector))
        }
    }
}

/// The state at the end of steps of size `h`.
pub(super) fn run_by<V>(method: &dyn OneStep<V>, start: V, h: f64, until: f64) -> V {
    let mut x = start;
    for _ in 0..(until / h).round() as u64 {
        method.step(&mut x, h);
    }
    x
}

/// With error control. What fails ends early, as the run of it does with an error.
fn controlled<S: FeedbackSystem, const STAGES: usize>(
    mut integrator: Integrator<'_, AnyField<S>, STAGES>,
    until: f64,
    mut projector: Option<Projector<S>>,
) -> Vector<S> {
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
fn field<S: FeedbackSystem>(
    system: &S,
    start: &Vector<S>,
    feedback: &super::Feedback,
) -> Result<(AnyField<S>, Integrals<S>), Error> {
    let targets = *Feedback::new(system, start, Gains::uniform(1.0))?.targets();
    let field: AnyField<S> = match feedback {
        super::Feedback::None => Box::new(PlainField::new(system)),
        super::Feedback::Uniform(k) => Box::new(Feedback::new(system, start, Gains::uniform(*k))?),
        super::Feedback::Diagonal(gains) => Box::new(Feedback::new(system, start, Gains::diagonal(vector(gains)))?),
        super::Feedback::Relaxation(tau) => Box::new(Feedback::new(system, start, Gains::relaxation(*tau))?),
        super::Feedback::DiagonalScaled(rate) => Box::new(Feedback::new(system, start, Gains::diagonal_scaled(*rate))?),
        super::Feedback::BaeChang(h) => Box::new(Feedback::new(system, start, Gains::bae_chang(*h))?),
    };
    Ok((field, targets))
}
