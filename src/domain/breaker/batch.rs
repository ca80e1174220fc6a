//! Breakers B1 to B4 of one batch, in one worker.

use std::collections::VecDeque;

use super::suspects::Suspects;
use super::{Limits, Reason, Ruling, Seen};
use crate::domain::outcome::{Blame, Outcome};

/// Breakers B1 to B4 of one batch, in one worker; made anew when the batch is resumed.
#[derive(Clone, Debug)]
pub struct BatchBreakers {
    limits: Limits,
    suspects: Suspects,
    quality: Quality,
}

impl BatchBreakers {
    pub fn new(limits: Limits) -> Self {
        Self { limits, suspects: Suspects::default(), quality: Quality::default() }
    }

    /// Says that the batch had messages accepted before this worker took part.
    #[must_use]
    pub fn after_acceptances(mut self) -> Self {
        self.suspects.proved = true;
        self
    }

    /// Looks at one ended attempt.
    pub fn see(&mut self, seen: Seen<'_>) -> Ruling {
        let verdict = seen.verdict;
        if let Some(why) = verdict.pause {
            return Ruling { pause: Some(Reason::at_once(why, seen)), fail: Vec::new() };
        }
        if let Some(kind) = verdict.suspect {
            return self.suspects.refused(kind, seen, self.limits);
        }
        match verdict.outcome {
            Outcome::Accepted => {
                self.quality.note(Quality::GOOD, self.limits);
                Ruling { pause: None, fail: self.suspects.accepted(self.limits) }
            }
            Outcome::Refused if verdict.blame == Blame::Row => {
                self.quality.note(Quality::BAD, self.limits);
                Ruling { pause: self.quality.reason(seen, self.limits), fail: Vec::new() }
            }
            Outcome::Refused | Outcome::Deferred | Outcome::NotSent | Outcome::Unknown(_) => {
                Ruling::default()
            }
        }
    }
}

/// B4: the share of recipients refused for good among the last attempts that had a clear end.
#[derive(Clone, Debug, Default)]
struct Quality {
    /// 1 for each refused recipient, 0 for each accepted message.
    last: VecDeque<usize>,
    bad: usize,
}

impl Quality {
    const GOOD: usize = 0;
    const BAD: usize = 1;

    fn note(&mut self, end: usize, limits: Limits) {
        self.last.push_back(end);
        self.bad += end;
        if self.last.len() > limits.window {
            self.bad -= self.last.pop_front().unwrap_or_default();
        }
    }

    /// Returns the reason once more are bad than the whole window may hold.
    fn reason(&mut self, seen: Seen<'_>, limits: Limits) -> Option<Reason> {
        let allowed = limits.window * limits.bad_share / 100;
        if self.bad <= allowed {
            return None;
        }
        let reason = Reason::list_quality(self.bad, self.last.len(), limits, seen);
        *self = Self::default();
        Some(reason)
    }
}
