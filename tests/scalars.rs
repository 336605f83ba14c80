//! One derivation, every number: single precision, dual numbers and SIMD lanes agree with doubles.
#![allow(missing_docs)]

use fbint_runtime::{FeedbackSystem, PreparedSystem, Scalar};
use fbint_tests::functions::{Applied, Kind, Law};
use fbint_tests::oracle::{Declared, random_state};
use fbint_tests::{Random, relative_error};
use nalgebra::{SMatrix, SVector};
use num_dual::Dual64;
use simba::simd::WideF64x4;

const STATES: usize = 100;

/// Every function of a system at one state: F, DF, X, grad V, feedback, an Euler and an RK4 step.
fn everything<S: FeedbackSystem<N, M>, T: Scalar, const N: usize, const M: usize>(
    system: &S,
    x: &SVector<T, N>,
    law: &Law<N, M>,
) -> [Vec<T>; 7] {
    let h = T::from_f64(1e-4);
    let (system, law) = (system.prepare(), &Applied::<false, N, M>(law));
    let (mut euler, mut rk4) = (*x, *x);
    system.euler_step(&mut euler, h, law);
    system.rk4_step(&mut rk4, h, law);
    [
        entries(&system.integrals(x)),
        entries(&system.integrals_jacobian(x)),
        entries(&system.vector_field(x)),
        entries(&system.potential_gradient(x, law)),
        entries(&system.feedback_field(x, law)),
        entries(&euler),
        entries(&rk4),
    ]
}

fn entries<T: Scalar, const R: usize, const C: usize>(matrix: &SMatrix<T, R, C>) -> Vec<T> {
    matrix.data.0.iter().flatten().copied().collect()
}

mod single_precision {
    use super::*;

    fbint_tests::test_every_system!(agrees);

    /// To 1e-4: the rounding of 6e-8, times the condition of C, which is at most 100, times the terms of a sum.
    fn agrees<S: Declared<N, M>, const N: usize, const M: usize>(system: &mut S) {
        let mut random = Random::new(5);
        for _ in 0..STATES {
            let (x, _) = random_state(system, &mut random);
            // Both get equal numbers.
            let x = x.map(|entry| entry as f32);
            for index in 0..S::PARAMETER_NAMES.len() {
                let parameter = system.parameter_mut(index).unwrap();
                *parameter = f64::from(*parameter as f32);
            }
            let law = Law::random(&mut random, Kind::Diagonal, Kind::Uniform);
            let single = everything(system, &x, &law);
            let double = everything(system, &x.map(f64::from), &law);
            for (single, double) in single.iter().zip(&double) {
                let single: Vec<f64> = single.iter().map(|&entry| f64::from(entry)).collect();
                let error = relative_error(&single, double);
                assert!(error < 1e-4, "{} at {x}: off by {error:e}", S::NAME);
            }
        }
    }
}

mod dual_numbers {
    use super::*;

    fbint_tests::test_every_system!(agrees);

    /// Real parts agree with doubles but for rounding (dual numbers divide by way of a reciprocal), and the derivative parts
    /// with central differences of doubles: the error of those is h^2 times third derivatives, which is up to 1e-6 where C is
    /// badly conditioned. For F they are DF times the direction.
    fn agrees<S: Declared<N, M>, const N: usize, const M: usize>(system: &mut S) {
        let mut random = Random::new(6);
        for _ in 0..STATES {
            let (x, _) = random_state(system, &mut random);
            let law = Law::random(&mut random, Kind::Diagonal, Kind::Uniform);
            let direction = SVector::<f64, N>::from_fn(|_, _| random.between(-1.0, 1.0));
            let dual = SVector::<Dual64, N>::from_fn(|i, _| Dual64::new(x[i], direction[i]));
            let dual = everything(system, &dual, &law);
            let double = everything(system, &x, &law);
            let step = 1e-5;
            let (ahead, behind) =
                (everything(system, &(x + direction * step), &law), everything(system, &(x - direction * step), &law));
            for (index, dual) in dual.iter().enumerate() {
                let real: Vec<f64> = dual.iter().map(|entry| entry.re).collect();
                let error = relative_error(&real, &double[index]);
                assert!(error < 1e-12, "{} at {x}: real part of {index} off by {error:e}", S::NAME);
                let derivative: Vec<f64> = dual.iter().map(|entry| entry.eps).collect();
                let pairs = ahead[index].iter().zip(&behind[index]);
                let difference: Vec<f64> = pairs.map(|(ahead, behind)| (ahead - behind) / (2.0 * step)).collect();
                let error = relative_error(&derivative, &difference);
                assert!(error < 1e-6, "{} at {x}: derivative of {index} off by {error:e}", S::NAME);
            }
            let along: Vec<f64> = dual[0].iter().map(|entry| entry.eps).collect();
            let error = relative_error(&along, (system.integrals_jacobian(&x) * direction).as_slice());
            assert!(error < 1e-12, "{} at {x}: DF off by {error:e}", S::NAME);
        }
    }
}

mod lanes {
    use super::*;

    fbint_tests::test_every_system!(agree);

    /// For + - * / and square roots there is one correctly rounded result, so that lanes and doubles are bit-identical.
    /// Elementary functions of lanes are the library's own approximations.
    fn agree<S: Declared<N, M>, const N: usize, const M: usize>(system: &mut S) {
        let bitwise = S::FEEDBACK_FIELD_OPERATIONS.functions == 0;
        let mut random = Random::new(7);
        for _ in 0..STATES / 4 {
            // The parameters of the last state hold for all four.
            let points: [SVector<f64, N>; 4] = std::array::from_fn(|_| random_state(system, &mut random).0);
            let law = Law::random(&mut random, Kind::Diagonal, Kind::Uniform);
            let lanes = SVector::from_fn(|i, _| WideF64x4::from(points.map(|point| point[i])));
            let lanes = everything(system, &lanes, &law);
            for (lane, point) in points.iter().enumerate() {
                for (index, (lanes, double)) in lanes.iter().zip(everything(system, point, &law)).enumerate() {
                    let one: Vec<f64> = lanes.iter().map(|entry| <[f64; 4]>::from(entry.0)[lane]).collect();
                    if bitwise {
                        let bits = |entries: &[f64]| entries.iter().map(|entry| entry.to_bits()).collect::<Vec<_>>();
                        assert_eq!(bits(&one), bits(&double), "{} at {point}: {index}: {one:?} {double:?}", S::NAME);
                    } else {
                        let error = relative_error(&one, &double);
                        assert!(error < 1e-12, "{} at {point}: {index} off by {error:e}", S::NAME);
                    }
                }
            }
        }
    }
}
