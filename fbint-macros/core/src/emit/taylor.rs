//! The coefficients of Taylor series, where they are declared.
//!
//! The loop over orders is rolled: written out, its code would not stay in the processor's cache. Within an order all sums come first, in
//! explicit vectors, in loops of as many as there are registers for; the orders that are newest come last, so that what does not need them
//! need not wait.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::body::{Host, Writer};
use super::local;
use crate::program::{Group, Input, Instruction, Layout, Program, TaylorSeries};

/// The number of vectors of sums that one loop adds up: two more operands have to be in registers, too.
const TOGETHER: usize = 6;

/// The implementation of `TaylorSystem`.
///
/// ```text
/// impl TaylorSystem for Pendulum {
///     const COLUMNS: usize = 2;
///     fn taylor_coefficients(__system: &Self::Prepared<f64>, __coefficients: &mut [[f64; 2]], __memory: &mut [Four]) { .. }
/// }
/// ```
pub(super) fn taylor(writer: &Writer<'_>) -> Option<TokenStream> {
    if !writer.declaration.taylor {
        return None;
    }
    let (runtime, states) = (writer.runtime, Literal::usize_unsuffixed(writer.signatures.states));
    let layout = writer.model.and_then(|model| model.series.as_ref()).map(Layout::of).unwrap_or_default();
    // There are no chunks of nothing.
    let columns = Literal::usize_unsuffixed(layout.columns.len().max(1));
    let body = writer
        .content(|model| model.series.as_ref().map_or_else(TokenStream::new, |series| body(writer, series, &layout)));
    let (system, coefficients, memory) = (local("system"), local("coefficients"), local("memory"));
    let items = quote! {
        const COLUMNS: ::core::primitive::usize = #columns;
        fn taylor_coefficients(
            #system: &Self::Prepared<::core::primitive::f64>,
            #coefficients: &mut [[::core::primitive::f64; #states]],
            #memory: &mut [#runtime::Four],
        ) {
            #body
        }
    };
    Some(writer.implementation(&quote!(#runtime::TaylorSystem), &items))
}

/// The functions of Taylor series, for simulations, whose methods are chosen at run time.
pub(super) fn taylor_functions(writer: &Writer<'_>) -> Option<TokenStream> {
    let (runtime, system, coefficients, memory) =
        (writer.runtime, local("system"), local("coefficients"), local("memory"));
    writer.declaration.taylor.then(|| quote! {
        const MAY_HAVE_SERIES: ::core::primitive::bool = true;
        fn taylor_functions(
            _: &Self::Prepared<::core::primitive::f64>,
        ) -> ::core::result::Result<#runtime::TaylorFunctions<Self>, &'static ::core::primitive::str> {
            ::core::result::Result::Ok(#runtime::TaylorFunctions {
                columns: <Self as #runtime::TaylorSystem>::COLUMNS,
                expand: |#system, #coefficients, #memory| {
                    <Self as #runtime::TaylorSystem>::taylor_coefficients(#system, #coefficients.as_chunks_mut().0, #memory)
                },
            })
        }
    })
}

/// The function's body.
fn body(writer: &Writer<'_>, series: &TaylorSeries, layout: &Layout) -> TokenStream {
    let runtime = writer.runtime;
    let [x, coefficients, rest, memory, rates, index, past, present] =
        ["x", "coefficients", "rest", "memory", "rates", "index", "past", "present"].map(local);
    let (number, inverse) = (numbered(0, "order"), numbered(1, "order"));
    let columns = Literal::usize_unsuffixed(layout.columns.len().max(1));
    let (begin, begun) = writer.body(&series.begin, Host::Series);
    let (begun, initials) = begun.split_at(series.entries);
    let initials = (0..).zip(initials).map(|(place, value)| {
        let name = numbered(place, "initial");
        quote!(let #name = #value;)
    });
    let (finish, finished) = writer.body(&series.finish, Host::Series);
    let (new_rates, sequences) = finished.split_at(series.entries);
    let entries = (0..series.entries).map(Literal::usize_unsuffixed);
    let stored = layout.columns.iter().map(|column| {
        let lanes = column.map(|sequence| &sequences[sequence]);
        quote!(#runtime::Four::new([#(#lanes),*]))
    });
    let empty = layout.columns.is_empty().then(|| quote!(#runtime::Four::ZERO));
    let (sums, named) = (sums(writer, layout), lanes(series, layout));
    let order = reads(&series.finish, Input::Order(0)).then(|| quote!(let #number = #index as ::core::primitive::f64;));
    quote! {
        let ::core::option::Option::Some((#x, #rest)) = #coefficients.split_first_mut() else { return };
        let (#memory, _) = #memory.as_chunks_mut::<#columns>();
        #begin
        #(#initials)*
        let mut #rates = [#(#begun),*];
        #runtime::Four::clear(#memory.first_mut());
        for (#index, #x) in (1..).zip(#rest) {
            let #inverse = 1.0 / (#index as ::core::primitive::f64);
            #order
            *#x = [#(#rates[#entries] * #inverse),*];
            let ::core::option::Option::Some((#past, [#present, ..])) = #memory.split_at_mut_checked(#index) else { return };
            #sums
            #named
            #finish
            *#present = [#(#stored),* #empty];
            #rates = [#(#new_rates),*];
        }
    }
}

/// A name that no declared one is.
fn numbered(place: usize, what: &str) -> Ident {
    local(format!("{place}_{what}"))
}

fn reads(program: &Program, input: Input) -> bool {
    program.instructions.contains(&Instruction::Input(input))
}

fn vector(group: usize) -> Ident {
    local(format!("{group}_sums"))
}

/// The sums of an order, side by side.
fn sums(writer: &Writer<'_>, layout: &Layout) -> TokenStream {
    let (runtime, past) = (writer.runtime, local("past"));
    if layout.groups.is_empty() {
        return TokenStream::new();
    }
    let groups: Vec<(usize, &Group)> = layout.groups.iter().enumerate().collect();
    let alike = groups.chunk_by(|(_, a), (_, b)| a.is_half == b.is_half);
    let loops = alike.flat_map(|alike| alike.chunks(TOGETHER)).map(|groups| between(runtime, groups));
    let ends = groups.iter().map(|(place, group)| newest(*place, group));
    quote! {
        let ::core::option::Option::Some(#past) = #runtime::PastOrders::of(#past) else { return };
        #(#loops)*
        #(#ends)*
    }
}

/// The sums of some groups without the products that have the newest coefficients.
fn between(runtime: &syn::Path, groups: &[(usize, &Group)]) -> TokenStream {
    let [a, b, past] = ["a", "b", "past"].map(local);
    let vectors: Vec<Ident> = groups.iter().map(|(place, _)| vector(*place)).collect();
    let additions = groups.iter().zip(&vectors).flat_map(|((_, group), sum)| {
        let (a, b) = (a.clone(), b.clone());
        group.products.iter().map(move |pair| {
            let [left, right] = pair.map(Literal::usize_unsuffixed);
            quote!(#sum = #a[#left].mul_add(#b[#right], #sum);)
        })
    });
    let pairs = if groups.iter().all(|(_, group)| group.is_half) { "lower_pairs" } else { "pairs" };
    let pairs = format_ident!("{pairs}");
    quote! {
        #(let mut #vectors = #runtime::Four::ZERO;)*
        for (#a, #b) in #past.#pairs() {
            #(#additions)*
        }
    }
}

/// Adds the products that have the newest coefficients.
fn newest(place: usize, group: &Group) -> TokenStream {
    let (sum, past) = (vector(place), local("past"));
    let pairs = group.products.iter().map(|pair| pair.map(Literal::usize_unsuffixed));
    if group.is_half {
        let columns: Vec<Literal> = pairs.map(|[column, _]| column).collect();
        return quote! {
            #(let #sum = #past.second[#columns].mul_add(#past.last[#columns], #sum);)*
            let #sum = #sum + #sum;
            #(let #sum = #past.middle[#columns].mul_add(#past.middle[#columns], #sum);)*
        };
    }
    let pairs = pairs.map(|[a, b]| {
        quote! {
            let #sum = #past.second[#a].mul_add(#past.last[#b], #sum);
            let #sum = #past.last[#a].mul_add(#past.first[#b], #sum);
        }
    });
    quote!(#(#pairs)*)
}

/// Names for the sums that finishing an order reads.
fn lanes(series: &TaylorSeries, layout: &Layout) -> TokenStream {
    let sums = layout.lanes.iter().zip(TaylorSeries::NUMBERS..);
    let sums = sums.filter(|(_, place)| reads(&series.finish, Input::Order(*place))).map(|(lanes, place)| {
        let name = numbered(place, "order");
        let lanes = lanes.iter().map(|[group, lane]| {
            let (vector, lane) = (vector(*group), Literal::usize_unsuffixed(*lane));
            quote!(#vector.lane(#lane)).to_token_stream()
        });
        quote!(let #name = #(#lanes)+*;)
    });
    quote!(#(#sums)*)
}
