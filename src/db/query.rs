//! One statement with its values.

use std::borrow::Cow;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sqlx::mysql::MySqlArguments;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Database, Encode, Type};

use super::row::Inner as RowInner;
use super::tx::Inner;
use super::{DbError, Dialect, Row, Tx, Value};

/// A statement that gathers its values and then runs.
#[must_use = "a query does nothing until it is run"]
pub struct Query<'t> {
    tx: &'t mut Tx,
    sql: Cow<'static, str>,
    values: Vec<Value>,
}

/// Runs `$run` on the engine's own query; the only place where text becomes a statement.
macro_rules! run {
    ($query:expr, |$statement:ident, $conn:ident, $kind:ident| $run:expr) => {{
        let dialect = $query.tx.dialect();
        let sql = AssertSqlSafe(dialect.marks($query.sql).into_owned());
        #[expect(clippy::disallowed_methods, reason = "this is the door that SQL runs through")]
        match &mut $query.tx.0 {
            Inner::Sqlite(held) => {
                let $statement = sqlx::query_with(sql, arguments::<SqliteArguments>($query.values));
                let ($conn, $kind) = (&mut **held, RowInner::Sqlite);
                $run
            }
            Inner::Postgres(held) => {
                let $statement = sqlx::query_with(sql, arguments::<PgArguments>($query.values));
                let ($conn, $kind) = (&mut **held, RowInner::Postgres);
                $run
            }
            Inner::MariaDb(held) => {
                let $statement = sqlx::query_with(sql, arguments::<MySqlArguments>($query.values));
                let ($conn, $kind) = (&mut **held, RowInner::MariaDb);
                $run
            }
        }
    }};
}

impl<'t> Query<'t> {
    pub(super) const fn new(tx: &'t mut Tx, sql: Cow<'static, str>) -> Self {
        Self { tx, sql, values: Vec::new() }
    }

    /// Gives the next mark its value.
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Gives the next marks their values.
    pub(super) fn bind_all(mut self, values: Vec<Value>) -> Self {
        self.values.extend(values);
        self
    }

    const fn dialect(&self) -> Dialect {
        self.tx.dialect()
    }

    /// Runs the statement and returns how many rows it touched.
    pub async fn execute(self) -> Result<u64, DbError> {
        let dialect = self.dialect();
        run!(self, |statement, conn, _kind| statement
            .execute(conn)
            .await
            .map(|done| done.rows_affected()))
        .map_err(|err| DbError::of(dialect, err))
    }

    pub async fn fetch_all(self) -> Result<Vec<Row>, DbError> {
        let dialect = self.dialect();
        run!(self, |statement, conn, kind| statement
            .fetch_all(conn)
            .await
            .map(|rows| rows.into_iter().map(|row| Row(kind(row))).collect()))
        .map_err(|err| DbError::of(dialect, err))
    }

    pub async fn fetch_optional(self) -> Result<Option<Row>, DbError> {
        let dialect = self.dialect();
        run!(self, |statement, conn, kind| statement
            .fetch_optional(conn)
            .await
            .map(|row| row.map(|row| Row(kind(row)))))
        .map_err(|err| DbError::of(dialect, err))
    }

    /// Returns the one row of a statement that always has one.
    pub async fn fetch_one(self) -> Result<Row, DbError> {
        let dialect = self.dialect();
        run!(self, |statement, conn, kind| statement
            .fetch_one(conn)
            .await
            .map(|row| Row(kind(row))))
        .map_err(|err| DbError::of(dialect, err))
    }

    /// Returns the rows one after the other, without holding them all.
    pub fn stream(self) -> BoxStream<'t, Result<Row, DbError>> {
        let dialect = self.dialect();
        run!(self, |statement, conn, kind| statement
            .fetch(conn)
            .map(move |row| match row {
                Ok(row) => Ok(Row(kind(row))),
                Err(err) => Err(DbError::of(dialect, err)),
            })
            .boxed())
    }
}

/// Hands the values to the driver.
fn arguments<A>(values: Vec<Value>) -> A
where
    A: Arguments + Default,
    for<'q> Option<i64>: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> Option<String>: Encode<'q, A::Database> + Type<A::Database>,
    for<'q> Option<Vec<u8>>: Encode<'q, A::Database> + Type<A::Database>,
    A::Database: Database<Arguments = A>,
{
    let mut arguments = A::default();
    for value in values {
        let added = match value {
            Value::Int(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
        };
        added.expect("numbers, text and bytes can be encoded for every engine");
    }
    arguments
}
