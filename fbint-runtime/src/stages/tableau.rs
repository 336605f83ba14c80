//! The coefficients of the explicit Runge-Kutta methods, and the step with them.
//!
//! A method with S stages is k_i = f(x + h sum_{j<i} a_ij k_j), x += h sum_i b_i k_i (HNW II.1). The fields here do not
//! depend on time, so that the nodes c_i = sum_j a_ij are not needed.
//!
//! HNW is E. Hairer, S. P. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, 2nd ed. The coefficients of the two methods of
//! Dormand and Prince and the constants of their controllers come from its authors' codes DOPRI5 and DOP853.
//!
//! ```
//! use fbint_runtime::tableau::HEUN;
//!
//! let oscillator = |x: &[f64; 2]| [x[1], -x[0]];
//! let mut x = [1.0, 0.0];
//! for _ in 0..1000 {
//!     HEUN.step(oscillator, &mut x, 1e-3);
//! }
//! assert!((x[0] - 1.0_f64.cos()).abs() < 1e-6);
//! ```

use crate::numbers::entries::Entries;
use crate::numbers::larger::Larger;
use crate::numbers::linear::{filled, sum};
use crate::numbers::scalar::Scalar;
use crate::stages::tolerance::{mean_square, norm};
use crate::system::SystemFacts;

/// The coefficients of an explicit Runge-Kutta method with S stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tableau<const S: usize> {
    a: [[f64; S]; S],
    b: [f64; S],
    /// Whether stage i starts from x and the stage before it alone, so that its start is one fused product.
    follows: [bool; S],
    /// Whether b reads the same backwards, so that stages come in pairs of equal weight. A single stage counts as one, too.
    is_symmetric: bool,
    error: Difference<S>,
    /// The estimate where forces do not change along the motion alone: with the time, or because they switch within a step.
    error_of_switching: Difference<S>,
}

/// A difference of stages that estimates the error of a step, entry by entry: h (sum_i stages_i k_i + end f(x after the step)).
///
/// A projection takes it for the size of the error relative to other entries' errors, and so it may be of a lower order than the error
/// itself. Where all stages are equal it vanishes, exactly so for the methods of order 1, 2 and 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference<const S: usize> {
    /// The weights of the stages, in units of h.
    pub(crate) stages: [f64; S],
    /// The weight of f at the end of the step.
    pub(crate) end: f64,
}

impl<const S: usize> Difference<S> {
    /// The estimate of the error of a step of size `h`, from its stages and f where it ends.
    #[inline]
    pub(crate) fn of<V: Entries<T>, T: Scalar>(&self, stages: &[V; S], end: &V, h: T) -> V {
        self.of_stages(stages).with_end(end, h)
    }

    /// The part of the estimate that the stages have in it.
    #[inline]
    pub(crate) fn of_stages<V: Entries<T>, T: Scalar>(&self, stages: &[V; S]) -> Unfinished<V> {
        // A sum that starts from -0 starts from its first term, also in the eyes of a compiler.
        let mut sum: V = filled(T::from_f64(-0.0));
        for (k, &weight) in stages.iter().zip(&self.stages) {
            add(&mut sum, T::from_f64(1.0), weight, k);
        }
        Unfinished { sum, end: self.end }
    }
}

/// A [`Difference`] in which f at the end of the step is missing.
pub(crate) struct Unfinished<V> {
    sum: V,
    /// The weight of what is missing.
    end: f64,
}

impl<V> Unfinished<V> {
    /// The estimate of the error of a step of size `h`, with f where it ends.
    #[inline]
    pub(crate) fn with_end<T: Scalar>(mut self, end: &V, h: T) -> V
    where
        V: Entries<T>,
    {
        add(&mut self.sum, T::from_f64(1.0), self.end, end);
        // The step is multiplied last: differences of equal stages are exactly 0.
        V::from_fn(|i| h * self.sum[i])
    }
}

/// The explicit Euler method, of order 1.
pub const EULER: Tableau<1> = Tableau::new([[0.0]], [1.0], Difference { stages: [-1.0], end: 1.0 });

/// The explicit midpoint rule, of order 2 (Runge 1895).
pub const MIDPOINT: Tableau<2> =
    Tableau::new([[0.0, 0.0], [0.5, 0.0]], [0.0, 1.0], Difference { stages: [1.0, -2.0], end: 1.0 });

/// The explicit trapezoidal rule, of order 2, known as Heun's method.
pub const HEUN: Tableau<2> =
    Tableau::new([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], Difference { stages: [0.0, -1.0], end: 1.0 })
        .switching(Difference { stages: [0.125, -1.125], end: 1.0 });

/// The classical method of order 4 (Kutta 1901).
pub const RK4: Tableau<4> = Tableau::new(
    [[0.0; 4], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
    [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    Difference { stages: [0.0, 0.0, 0.0, -1.0], end: 1.0 },
)
.switching(Difference { stages: [0.125, -0.125, -0.125, -0.875], end: 1.0 });

/// Dormand and Prince's method of order 5, for fixed steps.
pub const DORMAND_PRINCE: Tableau<6> = DORMAND_PRINCE_PAIR.fixed_step();

/// Dormand and Prince's method of order 8 with 12 stages, for fixed steps.
pub const DOP853: Tableau<12> = DOP853_PAIR.fixed_step();

impl<const S: usize> Tableau<S> {
    const fn new(a: [[f64; S]; S], b: [f64; S], error: Difference<S>) -> Self {
        let mut follows = [true; S];
        let mut i = 0;
        while i < S {
            let mut j = 0;
            while j + 1 < i {
                follows[i] &= a[i][j] == 0.0;
                j += 1;
            }
            i += 1;
        }
        let mut is_symmetric = S == 1 || S.is_multiple_of(2);
        let mut i = 0;
        while i < S {
            is_symmetric &= b[i] == b[S - 1 - i];
            i += 1;
        }
        Self { a, b, follows, is_symmetric, error, error_of_switching: error }
    }

    /// This method with another estimate where forces do not change along the motion alone. The last stage is at the end of the step,
    /// as f is that it is compared with: they differ by none of what the time changes, and by little of what switches before.
    const fn switching(self, error_of_switching: Difference<S>) -> Self {
        Self { error_of_switching, ..self }
    }

    /// One step of size `h` along x' = `field`(x).
    #[inline]
    pub fn step<V: Entries<T>, T: Scalar>(&self, field: impl Fn(&V) -> V, x: &mut V, h: T) {
        let first = field(x);
        // By reference, as a projected step has it, so that both share one compilation of the stages.
        self.stages(&field, x, h, first);
    }

    /// One step of size `h` along x' = `field`(x) with f(x) = `first`; returns its stages.
    #[inline]
    pub(crate) fn stages<V: Entries<T>, T: Scalar>(
        &self,
        field: impl Fn(&V) -> V,
        x: &mut V,
        h: T,
        first: V,
    ) -> [V; S] {
        let mut latest = first;
        let mut k = [latest; S];
        macro_rules! stage {
            ($i:expr) => {
                latest = field(&self.stage($i, x, h, &k, &latest));
                k[$i] = latest;
            };
        }
        // Few stages are unrolled by hand, and stay in registers whatever the size of the field. Many are better off in memory.
        if S > 4 {
            for i in 1..S {
                stage!(i);
            }
        } else {
            if S > 1 {
                stage!(1);
            }
            if S > 2 {
                stage!(2);
            }
            if S > 3 {
                stage!(3);
            }
        }
        *x = self.end(x, h, &k, &latest);
        k
    }

    /// Where stage `i` > 0 is evaluated.
    #[inline(always)]
    fn stage<V: Entries<T>, T: Scalar>(&self, i: usize, x: &V, h: T, k: &[V; S], latest: &V) -> V {
        if self.follows[i] {
            fused(h * T::from_f64(self.a[i][i - 1]), latest, x)
        } else {
            extended(x, h, &k[..i - 1], latest, &self.a[i])
        }
    }

    /// Where the step ends.
    #[inline(always)]
    fn end<V: Entries<T>, T: Scalar>(&self, x: &V, h: T, k: &[V; S], latest: &V) -> V {
        if !self.is_symmetric {
            return extended(x, h, &k[..S.saturating_sub(1)], latest, &self.b);
        }
        // Stages of equal weight are added first, the latest last, and the outermost weight is multiplied once.
        let mut sum = k[0];
        for i in 1..S / 2 {
            let inner = V::from_fn(|entry| k[i][entry] + k[S - 1 - i][entry]);
            sum = fused(T::from_f64(self.b[i] / self.b[0]), &inner, &sum);
        }
        if S > 1 {
            sum = V::from_fn(|entry| sum[entry] + latest[entry]);
        }
        fused(h * T::from_f64(self.b[0]), &sum, x)
    }

    /// Where stage `i` is evaluated, with the rounding of a step: x + h sum_{j<i} a_ij k_j.
    pub(crate) fn point<V: Entries<T>, T: Scalar>(&self, i: usize, x: &V, h: T, k: &[V; S]) -> V {
        k[..i].last().map_or(*x, |latest| self.stage(i, x, h, k, latest))
    }

    /// Where a step ends, with its rounding: x + h sum_i b_i k_i.
    pub(crate) fn end_of<V: Entries<T>, T: Scalar>(&self, x: &V, h: T, k: &[V; S]) -> V {
        k.last().map_or(*x, |latest| self.end(x, h, k, latest))
    }

    /// h b_i w + h sum_{j>i} a_ji m_j
    pub(crate) fn transposed<V: Entries<f64>>(&self, w: &V, h: f64, i: usize, m: &[V; S]) -> V {
        let weighted = sum(&filled(0.0), h * self.b[i], w);
        let terms = m.iter().zip(&self.a).skip(i + 1).filter(|(_, row)| row[i] != 0.0);
        terms.fold(weighted, |total, (m, row)| sum(&total, h * row[i], m))
    }

    /// The estimate of the error of a step within which forces may have switched.
    pub(crate) const fn error_of_switching(&self) -> &Difference<S> {
        &self.error_of_switching
    }

    /// The estimate of the error of a step of a system.
    pub(crate) const fn error_of(&self, facts: &SystemFacts) -> &Difference<S> {
        if facts.clock.is_some() { &self.error_of_switching } else { &self.error }
    }
}

/// summand + factor v, entry by entry.
///
/// It is written in short loops that a compiler unrolls, so that a long vector, too, need not pass through memory: wide loads of entries
/// that were stored one by one wait until all have arrived there.
#[inline(always)]
fn fused<V: Entries<T>, T: Scalar>(factor: T, v: &V, summand: &V) -> V {
    const SHORT: usize = 16;
    let mut sum = *summand;
    macro_rules! add {
        ($($start:literal)*) => {$(
            if $start < V::LEN {
                for i in $start..V::LEN.min($start + SHORT) {
                    sum[i] = factor.mul_add(v[i], sum[i]);
                }
            }
        )*};
    }
    add!(0 16 32 48 64 80 96 112 128 144 160 176);
    for i in 12 * SHORT..V::LEN {
        sum[i] = factor.mul_add(v[i], sum[i]);
    }
    sum
}

/// x + h sum_j a_j k_j.
#[inline]
pub(crate) fn advanced<V: Entries<T>, T: Scalar>(x: &V, h: T, k: &[V], a: &[f64]) -> V {
    match k.split_last() {
        Some((latest, earlier)) => extended(x, h, earlier, latest, a),
        None => *x,
    }
}

/// As [`advanced`] by the `earlier` stages and the `latest`, which need not wait for its way through memory.
#[inline]
pub(crate) fn extended<V: Entries<T>, T: Scalar>(x: &V, h: T, earlier: &[V], latest: &V, a: &[f64]) -> V {
    // A sum that starts from -0 starts from its first term, also in the eyes of a compiler.
    let mut sum: V = filled(T::from_f64(-0.0));
    for (k, &a) in earlier.iter().zip(a) {
        add(&mut sum, h, a, k);
    }
    if let Some(&a) = a.get(earlier.len()) {
        add(&mut sum, h, a, latest);
    }
    V::from_fn(|i| x[i] + sum[i])
}

/// Adds h a k to a sum.
#[inline(always)]
fn add<V: Entries<T>, T: Scalar>(sum: &mut V, h: T, a: f64, k: &V) {
    if a != 0.0 {
        let factor = h * T::from_f64(a);
        for (sum, &k) in sum.as_mut().iter_mut().zip(k.as_ref()) {
            *sum = factor.mul_add(k, *sum);
        }
    }
}

/// The number of stages of the pair that has most.
pub(crate) const MOST_STAGES: usize = 16;

/// The weights of stages; where there are fewer, the last are 0.
pub(crate) type Weights = [f64; MOST_STAGES];

/// A method with error estimates and dense output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The number of stages; stages after `last` serve dense output alone.
    pub(crate) stages: usize,
    pub(crate) a: [Weights; MOST_STAGES],
    /// The stage that is f at the end of the step; its row of a is b.
    pub(crate) last: usize,
    pub(crate) error: ErrorEstimate,
    /// The contribution of the stages to the cubic Hermite polynomial, or to the chord where the method is implicit.
    pub(crate) dense: [Weights; 4],
    pub(crate) control: ControlConstants,
}

/// The estimate of a step's error from its stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ErrorEstimate {
    /// The difference to an embedded method.
    Embedded(Weights),
    /// DOP853's: a difference of order 5, damped where a second one, of order 3, is larger (HNW II.10).
    Combined { fifth: Weights, third: Weights },
    /// The last stage, as of a Rosenbrock method, whose stages are changes of the state; the first is f at the start.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "the one Rosenbrock method uses the standard library"))]
    LastStage,
}

/// The constants of the step-size control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ControlConstants {
    /// The order of a step's error, which an initial step is derived from.
    pub(crate) order: f64,
    pub(crate) response: Response,
    /// The least and the most by which one step may differ from the step before.
    pub(crate) range: (f64, f64),
}

/// The rule by which a step of error err, in units of the tolerance, changes the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Response {
    /// err^(-1/8), for which square roots are quicker than a logarithm, and the same on every machine.
    EighthRoot,
    /// err^-exponent before^beta with the error of the step before, for stabilisation (HNW2 IV.2).
    Stabilised { exponent: f64, beta: f64 },
}

impl Pair {
    /// Whether it is a Rosenbrock method.
    pub(crate) const fn is_implicit(&self) -> bool {
        matches!(self.error, ErrorEstimate::LastStage)
    }

    /// The error of a step of size `h`, entry by entry, and its norm in units of the tolerance, of a state with this number of entries. An
    /// embedded method has evaluated the last of the stages, too.
    #[inline(always)]
    pub(crate) fn error<V: Entries<T>, T: Larger>(&self, stages: &[V], h: T, weights: &V, dimension: usize) -> (V, T) {
        let zero: V = filled(T::from_f64(0.0));
        match &self.error {
            ErrorEstimate::Embedded(difference) => {
                let error = advanced(&zero, h, stages, difference);
                (error, norm(error.as_ref(), weights.as_ref(), dimension))
            }
            // e5 e5 / sqrt(e5 e5 + e3 e3 / 100), with norms e5 and e3 of the two (HNW II.10).
            ErrorEstimate::Combined { fifth, third } => {
                let stages = &stages[..self.last];
                let error = advanced(&zero, h, stages, fifth);
                let fifth = mean_square(error.as_ref(), weights.as_ref(), dimension);
                let third = advanced(&zero, h, stages, third);
                let third = mean_square(third.as_ref(), weights.as_ref(), dimension);
                (error, combined(fifth, third))
            }
            ErrorEstimate::LastStage => {
                let error = stages[self.last];
                (error, norm(error.as_ref(), weights.as_ref(), dimension))
            }
        }
    }

    const fn fixed_step<const R: usize>(&self) -> Tableau<R> {
        let error = match &self.error {
            ErrorEstimate::Embedded(difference) => Difference { stages: first(difference), end: difference[self.last] },
            ErrorEstimate::Combined { fifth, .. } => Difference { stages: first(fifth), end: 0.0 },
            ErrorEstimate::LastStage => panic!("a Rosenbrock method has no tableau of an explicit one"),
        };
        let (mut a, mut b) = ([[0.0; R]; R], [0.0; R]);
        let mut i = 0;
        while i < R {
            let mut j = 0;
            while j < i {
                a[i][j] = self.a[i][j];
                j += 1;
            }
            b[i] = self.a[self.last][i];
            i += 1;
        }
        Tableau::new(a, b, error)
    }
}

/// e5 e5 / sqrt(e5 e5 + e3 e3 / 100), of the squares of e5 and e3.
#[inline(always)]
pub(crate) fn combined<T: Larger>(fifth: T, third: T) -> T {
    let both = fifth + T::from_f64(0.01) * third;
    both.if_positive(|| fifth / both.sqrt())
}

/// The first of the weights.
const fn first<const R: usize>(weights: &Weights) -> [f64; R] {
    let mut first = [0.0; R];
    let mut i = 0;
    while i < R {
        first[i] = weights[i];
        i += 1;
    }
    first
}

/// Dormand and Prince 5(4): HNW table II.5.2, with the dense output of order 4 of DOPRI5.
pub(crate) const DORMAND_PRINCE_PAIR: Pair = Pair {
    stages: 7,
    a: table(&[
        &[],
        &[(0, 1.0 / 5.0)],
        &[(0, 3.0 / 40.0), (1, 9.0 / 40.0)],
        &[(0, 44.0 / 45.0), (1, -56.0 / 15.0), (2, 32.0 / 9.0)],
        &[(0, 19372.0 / 6561.0), (1, -25360.0 / 2187.0), (2, 64448.0 / 6561.0), (3, -212.0 / 729.0)],
        &[(0, 9017.0 / 3168.0), (1, -355.0 / 33.0), (2, 46732.0 / 5247.0), (3, 49.0 / 176.0), (4, -5103.0 / 18656.0)],
        &[(0, 35.0 / 384.0), (2, 500.0 / 1113.0), (3, 125.0 / 192.0), (4, -2187.0 / 6784.0), (5, 11.0 / 84.0)],
    ]),
    last: 6,
    error: ErrorEstimate::Embedded(row(&[
        (0, 71.0 / 57600.0),
        (2, -71.0 / 16695.0),
        (3, 71.0 / 1920.0),
        (4, -17253.0 / 339_200.0),
        (5, 22.0 / 525.0),
        (6, -1.0 / 40.0),
    ])),
    dense: table(&[
        &[
            (0, -12_715_105_075.0 / 11_282_082_432.0),
            (2, 87_487_479_700.0 / 32_700_410_799.0),
            (3, -10_690_763_975.0 / 1_880_347_072.0),
            (4, 701_980_252_875.0 / 199_316_789_632.0),
            (5, -1_453_857_185.0 / 822_651_844.0),
            (6, 69_997_945.0 / 29_380_423.0),
        ],
        &[],
        &[],
        &[],
    ]),
    control: ControlConstants {
        order: 5.0,
        response: Response::Stabilised { exponent: 0.2 - 0.75 * 0.04, beta: 0.04 },
        range: (0.2, 10.0),
    },
};

/// Dormand and Prince 8(5, 3), with the dense output of order 7: HNW II.5, II.6 and II.10, to the digits of DOP853.
#[expect(clippy::excessive_precision, reason = "as published")]
pub(crate) const DOP853_PAIR: Pair = Pair {
    stages: 16,
    a: table(&[
        &[],
        &[(0, 0.0526001519587677318785587544488)],
        &[(0, 0.0197250569845378994544595329183), (1, 0.0591751709536136983633785987549)],
        &[(0, 0.0295875854768068491816892993775), (2, 0.0887627564304205475450678981324)],
        &[
            (0, 0.241365134159266685502369798665),
            (2, -0.884549479328286085344864962717),
            (3, 0.924834003261792003115737966543),
        ],
        &[
            (0, 0.037037037037037037037037037037),
            (3, 0.170828608729473871279604482173),
            (4, 0.125467687566822425016691814123),
        ],
        &[
            (0, 0.037109375),
            (3, 0.170252211019544039314978060272),
            (4, 0.0602165389804559606850219397283),
            (5, -0.017578125),
        ],
        &[
            (0, 0.0370920001185047927108779319836),
            (3, 0.170383925712239993810214054705),
            (4, 0.107262030446373284651809199168),
            (5, -0.0153194377486244017527936158236),
            (6, 0.00827378916381402288758473766002),
        ],
        &[
            (0, 0.624110958716075717114429577812),
            (3, -3.36089262944694129406857109825),
            (4, -0.868219346841726006818189891453),
            (5, 27.5920996994467083049415600797),
            (6, 20.1540675504778934086186788979),
            (7, -43.4898841810699588477366255144),
        ],
        &[
            (0, 0.477662536438264365890433908527),
            (3, -2.48811461997166764192642586468),
            (4, -0.590290826836842996371446475743),
            (5, 21.2300514481811942347288949897),
            (6, 15.2792336328824235832596922938),
            (7, -33.2882109689848629194453265587),
            (8, -0.0203312017085086261358222928593),
        ],
        &[
            (0, -0.93714243008598732571704021658),
            (3, 5.18637242884406370830023853209),
            (4, 1.09143734899672957818500254654),
            (5, -8.14978701074692612513997267357),
            (6, -18.5200656599969598641566180701),
            (7, 22.7394870993505042818970056734),
            (8, 2.49360555267965238987089396762),
            (9, -3.0467644718982195003823669022),
        ],
        &[
            (0, 2.27331014751653820792359768449),
            (3, -10.5344954667372501984066689879),
            (4, -2.00087205822486249909675718444),
            (5, -17.9589318631187989172765950534),
            (6, 27.9488845294199600508499808837),
            (7, -2.85899827713502369474065508674),
            (8, -8.87285693353062954433549289258),
            (9, 12.3605671757943030647266201528),
            (10, 0.643392746015763530355970484046),
        ],
        DOP853_WEIGHTS,
        &[
            (0, 0.0561675022830479523392909219681),
            (6, 0.253500210216624811088794765333),
            (7, -0.246239037470802489917441475441),
            (8, -0.124191423263816360469010140626),
            (9, 0.15329179827876569731206322685),
            (10, 0.00820105229563468988491666602057),
            (11, 0.00756789766054569976138603589584),
            (12, -0.008298),
        ],
        &[
            (0, 0.0318346481635021405060768473261),
            (5, 0.0283009096723667755288322961402),
            (6, 0.0535419883074385676223797384372),
            (7, -0.0549237485713909884646569340306),
            (10, -0.000108347328697249322858509316994),
            (11, 0.000382571090835658412954920192323),
            (12, -0.000340465008687404560802977114492),
            (13, 0.141312443674632500278074618366),
        ],
        &[
            (0, -0.428896301583791923408573538692),
            (5, -4.69762141536116384314449447206),
            (6, 7.68342119606259904184240953878),
            (7, 4.06898981839711007970213554331),
            (8, 0.356727187455281109270669543021),
            (12, -0.00139902416515901462129418009734),
            (13, 2.9475147891527723389556272149),
            (14, -9.15095847217987001081870187138),
        ],
    ]),
    last: 12,
    error: ErrorEstimate::Combined {
        fifth: row(&[
            (0, 0.01312004499419488073250102996),
            (5, -1.225156446376204440720569753),
            (6, -0.4957589496572501915214079952),
            (7, 1.664377182454986536961530415),
            (8, -0.350328848749973681688648729),
            (9, 0.3341791187130174790297318841),
            (10, 0.08192320648511571246570742613),
            (11, -0.02235530786388629525884427845),
        ]),
        // b less the weights of the embedded method of order 3.
        third: difference(
            row(DOP853_WEIGHTS),
            row(&[
                (0, 0.244094488188976377952755905512),
                (8, 0.733846688281611857341361741547),
                (11, 0.0220588235294117647058823529412),
            ]),
        ),
    },
    dense: table(&[
        &[
            (0, -8.4289382761090128651353491142),
            (5, 0.5667149535193777696253178359),
            (6, -3.0689499459498916912797304727),
            (7, 2.384667656512069828772814968),
            (8, 2.1170345824450282767155149946),
            (9, -0.8713915837779729920678990749),
            (10, 2.240437430260788275854177165),
            (11, 0.6315787787694688181557024929),
            (12, -0.0889903364513333108206981174),
            (13, 18.148505520854727256656404962),
            (14, -9.1946323924783554000451984436),
            (15, -4.4360363875948939664310572),
        ],
        &[
            (0, 10.427508642579134603413151009),
            (5, 242.28349177525818288430175319),
            (6, 165.20045171727028198505394887),
            (7, -374.54675472269020279518312152),
            (8, -22.113666853125306036270938578),
            (9, 7.7334326684722638389603898808),
            (10, -30.674084731089398182061213626),
            (11, -9.3321305264302278729567221706),
            (12, 15.697238121770843886131091075),
            (13, -31.139403219565177677282850411),
            (14, -9.3529243588444783865713862664),
            (15, 35.81684148639408375246589854),
        ],
        &[
            (0, 19.985053242002433820987653617),
            (5, -387.03730874935176555105901742),
            (6, -189.17813819516756882830838328),
            (7, 527.80815920542364900561016686),
            (8, -11.573902539959630126141871134),
            (9, 6.8812326946963000169666922661),
            (10, -1.000605096691083840318386098),
            (11, 0.7777137798053443209286926574),
            (12, -2.7782057523535084065932004339),
            (13, -60.196695231264120758267380846),
            (14, 84.320405506677161018159903784),
            (15, 11.99229113618278932803513003),
        ],
        &[
            (0, -25.693933462703749003312586129),
            (5, -154.18974869023643374053993627),
            (6, -231.52937917604549567536039109),
            (7, 357.6391179106141237828534991),
            (8, 93.405324183624310003907691704),
            (9, -37.458323136451633156875139351),
            (10, 104.09964950896230045147246184),
            (11, 29.840293426660503123344363579),
            (12, -43.533456590011143754432175058),
            (13, 96.3245539591882829483949506),
            (14, -39.177261675615439165231486172),
            (15, -149.72683625798562581422125276),
        ],
    ]),
    control: ControlConstants { order: 8.0, response: Response::EighthRoot, range: (0.333, 6.0) },
};

#[expect(clippy::excessive_precision, reason = "as published")]
const DOP853_WEIGHTS: &[(usize, f64)] = &[
    (0, 0.0542937341165687622380535766363),
    (5, 4.45031289275240888144113950566),
    (6, 1.89151789931450038304281599044),
    (7, -5.8012039600105847814672114227),
    (8, 0.31116436695781989440891606237),
    (9, -0.152160949662516078556178806805),
    (10, 0.201365400804030348374776537501),
    (11, 0.0447106157277725905176885569043),
];

/// A table whose first rows are given by (column, coefficient) pairs.
pub(crate) const fn table<const R: usize, const S: usize>(rows: &[&[(usize, f64)]]) -> [[f64; S]; R] {
    let mut table = [[0.0; S]; R];
    let mut i = 0;
    while i < rows.len() {
        table[i] = row(rows[i]);
        i += 1;
    }
    table
}

pub(crate) const fn row<const S: usize>(entries: &[(usize, f64)]) -> [f64; S] {
    let mut row = [0.0; S];
    let mut entry = 0;
    while entry < entries.len() {
        let (column, coefficient) = entries[entry];
        row[column] = coefficient;
        entry += 1;
    }
    row
}

const fn difference<const S: usize>(mut a: [f64; S], b: [f64; S]) -> [f64; S] {
    let mut i = 0;
    while i < S {
        a[i] -= b[i];
        i += 1;
    }
    a
}

#[cfg(test)]
pub(crate) mod tests {
    use core::array;

    use super::*;
    use crate::DenseOutput;

    /// A rooted tree: its order, its density gamma and its subtrees, by index.
    struct Tree {
        order: usize,
        density: f64,
        subtrees: Vec<usize>,
    }

    /// All rooted trees up to an order, in order.
    fn trees(order: usize) -> Vec<Tree> {
        let mut trees = vec![];
        for order in 1..=order {
            let mut found = vec![];
            add_forests(&trees, order - 1, trees.len(), &mut vec![], &mut found);
            trees.extend(found);
        }
        trees
    }

    /// Adds the trees whose first subtrees are `chosen`, and whose other subtrees have `nodes` nodes in all and are not later than `end`.
    fn add_forests(trees: &[Tree], nodes: usize, end: usize, chosen: &mut Vec<usize>, found: &mut Vec<Tree>) {
        if nodes == 0 {
            let order = 1 + chosen.iter().map(|&i| trees[i].order).sum::<usize>();
            let density = chosen.iter().fold(order as f64, |product, &i| product * trees[i].density);
            found.push(Tree { order, density, subtrees: chosen.clone() });
        }
        for i in (0..end).filter(|&i| trees[i].order <= nodes) {
            chosen.push(i);
            add_forests(trees, nodes - trees[i].order, i + 1, chosen, found);
            chosen.pop();
        }
    }

    /// The coefficients with which a stage has those before: of a node with one subtree and with several. They differ for Rosenbrock
    /// methods alone (HW IV.7).
    pub(crate) struct Rows<'a, const S: usize> {
        pub(crate) of_one: &'a [[f64; S]; S],
        pub(crate) of_several: &'a [[f64; S]; S],
    }

    /// The largest |sum_i b_i Phi_i(t) - theta^order / gamma(t)| among the trees of each order (HNW II.2), for weights b of the
    /// point theta.
    pub(crate) fn defects_of<const S: usize>(rows: &Rows<'_, S>, b: &[f64], theta: f64, up_to: usize) -> Vec<f64> {
        let trees = trees(up_to);
        let mut weights: Vec<[f64; S]> = vec![];
        let mut defects = vec![0.0_f64; up_to + 1];
        for tree in &trees {
            let a = if tree.subtrees.len() == 1 { rows.of_one } else { rows.of_several };
            let weight = core::array::from_fn(|i| {
                let below = |&subtree: &usize| (0..S).map(|j| a[i][j] * weights[subtree][j]).sum::<f64>();
                tree.subtrees.iter().map(below).product()
            });
            weights.push(weight);
            let sum: f64 = b.iter().zip(&weight).map(|(b, weight)| b * weight).sum();
            let defect = (sum - theta.powi(tree.order as i32) / tree.density).abs();
            defects[tree.order] = defects[tree.order].max(defect);
        }
        defects.remove(0);
        defects
    }

    fn defects<const S: usize>(a: &[[f64; S]; S], b: &[f64], theta: f64, up_to: usize) -> Vec<f64> {
        defects_of(&Rows { of_one: a, of_several: a }, b, theta, up_to)
    }

    fn assert_order<const S: usize>(a: &[[f64; S]; S], b: &[f64], order: usize) {
        let defects = defects(a, b, 1.0, order + 1);
        assert!(defects[..order].iter().all(|&defect| defect < 2e-14), "order {order}: {defects:?}");
        assert!(defects[order] > 1e-7, "more than order {order}: {defects:?}");
    }

    #[test]
    fn there_are_as_many_trees_as_cayley_counted() {
        let trees = trees(8);
        let count = |order| trees.iter().filter(|tree| tree.order == order).count();
        assert!((1..=8).map(count).eq([1, 1, 2, 4, 9, 20, 48, 115]));
    }

    #[test]
    fn tableaus_satisfy_the_order_conditions_and_no_more() {
        assert_order(&EULER.a, &EULER.b, 1);
        assert_order(&MIDPOINT.a, &MIDPOINT.b, 2);
        assert_order(&HEUN.a, &HEUN.b, 2);
        assert_order(&RK4.a, &RK4.b, 4);
        assert_order(&DORMAND_PRINCE.a, &DORMAND_PRINCE.b, 5);
        assert_order(&DOP853.a, &DOP853.b, 8);
    }

    #[test]
    fn rows_sum_to_the_published_nodes() {
        let c = DORMAND_PRINCE_PAIR.a.map(|row| row.iter().sum::<f64>());
        let published = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
        assert!(c.iter().zip(published).all(|(c, published)| (c - published).abs() < 1e-14), "{c:?}");

        let c = DOP853_PAIR.a.map(|row| row.iter().sum::<f64>());
        let root = 6.0_f64.sqrt();
        let published = [
            [0.0, (12.0 - 2.0 * root) / 135.0, (6.0 - root) / 45.0, (6.0 - root) / 30.0],
            [(6.0 + root) / 30.0, 1.0 / 3.0, 1.0 / 4.0, 4.0 / 13.0],
            [127.0 / 195.0, 3.0 / 5.0, 6.0 / 7.0, 1.0],
            [1.0, 0.1, 0.2, 7.0 / 9.0],
        ];
        for (c, published) in c.iter().zip(published.as_flattened()) {
            assert!((c - published).abs() < 1e-14, "{c} against {published}");
        }
    }

    #[test]
    fn embedded_methods_have_their_orders() {
        let less = |b: &[f64], error: &[f64]| b.iter().zip(error).map(|(b, error)| b - error).collect::<Vec<_>>();
        let Pair { a, last, error: ErrorEstimate::Embedded(error), .. } = DORMAND_PRINCE_PAIR else { unreachable!() };
        assert_order(&a, &less(&a[last], &error), 4);
        let Pair { a, last, error: ErrorEstimate::Combined { fifth, third }, .. } = DOP853_PAIR else { unreachable!() };
        assert_order(&a, &less(&a[last], &fifth), 5);
        assert_order(&a, &less(&a[last], &third), 3);
    }

    #[test]
    fn dense_outputs_have_their_orders_at_every_point_of_a_step() {
        for step in 1..10 {
            let theta = f64::from(step) / 10.0;
            assert_dense_order(&DORMAND_PRINCE_PAIR, theta, 4);
            assert_dense_order(&DOP853_PAIR, theta, 7);
        }
    }

    /// Interpolates with unit vectors as stages, which gives the weights of the stages.
    fn assert_dense_order(pair: &Pair, theta: f64, order: usize) {
        let units: [Weights; MOST_STAGES] = array::from_fn(|i| array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
        let (start, stages) = ([0.0; MOST_STAGES], &units[..pair.stages]);
        let end = advanced(&start, 1.0, stages, &pair.a[pair.last]);
        let weights = DenseOutput::new(pair, 0.0, 1.0, start, &end, stages).at(theta);
        let defects = defects(&pair.a, &weights, theta, order + 1);
        assert!(defects[..order].iter().all(|&defect| defect < 1e-13), "order {order} at {theta}: {defects:?}");
        assert!(defects[order] > 1e-9, "more than order {order} at {theta}: {defects:?}");
    }
}
