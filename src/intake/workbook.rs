//! People out of a workbook.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use super::check::Checker;
use super::columns::Columns;
use super::error::IntakeError;
use super::reader::{Ended, Head, Out};
use super::source::Options;
use super::text::{SHOWN, Table};
use super::xlsx;

/// Rows that are looked at to map the columns.
const SAMPLES: usize = 50;

/// Reports whether a file is a workbook: by its ending, or by its first bytes.
pub(super) fn is_one(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut magic = [0; 4];
    matches!(&*ending, "xlsx" | "xlsm")
        || (path.is_file()
            && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
            && magic == *b"PK\x03\x04")
}

/// Reads one sheet, row by row.
pub(super) fn read(path: &Path, options: &Options, out: &mut Out) -> Result<(), Ended> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let file =
        File::open(path).map_err(|source| IntakeError::Open { path: path.to_owned(), source })?;
    let mut book = xlsx::open(BufReader::new(file), &name)?;
    let sheet = xlsx::sheet(&book, &name, options.sheet.as_deref())?;
    let mut rows = Vec::new();
    xlsx::rows(&mut book, &name, &sheet, |row| {
        rows.push((row.line, row.fields().map(str::to_owned).collect::<Vec<_>>()));
        rows.len() <= SAMPLES
    })?;
    let Some(table) = Table::of(rows, options) else {
        return Err(IntakeError::Empty { name: format!("{name}, sheet {sheet},") }.into());
    };
    let columns = Columns {
        source: &name,
        line: table.line,
        names: &table.names,
        samples: &table.samples,
        named_on_purpose: false,
    };
    let mapping = columns.map(options)?;
    let checker = Checker::new(options.wanted, &table.names, &mapping).padding();
    out.head(Head {
        name: name.clone(),
        sheet: Some(sheet.clone()),
        has_headings: table.has_headings,
        samples: table.samples.iter().take(SHOWN).cloned().collect(),
        notes: table.notes,
        columns: table.names,
        mapping,
        ..Head::default()
    })?;
    let headings = if table.has_headings { table.line } else { 0 };
    let mut listening = Ok(());
    xlsx::rows(&mut book, &name, &sheet, |row| {
        if row.line > headings
            && let Some(entry) = checker.record(row)
        {
            listening = out.entry(entry);
        }
        listening.is_ok()
    })?;
    Ok(listening?)
}
