//! Bounds on the size and depth of the input, checked on bare tokens without recursion.
//!
//! syn parses by recursive descent, and its trees are dropped by recursion: input that nests deeply enough ends the
//! compiler by stack overflow. Three things make trees deep: groups inside groups, prefixes in a row (`- - - x`,
//! `|i| |j| x`, `<A<A<A`), and long chains (`a + b + c`, `a.b().c()`), whose trees lean to the left. syn reads chains in
//! a loop, so they may be much longer than the others. A comma starts a new tree.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree, token_stream};

use crate::syntax::diagnostics::Errors;

/// The most tokens of an attribute or an item.
const MAX_TOKENS: usize = 100_000;
/// The longest number: syn takes time for the square of its digits.
const MAX_DIGITS: usize = 10_000;
/// The deepest nesting of groups in an entry.
const MAX_GROUPS: usize = 64;
/// The deepest nesting of groups and prefixes in an item: reading a type takes more of the stack than reading an expression.
const MAX_DEPTH_OF_ITEM: usize = 32;
/// The deepest nesting of prefixes in an entry.
const MAX_PREFIXES: usize = 64;
/// The longest chain of operators, calls and indexings in an entry.
const MAX_CHAIN: usize = 2_000;

/// Keywords that an expression or a type follows.
const PREFIX_WORDS: [&str; 29] = [
    "as", "async", "await", "box", "break", "const", "continue", "dyn", "else", "extern", "fn", "for", "if", "impl",
    "in", "let", "loop", "match", "move", "mut", "raw", "ref", "return", "static", "try", "unsafe", "where", "while",
    "yield",
];

/// Returns `true` if there are few enough tokens to look through, and no number is too long. Reports the first one in excess.
pub(crate) fn fit(tokens: &TokenStream, errors: &Errors) -> bool {
    let mut open = vec![tokens.clone().into_iter()];
    let mut count = 0;
    while let Some(level) = open.last_mut() {
        let Some(token) = level.next() else {
            open.pop();
            continue;
        };
        count += 1;
        if count > MAX_TOKENS {
            errors.push(place(&token), format_args!("there are more than {MAX_TOKENS} tokens up to here"));
            return false;
        }
        let digits = digits(&token);
        if digits > MAX_DIGITS {
            let excess = format!("this number has {digits} characters, and at most {MAX_DIGITS} are read");
            errors.push(place(&token), excess + "\nhelp: round it, or write it with an exponent");
            return false;
        }
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
        }
    }
    true
}

/// The length of a number, 0 of any other token.
fn digits(token: &TokenTree) -> usize {
    let TokenTree::Literal(literal) = token else { return 0 };
    let text = literal.to_string();
    if text.starts_with(|first: char| first.is_ascii_digit()) { text.len() } else { 0 }
}

/// Returns `true` if an entry of the attribute may be given to syn. Reports the first excess at its token.
pub(crate) fn hold(tokens: &TokenStream, errors: &Errors) -> bool {
    hold_up_to([MAX_GROUPS, MAX_PREFIXES], "\nhelp: name inner parts with `define`", tokens, errors)
}

/// Returns `true` if the item may be given to syn. Reports the first excess at its token.
pub(super) fn hold_item(tokens: &TokenStream, errors: &Errors) -> bool {
    let remedy = "; the type of a parameter is `f64`, or a vector, a matrix or an array of it";
    hold_up_to([MAX_DEPTH_OF_ITEM; 2], remedy, tokens, errors)
}

fn hold_up_to([groups, prefixes]: [usize; 2], remedy: &str, tokens: &TokenStream, errors: &Errors) -> bool {
    let mut open = vec![Level::new(tokens.clone(), Depth::default())];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.tokens.next() else {
            open.pop();
            continue;
        };
        let inner = level.depth.clone();
        level.admit(&token);
        let complaint = if level.depth.prefixes.max(level.depth.run).max(level.sticky) > prefixes {
            format!("more than {prefixes} operators and keywords apply to one another here{remedy}")
        } else if level.depth.chain > MAX_CHAIN {
            format!("this expression chains more than {MAX_CHAIN} operators\nhelp: name parts of it with `define`")
        } else if open.len() > groups && matches!(token, TokenTree::Group(_)) {
            format!("parentheses are nested more than {groups} deep here{remedy}")
        } else {
            if let TokenTree::Group(group) = token {
                open.push(Level::new(group.stream(), inner));
            }
            continue;
        };
        errors.push(place(&token), complaint);
        return false;
    }
    true
}

fn place(token: &TokenTree) -> Span {
    match token {
        TokenTree::Group(group) if group.delimiter() != Delimiter::None => group.span_open(),
        token => token.span(),
    }
}

/// Bounds on the depth of the tree of the current entry so far, by cause.
#[derive(Clone, Default)]
struct Depth {
    /// Left-associative operators, method calls, calls and indexings.
    chain: usize,
    /// Prefixes that no operand ends and on which a parser recurses.
    prefixes: usize,
    /// Unary operators in a row.
    run: usize,
}

/// One open group.
struct Level {
    tokens: token_stream::IntoIter,
    outer: Depth,
    depth: Depth,
    /// Angle brackets still open, plus bars of closures: a comma ends neither.
    sticky: usize,
    after_operand: bool,
}

impl Level {
    fn new(tokens: TokenStream, outer: Depth) -> Self {
        Self { tokens: tokens.into_iter(), depth: outer.clone(), outer, sticky: 0, after_operand: false }
    }

    fn admit(&mut self, token: &TokenTree) {
        match token {
            TokenTree::Group(_) => {
                self.depth.chain += 1;
                self.operand();
            }
            TokenTree::Literal(_) => self.operand(),
            TokenTree::Ident(word) if PREFIX_WORDS.iter().any(|keyword| word == keyword) => {
                self.depth.prefixes += 1;
                self.after_operand = false;
            }
            TokenTree::Ident(_) => self.operand(),
            TokenTree::Punct(punct) => {
                self.punct(punct.as_char(), punct.spacing());
                self.after_operand = false;
            }
        }
    }

    fn operand(&mut self) {
        self.depth.run = self.outer.run;
        self.after_operand = true;
    }

    fn punct(&mut self, character: char, spacing: Spacing) {
        match character {
            ',' | ';' => self.depth = self.outer.clone(),
            '#' | ':' => {}
            '+' | '-' | '*' | '/' | '!' if self.after_operand => self.depth.chain += 1,
            '.' if self.after_operand && spacing == Spacing::Alone => self.depth.chain += 1,
            '+' | '-' | '*' | '/' | '!' | '&' if !self.after_operand => self.depth.run += 1,
            '<' | '|' => self.sticky += 1,
            '>' => self.sticky = self.sticky.saturating_sub(1),
            _ => self.depth.prefixes += 1,
        }
    }
}
