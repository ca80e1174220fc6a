//! From the end of a hand-over to what is recorded about it.

use std::sync::Arc;

use tokio::time::Instant;

use crate::domain::breaker::Seen;
use crate::domain::id::Attempt;
use crate::domain::outcome::Outcome;
use crate::domain::settle::{Behind, Settled, settle};
use crate::domain::smtp::{Event, Verdict};
use crate::domain::time::Timestamp;
use crate::ledger::recorder::{Finish, FinishAnswer};
use crate::transport::Ended;

use super::super::errand::Errand;
use super::super::hands::Job;
use super::super::outcome_file::Kept;
use super::super::route::{Route, Worn};
use super::super::settings::Until;
use super::super::shift::Shift;
use super::{Flow, Lane, Line, Pending};

impl Lane {
    /// Decides what an ended attempt makes of its row and keeps its end for the next request.
    pub(super) fn conclude(
        &mut self,
        job: &Job,
        attempt: Attempt,
        started: Timestamp,
        ended: &Ended,
        since: Instant,
        worn: Worn,
    ) {
        let now = self.shift.clock.now();
        let served = &job.served;
        let words = ended.event.to_string();
        let verdict = by_rule(&ended.verdict, ended, &served.frozen.retry_refused);
        let verdict = self.look_at(
            job,
            Seen {
                batch: &served.name,
                route: &self.route.name,
                row: job.row.id,
                key: &job.row.key,
                attempt,
                is_fresh: worn == Worn::New
                    && !matches!(ended.event, Event::Cancelled | Event::Fenced),
                phase: ended.phase,
                verdict: &verdict,
                reply: ended.reply.as_ref().map(|_| words.as_str()),
            },
        );
        let behind = Behind { tries: job.row.tries, unknown_attempts: job.row.unknown_attempts };
        let settled = settle(now, &verdict, &served.frozen.rules(), behind, self.shift.jitter());
        self.route.hands().done(served.id, job.row.id);
        self.route.saw(now, ended, worn, self.shift.jitter());
        if ended.event == Event::Cancelled && matches!(verdict.outcome, Outcome::Unknown(_)) {
            self.shift.tally.in_doubt(1);
        }
        let code = match &ended.event {
            Event::Reply(code, _) => Some(*code),
            _ => None,
        };
        let finish = Finish {
            row: job.row.id,
            batch: served.id,
            attempt,
            started,
            ended: now,
            outcome: verdict.outcome,
            settled,
            counts: verdict.counts,
            phase: ended.phase,
            blame: verdict.blame,
            code: code.map(|code| code.code),
            enhanced: code.and_then(|code| code.enhanced).map(|enhanced| enhanced.to_string()),
            reply: ended.reply.as_ref().map(|reply| reply.bytes.clone()).unwrap_or_default(),
            note: match &ended.id {
                Some(id) => Some(format!("the provider's id: {id}")),
                None => ended.reply.is_none().then_some(words),
            },
            review: verdict.review,
            template: served.template_version,
        };
        self.pending = Some(Pending { finish, since });
    }

    /// Shows an ended attempt to the breakers, does at once what they say, and returns what its end
    /// means after all.
    fn look_at(&self, job: &Job, seen: Seen<'_>) -> Verdict {
        let served = &job.served;
        if is_probed(seen.verdict) && served.is_first_answer() {
            let (served, then) = (Arc::clone(served), Arc::clone(&self.route.need));
            self.shift.errands.ask(Errand::Probed { served, then });
        }
        let ruling = served.breakers().see(seen);
        if !ruling.fail.is_empty() {
            self.shift.errands.ask(Errand::FailSuspects(ruling.fail));
        }
        if let Some(reason) = ruling.pause {
            self.route.pause(vec![served.id], reason.to_string());
        }
        self.route.watch_unknowns(seen);
        ruling.verdict.unwrap_or(*seen.verdict)
    }

    /// Keeps the connection for the next message if it may be used again.
    pub(super) async fn keep(&mut self, mut line: Line, ended: &Ended) -> Flow {
        if !line.connection.is_usable() || !ended.verdict.keep_connection {
            return Flow::On;
        }
        line.messages += 1;
        let is_worn_out = line.messages >= self.route.settings.messages_per_connection;
        self.line = Some(line);
        if !is_worn_out {
            return Flow::On;
        }
        let flow = self.flush().await;
        self.hang_up().await;
        flow
    }
}

/// Reports whether this answer says that the batch as a whole is welcome (`protocol.md` 18).
fn is_probed(verdict: &Verdict) -> bool {
    verdict.suspect.is_none()
        && verdict.pause.is_none()
        && match verdict.outcome {
            Outcome::Accepted | Outcome::Refused => true,
            Outcome::Deferred => verdict.counts,
            Outcome::NotSent | Outcome::Unknown(_) => false,
        }
}

/// Turns a refusal that the kind tries again by rule into a deferral.
fn by_rule(verdict: &Verdict, ended: &Ended, retry_refused: &[String]) -> Verdict {
    let mut verdict = *verdict;
    if verdict.outcome == Outcome::Refused
        && let Event::Reply(code, _) = &ended.event
        && retry_refused.iter().any(|refused| *refused == code.code.to_string())
    {
        verdict.outcome = Outcome::Deferred;
        verdict.suspect = None;
        verdict.counts = true;
    }
    verdict
}

/// Counts a recorded end, or hands in as evidence what somebody else decided meanwhile.
pub(super) fn recorded(shift: &Shift, route: &Route, last: &Pending, answer: FinishAnswer) {
    match answer {
        FinishAnswer::Recorded => {
            shift.tally.count(last.finish.outcome, last.finish.settled);
            let back = matches!(last.finish.settled, Settled::Ready { .. });
            if back && !route.hands().serves(last.finish.batch) {
                shift.errands.ask(Errand::Leftovers(last.finish.batch));
            }
        }
        FinishAnswer::Lost => shift.learn(Kept::of(&last.finish)),
    }
    // A worker that is to end when nothing is left need not wait for the next look.
    if shift.settings.until != Until::Forever && route.hands().are_empty() {
        shift.look_soon();
    }
}
