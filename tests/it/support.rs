//! What tests stand on: databases of their own, and the binary in a clean environment.

pub(crate) mod api;
pub(crate) mod engines;
pub(crate) mod hand;
pub(crate) mod ledgers;
pub(crate) mod proxy;
pub(crate) mod redis;
pub(crate) mod shell;
