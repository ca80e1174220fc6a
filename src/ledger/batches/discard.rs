//! Throwing a draft away.

use crate::db::Tx;
use crate::domain::id::BatchId;
use crate::domain::policy::OncePer;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused, counts};

use super::locked;

impl Ledger {
    /// Deletes a batch that never started and in which nothing was attempted; its name is free.
    ///
    /// Returns the number of rows that went with it. The journal keeps what was done to it.
    pub async fn discard(
        &self,
        batch: BatchId,
        by: By,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        self.act(by, move |tx, by| Box::pin(discard(tx, batch, by, now))).await
    }
}

async fn discard(tx: &mut Tx, batch: BatchId, by: &By, now: Timestamp) -> Result<i64, LedgerError> {
    let batch = locked(tx, batch).await?;
    if batch.started_at.is_some() {
        return Err(Refused::Started(batch.name).into());
    }
    let attempts = counts::of(tx, batch.id).await?.attempts;
    if attempts > 0 {
        return Err(Refused::Attempted { batch: batch.name, attempts }.into());
    }
    tx.query(
        "delete from recipient
          where id between ? and ? and scope = ?
            and exists (select 1 from delivery d where d.id = recipient.id and d.batch = ?)",
    )
    .bind(batch.first_row)
    .bind(batch.last_row)
    .bind(batch.scope)
    .bind(batch.id)
    .execute()
    .await?;
    let rows = tx
        .query("delete from delivery where batch = ? and id between ? and ?")
        .bind(batch.id)
        .bind(batch.first_row)
        .bind(batch.last_row)
        .execute()
        .await?;
    tx.query("delete from left_out where batch = ?").bind(batch.id).execute().await?;
    tx.query("delete from batch_count where batch = ?").bind(batch.id).execute().await?;
    tx.query("delete from batch_template where batch = ?").bind(batch.id).execute().await?;
    tx.query("delete from batch where id = ?").bind(batch.id).execute().await?;
    if batch.frozen.once_per == OncePer::Batch {
        tx.query("delete from scope where id = ?").bind(batch.scope).execute().await?;
    }
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let entry = Entry {
        selection: batch.name.clone(),
        matched: rows,
        changed: rows,
        details: serde_json::json!({ "name": batch.name }),
        ..Entry::of("discard", batch.id)
    };
    journal::write(tx, &entry, by, now).await?;
    Ok(rows)
}
