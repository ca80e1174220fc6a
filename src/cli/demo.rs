//! Everything in one process, with nothing to set up.

pub mod mailserver;
