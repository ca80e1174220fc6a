//! The engine: takes rows of running batches and hands each of them over once.
//!
//! Promise: a row is `sending` in the ledger before the first byte of its body leaves, every start
//! gets an end, and nothing is sent that cannot be recorded.
//! Absent on purpose: no SQL, no SMTP words, no printing; it knows rows, routes and answers.
//! Start reading at `worker`, then `lane`, then `recorder`.

pub mod failpoint;
pub mod identity;
pub mod outcome_file;
pub mod progress;
pub mod settings;
pub mod state_dir;
pub mod step_file;
pub mod worker;

mod allowance;
mod errand;
mod gathering;
mod hands;
mod keeper;
mod lane;
mod look;
mod prepare;
mod pulse;
mod recorder;
mod route;
mod served;
mod shift;
mod sweep;
mod tally;
mod throttle;
mod watch;

pub use prepare::is_allowed;
pub use sweep::sweep_gone;
pub use worker::{DispatchError, Worker};
