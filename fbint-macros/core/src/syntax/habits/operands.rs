//! The operands of a sign in other languages, as they are written here.

use proc_macro2::TokenTree;

use super::{FUNCTIONS, MODULES, PREFIX_FUNCTIONS, Token};
use crate::syntax::written::{is_sign, stream, written_or};

impl Token<'_> {
    /// The power of the operands to the left and, after `width` tokens, to the right.
    pub(super) fn power(self, width: usize) -> String {
        let (base, exponent) = (self.left("x"), self.right(width, "y"));
        let (called, rest) = base.split_once('(').unwrap_or((&base, ""));
        // `np.sin(x)` is `x.sin()`, and `q.dot(&p)` stays.
        let name = match called.rsplit_once('.') {
            Some((module, name)) if MODULES.contains(&module) => name,
            _ => called,
        };
        let base = match (name, rest.strip_suffix(')')) {
            ("der", Some(argument)) => format!("rate({argument})"),
            (name, Some(argument)) if FUNCTIONS.contains(&name) => format!("{argument}.{name}()"),
            (name, None) if PREFIX_FUNCTIONS.contains(&name) => return format!("`x.{name}().powi(2)`"),
            _ => base,
        };
        if base == "e" {
            return format!("`{exponent}.exp()`, or `e.powf({exponent})` of a parameter `e`");
        }
        let is_integer = exponent.chars().all(|digit| digit.is_ascii_digit());
        match &exponent[..] {
            "2" => format!("`{base}.powi(2)`, or `norm_squared()` of a vector"),
            _ if is_integer => format!("`{base}.powi({exponent})`"),
            _ => format!("`{base}.powf({exponent})`"),
        }
    }

    /// The operand before this token, with what is called on it, or `instead` if there is none or it is long.
    pub(super) fn left(self, instead: &str) -> String {
        let mut start = self.at;
        while let Some(previous) = start.checked_sub(1) {
            let token = self.tokens.get(start).filter(|_| start < self.at);
            let is_part = match (&self.tokens[previous], token) {
                (TokenTree::Punct(punct), Some(TokenTree::Ident(_))) => {
                    punct.as_char() == '.' && (Self { at: previous, ..self }).follows_operand()
                }
                (TokenTree::Punct(punct), Some(TokenTree::Group(_))) => punct.as_char() == '!',
                (TokenTree::Punct(_), _) => false,
                (_, None | Some(TokenTree::Punct(_) | TokenTree::Group(_))) => {
                    Self { at: start, ..self }.follows_operand()
                }
                (_, Some(_)) => false,
            };
            if !is_part {
                break;
            }
            start = previous;
        }
        operand(&self.tokens[start..self.at], instead)
    }

    /// The operand that begins `offset` tokens after this one, or `instead` if there is none or it is long.
    pub(super) fn right(self, offset: usize, instead: &str) -> String {
        let start = (self.at + offset).min(self.tokens.len());
        let rest = &self.tokens[start..];
        let mut end = usize::from(rest.first().is_some_and(|token| !matches!(token, TokenTree::Punct(_))));
        if end == 0 && is_sign(rest.first(), '-') && rest.len() > 1 {
            end = 2;
        }
        while end > 0 && end < rest.len() {
            let is_part = match &rest[end] {
                TokenTree::Punct(punct) => {
                    matches!(punct.as_char(), '.' | '!')
                        && matches!(rest.get(end + 1), Some(TokenTree::Ident(_) | TokenTree::Group(_)))
                }
                TokenTree::Ident(_) => is_sign(&rest[end - 1], '.'),
                TokenTree::Group(_) => true,
                TokenTree::Literal(_) => false,
            };
            if !is_part {
                break;
            }
            end += 1;
        }
        operand(&rest[..end], instead)
    }
}

pub(super) fn operand(tokens: &[TokenTree], instead: &str) -> String {
    if tokens.is_empty() {
        return instead.to_owned();
    }
    written_or(stream(tokens), instead)
}
