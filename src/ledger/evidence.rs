//! What was learned late or elsewhere about an attempt.
//!
//! Promise: it is kept whatever it says, and settles a row only by the rules of `domain::late`, in
//! the same transaction.

use crate::domain::id::{Attempt, Generation, RecipientId, WorkerId};
use crate::domain::late::Late;
use crate::domain::outcome::Outcome;
use crate::domain::time::Timestamp;

use super::{Ledger, LedgerError};

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The answer came after the worker was given up.
    LateAnswer,
    /// The ledger was away; the answer was kept in a file.
    OutcomeFile,
    /// The step file of a dead worker.
    StepFile,
}

/// One thing that was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub worker: WorkerId,
    pub source: Seen,
    pub outcome: Outcome,
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
    pub outcome: Outcome,
    pub code: i64,
    pub reply: Vec<u8>,
    pub at: Timestamp,
    /// `settled`, `kept` or `conflict`.
    pub became: String,
}

impl Ledger {
    /// Keeps what was learned and lets it settle the row if it may.
    pub async fn learn(&self, _evidence: Evidence, _now: Timestamp) -> Result<Late, LedgerError> {
        todo!()
    }

    /// Returns what is known beside the attempts of a row, the oldest first.
    pub async fn evidence(&self, _row: RecipientId) -> Result<Vec<Kept>, LedgerError> {
        todo!()
    }
}
