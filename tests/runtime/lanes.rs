//! Lanes are numbers side by side: each is what `f64` gives, bit for bit, and knows nothing of its neighbours.

use fbint_runtime::{Lanes, Scalar};
use proptest::prelude::*;

type Unary<T> = fn(T) -> T;
type Binary<T> = fn(T, T) -> T;

/// Signed zeros, subnormal, huge, infinite and undefined ones among ordinary numbers.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -10.0..10.0, 1 => proptest::num::f64::ANY]
}

macro_rules! unary {
    ($($name:ident)*) => { [$((stringify!($name), Scalar::$name as Unary<Lanes<V>>, Scalar::$name as Unary<f64>)),*] };
}

fn agrees<const V: usize>(numbers: &[[f64; 3]]) {
    let lanes = |which: usize| Lanes::<V>::from_lanes(&|lane| numbers[lane % numbers.len()][which]);
    let check = |name: &str, result: Lanes<V>, expected: &dyn Fn([f64; 3]) -> f64| {
        for lane in 0..Lanes::<V>::COUNT {
            let numbers = numbers[lane % numbers.len()];
            let (result, expected) = (result.lane(lane), expected(numbers));
            // A NaN has many forms.
            let same = result.to_bits() == expected.to_bits() || result.is_nan() && expected.is_nan();
            assert!(same, "{name} of {numbers:?}: {result:e}, not {expected:e}");
        }
    };
    let (a, b, c) = (lanes(0), lanes(1), lanes(2));
    check("neg", -a, &|[a, ..]| -a);
    check("mul_add", a.mul_add(b, c), &|[a, b, c]| Scalar::mul_add(a, b, c));
    check("powi", a.powi(-3), &|[a, ..]| Scalar::powi(a, -3));
    let functions = unary!(recip sqrt abs sign sin cos tan asin acos atan sinh cosh tanh exp ln);
    for (name, of_lanes, of_one) in functions {
        check(name, of_lanes(a), &|[a, ..]| of_one(a));
    }
    let binary: [(&str, Binary<Lanes<V>>, Binary<f64>); 6] = [
        ("add", |a, b| a + b, |a, b| a + b),
        ("sub", |a, b| a - b, |a, b| a - b),
        ("mul", |a, b| a * b, |a, b| a * b),
        ("div", |a, b| a / b, |a, b| a / b),
        ("powf", Scalar::powf, Scalar::powf),
        ("atan2", Scalar::atan2, Scalar::atan2),
    ];
    for (name, of_lanes, of_one) in binary {
        check(name, of_lanes(a, b), &|[a, b, _]| of_one(a, b));
    }
}

proptest! {
    #[test]
    fn every_function_is_that_of_f64_in_every_lane(numbers in prop::collection::vec([any_number(), any_number(), any_number()], 1..24)) {
        agrees::<1>(&numbers);
        agrees::<2>(&numbers);
        agrees::<3>(&numbers);
    }
}

#[test]
fn lanes_take_a_number_for_each_and_other_numbers_the_first() {
    let number = |lane: usize| lane as f64 + 0.5;
    let lanes = Lanes::<2>::from_lanes(&number);
    assert!((0..Lanes::<2>::COUNT).all(|lane| lanes.lane(lane) == number(lane)));
    assert_eq!(<f64 as Scalar>::from_lanes(&number), 0.5);
}
