//! Source files of crates.

use fbint_export::{declarations_in, left_out};

#[test]
fn declarations_keep_their_places() {
    let text = "//! \u{e9}\nuse a::b;\n/// One.\n#[fbint_runtime::feedback_system(state(x), dynamics(x = 1))]\npub struct One;\n\
                impl One {\n    fn \u{e9}() { \"}\" }\n}\nconst A: T = T { a: 1 };\n#[derive(Debug)]\nstruct Two { a: f64 }\n";
    let found = declarations_in(text);
    assert_eq!(found.len(), text.len());
    let declaration = &text[text.find("/// One").expect("a start")..text.find("impl").expect("an end")];
    assert_eq!(found.trim(), declaration.trim());
    assert_eq!(found.find("pub struct"), text.find("pub struct"));
    assert_eq!(declarations_in("struct {"), "struct {");
}

#[test]
fn code_of_models_is_named() {
    let text = "impl fbint_command::Model for One { fn start(&self) -> A { B } fn drawing(&self) {} }\nimpl Model for Two {}\n\
                impl Display for Three { fn fmt(&self) {} }\nfn main() {}";
    assert_eq!(left_out(text), [("One".to_owned(), vec!["start".to_owned(), "drawing".to_owned()])]);
    assert_eq!(left_out("fn {"), []);
}
