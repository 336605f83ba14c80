//! Series, functions and macros of the expression language.

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall, Ident, Macro, Pat, Path, Token};

use super::evaluate::Fold;
use super::foreign;
use super::methods::{Builtin, Value, arguments};
use super::scope::{Poison, Reported, Scope, every};
use super::value::ShapedExpression;
use crate::expression::Expression;
use crate::syntax::diagnostics::advised;
use crate::syntax::{MAX_ENTRIES, Shape, nearest, peel, plain};

/// The functions, in the order in which messages list them.
const FUNCTIONS: [Builtin<ExprCall>; 7] = [
    ("identity", 1, |scope, call| scope.identity(call)),
    ("zeros", 2, |scope, call| scope.zeros(call)),
    ("hat", 1, |scope, call| scope.hat(&call.args[0])),
    ("rate", 1, |scope, call| scope.rate(&call.args[0])),
    ("momentum", 1, |scope, call| scope.momentum(&call.args[0])),
    ("gradient", 2, |scope, call| scope.partial_derivatives(&call.args[0], &call.args[1])),
    ("multiplier", 1, |scope, call| scope.multiplier(&call.func, &call.args[0])),
];

/// A macro of the expression language, by its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constructor {
    /// A vector of scalars.
    Vector,
    /// A matrix of scalars.
    Matrix,
    /// A matrix of blocks.
    Stack,
}

/// The macros, in the order in which messages list them.
const CONSTRUCTORS: [(&str, Constructor); 3] =
    [("vector", Constructor::Vector), ("matrix", Constructor::Matrix), ("stack", Constructor::Stack)];
/// The list of functions in messages, as they are written.
const USAGE: &str = "`identity(n)`, `zeros(r, c)`, `hat(v)`, `rate(f)`, `momentum(velocity)`, `gradient(f, x)`, and \
                     `multiplier(constraint)` in an `output`";

impl Scope<'_> {
    /// `(a..b).map(|i| body).sum()` and the same with `product`.
    pub(super) fn series(&mut self, call: &ExprMethodCall, series: Fold) -> Value {
        let name = plain(&call.method);
        let usage = format!("`{name}` ends a series over a range: `(a..b).map(|i| ..).{name}()`");
        let Expr::MethodCall(map) = peel(&call.receiver) else { return self.fail(&call.method, usage) };
        let Expr::Range(range) = peel(&map.receiver) else { return self.fail(&call.method, usage) };
        let (Some(Expr::Closure(closure)), 1, true) = (map.args.first(), map.args.len(), map.method == "map") else {
            return self.fail(&map.method, usage);
        };
        if !call.args.is_empty() {
            return self.fail(&call.args, format!("`{name}` takes no argument"));
        }
        let index = self.closure_index(closure)?;
        let members = self.range(range)?;
        let values = self.members(call, &index, members.clone(), &closure.body)?;
        match series {
            Fold::Sum if values.is_empty() => self.empty_sum(&index, members.start, &closure.body),
            Fold::Sum => Ok(ShapedExpression::sum(&values)),
            Fold::Product => values
                .into_iter()
                .try_fold(Expression::one().into(), |product, factor| self.product(product, factor, &call.method)),
        }
    }

    /// The members of a series, which have one shape.
    fn members(
        &mut self,
        call: &ExprMethodCall,
        index: &Ident,
        members: std::ops::Range<i64>,
        body: &Expr,
    ) -> Reported<Vec<ShapedExpression>> {
        let mut values: Vec<ShapedExpression> = Vec::new();
        let mut parts = 0;
        for member in members {
            let value = self.with_index(index, member, |scope| scope.evaluate(body))?;
            if let Some(first) = values.first()
                && first.shape() != value.shape()
            {
                let message = format!("the members of this series differ: {} and {}", first.shape(), value.shape());
                return self.fail(body, message);
            }
            self.count(&value, &mut parts, &call.method)?;
            values.push(value);
        }
        Ok(values)
    }

    fn closure_index(&mut self, closure: &ExprClosure) -> Reported<Ident> {
        let index = match closure.inputs.first() {
            Some(Pat::Ident(index)) if closure.inputs.len() == 1 && index.subpat.is_none() => &index.ident,
            Some(Pat::Type(_)) => return self.fail(&closure.inputs, "an index needs no type: `|i| ..`"),
            _ => return self.fail(closure, "a series has one index: `(a..b).map(|i| ..)`"),
        };
        self.check_index(index)?;
        Ok(index.clone())
    }

    /// The value of a series without members: zero, in the shape that a member would have. A failure in a member that does not exist is not
    /// a mistake of the declaration.
    fn empty_sum(&mut self, index: &Ident, start: i64, body: &Expr) -> Value {
        let member = self.attempted(|scope| scope.with_index(index, start, |scope| scope.evaluate(body)));
        Ok(member.map_or_else(|Poison| Expression::zero().into(), |member| member.map(|_| Expression::zero())))
    }

    /// A call of one of [`FUNCTIONS`].
    pub(super) fn call(&mut self, call: &ExprCall) -> Value {
        let path = match peel(&call.func) {
            Expr::Path(path) => &path.path,
            other => return self.fail(other, format!("this cannot be called; the functions are {USAGE}")),
        };
        let Some(word) = path.segments.last() else { return Err(Poison) };
        let name = plain(&word.ident);
        let is_meant = |function: &str| function == name && path.segments.len() == 1;
        let Some((_, count, function)) = FUNCTIONS.iter().find(|(function, ..)| is_meant(function)) else {
            return self.unknown_function(call, path, &name);
        };
        if call.args.len() != *count {
            let remedy = match &name[..] {
                "zeros" => "\nhelp: write `zeros(3, 1)` for a vector of 3",
                "gradient" => "\nhelp: write `gradient(f, x)` for the derivatives of f by the entries of x",
                _ => "",
            };
            let message = format!("`{name}` takes {}, not {}{remedy}", arguments(*count), call.args.len());
            return self.fail(path, message);
        }
        function(self, call)
    }

    fn unknown_function<T>(&self, call: &ExprCall, path: &Path, name: &str) -> Reported<T> {
        let written: Vec<String> = path.segments.iter().map(|segment| plain(&segment.ident)).collect();
        let written = written.join("::");
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let is_of_time = matches!(arguments[..], [Expr::Path(time)] if time.path.is_ident("t"));
        let message = if path.get_ident().is_some_and(|name| self.has_value(name)) && is_of_time {
            format!("`{name}` is written without its argument\nhelp: write `{name}`")
        } else if path.get_ident().is_some_and(|name| self.has_value(name)) {
            format!("`{name}` is not a function: a product is written `{name} * (..)`, an entry `{name}[0]`")
        } else if let Some((method, advice)) = foreign::as_method(name, &arguments) {
            advised(format_args!("`{method}` is a method"), advice)
        } else if let Some(advice) = foreign::call(name, &arguments) {
            advised(format_args!("there is no function `{written}` here"), advice)
        } else if let Some(method) = foreign::method(name) {
            format!("`{method}` is a method\nhelp: write `x.{method}{}`", foreign::parentheses(method))
        } else if let Some(near) = nearest(name, FUNCTIONS.map(|(function, ..)| function)) {
            format!("unknown function `{written}`\nhelp: did you mean `{near}`?")
        } else {
            format!("unknown function `{written}`; the functions are {USAGE}")
        };
        self.fail(path, message)
    }

    fn identity(&mut self, call: &ExprCall) -> Value {
        let size = self.size(&call.args[0])?;
        self.constant_matrix(call, size, size, |row, column| i64::from(row == column))
    }

    fn zeros(&mut self, call: &ExprCall) -> Value {
        let (rows, columns) = (self.size(&call.args[0]), self.size(&call.args[1]));
        self.constant_matrix(call, rows?, columns?, |_, _| 0)
    }

    fn hat(&mut self, argument: &Expr) -> Value {
        let value = self.evaluate(argument)?;
        if value.shape() != Shape::Vector(3) {
            return self.fail(argument, format!("`hat` takes a vector of 3, and this is {}", value.shape()));
        }
        Ok(value.hat())
    }

    fn constant_matrix(
        &mut self,
        call: &ExprCall,
        rows: usize,
        columns: usize,
        entry: impl Fn(usize, usize) -> i64,
    ) -> Value {
        if rows * columns > MAX_ENTRIES {
            return self.fail(call, format!("a matrix has at most {MAX_ENTRIES} entries"));
        }
        Ok(ShapedExpression::from_fn(rows, columns, |row, column| Expression::integer(entry(row, column))))
    }

    fn size(&mut self, written: &Expr) -> Reported<usize> {
        match usize::try_from(self.integer(written)?) {
            Ok(size @ 1..=MAX_ENTRIES) => Ok(size),
            _ => self.fail(written, format!("a size lies between 1 and {MAX_ENTRIES}")),
        }
    }

    /// `vector![..]`, `matrix![..; ..]` and `stack![..; ..]`: blocks, which are scalars except in `stack`.
    pub(super) fn macro_call(&mut self, call: &Macro) -> Value {
        let name = call.path.segments.last().map(|word| plain(&word.ident)).unwrap_or_default();
        let Some((_, constructor)) = CONSTRUCTORS.into_iter().find(|(constructor, _)| *constructor == name) else {
            let message = match nearest(&name, CONSTRUCTORS.map(|(constructor, _)| constructor)) {
                Some(near) => format!("unknown macro `{name}!`\nhelp: did you mean `{near}!`?"),
                None => {
                    format!("unknown macro `{name}!`; there are `vector![..]`, `matrix![..; ..]` and `stack![..; ..]`")
                }
            };
            return self.fail(&call.path, message);
        };
        let rows = self.rows(call, constructor, &name)?;
        let mut block = |written| self.block(written, constructor);
        let blocks = every(rows.iter().map(|row| every(row.iter().map(&mut block))))?;
        match constructor {
            Constructor::Vector => {
                self.stack(call, &blocks.into_iter().flatten().map(|entry| vec![entry]).collect::<Vec<_>>())
            }
            Constructor::Matrix | Constructor::Stack => self.stack(call, &blocks),
        }
    }

    /// The rows of a macro: at least one, and none empty.
    fn rows(&self, call: &Macro, constructor: Constructor, name: &str) -> Reported<Vec<Punctuated<Expr, Token![,]>>> {
        let rows = call
            .parse_body_with(rows)
            .or_else(|error| self.fail_at(error.span(), format!("this is not a list of expressions: {error}")))?;
        let width = rows[0].len();
        if width == 0 {
            return self.fail(&call.path, format!("`{name}!` needs at least one entry"));
        }
        if constructor == Constructor::Vector && rows.len() > 1 {
            let message = "a vector has one row of entries, separated by commas; `matrix![..; ..]` has more";
            return self.fail(&rows[1], message);
        }
        if let Some(row) = rows.iter().find(|row| row.len() != width) {
            let length = row.len();
            let message = format!("the rows of a matrix have one length: the first has {width}, this one {length}");
            return self.fail(row, message);
        }
        Ok(rows)
    }

    /// A block of a macro. For `stack`, `0` is one of zeros; for the others, blocks are scalars.
    fn block<'e>(&mut self, written: &'e Expr, constructor: Constructor) -> Reported<Submatrix<'e>> {
        let value = self.evaluate(written)?;
        let (name, remedy) = match constructor {
            Constructor::Stack => {
                let is_blank = value.as_scalar().is_some_and(Expression::is_zero);
                return Ok(Submatrix { written, value: (!is_blank).then_some(value) });
            }
            Constructor::Matrix => ("matrix", "; blocks are put together by `stack![..; ..]`"),
            Constructor::Vector => ("vector", ""),
        };
        self.only(written, &value, format_args!("an entry of `{name}!` is a scalar"), remedy)?;
        Ok(Submatrix { written, value: Some(value) })
    }

    /// The matrix made of a rectangle of blocks.
    fn stack(&mut self, call: &Macro, blocks: &[Vec<Submatrix<'_>>]) -> Value {
        let heights = every(blocks.iter().map(|row| self.common_extent(row, "row", |(rows, _)| rows)));
        let columns = (0..blocks[0].len()).map(|column| blocks.iter().map(move |row| &row[column]));
        let widths = every(columns.map(|column| self.common_extent(column, "column", |(_, columns)| columns)));
        let (heights, widths) = (within_blocks(heights?), within_blocks(widths?));
        if heights.len().saturating_mul(widths.len()) > MAX_ENTRIES {
            return self.fail(&call.path, format!("a matrix has at most {MAX_ENTRIES} entries"));
        }
        Ok(ShapedExpression::from_fn(heights.len(), widths.len(), |row, column| {
            let ((i, row), (j, column)) = (heights[row], widths[column]);
            let value = blocks[i][j].value.as_ref();
            value.map_or_else(Expression::zero, |value| value.entry(row, column).clone())
        }))
    }

    /// The number of rows of all blocks in a row, or of columns of all blocks in a column.
    fn common_extent<'b>(
        &mut self,
        blocks: impl IntoIterator<Item = &'b Submatrix<'b>> + Clone,
        line: &str,
        of: fn((usize, usize)) -> usize,
    ) -> Reported<usize> {
        let mut sized = blocks.clone().into_iter().filter_map(|block| Some((block, block.value.as_ref()?.shape())));
        let Some((_, first)) = sized.next() else {
            let written = blocks.into_iter().next().map(|block| block.written);
            let message =
                format!("all blocks of this {line} are 0\nhelp: write one as `zeros(r, c)`, which has a size");
            return self.fail(written, message);
        };
        match sized.find(|(_, shape)| of(shape.extent()) != of(first.extent())) {
            Some((block, shape)) => {
                let message = format!("the blocks of this {line} do not fit together: {first} and {shape}");
                self.fail(block.written, message)
            }
            None => Ok(of(first.extent())),
        }
    }
}

/// A block of a macro.
struct Submatrix<'a> {
    written: &'a Expr,
    /// The value; `None` for `0`, a block of zeros that takes its size from its neighbours.
    value: Option<ShapedExpression>,
}

/// For each row of all blocks of these heights the block that it is in, and its place there; likewise for columns.
fn within_blocks(extents: Vec<usize>) -> Vec<(usize, usize)> {
    let extents = extents.into_iter().enumerate();
    extents.flat_map(|(block, extent)| (0..extent).map(move |place| (block, place))).collect()
}

fn rows(input: ParseStream) -> syn::Result<Vec<Punctuated<Expr, Token![,]>>> {
    let mut rows = vec![Punctuated::new()];
    while !input.is_empty() {
        let row = rows.last_mut().expect("the list starts with a row");
        row.push_value(input.parse()?);
        if input.peek(Token![,]) {
            row.push_punct(input.parse()?);
        } else if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
            if !input.is_empty() {
                rows.push(Punctuated::new());
            }
        } else if !input.is_empty() {
            return Err(input.error("expected `,` or `;`"));
        }
    }
    Ok(rows)
}
