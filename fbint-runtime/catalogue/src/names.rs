//! Names of entries, grouped into scalars, vectors, matrices and families.

/// Names of entries that belong together.
pub struct NameGroup<'a> {
    /// The common beginning of the names.
    pub base: &'a str,
    /// The position of the first entry among all.
    pub first: usize,
    /// The names in full.
    pub entries: &'a [&'a str],
    /// The index of each entry, empty for a scalar; `None` if the index of some name is not understood.
    pub indices: Option<Vec<Vec<usize>>>,
}

/// A scalar, vector or matrix that is made of entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The number of entries along each dimension: none for a scalar, rows and columns for a matrix.
    pub dimensions: Vec<usize>,
    /// The position of each entry among all names, row by row.
    pub positions: Vec<usize>,
}

/// The names as a declaration writes them: `q: [3]` for the three entries of q.
pub fn shapes(names: &[&str]) -> String {
    groups(names).iter().map(NameGroup::shape).collect::<Vec<_>>().join(", ")
}

/// The groups of `names`, in their order.
pub fn groups<'a>(names: &'a [&'a str]) -> Vec<NameGroup<'a>> {
    let mut first = 0;
    let group = |entries: &'a [&'a str]| {
        let base = base(entries[0]);
        let indices = entries.iter().map(|entry| index(&entry[base.len()..])).collect();
        first += entries.len();
        NameGroup { base, first: first - entries.len(), entries, indices }
    };
    names.chunk_by(|a, b| base(a) == base(b)).map(group).collect()
}

impl NameGroup<'_> {
    /// A scalar, vector or matrix as a declaration writes it; a family has the range of its index.
    pub fn shape(&self) -> String {
        let (base, size) = (self.base, self.entries.len());
        let ends = self.indices.as_ref().and_then(|indices| indices.first().zip(indices.last()));
        match ends.map(|(first, last)| (first.as_slice(), last.as_slice())) {
            Some(([], _)) => base.to_owned(),
            Some((&[0], &[last])) => format!("{base}: [{}]", last + 1),
            Some((&[first], &[last])) => format!("{base}[{first}..{}]", last + 1),
            Some((_, &[row, column])) if size < (row + 1) * (column + 1) => {
                format!("{base}: [{}, {}] ({size} entries)", row + 1, column + 1)
            }
            Some((_, &[row, column])) => format!("{base}: [{}, {}]", row + 1, column + 1),
            _ => self.entries.join(", "),
        }
    }

    /// The entries as an array. A family that does not begin at 0, or a matrix without some of its entries, is a vector of the entries that
    /// exist.
    pub fn array(&self) -> Array {
        let count = self.entries.len();
        let all: Vec<usize> = (self.first..self.first + count).collect();
        let vector = Array { dimensions: vec![count], positions: all.clone() };
        let Some(indices) = &self.indices else { return vector };
        let Some(last) = indices.last() else { return vector };
        let dimensions: Vec<usize> = last.iter().map(|index| index + 1).collect();
        let mut order: Vec<(&Vec<usize>, usize)> = indices.iter().zip(all).collect();
        order.sort();
        let is_whole =
            dimensions.iter().product::<usize>() == count && indices.iter().all(|index| index.len() == last.len());
        if is_whole {
            Array { dimensions, positions: order.into_iter().map(|(_, position)| position).collect() }
        } else {
            vector
        }
    }

    /// The common beginning, with the range of the index of a family.
    pub fn name(&self) -> String {
        let shape = self.shape();
        shape.split_once(": ").map_or(&*shape, |(base, _)| base).to_owned()
    }

    /// The positions of the columns' entries among all names: one column for a vector or a scalar.
    pub fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns: Vec<Vec<usize>> = Vec::new();
        for (entry, index) in self.indices.iter().flatten().enumerate() {
            let column = index.get(1).copied().unwrap_or(0);
            if columns.len() <= column {
                columns.resize(column + 1, Vec::new());
            }
            columns[column].push(self.first + entry);
        }
        columns
    }
}

/// The name without its index: `q` of `q[2]`.
pub fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or_default()
}

/// The index of an entry from the end of its name: `[2]` or `[(0, 1)]`, empty for a scalar.
fn index(text: &str) -> Option<Vec<usize>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let inner = inner.strip_prefix('(').and_then(|pair| pair.strip_suffix(')')).unwrap_or(inner);
    inner.split(", ").map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_put_together_to_their_shapes() {
        let names = ["q[(0, 0)]", "q[(1, 0)]", "q[(0, 1)]", "q[(1, 1)]", "s", "v[0]", "v[1]", "link[1]", "link[2]"];
        assert_eq!(shapes(&names), "q: [2, 2], s, v: [2], link[1..3]");
        assert_eq!(shapes(&["r[(0, 0)]", "r[(1, 0)]", "r[(1, 1)]"]), "r: [2, 2] (3 entries)");
        assert_eq!(shapes(&["w[strange]"]), "w[strange]");
        assert_eq!(shapes(&["one[2]"]), "one[2..3]");
    }

    #[test]
    fn arrays_go_row_by_row_and_what_has_gaps_is_a_vector() {
        let names = ["s", "q[(0, 0)]", "q[(1, 0)]", "q[(0, 1)]", "q[(1, 1)]", "link[1]", "link[2]", "w[strange]"];
        let arrays: Vec<Array> = groups(&names).iter().map(NameGroup::array).collect();
        let array = |dimensions: &[usize], positions: &[usize]| Array {
            dimensions: dimensions.to_vec(),
            positions: positions.to_vec(),
        };
        let expected = [array(&[], &[0]), array(&[2, 2], &[1, 3, 2, 4]), array(&[2], &[5, 6]), array(&[1], &[7])];
        assert_eq!(arrays, expected);
        let lower = ["r[(0, 0)]", "r[(1, 0)]", "r[(1, 1)]"];
        assert_eq!(groups(&lower)[0].array(), array(&[3], &[0, 1, 2]));
    }

    #[test]
    fn columns_are_positions_among_all_names() {
        let names = ["s", "q[(0, 0)]", "q[(1, 0)]", "q[(0, 1)]", "q[(1, 1)]", "v[0]", "v[1]"];
        let columns: Vec<_> = groups(&names).iter().map(NameGroup::columns).collect();
        assert_eq!(columns, [vec![vec![0]], vec![vec![1, 2], vec![3, 4]], vec![vec![5, 6]]]);
    }
}
