//! Plain tables: columns under their heads, no frames that wide letters could tear.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::error::CliError;
use super::printer::Printer;
use crate::domain::text::visible;

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Prints `rows` under `heads`; text from outside is made visible first.
pub fn print(
    printer: &mut Printer,
    heads: &[(&str, Side)],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> Result<(), CliError> {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heads.iter().map(|(head, _)| *head).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.iter().map(|cell| visible(cell).into_owned()).collect::<Vec<_>>());
    }
    for (column, (_, side)) in table.column_iter_mut().zip(heads) {
        column.set_padding((0, 2));
        if *side == Side::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        printer.line(line.trim_end())?;
    }
    Ok(())
}
