//! The border to Symbolica: the only file that names it.
//!
//! Symbolica is used through its public interface, for what it does best: expansion, greatest common divisors, Groebner bases. Without a
//! licence key it aborts the process when a second thread of the same user computes with it, so all algebra happens in a
//! [`session`]: one short-lived thread with a large stack, while a lock on a file shared by every process of the user
//! is held. The thread ends before the lock is released. Only plain data ([`Expression`]) goes in and comes out; an
//! [`Expr`] lives and dies on the session's thread.
//!
//! Symbolica orders terms by the order in which symbols were first registered in the process. All symbols are therefore
//! called `v0`, `v1`, ... and registered in this order, whatever the model calls them, so that the same declaration
//! gives the same terms in the same order no matter what was compiled before it in the same process.

mod lock;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use num_bigint::BigInt;
use num_rational::BigRational;
use symbolica::GLOBAL_SETTINGS;
use symbolica::atom::{Atom, AtomCore, AtomView};
use symbolica::coefficient::Coefficient;
use symbolica::domains::integer::{Integer, IntegerRing, Z};
use symbolica::domains::rational::{Q, Rational, RationalField};
use symbolica::domains::rational_polynomial::RationalPolynomial;
use symbolica::poly::groebner::GroebnerBasis;
use symbolica::poly::polynomial::MultivariatePolynomial;
use symbolica::poly::{GrevLexOrder, LexOrder, PolyVariable};

pub use self::lock::SessionError;
use crate::expression::{Expression, Function, Symbol};
use crate::syntax::diagnostics::panic_text;

/// Stack of the session's thread: Symbolica recurses over expressions, and unoptimised frames are large.
const STACK: usize = 256 << 20;

/// Runs `work` where [`Expr`]s may be used: on a separate thread, one at a time for each user.
pub fn session<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SessionError> {
    let _turn = lock::turn()?;
    let package = std::env::var("CARGO_PKG_NAME").map_or_else(|_| String::new(), |name| format!(" of `{name}`"));
    let thread = std::thread::Builder::new().name("fbint-algebra".to_owned()).stack_size(STACK);
    let work = || {
        GLOBAL_SETTINGS.initialize_tracing.store(false, Ordering::Relaxed);
        function_symbol(Function::Abs); // registers all functions, before any model's symbols
        work()
    };
    lock::patiently(&format!("still deriving a model{package}"), || {
        std::thread::scope(|scope| {
            let no_thread = |error| SessionError::Unavailable(format!("no thread: {error}"));
            let thread = thread.spawn_scoped(scope, work).map_err(no_thread)?;
            thread.join().map_err(|panic| SessionError::Panicked(panic_text(&*panic)))
        })
    })
}

/// An expression in the hands of the algebra. Lives only within a [`session`].
#[derive(Clone, Debug)]
pub struct Expr(Atom);

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

    /// Gives the expression out as plain data. `None` where the algebra produced something that is not finite and real.
    pub fn write(&self) -> Option<Expression> {
        write(self.0.as_view())
    }

    /// The expression multiplied out, term by term: the symbols that others have slow each of them down.
    pub fn expanded(&self) -> Self {
        Self(match self.0.as_view() {
            AtomView::Add(sum) => Atom::add_many(sum.iter().map(|term| term.expand())),
            other => other.expand(),
        })
    }

    /// The expression as one quotient in its lowest terms. Nothing that vanishes may be divided by.
    pub fn in_lowest_terms(&self) -> Self {
        Self(self.0.together().cancel())
    }

    /// The numerator of the expression in its lowest terms. Nothing that vanishes may be divided by.
    pub fn numerator(&self) -> Self {
        let quotient: RationalPolynomial<IntegerRing, u16> = self.0.to_rational_polynomial(&Q, &Z, None);
        Self(quotient.numerator.to_expression())
    }
}

type Polynomial<Order> = MultivariatePolynomial<RationalField, u16, Order>;

/// A polynomial in some variables, which are eliminated in their order, and polynomials that vanish.
pub struct Dividend {
    dividend: Polynomial<LexOrder>,
    divisors: Vec<Polynomial<LexOrder>>,
}

impl Dividend {
    /// This polynomial with those.
    pub fn new(dividend: &Expression, divisors: &[Expression], variables: &[Symbol]) -> Self {
        let variables = Arc::new(variables.iter().map(|symbol| PolyVariable::from(state_symbol(*symbol))).collect());
        let polynomial = |of: &Expression| Expr::read(of).0.to_polynomial(&Q, Arc::clone(&variables));
        Self { dividend: polynomial(dividend), divisors: divisors.iter().map(polynomial).collect() }
    }

    /// Returns `true` if division leaves nothing: a proof that the polynomial vanishes where all of the others do.
    pub fn is_divided_by_all(&self) -> bool {
        self.dividend.is_zero() || self.dividend.reduce(&self.divisors).is_zero()
    }

    /// Returns `true` if the polynomial is a combination of the others at all, by a Groebner basis, whose remainders are unique. Where 1 is, they
    /// have no common zero.
    pub fn is_in_ideal(&self) -> bool {
        let divisors: Vec<_> = self.divisors.iter().map(|divisor| divisor.reorder::<GrevLexOrder>()).collect();
        let basis = GroebnerBasis::new(&divisors, false);
        self.dividend.reorder::<GrevLexOrder>().reduce(&basis.system).is_zero()
    }
}

fn write(view: AtomView<'_>) -> Option<Expression> {
    Some(match view {
        AtomView::Num(number) => Expression::Number(real(&number.get_coeff_view().to_owned())?),
        AtomView::Var(variable) => {
            let symbol = variable.get_symbol();
            if symbol == symbolica::atom::Symbol::PI {
                return Some(Expression::Pi);
            }
            Expression::Symbol(Symbol(symbol.get_stripped_name().strip_prefix('v')?.parse().ok()?))
        }
        AtomView::Add(sum) => Expression::sum(sum.iter().map(write).collect::<Option<Vec<_>>>()?),
        AtomView::Mul(product) => Expression::product(product.iter().map(write).collect::<Option<Vec<_>>>()?),
        AtomView::Pow(power) => {
            let (base, exponent) = (write(power.get_base())?, write(power.get_exp())?);
            match exponent.as_number() {
                Some(number) => base.power(number.clone()).ok()?,
                None => Expression::call(Function::Powf, [base, exponent]),
            }
        }
        AtomView::Fun(call) => {
            let symbol = call.get_symbol();
            let arguments = call.iter().map(write).collect::<Option<Vec<_>>>()?;
            if symbol == symbolica::atom::Symbol::LOG {
                return Some(Expression::call(Function::Ln, arguments));
            }
            let function = Function::ALL.into_iter().find(|function| function_symbol(*function) == symbol);
            Expression::call(function?, arguments)
        }
    })
}

fn real(coefficient: &Coefficient) -> Option<BigRational> {
    match coefficient {
        Coefficient::Complex(number) if number.im.is_zero() => {
            let integer = |part: &Integer| part.to_string().parse::<BigInt>().ok();
            Some(BigRational::new(integer(number.re.numerator_ref())?, integer(number.re.denominator_ref())?))
        }
        _ => None,
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
