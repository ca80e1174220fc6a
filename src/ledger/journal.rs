//! What operators did: who, when, why, how many, before and after.
//!
//! Promise: an entry is written in the transaction that makes the change, and nothing changes or
//! deletes one afterwards.

use serde_json::Value;

use crate::db::{Row, Tx};
use crate::domain::id::{BatchId, JournalId};
use crate::domain::time::Timestamp;

use super::{Ledger, LedgerError, ids};

/// Who asks for a change, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    pub operator: String,
    pub reason: String,
}

/// An entry that is to be written.
#[derive(Clone, Debug)]
pub struct Entry {
    pub action: &'static str,
    /// The batch it is about; 0 if it is about no single one.
    pub batch: BatchId,
    /// The rows that were meant, as on the command line.
    pub selection: String,
    pub matched: i64,
    pub changed: i64,
    pub details: Value,
}

/// An entry as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    pub id: JournalId,
    pub at: Timestamp,
    pub operator: String,
    pub action: String,
    pub batch: Option<BatchId>,
    /// The batch's name; none if the batch is gone.
    pub name: Option<String>,
    pub reason: String,
    pub selection: String,
    pub matched: i64,
    pub changed: i64,
    pub details: Value,
}

impl By {
    pub fn new(operator: &str, reason: &str) -> Self {
        Self { operator: operator.to_owned(), reason: reason.to_owned() }
    }
}

impl Entry {
    /// Begins an entry about one batch.
    pub const fn of(action: &'static str, batch: BatchId) -> Self {
        Self {
            action,
            batch,
            selection: String::new(),
            matched: 0,
            changed: 0,
            details: Value::Null,
        }
    }

    /// Begins an entry about no single batch.
    pub const fn all(action: &'static str) -> Self {
        Self::of(action, BatchId(0))
    }
}

impl JournalEntry {
    /// Returns the entry that this one took back.
    pub fn undoes(&self) -> Option<JournalId> {
        (self.action == "undo").then(|| self.details["undoes"].as_i64().map(JournalId)).flatten()
    }

    pub(super) fn of(row: &Row) -> Result<Self, LedgerError> {
        let details = row.text(10)?;
        Ok(Self {
            id: JournalId(row.int(0)?),
            at: Timestamp(row.int(1)?),
            operator: row.text(2)?,
            action: row.text(3)?,
            batch: Some(row.int(4)?).filter(|&id| id != 0).map(BatchId),
            name: row.text_or_null(5)?,
            reason: row.text(6)?,
            selection: row.text(7)?,
            matched: row.int(8)?,
            changed: row.int(9)?,
            details: serde_json::from_str(&details)
                .map_err(|err| LedgerError::Nonsense { what: "setting", word: err.to_string() })?,
        })
    }
}

/// Writes an entry and returns its number.
pub(super) async fn write(
    tx: &mut Tx,
    entry: &Entry,
    by: &By,
    now: Timestamp,
) -> Result<JournalId, LedgerError> {
    let id = JournalId(ids::reserve(tx, ids::JOURNAL, 1).await?);
    write_as(tx, id, entry, by, now).await?;
    Ok(id)
}

/// Writes an entry under a number that was reserved in the same transaction.
pub(super) async fn write_as(
    tx: &mut Tx,
    id: JournalId,
    entry: &Entry,
    by: &By,
    now: Timestamp,
) -> Result<(), LedgerError> {
    tx.query(
        "insert into journal (id, at, operator, action, batch, reason, selection, matched, changed,
                              details)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(now)
    .bind(&by.operator)
    .bind(entry.action)
    .bind(entry.batch)
    .bind(&by.reason)
    .bind(&entry.selection)
    .bind(entry.matched)
    .bind(entry.changed)
    .bind(entry.details.to_string())
    .execute()
    .await?;
    Ok(())
}

/// Returns one entry.
pub(super) async fn entry(tx: &mut Tx, id: JournalId) -> Result<Option<JournalEntry>, LedgerError> {
    let row = tx
        .query(
            "select j.id, j.at, j.operator, j.action, j.batch, b.name, j.reason, j.selection,
                    j.matched, j.changed, j.details
               from journal j left join batch b on b.id = j.batch where j.id = ?",
        )
        .bind(id)
        .fetch_optional()
        .await?;
    row.as_ref().map(JournalEntry::of).transpose()
}

impl Ledger {
    /// Returns up to `limit` entries that are older than `before`, the latest first.
    pub async fn journal(
        &self,
        batch: Option<BatchId>,
        before: Option<JournalId>,
        limit: i64,
    ) -> Result<Vec<JournalEntry>, LedgerError> {
        let before = before.map_or(i64::MAX, |id| id.0);
        let mut tx = self.db.read().await?;
        let query = match batch {
            None => tx
                .query(
                    "select j.id, j.at, j.operator, j.action, j.batch, b.name, j.reason,
                            j.selection, j.matched, j.changed, j.details
                       from journal j left join batch b on b.id = j.batch
                      where j.id < ? order by j.id desc limit ?",
                )
                .bind(before),
            Some(batch) => tx
                .query(
                    "select j.id, j.at, j.operator, j.action, j.batch, b.name, j.reason,
                            j.selection, j.matched, j.changed, j.details
                       from journal j left join batch b on b.id = j.batch
                      where j.batch = ? and j.id < ? order by j.id desc limit ?",
                )
                .bind(batch)
                .bind(before),
        };
        query.bind(limit).fetch_all().await?.iter().map(JournalEntry::of).collect()
    }

    /// Writes down what an operator did outside the ledger, such as a test mail.
    pub async fn note(
        &self,
        entry: Entry,
        by: By,
        now: Timestamp,
    ) -> Result<JournalId, LedgerError> {
        self.act((entry, by), move |tx, (entry, by)| Box::pin(write(tx, entry, by, now))).await
    }
}
