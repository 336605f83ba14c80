//! One derivation, every number: single precision, dual numbers and SIMD lanes agree with doubles.

use fbint_runtime::tableau::{EULER, RK4};
use fbint_runtime::{Entries, FeedbackSystem, GeneratedSystem, PreparedSystem, Scalar, Vector, feedback_system};
use fbint_tests::functions::{Kind, Law};
use fbint_tests::oracle::{Declared, random_state};
use fbint_tests::{Random, relative_error, states};
use num_dual::Dual64;
use simba::simd::WideF64x4;

/// Every function of a system at one state: F, DF, X, grad V, feedback, an Euler and an RK4 step.
fn everything<S: GeneratedSystem, T: Scalar>(system: &S, x: &Vector<S, T>, law: &Law<S>) -> [Vec<T>; 7] {
    let h = T::from_f64(1e-4);
    let prepared = system.prepare();
    let system = S::gather::<T>(&|_| &prepared);
    let feedback = |x: &Vector<S, T>| system.feedback_field(x, law);
    let (mut euler, mut rk4) = (*x, *x);
    EULER.step(feedback, &mut euler, h);
    RK4.step(feedback, &mut rk4, h);
    [
        system.integrals(x).as_ref().to_vec(),
        system.integrals_jacobian(x).as_ref().iter().flat_map(|row| row.as_ref()).copied().collect(),
        system.vector_field(x).as_ref().to_vec(),
        system.potential_gradient(x, law).as_ref().to_vec(),
        feedback(x).as_ref().to_vec(),
        euler.as_ref().to_vec(),
        rk4.as_ref().to_vec(),
    ]
}

mod single_precision {
    use super::*;

    fbint_tests::test_every_kind!(agrees);

    /// To 1e-4: the rounding of 6e-8, times the condition of C, which is at most 100, times the terms of a sum.
    fn agrees<S: Declared>(system: &mut S) {
        let mut random = Random::new(5);
        for _ in 0..states(S::FACTS.name) / 10 {
            let (x, _) = random_state(system, &mut random);
            // What both are given is the same number.
            let x = Vector::<S, f32>::from_fn(|i| x[i] as f32);
            for index in 0..S::FACTS.parameter_names.len() {
                let parameter = system.parameter_mut(index).unwrap();
                *parameter = f64::from(*parameter as f32);
            }
            let law = Law::random(&mut random, Kind::Diagonal);
            let single = everything(system, &x, &law);
            let double = everything(system, &Entries::from_fn(|i| f64::from(x[i])), &law);
            for (single, double) in single.iter().zip(&double) {
                let single: Vec<f64> = single.iter().map(|&entry| f64::from(entry)).collect();
                let error = relative_error(&single, double);
                assert!(error < 1e-4, "{} at {x:?}: off by {error:e}", S::FACTS.name);
            }
        }
    }
}

mod dual_numbers {
    use super::*;

    fbint_tests::test_every_kind!(agrees);

    /// Real parts agree with doubles but for rounding (dual numbers divide by way of a reciprocal), and the derivative parts with central differences of doubles: the error of those is
    /// h^2 times third derivatives, which is up to 1e-6 where C is badly conditioned. For F they are DF times the direction.
    fn agrees<S: Declared>(system: &mut S) {
        let mut random = Random::new(6);
        for _ in 0..states(S::FACTS.name) / 10 {
            let (x, _) = random_state(system, &mut random);
            let law = Law::random(&mut random, Kind::Diagonal);
            let direction = Vector::<S>::from_fn(|_| random.between(-1.0, 1.0));
            let dual = Vector::<S, Dual64>::from_fn(|i| Dual64::new(x[i], direction[i]));
            let dual = everything(system, &dual, &law);
            let double = everything(system, &x, &law);
            let step = 1e-5;
            let [ahead, behind] =
                [step, -step].map(|step| everything(system, &Entries::from_fn(|i| x[i] + step * direction[i]), &law));
            for (index, dual) in dual.iter().enumerate() {
                let real: Vec<f64> = dual.iter().map(|entry| entry.re).collect();
                let error = relative_error(&real, &double[index]);
                assert!(error < 1e-12, "{} at {x:?}: real part of {index} off by {error:e}", S::FACTS.name);
                let derivative: Vec<f64> = dual.iter().map(|entry| entry.eps).collect();
                let pairs = ahead[index].iter().zip(&behind[index]);
                let difference: Vec<f64> = pairs.map(|(ahead, behind)| (ahead - behind) / (2.0 * step)).collect();
                let error = relative_error(&derivative, &difference);
                assert!(error < 1e-6, "{} at {x:?}: derivative of {index} off by {error:e}", S::FACTS.name);
            }
            let along: Vec<f64> = dual[0].iter().map(|entry| entry.eps).collect();
            let product = |row: &Vector<S>| row.as_ref().iter().zip(direction.as_ref()).map(|(a, b)| a * b).sum();
            let expected: Vec<f64> = system.prepare().integrals_jacobian(&x).as_ref().iter().map(product).collect();
            let error = relative_error(&along, &expected);
            assert!(error < 1e-12, "{} at {x:?}: DF off by {error:e}", S::FACTS.name);
        }
    }
}

mod lanes {
    use super::*;

    fbint_tests::test_every_kind!(agree);

    /// For + - * / and square roots there is one correctly rounded result, so that lanes and doubles are bit-identical.
    /// Elementary functions of lanes are the library's own approximations.
    fn agree<S: Declared>(system: &mut S) {
        let bitwise = S::FACTS.feedback_field_operations.functions == 0;
        let mut random = Random::new(7);
        for _ in 0..states(S::FACTS.name) / 40 {
            // The parameters of the last state hold for all four.
            let points: [Vector<S>; 4] = std::array::from_fn(|_| random_state(system, &mut random).0);
            let law = Law::random(&mut random, Kind::Diagonal);
            let lanes = Vector::<S, WideF64x4>::from_fn(|i| WideF64x4::from(points.map(|point| point[i])));
            let lanes = everything(system, &lanes, &law);
            for (lane, point) in points.iter().enumerate() {
                for (index, (lanes, double)) in lanes.iter().zip(everything(system, point, &law)).enumerate() {
                    let one: Vec<f64> = lanes.iter().map(|entry| <[f64; 4]>::from(entry.0)[lane]).collect();
                    if bitwise {
                        let bits = |entries: &[f64]| entries.iter().map(|entry| entry.to_bits()).collect::<Vec<_>>();
                        assert_eq!(
                            bits(&one),
                            bits(&double),
                            "{} at {point:?}: {index}: {one:?} {double:?}",
                            S::FACTS.name
                        );
                    } else {
                        let error = relative_error(&one, &double);
                        assert!(error < 1e-12, "{} at {point:?}: {index} off by {error:e}", S::FACTS.name);
                    }
                }
            }
        }
    }
}

mod magnitudes {
    use super::*;

    /// Two atoms: r^12 and s^12 are no numbers of single precision.
    #[feedback_system(
        coordinates(x, y),
        momenta(u, v),
        define(ratio = s / (x.powi(2) + y.powi(2)).sqrt()),
        hamiltonian = (u.powi(2) + v.powi(2)) / (2 * m) + 4 * e * (ratio.powi(12) - ratio.powi(6)),
    )]
    struct Atoms {
        s: f64,
        e: f64,
        m: f64,
    }

    /// A spring that stiffens: neither x^100 nor l^100 is a double at 2000.
    #[feedback_system(coordinates(x), momenta(u), hamiltonian = u.powi(2) / 2 + (x / l).powi(100) / 100)]
    struct Stiff {
        l: f64,
    }

    /// A spring between positions near one another and far from the origin, which are declared in another order than that of
    /// their difference.
    #[feedback_system(
        coordinates(y, s, x),
        momenta(v, r, u),
        hamiltonian = (u.powi(2) + v.powi(2) + r.powi(2) + ((x - y) - s).powi(2)) / 2,
    )]
    struct Spring {}

    #[test]
    fn forces_between_atoms_are_numbers_of_single_precision() {
        let atoms = Atoms { s: 3.4e-10, e: 1.65e-11, m: 1.0 };
        let system = atoms.prepare();
        let single = Atoms::gather::<f32>(&|_| &system);
        for distance in [0.9_f32, 1.0, 1.2, 2.0] {
            let x = [0.6 * distance * 3.4e-10, 0.8 * distance * 3.4e-10, 1e-6, -2e-6];
            let double = x.map(f64::from);
            let (single_rates, rates) = (single.vector_field(&x), system.vector_field(&double));
            let (single_energy, energy) = (single.integrals(&x), system.integrals(&double));
            let error = relative_error(&single_rates.map(f64::from), &rates);
            assert!(error < 1e-4, "{single_rates:?} instead of {rates:?}");
            assert!((f64::from(single_energy[0]) - energy[0]).abs() < 1e-4 * 1.65e-11, "{single_energy:?}, {energy:?}");
        }
    }

    #[test]
    fn high_powers_of_quotients_are_doubles() {
        let system = Stiff { l: 2000.0 }.prepare();
        assert_eq!(system.integrals(&[2000.0, 2.0]), [2.01]);
        let [rate, force] = system.vector_field(&[2000.0, 2.0]);
        assert!(rate == 2.0 && (force * 2000.0 + 1.0).abs() < 1e-12, "{rate}, {force}");
    }

    /// One unit in the last place of these positions is 0.5.
    #[test]
    fn differences_keep_their_digits() {
        let system = Spring {}.prepare();
        let single = Spring::gather::<f32>(&|_| &system);
        let x = [6_400_000.0, 12.25, 6_400_012.5, 0.0, 0.0, 0.0];
        assert_eq!(single.vector_field(&x)[3..], [0.25, 0.25, -0.25]);
        assert_eq!(single.integrals(&x), [0.031_25]);
    }
}
