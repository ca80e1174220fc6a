//! For a spreadsheet: UTF-8 with a BOM, so that Excel reads it right.

use std::io::{self, Write};

use super::mask::Addresses;
use super::summary::{Listing, Missing, Summary};
use super::{Listed, Options, Writer, when};

/// The first column says which batch a line belongs to; columns may be added, never changed.
const NUMBERS: &[&str] = &[
    "batch",
    "kind",
    "title",
    "state",
    "total",
    "ready",
    "sending",
    "sent",
    "failed",
    "unknown",
    "assumed",
    "maybe_twice",
    "maybe_delivered",
    "left_out",
    "attempts",
    "as_of",
];
const ROWS: &[&str] = &[
    "batch",
    "key",
    "address",
    "state",
    "how",
    "unknown",
    "cause",
    "unknown_attempts",
    "attempt",
    "generation",
    "message_id",
    "phase",
    "code",
    "enhanced",
    "reply",
    "note",
    "updated_at",
];
const LEFT_OUT: &[&str] = &["batch", "source", "line", "key", "address", "why", "value"];

pub(super) struct Csv<'w> {
    options: Options,
    out: &'w mut dyn Write,
    batch: String,
    begun: bool,
}

impl<'w> Csv<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out, batch: String::new(), begun: false }
    }

    /// Writes the BOM and the names of the columns, once.
    fn begin(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        self.out.write_all("\u{feff}".as_bytes())?;
        let head = match self.options.listed {
            None => NUMBERS,
            Some(Listed::LeftOut) => LEFT_OUT,
            Some(_) => ROWS,
        };
        let head: Vec<_> = head.iter().map(|&name| name.to_owned()).collect();
        self.write(&head)
    }

    fn write(&mut self, cells: &[String]) -> io::Result<()> {
        let mut line = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::with_capacity(256));
        line.write_record(cells.iter().map(|cell| harmless(cell)))?;
        let line = line.into_inner().map_err(csv::IntoInnerError::into_error)?;
        self.out.write_all(&line)
    }
}

impl Writer for Csv<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        self.batch.clone_from(&batch.batch);
        self.begin()?;
        if self.options.listed.is_some() {
            return Ok(());
        }
        let shown = Addresses(self.options.privacy);
        let counts = &batch.counts;
        let mut cells = vec![
            batch.batch.clone(),
            batch.kind.clone(),
            shown.text(&batch.title),
            batch.state.as_str().to_owned(),
        ];
        let numbers = [
            counts.total(),
            counts.ready,
            counts.sending,
            counts.sent,
            counts.failed,
            counts.unknown,
            counts.assumed,
            counts.maybe_twice,
            counts.maybe_delivered,
            counts.left_out,
            counts.attempts,
        ];
        cells.extend(numbers.map(|n| n.to_string()));
        cells.push(when::rfc3339(batch.as_of, &self.options.zone));
        self.write(&cells)
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        let text =
            |text: &Option<String>| text.as_deref().map_or_else(String::new, |t| shown.text(t));
        self.write(&[
            self.batch.clone(),
            shown.text(&row.key),
            shown.address(&row.address),
            row.state.to_string(),
            row.how.map_or_else(String::new, |how| how.to_string()),
            row.unknown.to_string(),
            row.cause.map_or_else(String::new, |cause| cause.to_string()),
            row.unknown_attempts.to_string(),
            row.attempt.to_string(),
            row.generation.to_string(),
            // It holds no address of a person.
            row.message_id.clone().unwrap_or_default(),
            text(&row.phase),
            row.code.map_or_else(String::new, |code| code.to_string()),
            text(&row.enhanced),
            shown.text(row.reply.trim()),
            shown.text(&row.note),
            when::rfc3339(row.updated_at, &self.options.zone),
        ])
    }

    fn left_out(&mut self, line: &Missing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        self.write(&[
            self.batch.clone(),
            shown.text(&line.source),
            line.line.to_string(),
            shown.text(&line.key),
            shown.text(&line.address),
            shown.text(&line.why),
            shown.text(&line.value),
        ])
    }

    fn finish(&mut self) -> io::Result<()> {
        self.begin()?;
        self.out.flush()
    }
}

/// Returns a cell that no spreadsheet takes for a formula.
pub fn harmless(cell: &str) -> String {
    // The wide signs are what a Japanese keyboard types; Excel takes them for formulas too.
    let risky = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    if cell.starts_with(risky) { format!("'{cell}") } else { cell.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for cell in ["=1+1", "+81", "-2", "@sum", "\tx", "\rx", "＝1", "＠x"] {
            assert!(harmless(cell).starts_with('\''), "{cell}");
        }
        for cell in ["", "100", "a=b", "550 -", "会員"] {
            assert_eq!(harmless(cell), cell);
        }
    }
}
