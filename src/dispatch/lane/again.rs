//! Repeats a call whose answer nobody saw, with the same key, while the provider remembers the key.
//!
//! Promise: the row stays `sending` under its one attempt all the while, so whatever ends this
//! process leaves it unknown and never ready; only an answer that decides replaces the unknown.

use std::time::Duration;

use crate::domain::http::repeatable_until;
use crate::domain::outcome::Outcome;
use crate::domain::smtp::Event;
use crate::domain::time::Timestamp;
use crate::transport::{Connection, Ended};

use super::super::hands::Job;
use super::super::prepare::Prepared;
use super::notes::Notes;
use super::{Lane, Line};

/// Before the first repetition, then longer and longer.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_mins(1);

impl Lane {
    /// Calls again until there is an answer, the kind's tries are used up or the key's time is
    /// over; then the policy decides as it would have after the first call.
    pub(super) async fn repeat(
        &self,
        line: &mut Line,
        prepared: &Prepared,
        job: &Job,
        first_started: Timestamp,
        notes: &Notes<'_>,
        mut ended: Ended,
    ) -> Ended {
        let route = &self.route.settings.route;
        let Some(window) = route.remembers_keys_for() else { return ended };
        let until = repeatable_until(first_started, window);
        let mut wait = FIRST.min(job.served.frozen.retry.first);
        for _ in 1..job.served.frozen.retry.attempts {
            let is_unknown = matches!(ended.verdict.outcome, Outcome::Unknown(_));
            if !is_unknown || ended.event == Event::Cancelled {
                break;
            }
            let pause = wait.max(ended.verdict.not_before.unwrap_or_default().min(LONGEST));
            if self.shift.clock.now() + pause >= until {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.shift.shutdown.draining() => break,
            }
            if let Ok(connection) = Connection::open(route).await {
                line.connection = connection;
                let again = self.call_again(line, prepared, notes).await;
                match again.verdict.outcome {
                    Outcome::Accepted | Outcome::Unknown(_) => ended = again,
                    Outcome::Refused if again.verdict.suspect.is_none() => ended = again,
                    // It says nothing about the call before.
                    Outcome::Refused | Outcome::Deferred | Outcome::NotSent => {}
                }
            }
            wait = (wait * 2).min(LONGEST);
        }
        ended
    }

    async fn call_again(&self, line: &mut Line, prepared: &Prepared, notes: &Notes<'_>) -> Ended {
        let Prepared { envelope, content, .. } = prepared;
        match line.connection.offer(envelope, content, notes).await {
            Ok(()) => self.hand_over(line, prepared, notes).await,
            Err(ended) => ended,
        }
    }
}
