//! Counts of a batch, read from its counters and never from its rows.
//!
//! Promise: the numbers of one answer come from one snapshot, and reading them costs the same at a
//! thousand rows and at ten million.
//! Absent on purpose: `verify` is the only place that counts rows; nothing on a screen calls it.

mod status;
mod verify;

use std::collections::BTreeMap;

use crate::db::{Cell, Field, List, Tx};
use crate::domain::batch::{Bucket, Counts};
use crate::domain::id::BatchId;
use crate::domain::plan::{Seen, buckets};

use super::LedgerError;

pub(super) use status::read as status;
pub use status::{BatchStatus, Status};
pub use verify::Difference;

/// The slot of operators and imports; workers have 1 to 63.
const OPS: i64 = 0;

/// What a transaction adds to the counters, gathered in the order in which it is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves(BTreeMap<(BatchId, &'static str), i64>);

impl Moves {
    pub(super) fn add(&mut self, batch: BatchId, bucket: Bucket, n: i64) {
        *self.0.entry((batch, bucket.as_str())).or_default() += n;
    }

    /// Takes a row out of where it stood and puts it where it stands now.
    pub(super) fn moved(&mut self, batch: BatchId, from: &Seen, to: &Seen) {
        self.left(batch, from);
        self.came(batch, to);
    }

    pub(super) fn left(&mut self, batch: BatchId, row: &Seen) {
        buckets(row).for_each(|bucket| self.add(batch, bucket, -1));
    }

    pub(super) fn came(&mut self, batch: BatchId, row: &Seen) {
        buckets(row).for_each(|bucket| self.add(batch, bucket, 1));
    }
}

/// Writes what was gathered; the last thing a transaction does, so that nobody waits for long.
pub(super) async fn write(tx: &mut Tx, moves: &Moves) -> Result<(), LedgerError> {
    let mut list = List::new();
    let mut changed = false;
    for ((batch, bucket), &n) in moves.0.iter().filter(|&(_, &n)| n != 0) {
        list.push(&[Cell::Int(batch.0), Cell::Text(bucket), Cell::Int(n)]);
        changed = true;
    }
    if !changed {
        return Ok(());
    }
    let dialect = tx.dialect();
    let rows = dialect.json_rows(&[Field::Int("batch"), Field::Text("bucket"), Field::Int("n")]);
    let sql = format!(
        "insert into batch_count (batch, bucket, slot, n)
         select v.batch, v.bucket, {OPS}, v.n from {rows} v where 1 = 1
          order by v.batch, v.bucket{}",
        dialect.or_update("batch_count", "batch, bucket, slot", "n = old(n) + new(n)")
    );
    tx.query(sql).bind(list).execute().await?;
    Ok(())
}

/// Returns the counts of one batch.
pub(super) async fn of(tx: &mut Tx, batch: BatchId) -> Result<Counts, LedgerError> {
    let sql = format!(
        "select bucket, {} from batch_count where batch = ? group by bucket",
        tx.dialect().bigint("sum(n)")
    );
    let mut counts = Counts::default();
    for row in tx.query(sql).bind(batch).fetch_all().await? {
        add(&mut counts, &row.text(0)?, row.int(1)?);
    }
    Ok(counts)
}

/// A bucket that this version does not know is of a later one and part of no sum here.
fn add(counts: &mut Counts, bucket: &str, n: i64) {
    if let Some(bucket) = Bucket::from_word(bucket) {
        counts.add(bucket, n);
    }
}
