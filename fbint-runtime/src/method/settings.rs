//! Methods by name, with their steps or tolerances, and the settings of a run.

use crate::hold::projection::{Hold, Landing, Projection, Projector};
use crate::numbers::entries::Entries;
#[cfg(feature = "ensemble")]
use crate::numbers::larger::Larger;
use crate::numbers::scalar::Scalar;
#[cfg(feature = "ensemble")]
use crate::stages::tableau::{DOP853_PAIR, DORMAND_PRINCE_PAIR, Pair};
use crate::stages::tableau::{EULER, HEUN, MIDPOINT, RK4, Tableau};
use crate::system::SystemFacts;
use crate::system::taylor::order_of;
use crate::system::{FeedbackSystem, Vector};

/// Where the real stability interval of the classical Runge-Kutta method of order 4 ends (HW IV.2); the intervals of the methods
/// of order 1 and 2 end at 2.
const RK4_INTERVAL: f64 = 2.785;

/// A method: an explicit Runge-Kutta method, with a fixed step `h` or with error control; Gauss's collocation; Rodas5P; or a geometric
/// integrator, with which gains take no part, and the state is projected only if a projection was chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Method {
    /// The explicit Euler method, of order 1.
    Euler {
        /// The step.
        h: f64,
    },
    /// The explicit midpoint rule, of order 2.
    Midpoint {
        /// The step.
        h: f64,
    },
    /// The explicit trapezoidal rule, of order 2, known as Heun's method.
    Heun {
        /// The step.
        h: f64,
    },
    /// The classical Runge-Kutta method, of order 4.
    Rk4 {
        /// The step.
        h: f64,
    },
    /// Gauss's method of collocation of order 4, 8 or 16: symplectic, symmetric, and exact to rounding in quadratic invariants. Its stages
    /// are iterated until they are exact to rounding, too, and its sums are compensated. It is not for stiff systems. The state is
    /// projected only if a projection was chosen.
    Gauss {
        /// The number of stages, half the order.
        stages: GaussStages,
        /// The step.
        h: f64,
    },
    /// The discrete Hamel integrator of order 2, for Lagrangian systems without reactions; see
    /// [`DiscreteHamel`](crate::DiscreteHamel).
    DiscreteHamel {
        /// The step.
        h: f64,
    },
    /// The Störmer-Verlet method, of order 2, for H = T(p) + U(q) without constraints; see
    /// [`StormerVerlet`](crate::StormerVerlet).
    StormerVerlet {
        /// The step.
        h: f64,
    },
    /// RATTLE, of order 2, for holonomic constraints and a constant mass matrix; see [`Rattle`](crate::Rattle).
    Rattle {
        /// The step.
        h: f64,
    },
    /// A map that is given by [`Simulation::one_step`](crate::Simulation::one_step), of an order that is not known here.
    OneStep {
        /// The step.
        h: f64,
    },
    /// Dormand and Prince's method of order 5(4) with error control; see [`Integrator`](crate::Integrator).
    DormandPrince {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step; without one, rtol times the size of each variable: see [`Tolerance`](crate::Tolerance).
        atol: Option<f64>,
    },
    /// Dormand and Prince's method of order 8(5, 3) with error control; see [`Integrator`](crate::Integrator).
    Dop853 {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step; without one, rtol times the size of each variable: see [`Tolerance`](crate::Tolerance).
        atol: Option<f64>,
    },
    /// Steinebach's linearly implicit method of order 5(4) with error control, for what is stiff: springs, dampers and gains that are
    /// fast against the motion. For systems with the key `derivatives`; see [`Integrator::rodas5p`](crate::Integrator::rodas5p).
    #[cfg_attr(feature = "serde", serde(rename = "rodas5p"))]
    Rodas5P {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step; without one, rtol times the size of each variable: see [`Tolerance`](crate::Tolerance).
        atol: Option<f64>,
    },
    /// Taylor's method, for errors near rounding: each step is a polynomial whose order follows from the tolerance, 20 at 1e-15 and 12 at
    /// 1e-9, and which is known all along the step. Sums are compensated. For systems with the key `taylor` whose field is smooth, without
    /// gains, and with inputs from a table, held or linear, if it has any; see [`TaylorSystem`](crate::TaylorSystem). From where a motion
    /// slides along a switch, as a body that sticks does, DOP853 makes the steps with the same tolerance, which is then at least 1e-13.
    Taylor {
        /// The largest part of the size of each variable that a step may err by.
        tolerance: f64,
    },
}

/// The number of stages of Gauss's collocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u8", into = "u8"))]
pub enum GaussStages {
    /// 2, for order 4.
    Two,
    /// 4, for order 8.
    Four,
    /// 8, for order 16.
    Eight,
}

#[cfg(feature = "serde")]
impl From<GaussStages> for u8 {
    fn from(stages: GaussStages) -> Self {
        match stages {
            GaussStages::Two => 2,
            GaussStages::Four => 4,
            GaussStages::Eight => 8,
        }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<u8> for GaussStages {
    type Error = &'static str;

    fn try_from(stages: u8) -> Result<Self, Self::Error> {
        match stages {
            2 => Ok(Self::Two),
            4 => Ok(Self::Four),
            8 => Ok(Self::Eight),
            _ => Err("Gauss's collocation has 2, 4 or 8 stages"),
        }
    }
}

/// The settings of a run: the method, the end, the samples and the projection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// The method and its step or tolerances.
    pub method: Method,
    /// The time at the start. With 0 it is the time in the start's state, where that is part of the state.
    #[cfg_attr(feature = "serde", serde(default))]
    pub from: f64,
    /// The time at the end.
    pub until: f64,
    /// The time between two samples of the trajectory, or 0 for a sample at every step; see
    /// [`Simulation::record_every`](crate::Simulation::record_every) for the default. Members of an ensemble need an interval.
    pub every: Option<f64>,
    /// The projection of the state after each step: this one, none, or, with [`Projection::UNCHOSEN`], the one that the simulation or the
    /// ensemble has.
    pub projection: Option<Projection>,
    /// The longest step of a method with error control; see [`Simulation::max_step`](crate::Simulation::max_step).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_step: Option<f64>,
    /// The most steps that are made; see [`Simulation::max_steps`](crate::Simulation::max_steps).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub max_steps: Option<u64>,
}

impl Settings {
    /// A run with a method from t = 0, or the time in the start's state, until a time, with samples at their default times and the projection
    /// of the simulation or ensemble: the default, unless gains, [`without_feedback`](crate::Simulation::without_feedback) or
    /// [`projected`](crate::Simulation::projected) chose otherwise.
    pub const fn new(method: Method, until: f64) -> Self {
        let projection = Some(Projection::UNCHOSEN);
        Self { method, from: 0.0, until, every: None, projection, max_step: None, max_steps: None }
    }
}

/// rtol, and atol if it is given.
type Tolerances = (f64, Option<f64>);

/// The way in which a method takes steps, with the choice that it needs: their size, or tolerances of their error.
#[derive(Clone, Copy)]
pub(crate) enum Stepping {
    /// Steps of one size along a field.
    Fixed { method: FixedStep, h: f64 },
    /// Steps of one size by collocation.
    Gauss { stages: GaussStages, h: f64 },
    /// Steps of one size by a map of the system.
    Geometric { map: GeometricMap, h: f64 },
    /// Steps of Rodas5P, whose size is chosen by error control.
    Rodas5P { tolerances: Tolerances },
    /// Steps of Taylor's method, whose size follows from the series.
    Taylor { tolerance: f64 },
    /// Steps of an explicit method, whose size is chosen by error control.
    Controlled { method: ErrorControl, tolerances: Tolerances },
}

/// A method with a fixed step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FixedStep {
    /// The explicit Euler method.
    Euler,
    /// The explicit midpoint rule.
    Midpoint,
    /// Heun's method.
    Heun,
    /// The classical Runge-Kutta method of order 4.
    Rk4,
}

/// A geometric integrator.
#[derive(Clone, Copy)]
pub(crate) enum GeometricMap {
    /// The discrete Hamel integrator.
    DiscreteHamel,
    /// The Störmer-Verlet method.
    StormerVerlet,
    /// RATTLE.
    Rattle,
    /// A map that is given.
    Given,
}

/// A method with error control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorControl {
    /// Dormand and Prince's method of order 5(4).
    DormandPrince,
    /// Dormand and Prince's method of order 8(5, 3).
    Dop853,
}

#[cfg(feature = "ensemble")]
impl ErrorControl {
    /// Its coefficients.
    pub(crate) const fn pair(self) -> &'static Pair {
        match self {
            Self::DormandPrince => &DORMAND_PRINCE_PAIR,
            Self::Dop853 => &DOP853_PAIR,
        }
    }
}

/// A method's row of the table: all that is known of it without a system.
struct MethodProperties {
    stepping: Stepping,
    order: u32,
    key: &'static str,
    label: &'static str,
    name: &'static str,
    summary: &'static str,
}

impl Method {
    /// The table of the methods: how each takes its steps, its order, [`key`](Self::key), [`label`](Self::label), [`name`](Self::name) and
    /// [`summary`](Self::summary). Nothing else knows the methods one by one.
    #[rustfmt::skip]
    const fn properties(self) -> MethodProperties {
        use Stepping::{Controlled, Fixed, Gauss, Geometric, Rodas5P, Taylor};
        let (stepping, order, [key, label, name, summary]) = match self {
            Self::Euler { h } => (Fixed { method: FixedStep::Euler, h }, 1,
                ["euler", "Euler", "Euler", "The explicit Euler method, order 1"]),
            Self::Midpoint { h } => (Fixed { method: FixedStep::Midpoint, h }, 2,
                ["midpoint", "midpoint", "the midpoint rule", "The explicit midpoint rule, order 2"]),
            Self::Heun { h } => (Fixed { method: FixedStep::Heun, h }, 2,
                ["heun", "Heun", "Heun", "Heun's method, order 2"]),
            Self::Rk4 { h } => (Fixed { method: FixedStep::Rk4, h }, 4,
                ["rk4", "RK4", "RK4", "The classical Runge-Kutta method, order 4"]),
            Self::Gauss { stages: stages @ GaussStages::Two, h } => (Gauss { stages, h }, 4,
                ["gauss4", "Gauss 4", "Gauss 4", "Gauss's collocation, order 4: symplectic, implicit, for what is not stiff"]),
            Self::Gauss { stages: stages @ GaussStages::Four, h } => (Gauss { stages, h }, 8,
                ["gauss8", "Gauss 8", "Gauss 8", "Gauss's collocation, order 8"]),
            Self::Gauss { stages: stages @ GaussStages::Eight, h } => (Gauss { stages, h }, 16,
                ["gauss16", "Gauss 16", "Gauss 16", "Gauss's collocation, order 16, for long runs to rounding"]),
            Self::DiscreteHamel { h } => (Geometric { map: GeometricMap::DiscreteHamel, h }, 2,
                ["discrete-hamel", "discrete Hamel", "the discrete Hamel integrator",
                 "The discrete Hamel integrator, order 2, for Lagrangian systems without reactions"]),
            Self::StormerVerlet { h } => (Geometric { map: GeometricMap::StormerVerlet, h }, 2,
                ["stormer-verlet", "Störmer-Verlet", "Störmer-Verlet",
                 "The Störmer-Verlet method, order 2, for H = T(p) + U(q) without constraints"]),
            Self::Rattle { h } => (Geometric { map: GeometricMap::Rattle, h }, 2,
                ["rattle", "RATTLE", "RATTLE", "RATTLE, order 2, for holonomic constraints and a constant mass matrix"]),
            Self::OneStep { h } => (Geometric { map: GeometricMap::Given, h }, 1,
                ["one-step", "one step", "the given map", "A map that is given"]),
            Self::DormandPrince { rtol, atol } => (Controlled { method: ErrorControl::DormandPrince, tolerances: (rtol, atol) }, 5,
                ["dormand-prince", "Dormand-Prince 5(4)", "Dormand-Prince",
                 "Dormand and Prince's method of order 5(4), with error control"]),
            Self::Dop853 { rtol, atol } => (Controlled { method: ErrorControl::Dop853, tolerances: (rtol, atol) }, 8,
                ["dop853", "DOP853", "DOP853", "Dormand and Prince's method of order 8(5, 3), with error control"]),
            Self::Rodas5P { rtol, atol } => (Rodas5P { tolerances: (rtol, atol) }, 5,
                ["rodas5p", "Rodas5P", "Rodas5P",
                 "Steinebach's method of order 5(4) for what is stiff, with error control, for models with the key `derivatives`"]),
            Self::Taylor { tolerance } => (Taylor { tolerance }, order_of(tolerance) as u32,
                ["taylor", "Taylor", "Taylor's method",
                 "Taylor's method, of an order that follows from the tolerance, for models with the key `taylor`"]),
        };
        MethodProperties { stepping, order, key, label, name, summary }
    }

    /// Every method that needs nothing but a step `h` or the tolerances rtol and atol, with these.
    pub const fn all(h: f64, (rtol, atol): Tolerances) -> [Self; 14] {
        [
            Self::Euler { h },
            Self::Midpoint { h },
            Self::Heun { h },
            Self::Rk4 { h },
            Self::Gauss { stages: GaussStages::Two, h },
            Self::Gauss { stages: GaussStages::Four, h },
            Self::Gauss { stages: GaussStages::Eight, h },
            Self::DiscreteHamel { h },
            Self::StormerVerlet { h },
            Self::Rattle { h },
            Self::DormandPrince { rtol, atol },
            Self::Dop853 { rtol, atol },
            Self::Rodas5P { rtol, atol },
            Self::Taylor { tolerance: rtol },
        ]
    }

    /// The method of [`all`](Self::all) with this [`key`](Self::key), with a step `h` or the tolerances rtol and atol.
    ///
    /// ```
    /// # use fbint_runtime::Method;
    /// assert_eq!(Method::with_key("rk4", 1e-3, (1e-9, None)), Some(Method::Rk4 { h: 1e-3 }));
    /// ```
    pub fn with_key(key: &str, h: f64, tolerances: Tolerances) -> Option<Self> {
        Self::all(h, tolerances).into_iter().find(|method| method.key() == key)
    }

    /// The name of the method as an option of a program: `rk4`, `midpoint`.
    pub const fn key(self) -> &'static str {
        self.properties().key
    }

    /// The name of the method in tables and legends: `RK4`, `midpoint`.
    pub const fn label(self) -> &'static str {
        self.properties().label
    }

    /// The name of the method in a sentence: `RK4`, `the midpoint rule`.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// The method in a phrase: `The classical Runge-Kutta method, order 4`.
    pub const fn summary(self) -> &'static str {
        self.properties().summary
    }

    /// The order of the method, and the least that it can be of a map that is given.
    pub const fn order(self) -> u32 {
        self.properties().order
    }

    /// Returns `true` if the method keeps some of the structure by construction: the state is projected only if a projection was chosen.
    pub const fn is_geometric(self) -> bool {
        matches!(self.stepping(), Stepping::Gauss { .. } | Stepping::Geometric { .. })
    }

    /// The projection of a run.
    pub(crate) fn projection(self, facts: &SystemFacts, hold: Hold) -> Option<Projection> {
        if self.is_geometric() { hold.if_chosen() } else { hold.projection(facts) }
    }

    /// The size of the steps, unless error control chooses it.
    pub const fn step(self) -> Option<f64> {
        match self.stepping() {
            Stepping::Fixed { h, .. } | Stepping::Gauss { h, .. } | Stepping::Geometric { h, .. } => Some(h),
            Stepping::Taylor { .. } | Stepping::Rodas5P { .. } | Stepping::Controlled { .. } => None,
        }
    }

    /// The relative tolerance of a step, and the absolute one if it is given, under error control.
    pub const fn tolerances(self) -> Option<Tolerances> {
        match self.stepping() {
            Stepping::Rodas5P { tolerances } | Stepping::Controlled { tolerances, .. } => Some(tolerances),
            Stepping::Taylor { tolerance } => Some((tolerance, None)),
            Stepping::Fixed { .. } | Stepping::Gauss { .. } | Stepping::Geometric { .. } => None,
        }
    }

    /// The stepping of the method.
    pub(crate) const fn stepping(self) -> Stepping {
        self.properties().stepping
    }
}

impl Stepping {
    /// The end of the real stability interval within which a feedback has to be.
    pub(crate) fn stability_interval(self) -> f64 {
        match self {
            Self::Fixed { method, .. } => method.stability_interval(),
            Self::Gauss { .. }
            | Self::Geometric { .. }
            | Self::Taylor { .. }
            | Self::Rodas5P { .. }
            | Self::Controlled { .. } => f64::INFINITY,
        }
    }
}

/// An expression with the tableau of a [`FixedStep`]: each has a separate type, and compiles to separate code.
macro_rules! with_tableau {
    ($method:expr, |$tableau:ident| $value:expr) => {
        with_tableau!($method, |$tableau| $value; Euler: EULER, Midpoint: MIDPOINT, Heun: HEUN, Rk4: RK4)
    };
    ($method:expr, |$tableau:ident| $value:expr; $($variant:ident: $coefficients:ident),*) => {
        match $method {
            $(FixedStep::$variant => {
                let $tableau = &$coefficients;
                $value
            })*
        }
    };
}

#[cfg(feature = "std")]
pub(crate) use with_tableau;

impl FixedStep {
    /// One step of size `h` along x' = `field`(x).
    #[inline(always)]
    pub(crate) fn step<V: Entries<T>, T: Scalar>(self, field: impl Fn(&V) -> V, x: &mut V, h: T) {
        with_tableau!(self, |tableau| tableau.step(field, x, h));
    }

    /// One step of size `h` along x' = `field`(x) to `time`, whose end is projected, whatever comes of that.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn advance<S: FeedbackSystem, T: Larger>(
        self,
        projector: &mut Projector<S, T>,
        field: impl Fn(&Vector<S, T>) -> Vector<S, T>,
        x: &mut Vector<S, T>,
        h: T,
        time: f64,
    ) -> Landing<S, T> {
        let (first, facts) = (projector.first_stage(&field, x), projector.facts());
        let error =
            with_tableau!(self, |tableau| tableau.error_of(facts).of_stages(&tableau.stages(&field, x, h, first)));
        projector.end_step(error, field, x, h, time).0
    }

    /// One step to `time` whose end is projected if that is in proportion; see [`Projector::step`].
    #[inline(always)]
    pub(crate) fn projected_step<S: FeedbackSystem>(
        self,
        projector: &mut Projector<S>,
        field: impl Fn(&Vector<S>) -> Vector<S>,
        x: &mut Vector<S>,
        h: f64,
        time: f64,
    ) -> Landing<S> {
        with_tableau!(self, |tableau| projector.land_step(tableau, field, x, h, time))
    }

    /// The number of evaluations of the field in a step.
    pub(crate) const fn evaluations(self) -> u64 {
        const fn stages<const S: usize>(_: &Tableau<S>) -> u64 {
            S as u64
        }
        with_tableau!(self, |tableau| stages(tableau))
    }

    /// The end of the method's real stability interval, which is the same for methods of order 1 and 2 with as many stages.
    pub(crate) const fn stability_interval(self) -> f64 {
        if matches!(self, Self::Rk4) { RK4_INTERVAL } else { 2.0 }
    }
}
