//! What concerns a whole route: is it away (B5), and does it still answer (B6).

use std::time::Duration;

use super::{Limits, Reason, Seen};
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::retry::Jitter;
use crate::domain::smtp::Verdict;
use crate::domain::time::Timestamp;

/// What all workers share about a route (B5), as the `endpoint` row keeps it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Failures in a row; a message that went through sets it to 0.
    pub failures: i64,
    /// Nothing is sent before this time; after it one worker tries, until a message went through.
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
    pub fn way(&self, now: Timestamp) -> Way {
        match self.open_until {
            Some(until) if now < until => Way::Wait(until),
            Some(_) => Way::Probe,
            None => Way::Free,
        }
    }

    /// Returns the state after a failure of the route, or of a connection over it.
    ///
    /// A failure that blames the endpoint makes everybody wait at once. One that blames only its
    /// connection does so when it repeats; a connection that had carried messages before and was
    /// closed by the server (idle, or after its share of messages) is no failure at all, do not
    /// hand it in.
    #[must_use]
    pub fn failed(
        &self,
        now: Timestamp,
        verdict: &Verdict,
        limits: Limits,
        jitter: Jitter,
    ) -> Self {
        let failures = self.failures.saturating_add(1);
        if verdict.blame != Blame::Endpoint && !limits.endpoint.is_used_up(failures) {
            return Self { failures, ..*self };
        }
        let asked = match verdict.blame {
            Blame::Endpoint => verdict.not_before.unwrap_or_default(),
            Blame::Row | Blame::Connection | Blame::Batch => Duration::ZERO,
        };
        let wait = limits.endpoint.wait(failures, jitter).max(asked.min(limits.longest_asked));
        let until = now + wait;
        Self { failures, open_until: Some(self.open_until.map_or(until, |old| old.max(until))) }
    }

    /// Returns the reason to show once the route counts as away; `last` is what was seen last.
    pub fn reason(&self, route: &str, limits: Limits, last: &str) -> Option<Reason> {
        let away = limits.endpoint.is_used_up(self.failures);
        away.then(|| Reason::endpoint(route, self.failures, last))
    }
}

/// B6 of one route, in one worker: pauses what goes over the route when nothing is answered.
#[derive(Clone, Debug)]
pub struct UnknownRun {
    limits: Limits,
    in_a_row: usize,
}

impl UnknownRun {
    pub fn new(limits: Limits) -> Self {
        Self { limits, in_a_row: 0 }
    }

    /// Looks at one ended attempt; returns the reason when the route has to pause.
    pub fn see(&mut self, seen: Seen<'_>) -> Option<Reason> {
        match seen.verdict.outcome {
            Outcome::Unknown(_) => self.in_a_row += 1,
            Outcome::Accepted | Outcome::Refused | Outcome::Deferred => self.in_a_row = 0,
            // It says nothing about whether the route answers.
            Outcome::NotSent => {}
        }
        if self.in_a_row < self.limits.unknowns {
            return None;
        }
        let reason = Reason::unknowns(self.in_a_row, seen);
        self.in_a_row = 0;
        Some(reason)
    }
}
