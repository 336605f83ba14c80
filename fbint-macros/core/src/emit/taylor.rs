//! The coefficients of Taylor series, where they are declared.
//!
//! The loop over orders is rolled: written out, its code would not stay in the processor's cache. Within an order all sums come first, in
//! explicit vectors, in loops of as many as there are registers for; the orders that are newest come last, so that what does not need them
//! need not wait.
//!
//! The same programs make a function of numbers of any type, such as the members of an ensemble side by side: each sum is of its own then,
//! and adds up the same products in the same order, so that every member has the bits that it has alone.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::body::{Host, Writer};
use super::local;
use crate::program::{Group, Input, Instruction, LANES, Layout, ModelSeries, Program, TaylorSeries};

/// The number of vectors of sums that one loop adds up: two more operands have to be in registers, too.
const TOGETHER: usize = 6;
/// The same of numbers that are themselves a few vectors.
const TOGETHER_IN_LANES: usize = 2;

/// The most numbers that an order may take for members of an ensemble to go side by side: longer orders do not stay in the cache, and lanes
/// are for the sums of one member.
const MOST_IN_LANES: usize = 24;

/// The implementations of `TaylorSystem`, and of `TaylorTangents` where derivatives are declared.
///
/// ```text
/// impl TaylorSystem for Pendulum {
///     const COLUMNS: usize = 2;
///     const SWITCHES: usize = 0;
///     const WATCHED: usize = 0;
///     fn taylor_coefficients(__system: &Self::Prepared<f64>, _: &[f64], __0_coefficients: &mut [[f64; 2]], __0_memory: &mut [FourLanes]) { .. }
/// }
/// ```
pub(super) fn taylor(writer: &Writer<'_>) -> Option<TokenStream> {
    if !writer.declaration.taylor {
        return None;
    }
    let (runtime, states) = (writer.runtime, Literal::usize_unsuffixed(writer.signatures.states));
    let layout = solutions(writer).map(|series| (series, Layout::of(series)));
    let table = layout.as_ref().map(|(series, layout)| Table::side_by_side(writer, series, layout));
    let [columns, switches, watched] = match &table {
        Some(table) => [table.columns, table.series.switches, table.series.watched],
        None => [1, 0, 0],
    }
    .map(Literal::usize_unsuffixed);
    let body = writer.content(|_| table.as_ref().map_or_else(TokenStream::new, Table::body));
    let [given, coefficients, memory] = ["given", "coefficients", "memory"].map(own);
    let system = local("system");
    let reads_given = table.is_some_and(|table| table.series.switches > 0 || table.has_inputs());
    let given = if reads_given { given.into_token_stream() } else { quote!(_) };
    let items = quote! {
        const COLUMNS: ::core::primitive::usize = #columns;
        const SWITCHES: ::core::primitive::usize = #switches;
        const WATCHED: ::core::primitive::usize = #watched;
        fn taylor_coefficients(
            #system: &Self::Prepared<::core::primitive::f64>,
            #given: &[::core::primitive::f64],
            #coefficients: &mut [[::core::primitive::f64; #states]],
            #memory: &mut [#runtime::FourLanes],
        ) {
            #body
        }
    };
    let solutions = writer.implementation(&quote!(#runtime::TaylorSystem), &items);
    let tangents = taylor_tangents(writer);
    Some(quote!(#solutions #tangents))
}

/// The implementation of `TaylorTangents`.
fn taylor_tangents(writer: &Writer<'_>) -> Option<TokenStream> {
    let series = writer.model?.series.as_ref()?.tangents.as_ref()?;
    let layout = Layout::of(series);
    let table = Table::one_by_one(writer, series, &layout);
    let (runtime, body, columns) = (writer.runtime, table.body(), Literal::usize_unsuffixed(table.columns));
    let states = Literal::usize_unsuffixed(writer.signatures.states);
    let [coefficients, memory] = ["coefficients", "memory"].map(own);
    let [system, direction] = ["system", "direction"].map(local);
    let direction = if table.reads_rest_of_direction() { direction.into_token_stream() } else { quote!(_) };
    let items = quote! {
        const TANGENT_COLUMNS: ::core::primitive::usize = #columns;
        fn taylor_tangents<T: #runtime::Scalar>(
            #system: &Self::Prepared<T>,
            #direction: &#runtime::PreparedDirection<Self, T>,
            #coefficients: &mut [[[T; #states]; 2]],
            #memory: &mut [T],
        ) {
            #body
        }
    };
    Some(writer.implementation(&quote!(#runtime::TaylorTangents), &items))
}

/// The functions of Taylor series, for simulations, whose methods are chosen at run time, and for ensembles.
pub(super) fn taylor_functions(writer: &Writer<'_>) -> Option<TokenStream> {
    if !writer.declaration.taylor {
        return None;
    }
    let runtime = writer.runtime;
    let [given, coefficients, memory] = ["given", "coefficients", "memory"].map(own);
    let system = local("system");
    let is_polynomial = solutions(writer).is_some_and(|series| series.is_polynomial);
    let is_small = |series: &&TaylorSeries| series.switches == 0 && series.sequences() <= MOST_IN_LANES;
    let in_lanes = solutions(writer).filter(is_small).map(|series| {
        let table = Table::one_by_one(writer, series, &Layout::of(series));
        let (body, columns) = (table.body(), Literal::usize_unsuffixed(table.columns));
        quote! {
            const LANE_COLUMNS: ::core::primitive::usize = #columns;
            fn taylor_in_lanes<T: #runtime::Scalar>(
                #system: &Self::Prepared<T>,
                #coefficients: &mut [Self::Vector<T>],
                #memory: &mut [T],
            ) {
                #body
            }
        }
    });
    Some(quote! {
        const MAY_HAVE_SERIES: ::core::primitive::bool = true;
        fn taylor_functions(
            _: &Self::Prepared<::core::primitive::f64>,
        ) -> ::core::result::Result<#runtime::TaylorFunctions<Self>, &'static ::core::primitive::str> {
            ::core::result::Result::Ok(#runtime::TaylorFunctions {
                shape: #runtime::SeriesShape::of::<Self>(#is_polynomial),
                expand: |#system, #given, #coefficients, #memory| {
                    let #coefficients = #coefficients.as_chunks_mut().0;
                    <Self as #runtime::TaylorSystem>::taylor_coefficients(#system, #given, #coefficients, #memory)
                },
            })
        }
        #in_lanes
    })
}

fn solutions<'a>(writer: &Writer<'a>) -> Option<&'a TaylorSeries> {
    let ModelSeries { solutions, .. } = writer.model?.series.as_ref()?;
    Some(solutions)
}

/// How the numbers of an order are stored and added up.
struct Table<'a> {
    writer: &'a Writer<'a>,
    series: &'a TaylorSeries,
    /// `true` if its numbers are of any type, and not `f64`.
    is_generic: bool,
    /// A row in memory, and its 0.
    zero: TokenStream,
    /// The number of those in a row: there are no chunks of nothing.
    columns: usize,
    /// The sequences that each column stores.
    stored: Vec<Vec<usize>>,
    groups: Vec<Group>,
    /// For each sum of the series the numbers that it is the sum of.
    sums: Vec<TokenStream>,
}

impl<'a> Table<'a> {
    /// FourLanes sums side by side, with what is watched in the last columns.
    fn side_by_side(writer: &'a Writer<'a>, series: &'a TaylorSeries, layout: &Layout) -> Self {
        let (runtime, stored) = (writer.runtime, layout.columns.iter().map(|column| column.to_vec()));
        let columns = (layout.columns.len() + series.watched.div_ceil(LANES)).max(1);
        let lane = |&[group, lane]: &[usize; 2]| {
            let (vector, lane) = (vector(group), Literal::usize_unsuffixed(lane));
            quote!(#vector.lane(#lane))
        };
        let sums = layout.lanes.iter().map(|lanes| total(lanes.iter().map(lane)));
        Self {
            writer,
            series,
            is_generic: false,
            zero: quote!(#runtime::FourLanes::ZERO),
            columns,
            stored: stored.collect(),
            groups: layout.groups.clone(),
            sums: sums.collect(),
        }
    }

    /// Each sum of its own, in numbers of any type.
    fn one_by_one(writer: &'a Writer<'a>, series: &'a TaylorSeries, layout: &Layout) -> Self {
        let (groups, sums) = layout.one_by_one();
        let sums = sums.iter().map(|groups| total(groups.iter().map(|group| vector(*group).into_token_stream())));
        Self {
            writer,
            series,
            is_generic: true,
            zero: quote!(T::from_f64(0.0)),
            columns: series.sequences().max(1),
            stored: (0..series.sequences()).map(|sequence| vec![sequence]).collect(),
            groups,
            sums: sums.collect(),
        }
    }

    /// Returns `true` if finishing an order reads coefficients of inputs.
    fn has_inputs(&self) -> bool {
        let is_input = |instruction: &Instruction| matches!(instruction, Instruction::Input(Input::Driving(_)));
        self.series.finish.instructions.iter().any(is_input)
    }

    /// A number that is a double, in the type of the series.
    fn number(&self, double: &TokenStream) -> TokenStream {
        if self.is_generic { quote!(T::from_f64(#double)) } else { double.clone() }
    }

    /// The function's body.
    fn body(&self) -> TokenStream {
        let Self { writer, series, is_generic, .. } = self;
        let host = |finishes: bool| Host::Series { is_generic: *is_generic, finishes };
        let [row, coefficients, rest, memory, rates, index, past, present] =
            ["row", "coefficients", "rest", "memory", "rates", "index", "past", "present"].map(own);
        let x = local("x");
        let (number, inverse) = (numbered(0, "order"), numbered(1, "order"));
        let columns = Literal::usize_unsuffixed(self.columns);
        let (begin, begun) = writer.body(&series.begin, host(false));
        let (begun, initials) = begun.split_at(series.state.len() + series.watched);
        let (begun, first_watched) = begun.split_at(series.state.len());
        let initials = (0..).zip(initials).map(|(place, value)| {
            let name = numbered(place, "initial");
            quote!(let #name = #value;)
        });
        let (finish, finished) = writer.body(&series.finish, host(true));
        let (new_rates, stored) = finished.split_at(series.state.len());
        let (watched, sequences) = stored.split_at(series.watched);
        let (first, stored) = (self.row(first_watched, None), self.row(watched, Some(sequences)));
        let (named, sums, sides) = (self.named_sums(), self.sums(), self.sides());
        let [later, inputs] = self.inputs();
        let [index_as_number, inverse_of_index] =
            [quote!(#index as ::core::primitive::f64), quote!(1.0 / (#index as ::core::primitive::f64))]
                .map(|double| self.number(&double));
        let order = reads(&series.finish, Input::Order(0)).then(|| quote!(let #number = #index_as_number;));
        let (opened, next) = (self.opened(&x, &row), self.next(&rates, &inverse));
        quote! {
            let ::core::option::Option::Some((#row, #rest)) = #coefficients.split_first_mut() else { return };
            let (#memory, _) = #memory.as_chunks_mut::<#columns>();
            #opened
            #sides
            #later
            #begin
            #(#initials)*
            let mut #rates = [#(#begun),*];
            if let ::core::option::Option::Some(#row) = #memory.first_mut() {
                *#row = [#(#first),*];
            }
            for (#index, #row) in (1..).zip(#rest) {
                let #inverse = #inverse_of_index;
                #order
                #inputs
                *#row = #next;
                let ::core::option::Option::Some((#past, [#present, ..])) = #memory.split_at_mut_checked(#index) else { return };
                #opened
                #sums
                #named
                #finish
                *#present = [#(#stored),*];
                #rates = [#(#new_rates),*];
            }
        }
    }

    /// Names for the parts of a row of coefficients: the state's, and a direction's.
    fn opened(&self, x: &Ident, row: &Ident) -> TokenStream {
        if self.has_direction() {
            let along = own("directions");
            quote!(let [#x, #along] = &*#row;)
        } else {
            quote!(let #x = &*#row;)
        }
    }

    /// Returns `true` if a change of the parameters or of the inputs is read.
    fn reads_rest_of_direction(&self) -> bool {
        let is_rest = |instruction: &Instruction| match instruction {
            Instruction::Input(input @ Input::Direction(_)) => !self.series.state.contains(input),
            Instruction::Input(Input::Change(_)) => true,
            _ => false,
        };
        let mut programs = [&self.series.begin, &self.series.finish].into_iter();
        programs.any(|program| program.instructions.iter().any(is_rest))
    }

    fn has_direction(&self) -> bool {
        self.series.state.len() > self.writer.signatures.states
    }

    /// The next coefficients.
    fn next(&self, rates: &Ident, inverse: &Ident) -> TokenStream {
        let rate = |entry: usize| {
            let entry = Literal::usize_unsuffixed(entry);
            quote!(#rates[#entry] * #inverse)
        };
        let (count, states) = (self.series.state.len(), self.writer.signatures.states);
        let [state, along] = [0..states, states..count].map(|entries| entries.map(rate).collect::<Vec<_>>());
        if self.has_direction() { quote!([[#(#state),*], [#(#along),*]]) } else { quote!([#(#state),*]) }
    }

    /// The given coefficients of inputs, and the coefficients that an order reads. Members side by side have held inputs.
    fn inputs(&self) -> [TokenStream; 2] {
        let ([given, later, inputs], zero) = (["given", "later", "inputs"].map(own), self.number(&quote!(0.0)));
        let [switches, number] = [self.series.switches, self.writer.signatures.inputs].map(Literal::usize_unsuffixed);
        match (self.has_inputs(), self.is_generic) {
            (false, _) => [TokenStream::new(), TokenStream::new()],
            (true, true) => [quote!(let #inputs = [#zero; #number];), TokenStream::new()],
            (true, false) => [
                quote!(let mut #later = #given.get(#switches..).unwrap_or(&[]).as_chunks::<#number>().0.iter();),
                quote!(let #inputs = #later.next().unwrap_or(&[0.0; #number]);),
            ],
        }
    }

    /// The sides of switches, by the names of what the beginning reads.
    fn sides(&self) -> TokenStream {
        let given = own("given");
        let names = (0..self.series.switches).map(|place| {
            let (name, place) = (numbered(place, "order"), Literal::usize_unsuffixed(place));
            quote!(let #name = #given[#place];)
        });
        quote!(#(#names)*)
    }

    /// The stored numbers of an order: of order 0, which stands in for orders that do not exist, only what is watched.
    fn row(&self, watched: &[TokenStream], sequences: Option<&[TokenStream]>) -> Vec<TokenStream> {
        let (runtime, zero) = (self.writer.runtime, &self.zero);
        let column = |of: Vec<&TokenStream>| {
            if self.is_generic { quote!(#(#of)*) } else { quote!(#runtime::FourLanes::new([#(#of),*])) }
        };
        let stored = self.stored.iter().map(|column_of| match sequences {
            Some(sequences) => column(column_of.iter().map(|sequence| &sequences[*sequence]).collect()),
            None => zero.clone(),
        });
        let watched = watched.chunks(LANES).filter(|_| !self.is_generic);
        let watched = watched.map(|of| column((0..LANES).map(|lane| &of[lane.min(of.len() - 1)]).collect()));
        let row: Vec<TokenStream> = stored.chain(watched).collect();
        if row.is_empty() { vec![zero.clone()] } else { row }
    }

    /// The sums of an order, side by side.
    fn sums(&self) -> TokenStream {
        let (runtime, past) = (self.writer.runtime, own("past"));
        if self.groups.is_empty() {
            return TokenStream::new();
        }
        let together = if self.is_generic { TOGETHER_IN_LANES } else { TOGETHER };
        let groups: Vec<(usize, &Group)> = self.groups.iter().enumerate().collect();
        let alike = groups.chunk_by(|(_, a), (_, b)| a.is_half == b.is_half);
        let loops = alike.flat_map(|alike| alike.chunks(together)).map(|groups| self.between(groups));
        let ends = groups.iter().map(|(place, group)| newest(*place, group));
        quote! {
            let ::core::option::Option::Some(#past) = #runtime::PastOrders::of(#past) else { return };
            #(#loops)*
            #(#ends)*
        }
    }

    /// The sums of some groups without the products that have the newest coefficients.
    fn between(&self, groups: &[(usize, &Group)]) -> TokenStream {
        let ([a, b, past], zero) = (["a", "b", "past"].map(own), &self.zero);
        let vectors: Vec<Ident> = groups.iter().map(|(place, _)| vector(*place)).collect();
        let additions = groups.iter().zip(&vectors).flat_map(|((_, group), sum)| {
            let (a, b) = (&a, &b);
            group.products.iter().map(move |pair| {
                let [left, right] = pair.map(Literal::usize_unsuffixed);
                quote!(#sum = #a[#left].mul_add(#b[#right], #sum);)
            })
        });
        let pairs = if groups.iter().all(|(_, group)| group.is_half) { "lower_pairs" } else { "pairs" };
        let pairs = format_ident!("{pairs}");
        quote! {
            #(let mut #vectors = #zero;)*
            for (#a, #b) in #past.#pairs() {
                #(#additions)*
            }
        }
    }

    /// Names for the sums that finishing an order reads.
    fn named_sums(&self) -> TokenStream {
        let sums = self.sums.iter().zip(TaylorSeries::NUMBERS..);
        let sums = sums.filter(|(_, place)| reads(&self.series.finish, Input::Order(*place))).map(|(sum, place)| {
            let name = numbered(place, "order");
            quote!(let #name = #sum;)
        });
        quote!(#(#sums)*)
    }
}

fn total(terms: impl Iterator<Item = TokenStream>) -> TokenStream {
    quote!(#(#terms)+*)
}

/// A name of the function's own: no declared one begins with a digit.
fn own(name: &str) -> Ident {
    numbered(0, name)
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

/// Adds the products that have the newest coefficients.
fn newest(place: usize, group: &Group) -> TokenStream {
    let (sum, past) = (vector(place), own("past"));
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
