//! The words of the product and the rules that need no outside world.
//!
//! Promise: everything here is a pure function or a plain value.
//! Absent on purpose: no clock, no chance, no database, no network, no library of the outer world.
//! Start reading at `state`, then `outcome`, then `smtp`.

pub mod id;
pub mod name;
pub mod outcome;
pub mod policy;
pub mod state;
pub mod time;
