//! The border to Symbolica: the only file that names it.
//!
//! Symbolica is used through its public interface, for what it does best: expansion, greatest common divisors, Groebner bases. Without a
//! licence key it aborts the process when a second thread of the same user computes with it, so all algebra happens in a
//! [`session`]: one short-lived thread with a large stack, while a lock on a file shared by every process of the machine
//! is held. The thread ends before the lock is released. Only plain data ([`Expression`]) goes in and comes out; an
//! [`Expr`] lives and dies on the session's thread.
//!
//! Symbolica orders terms by the order in which symbols were first registered in the process. All symbols are therefore
//! called `v0`, `v1`, ... and registered in this order, whatever the model calls them, so that the same declaration
//! gives the same terms in the same order no matter what was compiled before it in the same process.

mod expansion;
mod lock;
mod permit;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use num_bigint::BigInt;
use num_rational::BigRational;
use symbolica::GLOBAL_SETTINGS;
use symbolica::atom::{Atom, AtomCore, AtomView};
use symbolica::coefficient::Coefficient;
use symbolica::domains::integer::Integer;
use symbolica::domains::rational::{Q, Rational, RationalField};
use symbolica::poly::groebner::GroebnerBasis;
use symbolica::poly::polynomial::MultivariatePolynomial;
use symbolica::poly::{GrevLexOrder, LexOrder, PolyVariable};

pub use self::expansion::terms_of_power;
pub use self::lock::SessionError;
use self::lock::Turn;
use crate::diagnostics::panic_text;
use crate::expression::factored::factored;
use crate::expression::{Expression, Function, Symbol};

/// The highest power of a denominator that is divided.
const HIGHEST_POWER: usize = 4;
/// Stack of the session's thread: Symbolica recurses over expressions, and unoptimised frames are large.
const STACK: usize = 256 << 20;

/// Runs `work` where [`Expr`]s may be used: on a thread of its own, one at a time on this machine.
pub fn session<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SessionError> {
    let turn = Turn::wait()?;
    permit::wait()?;
    let result = std::thread::scope(|scope| {
        let (working, is_working) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new()
            .name("fbint-algebra".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, move || {
                let _working = working;
                GLOBAL_SETTINGS.initialize_tracing.store(false, Ordering::Relaxed);
                function_symbol(Function::Abs); // registers all functions, before any model's symbols
                work()
            })
            .map_err(|error| SessionError::Unavailable(format!("no thread: {error}")))?;
        if is_working.recv_timeout(lock::SILENCE) == Err(RecvTimeoutError::Timeout) {
            lock::say(&format!("still deriving a model of `{}`", lock::this_crate()));
        }
        thread.join().map_err(|panic| SessionError::Panicked(panic_text(&*panic)))
    });
    drop(turn);
    result
}

/// An expression in the hands of the algebra. Lives only within a [`session`].
#[derive(Clone, Debug)]
pub struct Expr(Atom);

/// The algebra produced something that is no finite real expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReal;

impl Expr {
    /// Takes an expression in.
    pub fn read(expression: &Expression) -> Self {
        Self(match expression {
            Expression::Number(number) => Atom::num(rational(number)),
            Expression::Pi => Atom::var(symbolica::atom::Symbol::PI),
            Expression::Symbol(symbol) => Atom::var(state_symbol(*symbol)),
            Expression::Sum(terms) => Atom::add_many(terms.iter().map(|term| Self::read(term).0)),
            Expression::Product(factors) => Atom::mul_many(factors.iter().map(|factor| Self::read(factor).0)),
            Expression::Power(base, exponent) => Self::read(base).0.pow(Atom::num(rational(exponent))),
            Expression::Call(Function::Powf, arguments) => Self::read(&arguments[0]).0.pow(Self::read(&arguments[1]).0),
            Expression::Call(function, arguments) => {
                function_symbol(*function).call_args(arguments.iter().map(|argument| Self::read(argument).0))
            }
        })
    }

    /// Gives the expression out as plain data, with what the terms of a sum share taken out of it.
    pub fn write(&self) -> Result<Expression, NotReal> {
        write(self.0.as_view()).map(|expression| factored(&expression))
    }

    /// Zero if the expression vanishes identically, else the form with fewer operations among the present one and the
    /// expanded one. Vanishing is decided exactly for rational expressions; of others, some that vanish may be missed.
    ///
    /// What may have too many terms when it is expanded is left as it is, and so are high powers of sums.
    pub fn simplest(&self) -> Self {
        let Some(expanded) = expansion::expanded(&self.0) else { return self.clone() };
        if expanded.is_zero() || expansion::cancels(&expanded) {
            return Self(Atom::zero());
        }
        if operations(expanded.as_view()) < operations(self.0.as_view()) { Self(expanded) } else { self.clone() }
    }

    /// The expression multiplied out, if that has few enough terms and there are sines or cosines in it.
    pub fn expanded(&self) -> Option<Self> {
        let has_angles =
            [Function::Sin, Function::Cos].iter().any(|&function| self.0.contains_symbol(function_symbol(function)));
        expansion::expanded(&self.0).filter(|_| has_angles).map(Self)
    }

    /// The expression as one quotient in its lowest terms, where that takes fewer operations and is not too long to expand.
    pub fn cancelled(&self) -> Self {
        match expansion::in_lowest_terms(&self.0) {
            Some(quotient) if operations(quotient.as_view()) < operations(self.0.as_view()) => Self(quotient),
            _ => self.clone(),
        }
    }
}

type Polynomial<Order> = MultivariatePolynomial<RationalField, u16, Order>;

/// A quotient of polynomials in some variables, the first of which are eliminated first, in its lowest terms, and polynomials that vanish.
pub struct Fraction {
    numerator: Polynomial<LexOrder>,
    denominator: Polynomial<LexOrder>,
    relations: Vec<Polynomial<LexOrder>>,
}

impl Fraction {
    /// The quotient of a numerator and a denominator; `None` if the latter is 0.
    pub fn new<'a>(
        quotient: [&Expression; 2],
        relations: impl Iterator<Item = &'a Expression>,
        variables: &[Symbol],
    ) -> Option<Self> {
        // Symbolica orders terms by the registration of symbols, which must be that of the indices.
        variables.iter().max().map(|symbol| state_symbol(*symbol));
        let variables = Arc::new(variables.iter().map(|symbol| PolyVariable::from(state_symbol(*symbol))).collect());
        let polynomial = |of: &Expression| Expr::read(of).0.to_polynomial(&Q, Arc::clone(&variables));
        let [numerator, denominator] = quotient.map(polynomial);
        if denominator.is_zero() {
            return None;
        }
        let common = numerator.gcd(&denominator);
        let (numerator, denominator) = (numerator.try_div(&common)?, denominator.try_div(&common)?);
        Some(Self { numerator, denominator, relations: relations.map(polynomial).collect() })
    }

    /// Whether division of the numerator by the relations leaves nothing: a proof that it vanishes where they all do.
    pub fn vanishes_by_division(&self) -> bool {
        self.numerator.is_zero() || self.numerator.reduce(&self.relations).is_zero()
    }

    /// Whether the numerator is a combination of the relations at all, by a Groebner basis, whose remainders are unique. Where it is 1, they
    /// have no common zero.
    pub fn vanishes_by_basis(&self) -> bool {
        let relations: Vec<_> = self.relations.iter().map(|relation| relation.reorder::<GrevLexOrder>()).collect();
        let basis = GroebnerBasis::new(&relations, false);
        self.numerator.reorder::<GrevLexOrder>().reduce(&basis.system).is_zero()
    }

    /// Whether division of one of the first powers of the denominator by the relations leaves nothing.
    pub fn divides_by_zero(&self) -> bool {
        let mut power = self.denominator.clone();
        for _ in 1..HIGHEST_POWER {
            if power.is_constant() {
                return power.is_zero();
            }
            power = power.reduce(&self.relations);
            if power.is_zero() {
                return true;
            }
            power = &power * &self.denominator;
        }
        power.reduce(&self.relations).is_zero()
    }
}

fn model_symbol(symbol: symbolica::atom::Symbol) -> Option<Symbol> {
    let index = symbol.get_stripped_name().strip_prefix('v')?.parse().ok()?;
    Some(Symbol(index))
}

/// Operations of a naive evaluation, the measure by which forms are compared.
fn operations(view: AtomView<'_>) -> usize {
    match view {
        AtomView::Num(_) | AtomView::Var(_) => 0,
        AtomView::Add(sum) => sum.get_nargs() - 1 + sum.iter().map(operations).sum::<usize>(),
        AtomView::Mul(product) => product.get_nargs() - 1 + product.iter().map(operations).sum::<usize>(),
        AtomView::Pow(power) => 1 + operations(power.get_base()) + operations(power.get_exp()),
        AtomView::Fun(function) => 1 + function.iter().map(operations).sum::<usize>(),
    }
}

fn write(view: AtomView<'_>) -> Result<Expression, NotReal> {
    Ok(match view {
        AtomView::Num(number) => Expression::Number(real(&number.get_coeff_view().to_owned())?),
        AtomView::Var(variable) => {
            let symbol = variable.get_symbol();
            if symbol == symbolica::atom::Symbol::PI {
                return Ok(Expression::Pi);
            }
            Expression::Symbol(model_symbol(symbol).ok_or(NotReal)?)
        }
        AtomView::Add(sum) => Expression::sum(sum.iter().map(write).collect::<Result<Vec<_>, _>>()?),
        AtomView::Mul(product) => Expression::product(product.iter().map(write).collect::<Result<Vec<_>, _>>()?),
        AtomView::Pow(power) => {
            let (base, exponent) = (write(power.get_base())?, write(power.get_exp())?);
            match exponent.as_number() {
                Some(number) => base.power(number.clone()).map_err(|_| NotReal)?,
                None => Expression::call(Function::Powf, [base, exponent]),
            }
        }
        AtomView::Fun(call) => {
            let symbol = call.get_symbol();
            let arguments = call.iter().map(write).collect::<Result<Vec<_>, _>>()?;
            if symbol == symbolica::atom::Symbol::LOG {
                return Ok(Expression::call(Function::Ln, arguments));
            }
            let function = Function::ALL.into_iter().find(|function| function_symbol(*function) == symbol);
            Expression::call(function.ok_or(NotReal)?, arguments)
        }
    })
}

fn real(coefficient: &Coefficient) -> Result<BigRational, NotReal> {
    match coefficient {
        Coefficient::Complex(number) if number.im.is_zero() => {
            let integer = |part: &Integer| part.to_string().parse::<BigInt>().map_err(|_| NotReal);
            Ok(BigRational::new(integer(number.re.numerator_ref())?, integer(number.re.denominator_ref())?))
        }
        _ => Err(NotReal),
    }
}

fn rational(number: &BigRational) -> Rational {
    let integer = |part: &BigInt| part.to_string().parse::<Integer>().expect("decimal digits are an integer");
    Rational::from((integer(number.numer()), integer(number.denom())))
}

/// The symbol `v{index}`, registered after all smaller ones: registration order is Symbolica's order of terms.
fn state_symbol(symbol: Symbol) -> symbolica::atom::Symbol {
    static REGISTERED: Mutex<Vec<symbolica::atom::Symbol>> = Mutex::new(Vec::new());
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    while registered.len() <= symbol.0 as usize {
        let name = format!("fbint::v{}", registered.len());
        registered.push(symbolica::symbol!(name.as_str()));
    }
    registered[symbol.0 as usize]
}

/// The function that keeps its argument from being expanded with the rest.
fn kept_symbol() -> symbolica::atom::Symbol {
    static REGISTERED: OnceLock<symbolica::atom::Symbol> = OnceLock::new();
    *REGISTERED.get_or_init(|| symbolica::symbol!("fbint::kept"))
}

/// Our own symbol for each function, so that only functions come out that generated code can call.
fn function_symbol(function: Function) -> symbolica::atom::Symbol {
    static REGISTERED: OnceLock<[symbolica::atom::Symbol; Function::ALL.len()]> = OnceLock::new();
    let registered = REGISTERED.get_or_init(|| {
        Function::ALL.map(|function| {
            let name = format!("fbint::{}", function.name());
            symbolica::symbol!(name.as_str())
        })
    });
    registered[function as usize]
}
