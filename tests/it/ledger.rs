//! The contract of the ledger, on every engine.

mod adopt;
mod batches;
mod book;
mod claims;
mod import;
mod lost;
mod model;
mod numbers;
mod pauses;
mod recorder;
mod rows;
mod schema;
mod settle;
mod shared;
mod traces;
mod undo;
mod workers;
