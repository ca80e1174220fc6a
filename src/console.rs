//! What operators look at all day: `ittsu` in a terminal.
//!
//! Promise: nothing is possible here that the command line cannot do, and every question shows the
//! equal command; the console never waits for the ledger, survives its loss, and leaves the
//! terminal as it was on every way out. Closing it changes nothing: sending is the work of workers.
//! Absent on purpose: no rule about mail, and no way to the ledger except through `ops`.
//! Start reading at `app` (`update`, which is pure), then `effects` and `refresh` (which do), then
//! `screen`.

pub mod app;
pub mod canvas;
pub mod dialog;
mod draw;
mod effects;
pub mod field;
pub mod keys;
pub mod list;
pub mod message;
mod overlay;
pub mod pace;
mod refresh;
pub mod run;
pub mod screen;
mod show;
mod terminal;
mod tour;
pub mod words;

pub use draw::draw as frame;
pub use run::{Opening, Surroundings, Tools, open};
pub use screen::Facts;
