//! Batches whose time has come.

use std::time::Duration;

use crate::db::Tx;
use crate::domain::batch::{Due, Wanted, at_its_time};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, counts};

use super::{ITSELF, locked, pause, start};

/// What became of a batch at its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameDue {
    pub batch: BatchId,
    pub name: String,
    pub what: Due,
}

impl Ledger {
    /// Starts the scheduled batches whose time has come.
    ///
    /// A batch whose rows are not those that were confirmed, or that nobody started within
    /// `late`, is paused with the reason instead.
    pub async fn start_scheduled(
        &self,
        late: Duration,
        now: Timestamp,
    ) -> Result<Vec<CameDue>, LedgerError> {
        let due = self
            .db
            .read()
            .await?
            .query("select id from batch where wanted = ? and scheduled_at <= ? order by id")
            .bind(Wanted::Scheduled.as_str())
            .bind(now)
            .fetch_all()
            .await?;
        let mut done = Vec::new();
        for row in &due {
            let batch = BatchId(row.int(0)?);
            done.extend(
                self.act(batch, move |tx, &batch| Box::pin(come_due(tx, batch, late, now))).await?,
            );
        }
        Ok(done)
    }
}

async fn come_due(
    tx: &mut Tx,
    batch: BatchId,
    late: Duration,
    now: Timestamp,
) -> Result<Option<CameDue>, LedgerError> {
    let batch = locked(tx, batch).await?;
    // Another worker, or a person, was faster.
    let Some(at) = batch.scheduled_at.filter(|&at| at <= now) else { return Ok(None) };
    if batch.wanted != Wanted::Scheduled {
        return Ok(None);
    }
    let ready = counts::of(tx, batch.id).await?.ready;
    let late = i64::try_from(late.as_micros()).unwrap_or(i64::MAX);
    let what = at_its_time(now.0 - at.0, late, batch.confirmed.unwrap_or(-1), ready);
    let because = match what {
        Due::Starts => {
            start::run(tx, &batch, now).await?;
            String::new()
        }
        Due::Missed => "nobody was there to start it at its time".to_owned(),
        Due::CountDiffers { confirmed, ready } => {
            format!("{ready} rows were ready at its time, {confirmed} were confirmed")
        }
    };
    if what != Due::Starts {
        pause::set(tx, batch.id, &because, ITSELF, now).await?;
        tx.query("update batch set scheduled_at = null where id = ?")
            .bind(batch.id)
            .execute()
            .await?;
    }
    let changed = if what == Due::Starts { ready } else { 0 };
    let entry = Entry { matched: ready, changed, ..Entry::of("start-at", batch.id) };
    journal::write(tx, &entry, &By::new(ITSELF, &because), now).await?;
    Ok(Some(CameDue { batch: batch.id, name: batch.name, what }))
}
