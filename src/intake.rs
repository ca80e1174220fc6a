//! Reads people from files, queries and other batches, and checks every line.
//!
//! Promise: memory stays bounded whatever the source holds; a line is either a person with a
//! checked address and key, or it is rejected with its number, column and reason. Nothing is
//! guessed in silence: character set, delimiter and columns are reported, and when the character
//! set is not sure the caller is asked.
//! Absent on purpose: no ledger (the same key twice is found there) and no template.
//! Start reading at `source`, then `reader`.

mod check;
pub mod columns;
mod csv;
mod decode;
mod delimiter;
pub mod encoding;
pub mod error;
pub mod finding;
pub mod job;
mod jsonl;
pub mod lookup;
mod outside;
mod past;
mod plausible;
pub mod queue;
pub mod reader;
pub mod source;
mod survey;
mod text;
mod workbook;
mod xlsx;

pub use self::columns::Mapping;
pub use self::encoding::{Candidate, Charset, Found};
pub use self::error::IntakeError;
pub use self::finding::{Finding, Findings, Why};
pub use self::past::PastMapping;
pub use self::reader::{Entry, Head, Line, Named, Reader, Rejected, Told, open};
pub use self::source::{Options, Query, Row, Rows, Source, Wanted};
