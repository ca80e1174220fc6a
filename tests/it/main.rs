//! Every integration test, as modules of one binary.
//!
//! An area is a file here (`ledger.rs`, with `ledger/` beside it) and one `mod` line below; the
//! test `tidy` fails when a file was forgotten. A test that runs on the three engines is an
//! `async fn name(place: Place)` listed once in `on_every_engine!`.

#![cfg(test)]

mod support;

mod cli;
mod compose;
mod config;
mod console;
mod crash;
mod db;
mod dispatch;
mod harness;
mod intake;
mod ledger;
mod orders;
mod report;
mod story;
mod tidy;
mod transport;
