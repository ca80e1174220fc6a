//! For a spreadsheet with sheets: numbers on one, rows on the others.

use std::io::{self, Write};

use rust_xlsxwriter::{Format, Workbook, Worksheet, XlsxError};

use super::mask::Addresses;
use super::summary::{Listing, Missing, Summary};
use super::{Listed, Options, SENT_MEANS, Writer, when};
use crate::config::Language;

/// Rows below the head that fit on one sheet.
const MOST: u32 = 1_048_575;

pub(super) struct Xlsx<'w> {
    options: Options,
    out: &'w mut dyn Write,
    book: Workbook,
    /// Name of the batch that rows belong to.
    batch: String,
    numbers: u32,
    rows: u32,
    sheets: usize,
}

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
    "sum",
];
const ROWS: &[&str] = &[
    "batch",
    "key",
    "address",
    "state",
    "how",
    "unknown",
    "attempt",
    "code",
    "enhanced",
    "words",
    "message_id",
    "updated_at",
];
const LEFT_OUT: &[&str] = &["batch", "source", "line", "key", "address", "why", "value"];

enum Cell {
    Text(String),
    Number(i64),
}

impl<'w> Xlsx<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self {
            options,
            out,
            book: Workbook::new(),
            batch: String::new(),
            numbers: 0,
            rows: 0,
            sheets: 0,
        }
    }

    fn add_sheet(&mut self, name: &str, head: &[&str]) -> io::Result<()> {
        // Rows are written through to a file, so that a million of them need no memory.
        let sheet = self.book.add_worksheet_with_low_memory().map_err(failed)?;
        sheet.set_name(name).map_err(failed)?;
        sheet.set_freeze_panes(1, 0).map_err(failed)?;
        let bold = Format::new().set_bold();
        for (column, name) in (0..).zip(head) {
            sheet.write_with_format(0, column, *name, &bold).map_err(failed)?;
        }
        self.sheets += 1;
        Ok(())
    }

    /// Returns the sheet for the next row of a list, beginning another when one is full.
    fn list(&mut self, name: &str, head: &[&str]) -> io::Result<(&mut Worksheet, u32)> {
        if self.rows.is_multiple_of(MOST) {
            let number = self.rows / MOST + 1;
            let name = if number == 1 { name.to_owned() } else { format!("{name} {number}") };
            self.add_sheet(&name, head)?;
        }
        let row = self.rows % MOST + 1;
        self.rows += 1;
        let sheet = self.book.worksheet_from_index(self.sheets - 1).map_err(failed)?;
        Ok((sheet, row))
    }
}

fn write(sheet: &mut Worksheet, row: u32, cells: Vec<Cell>) -> io::Result<()> {
    for (column, cell) in (0..).zip(cells) {
        match cell {
            // A text is written as a text: it can never become a formula.
            Cell::Text(text) => sheet.write_string(row, column, fitting(text)).map(|_| ()),
            #[expect(clippy::cast_precision_loss, reason = "a sheet knows no other numbers")]
            Cell::Number(number) => sheet.write_number(row, column, number as f64).map(|_| ()),
        }
        .map_err(failed)?;
    }
    Ok(())
}

/// Cuts a text at what a cell can hold.
fn fitting(text: String) -> String {
    const MOST_LETTERS: usize = 32_767;
    match text.char_indices().nth(MOST_LETTERS) {
        Some(_) => text.chars().take(MOST_LETTERS).collect(),
        None => text,
    }
}

fn failed(err: XlsxError) -> io::Error {
    io::Error::other(err)
}

impl Writer for Xlsx<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        self.batch.clone_from(&batch.batch);
        if self.numbers == 0 {
            self.add_sheet("Batches", NUMBERS)?;
        }
        self.numbers += 1;
        let shown = Addresses(self.options.privacy);
        let counts = &batch.counts;
        let mut cells = vec![
            Cell::Text(batch.batch.clone()),
            Cell::Text(batch.kind.clone()),
            Cell::Text(shown.text(&batch.title)),
            Cell::Text(batch.state.as_str().to_owned()),
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
        cells.extend(numbers.map(Cell::Number));
        cells.push(Cell::Text(when::rfc3339(batch.as_of, &self.options.zone)));
        cells.push(Cell::Text(
            batch.disagreement(Language::En).unwrap_or_else(|| "adds up".to_owned()),
        ));
        let row = self.numbers;
        let sheet = self.book.worksheet_from_index(0).map_err(failed)?;
        write(sheet, row, cells)
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        let words = if row.reply.is_empty() { &row.note } else { &row.reply };
        let cells = vec![
            Cell::Text(self.batch.clone()),
            Cell::Text(shown.text(&row.key)),
            Cell::Text(shown.address(&row.address)),
            Cell::Text(row.state.to_string()),
            Cell::Text(row.how.map_or_else(String::new, |how| how.to_string())),
            Cell::Text(if row.unknown { "yes" } else { "no" }.to_owned()),
            Cell::Number(row.attempt),
            row.code.map_or(Cell::Text(String::new()), |code| Cell::Number(i64::from(code))),
            Cell::Text(row.enhanced.clone().unwrap_or_default()),
            Cell::Text(shown.text(words.trim())),
            Cell::Text(row.message_id.clone().unwrap_or_default()),
            Cell::Text(when::rfc3339(row.updated_at, &self.options.zone)),
        ];
        let (sheet, at) = self.list("Rows", ROWS)?;
        write(sheet, at, cells)
    }

    fn left_out(&mut self, line: &Missing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        let cells = vec![
            Cell::Text(self.batch.clone()),
            Cell::Text(shown.text(&line.source)),
            Cell::Number(line.line),
            Cell::Text(shown.text(&line.key)),
            Cell::Text(shown.text(&line.address)),
            Cell::Text(shown.text(&line.why)),
            Cell::Text(shown.text(&line.value)),
        ];
        let (sheet, at) = self.list("Left out", LEFT_OUT)?;
        write(sheet, at, cells)
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.options.listed {
            Some(Listed::LeftOut) if self.rows == 0 => self.add_sheet("Left out", LEFT_OUT)?,
            Some(_) if self.rows == 0 => self.add_sheet("Rows", ROWS)?,
            _ => {}
        }
        self.add_sheet("Note", &[SENT_MEANS])?;
        let bytes = self.book.save_to_buffer().map_err(failed)?;
        self.out.write_all(&bytes)?;
        self.out.flush()
    }
}
