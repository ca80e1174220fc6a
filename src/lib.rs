//! ittsu sends mail to many people and can say, for every one of them, whether it went out.
//!
//! Rooms, from the leaves up; arrows point down and `tests/it/tidy.rs` holds them:
//!
//! ```text
//!      cli ── console
//!        \    /
//!         ops ─────────── report
//!  /     /    |     \
//! intake compose dispatch
//!   \      \   /  \   /
//!    \  transport  ledger
//!     \________________\___ db
//!            domain        config, clock, shutdown: leaves, passed in as values
//! ```
//!
//! Start reading at `domain`, then `ledger`, then `dispatch`.

pub mod cli;
pub mod clock;
pub mod compose;
pub mod config;
pub mod console;
pub mod db;
pub mod dispatch;
pub mod domain;
pub mod intake;
pub mod ledger;
pub mod ops;
pub mod report;
pub mod shutdown;
pub mod transport;
