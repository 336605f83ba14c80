//! Names in C of what a model declares.

use std::collections::BTreeSet;

/// Words that C, C++ or the header has for something else, where a name has no prefix.
const TAKEN: &str = "\
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class \
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype \
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline \
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public real \
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast \
    struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned using \
    virtual void volatile wchar_t while xor xor_eq linux unix errno assert NULL main isnan signbit isinf EOF INFINITY \
    NAN HUGE_VAL HUGE_VALF HUGE_VALL DECIMAL_DIG math_errhandling M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 \
    M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2";
/// Further names that no model may have: headers of C, files, functions and libraries of exports, targets that CMake has.
const FILES: &str = "\
    complex ctype fenv inttypes iso646 limits locale math setjmp signal stdarg stdbool stddef stdint stdio stdlib string \
    tgmath time wchar wctype fmu state m all clean help install package test";
/// The beginnings of macros of `math.h` and `float.h`.
const MACROS: [&str; 5] = ["DBL_", "FLT_", "FP_", "LDBL_", "MATH_"];

/// Names that are different from one another and from the words of the language: `q_0_1` for `q[(0, 1)]`.
pub(crate) fn members<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = TAKEN.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    let own = |name| {
        let name = identifier(name);
        if MACROS.iter().any(|macros| name.starts_with(macros)) { name + "_" } else { name }
    };
    names.into_iter().map(|name| free(own(name), &mut taken)).collect()
}

/// Names of constants: capitals behind a prefix.
pub(crate) fn constants<'n>(prefix: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let constant = |name| format!("{prefix}_{}", identifier(name).to_uppercase());
    names.into_iter().map(|name| free(constant(name), &mut taken)).collect()
}

/// The prefix of everything that belongs to a model: `four_bar` of `FourBar`, `chain_16` of `Chain16`.
pub(crate) fn prefix(name: &str) -> String {
    let (mut prefix, mut before) = (String::new(), None);
    for character in identifier(name).chars() {
        let begins = character.is_ascii_uppercase() || character.is_ascii_digit();
        if begins && before.is_some_and(|before: char| before.is_ascii_lowercase()) {
            prefix.push('_');
        }
        prefix.push(character.to_ascii_lowercase());
        before = Some(character);
    }
    free(prefix, &mut TAKEN.split(' ').chain(FILES.split(' ')).map(str::to_owned).collect())
}

/// Letters, digits and single underscores, none behind `model`, where templates have the prefix; what C has no letter for is `u` and its
/// number.
fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' => identifier.push(character),
            _ if character.is_alphanumeric() => identifier.push_str(&format!("u{:x}", u32::from(character))),
            _ if identifier.ends_with('_') || identifier.is_empty() => {}
            _ if identifier.to_lowercase().ends_with("model") => {}
            _ => identifier.push('_'),
        }
    }
    let identifier = identifier.trim_end_matches('_');
    let needs_letter = identifier.is_empty() || identifier.starts_with(|first: char| first.is_ascii_digit());
    if needs_letter { format!("v{identifier}") } else { identifier.to_owned() }
}

fn free(mut name: String, taken: &mut BTreeSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_c_and_differ() {
        let names = ["m", "q[0]", "a[(0, 1)]", "a_0_1", "int", "\u{3b8}", "_", "3", "INFINITY", "FLT_MAX", "a_model_b"];
        let members_of_c =
            ["m", "q_0", "a_0_1", "a_0_1_", "int_", "u3b8", "v", "v3", "INFINITY_", "FLT_MAX_", "a_modelb"];
        assert_eq!(members(names), members_of_c);
        assert_eq!(constants("MODEL", ["q", "Q"]), ["MODEL_Q", "MODEL_Q_"]);
        let prefixes = ["FourBar", "Chain16", "Double", "Math", "Test", "ModelCar"].map(prefix);
        assert_eq!(prefixes, ["four_bar", "chain_16", "double_", "math_", "test_", "model_car"]);
    }
}
