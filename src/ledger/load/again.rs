//! A new job for a mail that failed: sent again, where the kind says so.
//!
//! Only a clear no is tried again. A row that may have arrived, that a person called failed, whose
//! address must not be mailed or whose batch was cancelled stays as it is.

use std::collections::BTreeMap;

use crate::db::{Cell, Field, List, Tx};
use crate::domain::id::{BatchId, JournalId, RecipientId, ScopeId};
use crate::domain::settle::Settled;
use crate::domain::time::Timestamp;
use crate::ledger::counts::{self, Moves};
use crate::ledger::delivery::{self, Delivery};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, batches, ids, settle};

use super::write::contents;
use super::{NewRow, count};

/// What the journal says about it.
const REASON: &str = "a new job came for a mail that failed";

impl Ledger {
    /// Makes failed rows of these keys ready again, with the contents that came now; returns how
    /// many. They stay in their own batches.
    pub async fn try_failed_again(
        &self,
        batch: BatchId,
        rows: Vec<NewRow>,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        if rows.is_empty() {
            return Ok(0);
        }
        let scope = self.batch_by_id(batch).await?.scope;
        self.act(rows, move |tx, rows| Box::pin(again(tx, scope, rows, now))).await
    }
}

async fn again(
    tx: &mut Tx,
    scope: ScopeId,
    rows: &[NewRow],
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let keys = failed(tx, scope, rows).await?;
    let mut by_batch: BTreeMap<BatchId, Vec<Delivery>> = BTreeMap::new();
    for row in delivery::lock(tx, keys.keys().map(|row| row.0).collect()).await? {
        by_batch.entry(row.batch).or_default().push(row);
    }
    let by_key: BTreeMap<&str, &NewRow> = rows.iter().map(|row| (row.key.as_str(), row)).collect();
    let mut moves = Moves::default();
    let mut changed = 0;
    for (batch, mut found) in by_batch {
        let n = count(found.len());
        let journal = JournalId(ids::reserve(tx, ids::JOURNAL, 1).await?);
        settle::remember(tx, journal, found.iter().map(|row| row.id), now).await?;
        for row in &mut found {
            let before = row.seen();
            row.settle(Settled::Ready { due: now }, None, now);
            row.tries = 0;
            moves.moved(batch, &before, &row.seen());
        }
        delivery::write(tx, &found.iter().collect::<Vec<_>>()).await?;
        let came = found.iter().filter_map(|row| {
            let key = keys.get(&row.id)?;
            Some((row.id.0, *by_key.get(key.as_str())?))
        });
        contents(tx, came).await?;
        let entry = Entry { matched: n, changed: n, ..Entry::of("again", batch) };
        journal::write_as(tx, journal, &entry, &By::new(batches::ITSELF, REASON), now).await?;
        changed += n;
    }
    counts::write(tx, &moves).await?;
    Ok(changed)
}

/// Returns the rows that failed by a clear no, locked, each with its key.
async fn failed(
    tx: &mut Tx,
    scope: ScopeId,
    rows: &[NewRow],
) -> Result<BTreeMap<RecipientId, String>, LedgerError> {
    let mut list = List::new();
    for row in rows {
        list.push(&[Cell::Text(&row.key)]);
    }
    let sql = format!(
        "select r.id, r.key
           from {rows} v
           {join} recipient r on r.scope = ? and r.key = v.name
           {join} delivery d on d.id = r.id
           {join} batch b on b.id = d.batch
          where d.state = 'failed' and d.unknown_attempts = 0 and d.worker = 0
            and d.how in ('refused', 'unbuildable', 'expired', 'evidence', 'imported')
            and b.wanted in ('running', 'paused')
          order by r.id{lock}",
        rows = tx.dialect().json_rows(&[Field::Text("name")]),
        join = tx.dialect().then_join(),
        lock = tx.dialect().for_update(),
    );
    let found = tx.query(sql).bind(list).bind(scope).fetch_all().await?;
    found.iter().map(|row| Ok((RecipientId(row.int(0)?), row.text(1)?))).collect()
}
