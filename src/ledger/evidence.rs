//! What was learned late or elsewhere about an attempt.
//!
//! Promise: it is kept whatever it says, and settles a row only by the rules of `domain::late`, in
//! the same transaction.

use std::sync::Arc;

use crate::db::{Row, Tx};
use crate::domain::id::{Attempt, BatchId, Generation, RecipientId, WorkerId};
use crate::domain::late::{Late, Learned, Standing, weigh};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::retry::Jitter;
use crate::domain::settle::{Rules, Settled};
use crate::domain::state::{Cause, How, words};
use crate::domain::time::Timestamp;

use super::attempts::{self, Ended};
use super::delivery::{self, Delivery, word};
use super::moves::{self, Moves};
use super::{Ledger, LedgerError, ids};

words! {
    /// Where evidence comes from.
    Seen {
        /// The answer came after the worker was given up.
        LateAnswer = "late_answer",
        /// The ledger was away; the answer was kept in a file.
        OutcomeFile = "outcome_file",
        /// The step file of a dead worker.
        StepFile = "step_file",
        /// An older system's record.
        Imported = "imported",
        /// Our own reason not to try.
        Local = "local",
    }
}

/// One thing that was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub worker: WorkerId,
    pub source: Seen,
    /// By `Verdict::as_evidence`, so that a refusal that may be our own fault is `NotSent`.
    pub outcome: Outcome,
    pub phase: Phase,
    pub code: Option<u16>,
    pub reply: Vec<u8>,
}

/// One line of the evidence table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub attempt: Attempt,
    pub generation: Generation,
    pub worker: WorkerId,
    pub source: Seen,
    /// The word of an `Outcome`.
    pub outcome: String,
    pub code: i64,
    pub reply: Vec<u8>,
    pub at: Timestamp,
    /// `settled`, `kept` or `conflict`.
    pub became: String,
}

impl Ledger {
    /// Keeps what was learned and lets it settle the row if it may.
    ///
    /// The same evidence a second time changes nothing.
    pub async fn learn(&self, evidence: Evidence, now: Timestamp) -> Result<Late, LedgerError> {
        let evidence = Arc::new(evidence);
        let (late, batch) = self
            .db
            .write(move |tx| {
                let evidence = Arc::clone(&evidence);
                Box::pin(async move { learn(tx, &evidence, now).await })
            })
            .await?;
        if let (Late::Settles(Settled::Ready { .. }), Some(batch)) = (late, batch) {
            self.clear_cancelled(&[batch], now).await?;
        }
        Ok(late)
    }

    /// Returns what is known beside the attempts of a row, the oldest first.
    pub async fn evidence(&self, row: RecipientId) -> Result<Vec<Kept>, LedgerError> {
        let sql = "select attempt, generation, worker, source, outcome, code, reply, at, became
                     from evidence where row = ? order by id";
        let rows = self.db.read().await?.query(sql).bind(row).fetch_all().await?;
        rows.iter().map(Kept::of).collect()
    }
}

impl Kept {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            attempt: Attempt(row.int(0)?),
            generation: Generation(row.int(1)?),
            worker: WorkerId(row.int(2)?),
            source: word("source", &row.text(3)?, Seen::from_word)?,
            outcome: row.text(4)?,
            code: row.int(5)?,
            reply: row.bytes(6)?,
            at: Timestamp(row.int(7)?),
            became: row.text(8)?,
        })
    }
}

/// A line on its way into the evidence table.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    pub(super) row: RecipientId,
    pub(super) attempt: Attempt,
    pub(super) generation: Generation,
    pub(super) worker: WorkerId,
    pub(super) source: Seen,
    pub(super) outcome: Outcome,
    pub(super) code: i64,
    pub(super) reply: &'a [u8],
    pub(super) became: &'static str,
}

/// Writes a line.
pub(super) async fn keep(tx: &mut Tx, line: &Line<'_>, now: Timestamp) -> Result<(), LedgerError> {
    let id = ids::reserve(tx, ids::EVIDENCE, 1).await?;
    tx.query(
        "insert into evidence (id, row, attempt, generation, worker, source, outcome, code, reply,
                               at, became)
         values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(line.row)
    .bind(line.attempt)
    .bind(line.generation)
    .bind(line.worker)
    .bind(line.source.as_str())
    .bind(line.outcome)
    .bind(line.code)
    .bind(line.reply)
    .bind(now)
    .bind(line.became)
    .execute()
    .await?;
    Ok(())
}

/// The attempt as it was recorded, by its worker or by a sweep.
struct Recorded {
    generation: Generation,
    /// Its end is not known to this day.
    unknown: bool,
}

async fn learn(
    tx: &mut Tx,
    evidence: &Evidence,
    now: Timestamp,
) -> Result<(Late, Option<BatchId>), LedgerError> {
    let rows = delivery::lock(tx, std::iter::once(evidence.row.0).collect()).await?;
    let Some(mut row) = rows.into_iter().next() else { return Ok((Late::Keep, None)) };
    if is_known(tx, evidence).await? {
        return Ok((Late::Keep, None));
    }
    let recorded = recorded(tx, evidence).await?;
    // A number is never used again, so it names its generation: as recorded, or else the present.
    let generation = recorded.as_ref().map_or(row.generation, |attempt| attempt.generation);
    let rules = super::sweep::rules_of(tx, row.batch).await?;
    let standing = Standing {
        state: row.state,
        how: row.how,
        attempt: row.attempt,
        generation: row.generation,
        unknown_attempts: row.unknown_attempts,
        decided: decided(tx, &row, evidence.attempt).await?,
        used_up: rules.retry.is_used_up(row.tries),
    };
    let learned = Learned { attempt: evidence.attempt, generation, outcome: evidence.outcome };
    let late = weigh(&standing, &learned, due(evidence.outcome, &rules, now));
    if let Late::Settles(settled) = late {
        settle(tx, &mut row, evidence, recorded.as_ref(), settled, now).await?;
    }
    let line = Line {
        row: row.id,
        attempt: evidence.attempt,
        generation,
        worker: evidence.worker,
        source: evidence.source,
        outcome: evidence.outcome,
        code: i64::from(evidence.code.unwrap_or(0)),
        reply: &evidence.reply,
        became: late.as_str(),
    };
    keep(tx, &line, now).await?;
    Ok((late, Some(row.batch)))
}

/// When a row may go out again whose attempt was not taken.
fn due(outcome: Outcome, rules: &Rules, now: Timestamp) -> Timestamp {
    match outcome {
        Outcome::Deferred => now + rules.retry.wait(1, Jitter::NONE),
        Outcome::Accepted | Outcome::Refused | Outcome::NotSent | Outcome::Unknown(_) => now,
    }
}

async fn settle(
    tx: &mut Tx,
    row: &mut Delivery,
    evidence: &Evidence,
    recorded: Option<&Recorded>,
    settled: Settled,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let before = row.seen();
    let code = i64::from(evidence.code.unwrap_or(0));
    match recorded {
        // Nobody wrote its end yet: this is it.
        None => {
            let started = row.updated;
            let counts = evidence.outcome != Outcome::NotSent;
            row.end(evidence.outcome, settled, counts, now);
            let ended = Ended {
                row: row.id,
                number: evidence.attempt,
                worker: evidence.worker,
                generation: row.generation,
                started,
                at: now,
                phase: evidence.phase,
                outcome: evidence.outcome,
                blame: Blame::Row,
                code,
                enhanced: "",
                reply: &evidence.reply,
                note: "",
                review: false,
                template: 0,
            };
            attempts::insert(tx, &[ended]).await?;
        }
        Some(recorded) => {
            if recorded.unknown {
                row.unknown_attempts -= 1;
            }
            row.settle(settled, None, now);
        }
    }
    evidence.phase.as_str().clone_into(&mut row.phase);
    row.code = code;
    row.enhanced = String::new();
    let mut moves = Moves::default();
    moves.moved(row.batch, &before, &row.seen());
    delivery::write(tx, &[row]).await?;
    moves::write(tx, moves::OPS, &moves).await
}

/// Reports whether this very evidence was kept before.
async fn is_known(tx: &mut Tx, evidence: &Evidence) -> Result<bool, LedgerError> {
    let sql = "select count(*) from evidence
                where row = ? and attempt = ? and worker = ? and source = ? and outcome = ?";
    let found = tx
        .query(sql)
        .bind(evidence.row)
        .bind(evidence.attempt)
        .bind(evidence.worker)
        .bind(evidence.source.as_str())
        .bind(evidence.outcome)
        .fetch_one()
        .await?;
    Ok(found.int(0)? > 0)
}

async fn recorded(tx: &mut Tx, evidence: &Evidence) -> Result<Option<Recorded>, LedgerError> {
    // What is kept of an attempt is never changed: that its end became known is in the evidence.
    let sql = "select a.generation, a.outcome,
                      (select count(*) from evidence e
                        where e.row = a.row and e.attempt = a.number and e.became = 'settled')
                 from attempt a where a.row = ? and a.number = ?";
    let found = tx.query(sql).bind(evidence.row).bind(evidence.attempt).fetch_optional().await?;
    let Some(found) = found else { return Ok(None) };
    let was_unknown = found.text(1)? == Outcome::Unknown(Cause::NoAnswer).as_str();
    let unknown = was_unknown && found.int(2)? == 0;
    Ok(Some(Recorded { generation: Generation(found.int(0)?), unknown }))
}

/// Reports whether a person has decided about the row since that attempt was given up.
async fn decided(tx: &mut Tx, row: &Delivery, attempt: Attempt) -> Result<bool, LedgerError> {
    if row.how == Some(How::Operator) {
        return Ok(true);
    }
    super::settle::decided_since(tx, row.id, attempt, row.generation).await
}
