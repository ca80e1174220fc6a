//! A connection of one's own, outside the pools.
//!
//! Why: on MariaDB a packet `begin; …; commit` that fails in the middle leaves the connection inside
//! an open transaction. Given back to a pool, the next borrower's `begin` would commit half of it.

use tokio::sync::OwnedMutexGuard;

use super::{Db, DbError, Dialect, Query, Row, Tx, Value, connect};

/// A connection that belongs to one task and is closed after any doubt.
#[derive(Debug)]
pub struct Private {
    tx: Tx,
    db: Db,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Db {
    /// Opens a connection that no pool knows.
    pub async fn private(&self) -> Result<Private, DbError> {
        self.pools.check_file()?;
        let tx = connect::own(&self.location, self.open).await?;
        Ok(Private { tx, db: self.clone(), turn: None })
    }
}

impl Private {
    pub const fn dialect(&self) -> Dialect {
        self.tx.dialect()
    }

    /// Returns the connection to run queries on.
    pub const fn tx(&mut self) -> &mut Tx {
        &mut self.tx
    }

    pub fn query(&mut self, sql: impl Into<std::borrow::Cow<'static, str>>) -> Query<'_> {
        self.tx.query(sql)
    }

    /// Keeps the plans of this connection's statements: each goes by a primary key.
    pub async fn settle_plans(&mut self) -> Result<(), DbError> {
        match self.dialect().settle_plans() {
            Some(sql) => self.tx.packet(sql.to_owned()).await,
            None => Ok(()),
        }
    }

    async fn take_turn(&mut self) -> Result<(), DbError> {
        let turn = self.db.turn().await;
        self.db.pools.check_file()?;
        self.turn = turn;
        Ok(())
    }

    /// Begins a transaction that will write.
    pub async fn begin(&mut self) -> Result<(), DbError> {
        self.take_turn().await?;
        let begun = self.tx.packet(self.dialect().begin_write().to_owned()).await;
        if begun.is_err() {
            self.turn = None;
        }
        begun
    }

    /// Begins a transaction that will write and runs statements in it, in one go; returns the rows of
    /// all of them. `values` are those of their marks, in order. After an error `rollback` must follow.
    ///
    /// For SQLite only: the other engines prepare one statement at a time.
    pub async fn begin_with(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, DbError> {
        self.take_turn().await?;
        let sql = format!("{};{sql}", self.dialect().begin_write());
        self.tx.query(sql).bind_all(values).fetch_all().await
    }

    /// Commits; an error means that nobody knows whether it was committed.
    pub async fn commit(&mut self) -> Result<(), DbError> {
        let done = self.tx.packet("commit".to_owned()).await;
        self.turn = None;
        done
    }

    /// Rolls back; after an error the connection must not be used again.
    pub async fn rollback(&mut self) -> Result<(), DbError> {
        let done = self.tx.packet("rollback".to_owned()).await;
        self.turn = None;
        done
    }

    /// Sends several statements in one packet and returns the rows of all of them.
    ///
    /// The text must hold nothing but numbers and hex literals beside our own words.
    pub async fn packet(&mut self, sql: String) -> Result<Vec<Row>, DbError> {
        self.tx.packet_rows(sql).await
    }
}
