//! Tokens as a person writes them, for messages.

use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

/// The longest text that a message quotes.
const LONGEST: usize = 40;

/// The tokens with spaces around binary operators and after commas, and nowhere else.
pub(crate) fn written(tokens: impl ToTokens) -> String {
    let mut writer = Writer { text: String::new(), after_operand: false, is_in_bars: false };
    writer.stream(tokens.to_token_stream());
    writer.text
}

/// The tokens as they are [`written`], or `instead` if they are too long for a message.
pub(crate) fn written_or(tokens: impl ToTokens, instead: &str) -> String {
    let text = written(tokens);
    if text.chars().count() > LONGEST { instead.to_owned() } else { text }
}

/// The tokens as one stream.
pub(crate) fn stream(tokens: &[TokenTree]) -> TokenStream {
    tokens.iter().cloned().collect()
}

/// Returns `true` for this sign.
pub(crate) fn is_sign<'t>(token: impl Into<Option<&'t TokenTree>>, sign: char) -> bool {
    matches!(token.into(), Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// The difference of the sides of an equation.
pub(crate) fn difference(left: impl ToTokens, right: impl ToTokens) -> String {
    let is_sum = |token: TokenTree| matches!(token, TokenTree::Punct(sign) if matches!(sign.as_char(), '+' | '-'));
    let right = right.to_token_stream();
    let [left, text] = [left.to_token_stream(), right.clone()].map(|side| written_or(side, ""));
    match (&left[..], &text[..]) {
        ("", _) | (_, "") => "a - b".to_owned(),
        (_, "0") => left,
        _ if right.into_iter().any(is_sum) => format!("{left} - ({text})"),
        _ => format!("{left} - {text}"),
    }
}

struct Writer {
    text: String,
    after_operand: bool,
    /// `true` if the argument of a closure is open, as in `|i| q[i]`.
    is_in_bars: bool,
}

impl Writer {
    fn stream(&mut self, tokens: TokenStream) {
        let mut is_joint = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.group(&group),
                TokenTree::Punct(punct) => {
                    self.punct(&punct, is_joint);
                    is_joint = punct.spacing() == Spacing::Joint && punct.as_char() != '\'';
                    continue;
                }
                word => {
                    if self.after_operand {
                        self.text.push(' ');
                    }
                    self.text.push_str(&word.to_string());
                    self.after_operand = true;
                }
            }
            is_joint = false;
        }
    }

    fn group(&mut self, group: &Group) {
        let [open, close] = match group.delimiter() {
            Delimiter::Parenthesis => ["(", ")"],
            Delimiter::Bracket => ["[", "]"],
            Delimiter::Brace => ["{", "}"],
            Delimiter::None => ["", ""],
        };
        self.text.push_str(open);
        self.after_operand = false;
        self.stream(group.stream());
        self.text.push_str(close);
        self.after_operand = true;
    }

    /// `is_joint` is set after another character of the same operator, as in `==`.
    fn punct(&mut self, punct: &Punct, is_joint: bool) {
        let character = punct.as_char();
        match character {
            ',' | ';' => self.text.extend([character, ' ']),
            '+' | '-' | '*' | '/' | '^' | '%' | '=' | '<' | '>' if self.after_operand || is_joint => {
                if is_joint && self.text.ends_with(' ') {
                    self.text.pop();
                } else {
                    self.text.push(' ');
                }
                self.text.extend([character, ' ']);
            }
            '|' => {
                self.text.push_str(if self.is_in_bars { "| " } else { "|" });
                self.is_in_bars = !self.is_in_bars;
            }
            _ => self.text.push(character),
        }
        self.after_operand = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_written_as_they_are_typed() {
        for text in [
            "q.norm_squared() - l.powi(2)",
            "-a * (b + c) / vector![1, -2][0]",
            "(0..3).map(|i| &q[i] * m[(i, 0)]).sum()",
            "a == b",
        ] {
            let tokens: TokenStream = text.parse().expect("tokens");
            assert_eq!(written(&tokens), text);
        }
        let tokens: TokenStream = "a+b+c+d+e+f+g+h+i+j+k+l+m".parse().expect("tokens");
        assert_eq!(written_or(tokens, "x"), "x");
    }
}
