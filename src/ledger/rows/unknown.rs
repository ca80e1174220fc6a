//! Rows of which nobody knows what became of them, with what is known about each.

use std::collections::HashMap;
use std::time::Duration;

use crate::db::Tx;
use crate::domain::id::{BatchId, RecipientId, WorkerId};
use crate::domain::selection::Selection;
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::counts;
use crate::ledger::{Ledger, LedgerError};

use super::story::{AttemptView, EvidenceView, attempts, evidence};
use super::{Chosen, RowView, page};

/// A row that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRow {
    pub batch: Batch,
    pub row: RowView,
    pub attempts: Vec<AttemptView>,
    pub evidence: Vec<EvidenceView>,
    /// The worker that had it.
    pub worker: Option<LastWorker>,
}

/// The worker that had a row when it became unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWorker {
    pub id: WorkerId,
    pub host: String,
    pub pid: i64,
    pub state_dir: String,
    pub lost_at: Option<Timestamp>,
    /// How it was lost: its process is gone, or only its beat stood still.
    pub lost_how: String,
    /// Until when its answer can still come.
    pub late_until: Option<Timestamp>,
}

impl Ledger {
    /// Returns up to `limit` unknown rows of one batch, or of all, that have been so for `older_than`.
    pub async fn unknown(
        &self,
        only: Option<BatchId>,
        older_than: Duration,
        limit: i64,
        now: Timestamp,
    ) -> Result<Vec<UnknownRow>, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let selection =
            Selection { unknown: true, older_than: Some(older_than), ..Selection::default() };
        let mut found = Vec::new();
        for status in counts::status(&mut tx, only, now).await? {
            let room = limit - i64::try_from(found.len()).unwrap_or(i64::MAX);
            if status.counts.unknown > 0 && room > 0 {
                let chosen = Chosen::new(&status.batch, &selection, now);
                let rows = page(&mut tx, &chosen, RecipientId(0), room).await?;
                found.extend(with_stories(&mut tx, &status.batch, rows).await?);
            }
        }
        Ok(found)
    }
}

async fn with_stories(
    tx: &mut Tx,
    batch: &Batch,
    rows: Vec<RowView>,
) -> Result<Vec<UnknownRow>, LedgerError> {
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let mut attempts = attempts(tx, &ids).await?;
    let mut evidence = evidence(tx, &ids).await?;
    let mut workers = HashMap::new();
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let attempts = attempts.remove(&row.id).unwrap_or_default();
        let worker = attempts.last().map(|last| last.worker).or(row.worker);
        let worker = match worker {
            None => None,
            Some(id) => match workers.get(&id) {
                Some(known) => Option::clone(known),
                None => workers.entry(id).or_insert(last_worker(tx, id).await?).clone(),
            },
        };
        found.push(UnknownRow {
            batch: batch.clone(),
            evidence: evidence.remove(&row.id).unwrap_or_default(),
            attempts,
            worker,
            row,
        });
    }
    Ok(found)
}

async fn last_worker(tx: &mut Tx, id: WorkerId) -> Result<Option<LastWorker>, LedgerError> {
    let row = tx
        .query(
            "select id, host, pid, state_dir, lost_at, lost_how, late_until from worker
              where id = ?",
        )
        .bind(id)
        .fetch_optional()
        .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(LastWorker {
        id: WorkerId(row.int(0)?),
        host: row.text(1)?,
        pid: row.int(2)?,
        state_dir: row.text(3)?,
        lost_at: row.int_or_null(4)?.map(Timestamp),
        lost_how: row.text(5)?,
        late_until: row.int_or_null(6)?.map(Timestamp),
    }))
}
