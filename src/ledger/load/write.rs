//! A chunk of lines into the ledger, in one transaction.

mod adopt;

use std::collections::{BTreeMap, HashSet};

use crate::db::{Bulk, Cell, Clash, DbError, Dialect, Field, List, Tx, WorkError};
use crate::domain::batch::{Bucket, Wanted};
use crate::domain::id::{BatchId, JournalId, RecipientId};
use crate::domain::state::State;
use crate::domain::time::Timestamp;
use crate::ledger::counts::{self, Moves};
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::settle;
use crate::ledger::{LedgerError, Refused, batches, ids};

use super::look::fingerprint_of;
use super::sort::Plan;
use super::{LeftOut, NewRow, Work, count, count_of};

/// Everything one transaction writes; it may be written several times.
pub(super) struct Job {
    batch: BatchId,
    now: Timestamp,
    by: By,
    source: String,
    first: i64,
    people: Bulk,
    pub(super) plan: Plan,
    /// Lines that were not left out before.
    left_out: Vec<LeftOut>,
}

/// What the transaction found when it wrote.
#[derive(Default)]
pub(super) struct Written {
    pub(super) replaced: i64,
}

pub(super) enum JobError {
    /// Somebody else wrote the same keys since they were looked up.
    Stale,
    Ledger(LedgerError),
}

impl From<DbError> for JobError {
    fn from(err: DbError) -> Self {
        Self::from(LedgerError::from(err))
    }
}

impl From<LedgerError> for JobError {
    fn from(err: LedgerError) -> Self {
        if err.is_taken() { Self::Stale } else { Self::Ledger(err) }
    }
}

impl WorkError for JobError {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Ledger(err) if WorkError::is_busy(err))
    }
}

impl Job {
    pub(super) fn new(
        work: &Work,
        dialect: Dialect,
        plan: Plan,
        rejected: &[LeftOut],
        first: i64,
    ) -> Self {
        let columns = "id, scope, \"key\", address, address_key, fields";
        let mut people = Bulk::new(dialect, "recipient", columns, Clash::Fail);
        for (id, row) in (first..).zip(&plan.new) {
            people.push(&[
                Cell::Int(id),
                Cell::Int(work.batch.scope.0),
                Cell::Text(&row.key),
                Cell::Text(&row.address),
                Cell::Text(&row.address_key),
                Cell::Text(&row.fields),
            ]);
        }
        let mut before: BTreeMap<u64, usize> = BTreeMap::new();
        let left_out = plan.left_out.iter().chain(rejected).filter(|line| {
            let print = fingerprint_of(line);
            let known = work.known.left_out.get(&print).map_or(0, Vec::len);
            let used = before.entry(print).or_default();
            *used += 1;
            *used > known
        });
        Self {
            batch: work.batch.id,
            now: work.now,
            by: work.by.clone(),
            source: work.request.source.clone(),
            first,
            people,
            left_out: left_out.cloned().collect(),
            plan,
        }
    }

    pub(super) async fn write(&self, tx: &mut Tx) -> Result<Written, JobError> {
        let batch = batches::held_still(tx, self.batch).await?;
        if batch.wanted == Wanted::Cancelled {
            return Err(LedgerError::from(Refused::Cancelled(batch.name)).into());
        }
        let mut moves = Moves::default();
        self.insert(tx, &mut moves).await?;
        self.take_over(tx, &mut moves).await?;
        let replaced = self.replace(tx, &mut moves).await?;
        self.leave_out(tx, &mut moves).await?;
        counts::write(tx, &moves).await?;
        Ok(Written { replaced })
    }

    async fn insert(&self, tx: &mut Tx, moves: &mut Moves) -> Result<(), JobError> {
        let new = count(self.plan.new.len());
        if new == 0 {
            return Ok(());
        }
        self.people.write(tx).await?;
        if self.plan.new.iter().any(|row| row.past.is_some()) {
            return self.adopt(tx, moves).await;
        }
        tx.query(
            "insert into delivery (id, batch, state, due_at, updated)
             select id, ?, ?, 0, ? from recipient where id between ? and ?",
        )
        .bind(self.batch)
        .bind(State::Ready)
        .bind(self.now)
        .bind(self.first)
        .bind(self.first + new - 1)
        .execute()
        .await?;
        moves.add(self.batch, Bucket::Ready, new);
        Ok(())
    }

    /// Makes rows that a cancelled batch never sent rows of this batch.
    async fn take_over(&self, tx: &mut Tx, moves: &mut Moves) -> Result<(), JobError> {
        let rows = &self.plan.taken_over;
        if rows.is_empty() {
            return Ok(());
        }
        let journal = JournalId(ids::reserve(tx, ids::JOURNAL, 1).await?);
        settle::remember(tx, journal, rows.iter().map(|(id, ..)| RecipientId(*id)), self.now)
            .await?;
        let mut list = List::new();
        let mut from: BTreeMap<BatchId, i64> = BTreeMap::new();
        for (id, batch, _) in rows {
            list.push(&[
                Cell::Int(*id),
                Cell::Int(batch.0),
                Cell::Int(self.batch.0),
                Cell::Int(self.now.0),
            ]);
            *from.entry(*batch).or_default() += 1;
        }
        let sql = tx.dialect().update_from(
            "delivery",
            "batch = v.v_to, state = 'ready', how = '', flag = null, tries = 0, due_at = 0,
             worker = 0, updated = v.v_now",
            &[Field::Int("v_id"), Field::Int("v_from"), Field::Int("v_to"), Field::Int("v_now")],
            "delivery.id = v.v_id and delivery.batch = v.v_from and delivery.state = 'failed'
             and delivery.how = 'cancelled' and delivery.attempt = 0",
        );
        if count_of(tx.query(sql).bind(list).execute().await?) != count(rows.len()) {
            return Err(JobError::Stale);
        }
        contents(tx, rows.iter().map(|(id, _, row)| (*id, row))).await?;
        for (&batch, &n) in &from {
            moves.add(batch, Bucket::Failed, -n);
        }
        moves.add(self.batch, Bucket::Ready, count(rows.len()));
        let from: serde_json::Map<_, _> =
            from.iter().map(|(batch, n)| (batch.to_string(), (*n).into())).collect();
        let entry = Entry {
            matched: count(rows.len()),
            changed: count(rows.len()),
            details: serde_json::json!({ "from": from, "source": self.source }),
            ..Entry::of("take-over", self.batch)
        };
        journal::write_as(tx, journal, &entry, &self.by, self.now).await?;
        Ok(())
    }

    /// Gives rows that were never attempted the contents of the source; returns how many.
    async fn replace(&self, tx: &mut Tx, moves: &mut Moves) -> Result<i64, JobError> {
        let rows = &self.plan.replaced;
        if rows.is_empty() {
            return Ok(0);
        }
        // A row in a worker's hands goes out with the contents the worker has read.
        let sql = format!(
            "select d.id, d.state from {} v {} delivery d on d.id = v.id
              where d.batch = ? and d.attempt = 0 and d.worker = 0
              order by d.id{}",
            tx.dialect().json_rows(&[Field::Int("id")]),
            tx.dialect().then_join(),
            tx.dialect().for_update()
        );
        let list: List = rows.iter().map(|(id, _)| *id).collect();
        let free = tx.query(sql).bind(list).bind(self.batch).fetch_all().await?;
        let mut waiting = HashSet::new();
        for row in &free {
            if row.text(1)? == State::Ready.as_str() {
                waiting.insert(row.int(0)?);
            }
        }
        let free = free.iter().map(|row| row.int(0)).collect::<Result<Vec<_>, _>>()?;
        if free.is_empty() {
            return Ok(0);
        }
        let journal = JournalId(ids::reserve(tx, ids::JOURNAL, 1).await?);
        settle::remember(tx, journal, free.iter().map(|&id| RecipientId(id)), self.now).await?;
        let taken = rows.iter().filter(|(id, _)| free.binary_search(id).is_ok());
        contents(tx, taken.map(|(id, row)| (*id, row))).await?;
        let settled = rows.iter().filter(|(id, _)| waiting.contains(id));
        let settled: Vec<_> = settled.map(|(id, row)| (*id, row)).collect();
        self.settle_replaced(tx, moves, &settled).await?;
        let entry = Entry {
            matched: count(rows.len()),
            changed: count(free.len()),
            details: serde_json::json!({ "source": self.source }),
            ..Entry::of("replace", self.batch)
        };
        journal::write_as(tx, journal, &entry, &self.by, self.now).await?;
        Ok(count(free.len()))
    }

    async fn leave_out(&self, tx: &mut Tx, moves: &mut Moves) -> Result<(), JobError> {
        if self.left_out.is_empty() {
            return Ok(());
        }
        let n = count(self.left_out.len());
        let first = ids::reserve(tx, ids::LEFT_OUT, n).await?;
        let columns = "id, batch, source, line, \"key\", address, why, value, at";
        let mut bulk = Bulk::new(tx.dialect(), "left_out", columns, Clash::Fail);
        for (id, line) in (first..).zip(&self.left_out) {
            let key: String = line.key.chars().take(190).collect();
            bulk.push(&[
                Cell::Int(id),
                Cell::Int(self.batch.0),
                Cell::Text(&self.source),
                Cell::Int(line.line),
                Cell::Text(&key),
                Cell::Text(&line.address),
                Cell::Text(&line.why),
                Cell::Text(&line.value),
                Cell::Int(self.now.0),
            ]);
        }
        bulk.write(tx).await?;
        moves.add(self.batch, Bucket::LeftOut, n);
        Ok(())
    }
}

/// Gives rows other addresses and columns.
pub(super) async fn contents<'a>(
    tx: &mut Tx,
    rows: impl Iterator<Item = (i64, &'a NewRow)> + Send,
) -> Result<(), DbError> {
    let mut list = List::new();
    for (id, row) in rows {
        list.push(&[
            Cell::Int(id),
            Cell::Text(&row.address),
            Cell::Text(&row.address_key),
            Cell::Text(&row.fields),
        ]);
    }
    let sql = tx.dialect().update_from(
        "recipient",
        "address = v.v_address, address_key = v.v_address_key, fields = v.v_fields",
        &[
            Field::Int("v_id"),
            Field::Text("v_address"),
            Field::Text("v_address_key"),
            Field::Text("v_fields"),
        ],
        "recipient.id = v.v_id",
    );
    tx.query(sql).bind(list).execute().await?;
    Ok(())
}
