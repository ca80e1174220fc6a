//! Many rows into one table, as fast as the engine takes them.
//!
//! PostgreSQL takes them by `copy`, which fails whole at the first key that is there already; the
//! others by inserts of many rows. The rows are encoded once and may be written again.

use std::fmt::Write as _;

use super::tx::Inner;
use super::{DbError, Dialect, Tx};

/// What happens to a row whose key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// Nothing is inserted and `DbError::Taken` is the answer; the transaction is lost.
    Fail,
    /// The row that is there stays; the text is the key's columns (`scope, key`).
    Keep(&'static str),
}

/// One value of a row.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'v> {
    Null,
    Int(i64),
    Text(&'v str),
    Bytes(&'v [u8]),
}

/// Rows on their way to one table.
#[derive(Debug)]
pub struct Bulk {
    dialect: Dialect,
    table: &'static str,
    /// The columns' names, separated by commas.
    columns: &'static str,
    clash: Clash,
    /// Encoded rows; more than one where a statement would grow too long.
    parts: Vec<String>,
    rows: usize,
}

/// Size of one statement's text: below MariaDB's smallest usual `max_allowed_packet` (16 MiB; 4 MiB
/// in old MySQL), and large enough that its fixed cost is nothing.
const PART: usize = 512 * 1024;

impl Bulk {
    /// Begins a set of rows for `columns` (names separated by commas) of `table`.
    pub const fn new(
        dialect: Dialect,
        table: &'static str,
        columns: &'static str,
        clash: Clash,
    ) -> Self {
        Self { dialect, table, columns, clash, parts: Vec::new(), rows: 0 }
    }

    const fn copies(&self) -> bool {
        matches!((self.dialect, self.clash), (Dialect::Postgres, Clash::Fail))
    }

    /// Adds a row; its cells stand in the order of the columns.
    pub fn push(&mut self, row: &[Cell<'_>]) {
        self.rows += 1;
        let copies = self.copies();
        let dialect = self.dialect;
        if self.parts.last().is_none_or(|part| part.len() > PART) {
            self.parts.push(String::with_capacity(PART + 4096));
        }
        let Some(part) = self.parts.last_mut() else { return };
        if copies {
            for (i, &cell) in row.iter().enumerate() {
                if i > 0 {
                    part.push('\t');
                }
                copy_cell(part, cell);
            }
            part.push('\n');
        } else {
            part.push_str(if part.is_empty() { "(" } else { ",(" });
            for (i, &cell) in row.iter().enumerate() {
                if i > 0 {
                    part.push(',');
                }
                dialect.literal(part, cell);
            }
            part.push(')');
        }
    }

    pub const fn len(&self) -> usize {
        self.rows
    }

    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Writes every row within the transaction.
    pub async fn write(&self, tx: &mut Tx) -> Result<(), DbError> {
        if self.copies() {
            return self.copy(tx).await;
        }
        let (table, columns) = (self.table, self.columns);
        let ending = match self.clash {
            Clash::Fail => String::new(),
            Clash::Keep(key) => self.dialect.keep_existing(table, key),
        };
        for part in &self.parts {
            tx.packet(format!("insert into {table}({columns}) values {part}{ending}")).await?;
        }
        Ok(())
    }

    async fn copy(&self, tx: &mut Tx) -> Result<(), DbError> {
        let Inner::Postgres(conn) = &mut tx.0 else {
            return Err(DbError::Unfit {
                engine: tx.dialect().as_str(),
                why: "these rows were encoded for PostgreSQL".to_owned(),
            });
        };
        let of = |err| DbError::of(Dialect::Postgres, err);
        let statement = format!("copy {}({}) from stdin", self.table, self.columns);
        let mut copy = conn.copy_in_raw(&statement).await.map_err(of)?;
        for part in &self.parts {
            copy.send(part.as_bytes()).await.map_err(of)?;
        }
        copy.finish().await.map(drop).map_err(of)
    }
}

/// Writes a cell in the text format of `copy`.
fn copy_cell(out: &mut String, cell: Cell<'_>) {
    match cell {
        Cell::Null => out.push_str("\\N"),
        Cell::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Cell::Bytes(bytes) => {
            out.push_str("\\\\x");
            out.push_str(&data_encoding::HEXLOWER.encode(bytes));
        }
        Cell::Text(text) => {
            for c in text.chars() {
                match c {
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c => out.push(c),
                }
            }
        }
    }
}

impl Dialect {
    /// Writes a cell as a literal that no setting of the server can read otherwise.
    pub(super) fn literal(self, out: &mut String, cell: Cell<'_>) {
        match (self, cell) {
            (_, Cell::Null) => out.push_str("null"),
            (_, Cell::Int(n)) => {
                let _ = write!(out, "{n}");
            }
            (Self::Postgres, Cell::Bytes(bytes)) => {
                let _ = write!(out, "'\\x{}'::bytea", data_encoding::HEXLOWER.encode(bytes));
            }
            (Self::Sqlite | Self::MariaDb, Cell::Bytes(bytes)) => {
                let _ = write!(out, "x'{}'", data_encoding::HEXLOWER.encode(bytes));
            }
            // `standard_conforming_strings` is on, set when we connected.
            (Self::Sqlite | Self::Postgres, Cell::Text(text)) if !text.contains('\0') => {
                out.push('\'');
                for c in text.chars() {
                    if c == '\'' {
                        out.push('\'');
                    }
                    out.push(c);
                }
                out.push('\'');
            }
            (Self::Sqlite, Cell::Text(text)) => {
                let hex = data_encoding::HEXLOWER.encode(text.as_bytes());
                let _ = write!(out, "cast(x'{hex}' as text)");
            }
            // No literal can hold a NUL: the server refuses it, as it refuses a bound one.
            (Self::Postgres, Cell::Text(_)) => out.push_str("E'\\x00'"),
            // Whether a backslash escapes depends on `sql_mode`, which we set when we connected.
            (Self::MariaDb, Cell::Text(text)) => {
                out.push('\'');
                for c in text.chars() {
                    match c {
                        '\'' => out.push_str("''"),
                        '\\' => out.push_str("\\\\"),
                        '\0' => out.push_str("\\0"),
                        c => out.push(c),
                    }
                }
                out.push('\'');
            }
        }
    }
}
