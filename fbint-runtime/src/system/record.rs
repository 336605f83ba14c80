//! The records of states and inputs for files of any format: each variable by its name, a vector as a list, a matrix as a list of rows.

/// Implements `Serialize` for a record of a model: its name, the number of its entries, and its variables with their dimensions.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! record_is_serialize {
    ($record:ty, $name:literal, $entries:literal, $variables:expr) => {
        #[automatically_derived]
        impl $crate::serde::Serialize for $record {
            fn serialize<Z: $crate::serde::Serializer>(
                &self,
                serializer: Z,
            ) -> ::core::result::Result<Z::Ok, Z::Error> {
                let entries: [::core::primitive::f64; $entries] = ::core::convert::From::from(*self);
                $crate::serialize_record($name, $variables, &entries, serializer)
            }
        }
    };
}

/// Without the feature `serde` a record is not `Serialize`.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! record_is_serialize {
    ($record:ty, $name:literal, $entries:literal, $variables:expr) => {};
}

#[cfg(feature = "serde")]
pub use written::serialize_record;

#[cfg(feature = "serde")]
mod written {
    use std::vec::Vec;

    use serde::ser::SerializeStruct;
    use serde::{Serialize, Serializer};

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Entries<'a> {
        Number(f64),
        List(&'a [f64]),
        Rows(Vec<Vec<f64>>),
    }

    /// Serialises a record with these variables, each with its dimensions. Matrices are stored column by column.
    ///
    /// # Errors
    ///
    /// The errors of the serializer.
    pub fn serialize_record<Z: Serializer>(
        name: &'static str,
        variables: &[(&'static str, &[usize])],
        mut entries: &[f64],
        serializer: Z,
    ) -> Result<Z::Ok, Z::Error> {
        let mut fields = serializer.serialize_struct(name, variables.len())?;
        for (variable, dimensions) in variables {
            let (own, others) = entries.split_at(dimensions.iter().product());
            entries = others;
            let row = |row, rows| own.iter().skip(row).step_by(rows).copied().collect();
            let value = match **dimensions {
                [] => Entries::Number(own[0]),
                [rows, _] => Entries::Rows((0..rows).map(|place| row(place, rows)).collect()),
                _ => Entries::List(own),
            };
            fields.serialize_field(variable, &value)?;
        }
        fields.end()
    }
}
