//! Breakers B1 to B4 of one batch, in one worker.

use std::collections::VecDeque;

use super::stubborn::Stubborn;
use super::suspects::Suspects;
use super::{Limits, Reason, Ruling, Seen};
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::smtp::{Pause, Suspect};

/// Breakers B1 to B4 of one batch, in one worker; made anew when the batch is resumed.
#[derive(Clone, Debug)]
pub struct BatchBreakers {
    limits: Limits,
    suspects: Suspects,
    stubborn: Stubborn,
    quality: Quality,
}

impl BatchBreakers {
    pub fn new(limits: Limits) -> Self {
        let (suspects, stubborn) = (Suspects::default(), Stubborn::default());
        Self { limits, suspects, stubborn, quality: Quality::default() }
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
        match verdict.pause {
            // Others with the same content went through: it is this one that is too big.
            Some(Pause::Size) if self.suspects.proved => {
                let verdict = verdict.but_suspect(Suspect::Content);
                let ruling = self.see(Seen { verdict: &verdict, ..seen });
                return Ruling { verdict: ruling.verdict.or(Some(verdict)), ..ruling };
            }
            Some(why) => {
                return Ruling { pause: Some(Reason::at_once(why, seen)), ..Ruling::default() };
            }
            None => {}
        }
        if let Some(kind) = verdict.suspect {
            return self.suspects.refused(kind, seen, self.limits);
        }
        match verdict.outcome {
            Outcome::Accepted => {
                self.quality.note(Quality::GOOD, self.limits);
                self.stubborn.accepted();
                Ruling { fail: self.suspects.accepted(self.limits), ..Ruling::default() }
            }
            Outcome::Refused if verdict.blame == Blame::Row => {
                self.quality.note(Quality::BAD, self.limits);
                Ruling { pause: self.quality.reason(seen, self.limits), ..Ruling::default() }
            }
            Outcome::Deferred | Outcome::NotSent => {
                let proved = self.suspects.proved;
                let verdict = self.stubborn.broke(seen, proved, self.limits);
                Ruling { verdict, ..Ruling::default() }
            }
            Outcome::Refused | Outcome::Unknown(_) => Ruling::default(),
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
