//! Text as a book sets it: `1e-3` becomes 10⁻³, and `<=` becomes ≤.

/// Maximum length of LaTeX that is set: more is tedious to read, and takes long.
pub const MAX_LATEX: usize = 20_000;

/// The text with powers of ten instead of exponential notation, and with ≤ and ≥.
pub fn typeset(text: &str) -> String {
    let (mut set, mut rest, mut before) = (String::new(), text, ' ');
    while let Some(letter) = rest.chars().next() {
        let is_start = letter.is_ascii_digit() && !before.is_alphanumeric() && !['.', '_'].contains(&before);
        let length = if let (true, Some((length, number))) = (is_start, power(rest)) {
            set += &number;
            length
        } else {
            set.push(letter);
            letter.len_utf8()
        };
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
    set.replace("<=", "≤").replace(">=", "≥")
}

/// The length of the number in exponential notation that a text begins with, and the number as a power of ten.
fn power(text: &str) -> Option<(usize, String)> {
    let mantissa = &text[..text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?];
    let after = text[mantissa.len()..].strip_prefix('e')?;
    let unsigned = after.strip_prefix('-').unwrap_or(after);
    let digits = unsigned.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unsigned.len());
    if digits == 0 || unsigned[digits..].starts_with(char::is_alphanumeric) {
        return None;
    }
    let exponent = &after[..after.len() - unsigned.len() + digits];
    let number = match (mantissa, exponent) {
        (_, "0") => mantissa.to_owned(),
        ("1", _) => format!("10{}", raised(exponent)),
        _ => format!("{mantissa}·10{}", raised(exponent)),
    };
    Some((mantissa.len() + 1 + exponent.len(), number))
}

/// Digits and signs as superscripts.
pub(crate) fn raised(text: &str) -> String {
    text.chars().map(superscript).collect()
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_powers_of_ten_and_words_stay() {
        let cases = [
            ("h = 1e-3, k = 50", "h = 10⁻³, k = 50"),
            ("rtol 1e-3/1e-6: m", "rtol 10⁻³/10⁻⁶: m"),
            ("moves by 4.9e-5.", "moves by 4.9·10⁻⁵."),
            ("2e5 steps of CJP16", "2·10⁵ steps of CJP16"),
            ("dop853, x1e3, 0x1e3, 1e, 12", "dop853, x1e3, 0x1e3, 1e, 12"),
            ("DOP853 at 1e-13", "DOP853 at 10⁻¹³"),
            ("1.2e0 without, t <= 200", "1.2 without, t ≤ 200"),
        ];
        for (text, set) in cases {
            assert_eq!(typeset(text), set);
        }
    }
}
