//! What rustdoc shows of a model: its equations as text.

use syn::{Attribute, Expr, Item, Lit, Meta};

use super::expansion::{fact, tokens};

const ATTRIBUTE: &str = "coordinates(q: [2]), momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2))";
const ITEM: &str = "struct Pendulum { m: f64, g: f64, l: f64 }";

fn documentation(attributes: &[Attribute]) -> String {
    let texts = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_models_page_shows_its_equations() {
    let expansion = fbint_macros_core::feedback_system(tokens(ATTRIBUTE), tokens(ITEM));
    let file: syn::File = syn::parse2(expansion).expect("the expansion is Rust");
    let equations = fact(&file, "equations").expect("a model has equations");
    let implementations = file.items.iter().filter_map(|item| match item {
        Item::Impl(implementation) => Some(documentation(&implementation.attrs)),
        _ => None,
    });
    let documentation: String = implementations.collect();
    assert!(documentation.contains(&format!("```text\n{equations}```")), "{documentation}");
    assert!(equations.contains("d q[0]/dt = p[0]/m - 2*c[length_rate]*q[0]/m"), "{equations}");
}
