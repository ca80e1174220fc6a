//! The rows of one sheet of a workbook, one after the other.

use std::io::{Read, Seek};

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx, XlsxError};

use super::csv::Record;
use super::error::IntakeError;
use super::finding::Why;

/// Chooses a sheet: the one that was named, else the first.
pub(super) fn sheet<R: Read + Seek>(
    book: &Xlsx<R>,
    name: &str,
    wanted: Option<&str>,
) -> Result<String, IntakeError> {
    let sheets = book.sheet_names();
    let found = match wanted {
        None => sheets.first(),
        Some(wanted) => sheets.iter().find(|sheet| *sheet == wanted),
    };
    found.cloned().ok_or_else(|| IntakeError::NoSuchSheet {
        name: name.to_owned(),
        sheet: wanted.unwrap_or_default().to_owned(),
        sheets,
    })
}

/// Opens a workbook.
pub(super) fn open<R: Read + Seek>(from: R, name: &str) -> Result<Xlsx<R>, IntakeError> {
    Xlsx::new(from).map_err(|err| wrong(name, &err))
}

/// Calls `each` with every row that holds something, until it says stop.
///
/// Rows are not padded: a sheet does not keep the empty cells at the end of a row.
pub(super) fn rows<R: Read + Seek>(
    book: &mut Xlsx<R>,
    name: &str,
    sheet: &str,
    mut each: impl FnMut(&Record) -> bool,
) -> Result<(), IntakeError> {
    let mut cells = book.worksheet_cells_reader(sheet).map_err(|err| wrong(name, &err))?;
    let mut row = Record::default();
    while let Some(cell) = cells.next_cell().map_err(|err| wrong(name, &err))? {
        let (number, column) = cell.get_position();
        let line = u64::from(number) + 1;
        if line != row.line {
            if row.line > 0 && !row.is_blank() && !each(&row) {
                return Ok(());
            }
            row = Record::of::<&str>(line, []);
        }
        let column = usize::try_from(column).unwrap_or(usize::MAX);
        while row.len() < column {
            row.push("");
        }
        match text(cell.get_value()) {
            Ok(text) => row.push(&text),
            Err(text) => {
                row.problem = Some(Why::Unreadable(format!("a cell holds the error {text}")));
                row.push(&text);
            }
        }
    }
    if row.line > 0 && !row.is_blank() {
        each(&row);
    }
    Ok(())
}

fn wrong(name: &str, err: &XlsxError) -> IntakeError {
    IntakeError::Workbook { name: name.to_owned(), why: err.to_string() }
}

/// Writes a cell as a person reads it; `Err` for an error such as `#N/A`.
fn text(cell: &DataRef<'_>) -> Result<String, String> {
    Ok(match cell {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => float(*number),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(yes) => if *yes { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(moment) => date(moment),
        DataRef::Error(err) => return Err(err.to_string()),
        DataRef::Empty => String::new(),
    })
}

/// Writes a number with the 15 digits that a sheet shows, whole numbers without decimals.
fn float(number: f64) -> String {
    let shown: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    // Also a whole number beyond 2^53 prints without an exponent.
    shown.to_string()
}

fn date(moment: &ExcelDateTime) -> String {
    if moment.is_duration() {
        let minutes = (moment.as_f64() * 1440.0).round();
        return format!("{}:{:02}", (minutes / 60.0).floor(), minutes.rem_euclid(60.0));
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    // A sheet keeps fractions of days: five past two may come as 14:04:59.9996.
    let seconds = 3600 * u32::from(hour) + 60 * u32::from(minute) + u32::from(second);
    let seconds = (seconds + u32::from(milli >= 500)).min(86_399);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let time = if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    match moment.as_f64() {
        day if day < 1.0 => time,
        day if day.fract() == 0.0 => date,
        _ => format!("{date} {time}"),
    }
}
