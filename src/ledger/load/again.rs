//! A new job for a mail that failed: sent again, where the kind says so.
//!
//! Only a clear no is tried again. A row that may have arrived, that a person called failed, whose
//! address must not be mailed or whose batch was cancelled stays as it is.

use std::collections::BTreeMap;

use crate::db::{Cell, Field, List, Tx};
use crate::domain::id::{BatchId, JournalId, RecipientId, ScopeId};
use crate::domain::plan::{Change, Seen};
use crate::domain::state::{Flag, State};
use crate::domain::time::Timestamp;
use crate::ledger::counts::{self, Moves};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::rows::how;
use crate::ledger::{Ledger, LedgerError, batches, ids, settle};

use super::write::contents;
use super::{NewRow, count, count_of};

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

/// A row that failed, and in which batch.
struct Failed {
    row: RecipientId,
    key: String,
    batch: BatchId,
    seen: Seen,
}

async fn again(
    tx: &mut Tx,
    scope: ScopeId,
    rows: &[NewRow],
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let mut by_batch: BTreeMap<BatchId, Vec<Failed>> = BTreeMap::new();
    for found in failed(tx, scope, rows).await? {
        by_batch.entry(found.batch).or_default().push(found);
    }
    let by_key: BTreeMap<&str, &NewRow> = rows.iter().map(|row| (row.key.as_str(), row)).collect();
    let mut moves = Moves::default();
    let mut changed = 0;
    for (batch, found) in by_batch {
        let n = count(found.len());
        let journal = JournalId(ids::reserve(tx, ids::JOURNAL, 1).await?);
        settle::remember(tx, journal, found.iter().map(|one| one.row), now).await?;
        ready(tx, &found, now).await?;
        let came = found.iter().filter_map(|one| Some((one.row.0, *by_key.get(&*one.key)?)));
        contents(tx, came).await?;
        for one in &found {
            moves.moved(batch, &one.seen, &Change::Again.of(&one.seen));
        }
        let entry = Entry { matched: n, changed: n, ..Entry::of("again", batch) };
        journal::write_as(tx, journal, &entry, &By::new(batches::ITSELF, REASON), now).await?;
        changed += n;
    }
    counts::write(tx, &moves).await?;
    Ok(changed)
}

/// Returns the rows that failed by a clear no, locked.
async fn failed(tx: &mut Tx, scope: ScopeId, rows: &[NewRow]) -> Result<Vec<Failed>, LedgerError> {
    let mut list = List::new();
    for row in rows {
        list.push(&[Cell::Text(&row.key)]);
    }
    let sql = format!(
        "select r.id, r.key, d.batch, d.how, d.handed_again
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
    let mut found = Vec::new();
    for row in tx.query(sql).bind(list).bind(scope).fetch_all().await? {
        found.push(Failed {
            row: RecipientId(row.int(0)?),
            key: row.text(1)?,
            batch: BatchId(row.int(2)?),
            seen: Seen {
                state: State::Failed,
                how: how(&row.text(3)?)?,
                flag: Some(Flag::Failed),
                held: false,
                unknown_attempts: 0,
                handed_again: row.int(4)? > 0,
            },
        });
    }
    Ok(found)
}

async fn ready(tx: &mut Tx, rows: &[Failed], now: Timestamp) -> Result<(), LedgerError> {
    let mut list = List::new();
    for one in rows {
        list.push(&[Cell::Int(one.row.0), Cell::Int(now.0)]);
    }
    let sql = tx.dialect().update_from(
        "delivery",
        "state = 'ready', how = '', flag = null, cause = '', tries = 0, due_at = v.v_now,
         worker = 0, updated = v.v_now",
        &[Field::Int("v_id"), Field::Int("v_now")],
        "delivery.id = v.v_id and delivery.state = 'failed'",
    );
    let changed = count_of(tx.query(sql).bind(list).execute().await?);
    // They are locked since they were read; anything else would be a fault of ours.
    assert_eq!(changed, count(rows.len()), "locked rows stay where they are");
    Ok(())
}
