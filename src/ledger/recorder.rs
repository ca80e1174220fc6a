//! Group commit: all starts and finishes of a worker that wait are written in one transaction.
//!
//! Promise: a group is written whole and durable or not at all; an answer is given for what matched,
//! never for what was asked; a commit whose acknowledgement was lost is looked up under locks, never
//! guessed. Every group is also the worker's heartbeat and is refused to a worker that was swept.
//! Absent on purpose: gathering and waiting; the engine does that.
//! Start reading at `careful`, which says what a group does; `sqlite`, `postgres` and `mariadb` do the
//! same in one go for the usual case and give up on anything else.

mod alike;
mod careful;
mod mariadb;
mod postgres;
mod sqlite;

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::db::{Dialect, Private, WorkError as _};
use crate::domain::batch::Bucket;
use crate::domain::id::{Attempt, BatchId, Generation, RecipientId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::plan::Seen;
use crate::domain::settle::Settled;
use crate::domain::state::State;
use crate::domain::time::Timestamp;

use super::attempts::Ended;
use super::delivery::{Stored, cause_of};
use super::moves::Moves;
use super::workers::Registered;
use super::{Ledger, LedgerError};

/// One request: the end of the last row of a connection, the start of its next one, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    pub finish: Option<Finish>,
    pub start: Option<Start>,
}

/// `ready → sending`, durable before the first byte of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    pub row: RecipientId,
    pub batch: BatchId,
    /// The new number; the row must stand at the one before.
    pub attempt: Attempt,
    pub at: Timestamp,
    /// What `Claimed::suppression_seen` said.
    pub suppression_seen: i64,
}

/// How a started row ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    pub row: RecipientId,
    pub batch: BatchId,
    pub attempt: Attempt,
    pub started: Timestamp,
    pub ended: Timestamp,
    pub outcome: Outcome,
    /// Where the row goes, decided by `domain::settle`.
    pub settled: Settled,
    /// Whether it counts against `retry.attempts`.
    pub counts: bool,
    pub phase: Phase,
    pub blame: Blame,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    /// The server's own words, whatever bytes they were.
    pub reply: Vec<u8>,
    pub note: Option<String>,
    /// Worth a look by a person.
    pub review: bool,
    /// The version of the batch's template that was sent.
    pub template: i64,
}

impl Finish {
    /// Returns the attempt as it is kept.
    fn ended(&self, me: Registered, generation: Generation) -> Ended<'_> {
        Ended {
            row: self.row,
            number: self.attempt,
            worker: me.worker,
            generation,
            started: self.started,
            at: self.ended,
            phase: self.phase,
            outcome: self.outcome,
            blame: self.blame,
            code: self.code.map_or(0, i64::from),
            enhanced: self.enhanced.as_deref().unwrap_or(""),
            reply: &self.reply,
            note: self.note.as_deref().unwrap_or(""),
            review: self.review,
            template: self.template,
        }
    }
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartAnswer {
    Started {
        first_started: Timestamp,
    },
    /// The batch is paused or cancelled; this worker's unstarted rows of it were given back.
    NotRunning,
    /// Addresses were added to the do-not-send list since the claim; look again.
    SuppressionMoved,
    /// The row is not this worker's any more, or not where it believed.
    Lost,
}

/// What became of a finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishAnswer {
    Recorded,
    /// The row was decided by somebody else; what is known belongs into `evidence`.
    Lost,
}

/// The answers to one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub finish: Option<FinishAnswer>,
    pub start: Option<StartAnswer>,
}

/// Why a group was not written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The worker was swept: nothing was written, nothing more may be sent.
    #[error("this worker was taken for lost")]
    Fenced,
    /// The ledger cannot be reached. Whether the group was written is not known: hand the same
    /// group in again.
    #[error("the ledger is away")]
    Away(#[source] LedgerError),
    /// One request cannot be written; others of the group may be. Hand the group in again without
    /// it.
    #[error("request {index} cannot be written")]
    Unwritable {
        index: usize,
        #[source]
        source: LedgerError,
    },
}

/// Writes one worker's groups, over a connection of its own.
#[derive(Debug)]
pub struct Recorder {
    ledger: Ledger,
    me: Registered,
    conn: Option<Private>,
}

/// How a group fared in the database.
#[derive(Debug)]
enum Written {
    Fenced,
    Answers(Vec<Answer>),
}

/// How often a group is repeated when somebody else was in the way.
const BUSY_TRIES: u32 = 10;

impl Recorder {
    pub const fn new(ledger: Ledger, me: Registered) -> Self {
        Self { ledger, me, conn: None }
    }

    /// Writes `group` in one transaction and answers each step, in order.
    ///
    /// An empty group is the heartbeat of an idle worker. `now` is for people only.
    ///
    /// A group may be handed in again whatever became of it: what is written already is found by
    /// its receipt, which is the attempt for a finish, and `sending` with this attempt and worker
    /// for a start.
    pub async fn write(
        &mut self,
        group: &[Step],
        now: Timestamp,
    ) -> Result<Vec<Answer>, RecordError> {
        let answers = match self.whole(group, now).await {
            Err(RecordError::Unwritable { .. }) if group.len() > 1 => {
                self.one_by_one(group, now).await?
            }
            done => done?,
        };
        self.clear_cancelled(group, now).await?;
        Ok(answers)
    }

    /// Writes a group as one, over a new connection if the old one broke.
    async fn whole(&mut self, group: &[Step], now: Timestamp) -> Result<Vec<Answer>, RecordError> {
        let (mut busy, mut broken) = (0, 0);
        loop {
            let err = match self.once(group, now).await {
                Ok(Written::Answers(answers)) => return Ok(answers),
                Ok(Written::Fenced) => return Err(RecordError::Fenced),
                Err(err) => err,
            };
            if err.is_about_value() {
                return Err(RecordError::Unwritable { index: 0, source: err });
            }
            if err.is_busy() && busy < BUSY_TRIES {
                busy += 1;
                sleep(Duration::from_millis(fastrand::u64(1..=5) << busy.min(6))).await;
            } else if broken == 0 {
                // Nobody knows whether it was written: the same group again finds out.
                broken += 1;
            } else {
                return Err(RecordError::Away(err));
            }
        }
    }

    async fn once(&mut self, group: &[Step], now: Timestamp) -> Result<Written, LedgerError> {
        // Longer than this and the worker counts as lost anyway.
        let patience = self.ledger.location().lost_after / 2;
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => timeout(patience, open(&self.ledger)).await.map_err(LedgerError::slow)??,
        };
        let written = timeout(patience, write(&mut conn, self.me, group, now)).await;
        match written {
            Ok(Ok(written)) => {
                self.conn = Some(conn);
                Ok(written)
            }
            Ok(Err(err)) => {
                // After any doubt the connection is closed: an open transaction on it would hold
                // locks, and its next `begin` would commit half a group on MariaDB.
                if timeout(patience, conn.rollback()).await.is_ok_and(|done| done.is_ok()) {
                    self.conn = Some(conn);
                }
                Err(err)
            }
            Err(slow) => Err(LedgerError::slow(slow)),
        }
    }

    /// Finds the request that cannot be written; the others are.
    async fn one_by_one(
        &mut self,
        group: &[Step],
        now: Timestamp,
    ) -> Result<Vec<Answer>, RecordError> {
        let mut answers = Vec::with_capacity(group.len());
        let mut bad = None;
        for (index, step) in group.iter().enumerate() {
            match self.whole(std::slice::from_ref(step), now).await {
                Ok(one) => answers.extend(one),
                Err(RecordError::Unwritable { source, .. }) => bad = Some((index, source)),
                Err(err) => return Err(err),
            }
        }
        match bad {
            Some((index, source)) => Err(RecordError::Unwritable { index, source }),
            None => Ok(answers),
        }
    }

    /// Ends rows that were put off after their batch was cancelled; nothing else would.
    async fn clear_cancelled(&self, group: &[Step], now: Timestamp) -> Result<(), RecordError> {
        let mut batches: Vec<BatchId> = group
            .iter()
            .filter_map(|step| step.finish.as_ref())
            .filter(|finish| matches!(finish.settled, Settled::Ready { .. }))
            .map(|finish| finish.batch)
            .collect();
        batches.sort_unstable();
        batches.dedup();
        self.ledger.clear_cancelled(&batches, now).await.map_err(RecordError::Away)
    }
}

async fn open(ledger: &Ledger) -> Result<Private, LedgerError> {
    let mut conn = ledger.db.private().await?;
    conn.settle_plans().await?;
    Ok(conn)
}

/// Writes a group in the way that is fastest on its engine, and carefully if that did not fit.
async fn write(
    conn: &mut Private,
    me: Registered,
    group: &[Step],
    now: Timestamp,
) -> Result<Written, LedgerError> {
    if group.is_empty() {
        return careful::write(conn, me, group, now).await;
    }
    let fast = match conn.dialect() {
        Dialect::Sqlite => sqlite::write(conn, me, group, now).await?,
        Dialect::Postgres => postgres::write(conn, me, group, now).await?,
        Dialect::MariaDb => mariadb::write(conn, me, group, now).await?,
    };
    match fast {
        Some(answers) => Ok(Written::Answers(answers)),
        None => careful::write(conn, me, group, now).await,
    }
}

/// What a group adds to the counters if every row of it matches and none has unknown attempts.
fn moves(finishes: &[&Finish], starts: &[&Start]) -> Moves {
    let ready = Seen {
        state: State::Ready,
        how: None,
        flag: None,
        held: true,
        unknown_attempts: 0,
        handed_again: false,
    };
    let sending = Seen { state: State::Sending, ..ready };
    let mut moves = Moves::default();
    for finish in finishes {
        let Stored { state, how, flag, .. } = Stored::of(finish.settled);
        let unknown_attempts = i64::from(cause_of(finish.outcome).is_some());
        let ended = Seen { state, how, flag, held: false, unknown_attempts, handed_again: false };
        moves.moved(finish.batch, &sending, &ended);
    }
    for start in starts {
        moves.moved(start.batch, &ready, &sending);
        moves.add(start.batch, Bucket::Attempts, 1);
    }
    moves
}

/// The answers to a group of which every request was written.
fn answers(steps: &[Step], first_started: &HashMap<i64, Timestamp>) -> Vec<Answer> {
    let answer = |step: &Step| Answer {
        finish: step.finish.as_ref().map(|_| FinishAnswer::Recorded),
        start: step.start.as_ref().and_then(|start| {
            let first_started = *first_started.get(&start.row.0)?;
            Some(StartAnswer::Started { first_started })
        }),
    };
    steps.iter().map(answer).collect()
}
