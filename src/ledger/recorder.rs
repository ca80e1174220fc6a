//! Group commit: all starts and finishes of a worker that wait are written in one transaction.
//!
//! Promise: a group is written whole and durable or not at all; an answer is given for what matched,
//! never for what was asked; a commit whose acknowledgement was lost is looked up under locks, never
//! guessed. Every group is also the worker's heartbeat and is refused to a worker that was swept.
//! Absent on purpose: gathering and waiting; the engine does that.

use crate::domain::id::{Attempt, BatchId, RecipientId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::settle::Settled;
use crate::domain::time::Timestamp;

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
    /// One request cannot be written by itself; the others were not written either. Hand them in
    /// again without it.
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
    _ledger: Ledger,
    _me: Registered,
}

impl Recorder {
    pub const fn new(ledger: Ledger, me: Registered) -> Self {
        Self { _ledger: ledger, _me: me }
    }

    /// Writes `group` in one transaction and answers each step, in order.
    ///
    /// An empty group is the heartbeat of an idle worker. `now` is for people only.
    pub async fn write(
        &mut self,
        _group: &[Step],
        _now: Timestamp,
    ) -> Result<Vec<Answer>, RecordError> {
        todo!()
    }
}
