//! The contract of the ledger, on every engine.

mod claims;
mod recorder;
mod schema;
mod shared;
mod traces;
mod workers;
