//! Chains of 4, 8, 16 and 32 point masses on massless links, the first of them anchored: 2 N degrees of freedom in
//! R^{3N} x R^{3N}.
//!
//! Gravity points along -q[(2, i)]; column i of q is the position of mass i. Each constraint has mass points in common
//! with its neighbours only, so that the matrix A of the derivation is tridiagonal and the price of a field is
//! proportional to N.
//!
//! Lengths, their rates and the energy stay. At rest on a straight line at an angle to the vertical, where a run starts, the
//! link above mass i (from 0) carries the masses from i on, each with m g times the cosine of the angle.

use fbint_runtime::feedback_system;
use nalgebra::{SMatrix, vector};

macro_rules! chain {
    ($name:ident, $state:ident, $n:tt, $summary:literal) => {
        #[doc = $summary]
        #[feedback_system(
                    coordinates(q: [3, $n]),
                    momenta(p: [3, $n]),
                    hamiltonian = (0..$n).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
                    constraint(
                        anchor = q.column(0).norm_squared() - l.powi(2),
                        link[i in 1..$n] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
                    ),
                    output(
                        anchor_tension = -2 * l * multiplier(anchor),
                        tension[i in 1..$n] = -2 * l * multiplier(link[i]),
                    ),
                    default(m = 1, g = 1, l = 1),
                    draw(
                        rod(vector![0, 0, 0], q.column(0)), rod[i in 1..$n](q.column(i - 1), q.column(i)), pivot(vector![0, 0, 0]),
                        point[i in 0..$n](q.column(i)), trace(q.column($n - 1)),
                    ),
                )]
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            /// Each mass.
            pub m: f64,
            /// The acceleration of gravity.
            pub g: f64,
            /// The length of each link.
            pub l: f64,
        }

        impl $name {
            /// Straight, at 30 degrees to the vertical, at rest.
            pub fn start(&self) -> $state {
                self.start_at(30_f64.to_radians())
            }

            /// Straight, at an angle in radians to the vertical, at rest.
            pub fn start_at(&self, angle: f64) -> $state {
                let link = self.l * vector![angle.sin(), 0.0, -angle.cos()];
                $state { q: SMatrix::from_fn(|row, mass| (mass + 1) as f64 * link[row]), p: SMatrix::zeros() }
            }
        }
    };
}

chain!(Chain4, Chain4State, 4, "Four point masses on a chain.");
chain!(Chain8, Chain8State, 8, "Eight point masses on a chain.");
chain!(Chain16, Chain16State, 16, "Sixteen point masses on a chain.");
chain!(Chain32, Chain32State, 32, "Thirty-two point masses on a chain.");

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Gains, GeneratedSystem, Method, PreparedSystem, Simulation};

    use super::*;

    #[test]
    fn each_link_carries_what_hangs_on_it() {
        let (m, g, l) = (0.7, 9.81, 0.3);
        for angle in [0.0_f64, 0.4, 1.5] {
            carries(&Chain4 { m, g, l }, Chain4 { m, g, l }.start_at(angle), m * g * angle.cos());
            carries(&Chain8 { m, g, l }, Chain8 { m, g, l }.start_at(angle), m * g * angle.cos());
            carries(&Chain16 { m, g, l }, Chain16 { m, g, l }.start_at(angle), m * g * angle.cos());
            carries(&Chain32 { m, g, l }, Chain32 { m, g, l }.start_at(angle), m * g * angle.cos());
        }
    }

    fn carries<S: GeneratedSystem>(chain: &S, start: S::State, load: f64) {
        let tensions = chain.prepare().outputs(&start.into());
        let masses = tensions.as_ref().len();
        assert_eq!(masses, S::FACTS.state.len() / 6);
        for (mass, tension) in tensions.as_ref().iter().enumerate() {
            let expected = (masses - mass) as f64 * load;
            assert!((tension / expected - 1.0).abs() < 1e-12, "link {mass} carries {tension}, not {expected}");
        }
    }

    #[test]
    fn hangs_at_rest() {
        let chain = Chain8 { m: 0.7, g: 9.81, l: 0.3 };
        let field = chain.prepare().vector_field(&chain.start_at(0.0).into());
        assert!(field.iter().all(|rate| rate.abs() < 1e-13), "{field:?}");
    }

    #[test]
    fn lengths_and_energy_stay_while_it_falls() -> Result<(), Error> {
        let chain = Chain4::default();
        let run =
            Simulation::new(&chain, chain.start())?.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, 2.0)?;
        let end = run.state();
        assert!((end.q - chain.start().q).norm() > 0.5, "it did not move: {}", end.q);
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-9, "{integral:?}");
        }
        Ok(())
    }
}
