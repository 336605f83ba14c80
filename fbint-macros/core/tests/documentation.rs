//! What rustdoc shows of a model: its equations as text, and no strings.

use syn::{Attribute, Expr, ImplItem, ImplItemConst, Item, Lit, Meta};

const ATTRIBUTE: &str = "coordinates(q: [2]), momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2))";
const ITEM: &str = "struct Pendulum { m: f64, g: f64, l: f64 }";

/// The implementation that has the constants.
fn implementation() -> syn::ItemImpl {
    let tokens = |text: &str| text.parse().expect("the text is made of tokens");
    let expansion = fbint_macros_core::feedback_system(tokens(ATTRIBUTE), tokens(ITEM));
    let file: syn::File = syn::parse2(expansion).expect("the expansion is Rust");
    let implementations = file.items.into_iter().filter_map(|item| match item {
        Item::Impl(implementation) => Some(implementation),
        _ => None,
    });
    let mut with_constants = implementations.filter(|found| constants(found).any(|found| found.ident == "EQUATIONS"));
    with_constants.next().expect("a model has equations")
}

fn constants(implementation: &syn::ItemImpl) -> impl Iterator<Item = &ImplItemConst> {
    implementation.items.iter().filter_map(|item| match item {
        ImplItem::Const(constant) => Some(constant),
        _ => None,
    })
}

fn string(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn documentation(attributes: &[Attribute]) -> String {
    let texts = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => string(&meta.value),
        _ => None,
    });
    texts.collect()
}

fn is_hidden(constant: &ImplItemConst) -> bool {
    constant.attrs.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("doc") && list.tokens.to_string() == "hidden",
        _ => false,
    })
}

#[test]
fn a_models_page_shows_its_equations() {
    let implementation = implementation();
    let equations = constants(&implementation).find(|constant| constant.ident == "EQUATIONS");
    let equations = equations.and_then(|constant| string(&constant.expr)).expect("EQUATIONS is a string");
    let documentation = documentation(&implementation.attrs);
    assert!(documentation.contains(&format!("```text\n{equations}```")), "{documentation}");
    assert!(equations.contains("d q[0]/dt = p[0]/m - 2*c[length_rate]*q[0]/m"), "{equations}");
}

#[test]
fn long_strings_are_hidden() {
    let implementation = implementation();
    let hidden = constants(&implementation).filter(|constant| is_hidden(constant));
    let hidden: Vec<String> = hidden.map(|constant| constant.ident.to_string()).collect();
    assert_eq!(hidden, ["SOURCE", "DERIVATION", "EQUATIONS"]);
}
