//! The contract of the ledger, on every engine.

mod book;
mod claims;
mod import;
mod recorder;
mod schema;
mod shared;
mod traces;
mod workers;
