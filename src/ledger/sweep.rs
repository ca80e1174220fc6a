//! What happens to the rows of a worker that is gone.
//!
//! Promise: a sweep is one transaction that first fences the worker. Either the worker's last group
//! was before it and is seen, or it comes after and writes nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::db::Tx;
use crate::domain::id::{Attempt, BatchId, RecipientId, WorkerId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::retry::Jitter;
use crate::domain::settle::{Behind, Lost, Rules, Settled, settle_swept};
use crate::domain::state::State;
use crate::domain::step::{Step, outcome_of_step};
use crate::domain::time::Timestamp;
use crate::domain::watch::Proof;

use super::attempts::{self, Ended};
use super::batches::Frozen;
use super::delivery::{self, Delivery, cause_of};
use super::evidence::{self, Line, Seen};
use super::moves::{self, Moves};
use super::workers::{self, LostHow};
use super::{Ledger, LedgerError, claims};

/// What the dead worker's step file says about one hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepFileEntry {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub step: Step,
}

/// Whom to sweep, and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Victim {
    pub worker: WorkerId,
    /// The beat that was watched; if it moved, the worker lives.
    pub beat: i64,
    pub proof: Proof,
    /// Empty unless the step file is of this machine and boot.
    pub steps: Vec<StepFileEntry>,
    /// The longest time from start to answer: the deadlines `data`, `body` and `answer` together.
    pub answer_within: Duration,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Rows that were reserved only and are free again.
    pub freed: i64,
    /// Each row that was `sending`, and what it became.
    pub settled: Vec<(RecipientId, Settled)>,
}

impl Ledger {
    /// Sweeps a worker; `None` if its beat has moved or somebody else swept it.
    ///
    /// `jitter` spreads the next tries.
    pub async fn sweep(
        &self,
        victim: Victim,
        jitter: Jitter,
        now: Timestamp,
    ) -> Result<Option<Swept>, LedgerError> {
        let victim = Arc::new(victim);
        let swept = self
            .db
            .write(move |tx| {
                let victim = Arc::clone(&victim);
                Box::pin(async move { sweep(tx, &victim, jitter, now).await })
            })
            .await?;
        let Some((swept, batches)) = swept else { return Ok(None) };
        self.clear_cancelled(&batches, now).await?;
        Ok(Some(swept))
    }
}

/// Returns the settings of a batch that decide what an end makes of a row.
pub(super) async fn rules_of(tx: &mut Tx, batch: BatchId) -> Result<Rules, LedgerError> {
    let row = tx.query("select settings from batch where id = ?").bind(batch).fetch_one().await?;
    let text = row.text(0)?;
    let frozen = Frozen::from_json(&text)
        .map_err(|err| LedgerError::Nonsense { what: "setting", word: err.to_string() })?;
    Ok(frozen.rules())
}

async fn sweep(
    tx: &mut Tx,
    victim: &Victim,
    jitter: Jitter,
    now: Timestamp,
) -> Result<Option<(Swept, Vec<BatchId>)>, LedgerError> {
    if !fence(tx, victim, now).await? {
        return Ok(None);
    }
    let rows = claims::rows_of(tx, victim.worker, None).await?;
    let (reserved, started): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| row.state == State::Ready);
    let mut batches: Vec<BatchId> = reserved.iter().chain(&started).map(|row| row.batch).collect();
    batches.sort_unstable();
    batches.dedup();
    let freed = claims::free(tx, reserved, now).await?;
    let settled = settle(tx, victim, started, jitter, now).await?;
    workers::let_go(tx, victim.worker, now).await?;
    Ok(Some((Swept { freed, settled }, batches)))
}

/// Closes the worker for ever, if its beat is still the one that was watched.
async fn fence(tx: &mut Tx, victim: &Victim, now: Timestamp) -> Result<bool, LedgerError> {
    let (how, late_until) = match victim.proof {
        Proof::ProcessGone => (LostHow::Gone, None),
        Proof::Silent => (LostHow::Silent, Some(now + victim.answer_within)),
    };
    let sql = "update worker set lost_at = ?, lost_how = ?, late_until = ?
                where id = ? and lost_at is null and beat = ?";
    let done = tx
        .query(sql)
        .bind(now)
        .bind(how.as_str())
        .bind(late_until)
        .bind(victim.worker)
        .bind(victim.beat)
        .execute()
        .await?;
    Ok(done == 1)
}

/// Ends the attempts that were under way, by what the step file proves or by the batch's policy.
async fn settle(
    tx: &mut Tx,
    victim: &Victim,
    mut rows: Vec<Delivery>,
    jitter: Jitter,
    now: Timestamp,
) -> Result<Vec<(RecipientId, Settled)>, LedgerError> {
    let mut rules: HashMap<BatchId, Rules> = HashMap::new();
    let mut moves = Moves::default();
    let mut settled = Vec::with_capacity(rows.len());
    for row in &mut rows {
        let rules = match rules.get(&row.batch) {
            Some(&rules) => rules,
            None => *rules.entry(row.batch).or_insert(rules_of(tx, row.batch).await?),
        };
        let step = victim
            .steps
            .iter()
            .rfind(|entry| entry.row == row.id && entry.attempt == row.attempt)
            .map(|entry| entry.step);
        let before = row.seen();
        let became = settle_one(tx, victim, row, step, &rules, jitter, now).await?;
        moves.moved(row.batch, &before, &row.seen());
        settled.push((row.id, became));
    }
    delivery::write(tx, &rows.iter().collect::<Vec<_>>()).await?;
    let row = tx.query("select slot from worker where id = ?").bind(victim.worker);
    let slot = row.fetch_one().await?.int(0)?;
    moves::write(tx, slot, &moves).await?;
    Ok(settled)
}

async fn settle_one(
    tx: &mut Tx,
    victim: &Victim,
    row: &mut Delivery,
    step: Option<Step>,
    rules: &Rules,
    jitter: Jitter,
    now: Timestamp,
) -> Result<Settled, LedgerError> {
    let outcome = outcome_of_step(step);
    // The start was the last thing that was written to this row.
    let started = row.updated;
    let lost = Lost { proof: victim.proof, started, answer_within: victim.answer_within };
    let behind = Behind { tries: row.tries, unknown_attempts: row.unknown_attempts };
    let settled = settle_swept(now, outcome, lost, rules, behind, jitter);
    let (phase, code) = phase_of(step);
    row.end(outcome, settled, outcome != Outcome::NotSent, now);
    phase.as_str().clone_into(&mut row.phase);
    row.code = code;
    let ended = Ended {
        row: row.id,
        number: row.attempt,
        worker: victim.worker,
        generation: row.generation,
        started,
        at: now,
        phase,
        outcome,
        blame: Blame::Connection,
        code,
        enhanced: "",
        reply: b"",
        note: step.map_or("its worker is gone", Step::as_str),
        review: false,
        template: 0,
    };
    attempts::insert(tx, &[ended]).await?;
    if let Some(step) = step {
        let line = Line {
            row: row.id,
            attempt: row.attempt,
            generation: row.generation,
            worker: victim.worker,
            source: Seen::StepFile,
            outcome,
            code,
            reply: step.as_str().as_bytes(),
            became: if cause_of(outcome).is_none() { "settled" } else { "kept" },
        };
        evidence::keep(tx, &line, now).await?;
    }
    Ok(settled)
}

/// Returns how far the hand-over got, and the code of the answer if one was seen.
const fn phase_of(step: Option<Step>) -> (Phase, i64) {
    match step {
        Some(Step::Started) => (Phase::Mail, 0),
        Some(Step::Rcpt) => (Phase::Rcpt, 0),
        Some(Step::Data) => (Phase::Data, 0),
        Some(Step::BodyComplete) => (Phase::Body, 0),
        Some(Step::Answered(reply)) => (Phase::Dot, reply.code as i64),
        Some(Step::Judged { status, .. }) => (Phase::Request, status as i64),
        Some(Step::Dot) | None => (Phase::Dot, 0),
    }
}
