//! The functions of a system on slices: whatever its dimensions are, and however they are evaluated.

use std::ops::Index;

use fbint_runtime::{Dual, FourLanes, MediumLanes, NOT_GENERATED, NarrowLanes, SeriesShape, SystemFacts};

/// The functions of a system, whatever its parameters are: in one number at a time; in the lanes of [ensembles](fbint_runtime::Ensemble),
/// and in the wider ones of systems of at most eight entries (field, integrals, feedback field, projection and Jacobian); and in numbers
/// with a derivative (the field, outputs, laws and switches).
pub trait FlatFunctions: Functions<f64> + Functions<NarrowLanes> + Functions<MediumLanes> + Functions<Dual> {
    /// The facts about the system.
    fn facts(&self) -> &'static SystemFacts;
    /// [`PreparedSystem::zero_targets`](fbint_runtime::PreparedSystem::zero_targets), into the first of `targets`.
    fn zero_targets(&self, targets: &mut [bool]);
    /// The Taylor series of solutions, or why there are none.
    ///
    /// # Errors
    ///
    /// If they are not generated, or if the field has none.
    fn series(&self) -> Result<&dyn FlatSeries, &'static str> {
        Err(NOT_GENERATED)
    }
}

/// The Taylor series of the solutions of a system.
pub trait FlatSeries {
    /// The lengths of its lists.
    fn shape(&self) -> SeriesShape;
    /// [`TaylorSystem::taylor_coefficients`](fbint_runtime::TaylorSystem::taylor_coefficients) with a `stride` from each coefficient to the
    /// next, which is at least as long as the state; what is `given` first are the sides, and then the coefficients of inputs with the same
    /// stride.
    fn expand(&self, given: &Given<'_, f64>, coefficients: &mut [f64], stride: usize, memory: &mut [FourLanes]);
}

/// The functions of a system in numbers of one type.
pub trait Functions<T>: Send + Sync {
    /// Writes a function's result into the first entries of `list`, whose length is even. The `law` replaces the integrals by y, in the
    /// form in which the function has them.
    fn list(&self, function: ListFunction, given: &Given<'_, T>, law: &dyn Fn(&mut [T]), list: &mut [T]);
    /// Puts a function's values into the first rows and columns of a `matrix` with this number of `columns`.
    fn matrix(&self, function: MatrixFunction, given: &Given<'_, T>, matrix: &mut [T], columns: usize);
    /// [`PreparedSystem::jacobian`](fbint_runtime::PreparedSystem::jacobian), of the field with feedback if `first` has gains and `second`
    /// targets.
    fn jacobian(&self, given: &Given<'_, T>, with_feedback: bool, add: &mut dyn FnMut(usize, usize, T)) -> bool;
}

/// The inputs of functions, by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Entries of the state.
    State,
    /// Values that depend on parameters alone; the parameters themselves, in functions of parameters.
    Prepared,
    /// Entries of the inputs, then the sides on which switches are held.
    Inputs,
    /// S of a projection, or the gains of a feedback law whose gains are constant.
    First,
    /// R of a projection, or the targets of such a law.
    Second,
}

/// The number of kinds of [`Source`].
const SOURCES: usize = Source::Second as usize + 1;

/// The inputs of functions: a list of each kind, which may be followed by zeros.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, T>([&'a [T]; SOURCES]);

impl<T> Default for Given<'_, T> {
    fn default() -> Self {
        Self([&[]; SOURCES])
    }
}

impl<'a, T> Given<'a, T> {
    /// The result as a list of this kind.
    #[inline]
    pub fn with(mut self, source: Source, list: &'a [T]) -> Self {
        self.0[source as usize] = list;
        self
    }

    /// All lists, in the order of the kinds.
    pub fn lists(&self) -> &[&'a [T]; SOURCES] {
        &self.0
    }
}

impl<T> Index<Source> for Given<'_, T> {
    type Output = [T];

    fn index(&self, source: Source) -> &[T] {
        self.0[source as usize]
    }
}

/// A function that gives a list, as [`PreparedSystem`](fbint_runtime::PreparedSystem) and [`HamelSystem`](fbint_runtime::HamelSystem) have
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the traits say what they are")]
pub enum ListFunction {
    VectorField,
    Integrals,
    Multipliers,
    Outputs,
    PotentialGradient,
    FeedbackField,
    Projection,
    MomentumState,
    MomentumRates,
    Law,
    Switches,
    InverseDynamics,
}

/// A function that gives a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the traits say what they are")]
pub enum MatrixFunction {
    IntegralsJacobian,
    Normalisation,
    MomentumStateJacobian,
    MomentumRatesJacobian,
    LawJacobian,
    MassMatrix,
}
