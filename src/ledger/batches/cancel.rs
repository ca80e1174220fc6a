//! Ending a batch for good.

use crate::db::Tx;
use crate::domain::batch::{Bucket, Wanted};
use crate::domain::id::BatchId;
use crate::domain::state::{Flag, How, State};
use crate::domain::time::Timestamp;
use crate::ledger::counts::{self, Moves};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused};

use super::{Batch, by_id, locked};

/// What a cancellation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// It is cancelled; so many rows that waited will never be sent.
    Now { rows: i64 },
    /// It was cancelled before and no row waited.
    NothingToDo,
}

impl Ledger {
    /// Cancels a batch: what waits becomes failed (`cancelled`), what is on the wire finishes.
    ///
    /// `confirm` is compared with the rows that wait. It may be left away when none does.
    pub async fn cancel(
        &self,
        batch: BatchId,
        confirm: Option<i64>,
        by: By,
        now: Timestamp,
    ) -> Result<Cancelled, LedgerError> {
        self.act(by, move |tx, by| Box::pin(cancel(tx, batch, confirm, by, now))).await
    }

    /// Ends the rows that came back to `ready` after their batch was cancelled.
    ///
    /// A mail that was on the wire when the batch was cancelled may be put off by its server; it
    /// must not wait for ever. Cheap when there is none: one look into an index.
    pub async fn cancel_leftovers(
        &self,
        batch: BatchId,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        let mut tx = self.db.read().await?;
        if by_id(&mut tx, batch).await?.wanted != Wanted::Cancelled {
            return Ok(0);
        }
        let first = tx
            .query("select id from delivery where batch = ? and due_at >= 0 limit 1")
            .bind(batch)
            .fetch_optional()
            .await?;
        drop(tx);
        if first.is_none() {
            return Ok(0);
        }
        self.act(batch, move |tx, &batch| Box::pin(leftovers(tx, batch, now))).await
    }
}

async fn cancel(
    tx: &mut Tx,
    batch: BatchId,
    confirm: Option<i64>,
    by: &By,
    now: Timestamp,
) -> Result<Cancelled, LedgerError> {
    let batch = locked(tx, batch).await?;
    let was_cancelled = batch.wanted == Wanted::Cancelled;
    tx.query("update batch set wanted = ? where id = ?")
        .bind(Wanted::Cancelled.as_str())
        .bind(batch.id)
        .execute()
        .await?;
    let rows = fail_ready(tx, &batch, Reach::Every, now).await?;
    if rows == 0 && was_cancelled {
        return Ok(Cancelled::NothingToDo);
    }
    match confirm {
        // An error takes everything back: nothing has changed.
        Some(confirmed) if rows > 0 && confirmed != rows => {
            return Err(Refused::CountDiffers { confirmed, now: rows }.into());
        }
        None if rows > 0 => return Err(Refused::NotConfirmed { now: rows }.into()),
        _ => {}
    }
    let entry = Entry { matched: rows, changed: rows, ..Entry::of("cancel", batch.id) };
    journal::write(tx, &entry, by, now).await?;
    Ok(Cancelled::Now { rows })
}

async fn leftovers(tx: &mut Tx, batch: BatchId, now: Timestamp) -> Result<i64, LedgerError> {
    let batch = locked(tx, batch).await?;
    fail_ready(tx, &batch, Reach::Waiting, now).await
}

/// Which ready rows end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Those a worker has claimed as well.
    Every,
    /// Those that wait to be claimed; found by an index.
    Waiting,
}

impl Reach {
    const fn sql(self) -> &'static str {
        match self {
            Self::Every => {
                "update delivery
                    set state = ?, how = ?, flag = ?, due_at = null, worker = 0, updated = ?
                  where batch = ? and id between ? and ? and state = ?
                    and unknown_attempts between ? and ?"
            }
            Self::Waiting => {
                "update delivery
                    set state = ?, how = ?, flag = ?, due_at = null, worker = 0, updated = ?
                  where batch = ? and due_at between ? and ? and state = ?
                    and unknown_attempts between ? and ?"
            }
        }
    }
}

/// Makes ready rows of a batch failed (`cancelled`) and counts them.
async fn fail_ready(
    tx: &mut Tx,
    batch: &Batch,
    reach: Reach,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let (from, to) = match reach {
        Reach::Every => (batch.first_row, batch.last_row),
        Reach::Waiting => (0, i64::MAX),
    };
    let mut rows = [0, 0];
    // Counted by what matched: a row that comes back meanwhile is not counted for another kind.
    for (rows, doubts) in rows.iter_mut().zip([(1, i64::MAX), (0, 0)]) {
        let ended = tx
            .query(reach.sql())
            .bind(State::Failed)
            .bind(How::Cancelled)
            .bind(Flag::Failed)
            .bind(now)
            .bind(batch.id)
            .bind(from)
            .bind(to)
            .bind(State::Ready)
            .bind(doubts.0)
            .bind(doubts.1)
            .execute()
            .await?;
        *rows = i64::try_from(ended).unwrap_or(i64::MAX);
    }
    let [doubtful, others] = rows;
    let mut moves = Moves::default();
    moves.add(batch.id, Bucket::Ready, -doubtful - others);
    moves.add(batch.id, Bucket::Failed, doubtful + others);
    moves.add(batch.id, Bucket::MaybeDelivered, doubtful);
    counts::write(tx, &moves).await?;
    Ok(doubtful + others)
}
