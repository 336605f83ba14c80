//! The declared scalars, vectors, matrices and families that entries belong to.

/// The place of an entry in what a declaration names: (0, 1) in `q` of `q[(0, 1)]`, 3 in `rod` of `rod[3]`, 3 and 0 in `a` of `a[3][0]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryOf {
    /// The declared name.
    pub name: String,
    /// The index of the member of a family, then of the entry in a vector or a matrix; empty for a scalar.
    pub index: Vec<i64>,
}

impl EntryOf {
    /// A scalar.
    pub fn scalar(name: &str) -> Self {
        Self { name: name.to_owned(), index: Vec::new() }
    }
}

/// The entries of one declared name in a list of entries.
#[derive(Debug)]
pub struct Group<'e> {
    /// The declared name.
    pub name: &'e str,
    /// The place of its first entry in the list.
    pub first: usize,
    /// The index of each of its entries.
    pub indices: Vec<&'e [i64]>,
}

/// The declared names of a list of entries, in their order.
pub fn groups<'e>(entries: impl IntoIterator<Item = &'e EntryOf>) -> Vec<Group<'e>> {
    let mut groups: Vec<Group<'e>> = Vec::new();
    for (place, entry) in entries.into_iter().enumerate() {
        match groups.last_mut().filter(|group| group.name == entry.name) {
            Some(group) => group.indices.push(&entry.index),
            None => groups.push(Group { name: &entry.name, first: place, indices: vec![&entry.index] }),
        }
    }
    groups
}
