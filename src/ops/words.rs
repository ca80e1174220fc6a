//! Numbers and spans of time as people read them; `report` shows them the same way.

pub use crate::report::words::{age, percent, thousands};
