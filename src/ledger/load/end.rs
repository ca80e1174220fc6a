//! The end of a load.

use crate::db::{List, Table, Tx};
use crate::domain::batch::Bucket;
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::counts::{self, Moves};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, batches};

use super::{Adopted, CHUNK, LoadSums, STANDARD_INPUT, Work, Writes, count_of};

/// New rows from which the planner's statistics are worth renewing.
const WORTH_ANALYZING: i64 = 1_000;

/// Ends a load: what the source does not leave out any more is forgotten, `loading` is over.
pub(super) async fn end(ledger: &Ledger, work: &mut Work) -> Result<(), LedgerError> {
    if work.request.writes == Writes::Nothing {
        let mut tx = ledger.db.read().await?;
        let total = counts::of(&mut tx, work.batch.id).await?.total();
        work.sums.gone = total - work.sums.already;
        return Ok(());
    }
    let stale: Vec<i64> = match work.request.source.as_str() {
        STANDARD_INPUT => Vec::new(),
        _ => work.known.left_out.drain().flat_map(|(_, ids)| ids).collect(),
    };
    let end = End {
        batch: work.batch.id,
        stale,
        sums: work.sums.clone(),
        source: work.request.source.clone(),
        by: work.by.clone(),
        confirmed: matches!(work.request.writes, Writes::UpTo(_)),
    };
    let now = work.now;
    let total = ledger.act(end, move |tx, end| Box::pin(end.write(tx, now))).await?;
    let added = work.sums.new + work.sums.adopted.total();
    work.sums.gone = total - added - work.sums.already;
    if added >= WORTH_ANALYZING {
        ledger.analyze().await?;
    }
    Ok(())
}

struct End {
    batch: BatchId,
    /// Lines that were left out before and are not any more.
    stale: Vec<i64>,
    sums: LoadSums,
    source: String,
    by: By,
    /// A person has confirmed the new rows, so they are part of what was confirmed.
    confirmed: bool,
}

impl End {
    async fn write(&self, tx: &mut Tx, now: Timestamp) -> Result<i64, LedgerError> {
        let batch = batches::locked(tx, self.batch).await?;
        let mut moves = Moves::default();
        for some in self.stale.chunks(CHUNK) {
            let sql = tx.dialect().delete_listed("left_out", "id");
            let list: List = some.iter().copied().collect();
            let gone = tx.query(sql).bind(list).execute().await?;
            moves.add(batch.id, Bucket::LeftOut, -count_of(gone));
        }
        // A load that began later is not over yet.
        tx.query("update batch set loading = null where id = ? and loading = ?")
            .bind(batch.id)
            .bind(now)
            .execute()
            .await?;
        if self.confirmed {
            tx.query("update batch set confirmed = confirmed + ? where id = ?")
                .bind(self.sums.new)
                .bind(batch.id)
                .execute()
                .await?;
        }
        counts::write(tx, &moves).await?;
        let LoadSums { read, new, adopted, changed, replaced, .. } = self.sums;
        if new > 0 || replaced > 0 || adopted.total() > 0 {
            let mut details = serde_json::json!({
                "source": self.source, "new": new, "changed": changed, "replaced": replaced,
            });
            if adopted.total() > 0 {
                let Adopted { sent, failed, unknown } = adopted;
                details["adopted"] =
                    serde_json::json!({ "sent": sent, "failed": failed, "unknown": unknown });
            }
            let entry = Entry {
                matched: read,
                changed: new + adopted.total() + replaced,
                details,
                ..Entry::of("import", batch.id)
            };
            journal::write(tx, &entry, &self.by, now).await?;
        }
        Ok(counts::of(tx, batch.id).await?.total())
    }
}

impl Ledger {
    /// Renews what the engine's planner knows of the big tables.
    async fn analyze(&self) -> Result<(), LedgerError> {
        for table in [Table::Recipient, Table::Delivery] {
            self.act(table, |tx, &table| {
                Box::pin(async move {
                    tx.script(tx.dialect().analyze(table)).await?;
                    Ok(())
                })
            })
            .await?;
        }
        Ok(())
    }
}
