//! Generated code as text.
//!
//! Most of it is `let` statements of one line. These are written as they stand, and the pretty printer gets the rest: parsing all of it would
//! take a third of the time of an expansion that is not optimised.

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

use crate::syntax::written::{is_sign, written};

/// The columns of a line, as the pretty printer has them.
const MARGIN: usize = 89;
/// Stands, with a number behind it, for statements that were taken out.
const TAKEN: &str = "__taken_";

/// The pretty-printed code of some items.
pub(super) fn pretty(items: TokenStream) -> String {
    let mut taken = Vec::new();
    let Ok(rest) = syn::parse2(without_lets(items.clone(), &mut taken)) else { return items.to_string() };
    let mut text = String::new();
    for line in prettyplease::unparse(&rest).lines() {
        let statement = line.trim_start();
        let indent = &line[..line.len() - statement.len()];
        let place = statement.strip_prefix(TAKEN).and_then(|rest| rest.strip_suffix(';')?.parse::<usize>().ok());
        match place {
            Some(place) => taken[place].iter().for_each(|statement| text += &printed(statement, indent)),
            None => text.extend([line, "\n"]),
        }
    }
    text
}

/// The lines of a statement.
fn printed(statement: &TokenStream, indent: &str) -> String {
    let line = format!("{indent}{}\n", written(statement).trim_end());
    if line.chars().count() <= MARGIN + 1 {
        return line;
    }
    // Within as many blocks, its lines are broken at the same places.
    let depth = indent.len() / 4;
    let blocks = (1..depth).fold(statement.clone(), |inner, _| quote!({ #inner }));
    let Ok(file) = syn::parse2(quote!(fn statement() { #blocks })) else { return line };
    let text = prettyplease::unparse(&file);
    let lines: Vec<&str> = text.lines().collect();
    lines[depth..lines.len() - depth].iter().flat_map(|line| [line, "\n"]).collect()
}

/// The tokens with one statement for successive `let name = value;`, which are added to those that were taken out.
fn without_lets(tokens: TokenStream, taken: &mut Vec<Vec<TokenStream>>) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut rest, mut open) = (Vec::new(), &tokens[..]);
    while let Some((first, others)) = open.split_first() {
        let mut run = Vec::new();
        while let Some(length) = length_of_let(open) {
            run.push(open[..length].iter().cloned().collect());
            open = &open[length..];
        }
        if !run.is_empty() {
            let name = Ident::new(&format!("{TAKEN}{}", taken.len()), Span::call_site());
            taken.push(run);
            rest.extend(quote!(#name;));
            continue;
        }
        rest.push(match first {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                Group::new(Delimiter::Brace, without_lets(group.stream(), taken)).into()
            }
            other => other.clone(),
        });
        open = others;
    }
    rest.into_iter().collect()
}

/// The number of tokens of the statement `let name = value;` with which these begin, if they do.
fn length_of_let(tokens: &[TokenTree]) -> Option<usize> {
    let [TokenTree::Ident(word), TokenTree::Ident(_), TokenTree::Punct(equals), ..] = tokens else { return None };
    if word != "let" || equals.as_char() != '=' || equals.spacing() == Spacing::Joint {
        return None;
    }
    let end = tokens.iter().position(|token| is_sign(token, ';'))?;
    tokens[..end].iter().all(is_plain).then_some(end + 1)
}

/// Returns `true` for tokens that both printers write alike: names, numbers, calls and arithmetic.
fn is_plain(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => {
            group.delimiter() != Delimiter::Brace && group.stream().into_iter().all(|token| is_plain(&token))
        }
        TokenTree::Punct(punct) => "=.:,+-*/".contains(punct.as_char()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::pretty;

    /// Short and long statements, on two levels, between others that are left to the pretty printer.
    #[test]
    fn statements_have_the_lines_of_the_pretty_printer() {
        let long = (0..12).map(|place| format!("__value_{place} * (-__other_{place})")).collect::<Vec<_>>().join(" + ");
        let lets = format!(
            "let __t0 = self.c_4ac; let __t1 = (-__q_0).mul_add(__t0[3], -__t0); let __t2 = -T::from_f64(-0.5) / __t1;
             let [__y_0, _] = __law.weigh([__t1, __t2], self); let mut __sum = __t1; let __t3 = {long};
             let __t4 = ::fbint_runtime::Scalar::mul_add({long}, __t1, __t2); let __t5 = if a < b {{ let c = a; c }} else {{ b }};
             let __list = __values.first_chunk::<3>();"
        );
        let text = format!(
            "impl<T: Scalar> Prepared<T> for Model {{ #[inline] fn field(&self) -> [T; 2] {{ {lets} [__t1, __t2] }} }}
             fn lanes() {{ {lets} for __k in 0..3 {{ {lets} while __k < 2 {{ {lets} }} }} }} fn empty() {{}}"
        );
        let file = syn::parse_file(&text).expect("a file");
        assert_eq!(pretty(text.parse().expect("tokens")), prettyplease::unparse(&file));
    }
}
