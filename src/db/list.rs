//! A list of rows that travels as one JSON text: an array of arrays, or of plain values where a row
//! has one column.

use std::fmt::Write as _;

use super::{Cell, Value};

/// Rows for `Dialect::json_rows`, in the order of its fields.
#[derive(Clone, Debug)]
pub struct List {
    text: String,
}

impl Default for List {
    fn default() -> Self {
        Self { text: "[".to_owned() }
    }
}

impl List {
    pub fn new() -> Self {
        Self::default()
    }

    pub const fn is_empty(&self) -> bool {
        self.text.len() <= 1
    }

    /// Returns the list as JSON.
    pub fn into_text(self) -> String {
        self.text + "]"
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[Cell<'_>]) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        if let [cell] = row {
            return self.push_cell(*cell);
        }
        self.text.push('[');
        for (i, &cell) in row.iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            self.push_cell(cell);
        }
        self.text.push(']');
    }

    fn push_cell(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Null => self.text.push_str("null"),
            Cell::Int(n) => {
                let _ = write!(self.text, "{n}");
            }
            Cell::Text(text) => quote(&mut self.text, text),
            Cell::Bytes(bytes) => {
                let _ = write!(self.text, "\"{}\"", data_encoding::HEXLOWER.encode(bytes));
            }
        }
    }
}

/// Collects single numbers, each a row of its own.
impl FromIterator<i64> for List {
    fn from_iter<I: IntoIterator<Item = i64>>(numbers: I) -> Self {
        let mut list = Self::new();
        for n in numbers {
            list.push(&[Cell::Int(n)]);
        }
        list
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::Text(Some(list.into_text()))
    }
}

impl From<&List> for Value {
    fn from(list: &List) -> Self {
        Self::Text(Some(format!("{}]", list.text)))
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_json_whatever_it_holds() {
        let mut list = List::new();
        list.push(&[
            Cell::Int(-1),
            Cell::Text("a\"\\\n\u{1f}佐"),
            Cell::Null,
            Cell::Bytes(&[0, 255]),
        ]);
        list.push(&[Cell::Int(2), Cell::Text(""), Cell::Null, Cell::Bytes(&[])]);
        let Value::Text(Some(text)) = list.into() else { panic!("no text") };
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            read,
            serde_json::json!([[-1, "a\"\\\n\u{1f}佐", null, "00ff"], [2, "", null, ""]])
        );
        assert_eq!(Value::from(List::new()), Value::from("[]"));
        assert_eq!(Value::from([3, -4].into_iter().collect::<List>()), Value::from("[3,-4]"));
    }
}
