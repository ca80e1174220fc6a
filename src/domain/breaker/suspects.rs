//! Refusals that may be our own fault (B2, B3): kept apart until it is clear whose they are.

use super::{Limits, Reason, Ruling, Seen};
use crate::domain::id::{Attempt, RecipientId};
use crate::domain::smtp::Suspect;

/// Suspect refusals that are not decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects {
    held: Vec<Held>,
    /// The batch has had a message accepted, so sender and content are not bad as such.
    pub(super) proved: bool,
}

/// One row that was refused for a suspect reason and is ready again.
#[derive(Clone, Copy, Debug)]
struct Held {
    row: RecipientId,
    attempt: Attempt,
    kind: Suspect,
    /// How often it was refused so.
    times: usize,
    /// Messages accepted since the first time.
    accepted_since: usize,
}

impl Suspects {
    /// Takes one more refusal; recipients count towards a pause, not attempts.
    pub(super) fn refused(&mut self, kind: Suspect, seen: Seen<'_>, limits: Limits) -> Ruling {
        let before = self.held.iter().position(|held| held.row == seen.row);
        let before = before.map(|at| self.held.remove(at));
        let held = Held {
            row: seen.row,
            attempt: seen.attempt,
            kind,
            times: before.map_or(0, |held| held.times) + 1,
            accepted_since: before.map_or(0, |held| held.accepted_since),
        };
        // Refused again while others went through, or again and again at the end of a list whose
        // other messages went through: it is this recipient.
        let last_one = self.proved && held.times >= limits.suspects;
        if before.is_some() && (held.accepted_since > 0 || last_one) {
            return Ruling { verdict: Some(seen.verdict.believed()), ..Ruling::default() };
        }
        self.held.push(held);
        let in_a_row = self.held.iter().filter(|h| h.kind == kind && h.accepted_since == 0);
        let rows = in_a_row.count();
        // A batch so small that it never gets three recipients together must not wait for ever.
        if rows < limits.suspects && (self.proved || held.times < limits.suspects) {
            return Ruling::default();
        }
        let reason = Reason::suspects(kind, rows, held.times, seen);
        self.held.clear();
        Ruling { pause: Some(reason), ..Ruling::default() }
    }

    /// Takes one acceptance; returns the rows whose refusals are believed now.
    pub(super) fn accepted(&mut self, limits: Limits) -> Vec<(RecipientId, Attempt)> {
        self.proved = true;
        for held in &mut self.held {
            held.accepted_since += 1;
        }
        let believed = self.held.extract_if(.., |held| held.accepted_since >= limits.cleared_by);
        believed.map(|held| (held.row, held.attempt)).collect()
    }
}
