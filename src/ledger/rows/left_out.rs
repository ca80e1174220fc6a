//! People in the source who got no row.

use crate::db::{Row, Tx};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

/// One line of a source that became no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOutLine {
    pub id: i64,
    pub batch: BatchId,
    /// The file or query it stands in.
    pub source: String,
    pub line: i64,
    pub key: String,
    /// In compare form where it could be read.
    pub address: String,
    pub why: String,
    pub value: String,
    pub at: Timestamp,
}

impl LeftOutLine {
    pub(super) fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            id: row.int(0)?,
            batch: BatchId(row.int(1)?),
            source: row.text(2)?,
            line: row.int(3)?,
            key: row.text(4)?,
            address: row.text(5)?,
            why: row.text(6)?,
            value: row.text(7)?,
            at: Timestamp(row.int(8)?),
        })
    }
}

/// Returns up to `limit` lines behind number `after`.
pub(in crate::ledger) async fn page(
    tx: &mut Tx,
    batch: BatchId,
    after: i64,
    limit: i64,
) -> Result<Vec<LeftOutLine>, LedgerError> {
    let rows = tx
        .query(
            "select id, batch, source, line, \"key\", address, why, value, at from left_out
              where batch = ? and id > ? order by id limit ?",
        )
        .bind(batch)
        .bind(after)
        .bind(limit)
        .fetch_all()
        .await?;
    rows.iter().map(LeftOutLine::of).collect()
}

impl Ledger {
    /// Returns up to `limit` left-out lines of a batch behind number `after`.
    pub async fn left_out(
        &self,
        batch: BatchId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<LeftOutLine>, LedgerError> {
        page(&mut self.db.read().await?, batch, after, limit).await
    }
}
