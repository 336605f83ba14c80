//! Declarations that were real until random tokens were taken out, put in, exchanged, repeated, nested or replaced.
//!
//! Every input must end in a model or in messages: no panic, no hang, no overflow of a test's small stack. Inputs are made from rows of
//! random numbers, so that a failure shrinks to a short row and few mutations; the numbers are the same in every run. What each
//! thread is at stands in a file, for whoever ends a process that hangs.
//!
//! 10000 inputs go through the phases that need no algebra, or as many as `FBINT_FUZZ_INPUTS` says, and a twentieth of them through
//! the whole compiler: `FBINT_FUZZ_INPUTS=100000 FBINT_FUZZ_SEED=2 cargo test -p fbint-macros-core --features derive --test fuzz -- --nocapture`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use fbint_macros_core::compile::understood;
use fbint_macros_core::prepared::BuildEnvironment;
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{feedback_system, syntax};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};
use quote::ToTokens;

const WORKERS: u64 = 2;
/// Inputs after which long runs say how far they are.
const PROGRESS: u64 = 200_000;

#[test]
fn random_declarations_end_in_a_model_or_in_messages() {
    fuzz(inputs(), 3..16, read);
}

#[test]
fn random_declarations_expand_to_rust() {
    // With one or two mutations, so that many are models.
    fuzz(inputs() / 20, 2..9, expand);
}

fn inputs() -> u64 {
    number("FBINT_FUZZ_INPUTS", 10_000)
}

/// The number that an environment variable has.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
#[ignore = "repeats the input whose file FBINT_FUZZ_FILE names, as a process that ended without a message leaves it"]
fn one_declaration_again() {
    let file = std::env::var("FBINT_FUZZ_FILE").expect("the name of a file");
    let text = std::fs::read_to_string(file).expect("the file");
    let choices: Vec<u32> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
    let (attribute, item) = Corpus::new().input(&choices);
    eprintln!("#[feedback_system({attribute})]\n{item}");
    eprintln!("{:#?}", expand(attribute, item));
}

/// The phases that need no algebra; what they say.
fn read(attribute: TokenStream, item: TokenStream) -> Result<Vec<String>, String> {
    let errors = Errors::new();
    let mut declaration = syntax::parse(attribute, item, &errors);
    let model =
        declaration.as_mut().and_then(|declaration| understood(declaration, &errors, &BuildEnvironment::nowhere()));
    let messages = texts(errors.flush());
    match (model.is_some(), messages.is_empty()) {
        (true, false) => Err(format!("a model and messages: {messages:?}")),
        (false, true) => Err("neither a model nor a message".to_owned()),
        _ => Ok(messages),
    }
}

/// All phases. The expansion is Rust wherever the item is a type.
fn expand(attribute: TokenStream, item: TokenStream) -> Result<Vec<String>, String> {
    let errors = Errors::new();
    let is_type = syntax::parse(attribute.clone(), item.clone(), &errors).is_some();
    let _ = errors.flush();
    let messages = read(attribute.clone(), item.clone())?;
    let expansion = feedback_system(attribute, item);
    if expansion.to_string().contains("internal error") {
        return Err(format!("the compiler has found itself wrong:\n{expansion}"));
    }
    if !is_type {
        return Ok(messages);
    }
    let file: syn::File =
        syn::parse2(expansion.clone()).map_err(|error| format!("the expansion is not Rust: {error}\n{expansion}"))?;
    if !messages.is_empty() && !file.items.iter().any(is_compile_error) {
        return Err(format!("messages and no compile_error: {messages:?}"));
    }
    Ok(messages)
}

fn is_compile_error(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Macro(item) if item.mac.path.segments.last().is_some_and(|last| last.ident == "compile_error"))
}

fn texts(result: syn::Result<()>) -> Vec<String> {
    result.err().into_iter().flatten().map(|error| error.to_string()).collect()
}

thread_local! {
    /// Where this thread panicked last, and why.
    static PANIC: Cell<String> = const { Cell::new(String::new()) };
}

/// Feeds random inputs to `check` on a few threads with the stack of a test, and reports which messages came up.
fn fuzz(inputs: u64, choices: Range<usize>, check: fn(TokenStream, TokenStream) -> Result<Vec<String>, String>) {
    let seed = number("FBINT_FUZZ_SEED", 1);
    let report = Arc::new(Report::default());
    let workers = (0..WORKERS).map(|worker| {
        let choices = choices.clone();
        let (file, report) = (current_file(seed, worker), Arc::clone(&report));
        let work = move || {
            std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
            let corpus = Corpus::new();
            let config = Config {
                cases: u32::try_from(inputs / WORKERS).expect("fewer than 2^32 inputs"),
                failure_persistence: None,
                rng_seed: RngSeed::Fixed(seed * WORKERS + worker),
                max_shrink_iters: 2_000,
                ..Config::default()
            };
            let test = |choices: Vec<u32>| corpus.check(&choices, &file, &report, check);
            let result = TestRunner::new(config).run(&prop::collection::vec(any::<u32>(), choices), test);
            let _ = std::fs::remove_file(&file);
            result
        };
        thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread")
    });
    let workers: Vec<_> = workers.collect();
    let results: Vec<_> = workers.into_iter().map(|worker| worker.join().expect("proptest catches panics")).collect();
    let _ = std::panic::take_hook();
    for result in results {
        assert!(result.is_ok(), "{}", result.unwrap_err());
    }
    report.print();
}

/// The file with the input that a worker is at: for whoever looks for what has overflown the stack, or hangs.
fn current_file(seed: u64, worker: u64) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{}-{seed}-{worker}", std::process::id()))
}

/// What came out.
#[derive(Default)]
struct Report {
    inputs: AtomicU64,
    models: AtomicU64,
    messages: Mutex<BTreeSet<String>>,
}

impl Report {
    fn count(&self, messages: &[String]) {
        let inputs = 1 + self.inputs.fetch_add(1, Ordering::Relaxed);
        if inputs.is_multiple_of(PROGRESS) {
            eprintln!("{inputs} inputs");
        }
        self.models.fetch_add(u64::from(messages.is_empty()), Ordering::Relaxed);
        let mut known = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(messages.iter().map(|message| kind(message)));
    }

    fn print(&self) {
        let reached = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let expected = expected_kinds();
        let missed: Vec<&String> = expected.difference(&reached).collect();
        eprintln!(
            "{} inputs, {} of them models; {} kinds of messages, among them {} of the {} of the tables of mistakes",
            self.inputs.load(Ordering::Relaxed),
            self.models.load(Ordering::Relaxed),
            reached.len(),
            expected.len() - missed.len(),
            expected.len(),
        );
        if std::env::var_os("FBINT_FUZZ_MISSED").is_some() {
            missed.iter().for_each(|message| eprintln!("missed: {message}"));
        }
    }
}

/// A message without what it quotes and counts.
fn kind(message: &str) -> String {
    let mut kind = String::new();
    for (index, part) in message.split('`').enumerate() {
        if index % 2 == 1 {
            kind.push('_');
            continue;
        }
        let mut digits = false;
        for character in part.chars() {
            if !character.is_ascii_digit() {
                kind.push(character);
            } else if !digits {
                kind.push('0');
            }
            digits = character.is_ascii_digit();
        }
    }
    kind
}

/// The tables of mistakes with the messages that they get.
const MISTAKES: [&str; 4] = [
    include_str!("mistakes/entries.rs"),
    include_str!("mistakes/expressions.rs"),
    include_str!("mistakes/habits.rs"),
    include_str!("mistakes/systems.rs"),
];

/// The kinds of the messages that these tables expect.
fn expected_kinds() -> BTreeSet<String> {
    struct Messages(BTreeSet<String>);
    impl<'ast> syn::visit::Visit<'ast> for Messages {
        fn visit_expr_tuple(&mut self, tuple: &'ast syn::ExprTuple) {
            if let Some(syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(message), .. })) = tuple.elems.get(2) {
                self.0.insert(kind(&message.value()));
            }
        }
    }
    let mut messages = Messages(BTreeSet::new());
    for table in MISTAKES {
        syn::visit::visit_file(&mut messages, &syn::parse_file(table).expect("Rust"));
    }
    messages.0
}

/// Declarations, and tokens to spoil them with.
struct Corpus {
    short: Vec<(TokenStream, TokenStream)>,
    real: Vec<(TokenStream, TokenStream)>,
    words: Vec<TokenStream>,
}

const SOURCES: [&str; 9] = [
    include_str!("../../../models/src/spherical_pendulum.rs"),
    include_str!("../../../models/src/planar_pendulum.rs"),
    include_str!("../../../models/src/four_bar.rs"),
    include_str!("../../../models/src/free_rigid_body.rs"),
    include_str!("../../../models/src/euler_top.rs"),
    include_str!("../../../models/src/kepler.rs"),
    include_str!("../../../models/src/perturbed_kepler.rs"),
    include_str!("../../../tests/systems.rs"),
    include_str!("../../../tests/velocities/systems.rs"),
];

/// Short declarations, so that a mutation often hits what matters. Each attribute is followed by its item.
const SHORT: [[&str; 2]; 12] = [
    [
        "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
        constraint(length = q.norm_squared() - l.powi(2)), output(tension = -2 * l * multiplier(length))",
        "struct S { m: f64, g: f64, l: f64 }",
    ],
    [
        "state(r: [3], w: [3]), define(h = a.component_mul(&w)), dynamics(r = r.cross(&w), w = h.cross(&w)),
        constraint(unit = r.norm() - 1), invariant(e = w.dot(&h), s = h.norm())",
        "struct S { a: Vector3<f64> }",
    ],
    [
        "state(x: [3]), poisson = hat(x), hamiltonian = x.dot(&x.component_div(&a)) / 2, invariant(c = x.norm_squared())",
        "struct S { a: [f64; 3] }",
    ],
    [
        "coordinates(q: [2, 2]), momenta(p: [2, 2]), hamiltonian = (0..2).map(|i| p.column(i).norm_squared() / m).sum(),
        constraint(rod[i in 0..2] = q.column(i).norm_squared() - (i + 1)), output(t[i in 0..2] = multiplier(rod[i]))",
        "struct S { m: f64 }",
    ],
    [
        "coordinates(a, b), momenta(pa, pb), hamiltonian = pa.powi(2) / 2 + pb.powi(2) * (2 + a.sin()) + b.atan2(a + k),
        phase_constraint(f = a - b.tanh() / 2, h = pa - pb * b.cos().exp())",
        "struct S { k: f64 }",
    ],
    [
        "coordinates(q: [2]), momenta(p: [2]), define(w = vector![q[1], -q[0]], n = s.transpose() * s + identity(2)),
        hamiltonian = p.dot(&(n * p)) / 2 + w.dot(&q) + n.trace() + matrix![1, q[0]; q[1], 2].determinant()",
        "struct S { s: Matrix2<f64> }",
    ],
    [
        "coordinates(x: [1], y), momenta(u: [1], v), hamiltonian = u[0].powi(2) + v.powi(2) + (y / c).powf(3 / 2).abs(),
        constraint(g = x.x + y * y.sqrt().ln() - e[(0, 1)])",
        "struct S { c: f64, e: SMatrix<f64, 1, 2> }",
    ],
    [
        "coordinates(x, y), velocities(v, w), kinematics(x = v - y * w, y = w), lagrangian = m * rate(x).powi(2) + w.powi(2) - y,
        velocity_constraint(c = v), invariant(k = momentum(w)), output(f = multiplier(c))",
        "struct S { m: f64 }",
    ],
    [
        "coordinates(q: [2]), velocities(v: [2]), lagrangian = m * v.norm_squared() / 2 - q[1],
        constraint(rod = q.norm_squared() - 1), output(f = multiplier(rod), e = rate(q))",
        "struct S { m: f64 }",
    ],
    [
        "coordinates(q: [2], a), velocities(v: [2], b), lagrangian = v.norm_squared() + b.powi(2) * (2 + a.sin()),
        velocity_constraint(c[i in 0..1] = v[i] - q[i] * b, d = rate(a) - v[1])",
        "struct S {}",
    ],
    [
        "coordinates(x, y), momenta(p, r), hamiltonian = p.powi(2) / m + r.powi(2) + x, velocity_constraint(c = rate(x) - y * rate(y)),
        output(f = multiplier(c))",
        "struct S { m: f64 }",
    ],
    [
        "crate = fbint_runtime, state(x), dynamics(x = k * x.recip() + PI * 0.5), output(o = x.asin().sinh())",
        "pub(crate) struct S { pub k: f64 }",
    ],
];

/// Pieces of the language, of Rust at large, and of neither. One to a line.
const WORDS: &str = r####"
q p x m l r omega a b i energy length E PI self Self _ r#type r#q été Δ 变量 q_0 t0 y_0 T x_rate
coordinates momenta state poisson dynamics hamiltonian define constraint phase_constraint invariant output
velocities kinematics lagrangian velocity_constraint rate momentum v w rate(q) rate(x) momentum(v) velocities(v:[3])
kinematics(q=v) kinematics(x=v) lagrangian=v.norm_squared() velocity_constraint(c=v) velocity_constraint(c=rate(q))
multiplier vector matrix identity zeros hat in as sin cos sqrt powi powf norm dot cross map sum product column row
f64 f32 Vector3 Matrix2 SVector SMatrix DVector Vec struct enum union pub crate super where const static mut ref fn
if else match loop while for return break continue let async await move unsafe dyn impl type use mod trait yield box
0 1 2 3 7 0.1 1.5 64 100 9999 10000 10001 1e300 1e-300 1e400 1e999999999 0x10 1_000 1f32 2usize 4294967296
18446744073709551616 99999999999999999999999999999999999999999999999999 0b11 1. 007
+ - * / % ^ & && || ! = == += < > <= => -> .. ..= ... . , ; : :: ? @ # $ | 'a '_ 'static
"text" r#"raw "text""# b"bytes" c"text" 'c' b'c' "\u{202e}"
(q) [3] [2, 2] [0] [-1] [3;] {q} () [] {} (q, p) (q: [3]) (q = p) (i in 0..3) [i in 0..3] [(0, 1)]
.sin() .norm() .powi(2) .powi(1024) .powi(-1000000) .powf(1/3) .x .w .0 .column(0) .dot(&p) ::<f64>() .await
(0..3).map(|i|q[i]).sum() (0..10000).map(|i|i*q[0]).sum() (0..=3) (3..0) (0..0).map(|i|i).product() |i|i ||0
vector![q,1] vector![] matrix![1,2;3] matrix![;] identity(3) identity(0) zeros(100,100) zeros(10000,1) hat(q)
multiplier(length) multiplier(link[0]) multiplier() println!("x") vec![1] include!("x") {let_x=1;x} unsafe{q} loop{}
if(q){p}else{q} match(q){_=>p} q as f64 q=p &mut(q) *q !q -q (q..) [q;3] S{q} <f64>::MAX std::f64::consts::PI a.b.c
coordinates(q:[3]) momenta(p:[3]) state(x:[3]) poisson=hat(x) hamiltonian=p.norm_squared() dynamics(x=x)
constraint(c=q[0]) constraint(c[i in 0..3]=q[i]) constraint(c[i in 0..10000]=q[0]) invariant(c=p) output(o=q)
coordinates(q:[100,100]) coordinates(q:[10001]) coordinates(q:[99999999999999999999]) define(d=d) define(d=q,e=d)
#[cfg(x)] #[doc="x"] #[feedback_system] pub(crate) <T> <'a> <const(N):usize> [f64;3] [f64;0] [f64;N] [[f64;2];2] (f64,f64)
"####;

impl Corpus {
    fn new() -> Self {
        let real = SOURCES.into_iter().flat_map(|text| syn::parse_file(text).expect("Rust").items);
        let real = real.filter_map(|item| {
            let syn::Item::Struct(mut item) = item else { return None };
            let index = item.attrs.iter().position(|attribute| attribute.path().is_ident("feedback_system"))?;
            let attribute = item.attrs.remove(index).meta.require_list().ok()?.tokens.clone();
            Some((attribute, quote::quote!(#item)))
        });
        let words = WORDS.split_whitespace().filter_map(|word| word.parse().ok());
        let lines = WORDS.lines().filter_map(|line| line.parse().ok());
        let short = SHORT.map(|pair| pair.map(|text| text.parse::<TokenStream>().expect("tokens")));
        let short = short.into_iter().map(|[attribute, item]| (attribute, item));
        Self { short: short.collect(), real: real.collect(), words: words.chain(lines).collect() }
    }

    fn check(
        &self,
        choices: &[u32],
        file: &Path,
        report: &Report,
        check: fn(TokenStream, TokenStream) -> Result<Vec<String>, String>,
    ) -> TestCaseResult {
        let text: Vec<String> = choices.iter().map(u32::to_string).collect();
        std::fs::write(file, text.join(" ")).expect("a folder to write to");
        let (attribute, item) = self.input(choices);
        let (copy, item_copy) = (attribute.clone(), item.clone());
        let result = catch_unwind(AssertUnwindSafe(|| check(copy, item_copy)));
        let result = result.unwrap_or_else(|_| Err(PANIC.take()));
        match result {
            Ok(messages) => {
                report.count(&messages);
                Ok(())
            }
            Err(error) => Err(TestCaseError::fail(format!("{error}\n#[feedback_system({attribute})]\n{item}"))),
        }
    }

    /// A declaration with as many mutations as there are choices for.
    fn input(&self, choices: &[u32]) -> (TokenStream, TokenStream) {
        let mut choices = Choices(choices.iter());
        let (mut attribute, mut item) = self.declaration(&mut choices).clone();
        while !choices.0.as_slice().is_empty() {
            if choices.pick(8) == 0 {
                item = self.mutate(item, &mut choices);
            } else {
                attribute = self.mutate(attribute, &mut choices);
            }
        }
        (attribute, item)
    }

    /// The tokens with one mutation somewhere in them.
    fn mutate(&self, tokens: TokenStream, choices: &mut Choices) -> TokenStream {
        let place = choices.pick(size(&tokens) + 1);
        let mut mutation = Mutation { corpus: self, choices, place };
        mutation.apply(tokens)
    }

    fn declaration(&self, choices: &mut Choices) -> &(TokenStream, TokenStream) {
        let declarations = if choices.pick(16) == 15 { &self.real } else { &self.short };
        &declarations[choices.pick(declarations.len())]
    }

    fn word(&self, choices: &mut Choices) -> TokenStream {
        self.words[choices.pick(self.words.len())].clone()
    }

    /// A part of some declaration.
    fn part(&self, choices: &mut Choices) -> TokenStream {
        let (attribute, _) = self.declaration(choices);
        let mut level: Vec<TokenTree> = attribute.clone().into_iter().collect();
        loop {
            match &level[choices.pick(level.len())] {
                TokenTree::Group(group) if !group.stream().is_empty() && choices.pick(3) > 0 => {
                    level = group.stream().into_iter().collect();
                }
                token => return TokenStream::from(token.clone()),
            }
        }
    }
}

/// The number of tokens at all depths.
fn size(tokens: &TokenStream) -> usize {
    let size_of = |token| match token {
        TokenTree::Group(group) => 1 + size(&group.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(size_of).sum()
}

/// Reads decisions from a row of numbers, 0 where there are no more.
struct Choices<'a>(std::slice::Iter<'a, u32>);

impl Choices<'_> {
    fn pick(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |&choice| choice as usize % count.max(1))
    }
}

/// A change of the token at a place, counted at all depths.
struct Mutation<'a, 'b, 'c> {
    corpus: &'a Corpus,
    choices: &'b mut Choices<'c>,
    place: usize,
}

impl Mutation<'_, '_, '_> {
    fn apply(&mut self, tokens: TokenStream) -> TokenStream {
        let mut result: Vec<TokenTree> = Vec::new();
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            if self.place == 0 {
                self.place = usize::MAX;
                result.extend(self.change(token, rest.peek().cloned()));
                result.extend(rest);
                return result.into_iter().collect();
            }
            self.place -= 1;
            result.push(match token {
                TokenTree::Group(group) => Group::new(group.delimiter(), self.apply(group.stream())).into(),
                other => other,
            });
        }
        result.into_iter().collect()
    }

    /// What stands in the token's place. `next` follows it in any case.
    fn change(&mut self, token: TokenTree, next: Option<TokenTree>) -> TokenStream {
        let same = TokenStream::from(token.clone());
        let pair = |first: TokenStream, second: TokenStream| first.into_iter().chain(second).collect();
        match self.choices.pick(12) {
            0 => TokenStream::new(),
            1 => pair(same.clone(), same),
            2 => next.map_or(same.clone(), |next| pair(next.into(), same)),
            3 => self.corpus.word(self.choices),
            4 => pair(same, self.corpus.word(self.choices)),
            5 => pair(self.corpus.word(self.choices), same),
            6 => self.corpus.part(self.choices),
            7 => pair(same, self.corpus.part(self.choices)),
            8 => Group::new(self.delimiter(), same).into_token_stream(),
            9 => match token {
                TokenTree::Group(group) => Group::new(self.delimiter(), group.stream()).into_token_stream(),
                _ => self.corpus.word(self.choices),
            },
            10 => {
                let times = [2, 3, 10, 70, 300, 3000][self.choices.pick(6)];
                std::iter::repeat_n(token, times).collect()
            }
            _ => {
                let (depth, delimiter) = ([3, 30, 63, 65, 100][self.choices.pick(5)], self.delimiter());
                (0..depth).fold(same, |inner, _| Group::new(delimiter, inner).into_token_stream())
            }
        }
    }

    fn delimiter(&mut self) -> Delimiter {
        let all = [Delimiter::Parenthesis, Delimiter::Bracket, Delimiter::Brace, Delimiter::None];
        all[self.choices.pick(all.len())]
    }
}
