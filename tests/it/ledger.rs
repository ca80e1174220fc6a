//! The contract of the ledger, on every engine.

mod recorder;
mod schema;
