//! Lists of numbers of any length, in blocks of a fixed one: what is written for vectors of a fixed length serves each block.

use std::vec::Vec;

use crate::numbers::entries::Numbers;

/// The length of a block.
pub(crate) const LENGTH: usize = 8;

/// Some consecutive numbers of a list.
pub(crate) type Block = [f64; LENGTH];

/// A list in whole blocks; what is beyond its end is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
    length: usize,
}

impl Blocks {
    /// This number of zeros.
    pub(crate) fn zeros(length: usize) -> Self {
        Self { blocks: vec![[0.0; LENGTH]; length.div_ceil(LENGTH)], length }
    }

    /// These numbers.
    pub(crate) fn of(numbers: &[f64]) -> Self {
        let mut list = Self::zeros(numbers.len());
        list.own_mut().copy_from_slice(numbers);
        list
    }

    /// A number for each place of a list of this length.
    pub(crate) fn from_fn(length: usize, number: impl FnMut(usize) -> f64) -> Self {
        let mut list = Self::zeros(length);
        list.fill_with(number);
        list
    }

    /// Puts a number into each place.
    pub(crate) fn fill_with(&mut self, mut number: impl FnMut(usize) -> f64) {
        self.own_mut().iter_mut().enumerate().for_each(|(place, own)| *own = number(place));
    }

    /// The number of its numbers.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Its numbers.
    pub(crate) fn own(&self) -> &[f64] {
        &self.blocks.as_flattened()[..self.length]
    }

    /// Its numbers, to be changed.
    pub(crate) fn own_mut(&mut self) -> &mut [f64] {
        &mut self.blocks.as_flattened_mut()[..self.length]
    }

    /// Its numbers and the zeros beyond, an even number of both.
    pub(crate) fn all(&self) -> &[f64] {
        self.blocks.as_flattened()
    }

    /// Its numbers and the zeros beyond, to be changed.
    pub(crate) fn all_mut(&mut self) -> &mut [f64] {
        self.blocks.as_flattened_mut()
    }

    /// Its blocks.
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Its blocks, to be changed.
    pub(crate) fn blocks_mut(&mut self) -> &mut [Block] {
        &mut self.blocks
    }

    /// Takes the numbers of another list of this length.
    pub(crate) fn copy(&mut self, other: &Self) {
        self.blocks.copy_from_slice(&other.blocks);
    }
}

impl std::ops::Index<usize> for Blocks {
    type Output = f64;

    fn index(&self, place: usize) -> &f64 {
        &self.blocks.as_flattened()[place]
    }
}

impl AsRef<[f64]> for Blocks {
    fn as_ref(&self) -> &[f64] {
        self.own()
    }
}

impl AsMut<[f64]> for Blocks {
    fn as_mut(&mut self) -> &mut [f64] {
        self.own_mut()
    }
}

impl Numbers for Blocks {
    fn like(&self, number: impl FnMut(usize) -> f64) -> Self {
        Self::from_fn(self.length, number)
    }
}
