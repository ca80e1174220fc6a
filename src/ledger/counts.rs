//! Counts of a batch, read from its counters and never from its rows.
//!
//! Promise: the numbers of one answer come from one snapshot, and reading them costs the same at a
//! thousand rows and at ten million.
//! Absent on purpose: `verify` is the only place that counts rows; nothing on a screen calls it.

mod lately;
mod status;
mod verify;

use crate::db::Tx;
use crate::domain::batch::{Bucket, Counts};
use crate::domain::id::BatchId;

use super::{LedgerError, moves};

pub(super) use super::moves::Moves;
pub(super) use status::read as status;
pub use status::{BatchStatus, Status};
pub use verify::Difference;

/// Writes what an operator's or an import's transaction changed; the last thing it does.
pub(super) async fn write(tx: &mut Tx, moves: &Moves) -> Result<(), LedgerError> {
    moves::write(tx, moves::OPS, moves).await
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
