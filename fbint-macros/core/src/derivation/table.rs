//! Lists with typed places, so that a place in one is not taken for a place in another.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The place of a row in a [`Table`].
pub trait Id: Copy {
    /// The id of the row at this place, counted from 0.
    fn at(place: usize) -> Self;
    /// The place of the row, counted from 0.
    fn place(self) -> usize;
}

/// Rows in the order in which they were added, each found by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<I, T> {
    rows: Vec<T>,
    ids: PhantomData<I>,
}

impl<I: Id, T> Table<I, T> {
    /// Adds a row.
    pub fn push(&mut self, row: T) -> I {
        self.rows.push(row);
        I::at(self.rows.len() - 1)
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The ids of all rows in their order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.rows.len()).map(I::at)
    }

    /// The rows in their order.
    pub fn rows(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// The rows in their order, to be changed.
    pub fn rows_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.rows.iter_mut()
    }

    /// The rows in their order, each with its id.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.ids().zip(&self.rows)
    }

    /// The row of this id, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.place())
    }

    /// The table that has `row` of each row of this one.
    pub fn map<U>(&self, row: impl FnMut(&T) -> U) -> Table<I, U> {
        self.rows.iter().map(row).collect()
    }
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self { rows: Vec::new(), ids: PhantomData }
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.rows[id.place()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.place()]
    }
}

impl<I, T> FromIterator<T> for Table<I, T> {
    fn from_iter<R: IntoIterator<Item = T>>(rows: R) -> Self {
        Self { rows: rows.into_iter().collect(), ids: PhantomData }
    }
}

impl<I, T> IntoIterator for Table<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}
