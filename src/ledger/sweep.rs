//! What happens to the rows of a worker that is gone.
//!
//! Promise: a sweep is one transaction that first fences the worker. Either the worker's last group
//! was before it and is seen, or it comes after and writes nothing.

use std::time::Duration;

use crate::domain::id::{Attempt, RecipientId, WorkerId};
use crate::domain::settle::Settled;
use crate::domain::step::Step;
use crate::domain::time::Timestamp;
use crate::domain::watch::Proof;

use super::{Ledger, LedgerError};

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
    /// `jitter` is a number from 0 to 1 that spreads the next tries.
    pub async fn sweep(
        &self,
        _victim: Victim,
        _jitter: f64,
        _now: Timestamp,
    ) -> Result<Option<Swept>, LedgerError> {
        todo!()
    }
}
