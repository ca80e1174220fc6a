//! What is known about a row that nobody can decide: seen by whom, where, and what it proves.

use std::path::Path;

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::when;
use crate::dispatch::identity::Myself;
use crate::dispatch::state_dir::StateDir;
use crate::dispatch::step_file::{self, Noted};
use crate::domain::id::{Attempt, RecipientId, WorkerId};
use crate::domain::state::Cause;
use crate::domain::step::{Known, Step, verdict_of_step};
use crate::domain::text::lenient;
use crate::domain::time::Timestamp;
use crate::ledger::evidence::Seen;
use crate::ledger::rows::{AttemptView, EvidenceView, RowStory};

/// What all that is known comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The body was not complete: sending again cannot double.
    NotSent,
    /// An answer was seen but could not be recorded.
    Accepted,
    /// A person decides.
    Unknown,
}

impl Verdict {
    /// Returns the words for people.
    pub const fn says(self) -> &'static str {
        match self {
            Self::NotSent => "NOT SENT",
            Self::Accepted => "ACCEPTED",
            Self::Unknown => "NOBODY KNOWS",
        }
    }
}

impl From<Known> for Verdict {
    fn from(known: Known) -> Self {
        match known {
            Known::NotSent => Self::NotSent,
            Known::Accepted => Self::Accepted,
            Known::Unknown => Self::Unknown,
        }
    }
}

/// One thing that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceBody {
    pub attempt: i64,
    /// `ledger`, `step_file`, `late_answer`, `outcome_file` or `imported`.
    pub source: String,
    pub what: String,
    pub at: Option<String>,
}

/// All that is known about one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRow {
    pub verdict: Verdict,
    pub evidence: Vec<EvidenceBody>,
}

/// A row as far as its evidence is looked for.
pub(super) struct Looked<'a> {
    pub(super) row: RecipientId,
    pub(super) attempt: Attempt,
    /// When its present attempt was started, while it has no end.
    pub(super) started: Timestamp,
    pub(super) attempts: &'a [AttemptView],
    pub(super) evidence: &'a [EvidenceView],
    pub(super) worker: Option<WorkerId>,
    /// Where that worker kept its step file.
    pub(super) state_dir: Option<&'a Path>,
}

impl Ops {
    /// Gathers what is known about one row.
    pub async fn known(&self, story: &RowStory) -> Result<KnownRow, OpsError> {
        let last = story.attempts.last();
        let worker = last.map(|last| last.worker).or(story.row.worker);
        let about = match worker {
            Some(id) => self.ledger.worker(id).await?,
            None => None,
        };
        Ok(self.weigh(&Looked {
            row: story.row.id,
            attempt: story.row.attempt,
            started: story.row.updated,
            attempts: &story.attempts,
            evidence: &story.evidence,
            worker,
            state_dir: about.as_ref().map(|about| Path::new(&about.identity.state_dir)),
        }))
    }

    /// Lists what was seen, in order, and what it comes to.
    pub(super) fn weigh(&self, looked: &Looked<'_>) -> KnownRow {
        let mut evidence = Vec::new();
        for attempt in looked.attempts {
            evidence.extend(self.ledger_lines(attempt));
        }
        let came_so = looked
            .evidence
            .iter()
            .any(|kept| kept.source == Seen::Imported.as_str() && kept.attempt == looked.attempt);
        if !came_so && looked.attempts.last().is_none_or(|last| last.number < looked.attempt) {
            evidence.push(self.seen(looked.attempt, "ledger", "started", Some(looked.started)));
        }
        let steps = looked.worker.zip(looked.state_dir);
        let noted = steps.and_then(|(worker, dir)| self.noted(worker, dir, looked));
        if let Some(noted) = noted {
            evidence.push(self.seen(noted.attempt, "step_file", &step(noted.step), None));
        }
        let mut accepted = false;
        for kept in looked.evidence {
            accepted |= kept.outcome == "accepted";
            let reply = lenient(&kept.reply);
            let reply = if kept.source == "step_file" { step_word(&reply) } else { reply };
            let what = match reply.trim_end() {
                "" => format!("{} ({})", kept.outcome, kept.became),
                reply => format!("{} ({}): {reply}", kept.outcome, kept.became),
            };
            evidence.push(self.seen(kept.attempt, &kept.source, &what, Some(kept.at)));
        }
        let verdict = match noted {
            _ if accepted => Verdict::Accepted,
            // A note about an earlier attempt proves nothing about this one.
            Some(noted) if noted.attempt == looked.attempt => {
                verdict_of_step(Some(noted.step)).into()
            }
            _ => Verdict::Unknown,
        };
        KnownRow { verdict, evidence }
    }

    /// Returns what a dead or living worker of this machine noted last about the row.
    fn noted(&self, worker: WorkerId, dir: &Path, looked: &Looked<'_>) -> Option<Noted> {
        let path = StateDir::new(dir, self.ledger.id()).steps(worker);
        let boot = Myself::look().process.boot;
        let notes = step_file::read(&path, worker, &boot);
        notes.into_iter().filter(|noted| noted.row == looked.row).max_by_key(|noted| noted.attempt)
    }

    fn ledger_lines(&self, attempt: &AttemptView) -> [EvidenceBody; 2] {
        let number = attempt.number;
        let started = format!("started by worker {}", attempt.worker);
        let phase = attempt.phase.map_or("", |phase| phase.as_str());
        let reply = lenient(&attempt.reply);
        let note = match attempt.cause {
            Some(Cause::Crash) => format!("its worker is gone; {}", step_word(&attempt.note)),
            _ => attempt.note.clone(),
        };
        let words = [reply.trim_end(), note.as_str()];
        let words = words.into_iter().find(|words| !words.is_empty());
        let ended = match (phase, words) {
            ("", None) => attempt.outcome.clone(),
            ("", Some(words)) => format!("{}: {words}", attempt.outcome),
            (phase, None) => format!("{} at {phase}", attempt.outcome),
            (phase, Some(words)) => format!("{} at {phase}: {words}", attempt.outcome),
        };
        [
            self.seen(number, "ledger", &started, Some(attempt.started)),
            self.seen(number, "ledger", &ended, Some(attempt.ended)),
        ]
    }

    fn seen(
        &self,
        attempt: Attempt,
        source: &str,
        what: &str,
        at: Option<Timestamp>,
    ) -> EvidenceBody {
        EvidenceBody {
            attempt: attempt.0,
            source: source.to_owned(),
            what: what.to_owned(),
            at: at.map(|at| when::rfc3339_exact(at, &self.settings.timezone)),
        }
    }
}

/// Says what the word of a step means that a sweep has kept.
fn step_word(word: &str) -> String {
    let steps = [Step::Started, Step::Rcpt, Step::Data, Step::BodyComplete, Step::Dot];
    let known = steps.into_iter().find(|step| step.as_str() == word);
    known.map_or_else(|| word.to_owned(), step)
}

/// Says how far a hand-over got.
fn step(step: Step) -> String {
    match step {
        Step::Started => "started; nothing of it was on the wire".to_owned(),
        Step::Rcpt => "the recipient was being named".to_owned(),
        Step::Data => "the message was being announced; no body".to_owned(),
        Step::BodyComplete => "the body was complete or nearly so".to_owned(),
        Step::Dot => "the final dot was being written or was written; no answer seen".to_owned(),
        Step::Answered(reply) => format!("the server had answered {}", reply.code),
        Step::Judged { status, outcome } => {
            format!("the server had answered {status} ({})", outcome.as_str())
        }
    }
}
