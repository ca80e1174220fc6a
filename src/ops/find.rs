//! A person in all batches.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::row::RowBody;
use super::show::AttemptBody;
use super::verdict;
use super::when;
use crate::domain::address::Address;
use crate::ledger::rows::{Found, Who};

/// `ittsu/find/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindBody {
    pub who: String,
    /// One sentence.
    pub verdict: String,
    pub rows: Vec<FoundRow>,
    pub left_out: Vec<LeftOutBody>,
    pub suppressed: Vec<SuppressedBody>,
}

/// One row of that person, in one batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundRow {
    pub batch: String,
    pub verdict: String,
    #[serde(flatten)]
    pub row: RowBody,
    pub attempts: Vec<AttemptBody>,
}

/// One line of a source that became no row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    pub source: String,
    pub line: i64,
    pub key: String,
    pub address: String,
    pub why: String,
    pub value: String,
    pub at: String,
}

/// One entry of the do-not-send list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuppressedBody {
    pub address: String,
    /// None: every kind.
    pub kind: Option<String>,
    pub reason: String,
    pub operator: String,
    pub at: String,
}

impl Ops {
    /// Finds a person by address, key or Message-ID, exactly.
    pub async fn find(&self, who: &str) -> Result<FindBody, OpsError> {
        let wanted = self.who(who.trim());
        let found = self.ledger.find(&wanted).await?;
        let zone = &self.settings.timezone;
        let rows = found.rows.iter().map(|story| FoundRow {
            batch: story.batch.name.clone(),
            verdict: verdict::of_row(story, zone),
            row: self.dress().row(&story.batch, &story.row),
            attempts: story.attempts.iter().map(|attempt| self.attempt(attempt)).collect(),
        });
        Ok(FindBody {
            who: who.to_owned(),
            verdict: verdict::of_person(who, &found, zone),
            rows: rows.collect(),
            left_out: self.left_out_of(&found).await?,
            suppressed: found.suppressed.iter().map(|entry| self.suppressed(entry)).collect(),
        })
    }

    /// Reads what was typed in every way it may be meant.
    fn who(&self, text: &str) -> Who {
        let row = self.codec.as_ref().and_then(|codec| codec.read(text));
        Who {
            address: Address::parse(text).ok().map(|(address, _)| address.compare_form()),
            key: Some(text.to_owned()).filter(|key| !key.is_empty()),
            row: row.map(|named| named.recipient),
        }
    }

    async fn left_out_of(&self, found: &Found) -> Result<Vec<LeftOutBody>, OpsError> {
        let mut lines = Vec::with_capacity(found.left_out.len());
        for line in &found.left_out {
            let batch = self.ledger.batch_by_id(line.batch).await?;
            lines.push(LeftOutBody { batch: Some(batch.name), ..self.left_out_line(line) });
        }
        Ok(lines)
    }

    /// Returns a left-out line as documents show it.
    pub fn left_out_line(&self, line: &crate::ledger::rows::LeftOutLine) -> LeftOutBody {
        LeftOutBody {
            batch: None,
            source: line.source.clone(),
            line: line.line,
            key: line.key.clone(),
            address: line.address.clone(),
            why: line.why.clone(),
            value: line.value.clone(),
            at: when::rfc3339(line.at, &self.settings.timezone),
        }
    }
}
