//! Numbers in text as a book sets them: `1e-3` becomes 10⁻³.

/// The text with each number in exponential notation as a power of ten.
pub(crate) fn typeset(text: &str) -> String {
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
    set
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
    let factor = if mantissa == "1" { String::new() } else { format!("{mantissa}·") };
    Some((mantissa.len() + 1 + exponent.len(), format!("{factor}10{}", raised(exponent))))
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
        ];
        for (text, set) in cases {
            assert_eq!(typeset(text), set);
        }
    }
}
