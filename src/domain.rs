//! The words of the product and the rules that need no outside world.
//!
//! Promise: everything here is a pure function or a plain value.
//! Absent on purpose: no clock, no chance, no database, no network, no library of the outer world.
//! Start reading at `state`, then `outcome`, then `smtp`, then `settle`.

pub mod address;
pub mod batch;
pub mod breaker;
pub mod hours;
pub mod http;
pub mod id;
pub mod late;
pub mod name;
pub mod outcome;
pub mod past;
pub mod plan;
pub mod policy;
pub mod rate;
pub mod retry;
pub mod selection;
pub mod settle;
pub mod smtp;
pub mod span;
pub mod state;
pub mod step;
pub mod text;
pub mod time;
pub mod watch;
