//! The public items of `fbint-runtime`, as its source declares them, against a list: a change of what programs depend on is seen and meant.
//!
//! The list has what the root exports and documents, with the feature in brackets that an item needs: types with public fields and
//! variants, traits with their methods, functions of types, and implementations that are written out. Derived ones and those of generic
//! blankets for foreign types are not in it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use fbint_tests::workspaces::home;
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item, ItemImpl, ItemTrait, TraitItem, Type, UseTree, Visibility};

#[test]
fn the_public_items_of_the_runtime_are_listed() -> Result<(), Box<dyn Error>> {
    let source = home().join("fbint-runtime/src");
    let root = syn::parse_file(&fs::read_to_string(source.join("lib.rs"))?)?;
    let mut list = Listing::default();
    root.items.iter().for_each(|item| list.export(item));
    let mut files = Vec::new();
    for path in sources(&source)? {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        files.push((stem, syn::parse_file(&fs::read_to_string(&path)?)?));
    }
    // A module that is exported exports in turn.
    for (_, file) in files.iter().filter(|(stem, _)| list.modules.contains(stem)).collect::<Vec<_>>() {
        file.items.iter().for_each(|item| list.export(item));
    }
    for (stem, file) in &files {
        let module = list.exported.get(stem).filter(|_| list.modules.contains(stem)).cloned();
        file.items.iter().for_each(|item| list.item(item, module.as_deref()));
    }
    list.lines.sort();
    list.lines.dedup();
    assert!(list.lines.len() > 300, "{} items", list.lines.len());
    insta::assert_snapshot!("public_items_of_the_runtime", list.lines.join("\n"));
    Ok(())
}

#[derive(Default)]
struct Listing {
    /// The names that the root exports, each with the feature that it needs.
    exported: BTreeMap<String, String>,
    /// The ones of them in small letters: modules, or functions.
    modules: Vec<String>,
    lines: Vec<String>,
}

impl Listing {
    /// Notes what an item of the root exports.
    fn export(&mut self, item: &Item) {
        if let Item::Use(item) = item
            && matches!(item.vis, Visibility::Public(_))
            && !is_hidden(&item.attrs)
        {
            let feature = feature(&item.attrs);
            leaves(&item.tree, &mut |name| {
                if name.starts_with(char::is_lowercase) {
                    self.modules.push(name.clone());
                    self.lines.push(format!("pub use {name}{feature}"));
                }
                self.exported.insert(name, feature.clone());
            });
        }
    }

    /// Lists an item if it is exported, by its name or with its whole module, whose feature that is.
    fn item(&mut self, item: &Item, module: Option<&str>) {
        let (name, attributes, visibility) = match item {
            Item::Struct(item) => (&item.ident, &item.attrs, &item.vis),
            Item::Enum(item) => (&item.ident, &item.attrs, &item.vis),
            Item::Trait(item) => (&item.ident, &item.attrs, &item.vis),
            Item::Type(item) => (&item.ident, &item.attrs, &item.vis),
            Item::Const(item) => (&item.ident, &item.attrs, &item.vis),
            Item::Fn(item) => (&item.sig.ident, &item.attrs, &item.vis),
            Item::Impl(item) => return self.implementation(item, module),
            _ => return,
        };
        let is_public = matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes);
        let Some(feature) = module.or(self.exported.get(&name.to_string()).map(String::as_str)) else { return };
        if is_public {
            let feature = feature.to_owned();
            self.lines.extend(described(item).into_iter().map(|line| format!("{line}{feature}")));
        }
    }

    /// Lists the public functions of an exported type, and the traits that are implemented for it.
    fn implementation(&mut self, item: &ItemImpl, module: Option<&str>) {
        let Type::Path(owner) = &*item.self_ty else { return };
        let Some(name) = owner.path.segments.last().map(|segment| segment.ident.to_string()) else { return };
        let Some(exported) = self.exported.get(&name).map(String::as_str).or(module) else { return };
        let feature = if exported.is_empty() { feature(&item.attrs) } else { exported.to_owned() };
        if let Some((of, _)) = &item.trait_ {
            let (of, owner, bounds) = (text(of), text(owner), text(&item.generics.where_clause));
            let (generics, _, _) = item.generics.split_for_impl();
            let line = format!("impl{} {of} for {owner} {bounds}", text(&generics));
            self.lines.push(format!("{}{feature}", line.trim_end()));
            return;
        }
        for member in &item.items {
            match member {
                ImplItem::Fn(member) if matches!(member.vis, Visibility::Public(_)) && !is_hidden(&member.attrs) => {
                    let own = self::feature(&member.attrs);
                    let feature = if own.is_empty() { &feature } else { &own };
                    self.lines.push(format!("{name}: {}{feature}", text(&member.sig)));
                }
                ImplItem::Const(member) if matches!(member.vis, Visibility::Public(_)) && !is_hidden(&member.attrs) => {
                    self.lines.push(format!("{name}: const {}: {}{feature}", member.ident, text(&member.ty)));
                }
                _ => {}
            }
        }
    }
}

/// A declaration without bodies and documentation, a line for each public part.
fn described(item: &Item) -> Vec<String> {
    match item {
        Item::Struct(item) => {
            let (name, head) = (&item.ident, format!("struct {}{}", item.ident, text(&item.generics)));
            let fields = item.fields.iter().filter(|field| matches!(field.vis, Visibility::Public(_)));
            let lines = fields.enumerate().map(|(place, field)| {
                let label = field.ident.as_ref().map_or(place.to_string(), ToString::to_string);
                format!("{name}.{label}: {}", text(&field.ty))
            });
            [head].into_iter().chain(lines).collect()
        }
        Item::Enum(item) => {
            let head = format!("enum {}{}", item.ident, text(&item.generics));
            let variants = item.variants.iter().map(|variant| {
                let fields = variant.fields.iter().map(|field| {
                    let label = field.ident.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
                    label + text(&field.ty).as_str()
                });
                format!("{}::{}({})", item.ident, variant.ident, fields.collect::<Vec<_>>().join(", "))
            });
            [head].into_iter().chain(variants).collect()
        }
        Item::Trait(item) => described_trait(item),
        Item::Type(item) => vec![format!("type {}{} = {}", item.ident, text(&item.generics), text(&item.ty))],
        Item::Const(item) => vec![format!("const {}: {}", item.ident, text(&item.ty))],
        Item::Fn(item) => vec![text(&item.sig)],
        _ => Vec::new(),
    }
}

fn described_trait(item: &ItemTrait) -> Vec<String> {
    let bounds = if item.supertraits.is_empty() { String::new() } else { format!(": {}", text(&item.supertraits)) };
    let head = format!("trait {}{}{bounds}", item.ident, text(&item.generics));
    let members = item.items.iter().filter_map(|member| match member {
        TraitItem::Fn(member) if !is_hidden(&member.attrs) => {
            let given = if member.default.is_some() { " { .. }" } else { "" };
            Some(format!("{}: {}{given}", item.ident, text(&member.sig)))
        }
        TraitItem::Type(member) => {
            let (generics, bounds) = (text(&member.generics), text(&member.bounds));
            Some(format!("{}: type {}{generics}: {bounds}", item.ident, member.ident))
        }
        TraitItem::Const(member) if !is_hidden(&member.attrs) => {
            Some(format!("{}: const {}: {}", item.ident, member.ident, text(&member.ty)))
        }
        _ => None,
    });
    [head].into_iter().chain(members).collect()
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("doc") && text(&attribute.meta).contains("hidden"))
}

/// The condition under which something is compiled, in brackets.
fn feature(attributes: &[Attribute]) -> String {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions
        .filter_map(|attribute| Some(format!(" [{}]", text(&attribute.meta.require_list().ok()?.tokens))))
        .collect()
}

/// The names that a `use` makes.
fn leaves(tree: &UseTree, each: &mut impl FnMut(String)) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, each),
        UseTree::Name(name) => each(name.ident.to_string()),
        UseTree::Rename(rename) => each(rename.rename.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, each)),
        UseTree::Glob(_) => panic!("a glob hides what is public"),
    }
}

/// Tokens as one writes them.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (wide, narrow) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" ,", ","),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ;", ";"),
        (" : ", ": "),
        ("[ ", "["),
        (" ]", "]"),
        ("->(", "-> ("),
        ("-><", "-> <"),
        (",)", ")"),
        ("(mut self", "(self"),
    ] {
        text = text.replace(wide, narrow);
    }
    text
}

/// The files of a package, in the order of their names.
fn sources(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
