//! Order mail from jobs in Redis to calls of an API, with the real parts.
//!
//! The API's record of what it took is the truth; every test compares the ledger with it.

mod adopt;
mod again;
mod away;
mod jobs;
mod kills;
mod lookup;
mod rejects;
mod shop;
mod story;
