//! What lanes and threads are worth: 10,000 spherical pendulums with feedback, 10,000 RK4 steps each, of which a part is timed.
//!
//! `cargo bench -p fbint-runtime --features ensemble --bench ensemble`, also with `RUSTFLAGS="-C target-cpu=native"`
//!
//! The scalar loop integrates one member after the other. All take turns, and the best of many short rounds counts, which is one
//! that nothing else disturbed. `Array` is what a compiler makes of loops over plain arrays.

use std::array;
use std::error::Error;
use std::hint::black_box;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::time::Instant;

use fbint_runtime::{Ensemble, Feedback, Gains, Lanes, Method, Scalar, Uniform, feedback_system};
use rayon::ThreadPoolBuilder;
use simba::simd::WideF64x4;

/// A point mass on a sphere of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
)]
struct SphericalPendulum {
    m: f64,
    g: f64,
    l: f64,
}

type Field<T = f64> = Feedback<SphericalPendulum, Uniform, T>;

/// Its name, its lanes, and what it takes.
type Kernel = (&'static str, usize, fn(&Field, usize) -> f64);

const PENDULUM: SphericalPendulum = SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 };
const MEMBERS: usize = 10_000;
const STEPS: usize = 10_000;
/// Members in a round of ensembles, and in one of the scalar loop.
const TIMED_MEMBERS: usize = 1000;
const TIMED_ALONE: usize = 100;
const H: f64 = 1e-3;
/// Steps in a round of kernels.
const TIMED_STEPS: usize = 100_000;
const KERNEL_ROUNDS: usize = 30;
const ENSEMBLE_ROUNDS: usize = 40;

fn main() -> Result<(), Box<dyn Error>> {
    println!("vector instructions: {}", features());
    kernels()?;
    ensembles()
}

fn features() -> &'static str {
    match (cfg!(target_feature = "avx512f"), cfg!(target_feature = "avx2"), cfg!(target_feature = "fma")) {
        (true, ..) => "AVX-512",
        (false, true, true) => "AVX2 and FMA",
        (false, true, false) => "AVX2",
        (false, false, _) => "the target's least",
    }
}

const START: [f64; 6] = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];

/// The step alone, on numbers of many kinds.
fn kernels() -> Result<(), Box<dyn Error>> {
    let field = Feedback::new(&PENDULUM, &START, Gains::uniform(1.0))?;
    let kernels: [Kernel; 11] = [
        ("f64, the scalar loop", 1, nanoseconds::<f64>),
        ("simba's WideF64x4", 4, nanoseconds::<WideF64x4>),
        ("Lanes<1>", Lanes::<1>::COUNT, nanoseconds::<Lanes<1>>),
        ("Lanes<2>", Lanes::<2>::COUNT, nanoseconds::<Lanes<2>>),
        ("Lanes<3>", Lanes::<3>::COUNT, nanoseconds::<Lanes<3>>),
        ("Lanes<4>", Lanes::<4>::COUNT, nanoseconds::<Lanes<4>>),
        ("array", 4, nanoseconds::<Array<4>>),
        ("array", 8, nanoseconds::<Array<8>>),
        ("array", 16, nanoseconds::<Array<16>>),
        ("array", 24, nanoseconds::<Array<24>>),
        ("array", 32, nanoseconds::<Array<32>>),
    ];
    let mut best = kernels.map(|_| f64::INFINITY);
    for _ in 0..KERNEL_ROUNDS {
        for (best, (_, lanes, time)) in best.iter_mut().zip(&kernels) {
            *best = best.min(time(&field, *lanes));
        }
    }
    println!("\n{:22}{:>6}{:>22}{:>10}", "numbers", "lanes", "ns per member's step", "faster");
    for (best_of_this, (name, lanes, _)) in best.iter().zip(&kernels) {
        println!("{name:22}{lanes:>6}{best_of_this:>22.2}{:>8.2} x", best[0] / best_of_this);
    }
    Ok(())
}

/// Of a step of one member, where as many as there are lanes are integrated at once.
fn nanoseconds<T: Scalar>(field: &Field, lanes: usize) -> f64 {
    let steps = TIMED_STEPS / lanes;
    let (field, mut x) = (field.cast::<T>(), black_box(START).map(T::from_f64));
    let clock = Instant::now();
    advance(&field, &mut x, black_box(T::from_f64(H)), steps);
    let time = clock.elapsed().as_nanos() as f64;
    black_box(x);
    time / (steps * lanes) as f64
}

/// A function of its own, so that its instructions can be found and counted. The state passes through memory once, which aligns
/// the stack as vectors are.
#[inline(never)]
fn advance<T: Scalar>(field: &Field<T>, x: &mut [T; 6], h: T, steps: usize) {
    *x = black_box(*x);
    for _ in 0..steps {
        field.rk4_step(x, h);
    }
}

/// Everything that an ensemble does, on one thread and on two.
fn ensembles() -> Result<(), Box<dyn Error>> {
    let starts: Vec<[f64; 6]> = (0..TIMED_MEMBERS).map(|member| turned(member as f64 * 1e-3)).collect();
    let pools = [1, 2].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build());
    let [one, two] = pools;
    let (one, two) = (one?, two?);
    let end = STEPS as f64 * H;
    let run = |interval: f64| -> Result<f64, fbint_runtime::Error> {
        let clock = Instant::now();
        let ensemble = Ensemble::new(&PENDULUM, starts.iter().copied()).gains(Gains::uniform(1.0));
        let run = ensemble.record_every(interval).run(Method::Rk4 { h: H }, end)?;
        assert_eq!(run.failures().count(), 0);
        Ok(clock.elapsed().as_secs_f64() * (MEMBERS / TIMED_MEMBERS) as f64)
    };
    let mut best = [f64::INFINITY; 4];
    for _ in 0..ENSEMBLE_ROUNDS {
        best[0] = best[0].min(scalar_loop(&starts)?);
        best[1] = best[1].min(one.install(|| run(end))?);
        best[2] = best[2].min(one.install(|| run(0.01 * end))?);
        best[3] = best[3].min(two.install(|| run(0.01 * end))?);
    }
    let [scalar, unsampled, one, two] = best;
    println!("\n{MEMBERS} members, {STEPS} steps, timed on {TIMED_MEMBERS} of them, the scalar loop on {TIMED_ALONE}");
    println!("scalar loop                            {scalar:6.2} s");
    println!("ensemble, one thread, start and end    {unsampled:6.2} s, {:.2} x as fast", scalar / unsampled);
    println!("ensemble, one thread, 100 samples      {one:6.2} s, {:.2} x as fast", scalar / one);
    println!("ensemble, two threads, 100 samples     {two:6.2} s, {:.2} x as fast as one", one / two);
    Ok(())
}

/// The start, turned about the vertical axis.
fn turned(angle: f64) -> [f64; 6] {
    let (sin, cos) = angle.sin_cos();
    [-sin, cos, 0.0, cos, sin, 1.0]
}

/// A part of the members, one after the other, in seconds for all of them.
fn scalar_loop(starts: &[[f64; 6]]) -> Result<f64, fbint_runtime::Error> {
    let clock = Instant::now();
    for start in starts.iter().take(TIMED_ALONE) {
        let field = Feedback::new(&PENDULUM, start, Gains::uniform(1.0))?;
        let mut x = *start;
        advance(&field, &mut x, H, STEPS);
        black_box(x);
    }
    Ok(clock.elapsed().as_secs_f64() * (MEMBERS / TIMED_ALONE) as f64)
}

/// Lanes in a plain array, aligned to a cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
struct Array<const L: usize>([f64; L]);

impl<const L: usize> Array<L> {
    #[inline(always)]
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Self(array::from_fn(|lane| function(self.0[lane])))
    }

    #[inline(always)]
    fn zip(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        Self(array::from_fn(|lane| function(self.0[lane], other.0[lane])))
    }
}

macro_rules! operators {
    ($($name:ident::$function:ident)*) => {
        $(impl<const L: usize> $name for Array<L> {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.zip(other, $name::$function)
            }
        })*
    };
}

operators!(Add::add Sub::sub Mul::mul Div::div);

impl<const L: usize> Neg for Array<L> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.map(Neg::neg)
    }
}

macro_rules! functions {
    ($($name:ident)*; $($of_two:ident)*) => {
        $(#[inline(always)] fn $name(self) -> Self { self.map(Scalar::$name) })*
        $(#[inline(always)] fn $of_two(self, other: Self) -> Self { self.zip(other, Scalar::$of_two) })*
    };
}

impl<const L: usize> Scalar for Array<L> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self([value; L])
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        Self(array::from_fn(|lane| Scalar::mul_add(self.0[lane], factor.0[lane], summand.0[lane])))
    }

    #[inline(always)]
    fn powi(self, exponent: i32) -> Self {
        self.map(|number| Scalar::powi(number, exponent))
    }

    functions!(recip sqrt abs sin cos tan asin acos atan sinh cosh tanh exp ln; powf atan2);
}
