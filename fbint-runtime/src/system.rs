//! What `#[feedback_system]` generates: the trait that every model implements.
//!
//! A system has a flat state x in R^N (coordinates, then momenta, each in declaration order, matrices column by column) and
//! M integrals F = (constraints and their rates, energy, invariants). The functions are the ones of CPV22 eq. (4) and (6).

use core::{array, fmt};

use nalgebra::{SMatrix, SVector};

use crate::{Constant, Scalar};

/// A mechanical system whose equations were derived at compile time.
///
/// Implemented by `#[feedback_system]`, not by hand. `N` is the dimension of the state, `M` the number of integrals.
pub trait FeedbackSystem<const N: usize, const M: usize> {
    /// The state with its declared names and shapes, e.g. `SphericalPendulumState { q, p }`.
    type State: Clone + fmt::Debug + From<SVector<f64, N>> + Into<SVector<f64, N>>;
    /// The system with its parameters fixed, e.g. `SphericalPendulumPrepared`.
    type Prepared: PreparedSystem<N, M>;

    /// The name of the declared struct.
    const NAME: &'static str;
    /// A name for each entry of the state: `angle`, `q[0]`, `q[(0, 1)]`.
    const STATE_NAMES: [&'static str; N];
    /// A name for each integral: `length`, `length_rate`, `link[3]`, `energy`.
    const INTEGRAL_NAMES: [&'static str; M];
    /// What each integral is, which decides its target.
    const INTEGRAL_KINDS: [IntegralKind; M];
    /// How often each integral occurs in the declaration: 2 for an off-diagonal entry of a symmetric matrix, else 1.
    const INTEGRAL_WEIGHTS: [f64; M];
    /// Where the field without feedback conserves each integral, and how that was decided while the model was compiled.
    const CONSERVATION: [Conservation; M];
    /// A name for each parameter: `m`, `inertia[0]`.
    const PARAMETER_NAMES: &'static [&'static str];
    /// A name for each declared output.
    const OUTPUT_NAMES: &'static [&'static str];
    /// k: the first k integrals are holonomic constraints g(q), the next k their rates {g, H}. 0 where there are none.
    const HOLONOMIC_CONSTRAINTS: usize;
    /// How the Hamiltonian depends on the momenta.
    const KINETIC_ENERGY: KineticEnergy;
    /// Operations of [`PreparedSystem::vector_field`].
    const VECTOR_FIELD_OPERATIONS: Operations;
    /// Operations of [`PreparedSystem::feedback_field`], less those of the [`FeedbackLaw`].
    const FEEDBACK_FIELD_OPERATIONS: Operations;
    /// What each pass of the compiler made of [`PreparedSystem::feedback_field`], in the passes' order.
    const PASSES: &'static [Pass];
    /// The generated Rust, pretty-printed.
    const SOURCE: &'static str;
    /// The derivation as LaTeX: H, f, brackets, C, X, V and its gradient.
    const DERIVATION: &'static str;
    /// The derivation as plain text, one equation a line.
    const EQUATIONS: &'static str;

    /// The parameter named `PARAMETER_NAMES[index]`, or `None` past the end.
    fn parameter(&self, index: usize) -> Option<f64>;
    /// The parameter named `PARAMETER_NAMES[index]`, to be changed, or `None` past the end.
    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64>;

    /// The system with all that depends on its parameters alone computed, for use step after step.
    fn prepare(&self) -> Self::Prepared;

    /// Like [`Prepared`](Self::Prepared), with constants of type `C`.
    type Gathered<C: Constant>: PreparedSystem<N, M>;
    /// Prepared systems side by side, which `member` gives for each lane.
    fn gather<'a, C: Constant>(member: impl Fn(usize) -> &'a Self::Prepared) -> Self::Gathered<C>
    where
        Self::Prepared: 'a;

    /// X(x), prepared for this one call: see [`PreparedSystem::vector_field`].
    fn vector_field<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, N> {
        self.prepare().vector_field(x)
    }
    /// F(x), prepared for this one call: see [`PreparedSystem::integrals`].
    fn integrals<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M> {
        self.prepare().integrals(x)
    }
    /// DF(x), prepared for this one call: see [`PreparedSystem::integrals_jacobian`].
    fn integrals_jacobian<T: Scalar>(&self, x: &SVector<T, N>) -> SMatrix<T, M, N> {
        self.prepare().integrals_jacobian(x)
    }
}

/// A system whose parameters are fixed: the generated functions, each straight-line code that allocates nothing.
pub trait PreparedSystem<const N: usize, const M: usize>: Copy + fmt::Debug + Send + Sync + 'static {
    /// The Dirac-extended vector field X(x) = J (grad H - Df^T c), CPV22 eq. (4).
    fn vector_field<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, N>;
    /// The integrals F(x).
    fn integrals<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M>;
    /// The Jacobian DF(x): row i is the gradient of integral i.
    fn integrals_jacobian<T: Scalar>(&self, x: &SVector<T, N>) -> SMatrix<T, M, N>;
    /// c of CPV22 eq. (4) in the order of the integrals, 0 for those that are no constraint. The reaction force of a
    /// holonomic constraint g is its entry times dg/dq.
    fn multipliers<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M>;
    /// An array with an entry for each of [`FeedbackSystem::OUTPUT_NAMES`].
    type Outputs<T: Scalar>: AsRef<[T]>;
    /// The declared outputs.
    fn outputs<T: Scalar>(&self, x: &SVector<T, N>) -> Self::Outputs<T>;
    /// Which constraints are proportional to their normalised form, see [`normalisation`](Self::normalisation): its target is
    /// 0, and nothing is subtracted.
    const ZERO_TARGETS: [bool; M];
    /// `[factor, scale, offset]` for each integral. The generated feedback computes a normalised form f of F with fewer
    /// operations, F = scale (f + offset), and divides each gradient by a constant, dF = factor row. What is left out here
    /// a law has in its gains and targets: see [`FeedbackLaw::weigh_normalised`].
    fn normalisation<T: Scalar>(&self) -> [[T; 3]; M];
    /// The gradient of the feedback potential, grad V = DF^T K (F - F_target).
    fn potential_gradient<T: Scalar, G: FeedbackLaw<T, N, M>>(&self, x: &SVector<T, N>, law: &G) -> SVector<T, N>;
    /// The field to integrate, X(x) - L DF^T K (F - F_target), CPV22 eq. (6).
    fn feedback_field<T: Scalar, G: FeedbackLaw<T, N, M>>(&self, x: &SVector<T, N>, law: &G) -> SVector<T, N>;
    /// S DF^T (DF S DF^T + e D + R)^-1 y, the damped Gauss-Newton step back from F = F_target + y (HLW06 IV.4), where the law's
    /// [`weigh`](FeedbackLaw::weigh) gives y from F. S = diag(`variances`), R = diag(`noise`), which must be positive, D is the
    /// diagonal of DF S DF^T, and e = 1e-10.
    fn correction<T: Scalar, G: FeedbackLaw<T, N, M>>(
        &self,
        x: &SVector<T, N>,
        variances: &SVector<T, N>,
        noise: &SVector<T, M>,
        law: &G,
    ) -> SVector<T, N>;
    /// |dF_i|^2 of each integral, the diagonal of DF DF^T.
    fn squared_gradients<T: Scalar>(&self, x: &SVector<T, N>) -> SVector<T, M>;
    /// One step of the explicit Euler method on [`feedback_field`](Self::feedback_field).
    fn euler_step<T: Scalar, G: FeedbackLaw<T, N, M>>(&self, x: &mut SVector<T, N>, h: T, law: &G);
    /// One step of the classical Runge-Kutta method of order 4 on [`feedback_field`](Self::feedback_field).
    fn rk4_step<T: Scalar, G: FeedbackLaw<T, N, M>>(&self, x: &mut SVector<T, N>, h: T, law: &G);
}

/// What the feedback adds to a system: F_target, K and L of CPV22 eq. (6), as the generated code calls them.
pub trait FeedbackLaw<T: Scalar, const N: usize, const M: usize> {
    /// Whether L is anything but the identity. Where it is not, field and gradient are computed as one sum.
    const HAS_METRIC: bool;
    /// y = K (F - F_target), from the integrals F.
    fn weigh(&self, integrals: [T; M]) -> [T; M];
    /// The products of y and the gradients' factors, from the normalised forms of the integrals: see
    /// [`PreparedSystem::normalisation`]. A law that is used step after step has computed all that is constant in it before.
    #[inline]
    fn weigh_normalised<P: PreparedSystem<N, M>>(&self, forms: [T; M], system: &P) -> [T; M] {
        let normalisation = system.normalisation::<T>();
        let y = self.weigh(array::from_fn(|i| {
            let [_, scale, offset] = normalisation[i];
            scale * (forms[i] + offset)
        }));
        array::from_fn(|i| normalisation[i][0] * y[i])
    }
    /// L v, from v = grad V.
    fn precondition(&self, gradient: [T; N]) -> [T; N];
}

/// What an integral is, which decides its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegralKind {
    /// Vanishes on the constraint set: a declared constraint or its derived rate. Its target is 0.
    Constraint,
    /// The Hamiltonian. Its target is its value at the start.
    Energy,
    /// A declared first integral. Its target is its value at the start.
    Invariant,
}

/// Where the field without feedback conserves an integral I: where dI.X = 0. What is conserved nowhere does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conservation {
    /// In every state.
    Everywhere(Evidence),
    /// In every state that satisfies the constraints, but not beside it.
    OnConstraints(Evidence),
    /// No state was found in which this could be tested, because the model is defined, or its constraints hold, almost
    /// nowhere.
    Undecided,
}

/// How a statement about a model is known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is true of every system of this form: constraints and energy of a canonical system, the energy of a Poisson system.
    Construction,
    /// It was proved by exact algebra.
    Algebra,
    /// It was found to be true, to more than 40 decimal digits, in this many states that were chosen at random.
    Samples(u32),
}

/// How a Hamiltonian depends on the momenta, which decides what splitting methods can do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KineticEnergy {
    /// In any way; or the system is not canonical.
    General,
    /// H = T(p) + U(q).
    Separable,
    /// H = T(p) + U(q) with T quadratic: a constant mass matrix.
    Quadratic,
}

/// How many operations a generated function performs, counted in the emitted code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Additions, subtractions and negations.
    pub additions: u32,
    /// Multiplications.
    pub multiplications: u32,
    /// Fused multiply-adds, each of which is also worth one addition and one multiplication.
    pub fused: u32,
    /// Divisions and reciprocals.
    pub divisions: u32,
    /// Square roots and elementary functions.
    pub functions: u32,
}

impl Operations {
    /// The number of floating-point operations, a fused multiply-add counted as two.
    pub const fn total(&self) -> u32 {
        self.additions + self.multiplications + 2 * self.fused + self.divisions + self.functions
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} (additions {}, multiplications {}, fused {}, divisions {}, functions {})",
            self.total(),
            self.additions,
            self.multiplications,
            self.fused,
            self.divisions,
            self.functions,
        )
    }
}

/// What a generated function costs after a pass of the compiler, less what the [`FeedbackLaw`] costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// The pass, a verb.
    pub name: &'static str,
    /// Operations of each kind, where square roots and elementary functions count as functions.
    pub operations: Operations,
    /// Square roots.
    pub square_roots: u32,
    /// Elementary functions.
    pub calls: u32,
    /// Operations, a fused multiply-add counted as one.
    pub instructions: u32,
    /// The most values that are computed and still to be read at one time.
    pub live_values: u32,
}
