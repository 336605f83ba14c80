//! Memory for lists whose length nothing but the caller bounds: where there is none, that is an error and not an abort.

use std::vec::Vec;

use crate::error::Error;

/// The kinds of lists that memory may not hold.
#[derive(Clone, Copy, Debug)]
pub struct Storage {
    what: &'static str,
    remedy: &'static str,
}

impl Storage {
    /// Samples of a run.
    pub const SAMPLES: Self = Self {
        what: "the samples of a run",
        remedy: "ask for fewer, by a larger interval `every`, or for an earlier end",
    };
    /// Steps of a dense run.
    pub const STEPS: Self =
        Self { what: "the steps of a dense run", remedy: "keep samples instead, or ask for an earlier end" };
    /// Members of an ensemble.
    pub const MEMBERS: Self =
        Self { what: "the members of an ensemble", remedy: "divide them among several ensembles" };
    /// Statistics of an ensemble.
    pub const STATISTICS: Self =
        Self { what: "the statistics of an ensemble", remedy: "ask for fewer, by a larger interval `every`" };

    /// Makes room for further elements of a list.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if there is none.
    #[inline]
    pub fn reserve<T>(self, list: &mut Vec<T>, further: usize) -> Result<(), Error> {
        list.try_reserve(further).map_err(|_| {
            let Self { what, remedy } = self;
            Error::Memory { what, bytes: list.len().saturating_add(further).saturating_mul(size_of::<T>()), remedy }
        })
    }

    /// Adds an element to a list.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if memory has not enough room.
    #[inline]
    pub fn push<T>(self, list: &mut Vec<T>, element: T) -> Result<(), Error> {
        self.reserve(list, 1)?;
        list.push(element);
        Ok(())
    }

    /// The list of these elements.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if memory has not enough room.
    pub fn collect<T>(self, elements: impl Iterator<Item = T>) -> Result<Vec<T>, Error> {
        self.try_collect(elements.map(Ok))
    }

    /// The list of these elements, or the first error among them.
    ///
    /// # Errors
    ///
    /// That, or [`Error::Memory`] if memory has not enough room.
    pub fn try_collect<T>(self, mut elements: impl Iterator<Item = Result<T, Error>>) -> Result<Vec<T>, Error> {
        let mut list = Vec::new();
        self.reserve(&mut list, elements.size_hint().0)?;
        elements.try_for_each(|element| self.push(&mut list, element?))?;
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_memory_does_not_hold_is_an_error_that_counts_bytes() {
        let mut list = vec![0.5_f64];
        let error = Storage::SAMPLES.reserve(&mut list, usize::MAX / 64).expect_err("more than an address can name");
        assert_eq!(
            error.to_string(),
            "there is no memory for the samples of a run: 2305843009213693952 bytes were asked for; ask for fewer, by a larger \
             interval `every`, or for an earlier end"
        );
        assert_eq!(list, [0.5]);
        let elements = [Ok(0.5), Err(error.clone())];
        assert_eq!(Storage::MEMBERS.try_collect(elements.into_iter()), Err(error));
    }
}
