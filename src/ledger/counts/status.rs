//! The numbers of every batch, all of one moment.

use std::collections::HashMap;

use crate::db::Tx;
use crate::domain::batch::{BatchState, Counts};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::batches::{self, Batch};
use crate::ledger::{Ledger, LedgerError};

use super::add;

/// Every batch that was asked for, as it stood in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub as_of: Timestamp,
    /// The latest last.
    pub batches: Vec<BatchStatus>,
}

/// One batch with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchStatus {
    pub batch: Batch,
    pub state: BatchState,
    pub counts: Counts,
    /// Living workers that hold rows of it.
    pub workers: i64,
    /// Since when the row that waits longest has waited.
    pub oldest_ready_at: Option<Timestamp>,
    /// When the next row may go out that may not go out yet.
    pub next_due_at: Option<Timestamp>,
}

impl Ledger {
    /// Returns the numbers of one batch, or of all.
    pub async fn status(
        &self,
        only: Option<BatchId>,
        now: Timestamp,
    ) -> Result<Status, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        Ok(Status { as_of: now, batches: read(&mut tx, only, now).await? })
    }
}

pub(in crate::ledger) async fn read(
    tx: &mut Tx,
    only: Option<BatchId>,
    now: Timestamp,
) -> Result<Vec<BatchStatus>, LedgerError> {
    let batches = match only {
        Some(id) => vec![batches::by_id(tx, id).await?],
        None => batches::all(tx).await?,
    };
    let mut counts = all_counts(tx, only).await?;
    let workers = workers(tx).await?;
    let mut status = Vec::with_capacity(batches.len());
    for batch in batches {
        let counts = counts.remove(&batch.id.0).unwrap_or_default();
        let waits = if counts.ready > 0 { waits(tx, &batch, now).await? } else { Waits::default() };
        status.push(BatchStatus {
            state: batch.state(&counts, now),
            workers: workers.get(&batch.id.0).copied().unwrap_or(0),
            oldest_ready_at: waits.since,
            next_due_at: waits.next,
            counts,
            batch,
        });
    }
    Ok(status)
}

async fn all_counts(
    tx: &mut Tx,
    only: Option<BatchId>,
) -> Result<HashMap<i64, Counts>, LedgerError> {
    let sql = format!(
        "select batch, bucket, {} from batch_count where batch between ? and ?
          group by batch, bucket",
        tx.dialect().bigint("sum(n)")
    );
    let (first, last) = only.map_or((0, i64::MAX), |id| (id.0, id.0));
    let mut counts: HashMap<i64, Counts> = HashMap::new();
    for row in tx.query(sql).bind(first).bind(last).fetch_all().await? {
        add(counts.entry(row.int(0)?).or_default(), &row.text(1)?, row.int(2)?);
    }
    Ok(counts)
}

async fn workers(tx: &mut Tx) -> Result<HashMap<i64, i64>, LedgerError> {
    let rows = tx
        .query(
            "select c.batch, count(distinct c.worker)
               from claim c join worker w on w.id = c.worker and w.lost_at is null
              group by c.batch",
        )
        .fetch_all()
        .await?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

#[derive(Default)]
struct Waits {
    since: Option<Timestamp>,
    next: Option<Timestamp>,
}

/// Looks at the two ends of the rows that may be claimed: one step into an index each.
async fn waits(tx: &mut Tx, batch: &Batch, now: Timestamp) -> Result<Waits, LedgerError> {
    let Some(started) = batch.started_at else { return Ok(Waits::default()) };
    let fresh = tx
        .query(
            "select updated from delivery
              where batch = ? and due_at <= 0 order by due_at, id limit 1",
        )
        .bind(batch.id)
        .fetch_optional()
        .await?;
    let again = tx
        .query(
            "select due_at from delivery
              where batch = ? and due_at > 0 order by due_at, id limit 1",
        )
        .bind(batch.id)
        .fetch_optional()
        .await?;
    // A row that was imported before the start has waited only since the start.
    let fresh = fresh.map(|row| row.int(0)).transpose()?.map(|at| Timestamp(at).max(started));
    let again = again.map(|row| row.int(0)).transpose()?.map(Timestamp);
    let since = [fresh, again.filter(|&at| at <= now)].into_iter().flatten().min();
    let next = match since {
        None => again,
        Some(_) => next_after(tx, batch, now).await?,
    };
    Ok(Waits { since, next })
}

async fn next_after(
    tx: &mut Tx,
    batch: &Batch,
    now: Timestamp,
) -> Result<Option<Timestamp>, LedgerError> {
    let row = tx
        .query(
            "select due_at from delivery
              where batch = ? and due_at > ? order by due_at, id limit 1",
        )
        .bind(batch.id)
        .bind(now)
        .fetch_optional()
        .await?;
    Ok(row.map(|row| row.int(0)).transpose()?.map(Timestamp))
}
