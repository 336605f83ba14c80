//! Series, functions and macros of the expression language.

use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprClosure, ExprMethodCall, Ident, Macro, Pat, Path, Token};

use super::methods::{BuiltinMethod, Fold, arguments};
use super::scope::{Poison, Reported, Scope};
use super::value::{ShapedExpression, SizedExpression};
use crate::syntax::{MAX_ENTRIES, Shape, nearest, peel, plain};

/// A function of the expression language that is not a method: its name, the number of its arguments, and the value of a call, of
/// which the first argument is the name as it is written.
type Builtin = (&'static str, usize, fn(&mut Scope, &Ident, &ExprCall) -> Reported<ShapedExpression>);

/// The functions, in the order in which messages list them.
const FUNCTIONS: [Builtin; 6] = [
    ("identity", 1, |scope, _, call| scope.identity(call)),
    ("zeros", 2, |scope, _, call| scope.zeros(call)),
    ("hat", 1, |scope, _, call| scope.hat(&call.args[0])),
    ("rate", 1, |scope, _, call| scope.rate(&call.args[0])),
    ("momentum", 1, |scope, _, call| scope.momentum(&call.args[0])),
    ("multiplier", 1, |scope, word, call| scope.multiplier(word, &call.args[0])),
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
const USAGE: &str = "`identity(n)`, `zeros(r, c)`, `hat(v)`, `rate(coordinate)`, `momentum(velocity)`, and `multiplier(constraint)` \
                     in an `output`";

impl Scope<'_> {
    /// `(a..b).map(|i| body).sum()` and the same with `product`.
    pub(super) fn series(&mut self, call: &ExprMethodCall, series: Fold) -> Reported<ShapedExpression> {
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
        if members.is_empty() {
            return match series {
                Fold::Product => Ok(SizedExpression::integer(1).into()),
                Fold::Sum => self.empty_sum(&index, members.start, &closure.body),
            };
        }
        let values = self.members(call, &index, members, &closure.body)?;
        match series {
            Fold::Sum => {
                let nodes = values.iter().fold(0, |sum: usize, value| sum.saturating_add(value.nodes()));
                self.fits(nodes, &call.method)?;
                Ok(ShapedExpression::sum(values))
            }
            Fold::Product => {
                let mut factors = values.into_iter();
                let first = factors.next().ok_or(Poison)?;
                factors.try_fold(first, |product, factor| {
                    let product = product.multiply(factor).or_else(|message| self.fail(&call.method, message))?;
                    self.fits(product.nodes(), &call.method)?;
                    Ok(product)
                })
            }
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
        for member in members {
            let value = self.with_index(index, member, |scope| scope.evaluate(body))?;
            if let Some(first) = values.first()
                && first.shape() != value.shape()
            {
                let message = format!("the members of this series differ: {} and {}", first.shape(), value.shape());
                return self.fail(body, message);
            }
            let nodes = values.last().map_or(0, ShapedExpression::nodes).saturating_add(value.nodes());
            self.fits(nodes, &call.method)?;
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

    /// The value of a series without members: zero, in the shape that a member would have.
    fn empty_sum(&mut self, index: &Ident, start: i64, body: &Expr) -> Reported<ShapedExpression> {
        // What goes wrong in a member that does not exist is nobody's mistake.
        let before = self.errors.len();
        let member = self.with_index(index, start, |scope| scope.evaluate(body));
        match (member, self.errors.take_back(before)) {
            (Ok(member), _) => Ok(member.map(|_| SizedExpression::integer(0))),
            (Err(Poison), Some(mistakes)) if self.exhausted => {
                self.errors.absorb(mistakes);
                Err(Poison)
            }
            (Err(Poison), _) => Ok(SizedExpression::integer(0).into()),
        }
    }

    /// `identity(n)`, `zeros(r, c)`, `hat(v)`, `rate(coordinate)`, `momentum(velocity)`, `multiplier(constraint)`.
    pub(super) fn call(&mut self, call: &ExprCall) -> Reported<ShapedExpression> {
        let path = match peel(&call.func) {
            Expr::Path(path) => &path.path,
            other => {
                return self.fail(other, format!("this cannot be called; the functions are {USAGE}"));
            }
        };
        let Some(word) = path.segments.last() else { return Err(Poison) };
        let name = plain(&word.ident);
        let is_meant = |(function, ..): &&Builtin| *function == name && path.segments.len() == 1;
        let Some((_, count, function)) = FUNCTIONS.iter().find(is_meant) else {
            return self.unknown_function(path, &name);
        };
        if call.args.len() != *count {
            let message = format!("`{name}` takes {}, not {}", arguments(*count), call.args.len());
            return self.fail(path, message);
        }
        function(self, &word.ident, call)
    }

    fn unknown_function<T>(&self, path: &Path, name: &str) -> Reported<T> {
        let written: Vec<String> = path.segments.iter().map(|segment| plain(&segment.ident)).collect();
        let written = written.join("::");
        let advice = if let Some(method) = BuiltinMethod::named(name) {
            let inner = if method.arguments() == 0 { "" } else { ".." };
            format!("`{name}` is a method: write `x.{name}({inner})`")
        } else if let Some(near) = nearest(name, FUNCTIONS.iter().map(|(function, ..)| *function)) {
            format!("unknown function `{written}`; did you mean `{near}`?")
        } else {
            format!("unknown function `{written}`; the functions are {USAGE}")
        };
        self.fail(path, advice)
    }

    fn identity(&mut self, call: &ExprCall) -> Reported<ShapedExpression> {
        let size = self.size(&call.args[0])?;
        self.constant_matrix(call, size, size, |row, column| i64::from(row == column))
    }

    fn zeros(&mut self, call: &ExprCall) -> Reported<ShapedExpression> {
        let (rows, columns) = (self.size(&call.args[0]), self.size(&call.args[1]));
        self.constant_matrix(call, rows?, columns?, |_, _| 0)
    }

    fn hat(&mut self, argument: &Expr) -> Reported<ShapedExpression> {
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
    ) -> Reported<ShapedExpression> {
        if rows * columns > MAX_ENTRIES {
            return self.fail(call, format!("a matrix has at most {MAX_ENTRIES} entries"));
        }
        Ok(ShapedExpression::from_fn(rows, columns, |row, column| SizedExpression::integer(entry(row, column))))
    }

    fn size(&mut self, written: &Expr) -> Reported<usize> {
        match usize::try_from(self.integer(written)?) {
            Ok(size @ 1..=MAX_ENTRIES) => Ok(size),
            _ => self.fail(written, format!("a size lies between 1 and {MAX_ENTRIES}")),
        }
    }

    /// `vector![..]`, `matrix![..; ..]` and `stack![..; ..]`.
    pub(super) fn macro_call(&mut self, call: &Macro) -> Reported<ShapedExpression> {
        let name = call.path.segments.last().map(|word| plain(&word.ident)).unwrap_or_default();
        let Some((_, constructor)) = CONSTRUCTORS.into_iter().find(|(constructor, _)| *constructor == name) else {
            let message = match nearest(&name, CONSTRUCTORS.map(|(constructor, _)| constructor)) {
                Some(near) => format!("unknown macro `{name}!`; did you mean `{near}!`?"),
                None => {
                    format!("unknown macro `{name}!`; there are `vector![..]`, `matrix![..; ..]` and `stack![..; ..]`")
                }
            };
            return self.fail(&call.path, message);
        };
        let rows = self.rows(call, &name)?;
        let width = rows[0].len();
        if constructor == Constructor::Vector && rows.len() > 1 {
            return self
                .fail(&rows[1], "a vector has one row of entries, separated by commas; `matrix![..; ..]` has more");
        }
        if let Some(row) = rows.iter().find(|row| row.len() != width) {
            let message =
                format!("the rows of a matrix have one length: the first has {width}, this one {}", row.len());
            return match row.is_empty() {
                true => self.fail(&call.path, message),
                false => self.fail(row, message),
            };
        }
        if constructor == Constructor::Stack {
            return self.stack(call, &rows);
        }
        let mut entries = Vec::new();
        for entry in rows.iter().flatten() {
            let value = self.evaluate(entry);
            entries.push(value.and_then(|value| self.entry(&value, entry, &name)));
        }
        let entries: Vec<SizedExpression> = entries.into_iter().collect::<Reported<_>>()?;
        Ok(match constructor {
            Constructor::Vector => ShapedExpression::vector(entries),
            Constructor::Matrix | Constructor::Stack => {
                ShapedExpression::from_fn(rows.len(), width, |row, column| entries[row * width + column].clone())
            }
        })
    }

    /// The rows of a macro, of which there is one that is not empty.
    fn rows(&self, call: &Macro, name: &str) -> Reported<Vec<Punctuated<Expr, Token![,]>>> {
        let rows = call
            .parse_body_with(rows)
            .or_else(|error| self.fail_at(error.span(), format!("this is not a list of expressions: {error}")))?;
        match rows.first() {
            Some(first) if !first.is_empty() => Ok(rows),
            _ => self.fail(&call.path, format!("`{name}!` needs at least one entry")),
        }
    }

    /// The matrix made of a rectangle of blocks, in which `0` is a block of zeros.
    fn stack(&mut self, call: &Macro, rows: &[Punctuated<Expr, Token![,]>]) -> Reported<ShapedExpression> {
        let block = |scope: &mut Self, written| {
            let value = scope.evaluate(written)?;
            let is_blank = value.as_scalar().is_some_and(SizedExpression::is_zero);
            Ok(Submatrix { written, value: (!is_blank).then_some(value) })
        };
        let evaluated: Vec<Vec<Reported<Submatrix<'_>>>> =
            rows.iter().map(|row| row.iter().map(|written| block(self, written)).collect()).collect();
        let blocks: Vec<Vec<Submatrix<'_>>> =
            evaluated.into_iter().map(|row| row.into_iter().collect()).collect::<Reported<_>>()?;
        let heights = blocks.iter().map(|row| self.common_extent(row, "row", |(rows, _)| rows)).collect::<Vec<_>>();
        let columns = (0..blocks[0].len()).map(|column| blocks.iter().map(move |row| &row[column]));
        let widths = columns.map(|column| self.common_extent(column, "column", |(_, columns)| columns));
        let widths = widths.collect::<Vec<_>>().into_iter().collect::<Reported<Vec<usize>>>()?;
        let heights = heights.into_iter().collect::<Reported<Vec<usize>>>()?;
        let [height, width] = [&heights, &widths].map(|extents| extents.iter().sum::<usize>());
        if height.saturating_mul(width) > MAX_ENTRIES {
            return self.fail(&call.path, format!("a matrix has at most {MAX_ENTRIES} entries"));
        }
        Ok(ShapedExpression::from_fn(height, width, |row, column| {
            let ((i, row), (j, column)) = (within_blocks(&heights, row), within_blocks(&widths, column));
            let value = blocks[i][j].value.as_ref();
            value.map_or_else(|| SizedExpression::integer(0), |value| value.entry(row, column).clone())
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
            let message = format!("all blocks of this {line} are 0: write one as `zeros(r, c)`, which has a size");
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

    fn entry(&mut self, value: &ShapedExpression, written: &Expr, name: &str) -> Reported<SizedExpression> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => {
                let remedy = if name == "matrix" { "; blocks are put together by `stack![..; ..]`" } else { "" };
                let message = format!("an entry of `{name}!` is a scalar, and this is {}{remedy}", value.shape());
                self.fail(written, message)
            }
        }
    }
}

/// A block of a `stack!`.
struct Submatrix<'a> {
    written: &'a Expr,
    /// The value; `None` for `0`, a block of zeros that takes its size from its neighbours.
    value: Option<ShapedExpression>,
}

/// The block that contains an index, and the index within it.
fn within_blocks(extents: &[usize], mut index: usize) -> (usize, usize) {
    for (block, extent) in extents.iter().enumerate() {
        if index < *extent {
            return (block, index);
        }
        index -= extent;
    }
    unreachable!("the index is less than the sum of the extents")
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
