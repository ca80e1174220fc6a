//! Batches that a pattern opens by itself: one for each day of order mail.

use crate::db::Tx;
use crate::domain::batch::Wanted;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused};

use super::{Batch, ITSELF, Made, NewBatch, by_id, create, locked, named, start};

impl Ledger {
    /// Returns the batch of that name, running and open until `until` at least; makes it if it is
    /// new. It freezes message and settings when it is made.
    pub async fn open_batch(
        &self,
        new: NewBatch,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<Batch, LedgerError> {
        self.act(new, move |tx, new| Box::pin(open(tx, new, until, now))).await
    }
}

async fn open(
    tx: &mut Tx,
    new: &NewBatch,
    until: Timestamp,
    now: Timestamp,
) -> Result<Batch, LedgerError> {
    let there = match named(tx, new.name.as_str()).await? {
        Some(there) => locked(tx, there.id).await?,
        None => make(tx, new, now).await?,
    };
    if there.kind != new.kind {
        return Err(Refused::OtherKind { batch: there.name, kind: there.kind }.into());
    }
    match there.wanted {
        Wanted::Running | Wanted::Paused => {}
        Wanted::Cancelled => return Err(Refused::Cancelled(there.name).into()),
        // Somebody prepares it, and its people were not confirmed yet.
        Wanted::Draft | Wanted::Scheduled => {
            return Err(Refused::NeverStarted(there.name).into());
        }
    }
    if there.open_until.is_none_or(|open| open < until) {
        tx.query("update batch set open_until = ? where id = ?")
            .bind(until)
            .bind(there.id)
            .execute()
            .await?;
    }
    by_id(tx, there.id).await
}

async fn make(tx: &mut Tx, new: &NewBatch, now: Timestamp) -> Result<Batch, LedgerError> {
    let made = match create(tx, new, now).await? {
        Made::New(made) | Made::Already(made) => made,
    };
    start::run(tx, &made, now).await?;
    journal::write(tx, &Entry::of("open", made.id), &By::new(ITSELF, ""), now).await?;
    by_id(tx, made.id).await
}
