//! The sun with the inner planets, Jupiter, Saturn, Uranus, Neptune and Pluto on September 5, 1994; AU, days and masses of the sun (HLW06
//! I.2.4).

use fbint_runtime::feedback_system;

/// The sun and five planets.
#[feedback_system(
    coordinates(q: [3, 6]),
    momenta(p: [3, 6]),
    hamiltonian = (0..6).map(|i| p.column(i).norm_squared() / (2 * m[i])).sum()
        - g * (1..6).map(|i| (0..i).map(|j| m[i] * m[j] / (q.column(i) - q.column(j)).norm()).sum()).sum(),
    taylor,
)]
#[derive(Clone, Debug)]
pub(crate) struct OuterPlanets {
    /// The constant of gravitation, of Gauss.
    pub(crate) g: f64,
    /// The masses.
    pub(crate) m: [f64; 6],
}

pub(crate) const OUTER_PLANETS: OuterPlanets = OuterPlanets {
    g: 2.959_122_082_86e-4,
    m: [
        1.000_005_976_82,
        0.000_954_786_104_043,
        0.000_285_583_733_151,
        0.000_043_727_316_454_6,
        0.000_051_775_913_844_9,
        1.0 / 1.3e8,
    ],
};

/// The position and the velocity of each body.
const EPHEMERIDES: [[[f64; 3]; 2]; 6] = [
    [[0.0; 3], [0.0; 3]],
    [[-3.502_365_3, -3.816_984_7, -1.550_796_3], [0.005_654_29, -0.004_124_90, -0.001_905_89]],
    [[9.075_531_4, -3.045_835_3, -1.648_370_8], [0.001_683_18, 0.004_835_25, 0.001_924_62]],
    [[8.310_142_0, -16.290_108_6, -7.252_127_8], [0.003_541_78, 0.001_371_02, 0.000_550_29]],
    [[11.470_766_6, -25.729_482_9, -10.816_945_6], [0.002_889_30, 0.001_145_27, 0.000_396_77]],
    [[-15.538_735_7, -25.222_559_4, -3.190_238_2], [0.002_767_25, -0.001_707_02, -0.001_365_04]],
];

/// A number of a body: of its position, or with 1 for `which` of its velocity.
pub(crate) fn ephemeris(body: usize, which: usize, axis: usize) -> f64 {
    EPHEMERIDES[body][which][axis]
}

/// The state whose positions and velocities are these numbers, as [`ephemeris`] has them.
pub(crate) fn state(number: impl Fn(usize, usize, usize) -> f64) -> [f64; 36] {
    std::array::from_fn(|i| {
        let (which, body, axis) = (i / 18, i / 3 % 6, i % 3);
        let mass = if which == 0 { 1.0 } else { OUTER_PLANETS.m[body] };
        mass * number(body, which, axis)
    })
}
