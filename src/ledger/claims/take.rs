//! Taking rows of a batch.

use crate::db::{Cell, Field, List, Tx};
use crate::domain::id::{BatchId, WorkerId};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;

use super::read_ids;

/// Deletes this worker's claims of which it has no row in its hands any more.
pub(super) async fn forget_used_up(tx: &mut Tx, worker: WorkerId) -> Result<(), LedgerError> {
    let sql = "select id, ids from claim where worker = ? order by id";
    for claim in tx.query(sql).bind(worker).fetch_all().await? {
        if held_of(tx, &read_ids(&claim.text(1)?)?, Some(worker)).await? == 0 {
            tx.query("delete from claim where id = ?").bind(claim.int(0)?).execute().await?;
        }
    }
    Ok(())
}

/// Counts rows that are in the hands of one worker, or of any.
async fn held_of(tx: &mut Tx, ids: &[i64], worker: Option<WorkerId>) -> Result<i64, LedgerError> {
    let dialect = tx.dialect();
    let sql = format!(
        "select count(*) from {} v {} delivery d on d.id = v.id
          where d.worker <> 0 and (d.worker = ? or ? = 0)",
        dialect.json_rows(&[Field::Int("id")]),
        dialect.then_join()
    );
    let list: List = ids.iter().copied().collect();
    let worker = worker.map_or(0, |worker| worker.0);
    Ok(tx.query(sql).bind(list).bind(worker).bind(worker).fetch_one().await?.int(0)?)
}

/// Reserves rows and returns their numbers in rising order.
pub(super) async fn claim(
    tx: &mut Tx,
    number: i64,
    worker: WorkerId,
    batch: BatchId,
    limit: i64,
    now: Timestamp,
) -> Result<Vec<i64>, LedgerError> {
    let Some(limit) = allowed(tx, batch, limit).await? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "select d.id from delivery d
          where d.batch = ? and d.due_at <= ? and d.state = 'ready'
          order by d.due_at, d.id limit ?{}",
        tx.dialect().skip_locked()
    );
    let found = tx.query(sql).bind(batch).bind(now).bind(limit).fetch_all().await?;
    let mut ids: Vec<i64> = found.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    ids.sort_unstable();
    if !ids.is_empty() {
        reserve(tx, number, worker, batch, &ids, now).await?;
    }
    // Last, so that the lock is short: from here to the commit a sweep of this worker waits, and
    // one that came first is seen. Without it a claim could slip in behind a sweep, and nobody
    // would ever look at its rows again.
    let sql = "select id from worker where id = ? and lost_at is null".to_owned()
        + tx.dialect().for_share();
    match tx.query(sql).bind(worker).fetch_optional().await? {
        None => Err(LedgerError::Fenced(worker)),
        Some(_) => Ok(ids),
    }
}

/// Returns how many rows may be taken from a batch, or `None` if none may.
async fn allowed(tx: &mut Tx, batch: BatchId, limit: i64) -> Result<Option<i64>, LedgerError> {
    let sql = "select wanted, probed from batch where id = ?";
    let Some(row) = tx.query(sql).bind(batch).fetch_optional().await? else { return Ok(None) };
    if row.text(0)? != "running" {
        return Ok(None);
    }
    if row.int(1)? != 0 {
        return Ok(Some(limit));
    }
    // Nothing is known about this batch yet: one row at a time, so that a wrong sender or a broken
    // template costs few rows. Whoever wants to try waits for whoever tries.
    let sql = format!("select probed from batch where id = ?{}", tx.dialect().for_update());
    if tx.query(sql).bind(batch).fetch_one().await?.int(0)? != 0 {
        return Ok(Some(limit));
    }
    let sql = "select ids from claim where batch = ?";
    for claim in tx.query(sql).bind(batch).fetch_all().await? {
        if held_of(tx, &read_ids(&claim.text(0)?)?, None).await? > 0 {
            return Ok(None);
        }
    }
    Ok(Some(limit.min(1)))
}

/// Marks rows as this worker's and writes down where a sweep has to look for them.
async fn reserve(
    tx: &mut Tx,
    number: i64,
    worker: WorkerId,
    batch: BatchId,
    ids: &[i64],
    now: Timestamp,
) -> Result<(), LedgerError> {
    let mut list = List::new();
    for &id in ids {
        list.push(&[Cell::Int(id), Cell::Int(worker.0)]);
    }
    let sql = tx.dialect().update_from(
        "delivery",
        "worker = v_worker, due_at = null",
        &[Field::Int("v_id"), Field::Int("v_worker")],
        "delivery.id = v_id",
    );
    tx.query(sql).bind(list).execute().await?;
    let text = serde_json::to_string(ids)
        .map_err(|err| LedgerError::Nonsense { what: "list of rows", word: err.to_string() })?;
    tx.query("insert into claim (id, worker, batch, ids, at) values (?, ?, ?, ?, ?)")
        .bind(number)
        .bind(worker)
        .bind(batch)
        .bind(text)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}
