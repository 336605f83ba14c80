//! Declarations with other laws for inputs.

use std::ops::ControlFlow;
use std::str::FromStr;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::quote;

use super::{Model, alone};
use crate::syntax::written::is_sign;

impl Model {
    /// The text of this model with these expressions as the laws of inputs, by their names. The expressions call the time `clock`. Where
    /// `others` are given from outside, inputs with laws become definitions, because a signal replaces all laws of inputs.
    ///
    /// `None` if one of the inputs is part of a vector or a family, or if laws are sampled: the expressions would be sampled, too.
    pub fn with_laws(&self, laws: &[(&str, &str)], others: &[&str], clock: &str) -> Option<String> {
        alone(|| self.declared_with(laws, others, clock), &mut |_| ControlFlow::Continue(())).ok().flatten()
    }

    fn declared_with(&self, laws: &[(&str, &str)], others: &[&str], clock: &str) -> Option<String> {
        let [attribute, item] = self.declaration.each_ref();
        let (mut keys, mut definitions, mut has_clock) = (Vec::new(), Vec::new(), false);
        let mut inputs = Inputs::default();
        for entry in entries(&TokenStream::from_str(attribute).ok()?) {
            match &entry[..] {
                [TokenTree::Ident(key), TokenTree::Group(list)] if key == "input" => {
                    inputs = Inputs::of(list, laws, others)?;
                }
                [TokenTree::Ident(key), TokenTree::Group(list)] if key == "define" => {
                    definitions.extend(entries(&list.stream()).into_iter().map(TokenStream::from_iter));
                }
                [key, ..] => {
                    has_clock |= matches!(key, TokenTree::Ident(key) if key == "time");
                    keys.push(TokenStream::from_iter(entry));
                }
                [] => {}
            }
        }
        let (inputs, of_laws) = inputs.written();
        let inputs = if others.is_empty() {
            [inputs, of_laws].concat()
        } else {
            definitions.extend(of_laws);
            inputs
        };
        keys.push(quote!(input(#(#inputs),*)));
        if !definitions.is_empty() {
            keys.push(quote!(define(#(#definitions),*)));
        }
        if !has_clock {
            let clock = syn::parse_str::<Ident>(clock).ok()?;
            keys.push(quote!(time(#clock)));
        }
        Some(format!("#[feedback_system({})] {item}", quote!(#(#keys),*)))
    }
}

/// The entries of the key `input`.
#[derive(Default)]
struct Inputs {
    /// Those without a law.
    open: Vec<TokenStream>,
    /// Both sides of `=` in the others.
    laws: Vec<[TokenStream; 2]>,
    /// The laws that others have replaced.
    replaced: Vec<TokenStream>,
}

impl Inputs {
    /// The inputs of a list with these laws, and without the laws of `others`.
    fn of(list: &Group, laws: &[(&str, &str)], others: &[&str]) -> Option<Self> {
        let (mut inputs, mut given) = (Self::default(), 0);
        for entry in entries(&list.stream()) {
            let equals = entry.iter().position(|token| is_sign(token, '='));
            let [head, own] = match equals {
                Some(place) => [&entry[..place], &entry[place + 1..]],
                None => [&entry[..], &[]],
            };
            let [TokenTree::Ident(name), shape @ ..] = head else { return None };
            if equals.is_some() && (name == "every" || name == "delay") {
                return None;
            }
            let law = laws.iter().find(|(input, _)| name == input).filter(|_| shape.is_empty());
            let is_given = shape.is_empty() && others.iter().any(|input| name == input);
            let [head, own] = [head, own].map(|tokens| TokenStream::from_iter(tokens.to_vec()));
            match law {
                Some((_, law)) => {
                    given += 1;
                    inputs.laws.push([head, TokenStream::from_str(law).ok()?]);
                }
                None if equals.is_none() || is_given => inputs.open.push(head),
                None => inputs.laws.push([head, own.clone()]),
            }
            if equals.is_some() && (law.is_some() || is_given) {
                inputs.replaced.push(own);
            }
        }
        (given == laws.len()).then_some(inputs)
    }

    /// The entries without a law, and those with one. The first law takes the replaced ones 0 times, so that all parameters are used.
    fn written(self) -> (Vec<TokenStream>, Vec<TokenStream>) {
        let mut replaced = self.replaced.into_iter();
        let written = |[head, law]: [TokenStream; 2]| {
            let replaced: Vec<TokenStream> = replaced.by_ref().collect();
            if replaced.is_empty() { quote!(#head = #law) } else { quote!(#head = (#law) + 0 * (#((#replaced))+*)) }
        };
        (self.open, self.laws.into_iter().map(written).collect())
    }
}

/// The entries of a list.
fn entries(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.split(|token| is_sign(token, ',')).filter(|entry| !entry.is_empty()).map(<[_]>::to_vec).collect()
}
