//! How far a hand-over got, as the step file says after its worker's death.

use super::outcome::Outcome;
use super::smtp::ReplyCode;

/// A step of a hand-over; noted *before* it is taken, an answer right after it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The start marker is written; nothing of this row is on the wire.
    Started,
    Rcpt,
    Data,
    /// The last byte of the body is about to be written, or was; the dot may follow at any moment.
    BodyComplete,
    /// The first byte of the final dot is about to be written, or was.
    Dot,
    /// The complete answer to the dot was read.
    Answered(ReplyCode),
}

/// What is known about a hand-over whose worker is gone, in one of three words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Known {
    NotSent,
    Accepted,
    Unknown,
}

impl Known {
    /// Returns the word that `ittsu unknown --json` prints as the verdict.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotSent => "not_sent",
            Self::Accepted => "accepted",
            Self::Unknown => "unknown",
        }
    }
}

impl Step {
    /// Packs the step for the step file.
    pub fn to_bytes(self) -> [u8; 8] {
        todo!()
    }

    /// Reads a packed step; anything else is `None`.
    pub fn from_bytes(_bytes: [u8; 8]) -> Option<Self> {
        todo!()
    }
}

/// Returns what a dead worker's last note proves about its attempt; no note proves nothing.
pub fn outcome_of_step(_last: Option<Step>) -> Outcome {
    todo!()
}

/// Returns the same in the three words shown to people.
pub fn verdict_of_step(_last: Option<Step>) -> Known {
    todo!()
}
