//! What an ended attempt makes of its row.

use std::time::Duration;

use super::outcome::Outcome;
use super::policy::OnUnknown;
use super::retry::{Jitter, Retry};
use super::smtp::Verdict;
use super::state::{Cause, How, State};
use super::time::Timestamp;
use super::watch::Proof;

/// What a row becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Sent(How),
    Failed(How),
    /// Waits until `due`, then it may be claimed.
    Ready {
        due: Timestamp,
    },
    /// Stays `sending`, flagged, until evidence or a person comes.
    Unknown(Cause),
}

/// The settings of a batch that decide, frozen when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub on_unknown: OnUnknown,
    pub retry: Retry,
}

/// What the row had behind it when this attempt began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Tries that counted, without this one.
    pub tries: i64,
    /// Attempts of this generation without a known end, without this one.
    pub unknown_attempts: i64,
}

/// Returns what the row becomes when its attempt ended with `verdict` in a living worker.
pub fn settle(
    _verdict: &Verdict,
    _rules: &Rules,
    _behind: Behind,
    _now: Timestamp,
    _jitter: Jitter,
) -> Settled {
    todo!()
}

/// How a row's worker was lost, and until when its answer can still come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    pub proof: Proof,
    /// When the attempt was started.
    pub started: Timestamp,
    /// The longest time from start to answer: the deadlines `data`, `body` and `answer` together.
    pub answer_within: Duration,
}

/// Returns what a `sending` row becomes when its worker is swept.
///
/// `outcome` is what the step file proves, else `Unknown(Crash)`.
pub fn settle_swept(
    _outcome: Outcome,
    _lost: Lost,
    _rules: &Rules,
    _behind: Behind,
    _now: Timestamp,
    _jitter: Jitter,
) -> Settled {
    todo!()
}

/// Reports whether a failed row may nevertheless have reached its person (counted apart).
pub const fn is_maybe_delivered(state: State, unknown_attempts: i64) -> bool {
    matches!(state, State::Failed) && unknown_attempts > 0
}
