//! What a transaction adds to the counters.
//!
//! Promise: it follows from rows that were seen before and after, never from what was asked, and it
//! is written last and in one order, so that transactions do not wait for each other in a circle.

use std::collections::BTreeMap;

use crate::db::{Cell, Field, List, Tx};
use crate::domain::batch::Bucket;
use crate::domain::id::BatchId;
use crate::domain::plan::{Seen, buckets};

use super::LedgerError;

/// The slot of operators and imports; workers have 1 to 63, so that they never wait for each other.
pub(super) const OPS: i64 = 0;

/// Changes of counters, gathered in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// Returns the counters that change, ordered by batch and bucket.
    pub(super) fn changed(&self) -> impl Iterator<Item = (BatchId, &'static str, i64)> {
        self.0.iter().filter(|&(_, &n)| n != 0).map(|(&(batch, bucket), &n)| (batch, bucket, n))
    }
}

/// Writes what was gathered; the last thing a transaction does.
pub(super) async fn write(tx: &mut Tx, slot: i64, moves: &Moves) -> Result<(), LedgerError> {
    let mut list = List::new();
    for (batch, bucket, n) in moves.changed() {
        list.push(&[Cell::Int(batch.0), Cell::Text(bucket), Cell::Int(n)]);
    }
    if list.is_empty() {
        return Ok(());
    }
    let dialect = tx.dialect();
    let rows = dialect.json_rows(&[Field::Int("batch"), Field::Text("bucket"), Field::Int("n")]);
    let sql = format!(
        "insert into batch_count (batch, bucket, slot, n)
         select v.batch, v.bucket, ?, v.n from {rows} v where 1 = 1
          order by v.batch, v.bucket{}",
        dialect.or_update("batch_count", "batch, bucket, slot", "n = old(n) + new(n)")
    );
    tx.query(sql).bind(slot).bind(list).execute().await?;
    Ok(())
}
