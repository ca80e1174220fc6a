//! One way to read every source: open it, look at what was found out, take entries in chunks.

use crate::domain::address::Address;

use super::columns::Mapping;
use super::encoding::Charset;
use super::error::IntakeError;
use super::finding::Finding;
use super::source::{Options, Source};

/// A source that has been opened and understood.
#[derive(Debug)]
pub struct Reader {
    /// What people call the source.
    pub name: String,
    /// `None` where there is nothing to decode (XLSX, queries, other batches).
    pub charset: Option<Charset>,
    pub delimiter: Option<char>,
    pub sheet: Option<String>,
    pub columns: Vec<String>,
    pub mapping: Mapping,
    /// The first rows as they were understood, for showing.
    pub samples: Vec<Vec<String>>,
    /// What is worth saying although no line was rejected: a column that occurs twice.
    pub notes: Vec<Finding>,
}

/// What one line of the source came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Person(Line),
    Named(Named),
    Rejected(Rejected),
}

/// A person to mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// In the source, from 1; the header counts. For a value with line breaks: its first line.
    pub number: u64,
    pub key: String,
    pub address: Address,
    pub name: Option<String>,
    /// A JSON object with every column; `name` is added if another column was mapped to it.
    pub fields: String,
}

/// Someone named in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub number: u64,
    pub key: Option<String>,
    pub address: Option<Address>,
}

/// A line that cannot become a row, with what could be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub finding: Finding,
    pub key: String,
    pub address: String,
}

/// Opens a source and finds out what it holds.
pub async fn open(_source: Source, _options: &Options) -> Result<Reader, IntakeError> {
    todo!()
}

impl Reader {
    /// Returns the next entries in the order of the source; an empty list is its end.
    pub async fn next(&mut self) -> Result<Vec<Entry>, IntakeError> {
        todo!()
    }
}
