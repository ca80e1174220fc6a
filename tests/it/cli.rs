//! The command line, as a person at a shell meets it.

mod apis;
mod config;
mod contract;
mod demo;
pub(crate) mod desk;
mod import;
mod init;
mod look;
mod report;
mod secrets;
mod send;
mod settle;
mod start;
