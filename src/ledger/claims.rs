//! A worker's right to a set of rows.
//!
//! Promise: a row is in the hands of one worker at most. A claimed row stays `ready`: reserved is
//! not sending.

mod take;
mod unstarted;

use std::sync::Arc;

use crate::db::{Field, List, Row, Tx};
use crate::domain::id::{Attempt, BatchId, Generation, RecipientId, WorkerId};
use crate::domain::state::State;
use crate::domain::time::Timestamp;

use super::delivery::{self, Delivery};
use super::{Ledger, LedgerError};

pub use unstarted::{Believed, Unstarted};

/// What a claim brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    pub rows: Vec<ClaimedRow>,
    /// The number of the do-not-send list when it was looked at with these rows.
    pub suppression_seen: i64,
}

/// A row in this worker's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRow {
    pub id: RecipientId,
    pub batch: BatchId,
    pub attempt: Attempt,
    pub tries: i64,
    pub generation: Generation,
    pub unknown_attempts: i64,
    /// When this generation was first started; fixes the Date of the message.
    pub first_started: Option<Timestamp>,
    pub key: String,
    pub address: String,
    /// The person's columns, as JSON.
    pub fields: String,
    /// On the do-not-send list: it fails without an attempt.
    pub suppressed: bool,
}

impl Ledger {
    /// Reserves up to `limit` rows of a running batch that are due.
    ///
    /// Until a batch has had its first answer that is not suspect, one row is given out, and only
    /// while no other is out (protocol 18). A worker that was swept gets `Fenced`.
    pub async fn claim(
        &self,
        worker: WorkerId,
        batch: BatchId,
        limit: i64,
        now: Timestamp,
    ) -> Result<Claimed, LedgerError> {
        let number = self.claim_number().await?;
        let ids = self
            .db
            .write(move |tx| {
                Box::pin(async move {
                    take::forget_used_up(tx, worker).await?;
                    take::claim(tx, number, worker, batch, limit, now).await
                })
            })
            .await?;
        // After the commit, so that the recorder need not wait for it: nobody else takes them.
        contents(&mut self.db.read().await?, worker, &ids).await
    }

    /// Returns the `ready` rows that carry this worker's number, as if just claimed.
    ///
    /// For a worker with empty hands: a claim whose acknowledgement was lost, or one it forgot.
    pub async fn own_forgotten_rows(&self, worker: WorkerId) -> Result<Claimed, LedgerError> {
        let mut tx = self.db.read().await?;
        let ids = claimed_ids(&mut tx, worker, None).await?;
        contents(&mut tx, worker, &ids).await
    }

    /// Returns those of `rows` that are still this worker's to start, as if just claimed.
    ///
    /// For a start that was refused because the do-not-send list has moved.
    pub async fn look_again(
        &self,
        worker: WorkerId,
        rows: &[RecipientId],
    ) -> Result<Claimed, LedgerError> {
        let mut ids: Vec<i64> = rows.iter().map(|row| row.0).collect();
        ids.sort_unstable();
        contents(&mut self.db.read().await?, worker, &ids).await
    }

    /// Gives this worker's unstarted rows of a batch back to everybody.
    pub async fn give_back(
        &self,
        worker: WorkerId,
        batch: BatchId,
        now: Timestamp,
    ) -> Result<i64, LedgerError> {
        self.db
            .write(move |tx| Box::pin(async move { give_back(tx, worker, batch, now).await }))
            .await
    }

    /// Gives single unstarted rows back, each due at its time; those of others are left alone.
    pub async fn give_back_rows(
        &self,
        worker: WorkerId,
        rows: Vec<(RecipientId, Timestamp)>,
    ) -> Result<i64, LedgerError> {
        let rows = Arc::new(rows);
        self.db
            .write(move |tx| {
                let rows = Arc::clone(&rows);
                Box::pin(async move { give_back_rows(tx, worker, &rows).await })
            })
            .await
    }

    /// Notes that a batch has had its first answer that is not suspect: claims are full from now on.
    pub async fn probed(&self, batch: BatchId) -> Result<(), LedgerError> {
        self.db
            .write(move |tx| {
                Box::pin(async move {
                    let sql = "update batch set probed = 1 where id = ? and probed = 0";
                    tx.query(sql).bind(batch).execute().await?;
                    Ok(())
                })
            })
            .await
    }

    /// Returns when the next row of a batch may be claimed, if one waits.
    pub async fn next_due(&self, batch: BatchId) -> Result<Option<Timestamp>, LedgerError> {
        let sql = "select due_at from delivery where batch = ? and due_at is not null
                    order by due_at limit 1";
        let row = self.db.read().await?.query(sql).bind(batch).fetch_optional().await?;
        Ok(row.map(|row| row.int(0)).transpose()?.map(Timestamp))
    }
}

/// Returns a worker's claims, of one batch or of all, each with the rows in it.
async fn claims_of(
    tx: &mut Tx,
    worker: WorkerId,
    batch: Option<BatchId>,
) -> Result<Vec<(i64, Vec<i64>)>, LedgerError> {
    let sql = "select id, ids from claim where worker = ? and (batch = ? or ? = 0)";
    let id = batch.map_or(0, |batch| batch.0);
    let claims = tx.query(sql).bind(worker).bind(id).bind(id).fetch_all().await?;
    claims.iter().map(|claim| Ok((claim.int(0)?, read_ids(&claim.text(1)?)?))).collect()
}

/// Returns the numbers in a worker's claims, of one batch or of all, in rising order.
async fn claimed_ids(
    tx: &mut Tx,
    worker: WorkerId,
    batch: Option<BatchId>,
) -> Result<Vec<i64>, LedgerError> {
    let claims = claims_of(tx, worker, batch).await?;
    let mut ids: Vec<i64> = claims.into_iter().flat_map(|(_, ids)| ids).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Reads the list of a claim.
fn read_ids(text: &str) -> Result<Vec<i64>, LedgerError> {
    serde_json::from_str(text)
        .map_err(|err| LedgerError::Nonsense { what: "list of rows", word: err.to_string() })
}

/// Returns a worker's rows, claimed or started, each locked until the transaction ends.
pub(super) async fn rows_of(
    tx: &mut Tx,
    worker: WorkerId,
    batch: Option<BatchId>,
) -> Result<Vec<Delivery>, LedgerError> {
    let ids = claimed_ids(tx, worker, batch).await?;
    held(tx, worker, ids).await
}

/// Returns those of the rows that are in a worker's hands, locked in rising order.
async fn held(tx: &mut Tx, worker: WorkerId, ids: Vec<i64>) -> Result<Vec<Delivery>, LedgerError> {
    let mut ids = ids;
    ids.sort_unstable();
    ids.dedup();
    let mut rows = delivery::lock(tx, ids.into_iter().collect()).await?;
    rows.retain(|row| row.worker == Some(worker));
    Ok(rows)
}

/// Takes rows that were only reserved out of their worker's hands; returns how many.
pub(super) async fn free(
    tx: &mut Tx,
    rows: Vec<Delivery>,
    due: Timestamp,
) -> Result<i64, LedgerError> {
    let mut rows = rows;
    rows.retain(|row| row.state == State::Ready);
    for row in &mut rows {
        row.free(due);
    }
    delivery::write(tx, &rows.iter().collect::<Vec<_>>()).await?;
    Ok(i64::try_from(rows.len()).unwrap_or(i64::MAX))
}

/// Gives a worker's unstarted rows of a batch back, within a transaction.
pub(super) async fn give_back(
    tx: &mut Tx,
    worker: WorkerId,
    batch: BatchId,
    now: Timestamp,
) -> Result<i64, LedgerError> {
    let claims = claims_of(tx, worker, Some(batch)).await?;
    let ids = claims.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
    let rows = held(tx, worker, ids).await?;
    // A claim with a started row stays: it tells the sweep where to look. One that this worker has
    // made meanwhile on another connection was not looked at and stays as well.
    if rows.iter().all(|row| row.state == State::Ready) {
        for (claim, _) in claims {
            tx.query("delete from claim where id = ?").bind(claim).execute().await?;
        }
    }
    free(tx, rows, now).await
}

async fn give_back_rows(
    tx: &mut Tx,
    worker: WorkerId,
    rows: &[(RecipientId, Timestamp)],
) -> Result<i64, LedgerError> {
    let mut ids: Vec<i64> = rows.iter().map(|(row, _)| row.0).collect();
    ids.sort_unstable();
    let mut locked = delivery::lock(tx, ids.into_iter().collect()).await?;
    locked.retain(|row| row.worker == Some(worker) && row.state == State::Ready);
    for row in &mut locked {
        let due = rows.iter().find(|(id, _)| *id == row.id).map_or(Timestamp(0), |(_, due)| *due);
        row.free(due);
    }
    delivery::write(tx, &locked.iter().collect::<Vec<_>>()).await?;
    Ok(i64::try_from(locked.len()).unwrap_or(i64::MAX))
}

/// Reads what is needed to send the rows that are still this worker's and not started.
async fn contents(tx: &mut Tx, worker: WorkerId, ids: &[i64]) -> Result<Claimed, LedgerError> {
    // Before the list itself: an address added in between then shows up as a moved list.
    let suppression_seen = suppression_number(tx).await?;
    if ids.is_empty() {
        return Ok(Claimed { rows: Vec::new(), suppression_seen });
    }
    let dialect = tx.dialect();
    let (rows, then_join) = (dialect.json_rows(&[Field::Int("id")]), dialect.then_join());
    let sql = format!(
        "select d.id, d.batch, d.attempt, d.tries, d.generation, d.unknown_attempts,
                d.first_started, r.key, r.address, r.fields,
                (select count(*) from suppression s
                  where s.address_key = r.address_key and s.kind in ('', b.kind))
           from {rows} v
           {then_join} delivery d on d.id = v.id
           {then_join} recipient r on r.id = v.id
           {then_join} batch b on b.id = d.batch
          where d.worker = ? and d.state = 'ready'
          order by d.id"
    );
    let list: List = ids.iter().copied().collect();
    let found = tx.query(sql).bind(list).bind(worker).fetch_all().await?;
    let rows = found.iter().map(ClaimedRow::of).collect::<Result<_, _>>()?;
    Ok(Claimed { rows, suppression_seen })
}

/// Returns the number of the do-not-send list; it rises with every address that is added.
pub(super) async fn suppression_number(tx: &mut Tx) -> Result<i64, LedgerError> {
    let sql = "select next from id_block where name = 'suppression'";
    let row = tx.query(sql).fetch_optional().await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(1))
}

impl ClaimedRow {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            id: RecipientId(row.int(0)?),
            batch: BatchId(row.int(1)?),
            attempt: Attempt(row.int(2)?),
            tries: row.int(3)?,
            generation: Generation(row.int(4)?),
            unknown_attempts: row.int(5)?,
            first_started: Some(row.int(6)?).filter(|&at| at != 0).map(Timestamp),
            key: row.text(7)?,
            address: row.text(8)?,
            fields: row.text(9)?,
            suppressed: row.int(10)? > 0,
        })
    }
}
