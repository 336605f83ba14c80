//! Declared scalars, vectors, matrices and families: how they are written, and the arrays that their entries make up.

use fbint_runtime::Declared;

/// A scalar, vector or matrix that is made of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The number of entries along each dimension: none for a scalar, rows and columns for a matrix.
    pub dimensions: Vec<usize>,
    /// The position of each entry in its list, row by row.
    pub positions: Vec<usize>,
}

/// A list as a declaration writes it: `q: [3]` for the three entries of q.
pub fn shapes(list: &[Declared]) -> String {
    list.iter().map(shape).collect::<Vec<_>>().join(", ")
}

/// Some entries of a list whose entries have these names: what is there as a whole as a declaration writes it, else its entries.
pub fn shapes_of(some: &[&str], list: &[Declared], names: &[&str]) -> String {
    let some_of = |declared: &Declared| {
        let entries = || declared.entries().map(|entry| names[entry]).filter(|name| some.contains(name));
        if entries().count() == declared.indices.len() {
            vec![shape(declared)]
        } else {
            entries().map(str::to_owned).collect()
        }
    };
    list.iter().flat_map(some_of).collect::<Vec<_>>().join(", ")
}

/// A scalar, vector or matrix as a declaration writes it; a family has the range of its index.
pub fn shape(declared: &Declared) -> String {
    let size = declared.indices.len();
    match (range(declared), &*extent(declared)) {
        (Some(range), _) => format!("{}{range}", declared.name),
        (None, []) => declared.name.to_owned(),
        (None, extent) => {
            let sizes: Vec<String> = extent.iter().map(usize::to_string).collect();
            let part =
                if extent.iter().product::<usize>() > size { format!(" ({size} entries)") } else { String::new() };
            format!("{}: [{}]{part}", declared.name, sizes.join(", "))
        }
    }
}

/// The name, with the range of the index of a family.
pub fn name(declared: &Declared) -> String {
    format!("{}{}", declared.name, range(declared).unwrap_or_default())
}

/// The range of the index of a family that does not begin at 0.
fn range(declared: &Declared) -> Option<String> {
    match (declared.indices.first()?, declared.indices.last()?) {
        (&&[first], &&[last]) if first != 0 => Some(format!("[{first}..{}]", last + 1)),
        _ => None,
    }
}

/// The sizes within which all indices from 0 lie: none for a scalar.
pub fn extent(declared: &Declared) -> Vec<usize> {
    let depth = declared.indices.first().map_or(0, |index| index.len());
    let end = |axis: usize| declared.indices.iter().map(|index| index[axis] + 1).max().unwrap_or_default();
    (0..depth).map(|axis| usize::try_from(end(axis)).unwrap_or_default()).collect()
}

/// The entries as an array. A family that does not begin at 0, or a matrix without some of its entries, is a vector of the entries that
/// exist.
pub fn array(declared: &Declared) -> Array {
    let (dimensions, count) = (extent(declared), declared.indices.len());
    if dimensions.iter().product::<usize>() != count {
        return Array { dimensions: vec![count], positions: declared.entries().collect() };
    }
    let mut order: Vec<(&[i64], usize)> = declared.indices.iter().copied().zip(declared.entries()).collect();
    order.sort_unstable();
    Array { dimensions, positions: order.into_iter().map(|(_, position)| position).collect() }
}

/// The position of the entry at each place within the [`extent`], column by column, where there is one.
pub fn cells(declared: &Declared) -> Vec<Option<usize>> {
    let (rows, columns) = match extent(declared)[..] {
        [] => return vec![Some(declared.first)],
        [rows] => (rows, None),
        [rows, columns, ..] => (rows, Some(columns)),
    };
    let at = |index: &[usize]| {
        let is_meant = |own: &&[i64]| own.iter().zip(index).all(|(own, index)| usize::try_from(*own) == Ok(*index));
        declared.indices.iter().position(is_meant).map(|entry| declared.first + entry)
    };
    match columns {
        None => (0..rows).map(|row| at(&[row])).collect(),
        Some(columns) => {
            (0..columns).flat_map(|column| (0..rows).map(move |row| [row, column])).map(|index| at(&index)).collect()
        }
    }
}

/// The positions of the entries of each column of a matrix in its list: one column for a vector or a scalar.
pub fn columns(declared: &Declared) -> Vec<Vec<usize>> {
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for (position, index) in declared.entries().zip(declared.indices) {
        let column = index.get(1).map_or(0, |column| usize::try_from(*column).unwrap_or_default());
        if columns.len() <= column {
            columns.resize(column + 1, Vec::new());
        }
        columns[column].push(position);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALAR: Declared = Declared { name: "s", first: 0, indices: &[&[]] };
    const MATRIX: Declared = Declared { name: "q", first: 1, indices: &[&[0, 0], &[1, 0], &[0, 1], &[1, 1]] };
    const VECTOR: Declared = Declared { name: "v", first: 5, indices: &[&[0], &[1]] };
    const FAMILY: Declared = Declared { name: "link", first: 7, indices: &[&[1], &[2]] };
    const LOWER: Declared = Declared { name: "r", first: 9, indices: &[&[0, 0], &[1, 0], &[1, 1]] };
    const ALL: [Declared; 5] = [SCALAR, MATRIX, VECTOR, FAMILY, LOWER];

    #[test]
    fn entries_are_put_together_to_their_shapes() {
        assert_eq!(shapes(&ALL), "s, q: [2, 2], v: [2], link[1..3], r: [2, 2] (3 entries)");
        assert_eq!(shape(&Declared { name: "one", first: 0, indices: &[&[2]] }), "one[2..3]");
        let from_below = Declared { name: "y", first: 0, indices: &[&[-1], &[0], &[1]] };
        assert_eq!((shape(&from_below), array(&from_below).dimensions), ("y[-1..2]".to_owned(), vec![3]));
        let of_vectors = Declared { name: "pin", first: 0, indices: &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]] };
        assert_eq!((shape(&of_vectors), name(&of_vectors)), ("pin: [2, 2]".to_owned(), "pin".to_owned()));
        assert_eq!(ALL.map(|declared| name(&declared)), ["s", "q", "v", "link[1..3]", "r"]);
    }

    #[test]
    fn some_entries_are_a_shape_where_they_are_whole() {
        let names = ["u[0]", "u[1]", "w"];
        let list = [Declared { name: "u", first: 0, indices: &[&[0], &[1]] }, Declared { first: 2, ..SCALAR }];
        assert_eq!(shapes_of(&["u[0]", "u[1]"], &list, &names), "u: [2]");
        assert_eq!(shapes_of(&["u[1]", "w"], &list, &names), "u[1], s");
    }

    #[test]
    fn arrays_go_row_by_row_and_what_has_gaps_is_a_vector() {
        let expected: [(&[usize], &[usize]); 5] =
            [(&[], &[0]), (&[2, 2], &[1, 3, 2, 4]), (&[2], &[5, 6]), (&[2], &[7, 8]), (&[3], &[9, 10, 11])];
        for (declared, (dimensions, positions)) in ALL.iter().zip(expected) {
            let found = array(declared);
            assert_eq!((&*found.dimensions, &*found.positions), (dimensions, positions));
        }
    }

    #[test]
    fn cells_go_column_by_column_and_may_be_empty() {
        assert_eq!(cells(&SCALAR), [Some(0)]);
        assert_eq!(cells(&MATRIX), [1, 2, 3, 4].map(Some));
        assert_eq!(cells(&FAMILY), [None, Some(7), Some(8)]);
        assert_eq!(cells(&LOWER), [Some(9), Some(10), None, Some(11)]);
    }

    #[test]
    fn columns_are_positions_in_the_list() {
        assert_eq!(columns(&SCALAR), [[0]]);
        assert_eq!(columns(&MATRIX), [[1, 2], [3, 4]]);
        assert_eq!(columns(&VECTOR), [[5, 6]]);
    }
}
