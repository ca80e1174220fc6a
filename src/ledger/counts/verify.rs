//! Are the counters true? For `doctor` and for tests; it reads every row.

use std::collections::BTreeMap;

use crate::db::Tx;
use crate::domain::batch::{Bucket, Counts};
use crate::domain::id::BatchId;
use crate::domain::plan::{Seen, buckets};
use crate::ledger::rows::{flag, how, state};
use crate::ledger::{Ledger, LedgerError};

use super::add;

/// A counter that does not say what the rows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub batch: BatchId,
    pub bucket: Bucket,
    pub counter: i64,
    pub rows: i64,
}

impl Ledger {
    /// Compares every counter of one batch, or of all, with the rows in one snapshot.
    pub async fn verify(&self, only: Option<BatchId>) -> Result<Vec<Difference>, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let counters = counters(&mut tx, only).await?;
        let rows = rows(&mut tx, only).await?;
        let batches: std::collections::BTreeSet<_> = counters.keys().chain(rows.keys()).collect();
        let mut found = Vec::new();
        for &batch in batches {
            let counter = counters.get(&batch).copied().unwrap_or_default();
            let truth = rows.get(&batch).copied().unwrap_or_default();
            found.extend(Bucket::ALL.iter().filter_map(|&bucket| {
                let (counter, rows) = (counter.get(bucket), truth.get(bucket));
                let batch = BatchId(batch);
                (counter != rows).then_some(Difference { batch, bucket, counter, rows })
            }));
        }
        Ok(found)
    }
}

fn range(only: Option<BatchId>) -> (i64, i64) {
    only.map_or((0, i64::MAX), |id| (id.0, id.0))
}

async fn counters(
    tx: &mut Tx,
    only: Option<BatchId>,
) -> Result<BTreeMap<i64, Counts>, LedgerError> {
    let (first, last) = range(only);
    let sql = format!(
        "select batch, bucket, {} from batch_count where batch between ? and ?
          group by batch, bucket",
        tx.dialect().bigint("sum(n)")
    );
    let mut counts: BTreeMap<i64, Counts> = BTreeMap::new();
    for row in tx.query(sql).bind(first).bind(last).fetch_all().await? {
        add(counts.entry(row.int(0)?).or_default(), &row.text(1)?, row.int(2)?);
    }
    Ok(counts)
}

async fn rows(tx: &mut Tx, only: Option<BatchId>) -> Result<BTreeMap<i64, Counts>, LedgerError> {
    let (first, last) = range(only);
    let sql = format!(
        "select v.batch, v.state, v.how, v.flag, v.again, v.doubt, count(*), {}
           from (select batch, state, how, flag, attempt,
                        case when handed_again > 0 then 1 else 0 end as again,
                        case when unknown_attempts > 0 then 1 else 0 end as doubt
                   from delivery where batch between ? and ?) v
          group by v.batch, v.state, v.how, v.flag, v.again, v.doubt",
        tx.dialect().bigint("sum(v.attempt)")
    );
    let mut counts: BTreeMap<i64, Counts> = BTreeMap::new();
    for row in tx.query(sql).bind(first).bind(last).fetch_all().await? {
        let seen = Seen {
            state: state(&row.text(1)?)?,
            how: how(&row.text(2)?)?,
            flag: flag(row.text_or_null(3)?.as_deref())?,
            held: false,
            handed_again: row.int(4)? > 0,
            unknown_attempts: row.int(5)?,
        };
        let place = counts.entry(row.int(0)?).or_default();
        let n = row.int(6)?;
        buckets(&seen).for_each(|bucket| place.add(bucket, n));
        place.add(Bucket::Attempts, row.int(7)?);
    }
    let left_out = tx
        .query("select batch, count(*) from left_out where batch between ? and ? group by batch")
        .bind(first)
        .bind(last)
        .fetch_all()
        .await?;
    for row in &left_out {
        counts.entry(row.int(0)?).or_default().add(Bucket::LeftOut, row.int(1)?);
    }
    Ok(counts)
}
