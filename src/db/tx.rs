//! A connection in somebody's hands, in a transaction or not.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{Database, MySql, Postgres, Sqlite, Transaction};

use super::query::Query;
use super::row::Inner as RowInner;
use super::{DbError, Dialect, Row};

/// What queries run on: a transaction, or a plain connection for reading.
#[derive(Debug)]
pub struct Tx(pub(super) Inner);

#[derive(Debug)]
pub(super) enum Inner {
    Sqlite(Held<Sqlite>),
    Postgres(Held<Postgres>),
    MariaDb(Held<MySql>),
}

/// The ways to hold a connection.
#[derive(Debug)]
pub(super) enum Held<D: Database> {
    Begun(Transaction<'static, D>),
    Plain(PoolConnection<D>),
    Own(D::Connection),
}

impl<D: Database> Deref for Held<D> {
    type Target = D::Connection;

    fn deref(&self) -> &D::Connection {
        match self {
            Self::Begun(tx) => tx,
            Self::Plain(conn) => conn,
            Self::Own(conn) => conn,
        }
    }
}

impl<D: Database> DerefMut for Held<D> {
    fn deref_mut(&mut self) -> &mut D::Connection {
        match self {
            Self::Begun(tx) => tx,
            Self::Plain(conn) => conn,
            Self::Own(conn) => conn,
        }
    }
}

impl<D: Database> Held<D> {
    async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Begun(tx) => tx.commit().await,
            Self::Plain(_) | Self::Own(_) => Ok(()),
        }
    }

    async fn rollback(self) -> sqlx::Result<()> {
        match self {
            Self::Begun(tx) => tx.rollback().await,
            Self::Plain(_) | Self::Own(_) => Ok(()),
        }
    }
}

impl Tx {
    pub const fn dialect(&self) -> Dialect {
        match self.0 {
            Inner::Sqlite(_) => Dialect::Sqlite,
            Inner::Postgres(_) => Dialect::Postgres,
            Inner::MariaDb(_) => Dialect::MariaDb,
        }
    }

    /// Prepares `sql`, written with `?` for each value that will be bound.
    pub fn query(&mut self, sql: impl Into<Cow<'static, str>>) -> Query<'_> {
        Query::new(self, sql.into())
    }

    pub(super) async fn commit(self) -> Result<(), DbError> {
        let dialect = self.dialect();
        match self.0 {
            Inner::Sqlite(held) => held.commit().await,
            Inner::Postgres(held) => held.commit().await,
            Inner::MariaDb(held) => held.commit().await,
        }
        .map_err(|err| DbError::of(dialect, err))
    }

    pub(super) async fn rollback(self) -> Result<(), DbError> {
        let dialect = self.dialect();
        match self.0 {
            Inner::Sqlite(held) => held.rollback().await,
            Inner::Postgres(held) => held.rollback().await,
            Inner::MariaDb(held) => held.rollback().await,
        }
        .map_err(|err| DbError::of(dialect, err))
    }

    /// Runs `script`, statement by statement; each ends with `;` at the end of a line.
    ///
    /// For migrations and for text that has nothing to bind. MariaDB commits at each statement that
    /// changes a table's shape.
    pub async fn script(&mut self, script: &str) -> Result<(), DbError> {
        for statement in script.split(";\n").map(str::trim).filter(|text| !text.is_empty()) {
            self.packet(statement.to_owned()).await?;
        }
        Ok(())
    }

    /// Sends `sql` as it stands, with the engine's simple protocol, in one packet.
    pub(super) async fn packet(&mut self, sql: String) -> Result<(), DbError> {
        let dialect = self.dialect();
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql));
        match &mut self.0 {
            Inner::Sqlite(held) => sql.execute(&mut **held).await.map(drop),
            Inner::Postgres(held) => sql.execute(&mut **held).await.map(drop),
            Inner::MariaDb(held) => sql.execute(&mut **held).await.map(drop),
        }
        .map_err(|err| DbError::of(dialect, err))
    }

    /// Sends `sql` like `packet` and returns the rows of all its statements.
    pub(super) async fn packet_rows(&mut self, sql: String) -> Result<Vec<Row>, DbError> {
        let dialect = self.dialect();
        let sql = sqlx::raw_sql(sqlx::AssertSqlSafe(sql));
        match &mut self.0 {
            Inner::Sqlite(held) => rows(sql.fetch_all(&mut **held).await, RowInner::Sqlite),
            Inner::Postgres(held) => rows(sql.fetch_all(&mut **held).await, RowInner::Postgres),
            Inner::MariaDb(held) => rows(sql.fetch_all(&mut **held).await, RowInner::MariaDb),
        }
        .map_err(|err| DbError::of(dialect, err))
    }
}

fn rows<R>(found: sqlx::Result<Vec<R>>, kind: impl Fn(R) -> RowInner) -> sqlx::Result<Vec<Row>> {
    Ok(found?.into_iter().map(|row| Row(kind(row))).collect())
}
