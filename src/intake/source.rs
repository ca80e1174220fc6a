//! Where people come from, and what is already known about it.

use std::path::PathBuf;

use futures_util::stream::BoxStream;
use jiff::tz::TimeZone;

use crate::db::Location;
use crate::domain::state::State;

/// Where people come from.
pub enum Source {
    /// The ending says what it is: `.csv .tsv .xlsx .jsonl`; anything else is read as CSV.
    File(PathBuf),
    /// CSV, or JSON lines if the first character is `{`.
    Stdin,
    Query(Query),
    /// Rows that the caller has: those of another batch.
    Rows(Rows),
}

/// One SQL question to any of the three engines.
#[derive(Clone, Debug)]
pub struct Query {
    /// What people call it: `query:members`.
    pub name: String,
    pub database: Location,
    /// With named parameters: `grade >= :grade`.
    pub sql: String,
    pub params: Vec<(String, String)>,
}

/// Rows handed in from outside.
pub struct Rows {
    /// What people call it: `batch:notice-12?state=failed`.
    pub name: String,
    pub rows: BoxStream<'static, Result<Row, Box<dyn std::error::Error + Send + Sync>>>,
}

/// One row handed in from outside; it needs no column mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: String,
    pub address: String,
    /// A JSON object.
    pub fields: String,
}

/// What the source is read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// People to mail: each needs an address and a key. Gives `Entry::Person`, or `Entry::Told`
    /// where the source says what became of each mail.
    #[default]
    People,
    /// A list to look people up in (`--except`, `--keys`, `suppress add --from`): an address or a
    /// key is enough, and a bare list without a header will do. Gives `Entry::Named`.
    List,
}

/// What the caller knows about the source.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub wanted: Wanted,
    /// `--encoding`; overrides every detection.
    pub encoding: Option<String>,
    /// The configured language (`ja`, `ko`), a hint for the character set.
    pub language: Option<String>,
    pub delimiter: Option<char>,
    /// Of an XLSX file; the first one if not given.
    pub sheet: Option<String>,
    /// `--map field=column`, in the order given.
    pub map: Vec<(String, String)>,
    /// `--map-state old=new`: what an older system's words mean here.
    pub map_state: Vec<(String, State)>,
    /// Of times without an offset; UTC if not given.
    pub zone: Option<TimeZone>,
}
