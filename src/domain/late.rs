//! What an answer means that came after its worker was given up.

use super::id::{Attempt, Generation};
use super::outcome::Outcome;
use super::settle::Settled;
use super::state::{How, State};
use super::time::Timestamp;

/// The row as it stands when the evidence arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub state: State,
    pub how: Option<How>,
    /// Flagged as unknown.
    pub unknown: bool,
    pub attempt: Attempt,
    pub generation: Generation,
    /// Attempts of this generation without a known end.
    pub unknown_attempts: i64,
    /// A person marked or resent the row after the attempt was given up.
    pub decided: bool,
    /// `retry.attempts` is used up.
    pub used_up: bool,
}

/// What was learned about one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    pub attempt: Attempt,
    pub generation: Generation,
    pub outcome: Outcome,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The row becomes this; the attempt is no longer an unknown one.
    Settles(Settled),
    /// It is only kept.
    Keep,
    /// It is kept, and shown because it contradicts the row.
    Conflict,
}

impl Late {
    /// Returns the word stored as `evidence.became`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settles(_) => "settled",
            Self::Keep => "kept",
            Self::Conflict => "conflict",
        }
    }
}

/// Decides what late evidence makes of a row; `due` is when it may go out again if it has to.
pub fn weigh(_row: &Standing, _learned: &Learned, _due: Timestamp) -> Late {
    todo!()
}
