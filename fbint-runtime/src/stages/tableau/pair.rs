//! Methods that estimate their errors and have dense output.

use super::{Difference, Tableau, advanced};
use crate::numbers::entries::Entries;
use crate::numbers::larger::Larger;
use crate::numbers::linear::filled;
use crate::stages::tolerance::{mean_square, norm};

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

/// Dormand and Prince's method of order 5, for fixed steps.
pub const DORMAND_PRINCE: Tableau<6> = DORMAND_PRINCE_PAIR.fixed_step();

/// Dormand and Prince's method of order 8 with 12 stages, for fixed steps.
pub const DOP853: Tableau<12> = DOP853_PAIR.fixed_step();

impl Pair {
    /// Returns `true` if it is a Rosenbrock method.
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
