//! The struct: which items may carry the attribute, and which fields are parameters.
//!
//! An enum, a union and a struct of the wrong kind are mistakes, but they are types: code that uses them should find a model, so the
//! rest of the declaration is read without parameters. Other items cannot stand in for a model.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    Attribute, DeriveInput, Field, Fields, GenericArgument, Generics, Ident, Item, ItemStruct, PathArguments, Type,
};

use super::written::written_or;
use super::{MAX_ENTRIES, Shape, integer, limits};
use crate::syntax::diagnostics::Errors;

/// The fields of a struct: the name of each, and its shape if it can be a parameter.
pub(super) type ParameterFields = Vec<(Ident, Option<Shape>)>;

/// The type and its fields, which are unknown if it cannot be a model; `None` if the item is not a type.
pub(super) fn read(tokens: TokenStream, errors: &Errors) -> Option<(DeriveInput, Option<ParameterFields>)> {
    if !limits::fit(&tokens, errors) || !limits::hold_item(&tokens, errors) {
        return None;
    }
    let first = tokens.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let Ok(item) = syn::parse2::<Item>(tokens) else {
        errors.push(first, PLACE);
        return None;
    };
    let (span, what, item) = match item {
        Item::Struct(mut item) => {
            only_attribute(&mut item, errors);
            let fields = fields(&item, errors);
            return Some((item.into(), fields));
        }
        Item::Enum(item) => (item.enum_token.span, "an enum", Some(item.into())),
        Item::Union(item) => (item.union_token.span, "a union", Some(item.into())),
        Item::Fn(item) => (item.sig.fn_token.span, "a function", None),
        Item::Impl(item) => (item.impl_token.span, "an impl block", None),
        Item::Mod(item) => (item.mod_token.span, "a module", None),
        Item::Trait(item) => (item.trait_token.span, "a trait", None),
        Item::Type(item) => (item.type_token.span, "a type alias", None),
        other => (other.span(), "something else", None),
    };
    errors.push(span, format_args!("{PLACE}; this is {what}"));
    Some((item?, None))
}

const PLACE: &str = "`#[feedback_system]` goes on a struct whose named fields are the model's parameters";

/// Removes other attributes of this kind: what they generate would clash with what this one does.
fn only_attribute(item: &mut ItemStruct, errors: &Errors) {
    let is_model =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|word| word.ident == "feedback_system");
    for other in item.attrs.iter().filter(|attribute| is_model(attribute)) {
        errors.push_spanned(other.path(), "a struct is one model\nhelp: remove this attribute, or the other");
    }
    item.attrs.retain(|attribute| !is_model(attribute));
}

/// The fields, if the struct can be a model.
fn fields(item: &ItemStruct, errors: &Errors) -> Option<ParameterFields> {
    let plain = no_generics(&item.generics, errors);
    if let Fields::Unnamed(fields) = &item.fields {
        let message = "the fields of a model are its parameters and need names: `struct Model { m: f64 }`";
        errors.push(fields.paren_token.span.open(), message);
        return None;
    }
    let parameter = |field: &Field| {
        let name = field.ident.clone()?;
        let shape = parameter(field, &name, errors);
        Some((name, shape))
    };
    plain.then(|| item.fields.iter().filter_map(parameter).collect())
}

/// Reports generic parameters: generated code evaluates one system of known size.
fn no_generics(generics: &Generics, errors: &Errors) -> bool {
    if let Some(parameter) = generics.params.first() {
        errors.push_spanned(parameter, "a model cannot be generic: its parameters are `f64`, its sizes are numbers");
    } else if let Some(clause) = &generics.where_clause {
        errors.push(clause.where_token.span, "a model cannot be generic\nhelp: drop the `where` clause");
    } else {
        return true;
    }
    false
}

fn parameter(field: &Field, name: &Ident, errors: &Errors) -> Option<Shape> {
    if let Some(attribute) = field.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")) {
        let message =
            "a parameter cannot be conditional: the equations would lack it\nhelp: put `cfg` on two whole models";
        errors.push_spanned(attribute, message);
        return None;
    }
    if let Some((equals, value)) = &field.default {
        let value = written_or(value, "..");
        let message = format!("a field has no value here\nhelp: write `default({name} = {value})` in the attribute");
        errors.push(equals.span(), message);
    }
    let message = match shape(&field.ty) {
        Ok(shape) if shape.entries() == 0 => format!("the parameter `{name}` has no entries"),
        Ok(shape) if shape.entries() > MAX_ENTRIES => {
            format!("the parameter `{name}` has more than {MAX_ENTRIES} entries")
        }
        Ok(shape) => return Some(shape),
        Err(Unfit::Size) => format!("the size of the parameter `{name}` must be an integer literal, as in `[f64; 3]`"),
        Err(Unfit::Scalar) => match double(&field.ty) {
            Some(remedy) => format!("the entries of the parameter `{name}` must be `f64`\nhelp: write `{remedy}`"),
            None => format!("the entries of the parameter `{name}` must be `f64`"),
        },
        Err(Unfit::Type) => {
            let written = compact(&field.ty);
            let kinds = "`f64`, `[f64; N]` or one of nalgebra's `Vector3<f64>`, `SVector`, `Matrix3<f64>`, `SMatrix`";
            let remedy = match &written.to_lowercase()[..] {
                "f32" => "\nhelp: write `f64`: a model is prepared in double precision, also where it runs in `f32`",
                number if NUMBERS.contains(&number) => "\nhelp: write `f64`",
                list if list.starts_with("vec<") || list.starts_with("&[") => {
                    "\nhelp: write `[f64; 3]`, with the number of its entries"
                }
                _ => "",
            };
            format!("`{name}` cannot be a parameter: its type must be {kinds}; `{written}` is none of them{remedy}")
        }
    };
    errors.push_spanned(&field.ty, message);
    None
}

/// A type without spaces.
fn compact(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// The type in double precision, or the matrix for an array of arrays.
fn double(ty: &Type) -> Option<String> {
    match ty {
        Type::Array(rows) => match &*rows.elem {
            Type::Array(columns) => {
                let [rows, columns] = [&rows.len, &columns.len].map(|size| size.to_token_stream());
                Some(format!("SMatrix<f64, {rows}, {columns}>"))
            }
            _ => Some(compact(ty).replace("f32", "f64").replace(';', "; ")).filter(|double| double.contains("f64")),
        },
        _ => Some(compact(ty)).filter(|written| written.contains("f32")).map(|written| written.replace("f32", "f64")),
    }
}

/// Types of numbers, in small letters.
const NUMBERS: [&str; 18] = [
    "float", "double", "real", "int", "number", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64",
    "u128", "usize", "complex",
];

/// The reason why a parameter cannot have this type.
enum Unfit {
    Type,
    Scalar,
    Size,
}

fn shape(ty: &Type) -> Result<Shape, Unfit> {
    let (scalar, sizes) = match ty {
        Type::Paren(inner) => return shape(&inner.elem),
        Type::Group(inner) => return shape(&inner.elem),
        Type::Array(array) => (&*array.elem, vec![integer(&array.len).ok_or(Unfit::Size)]),
        Type::Path(path) if path.qself.is_none() => {
            let segment = path.path.segments.last().ok_or(Unfit::Type)?;
            let arguments: Vec<&GenericArgument> = match &segment.arguments {
                PathArguments::None => Vec::new(),
                PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
                PathArguments::Parenthesized(_) => return Err(Unfit::Type),
            };
            match (&segment.ident.to_string()[..], &arguments[..]) {
                ("f64", []) => return Ok(Shape::Scalar),
                (_, []) => return Err(Unfit::Type),
                (name, [scalar, sizes @ ..]) => {
                    let sizes = sizes_of(name, sizes)?;
                    let GenericArgument::Type(scalar) = scalar else { return Err(Unfit::Scalar) };
                    (scalar, sizes)
                }
            }
        }
        _ => return Err(Unfit::Type),
    };
    let Ok(Shape::Scalar) = shape(scalar) else { return Err(Unfit::Scalar) };
    let sizes: Vec<usize> = sizes.into_iter().collect::<Result<_, _>>()?;
    Shape::of(&sizes).ok_or(Unfit::Type)
}

/// The sizes of one of nalgebra's types, which has them in its name or as arguments.
fn sizes_of(name: &str, arguments: &[&GenericArgument]) -> Result<Vec<Result<usize, Unfit>>, Unfit> {
    let (kind, digits) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
    match (kind, digits, arguments) {
        ("SVector", "", [_]) | ("SMatrix", "", [_, _]) => Ok(arguments.iter().map(|argument| size(argument)).collect()),
        ("Vector", length, []) => Ok(vec![Ok(small(length)?)]),
        ("Matrix", sizes, []) => {
            let (rows, columns) = sizes.split_once('x').unwrap_or((sizes, sizes));
            Ok(vec![Ok(small(rows)?), Ok(small(columns)?)])
        }
        _ => Err(Unfit::Type),
    }
}

/// The size in the name of one of nalgebra's aliases, which end at six.
fn small(digits: &str) -> Result<usize, Unfit> {
    match digits.parse() {
        Ok(size @ 1..=6) if digits.len() == 1 => Ok(size),
        _ => Err(Unfit::Type),
    }
}

fn size(argument: &GenericArgument) -> Result<usize, Unfit> {
    match argument {
        GenericArgument::Const(size) => integer(size).ok_or(Unfit::Size),
        _ => Err(Unfit::Size),
    }
}
