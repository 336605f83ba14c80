//! Linkages, chains and carts.

use fbint_command::Drawing;
use fbint_command::animation::circle;
use nalgebra::{SMatrix, Vector2, Vector3};

use super::pendulums::pendulum;
use crate::{
    CartPendulum, CartPendulumState, CartPole, CartPoleState, Chain4, Chain4State, Chain8, Chain8State, Chain16,
    Chain16State, Chain32, Chain32State, DrivenFourBar, DrivenFourBarState, FourBar, FourBarState,
};

pub(crate) fn four_bar(model: &FourBar, at: &FourBarState) -> Drawing {
    linkage(model.ln, at.a, at.b)
}

pub(crate) fn driven_four_bar(model: &DrivenFourBar, at: &DrivenFourBarState) -> Drawing {
    linkage(model.ln, at.a, at.b)
}

/// Crank, coupler and rocker between two fixed pivots. The middle of the coupler leaves a trace.
fn linkage(base: f64, a: Vector2<f64>, b: Vector2<f64>) -> Drawing {
    let (left, right) = ([0.0, 0.0], [base, 0.0]);
    Drawing::new()
        .guide([left, right])
        .rods([left.into(), a, b, right.into()])
        .pivot(left)
        .pivot(right)
        .point(a)
        .point(b)
        .trace((a + b) / 2.0)
}

pub(crate) fn chain_4(_: &Chain4, at: &Chain4State) -> Drawing {
    chain(&at.q)
}

pub(crate) fn chain_8(_: &Chain8, at: &Chain8State) -> Drawing {
    chain(&at.q)
}

pub(crate) fn chain_16(_: &Chain16, at: &Chain16State) -> Drawing {
    chain(&at.q)
}

pub(crate) fn chain_32(_: &Chain32, at: &Chain32State) -> Drawing {
    chain(&at.q)
}

/// Links from the anchor from mass to mass. The last mass leaves a trace.
fn chain<const N: usize>(q: &SMatrix<f64, 3, N>) -> Drawing {
    let anchor = Vector3::zeros();
    let masses = || q.column_iter().map(|mass| mass.into_owned());
    let drawing = Drawing::new().rods(std::iter::once(anchor).chain(masses())).pivot(anchor);
    masses().fold(drawing, Drawing::point).trace(q.column(N - 1))
}

/// The pendulum hangs.
pub(crate) fn cart_pendulum(model: &CartPendulum, at: &CartPendulumState) -> Drawing {
    let (sin, cos) = at.theta.sin_cos();
    pendulum(cart(at.s, model.l), [at.s, 0.0], [at.s + model.l * sin, -model.l * cos])
}

/// The pole stands.
pub(crate) fn cart_pole(model: &CartPole, at: &CartPoleState) -> Drawing {
    let (sin, cos) = at.angle.sin_cos();
    pendulum(cart(at.x, model.l), [at.x, 0.0], [at.x + model.l * sin, model.l * cos])
}

/// A cart for a rod of length `l`, on a rail that is as long as it has to be.
fn cart(x: f64, l: f64) -> Drawing {
    let (half, high, radius) = (0.25 * l, 0.1 * l, 0.06 * l);
    let ground = -high - 2.0 * radius;
    let rail = [[(-2.0 * l).min(x - l), ground], [(2.0 * l).max(x + l), ground]];
    let [left, right] = [-0.6, 0.6].map(|side| circle([x + side * half, ground + radius], radius));
    let corners = [[x - half, -high], [x + half, -high], [x + half, high], [x - half, high]];
    Drawing::new().guide(rail).face(left).face(right).face(corners)
}
