//! The compiler as a library: declarations found in source text, compiled as the macro compiles them, and taken apart.

use std::collections::BTreeMap;
use std::fs;

use fbint_macros_core::algebra::symbolic;
use fbint_macros_core::compile::understood;
use fbint_macros_core::derivation::table::{Id, Table};
use fbint_macros_core::derivation::{Claim, Derivation, Field, IntegralId, LinearSystem, Prepared, Role};
use fbint_macros_core::elaborate::Elaborated;
use fbint_macros_core::expression::{Expression, Function, Symbol};
use fbint_macros_core::prepared::BuildEnvironment;
use fbint_macros_core::program::{Input, Instruction, OperationCount, Program, Programs, Value, assemble};
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{algebra, compile, mechanics, prepared, syntax};
use fbint_runtime::{Operations, Scalar};
use nalgebra::{DMatrix, DVector};
use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use quote::ToTokens;

/// The files of the shipped models.
const SHIPPED: [&str; 23] = [
    "spherical_pendulum.rs",
    "planar_pendulum.rs",
    "four_bar.rs",
    "four_bar_in_angles.rs",
    "free_rigid_body.rs",
    "euler_top.rs",
    "kepler.rs",
    "perturbed_kepler.rs",
    "cart_pendulum.rs",
    "cart_pole.rs",
    "chaplygin_sleigh.rs",
    "degenerate_pendulum.rs",
    "driven_four_bar.rs",
    "driven_pendulum.rs",
    "hamel_pendulum.rs",
    "kapitza_pendulum.rs",
    "nonholonomic/heisenberg.rs",
    "nonholonomic/knife_edge.rs",
    "nonholonomic/oscillator.rs",
    "nonholonomic/roller_racer.rs",
    "nonholonomic/rolling_disk.rs",
    "nonholonomic/suslov.rs",
    "rotating_hoop.rs",
];
const OTHERS: &str = include_str!("systems.rs");

/// R_i, which a projection adds to the diagonal when programs are tested: small, but large enough to show.
pub const NOISE: f64 = 1e-3;
/// S_j, with which a projection moves entry j of the state when programs are tested: no two alike, and none 1.
pub fn variance(column: usize) -> f64 {
    0.3 + (0.7 + 1.618 * column as f64) % 2.0
}

/// The text of a file of the shipped models.
fn source(name: &str) -> String {
    let path = format!("{}/../models/src/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A struct with the tokens of its `#[feedback_system]`.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The struct's name.
    pub name: String,
    /// What is between the attribute's parentheses.
    pub attribute: TokenStream,
    /// The struct without the attribute.
    pub item: TokenStream,
}

/// A declaration between its phases.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Names and exact expressions.
    pub model: Elaborated,
    /// The mathematics.
    pub derivation: Derivation,
    /// The functions.
    pub programs: Programs,
}

impl Declaration {
    /// Every declaration in the text of a Rust file.
    pub fn all(text: &str) -> Vec<Self> {
        let file = syn::parse_file(text).expect("the file is Rust");
        file.items.into_iter().filter_map(Self::of).collect()
    }

    /// The only declaration in a text.
    pub fn one(text: &str) -> Self {
        let mut all = Self::all(text);
        assert_eq!(all.len(), 1, "one declaration in:\n{text}");
        all.remove(0)
    }

    /// The declaration of that name in a text.
    pub fn named(text: &str, name: &str) -> Self {
        let found = Self::all(text).into_iter().find(|declaration| declaration.name == name);
        found.unwrap_or_else(|| panic!("no declaration `{name}`"))
    }

    /// Every shipped model.
    pub fn shipped() -> Vec<Self> {
        let chains = [4, 8, 16, 32].map(|links| Self::chain(&format!("Chain{links}"), links));
        SHIPPED.into_iter().flat_map(Self::in_file).chain(chains).collect()
    }

    /// Every declaration in a file of the shipped models.
    fn in_file(name: &str) -> Vec<Self> {
        Self::all(&source(name))
    }

    /// Every other system that the tests declare.
    pub fn others() -> Vec<Self> {
        Self::all(OTHERS)
    }

    /// Every model of the attribute's manual.
    pub fn in_manual() -> Vec<Self> {
        let manual = crate::workspaces::home().join("fbint-macros/src/lib.rs");
        let manual = fs::read_to_string(manual).expect("the attribute has a manual");
        let lines: Vec<&str> = manual.lines().filter_map(|line| line.strip_prefix("///")).collect();
        let blocks = lines.split(|line| line.trim().starts_with("```"));
        let text = |block: &[&str]| block.iter().map(|line| line.trim_start_matches(" # ").to_owned() + "\n").collect();
        let texts = blocks.skip(1).step_by(2).map(text).filter(|text: &String| syn::parse_file(text).is_ok());
        texts.flat_map(|text| Self::all(&text)).collect()
    }

    /// The declaration of a system of [`systems`](crate::systems), shipped or not.
    pub fn of_system(name: &str) -> Self {
        if let Some(links) = name.strip_prefix("Chain") {
            return Self::chain(name, links.parse().expect("a number of links"));
        }
        // A file without the name is not read as Rust, which takes as long as an expansion.
        let texts = SHIPPED.into_iter().map(source).chain([OTHERS.to_owned()]);
        let mut all = texts.filter(|text| text.contains(&format!("struct {name}"))).flat_map(|text| Self::all(&text));
        all.find(|declaration| declaration.name == name).unwrap_or_else(|| panic!("no declaration `{name}`"))
    }

    /// What the macro in the chains' file expands to.
    fn chain(name: &str, links: usize) -> Self {
        let file = syn::parse_file(&source("chain.rs")).expect("the file is Rust");
        let macros = file.items.into_iter().filter_map(|item| match item {
            syn::Item::Macro(item) if item.ident.as_ref().is_some_and(|ident| ident == "chain") => {
                Some(item.mac.tokens)
            }
            _ => None,
        });
        let groups = macros.flatten().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        });
        let body = groups.last().expect("a rule with a body");
        let file: syn::File = syn::parse2(expand_rule(body, name, links)).expect("the body is Rust");
        file.items.into_iter().find_map(Self::of).expect("a declaration in the body")
    }

    fn of(item: syn::Item) -> Option<Self> {
        let syn::Item::Struct(mut item) = item else { return None };
        let index = item.attrs.iter().position(|attribute| attribute.path().is_ident("feedback_system"))?;
        let attribute = item.attrs.remove(index);
        let attribute = attribute.meta.require_list().expect("a list of declarations").tokens.clone();
        Some(Self { name: item.ident.to_string(), attribute, item: item.into_token_stream() })
    }

    /// What the macro expands to.
    pub fn expand(&self) -> TokenStream {
        fbint_macros_core::feedback_system(self.attribute.clone(), self.item.clone())
    }

    /// What the macro expands to in another environment.
    pub fn expand_in(&self, environment: &BuildEnvironment) -> TokenStream {
        compile::feedback_system(self.attribute.clone(), self.item.clone(), environment)
    }

    /// The file that keeps the derivation.
    pub fn kept(&self) -> String {
        let problem = self.elaborate().problem;
        let prepared = algebra::prepare(&problem).unwrap_or_else(|obstacle| panic!("{}: {obstacle:?}", self.name));
        prepared::write(&problem, None, &prepared, &self.text("equations"))
    }

    /// The file that the models' package keeps of a shipped model.
    pub fn shipped_file(&self) -> String {
        let folder = crate::workspaces::home().join("models/derivations");
        let files = fs::read_dir(folder).expect("the folder of the models' derivations").flatten();
        let is_own = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with(&format!("{}-", self.name));
        let file = files.into_iter().find(is_own).unwrap_or_else(|| panic!("no derivation of {}", self.name));
        fs::read_to_string(file.path()).expect("the file of a derivation")
    }

    /// The text of that name among the facts in the expansion.
    pub fn text(&self, name: &str) -> String {
        let file: syn::File = syn::parse2(self.expand()).expect("the expansion is Rust");
        let implementations = file.items.iter().filter_map(|item| match item {
            syn::Item::Impl(implementation) => Some(&implementation.items),
            _ => None,
        });
        let mut facts = implementations.flatten().filter_map(|item| match item {
            syn::ImplItem::Const(syn::ImplItemConst { ident, expr: syn::Expr::Block(block), .. })
                if ident == "FACTS" =>
            {
                match block.block.stmts.last() {
                    Some(syn::Stmt::Expr(syn::Expr::Struct(facts), None)) => Some(&facts.fields),
                    _ => None,
                }
            }
            _ => None,
        });
        let facts = facts.next().unwrap_or_else(|| panic!("{}: no facts in {}", self.name, self.expand()));
        let mut texts = facts.iter().filter_map(|fact| match (&fact.member, &fact.expr) {
            (syn::Member::Named(own), syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. })) if own == name => {
                Some(text.value())
            }
            _ => None,
        });
        texts.next().unwrap_or_else(|| panic!("{}: no fact `{name}` in {}", self.name, self.expand()))
    }

    /// The first phases of the compiler.
    pub fn elaborate(&self) -> Elaborated {
        let errors = Errors::new();
        let mut declaration =
            syntax::parse(self.attribute.clone(), self.item.clone(), &errors).expect("a plain struct");
        let model = understood(&mut declaration, &errors, &BuildEnvironment::nowhere());
        errors.flush().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        model.expect("no mistakes").0
    }

    /// The phases of the compiler up to the programs.
    pub fn compile(&self) -> Compiled {
        self.compile_to(false)
    }

    /// The same with derivatives, declared or not.
    pub fn compile_with_derivatives(&self) -> Compiled {
        self.compile_to(true)
    }

    /// The same without algebra, and what was proved without it.
    pub fn compile_without_algebra(&self) -> (Compiled, Table<IntegralId, Claim>) {
        let model = self.elaborate();
        let Prepared { derivation, claims, .. } = mechanics::prepare(&model.problem).expect("a derivation");
        let programs = assemble(&derivation, false);
        (Compiled { model, derivation, programs }, claims)
    }

    fn compile_to(&self, with_derivatives: bool) -> Compiled {
        let model = self.elaborate();
        let problem = &model.problem;
        let derivation = symbolic::session(|| mechanics::derive(problem, &algebra::Algebra))
            .expect("a session")
            .expect("a derivation");
        let programs = assemble(&derivation, with_derivatives);
        Compiled { model, derivation, programs }
    }
}

/// The multipliers and X, from the linear systems and the rates of a field, where symbols have these values. NaN where a system has no
/// solution.
pub fn solved_field(derivation: &Derivation, value: impl Fn(Symbol) -> f64) -> Vec<f64> {
    let Field { systems, rates } = &derivation.field;
    let mut known = BTreeMap::new();
    let evaluate = |expression: &Expression, known: &BTreeMap<Symbol, f64>| {
        expression.evaluate(&|symbol| known.get(&symbol).copied().unwrap_or_else(|| value(symbol)))
    };
    for LinearSystem { unknowns, matrix, right_side } in systems {
        let n = unknowns.len();
        let matrix = DMatrix::from_fn(n, n, |i, j| evaluate(&matrix[i][j], &known));
        let right_side = DVector::from_fn(n, |i, _| evaluate(&right_side[i], &known));
        let solution = matrix.lu().solve(&right_side).unwrap_or_else(|| DVector::from_element(n, f64::NAN));
        known.extend(unknowns.iter().copied().zip(solution.iter().copied()));
    }
    let held = derivation.symbols.with(|role| matches!(role, Role::Multiplier(_) | Role::Reaction { .. }));
    let multipliers = held.iter().filter_map(|symbol| known.get(symbol).copied());
    multipliers.chain(rates.rows().map(|rate| evaluate(rate, &known))).collect()
}

/// The compiler's count as the runtime's.
pub fn counted(count: &OperationCount) -> Operations {
    let OperationCount { additions, multiplications, fused, divisions, functions } = *count;
    Operations { additions, multiplications, fused, divisions, functions }
}

/// A chain of point masses on massless rods in a plane, in the angles of the rods to the vertical.
pub fn open_chain(links: u32) -> String {
    format!(
        "#[feedback_system(
            coordinates(angle: [{links}]),
            velocities(turn: [{links}]),
            lagrangian = (0..{links}).map(|i| m * (
                (0..i + 1).map(|k| l * turn[k] * angle[k].cos()).sum().powi(2)
                    + (0..i + 1).map(|k| l * turn[k] * angle[k].sin()).sum().powi(2)
            ) / 2).sum() + m * g * (0..{links}).map(|i| (0..i + 1).map(|k| l * angle[k].cos()).sum()).sum(),
        )]
        pub struct OpenChain{links} {{ pub m: f64, pub g: f64, pub l: f64 }}"
    )
}

/// The body of the chains' macro with `$name`, `$state`, `$n` and `$summary` replaced.
fn expand_rule(body: TokenStream, name: &str, links: usize) -> TokenStream {
    let mut tokens = body.into_iter();
    let mut expanded = TokenStream::new();
    while let Some(token) = tokens.next() {
        let next = match token {
            TokenTree::Punct(punct) if punct.as_char() == '$' => match tokens.next() {
                Some(TokenTree::Ident(variable)) if variable == "n" => Literal::usize_unsuffixed(links).into(),
                Some(TokenTree::Ident(variable)) if variable == "summary" => Literal::string("A chain.").into(),
                Some(TokenTree::Ident(variable)) if variable == "name" => quote::format_ident!("{name}").into(),
                Some(TokenTree::Ident(variable)) if variable == "state" => quote::format_ident!("{name}State").into(),
                other => panic!("an unknown variable of the macro: {other:?}"),
            },
            TokenTree::Group(group) => Group::new(group.delimiter(), expand_rule(group.stream(), name, links)).into(),
            other => other,
        };
        expanded.extend([next]);
    }
    expanded
}

impl Compiled {
    /// All programs as text, in which symbols are numbers.
    pub fn listing(&self) -> String {
        let functions = self.programs.functions().map(|(function, program)| (function.name, program));
        let programs = [("prepare", &self.programs.prepare)].into_iter().chain(functions);
        programs.map(|(name, program)| format!("{name}\n{program}")).collect::<Vec<_>>().join("\n")
    }
}

/// The law that the field and the gradient of a feedback ask: from the normalised integrals f to factor y, where y = `weigh`(F)
/// and F = scale (f + offset).
pub fn normalised(
    programs: &Programs,
    prepared: &[f64],
    weigh: impl Fn(&[f64]) -> Vec<f64>,
) -> impl Fn(&[f64]) -> Vec<f64> {
    let rows = run(&programs.normalisation, prepared, |_| f64::NAN, |_| Vec::new());
    move |forms| normalised_law(&rows, forms, &weigh)
}

/// The same, from what the program of the normalisation gives.
pub fn normalised_law<T: Scalar>(normalisation: &[T], forms: &[T], weigh: impl Fn(&[T]) -> Vec<T>) -> Vec<T> {
    let rows = normalisation.chunks(3);
    let integrals: Vec<T> = rows.clone().zip(forms).map(|(row, &form)| row[1] * (form + row[2])).collect();
    rows.zip(weigh(&integrals)).map(|(row, y)| row[0] * y).collect()
}

/// The results of a program without derivatives. Where the feedback law takes part, `weigh` maps F to y.
pub fn run(
    program: &Program,
    prepared: &[f64],
    input: impl Fn(usize) -> f64,
    weigh: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let read = |wanted| match wanted {
        Input::State(symbol) | Input::Parameter(symbol) | Input::Driving(symbol) => input(symbol.place()),
        Input::Prepared(index) => prepared[index],
        Input::Variance(state) => variance(state.place()),
        Input::Noise(_) => NOISE,
        // No side is held.
        Input::Side(_) => 0.0,
        Input::Acceleration(place) => 0.3 - place as f64,
        _ => f64::NAN,
    };
    interpret(program, read, weigh)
}

/// The results of a program in any kind of number, by an interpreter that shares nothing with the compiler's own.
pub fn interpret<T: Scalar>(program: &Program, input: impl Fn(Input) -> T, weigh: impl Fn(&[T]) -> Vec<T>) -> Vec<T> {
    let mut values: Vec<T> = Vec::with_capacity(program.instructions.len());
    let mut weighed: Vec<T> = Vec::new();
    for instruction in &program.instructions {
        let of = |value: Value| values[value.index()];
        let value = match *instruction {
            Instruction::Constant(bits) => T::from_f64(f64::from_bits(bits)),
            Instruction::Input(wanted) => input(wanted),
            Instruction::Weigh(ref integrals) => {
                weighed = weigh(&integrals.iter().map(|&value| of(value)).collect::<Vec<_>>());
                T::from_f64(f64::NAN)
            }
            Instruction::Weighed(_, integral) => weighed[integral.place()],
            Instruction::Add(a, b) => of(a) + of(b),
            Instruction::Sub(a, b) => of(a) - of(b),
            Instruction::Mul(a, b) => of(a) * of(b),
            Instruction::Div(a, b) => of(a) / of(b),
            Instruction::Neg(a) => -of(a),
            Instruction::Recip(a) => of(a).recip(),
            Instruction::Sqrt(a) => of(a).sqrt(),
            // Fused where the target has the instruction, as in generated code.
            Instruction::MulAdd([product, sum], a, b, c) => product.times(of(a)).mul_add(of(b), sum.times(of(c))),
            Instruction::Unary(function, a) => unary(function, of(a)),
            Instruction::Binary(function, a, b) => match function {
                Function::Atan2 => of(a).atan2(of(b)),
                _ => of(a).powf(of(b)),
            },
        };
        values.push(value);
    }
    program.outputs.iter().map(|value| values[value.index()]).collect()
}

fn unary<T: Scalar>(function: Function, x: T) -> T {
    match function {
        Function::Abs => x.abs(),
        Function::Sign => x.sign(),
        Function::Step => x.step(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Exp => x.exp(),
        Function::Ln => x.ln(),
        Function::Atan2 | Function::Powf => unreachable!("{function:?} has two arguments"),
    }
}
