//! A group written step by step: rows are locked, looked at, moved and written back.
//!
//! This is what a group means. It is how SQLite works always, and the other engines whenever a row
//! did not stand where it was believed to.

use std::collections::HashMap;

use crate::db::{Field, List, Private, Row, Tx};
use crate::domain::batch::Bucket;
use crate::domain::id::{BatchId, RecipientId};
use crate::domain::state::State;
use crate::domain::time::Timestamp;
use crate::ledger::attempts::{self, Ended};
use crate::ledger::delivery::{self, Delivery};
use crate::ledger::moves::{self, Moves};
use crate::ledger::workers::Registered;
use crate::ledger::{LedgerError, claims};

use super::{Answer, Finish, FinishAnswer, Start, StartAnswer, Step, Written};

/// What is known under lock while a group is written.
struct Group<'g> {
    me: Registered,
    rows: HashMap<RecipientId, Delivery>,
    running: Vec<BatchId>,
    suppression: i64,
    /// Attempts that were recorded by an earlier delivery of the same request.
    receipts: Vec<(i64, i64)>,
    changed: Vec<RecipientId>,
    ended: Vec<Ended<'g>>,
    moves: Moves,
}

pub(super) async fn write(
    conn: &mut Private,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Written, LedgerError> {
    conn.begin().await?;
    if !beat(conn.tx(), me, now).await? {
        conn.rollback().await?;
        return Ok(Written::Fenced);
    }
    let answers = group(conn.tx(), me, steps, now).await?;
    conn.commit().await?;
    Ok(Written::Answers(answers))
}

/// Moves the worker's beat; false if the worker was swept.
async fn beat(tx: &mut Tx, me: Registered, now: Timestamp) -> Result<bool, LedgerError> {
    let sql = "update worker set beat = beat + 1, beat_at = ? where id = ? and lost_at is null";
    Ok(tx.query(sql).bind(now).bind(me.worker).execute().await? == 1)
}

async fn group(
    tx: &mut Tx,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Vec<Answer>, LedgerError> {
    let mut group = look(tx, me, steps).await?;
    let answers: Vec<Answer> = steps
        .iter()
        .map(|step| Answer {
            finish: step.finish.as_ref().map(|finish| group.finish(finish)),
            start: step.start.as_ref().map(|start| group.start(start)),
        })
        .collect();
    let changed: Vec<&Delivery> =
        group.changed.iter().filter_map(|id| group.rows.get(id)).collect();
    delivery::write(tx, &changed).await?;
    attempts::insert(tx, &group.ended).await?;
    let mut stopped: Vec<BatchId> = steps
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer.start == Some(StartAnswer::NotRunning))
        .filter_map(|(step, _)| step.start.as_ref().map(|start| start.batch))
        .collect();
    stopped.sort_unstable();
    stopped.dedup();
    for batch in stopped {
        claims::give_back(tx, me.worker, batch, now).await?;
    }
    moves::write(tx, me.slot, &group.moves).await?;
    Ok(answers)
}

/// Locks everything the group is about: batches first, then rows in rising order.
async fn look<'g>(
    tx: &mut Tx,
    me: Registered,
    steps: &'g [Step],
) -> Result<Group<'g>, LedgerError> {
    let finishes = || steps.iter().filter_map(|step| step.finish.as_ref());
    let starts = || steps.iter().filter_map(|step| step.start.as_ref());
    let (running, suppression) = running(tx, starts().map(|start| start.batch)).await?;
    let mut ids: Vec<i64> =
        finishes().map(|one| one.row.0).chain(starts().map(|one| one.row.0)).collect();
    ids.sort_unstable();
    ids.dedup();
    let rows = delivery::lock(tx, ids.into_iter().collect()).await?;
    let rows: HashMap<_, _> = rows.into_iter().map(|row| (row.id, row)).collect();
    let mut group = Group {
        me,
        rows,
        running,
        suppression,
        receipts: Vec::new(),
        changed: Vec::new(),
        ended: Vec::new(),
        moves: Moves::default(),
    };
    let unmatched: List =
        finishes().filter(|one| !group.is_under_way(one)).map(|one| one.row.0).collect();
    if !unmatched.is_empty() {
        group.receipts = receipts(tx, me, unmatched).await?;
    }
    Ok(group)
}

/// Returns which of the batches run, each held so until the commit, and the number of the
/// do-not-send list.
async fn running(
    tx: &mut Tx,
    batches: impl Iterator<Item = BatchId>,
) -> Result<(Vec<BatchId>, i64), LedgerError> {
    let mut ids: Vec<i64> = batches.map(|batch| batch.0).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let dialect = tx.dialect();
    let sql = format!(
        "select b.id from {} v {} batch b on b.id = v.id
          where b.wanted = 'running' order by b.id{}",
        dialect.json_rows(&[Field::Int("id")]),
        dialect.then_join(),
        dialect.for_share()
    );
    let list: List = ids.into_iter().collect();
    let found = tx.query(sql).bind(list).fetch_all().await?;
    let running = found.iter().map(|row| row.int(0).map(BatchId)).collect::<Result<_, _>>()?;
    Ok((running, claims::suppression_number(tx).await?))
}

/// Returns the attempts of these rows that this worker has recorded before.
async fn receipts(tx: &mut Tx, me: Registered, rows: List) -> Result<Vec<(i64, i64)>, LedgerError> {
    let dialect = tx.dialect();
    let sql = format!(
        "select a.row, a.number from {} v {} attempt a on a.row = v.id where a.worker = ?",
        dialect.json_rows(&[Field::Int("id")]),
        dialect.then_join()
    );
    let found = tx.query(sql).bind(rows).bind(me.worker).fetch_all().await?;
    let receipt = |row: &Row| Ok((row.int(0)?, row.int(1)?));
    found.iter().map(receipt).collect()
}

impl<'g> Group<'g> {
    /// Reports whether the attempt that ended is the one this worker has under way.
    fn is_under_way(&self, finish: &Finish) -> bool {
        self.rows.get(&finish.row).is_some_and(|row| {
            row.state == State::Sending
                && row.batch == finish.batch
                && row.worker == Some(self.me.worker)
                && row.attempt == finish.attempt
        })
    }

    fn finish(&mut self, finish: &'g Finish) -> FinishAnswer {
        if !self.is_under_way(finish) {
            let known = self.receipts.contains(&(finish.row.0, finish.attempt.0));
            return if known { FinishAnswer::Recorded } else { FinishAnswer::Lost };
        }
        let Some(row) = self.rows.get_mut(&finish.row) else { return FinishAnswer::Lost };
        let before = row.seen();
        row.end(finish.outcome, finish.settled, finish.counts, finish.ended);
        finish.phase.as_str().clone_into(&mut row.phase);
        row.code = finish.code.map_or(0, i64::from);
        row.enhanced = finish.enhanced.clone().unwrap_or_default();
        self.moves.moved(row.batch, &before, &row.seen());
        self.changed.push(row.id);
        self.ended.push(finish.ended(self.me, row.generation));
        FinishAnswer::Recorded
    }

    fn start(&mut self, start: &Start) -> StartAnswer {
        let Some(row) = self.rows.get_mut(&start.row) else { return StartAnswer::Lost };
        let mine = row.worker == Some(self.me.worker) && row.batch == start.batch;
        let is_mine_now = mine && row.state == State::Sending && row.attempt == start.attempt;
        // The time tells this request from one of another connection of the same worker that held
        // the same row: only one of the two may send it.
        if is_mine_now && row.updated == start.at {
            // An earlier delivery of this request did it.
            return StartAnswer::Started { first_started: row.first_started };
        }
        if !self.running.contains(&start.batch) {
            return StartAnswer::NotRunning;
        }
        if !mine || row.state != State::Ready || row.attempt.next() != start.attempt {
            return StartAnswer::Lost;
        }
        if start.suppression_seen != self.suppression {
            return StartAnswer::SuppressionMoved;
        }
        let before = row.seen();
        row.start(start.at);
        self.moves.moved(row.batch, &before, &row.seen());
        self.moves.add(row.batch, Bucket::Attempts, 1);
        self.changed.push(row.id);
        StartAnswer::Started { first_started: row.first_started }
    }
}
