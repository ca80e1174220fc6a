//! The command line, as a person at a shell meets it.

mod config;
mod contract;
mod init;
mod report;
mod secrets;
