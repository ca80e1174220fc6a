//! The engine at work: real ledgers, and a mail server that misbehaves as it is told.
//!
//! The server's journal is the truth about what was accepted; every test ends by comparing the
//! ledger's rows with it and its counters with its rows.

mod office;
mod proxy;

mod breakers;
mod ending;
mod http;
mod last_look;
mod ledger_away;
mod once;
mod outcomes;
mod sharing;
