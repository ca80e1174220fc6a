//! What happened a moment ago: how many went out, and what a worker has in its hands.

use std::collections::BTreeMap;

use crate::domain::id::WorkerId;
use crate::domain::state::State;
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::{Ledger, LedgerError};

/// Rows looked at behind the place where workers are now.
const BEHIND: i64 = 50_000;

impl Ledger {
    /// Counts the mails of a batch that were sent since `since`; an estimate for people.
    ///
    /// Rows go out in the order of their numbers, so only those behind the first row that nobody
    /// has claimed are looked at, and only so many: no index is kept on what changes all the time.
    /// Rows that were put off and came back are seen only if they lie there.
    pub async fn sent_since(&self, batch: &Batch, since: Timestamp) -> Result<i64, LedgerError> {
        let mut tx = self.db.read().await?;
        let next = tx
            .query(
                "select id from delivery where batch = ? and due_at <= 0 order by due_at, id limit 1",
            )
            .bind(batch.id)
            .fetch_optional()
            .await?;
        let next = next.map(|row| row.int(0)).transpose()?.unwrap_or(batch.last_row + 1);
        let first = batch.first_row.max(next.saturating_sub(BEHIND));
        let row = tx
            .query(
                "select count(*) from delivery
                  where batch + 0 = ? and id >= ? and id < ? and state = ? and updated > ?",
            )
            .bind(batch.id)
            .bind(first)
            .bind(next)
            .bind(State::Sent)
            .bind(since)
            .fetch_one()
            .await?;
        Ok(row.int(0)?)
    }

    /// Reports whether any mail of a batch was sent since `since`; it may read every row.
    pub async fn any_sent_since(
        &self,
        batch: &Batch,
        since: Timestamp,
    ) -> Result<bool, LedgerError> {
        let mut tx = self.db.read().await?;
        let row = tx
            .query(
                "select id from delivery
                  where batch + 0 = ? and id between ? and ? and state = ? and updated > ? limit 1",
            )
            .bind(batch.id)
            .bind(batch.first_row)
            .bind(batch.last_row)
            .bind(State::Sent)
            .bind(since)
            .fetch_optional()
            .await?;
        Ok(row.is_some())
    }

    /// Returns the batches a worker has rows of, and how many rows its claims were made for.
    pub async fn held_by(&self, worker: WorkerId) -> Result<Vec<(String, i64)>, LedgerError> {
        let mut tx = self.db.read().await?;
        let claims = tx
            .query(
                "select b.name, c.ids from claim c join batch b on b.id = c.batch
                  where c.worker = ? order by c.id",
            )
            .bind(worker)
            .fetch_all()
            .await?;
        let mut held: BTreeMap<String, i64> = BTreeMap::new();
        for claim in &claims {
            let ids: Vec<i64> = serde_json::from_str(&claim.text(1)?).map_err(|err| {
                LedgerError::Nonsense { what: "list of ids", word: err.to_string() }
            })?;
            *held.entry(claim.text(0)?).or_default() += i64::try_from(ids.len()).unwrap_or(0);
        }
        Ok(held.into_iter().collect())
    }
}
