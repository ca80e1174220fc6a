//! What operators did.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::when;
use crate::domain::name::BatchName;
use crate::ledger::journal::JournalEntry;

/// One entry of `ittsu/journal/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryBody {
    pub id: i64,
    pub at: String,
    pub operator: String,
    pub action: String,
    pub batch: Option<String>,
    pub reason: String,
    pub selection: String,
    pub matched: i64,
    pub changed: i64,
    pub details: serde_json::Value,
}

/// The newest entries, the latest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JournalBody {
    pub entries: Vec<EntryBody>,
}

/// Entries shown at once.
const MOST: i64 = 1_000;

impl Ops {
    /// Returns what operators did, the latest first.
    pub async fn journal(&self, batch: Option<&BatchName>) -> Result<JournalBody, OpsError> {
        let batch = self.batch_id(batch).await?;
        let entries = self.ledger.journal(batch, None, MOST).await?;
        Ok(JournalBody { entries: entries.iter().map(|entry| self.entry(entry)).collect() })
    }

    /// Returns one entry as documents show it.
    pub fn entry(&self, entry: &JournalEntry) -> EntryBody {
        EntryBody {
            id: entry.id.0,
            at: when::rfc3339(entry.at, &self.settings.timezone),
            operator: entry.operator.clone(),
            action: entry.action.clone(),
            batch: entry.name.clone(),
            reason: entry.reason.clone(),
            selection: entry.selection.clone(),
            matched: entry.matched,
            changed: entry.changed,
            details: entry.details.clone(),
        }
    }
}
