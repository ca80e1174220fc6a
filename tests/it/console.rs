//! The console, as a person at a terminal meets it.

mod flow;
mod keys;
mod screens;
mod seat;
mod terminal;
