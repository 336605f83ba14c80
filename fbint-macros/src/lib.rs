//! The attribute `#[feedback_system]`. Use it through `fbint-runtime`, which re-exports it and which the generated code
//! calls.

use fbint_macros_core::compile;
use fbint_macros_core::prepared::BuildEnvironment;
use proc_macro::{Span, TokenStream, TokenTree};

/// Derives the equations of a constrained mechanical system and generates the code that integrates them.
///
/// Put the attribute on a struct whose fields are the model's parameters, and declare coordinates, momenta and a Hamiltonian, or velocities
/// and a Lagrangian, with constraints and first integrals. The compiler differentiates the declaration symbolically, leaves the struct
/// unchanged, and adds an implementation of `fbint_runtime::FeedbackSystem` and a state type.
///
/// ```
/// use fbint_runtime::{Method, Simulation, feedback_system};
/// use nalgebra::vector;
///
/// /// A point mass on a sphere of radius `l` under gravity.
/// #[feedback_system(
///     coordinates(q: [3]),
///     momenta(p: [3]),
///     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
///     constraint(length = q.norm_squared() - l.powi(2)),
///     invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
/// )]
/// pub struct SphericalPendulum { pub m: f64, pub g: f64, pub l: f64 }
///
/// let pendulum = SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 };
/// let start = SphericalPendulumState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] };
/// let run = Simulation::new(&pendulum, start)?.run(Method::Rk4 { h: 1e-3 }, 1.0)?;
/// assert!(run.drift().get("energy").unwrap().max < 1e-13);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// # Keys
///
/// `key = value` declares one thing and `key(name = expression, ..)` named things, which may repeat.
///
/// | key | meaning |
/// |---|---|
/// | `coordinates(x, q: [3], w: [3, 4])` | configuration coordinates: scalars, vectors, matrices |
/// | `momenta(px, p: [3], pw: [3, 4])` | the conjugate momenta, with the count, shapes and order of the coordinates |
/// | `hamiltonian = H` | the energy H(q, p); it becomes the integral `energy` |
/// | `velocities(v: [3], omega)` | velocities, instead of momenta: they move the coordinates, and the state is (q, v) |
/// | `kinematics(x = expression, ..)` | the rate of every coordinate, linear in the velocities; left out where the velocities are the rates, in the same order and shapes |
/// | `lagrangian = L` | the Lagrangian L(q, v), which may use `rate(f)`; it adds the integral `energy` = v . dL/dv - L |
/// | `state(r: [3, 3], w: [3])` | a state that is not canonical, instead of `coordinates` and `momenta` |
/// | `dynamics(r = expression, ..)` | the rate of every variable of a `state` |
/// | `poisson = J` | x' = J(x) grad H for a `state` with a `hamiltonian`; J must be antisymmetric and satisfy the Jacobi identity |
/// | `force(p = expression, ..)` | a generalised force along a momentum, or `force(v = ..)` along a velocity, of its shape |
/// | `time(t)` | the time, on which everything but `kinematics` may depend; it becomes an entry of the state |
/// | `input(u: [2], thrust = law)` | numbers at every evaluation, which forces, `dynamics` and outputs may use: from outside, or by a law, a function of the state, the time and the parameters, which `Simulation::input` replaces |
/// | `define(name = expression)` | names a scalar, vector or matrix for use in other expressions |
/// | `constraint(name = g)` | canonical or Lagrangian: holonomic constraint g(q) = 0, whose rate `name_rate` is derived unless the velocities already keep it; with `state`: an invariant set g(x) = 0 of the field |
/// | `phase_constraint(name = f)` | f(q, p) = 0, from which no rate is derived; their number must be even |
/// | `velocity_constraint(name = f)` | f = 0, linear in the velocities, or in `rate(x)`: a bare velocity is set to zero, a reaction holds anything else; `v - speed` moves |
/// | `invariant(name = expression)` | a first integral: scalar, vector or matrix |
/// | `invariant(assume name = expression)` | a first integral that algebra does not prove; also `constraint(assume name = g)` with `state` |
/// | `constraint(redundant name = expression)` | a constraint that others imply, such as the third crank of a parallelogram: it gets no reaction, which they would leave undetermined |
/// | `output(name = expression)` | an additional quantity; it may use `multiplier(constraint)` |
/// | `event(name = f, falling, reset(p = ..))` | a run finds the zeros of f, a function of the state, the time and the parameters: all of them, or the `rising` or `falling` ones, where `when = a > b && ..` holds. `terminal` ends the run there, `count = 3` at the third time, and `reset` changes variables of the state. One event a key; see [below](#events-and-drawings) |
/// | `section(name = f, rising)` | zeros that are recorded and change nothing, as in a Poincaré section |
/// | `draw(rod(a, b), point(q), ..)` | the drawing of a state: `rod`, `guide` and `face` through points, `spring` and `arrow` between two, `pivot`, `point` and `trace` at one; `circle`, `hoop` and `disk` with a centre, a radius and in space an axis; `body(centre, rotation, sides)` and `frame(origin, rotation, length)`, whose rotation is a matrix or in the plane an angle. Points are vectors of 2 or 3 |
/// | `film(centre = q, range = 2, view = vector![1, -1, 1])` | what an animation shows of the drawing: the place that stays in the middle of the picture, how far the picture goes from there to any side, and in space the direction from which it is seen at first. Without an entry, the picture has everything that moves in the run |
/// | `name` | the definition of that name, kept, restricted or computed under its own name; in constraints, `invariant` and `output` |
/// | `name[i in a..b] = expression` | a family, in constraints, `invariant`, `output`, `event` and `section`; `rod[i in a..b](..)` in `draw` |
/// | `default(m = 1, ..)` | implements `Default` for the struct, with a number, a vector or a matrix for every parameter |
/// | `start(q = vector![l, 0], ..)` | the state in which a run starts, by parameters, numbers, definitions and other entries of the start; the time begins at 0 unless it is given, as in `start(x = 1, t = -8)`, and the work always does. See `FeedbackSystem::declared_start` |
/// | `search(degree = 4)` | searches for undeclared conserved quantities: polynomials of that degree in the state and in the functions that occur |
/// | `derivatives` | generates the derivatives of the field, the integrals and the outputs, see [below](#derivatives) |
/// | `taylor` | generates the Taylor series of solutions |
/// | `crate = path` | where `fbint-runtime` is found, if it is renamed or re-exported |
///
/// Constraints of a canonical system must be second class: the matrix C of their Poisson brackets must be invertible. An unused definition
/// or parameter is an error. Equal entries of a constraint or an invariant, such as in the symmetric r^T r, are kept once and weighted by
/// their number, so that V stays the Frobenius norm.
///
/// Parameters may have any finite value, because a declaration does not say which one is a mass or a length: a negative mass runs. Where a
/// zero or an extreme value makes the start undefined, the error names the parameter.
///
/// The reaction force of a holonomic constraint g is `multiplier(name)` times dg/dq: for g = |q|^2 - l^2 the tension of the
/// rod is `-2 * l * multiplier(name)`.
///
/// A `state` with a `poisson` matrix, and definitions:
///
/// ```
/// # use fbint_runtime::{Method, Simulation, feedback_system};
/// # use nalgebra::{Vector3, vector};
/// /// A heavy top: the vertical and the angular momentum as the body sees them.
/// #[feedback_system(
///     state(vertical: [3], momentum: [3]),
///     define(rate = momentum.component_div(&inertia)),
///     poisson = stack![0, hat(vertical); hat(vertical), hat(momentum)],
///     hamiltonian = momentum.dot(&rate) / 2 + weight.dot(&vertical),
///     invariant(length = vertical.norm_squared(), vertical_momentum = vertical.dot(&momentum)),
/// )]
/// pub struct HeavyTop { pub inertia: Vector3<f64>, pub weight: Vector3<f64> }
///
/// let top = HeavyTop { inertia: vector![2.0, 2.0, 1.0], weight: vector![0.0, 0.0, 1.5] };
/// let start = HeavyTopState { vertical: vector![0.6, 0.0, 0.8], momentum: vector![0.0, 0.1, 3.0] };
/// let run = Simulation::new(&top, start)?.run(Method::Rk4 { h: 1e-3 }, 5.0)?;
/// assert!(run.drift().integrals().all(|integral| integral.max < 1e-13));
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// A `state` with `dynamics`, and a matrix as a constraint, which makes each of its entries a constraint:
///
/// ```
/// # use fbint_runtime::{Method, Simulation, feedback_system};
/// # use nalgebra::{Matrix3, Vector3, vector};
/// /// A rigid body that no force acts on: its attitude and its angular velocity.
/// #[feedback_system(
///     state(r: [3, 3], omega: [3]),
///     define(momentum = inertia.component_mul(&omega)),
///     dynamics(r = r * hat(omega), omega = momentum.cross(&omega).component_div(&inertia)),
///     constraint(orthonormality = r.transpose() * r - identity(3)),
///     invariant(spatial_momentum = r * momentum),
/// )]
/// pub struct Body { pub inertia: Vector3<f64> }
///
/// let body = Body { inertia: vector![3.0, 2.0, 1.0] };
/// let start = BodyState { r: Matrix3::identity(), omega: vector![1.0, 1.0, 1.0] };
/// let run = Simulation::new(&body, start)?.run(Method::Rk4 { h: 1e-3 }, 5.0)?;
/// assert!(run.drift().integrals().all(|integral| integral.max < 1e-13));
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// Families of constraints and of outputs, and their multipliers:
///
/// ```
/// # use fbint_runtime::{FeedbackSystem, GeneratedSystem, PreparedSystem, feedback_system};
/// # use nalgebra::SMatrix;
/// /// Four point masses on massless links. Column i of q is the position of mass i.
/// #[feedback_system(
///     coordinates(q: [3, 4]),
///     momenta(p: [3, 4]),
///     hamiltonian = (0..4).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
///     constraint(
///         anchor = q.column(0).norm_squared() - l.powi(2),
///         link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
///     ),
///     output(
///         anchor_tension = -2 * l * multiplier(anchor),
///         tension[i in 1..4] = -2 * l * multiplier(link[i]),
///     ),
/// )]
/// pub struct Chain { pub m: f64, pub g: f64, pub l: f64 }
///
/// let chain = Chain { m: 1.0, g: 9.81, l: 0.5 };
/// let hanging = SMatrix::from_fn(|row, mass| if row == 2 { -0.5 * (mass + 1) as f64 } else { 0.0 });
/// let start = ChainState { q: hanging, p: SMatrix::zeros() };
/// let tensions = chain.prepare().outputs(&start.into());
/// assert!((tensions[0] - 4.0 * 9.81).abs() < 1e-12 && (tensions[3] - 9.81).abs() < 1e-12);
/// assert_eq!(Chain::FACTS.output_names[3], "tension[3]");
/// ```
///
/// No constraint is derived from phase constraints:
///
/// ```
/// # use fbint_runtime::{GeneratedSystem, feedback_system};
/// /// A point mass on a sphere, with both constraints as a paper gives them.
/// #[feedback_system(
///     coordinates(q: [3]),
///     momenta(p: [3]),
///     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
///     phase_constraint(f1 = q.norm_squared() - l.powi(2), f2 = q.dot(&p)),
/// )]
/// pub struct SphericalPendulum { pub m: f64, pub g: f64, pub l: f64 }
///
/// let names: Vec<&str> = SphericalPendulum::FACTS.integrals.iter().map(|integral| integral.name).collect();
/// assert_eq!(names, ["f1", "f2", "energy"]);
/// ```
///
/// If your crate re-exports `fbint-runtime`, name its path:
///
/// ```
/// # mod engine { pub use fbint_runtime; }
/// # use engine::fbint_runtime::{GeneratedSystem, feedback_system};
/// /// A mass on a spring.
/// #[feedback_system(
///     coordinates(x),
///     momenta(p),
///     hamiltonian = p.powi(2) / (2 * m) + k * x.powi(2) / 2,
///     crate = crate::engine::fbint_runtime,
/// )]
/// pub struct Spring { pub m: f64, pub k: f64 }
///
/// # fn main() {
/// assert_eq!(Spring::FACTS.state.len(), 2);
/// # }
/// ```
///
/// # Velocities
///
/// A Lagrangian system has velocities xi with q' = U(q) xi. `kinematics` defines them: rates of the coordinates, quasi-velocities, or the
/// angular velocity of a body in the body's frame. The brackets of their directions, the momenta dL/dxi, the mass matrix, the equations of
/// Euler, Lagrange, Hamel and Poincare, the energy and the reactions follow. `rate(f)` is the rate of an expression of coordinates,
/// parameters and the time, of its shape: with `define(tip = vector![l * x.sin(), -l * x.cos()])` the kinetic energy of a mass at the tip is
/// `m * rate(tip).norm_squared() / 2`. `momentum(v)` is dL/dv, and `gradient(f, x)` has the partial derivatives of a scalar f by the
/// entries of a variable, of its shape. The bracket of two directions must be a combination of directions, at least where the constraints hold: bodies
/// that a rotation matrix `r` carries along may need `constraint(right_handed = r.determinant() - 1)` next to
/// `r.transpose() * r - identity(3)`, which lets `r` reflect. Constraints follow three rules:
///
/// - a velocity constraint that is one of the velocities sets it to zero: the variable leaves the state, and the constraint holds exactly.
///   It is set to zero after the variations are taken, so terms of L in it still contribute, and `multiplier(name)` is its reaction;
/// - a reaction A(q)^T lambda holds any other velocity constraint, A(q) xi + b(q, t) = 0, which is also an integral for projection and
///   feedback. Where b = 0 such reactions do no work where the constraints hold, so the energy is conserved there. A belt, a turntable and
///   anything else with a b moves, and does work: the state gains `work`, and the integral is `energy_balance`, as for [driven
///   systems](#driven-systems);
/// - a `constraint(g = ..)` that the velocities cannot leave, such as the length of a turning vector, has no reaction: the motion keeps it.
///   Any other `constraint` is holonomic, with a rate and a reaction.
///
/// A velocity needs no inertia where reactions determine it: the point where a ball touches the ground, or the angle of a link without mass.
///
/// ```
/// # use fbint_runtime::{GeneratedSystem, Method, Simulation, feedback_system};
/// /// The Chaplygin sleigh in the frame of its blade: it turns and glides, and does not slip.
/// #[feedback_system(
///     coordinates(x, y, theta),
///     velocities(omega, v, slip),
///     kinematics(
///         x = v * theta.cos() - slip * theta.sin(),
///         y = v * theta.sin() + slip * theta.cos(),
///         theta = omega,
///     ),
///     lagrangian = m * (v.powi(2) + (slip + a * omega).powi(2)) / 2 + j * omega.powi(2) / 2,
///     velocity_constraint(blade = slip),
///     output(side_force = multiplier(blade)),
/// )]
/// pub struct Sleigh { pub m: f64, pub j: f64, pub a: f64 }
///
/// let sleigh = Sleigh { m: 1.0, j: 1.0, a: 0.3 };
/// let start = SleighState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: -1.0 };
/// let run = Simulation::new(&sleigh, start)?.run(Method::DiscreteHamel { h: 0.1 }, 50.0)?;
/// // It has turned round, and goes straight ahead.
/// assert!(run.state().v > 1.0 && run.state().omega.abs() < 1e-3);
/// assert!(Sleigh::FACTS.equations.contains("[u[omega], u[v]] = u[slip]"));
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// In canonical systems a velocity constraint is written in `rate(x)`, which is dH/dp there: `velocity_constraint(blade = -theta.sin() *
/// rate(x) + theta.cos() * rate(y))`. `dynamics` gives the rates of a `state`, or they are J grad H; outputs and integrals may use them.
/// The rates of velocities and momenta follow from the equations of motion, and no declaration contains them.
///
/// # Driven systems
///
/// Forces, inputs and explicit time change the energy. The state therefore gains `work`, whose rate is the power of the drive: force times
/// velocity, dH/dt or -dL/dt for explicit time, and the power of moving constraints, -lambda . b for velocity constraints A q' + b = 0.
/// The integral is `energy_balance` = H - `work` instead of `energy`. It is conserved by construction, and projection and feedback keep it.
/// By default a projection corrects the work alone, because the balance tells little about the mechanics where forces switch;
/// `Projection::onto_balance` corrects the mechanics as well.
///
/// - A force is a covector: its entry along a momentum p adds to p', and its entry along a velocity v does work at the rate force
///   times v, whatever the coordinates. A force along a constrained velocity shows up in that constraint's reaction.
/// - With `time(t)` the time is the entry `t` of the state, with rate 1, and simulations begin at its value. Neither projection nor
///   feedback moves it. Holonomic constraints and phase constraints may depend on it: a moving pivot, a rotating hoop.
/// - With `input(..)` a type `NameInput` has a field for each input, and the state has the time, named `time` unless `time(..)` names it.
///   An input follows its law, as in `input(thrust = -k * x - d * rate(x))`, unless `Simulation::input` gives a function of time and
///   state, or a table; without a law it is 0 then. With `every = 0.01` among the inputs their laws are sampled and held, and `delay = 2`
///   delays them by two samples. Integrals may not depend on inputs.
///
/// ```
/// # use fbint_runtime::{FeedbackSystem, Method, Simulation, feedback_system};
/// # use nalgebra::vector;
/// /// A bead on a hoop that turns about its vertical diameter, with friction and a motor that pushes it.
/// #[feedback_system(
///     coordinates(q: [3]),
///     momenta(p: [3]),
///     time(t),
///     input(push: [3]),
///     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
///     constraint(sphere = q.norm_squared() - r.powi(2), plane = q[0] * (w * t).sin() - q[1] * (w * t).cos()),
///     force(p = push - c * rate(q)),
///     output(power = push.dot(&rate(q))),
/// )]
/// pub struct Hoop { pub m: f64, pub g: f64, pub r: f64, pub w: f64, pub c: f64 }
///
/// let hoop = Hoop { m: 1.0, g: 9.81, r: 1.0, w: 5.0, c: 0.1 };
/// let start = HoopState { q: vector![0.6, 0.0, -0.8], p: vector![0.0, 3.0, 0.0], t: 0.0, work: 0.0 };
/// let upwards = |t: f64, _: &HoopState| HoopInput { push: vector![0.0, 0.0, if t < 1.0 { 2.0 } else { 0.0 }] };
/// let run = Simulation::new(&hoop, start)?.input(upwards).run(Method::Rk4 { h: 1e-3 }, 2.0)?;
/// assert!(run.drift().get("energy_balance").unwrap().max < 1e-11);
/// assert!(run.drift().get("plane").unwrap().max < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// # Events and drawings
///
/// Events, sections and drawings of the declaration are part of every run, figure, animation and ensemble, in a crate, in a text and in
/// Python. An event occurs as `Simulation::event` defines it, and a `reset` gives those variables of the state that change:
///
/// ```
/// # use fbint_runtime::{Method, Simulation, feedback_system};
/// # use nalgebra::vector;
/// /// A ball that bounces three times.
/// #[feedback_system(
///     coordinates(q: [2]),
///     momenta(p: [2]),
///     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
///     event(floor = q[1] - r, falling, count = 3, reset(p = vector![p[0], -e * p[1]])),
///     section(top = p[1], falling),
///     draw(rod(vector![0, 0], vector![2, 0]), circle(q, r), trace(q)),
/// )]
/// pub struct Ball { pub m: f64, pub g: f64, pub e: f64, pub r: f64 }
///
/// let ball = Ball { m: 1.0, g: 10.0, e: 0.5, r: 0.1 };
/// let dropped = BallState { q: vector![0.0, 0.3], p: vector![1.0, 0.0] };
/// let run = Simulation::new(&ball, dropped)?.run(Method::Rk4 { h: 1e-2 }, 5.0)?;
/// let found: Vec<&str> = run.events().iter().map(|event| event.name.as_str()).collect();
/// assert_eq!(found, ["floor", "top", "floor", "top", "floor"]);
/// // It falls for 0.2 s, and flies for 0.2 s and 0.1 s.
/// assert!((run.time() - 0.5).abs() < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// # Derivatives
///
/// With the key `derivatives` a model also implements `DifferentiableSystem`: derivatives of `vector_field`, `feedback_field` with a
/// constant diagonal K, `integrals` and `outputs` with respect to every entry of the state, every parameter and every input. Each function
/// f gets `f_tangent`, which returns f and Df v for a direction v, `f_adjoint`, which returns Df^T w for weights w, and `f_derivatives`,
/// the entries of Df that do not vanish identically, whose rows and columns are listed in `F_PATTERN`. A tangent and an adjoint take about
/// three times the operations of f. `Method::Rodas5P`, for stiff systems, needs the key.
///
/// ```
/// # use fbint_runtime::{DifferentiableSystem, Direction, FeedbackSystem, feedback_system};
/// /// A point mass on a circle under gravity.
/// #[feedback_system(
///     coordinates(q: [2]),
///     momenta(p: [2]),
///     hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
///     constraint(length = q.norm_squared() - l.powi(2)),
///     output(tension = -2 * l * multiplier(length)),
///     derivatives,
/// )]
/// pub struct Pendulum { pub m: f64, pub g: f64, pub l: f64 }
///
/// // How the tension at the bottom, m g + |p|^2 / (m l), changes with the mass where the momentum is held.
/// let pendulum = Pendulum { m: 2.0, g: 9.81, l: 0.5 }.prepare();
/// let gradient = Pendulum::outputs_adjoint(&pendulum, &[0.0, -0.5, 1.0, 0.0], &[1.0]);
/// assert!((gradient.parameters[0] - (9.81 - 1.0 / (4.0 * 0.5))).abs() < 1e-12);
/// ```
///
/// `Sensitivity` differentiates whole runs with them, projections included, and `Linearisation` gives the matrices of the linear system
/// near a state; the page `guide::linearisation` of `fbint-runtime` has examples.
///
/// # Taylor series
///
/// With the key `taylor` a model also implements `TaylorSystem`, whose function `taylor_coefficients` computes the coefficients of
/// x(t) = x_0 + x_1 t + x_2 t^2 + .. up to any order. `Method::Taylor` takes its steps with them, in ensembles of small models side by side.
/// Where something in the field turns, such as `abs` or `max`, a step ends. Declared events are polynomials of each step, none of whose
/// zeros is missed. With `derivatives` besides, `Sensitivity::series` solves the variational equations by the same method.
///
/// # Parameters
///
/// The struct's fields are `f64`, `[f64; N]`, or nalgebra's `Vector1..6<f64>`, `SVector<f64, N>`, `Matrix1..6<f64>`,
/// `Matrix2x3<f64>` and so on, `SMatrix<f64, R, C>`, with numbers for sizes. The struct has no generics. A system without
/// parameters is a unit struct:
///
/// ```
/// # use fbint_runtime::{FeedbackSystem, GeneratedSystem, Method, Simulation, feedback_system};
/// /// A star in the field of a galaxy.
/// #[feedback_system(
///     coordinates(x, y),
///     momenta(px, py),
///     hamiltonian = (px.powi(2) + py.powi(2) + x.powi(2) + y.powi(2)) / 2 + x.powi(2) * y - y.powi(3) / 3,
/// )]
/// pub struct HenonHeiles;
///
/// let start = HenonHeilesState { x: 0.0, y: 0.1, px: 0.35, py: 0.0 };
/// let run = Simulation::new(&HenonHeiles, start)?.run(Method::Rk4 { h: 0.01 }, 10.0)?;
/// assert!(run.drift().get("energy").unwrap().max < 1e-14);
/// assert!(HenonHeiles::FACTS.parameter_names.is_empty());
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
///
/// # Expressions
///
/// Rust's expression syntax read as mathematics: numbers are exact (`1 / 2` is one half, `0.1` one tenth), `&` means
/// nothing, indices count from 0, matrices are stored column by column.
///
/// | | |
/// |---|---|
/// | operators | `+ - * /`, unary `-`; products of scalars, vectors and matrices wherever shapes agree |
/// | scalars | `.powi(n) .powf(x) .sqrt() .sin() .cos() .tan() .asin() .acos() .atan() .atan2(x) .sinh() .cosh() .tanh() .exp() .ln() .abs() .recip() .signum() .max(y) .min(y) .clamp(a, b)` |
/// | cases | `if x > 0 { a } else { b }`, with `< <= > >= && \|\| !`, in `force`, `dynamics` and `output` |
/// | vectors | `.dot(&v) .cross(&v) .norm() .norm_squared() .component_mul(&v) .component_div(&v) .x .y .z .w v[i]` |
/// | matrices | `.transpose() .trace() .determinant() .column(j) .row(i) m[(i, j)]` |
/// | constructors | `vector![..] matrix![..; ..] identity(n) zeros(r, c) hat(v) PI`, and `stack![a, b; c, 0]` for blocks, in which `0` is a block of zeros |
/// | mechanics | `rate(f) momentum(velocity) gradient(f, x)`, and `multiplier(constraint)` in an `output` |
/// | sums | `(a..b).map(\|i\| expression).sum()` |
///
/// `^` is refused, because Rust parses it as a loosely binding exclusive or: write `x.powi(2)`.
///
/// The derivative of `x.abs()` at 0 is 0, the mean of its values on both sides, in fields, their derivatives and `work`: a motion may cross
/// a switch such as `(t - 1).abs()` or start on it. A norm has the derivative 0 at 0 in derivatives of fields, so that drag `-v.norm() * v`
/// works from rest; in a field, an energy such as `q[0] * q.norm()` has its limit there, and one whose derivative has none, such as
/// `p.norm()`, is undefined. Declared quotients stay quotients: `v / v.abs()` is 0 / 0 at rest. Roots other than of sums of squares stay
/// roots: `x.sqrt()` has no derivative at 0.
///
/// Where `if`, `max`, `min`, `clamp` or `signum` switches, the value is the mean of both sides, and `>` means what `>=` does. Derivatives
/// belong to the branch that holds. Every branch is evaluated, so the others have to be finite, too: `if x > 0 { x.sqrt() } else { 0 }` is
/// not a number for a negative x, and `x.max(0).sqrt()` is 0. Energies, constraints, invariants and `kinematics` cannot switch, because they
/// are differentiated. A run ends a step where its field switches, `abs` included, and holds every switch on one side until then.
///
/// # What is generated
///
/// The state type `NameState` has a field of the declared shape for each coordinate and momentum, and converts from and
/// into the flat state, an array `[f64; N]` (coordinates, then momenta; last the time and the work). The constant `FACTS` describes each
/// entry of the state and each integral. `NamePrepared<T>`, which `prepare()` returns, holds the values that depend on parameters alone;
/// steps call its functions.
///
/// Names starting with `__` are reserved for generated code: no constant, static or struct next to a model may have one.
///
/// The generated functions are straight-line code without allocation, for numbers of any type `T` (`f64`, `f32`, SIMD lanes,
/// dual numbers): `vector_field` (the Dirac-extended field X, CPV22 eq. 4), `integrals` (F), `integrals_jacobian` (DF),
/// `multipliers` (c), `outputs`, `potential_gradient` (grad V), `feedback_field` (X - grad V, CPV22 eq. 6) and `projection`, the
/// Gauss-Newton step onto F = F_target. `FACTS` also has operation counts, the generated code (`source`), and the derivation
/// as text (`equations`) and as LaTeX (`derivation`). The compiler checks the generated code against a numerical evaluation of the derived
/// expressions. The module `guide` of `fbint-runtime` has pages on common tasks.
///
/// # What is proved
///
/// Before it generates code, the compiler proves that the field without feedback conserves every integral I, dI.X = 0; otherwise the
/// declaration does not compile. `FACTS.integrals` states for each where that holds and how it is known, and so do `equations`,
/// `derivation` and the documentation of the generated implementation:
///
/// - everywhere: constraints and energy of a canonical or a Lagrangian system, the energy of a Poisson system, and the balance of
///   energy and work of driven ones by construction, anything else because dI.X vanishes wherever it is defined, by algebra or at points
///   modulo primes;
/// - where the constraints hold: dI.X vanishes modulo the constraints. An example is the constraint r^T r = 1 of a free
///   rigid body, whose rate is [r^T r, hat(w)];
/// - where velocity constraints with reactions hold: the energy, by construction;
/// - a quantity that is not conserved is a compile error that shows dI.X and a state in which it does not vanish. A declared energy with a
///   wrong sign, a vector with only one entry that gravity conserves, and a constraint that is not an invariant set of its field do not
///   compile;
/// - a claim that is neither proved nor refuted is a compile error, too, unless you write `assume` before its name. Algebra decides
///   identities of rational functions, roots, absolute values, exponentials, hyperbolic functions, powers, sine and cosine of sums and
///   multiples, and these of their inverses. It does not know the signs of factors: ln(x y) is not ln(x) + ln(y), and sqrt(a b) sqrt(c d)
///   is not sqrt(a c) sqrt(b d). Where constraints hold, it takes r^T r = 1 for a rotation or a reflection, and any other constraint as an
///   equation for a variable by whose powers nothing has to be divided, or, if a reaction holds it, for a velocity, or else for a variable
///   that another one multiplies, as in q.w = 0 of a `state`. The rest is expanded and divided by the constraints, which proves much, but
///   not everything;
/// - an assumed claim is tested in some hundred states in 256 bits, far away, close to where functions change, with states and parameters
///   of both signs. A state that refutes it is a compile error. `FACTS.integrals`, `equations`, the documentation, the drift table and the
///   record of a run call it assumed.
///
/// fbint also searches for conserved quantities that you did not declare: polynomials in the state, in the functions that occur and in their
/// partners, of degree 2 at most for models with up to 24 state entries, as far as that takes little work, and of degree d for any model with
/// `search(degree = d)`: roots, reciprocals and calls count as variables, and so do their partners: the cosine of a sine, ln(y) of 1 / y,
/// and ln(x) where x is a factor of x'. `equations`, `derivation` and the documentation list the proved ones, as `invariant` takes them and
/// independent of declared integrals, and state what was excluded: "no other polynomial of degree <= 2 in q, p, for general parameters".
/// In that statement coefficients are rational in the parameters, functions of declared and listed integrals do not count, and functions
/// have only the relations that proofs use. It is wrong with a probability below 1e-8, which follows from degrees (Schwartz and Zippel; see
/// `proofs/further/exclusion.rs` of the compiler). To find a case that is special for some parameters, write them as numbers or as one
/// parameter. Where proofs cannot solve the constraints, the search covers only quantities that are conserved in all states, and says so.
/// `FACTS.undeclared` has the ones that are linear in the state, and a run lists them below its table of drifts.
///
/// Proofs hold for parameters with which every expression is defined, and for trajectories along which I is: `x.abs() / x` is conserved
/// where x is not 0, and changes where a trajectory passes 0. No proof divides by a function of parameters that may be 0: write `x - z` for
/// a set that the field keeps, not `a * (x - z)`, which is empty for a = 0.
///
/// ```
/// # use fbint_runtime::{Conservation, GeneratedSystem, feedback_system};
/// /// The rate of y vanishes where it is defined, which takes logarithms of products to see.
/// #[feedback_system(
///     state(x, y),
///     dynamics(x = a * x, y = (a * x).ln() - a.ln() - x.ln()),
///     invariant(assume height = y),
/// )]
/// pub struct Drifting { pub a: f64 }
///
/// assert_eq!(Drifting::FACTS.integrals[0].conservation, Conservation::Assumed);
/// ```
///
/// The derivation also lists the Poisson or Dirac brackets of the integrals, the rank of DF in general position with the
/// integrals that are functions of the others (Kepler's L and A satisfy L . A = 0), and the pattern of the matrix A of
/// holonomic constraints. Notes, which are not errors, name such integrals, constraints of the form `q.norm() - l`, whose squares
/// would do (a root is legal, and its multiplier is the force itself), and likely mistakes that are not proved: constraints that no state
/// was found to satisfy, a matrix C that is singular in every state that was tried, a function that is defined in none of them. The search
/// tries a few hundred states, and can miss others.
///
/// `cargo doc` shows all of this with the model's equations, at the implementation of `FeedbackSystem`.
///
/// # When something is wrong
///
/// Every mistake is a compile error at its token, and you see all mistakes of a declaration at once. The struct and an empty implementation
/// remain, so code that uses the model causes no further errors.
///
/// The compiler refuses constraints that depend on one another, everywhere or where they hold, constraints that contradict one
/// another, a constraint that never changes its sign, a constraint whose gradient vanishes where it holds (a square), and a
/// constraint that is a root, such as the `norm` of a difference: it has no derivative where it vanishes. Functions that are
/// defined in no state, such as `(-1 - q.powi(2)).ln()`, are refused as well. Each of these errors is proved by algebra; an unproved
/// suspicion is a note.
///
/// A constraint that others imply can stay if you mark it: `constraint(near = .., redundant far = ..)` for the second hinge of a door along
/// the axis. Nothing but the multiplier changes: projection holds it, consistent starts satisfy it, and its drift is recorded. A run
/// refuses a start in which its gradient is not a combination of the other gradients, and names the constraints whose reactions are not
/// determined one by one.
///
/// # Prepared derivations
///
/// A crate can keep its derivations in a folder `derivations/` next to its `Cargo.toml`, one text file for each model, which you commit and
/// review like snapshots. Others then compile the crate with algebra's results but without the feature `derive` of `fbint-runtime`.
///
/// ```sh
/// FBINT_DERIVATIONS=write cargo check --all-targets --features fbint-runtime/derive
/// ```
///
/// writes missing or outdated files, and removes the files of deleted models. In CI, `FBINT_DERIVATIONS=check` fails where that command
/// would change a file; with the feature `derive` it derives everything again. Otherwise the compiler uses a file that fits, and explains
/// in an error why it cannot use one. It writes only to packages that cargo was told to build, never to dependencies and never from an
/// editor.
///
/// A file belongs to the mathematics of a declaration: names, comments and formatting may change, and a struct may be renamed. Stored
/// derivations are never trusted: each build re-verifies them. It compares values, gradients, brackets, C and X with automatic derivatives
/// of the declaration in 256 bits, and proves conservation again at points modulo primes. Where these decide nothing, it searches for a
/// state that refutes the claim, as if the claim were assumed, and marks it as the file's word (`Evidence::Kept`):
/// `FBINT_DERIVATIONS=check` with the feature `derive` tells whether algebra proves it.
///
/// A model whose expressions unfold to more than 262,144 parts cannot be kept; a chain of 32 links has 18,416.
///
/// # Without algebra
///
/// By default exact differentiation of the declaration writes gradients, brackets and fields, and conservation is proved at points modulo
/// primes. An invariant without such a proof is an error that names it; known cases have logarithms, or more roots than the distances of a
/// few bodies. The feature `derive` of `fbint-runtime` adds computer algebra: some fields become shorter, most take as many operations, and
/// claims that numbers leave open are proved. It asks for Symbolica's licence, which is free for non-commercial use only, and one dependency
/// with the feature switches it on for every crate in the build, because Cargo unifies features.
///
/// # While compiling
///
/// With the feature `derive`, the computer-algebra system Symbolica simplifies expressions, one derivation at a time for each user: a lock
/// file serialises parallel builds. A build holds it for milliseconds, or for seconds if the model has dozens of bodies. Others wait as
/// long as the holder lives, and report that on stderr. The build also waits for other Symbolica programs run by the same user. Symbolica
/// needs a writable folder for caches: where the one below the home folder is read-only, the compile error tells you to set
/// `XDG_CACHE_HOME`. It prints a banner to stdout, where editors talk to macros: set `SYMBOLICA_HIDE_BANNER = "1"` under `[env]` in
/// `.cargo/config.toml`. LICENCES.md explains what Symbolica's licence means for you.
///
/// CPV22: D. E. Chang, M. Perlmutter, J. Vankerschaver, *Feedback Integrators for Mechanical Systems with Holonomic
/// Constraints*, Sensors 22 (2022) 6487.
#[proc_macro_attribute]
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let environment = BuildEnvironment::of_build(Span::call_site().local_file());
    compile::feedback_system(attribute.into(), item.into(), &environment).into()
}

/// [`macro@feedback_system`] for crates that depend on `fbint-command` alone, which re-exports it under that name and the runtime
/// as `runtime`.
#[proc_macro_attribute]
pub fn feedback_system_of_command(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let names_the_runtime =
        |token: TokenTree| matches!(token, TokenTree::Ident(identifier) if identifier.to_string() == "crate");
    if attribute.clone().into_iter().any(names_the_runtime) {
        return feedback_system(attribute, item);
    }
    let mut keys: TokenStream = "crate = ::fbint_command::runtime,".parse().expect("a key");
    keys.extend(attribute);
    feedback_system(keys, item)
}
