//! Stops a send before it does harm, and says why in words a person understands.
//!
//! Promise: a breaker fails nobody; rows stay ready while a person looks.
//! Absent on purpose: no counters in a database, no pausing; the caller acts on what is returned.

use super::id::{Attempt, RecipientId};
use super::outcome::Phase;
use super::retry::Jitter;
use super::smtp::Verdict;
use super::state::words;
use super::time::Timestamp;

words! {
    /// The seven breakers.
    Breaker {
        /// B1: the login was refused.
        Credential = "credential",
        /// B2: the sender was refused.
        Sender = "sender",
        /// B3: the content was refused.
        Content = "content",
        /// B4: too many bad addresses.
        ListQuality = "list_quality",
        /// B5: the route cannot be used.
        Endpoint = "endpoint",
        /// B6: too many unknown outcomes in a row.
        Unknowns = "unknowns",
        /// B7: the ledger cannot be written.
        Ledger = "ledger",
    }
}

/// Why something paused, for a person at three in the morning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub breaker: Breaker,
    /// What happened and how often.
    pub happened: String,
    /// The server's own words, made safe to show.
    pub reply: Option<String>,
    /// What it means for the mails.
    pub means: String,
    /// What to do.
    pub advice: String,
}

/// Limits of the breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Suspect refusals in a row that pause the batch (B2, B3).
    pub suspects: usize,
    /// Accepted messages in between that clear a suspect refusal.
    pub cleared_by: usize,
    /// The window of B4 in attempts.
    pub window: usize,
    /// The share of refused recipients in that window, in percent.
    pub bad_share: usize,
    /// Failures in a row after which a route counts as away (B5).
    pub endpoint: i64,
    /// Unknown outcomes in a row that pause the route (B6).
    pub unknowns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { suspects: 3, cleared_by: 3, window: 200, bad_share: 10, endpoint: 3, unknowns: 3 }
    }
}

/// One ended attempt as the breakers see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub phase: Phase,
    pub verdict: &'a Verdict,
    /// The server's own words, or what we saw instead.
    pub words: &'a str,
}

/// What the batch's breakers decide after an ended attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Pause the batch for this reason; suspect rows stay ready.
    pub pause: Option<Reason>,
    /// Suspect rows that were no false alarm: they fail now (refused), if they stand at that attempt.
    pub fail: Vec<(RecipientId, Attempt)>,
}

/// Breakers B1 to B4 of one batch, in one worker.
#[derive(Clone, Debug)]
pub struct BatchBreakers {
    #[expect(dead_code, reason = "filled in next")]
    limits: Limits,
}

impl BatchBreakers {
    pub fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// Looks at one ended attempt.
    pub fn see(&mut self, _seen: Seen<'_>) -> Ruling {
        todo!()
    }
}

/// Breaker B6 of one route, in one worker: pauses the route.
#[derive(Clone, Debug)]
pub struct UnknownRun {
    #[expect(dead_code, reason = "filled in next")]
    limits: Limits,
}

impl UnknownRun {
    pub fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// Looks at one ended attempt; returns the reason when the route has to pause.
    pub fn see(&mut self, _route: &str, _seen: Seen<'_>) -> Option<Reason> {
        todo!()
    }
}

/// What all workers share about a route (B5), as the `endpoint` row keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    pub failures: i64,
    /// Nothing is sent before this time, except by the one probe after it.
    pub open_until: Option<Timestamp>,
}

/// What a worker may do with a route now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Free,
    /// Only the one worker that takes the probe may try.
    Probe,
    Wait(Timestamp),
}

impl Endpoint {
    /// Returns what may be done at `now`.
    pub fn way(&self, _now: Timestamp) -> Way {
        todo!()
    }

    /// Returns the state after a failure of the route or of a connection over it.
    #[must_use]
    pub fn failed(
        &self,
        _verdict: &Verdict,
        _limits: Limits,
        _now: Timestamp,
        _jitter: Jitter,
    ) -> Self {
        todo!()
    }

    /// Returns the reason to show, once the route counts as away.
    pub fn reason(&self, _route: &str, _limits: Limits, _words: &str) -> Option<Reason> {
        todo!()
    }
}

/// Returns the reason of B7: the ledger could not be written, so nothing new is sent.
pub fn ledger_reason(_error: &str) -> Reason {
    todo!()
}
