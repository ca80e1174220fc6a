//! Every operator action, exactly once; the command line and the console both call these.
//!
//! Promise: an action that changes the ledger names what it will change first, does exactly that
//! in one transaction with its journal entry, and answers with counts.
//! Absent on purpose: nothing here prints, reads arguments or asks questions.
//! Start reading at `action`, then `import` and `start`.

pub mod action;
pub mod attention;
pub mod document;
pub mod error;
pub mod source;
pub mod template_file;
pub mod when;
pub mod words;
