//! Files written whole or not at all, and tables in them; what a signal leaves behind.

pub(crate) mod interruption;
pub mod output;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod rows;
pub(crate) mod table;
pub(crate) mod trajectory;
