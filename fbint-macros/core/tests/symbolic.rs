//! The border to Symbolica: what goes in comes out.

use fbint_macros_core::algebra::symbolic::{Expr, session};
use fbint_macros_core::expression::{Expression, Function, Symbol};
use fbint_macros_core::mechanics::factored::factored;
use num_rational::BigRational;

fn v(index: u32) -> Expression {
    Expression::from(Symbol(index))
}

fn rational(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// Functions of v0 and v1, each smooth near (0.6, 0.3).
fn samples() -> Vec<Expression> {
    let mut samples: Vec<Expression> = Function::ALL
        .into_iter()
        .map(|function| match function {
            Function::Atan2 | Function::Powf => Expression::call(function, [v(0) + v(1), v(0) * v(1)]),
            _ => Expression::call(function, [v(0) * v(0) + v(1)]),
        })
        .collect();
    samples.push((v(0) * v(0) + v(1) * v(1)).sqrt());
    samples.push((v(0) * v(0) + v(1)).power(rational(-3, 2)).unwrap() * Expression::Pi);
    samples.push((v(0) + v(1)).power(rational(1, 3)).unwrap() * Expression::Number(rational(7, 3)));
    samples.push(v(0).divide(v(1) + Expression::integer(2)).unwrap());
    samples
}

#[test]
fn what_goes_in_comes_out() {
    for sample in samples() {
        let back = session(|| Expr::read(&sample).write().unwrap()).unwrap();
        let value = |expression: &Expression| expression.evaluate(&|symbol| [0.6, 0.3][symbol.0 as usize]);
        assert!((value(&back) - value(&sample)).abs() < 1e-15 * (1.0 + value(&sample).abs()), "{sample:?} {back:?}");
    }
}

#[test]
fn large_numbers_stay_exact() {
    let number: BigRational =
        "123456789012345678901234567890123456789/987654321098765432109876543210987".parse().unwrap();
    let expression = Expression::Number(number) * v(0);
    assert_eq!(session(|| Expr::read(&expression).write().unwrap()).unwrap(), expression);
}

#[test]
fn complex_and_infinite_results_are_refused() {
    let root_of_minus_two = Expression::integer(-2).sqrt();
    assert!(session(|| Expr::read(&root_of_minus_two).write().is_none()).unwrap());
    let zero = v(0) - v(0);
    let reciprocal = zero.power(rational(-1, 1)).unwrap();
    assert!(session(|| Expr::read(&reciprocal).write().is_none()).unwrap());
}

#[test]
fn term_order_is_that_of_the_symbols() {
    let order = |expression: Expression| session(|| Expr::read(&expression).write().unwrap()).unwrap();
    let reversed = order(v(40) + v(3) + v(20));
    assert_eq!(reversed, order(v(3) + v(20) + v(40)));
    assert_eq!(reversed, v(3) + v(20) + v(40));
}

#[test]
fn panics_of_the_work_are_errors() {
    let result: Result<(), _> = session(|| panic!("on purpose"));
    assert!(result.unwrap_err().to_string().contains("on purpose"));
}

/// Sums that become equal when their common factors are taken out are powers of one another.
#[test]
fn factoring_keeps_values() {
    let two = || Expression::integer(2);
    let sum = v(0) + v(1);
    let double = two() * v(0) + two() * v(1);
    let reciprocal = double.clone().power(rational(-1, 1)).unwrap();
    let expressions = [
        double.clone() * sum.clone() * v(0) + sum.clone() * v(1),
        double.clone() * sum.clone() * v(0) - sum.clone() * double.clone() * v(1),
        sum.clone() * reciprocal * v(0) + sum.clone() * sum.clone(),
        (double.clone() * sum + double).sqrt() * v(1),
    ];
    for expression in expressions {
        let value = |expression: &Expression| expression.evaluate(&|symbol| [0.6, 0.3][symbol.0 as usize]);
        let (before, after) = (value(&expression), value(&factored(&expression)));
        assert!((before - after).abs() < 1e-14, "{expression:?}: {before} became {after}");
    }
}
