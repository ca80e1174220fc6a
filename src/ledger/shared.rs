//! What all workers share about a transport: its rate, its connections, and whether it is down.
//!
//! Promise: every step is one conditional write; what a dead worker held is freed by its sweep,
//! what it had paid for is lost and never doubled.

pub mod endpoint;
pub mod lane;
pub mod pace;
