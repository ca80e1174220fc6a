//! One row of an answer, read by the position of its columns.

use sqlx::mysql::MySqlRow;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, TypeInfo as _, ValueRef as _};

use super::DbError;

/// A row as the engine gave it.
#[derive(Debug)]
pub struct Row(pub(super) Inner);

pub(super) enum Inner {
    Sqlite(SqliteRow),
    Postgres(PgRow),
    MariaDb(MySqlRow),
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Sqlite(_) => "SQLite row",
            Self::Postgres(_) => "PostgreSQL row",
            Self::MariaDb(_) => "MariaDB row",
        })
    }
}

macro_rules! get {
    ($row:expr, $index:expr) => {
        match &$row.0 {
            Inner::Sqlite(row) => row.try_get($index),
            Inner::Postgres(row) => row.try_get($index),
            Inner::MariaDb(row) => row.try_get($index),
        }
    };
}

impl Row {
    pub fn int(&self, index: usize) -> Result<i64, DbError> {
        self.int_or_null(index)?.ok_or_else(|| null(index, "number"))
    }

    pub fn int_or_null(&self, index: usize) -> Result<Option<i64>, DbError> {
        let value = match &self.0 {
            // A literal such as `1` is int4 on PostgreSQL.
            Inner::Postgres(row) => {
                match row.try_get_raw(index).map(|raw| raw.type_info().name().to_owned()) {
                    Ok(name) if name == "INT4" => {
                        row.try_get::<Option<i32>, _>(index).map(|n| n.map(i64::from))
                    }
                    _ => row.try_get(index),
                }
            }
            Inner::Sqlite(row) => row.try_get(index),
            Inner::MariaDb(row) => row.try_get(index),
        };
        value.map_err(|source| DbError::Column { index, wanted: "number", source })
    }

    pub fn text(&self, index: usize) -> Result<String, DbError> {
        self.text_or_null(index)?.ok_or_else(|| null(index, "text"))
    }

    pub fn text_or_null(&self, index: usize) -> Result<Option<String>, DbError> {
        get!(self, index).map_err(|source| DbError::Column { index, wanted: "text", source })
    }

    pub fn bytes(&self, index: usize) -> Result<Vec<u8>, DbError> {
        self.bytes_or_null(index)?.ok_or_else(|| null(index, "bytes"))
    }

    pub fn bytes_or_null(&self, index: usize) -> Result<Option<Vec<u8>>, DbError> {
        get!(self, index).map_err(|source| DbError::Column { index, wanted: "bytes", source })
    }
}

fn null(index: usize, wanted: &'static str) -> DbError {
    DbError::Column { index, wanted, source: sqlx::Error::Decode("it is null".into()) }
}
