//! One row with everything that is known about it.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::evidence::{EvidenceBody, Verdict};
use super::journal::EntryBody;
use super::row::RowBody;
use super::verdict;
use super::when;
use crate::domain::name::BatchName;
use crate::domain::outcome::{Blame, Phase};
use crate::domain::state::Cause;
use crate::domain::text::lenient;
use crate::ledger::rows::AttemptView;

/// `ittsu/show/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShowBody {
    pub batch: String,
    /// One sentence.
    pub says: String,
    #[serde(flatten)]
    pub row: RowBody,
    /// The person's columns.
    pub fields: serde_json::Value,
    pub attempts: Vec<AttemptBody>,
    /// Only of a row that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    pub evidence: Vec<EvidenceBody>,
    pub journal: Vec<EntryBody>,
}

/// One attempt, as documents show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptBody {
    pub attempt: i64,
    pub generation: i64,
    pub worker: String,
    pub started: String,
    pub ended: String,
    pub phase: Option<&'static str>,
    pub outcome: String,
    pub cause: Option<&'static str>,
    pub blame: Option<&'static str>,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    pub reply: Option<String>,
    pub note: Option<String>,
    /// The answer was unusual: a person should look at it.
    pub review: bool,
    /// The version of the message that was sent.
    pub template: i64,
}

impl Ops {
    /// Returns the row of that key with everything that is known about it.
    pub async fn show(&self, name: &BatchName, key: &str) -> Result<ShowBody, OpsError> {
        let batch = self.batch(name).await?;
        let story = self.ledger.show(&batch, key).await?;
        let known = self.known(&story).await?;
        Ok(ShowBody {
            batch: batch.name,
            says: verdict::of_row(&story, &self.settings.timezone),
            row: self.dress().row(&story.batch, &story.row),
            fields: serde_json::from_str(&story.row.fields).unwrap_or_default(),
            attempts: story.attempts.iter().map(|attempt| self.attempt(attempt)).collect(),
            verdict: story.row.is_unknown().then_some(known.verdict),
            evidence: known.evidence,
            journal: story.journal.iter().map(|entry| self.entry(entry)).collect(),
        })
    }

    /// Returns one attempt as documents show it.
    pub fn attempt(&self, attempt: &AttemptView) -> AttemptBody {
        let at = |time| when::rfc3339_exact(time, &self.settings.timezone);
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        AttemptBody {
            attempt: attempt.number.0,
            generation: attempt.generation.0,
            worker: attempt.worker.to_string(),
            started: at(attempt.started),
            ended: at(attempt.ended),
            phase: attempt.phase.map(Phase::as_str),
            outcome: attempt.outcome.clone(),
            cause: attempt.cause.map(Cause::as_str),
            blame: attempt.blame.map(Blame::as_str),
            code: attempt.code,
            enhanced: some(attempt.enhanced.clone()),
            reply: some(lenient(&attempt.reply)),
            note: some(attempt.note.clone()),
            review: attempt.review,
            template: attempt.template,
        }
    }
}
