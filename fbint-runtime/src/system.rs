//! Systems: the traits that generated code implements, the facts about a system, and an object-safe view of it on slices.

pub(crate) mod derivatives;
pub(crate) mod dynamical_system;
pub(crate) mod facts;
pub(crate) mod lagrangian;
pub(crate) mod record;
pub(crate) mod short_form;
pub(crate) mod taylor;
pub(crate) mod traits;

pub use self::facts::{
    Conservation, CrossingDirection, Declared, DeclaredEvent, DeclaredShape, Evidence, Integral, IntegralKind,
    KineticEnergy, Operations, ShapeKind, StateEntry, StateRole, SystemFacts,
};
pub use self::traits::{
    ControlledSystem, DrivenSystem, FeedbackLaw, FeedbackSystem, GeneratedSystem, HamelFunctions, HamelSystem,
    Integrals, LagrangianFunctions, NOT_GENERATED, PreparedSystem, SwitchingSystem, TaylorFunctions, Vector,
};
