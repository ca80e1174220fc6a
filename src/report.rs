//! What a batch looks like to somebody who was not there: one snapshot, many formats.
//!
//! Promise: the sums add up and it is said when they do not; an address is masked unless asked
//! for, also inside a server's reply; nothing from outside can command a terminal or a spreadsheet;
//! rows are written as they come, so that a million of them need no memory.
//! Absent on purpose: no ledger and no clock; everything that is printed is in the snapshot.
//! Start reading at `summary`, then `Writer`, then any format: one file each.

use std::io::{self, Write};

use jiff::tz::TimeZone;

use crate::config::Language;
use crate::domain::state::words;

pub mod output;
pub mod summary;
pub mod when;
pub mod words;

mod csv;
mod html;
mod json;
mod line;
mod mask;
mod md;
mod phrases;
mod table;
mod text;
mod xlsx;

pub use csv::harmless;
pub use json::to_json;
pub use summary::{Listing, Missing, Summary};

words! {
    /// How a report is written.
    Format {
        Text = "text",
        /// One line for a chat.
        Line = "line",
        Md = "md",
        Csv = "csv",
        Json = "json",
        Html = "html",
        Xlsx = "xlsx",
    }
}

words! {
    /// Which rows a report lists.
    Listed {
        Failed = "failed",
        Unknown = "unknown",
        /// Everybody of whom it cannot be said that the mail was taken.
        NotSent = "not-sent",
        /// The people in the source who got no row.
        LeftOut = "left-out",
        All = "all",
    }
}

/// Whether whole addresses may be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Privacy {
    /// `a***@example.org`, wherever an address stands.
    #[default]
    Masked,
    Full,
}

/// How a report is made.
#[derive(Clone, Debug)]
pub struct Options {
    pub zone: TimeZone,
    /// The rows that are listed below the numbers; none: numbers alone.
    pub listed: Option<Listed>,
    pub privacy: Privacy,
    /// The language of what people read; documents for programs stay English.
    pub language: Language,
}

/// What every report ends with.
pub const SENT_MEANS: &str = phrases::Phrase::SentMeans.text(Language::En);

/// Writes one report: each batch, and after it the rows that were asked for.
pub trait Writer {
    /// Writes the numbers of a batch; its rows follow.
    fn batch(&mut self, batch: &Summary) -> io::Result<()>;

    /// Writes a row of the batch that was begun last.
    fn row(&mut self, row: &Listing) -> io::Result<()>;

    /// Writes a person of the source of that batch who got no row.
    fn left_out(&mut self, line: &Missing) -> io::Result<()>;

    /// Writes what stands at the end.
    fn finish(&mut self) -> io::Result<()>;
}

/// Returns the writer of a format; what it writes goes to `out`.
pub fn writer<'w>(
    format: Format,
    options: Options,
    out: &'w mut dyn Write,
) -> Box<dyn Writer + 'w> {
    match format {
        Format::Text => Box::new(text::Text::new(options, out)),
        Format::Line => Box::new(line::Lines::new(options, out)),
        Format::Md => Box::new(md::Markdown::new(options, out)),
        Format::Csv => Box::new(csv::Csv::new(options, out)),
        Format::Json => Box::new(json::Json::new(options, out)),
        Format::Html => Box::new(html::Html::new(options, out)),
        Format::Xlsx => Box::new(xlsx::Xlsx::new(options, out)),
    }
}
