//! Texts of others as terminals may show them.

/// The text with each control character replaced by a picture, except ends of lines and tabs: `␛` begins no sequence that a terminal obeys.
/// Characters that change the direction of writing become `�`.
pub fn printable(text: &str) -> String {
    text.chars().map(shown).collect()
}

fn shown(character: char) -> char {
    match character {
        '\n' | '\t' => character,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('�'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '�',
        _ => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        let text = "\x1b]0;title\x07\u{9b}2J\r\x7f\u{202e}µ ²\n\tend";
        assert_eq!(printable(text), "␛]0;title␇�2J␍␡�µ ²\n\tend");
    }
}
