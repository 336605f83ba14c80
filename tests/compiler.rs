//! The compiler as a library: declarations found in source text, compiled as the macro compiles them, and taken apart.

use fbint_macros_core::compile::problem;
use fbint_macros_core::derivation::Derivation;
use fbint_macros_core::diagnostics::Errors;
use fbint_macros_core::elaborate::{Model, elaborate};
use fbint_macros_core::program::{Input, Instruction, Program, Programs, Value, assemble};
use fbint_macros_core::{mechanics, symbolic, syntax};
use proc_macro2::TokenStream;
use quote::ToTokens;

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
    pub model: Model,
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

    /// The string constant of that name in the expansion.
    pub fn text(&self, constant: &str) -> String {
        let file: syn::File = syn::parse2(self.expand()).expect("the expansion is Rust");
        let implementations = file.items.iter().filter_map(|item| match item {
            syn::Item::Impl(implementation) => Some(&implementation.items),
            _ => None,
        });
        let constants = implementations.flatten().filter_map(|item| match item {
            syn::ImplItem::Const(item) if item.ident == constant => Some(&item.expr),
            _ => None,
        });
        let mut texts = constants.filter_map(|expression| match expression {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        });
        texts.next().unwrap_or_else(|| panic!("{}: no constant {constant} in {}", self.name, self.expand()))
    }

    /// The phases of the compiler up to the programs.
    pub fn compile(&self) -> Compiled {
        let mut errors = Errors::new();
        let declaration =
            syntax::parse(self.attribute.clone(), self.item.clone(), &mut errors).expect("a plain struct");
        let model = elaborate(&declaration, &mut errors);
        errors.flush().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let model = model.expect("no mistakes");
        let problem = problem(&model);
        let derivation = symbolic::session(|| mechanics::derive(&problem)).expect("a session").expect("a derivation");
        let programs = assemble(&derivation);
        Compiled { model, derivation, programs }
    }
}

impl Compiled {
    /// All programs as text, in which symbols are numbers.
    pub fn listing(&self) -> String {
        let programs = self.programs.all().map(|(name, program)| format!("{name}\n{program}"));
        programs.join("\n")
    }
}

/// The results of a program, by an interpreter that shares nothing with the compiler's own.
pub fn run(
    program: &Program,
    prepared: &[f64],
    input: impl Fn(usize) -> f64,
    weigh: impl Fn(usize, f64) -> f64,
) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::with_capacity(program.instructions.len());
    for &instruction in &program.instructions {
        let of = |value: Value| values[value.index()];
        let value = match instruction {
            Instruction::Constant(bits) => f64::from_bits(bits),
            Instruction::Input(Input::Symbol(symbol)) => input(symbol.0 as usize),
            Instruction::Input(Input::Prepared(index)) => prepared[index],
            Instruction::Input(Input::Weighted(row)) => weigh(row, of(program.integrals[row])),
            Instruction::Add(a, b) => of(a) + of(b),
            Instruction::Sub(a, b) => of(a) - of(b),
            Instruction::Mul(a, b) => of(a) * of(b),
            Instruction::Div(a, b) => of(a) / of(b),
            Instruction::Neg(a) => -of(a),
            Instruction::Recip(a) => of(a).recip(),
            Instruction::Sqrt(a) => of(a).sqrt(),
            Instruction::MulAdd(a, b, c) => of(a) * of(b) + of(c),
            Instruction::NegMulAdd(a, b, c) => of(c) - of(a) * of(b),
            Instruction::MulSub(a, b, c) => of(a) * of(b) - of(c),
            Instruction::NegMulSub(a, b, c) => -of(a) * of(b) - of(c),
            Instruction::Unary(function, a) => function.evaluate(&[of(a)]),
            Instruction::Binary(function, a, b) => function.evaluate(&[of(a), of(b)]),
        };
        values.push(value);
    }
    program.outputs.iter().map(|value| values[value.index()]).collect()
}
