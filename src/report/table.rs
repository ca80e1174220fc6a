//! Columns of plain text, as wide as a terminal shows them.

use unicode_width::UnicodeWidthStr;

/// On which side of a column its text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Returns lines with aligned columns, two blanks between them and none at the end.
pub(super) fn aligned<const N: usize>(sides: [Side; N], rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let line = |row: &[String; N]| {
        let mut line = String::new();
        for ((cell, width), side) in row.iter().zip(widths).zip(sides) {
            push(&mut line, cell, width, side);
            line.push_str("  ");
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Appends a cell, filled up to its width; a longer one just goes on.
pub(super) fn push(line: &mut String, cell: &str, width: usize, side: Side) {
    let fill = " ".repeat(width.saturating_sub(cell.width()));
    match side {
        Side::Left => {
            line.push_str(cell);
            line.push_str(&fill);
        }
        Side::Right => {
            line.push_str(&fill);
            line.push_str(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_take_two_cells() {
        let rows = [["会員".to_owned(), "1".to_owned()], ["abc".to_owned(), "10".to_owned()]];
        assert_eq!(aligned([Side::Left, Side::Right], &rows), ["会員   1", "abc   10"]);
    }
}
