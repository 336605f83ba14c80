//! All tests of the command: one program.

mod animation;
mod book;
mod cluster;
mod command;
mod common;
mod documents;
mod ensemble;
mod examples;
mod export;
mod failures;
mod files;
mod interruption;
mod outputs;
mod parquet;
mod refusals;
mod work_precision;
