//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.
//!
//! # An example, from declaration to Rust
//!
//! The mechanics of the planar pendulum takes two lines, after the lines that name the state and before the parameters by default:
//!
//! ```text
//! #[feedback_system(
//!     coordinates(q: [2]),
//!     momenta(p: [2]),
//!     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
//!     constraint(length = q.norm_squared() - l.powi(2)),
//!     default(m = 1, g = 1, l = 1),
//!     draw(rod(vector![0, 0], q), pivot(vector![0, 0]), point(q), trace(q)),
//! )]
//! pub struct PlanarPendulum { pub m: f64, pub g: f64, pub l: f64 }
//! ```
//!
//! [`syntax`] parses this into a [`Declaration`](syntax::Declaration). [`elaborate`] resolves names and shapes and leaves an
//! [`Elaborated`](elaborate::Elaborated) model of scalar [`Expression`](expression::Expression)s over numbered symbols: 0 to 3 are
//! q\[0\], q\[1\], p\[0\], p\[1\], and 4 to 6 are m, g, l. `mechanics` differentiates. The [`Derivation`](derivation::Derivation), as [`notation`] prints it
//! (`fbint show planar-pendulum --equations`), begins with
//!
//! ```text
//! Energy of PlanarPendulum
//!   H = (p[0]^2 + p[1]^2)/(2*m) + m*g*q[1]
//! Constraints
//!   length = q[0]^2 + q[1]^2 - l^2
//!   length_rate = {length, H} = 2*(q[0]*p[0] + q[1]*p[1])/m
//! Poisson brackets
//!   {length, length_rate} = 4*(q[0]^2 + q[1]^2)/m
//!   {H, length} = -length_rate
//!   {H, length_rate} = 2*(q[1]*g - p[0]^2/m^2 - p[1]^2/m^2)
//! Multipliers
//!   {length_rate, length} c[length_rate] = {H, length}
//!   {length, length_rate} c[length] = {H, length_rate}
//! Vector field
//!   d q[0]/dt = p[0]/m - 2*c[length_rate]*q[0]/m
//!   d q[1]/dt = p[1]/m - 2*c[length_rate]*q[1]/m
//!   d p[0]/dt = 2*c[length]*q[0] + 2*c[length_rate]*p[0]/m
//!   d p[1]/dt = 2*c[length]*q[1] - m*g + 2*c[length_rate]*p[1]/m
//! ```
//!
//! [`program`] lowers this to straight-line programs. `prepared 0`, `1` and `2` are g m^2, 1 / m and m g, which depend on parameters
//! alone and are computed once. Up to constant factors, v5 is the reciprocal of the bracket {length, length_rate}, and v10 and v19
//! are the multipliers of `length_rate` and `length`; v12, v14, v21, v24 are X:
//!
//! ```text
//! vector_field
//! v0 = symbol 0
//! v1 = v0 * v0
//! v2 = symbol 1
//! v3 = v2 * v2 + v1
//! v4 = prepared 1
//! v5 = v4 / v3
//! v6 = symbol 2
//! v7 = v0 * v6
//! v8 = symbol 3
//! v9 = v2 * v8 + v7
//! v10 = v9 * v5
//! v11 = v6 * v4
//! v12 = v11 - v0 * v10
//! v13 = v8 * v4
//! v14 = v13 - v2 * v10
//! v15 = v6 * v6
//! v16 = v8 * v8 + v15
//! v17 = prepared 0
//! v18 = v2 * v17 - v16
//! v19 = v18 * v5
//! v20 = v0 * v19
//! v21 = v6 * v10 + v20
//! v22 = prepared 2
//! v23 = v2 * v19 - v22
//! v24 = v8 * v10 + v23
//! return v12, v14, v21, v24
//! ```
//!
//! [`emit`] gives names to the values. All begin with two underscores: in a pattern, the name of an item of the user's crate would mean
//! that item. The body of the generated method (`fbint show planar-pendulum --rust`):
//!
//! ```text
//! let __q_0 = __x[0];
//! let __t6oe = __q_0 * __q_0;
//! let __q_1 = __x[1];
//! let __t1t5 = __q_1.mul_add(__q_1, __t6oe);
//! let __c_4ac = self.c_4ac;
//! let __t82i = __c_4ac / __t1t5;
//! let __p_0 = __x[2];
//! let __t48h = __q_0 * __p_0;
//! let __p_1 = __x[3];
//! let __t1ic = __q_1.mul_add(__p_1, __t48h);
//! let __t9u5 = __t1ic * __t82i;
//! let __t396 = __p_0 * __c_4ac;
//! let __t9dw = (-__q_0).mul_add(__t9u5, __t396);
//! let __t50u = __p_1 * __c_4ac;
//! let __t3bx = (-__q_1).mul_add(__t9u5, __t50u);
//! let __t8xj = __p_0 * __p_0;
//! let __t8b3 = __p_1.mul_add(__p_1, __t8xj);
//! let __c_6en = self.c_6en;
//! let __t4w6 = __q_1.mul_add(__c_6en, -__t8b3);
//! let __t3sl = __t4w6 * __t82i;
//! let __t75i = __q_0 * __t3sl;
//! let __t8ou = __p_0.mul_add(__t9u5, __t75i);
//! let __c_0e4 = self.c_0e4;
//! let __t0bi = __q_1.mul_add(__t3sl, -__c_0e4);
//! let __t0x2 = __p_1.mul_add(__t9u5, __t0bi);
//! ```
//!
//! and `__t9dw`, `__t3bx`, `__t8ou`, `__t0x2` are returned. The snapshots in `tests/snapshots` hold all four forms of this model in full.

#[cfg(feature = "derive")]
pub mod algebra;
pub mod check;
pub mod compile;
pub mod derivation;
pub mod elaborate;
pub mod emit;
pub mod expression;
pub mod mechanics;
pub mod notation;
pub mod numbers;
pub mod prepared;
pub mod program;
pub mod proofs;
mod soundness;
pub mod syntax;
pub mod text;

use proc_macro2::TokenStream;

use self::prepared::BuildEnvironment;

/// The expansion of `#[feedback_system(attribute)] item` where no derivations are kept.
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    compile::feedback_system(attribute, item, &BuildEnvironment::nowhere())
}
