//! No generated function and no step can panic: the linker is the witness.
//!
//! Each function below is marked `#[no_panic]`. Where the optimiser cannot show that nothing in it panics, a call of a function
//! that does not exist stays behind, and the program does not link. The program therefore proves something by being built,
//! in release only; that it also runs shows that the functions are there. A panic that nothing can reach, like that of
//! an index which is in range, has to be optimised away, which is a matter of the compiler's version.
//!
//! With the feature `guilty` a function is added that can panic, and the program must not link.

use std::hint::black_box;

use fbint_runtime::{Correction, Error, Feedback, FeedbackSystem, GainMatrix, Gains, PreparedSystem};
use models::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};
use nalgebra::{SMatrix, SVector};
#[cfg(not(debug_assertions))]
use no_panic::no_panic;

/// Declares functions that cannot panic, where the optimiser is on.
macro_rules! cannot_panic {
    ($($function:item)*) => {
        $(
            #[cfg_attr(not(debug_assertions), no_panic)]
            #[inline(never)]
            $function
        )*
    };
}

fn main() -> Result<(), Error> {
    let (spherical, cpv22, planar) =
        (SphericalPendulum::default(), SphericalPendulumCpv22::default(), PlanarPendulum::default());
    every_function(&spherical, spherical.start())?;
    every_function(&cpv22, cpv22.start())?;
    every_function(&planar, planar.start())?;
    every_function(&FourBar::default(), FourBar::default().start()?)?;
    every_function(&Chain4::default(), Chain4::default().start())?;
    every_function(&Chain8::default(), Chain8::default().start())?;
    every_function(&Chain16::default(), Chain16::default().start())?;
    every_function(&Chain32::default(), Chain32::default().start())?;
    every_function(&FreeRigidBody::default(), FreeRigidBody::default().start())?;
    every_function(&EulerTop::default(), EulerTop::default().start())?;
    every_function(&Kepler::default(), Kepler::default().start())?;
    every_function(&PerturbedKepler::default(), PerturbedKepler::default().start())?;
    Ok(())
}

/// Calls all that a model can be asked for, once.
fn every_function<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    model: &S,
    start: S::State,
) -> Result<(), Error> {
    let x = black_box(flat::<S, N, M>(start));
    let prepared = prepare(black_box(model));
    black_box(shaped::<S, N, M>(x));
    black_box(parameter(model, black_box(0)));
    black_box((vector_field(&prepared, &x), integrals(&prepared, &x), integrals_jacobian(&prepared, &x)));
    black_box((multipliers(&prepared, &x), outputs(&prepared, &x)));
    feedback(&Feedback::new(model, &x, Gains::uniform(1.0))?, &prepared, x);
    feedback(&Feedback::new(model, &x, Gains::uniform(1.0).with_diagonal_metric([2.0; N]))?, &prepared, x);
    Ok(())
}

/// The field with feedback, and every step on it and without it.
fn feedback<S, K, L, const N: usize, const M: usize>(
    feedback: &Feedback<S, K, L, N, M>,
    prepared: &S::Prepared,
    x: SVector<f64, N>,
) where
    S: FeedbackSystem<N, M>,
    K: GainMatrix<M>,
    L: GainMatrix<N>,
{
    black_box((potential_gradient(prepared, &x, feedback), field(feedback, &x)));
    black_box((violations(feedback, &x), potential(feedback, &x)));
    let mut x = x;
    correct(Correction::once(), prepared, feedback.targets(), &mut x);
    euler_step(feedback, &mut x, black_box(1e-3));
    rk4_step(feedback, &mut x, black_box(1e-3));
    black_box(x);
}

cannot_panic! {
    fn prepare<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(model: &S) -> S::Prepared {
        model.prepare()
    }

    fn flat<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(state: S::State) -> SVector<f64, N> {
        state.into()
    }

    fn shaped<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(x: SVector<f64, N>) -> S::State {
        x.into()
    }

    fn parameter<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(model: &S, index: usize) -> Option<f64> {
        model.parameter(index)
    }

    fn vector_field<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, N> {
        system.vector_field(x)
    }

    fn integrals<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        system.integrals(x)
    }

    fn integrals_jacobian<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SMatrix<f64, M, N> {
        system.integrals_jacobian(x)
    }

    fn multipliers<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        system.multipliers(x)
    }

    fn outputs<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
    ) -> P::Outputs<f64> {
        system.outputs(x)
    }

    fn potential_gradient<P, S, K, L, const N: usize, const M: usize>(
        system: &P,
        x: &SVector<f64, N>,
        law: &Feedback<S, K, L, N, M>,
    ) -> SVector<f64, N>
    where
        P: PreparedSystem<N, M>,
        S: FeedbackSystem<N, M>,
        K: GainMatrix<M>,
        L: GainMatrix<N>,
    {
        system.potential_gradient(x, law)
    }

    fn field<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> SVector<f64, N> {
        feedback.field(x)
    }

    fn violations<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> SVector<f64, M> {
        feedback.violations(x)
    }

    fn potential<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &SVector<f64, N>,
    ) -> f64 {
        feedback.potential(x)
    }

    fn euler_step<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &mut SVector<f64, N>,
        h: f64,
    ) {
        feedback.euler_step(x, h);
    }

    fn rk4_step<S: FeedbackSystem<N, M>, K: GainMatrix<M>, L: GainMatrix<N>, const N: usize, const M: usize>(
        feedback: &Feedback<S, K, L, N, M>,
        x: &mut SVector<f64, N>,
        h: f64,
    ) {
        feedback.rk4_step(x, h);
    }

    fn correct<P: PreparedSystem<N, M>, const N: usize, const M: usize>(
        correction: Correction,
        system: &P,
        targets: &SVector<f64, M>,
        x: &mut SVector<f64, N>,
    ) {
        correction.apply(system, targets, x);
    }
}
