//! One moment of the ledger, for reports: every number in them agrees with every other.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;

use crate::db::Tx;
use crate::domain::batch::Counts;
use crate::domain::id::{BatchId, RecipientId};
use crate::domain::plan::{Seen, buckets};
use crate::domain::selection::Selection;
use crate::domain::state::{Cause, How, State};
use crate::domain::time::Timestamp;

use super::batches::Batch;
use super::counts::{self, BatchStatus};
use super::rows::{self, Chosen, LeftOutLine, RowView, cause, flag, how, state};
use super::{Ledger, LedgerError};

/// A moment that is held until this is dropped; writers do not wait for it.
#[derive(Debug)]
pub struct Snapshot {
    tx: Tx,
    pub as_of: Timestamp,
}

/// The rows of one mail domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainCounts {
    pub domain: String,
    pub counts: Counts,
}

/// Rows that did not end well, or of which nobody knows, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseCount {
    pub state: State,
    pub how: Option<How>,
    pub cause: Option<Cause>,
    pub code: i64,
    pub enhanced: String,
    pub rows: i64,
    /// The last answer to one of them, as it came.
    pub reply: Vec<u8>,
    /// Our own words about that one.
    pub note: String,
}

impl Ledger {
    /// Holds the present moment for reading.
    pub async fn snapshot(&self, now: Timestamp) -> Result<Snapshot, LedgerError> {
        Ok(Snapshot { tx: self.db.snapshot().await?, as_of: now })
    }
}

impl Snapshot {
    /// Returns the numbers of one batch, or of all.
    pub async fn status(&mut self, only: Option<BatchId>) -> Result<Vec<BatchStatus>, LedgerError> {
        counts::status(&mut self.tx, only, self.as_of).await
    }

    /// Counts the rows of a batch by mail domain, the largest first; it reads every row.
    pub async fn domains(&mut self, batch: &Batch) -> Result<Vec<DomainCounts>, LedgerError> {
        let mut rows = self
            .tx
            .query(
                "select r.address_key, d.state, d.how, d.flag, d.unknown_attempts, d.handed_again,
                        d.attempt
                   from delivery d join recipient r on r.id = d.id
                  where d.batch + 0 = ? and d.id between ? and ?",
            )
            .bind(batch.id)
            .bind(batch.first_row)
            .bind(batch.last_row)
            .stream();
        let mut domains: BTreeMap<String, Counts> = BTreeMap::new();
        while let Some(row) = rows.try_next().await? {
            let address = row.text(0)?;
            let domain = address.rsplit_once('@').map_or("", |(_, domain)| domain);
            let seen = Seen {
                state: state(&row.text(1)?)?,
                how: how(&row.text(2)?)?,
                flag: flag(row.text_or_null(3)?.as_deref())?,
                held: false,
                unknown_attempts: row.int(4)?,
                handed_again: row.int(5)? > 0,
            };
            let counts = match domains.get_mut(domain) {
                Some(counts) => counts,
                None => domains.entry(domain.to_owned()).or_default(),
            };
            buckets(&seen).for_each(|bucket| counts.add(bucket, 1));
            counts.attempts += row.int(6)?;
        }
        let mut domains: Vec<_> =
            domains.into_iter().map(|(domain, counts)| DomainCounts { domain, counts }).collect();
        domains.sort_by_key(|domain| std::cmp::Reverse(domain.counts.total()));
        Ok(domains)
    }

    /// Counts what did not end well by its reason, the commonest first.
    pub async fn causes(&mut self, batch: &Batch) -> Result<Vec<CauseCount>, LedgerError> {
        let rows = self
            .tx
            .query(
                "select v.state, v.how, v.cause, v.code, v.enhanced, v.n, a.reply, a.note
                   from (select d.state, d.how, d.cause, d.code, d.enhanced, count(*) as n,
                                max(d.id) as id
                           from delivery d where d.batch = ? and d.flag is not null
                          group by d.state, d.how, d.cause, d.code, d.enhanced) v
                   join delivery e on e.id = v.id
                   left join attempt a on a.row = e.id and a.number = e.attempt
                  order by v.n desc, v.code, v.enhanced",
            )
            .bind(batch.id)
            .fetch_all()
            .await?;
        rows.iter()
            .map(|row| {
                Ok(CauseCount {
                    state: state(&row.text(0)?)?,
                    how: how(&row.text(1)?)?,
                    cause: cause(&row.text(2)?)?,
                    code: row.int(3)?,
                    enhanced: row.text(4)?,
                    rows: row.int(5)?,
                    reply: row.bytes_or_null(6)?.unwrap_or_default(),
                    note: row.text_or_null(7)?.unwrap_or_default(),
                })
            })
            .collect()
    }

    /// Returns up to `limit` rows of a selection behind `after`, in import order.
    pub async fn rows(
        &mut self,
        batch: &Batch,
        selection: &Selection,
        after: RecipientId,
        limit: i64,
    ) -> Result<Vec<RowView>, LedgerError> {
        let chosen = Chosen::new(batch, selection, self.as_of);
        rows::page(&mut self.tx, &chosen, after, limit).await
    }

    /// Returns up to `limit` left-out lines behind number `after`.
    pub async fn left_out(
        &mut self,
        batch: &Batch,
        after: i64,
        limit: i64,
    ) -> Result<Vec<LeftOutLine>, LedgerError> {
        rows::left_out::page(&mut self.tx, batch.id, after, limit).await
    }
}
