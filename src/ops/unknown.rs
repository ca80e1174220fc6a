//! Rows nobody can decide, with what is known about each.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::evidence::{EvidenceBody, Looked, Verdict};
use super::row::RowBody;
use super::when;
use crate::domain::name::BatchName;
use crate::domain::time::Timestamp;
use crate::ledger::rows::UnknownRow;

/// `ittsu/unknown/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownBody {
    pub shown: usize,
    pub of: i64,
    pub rows: Vec<UnknownRowBody>,
}

/// One row of which nobody knows whether it went out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownRowBody {
    pub batch: String,
    #[serde(flatten)]
    pub row: RowBody,
    pub verdict: Verdict,
    /// How long it has been so.
    pub for_seconds: u64,
    /// Until when an answer can still come: its worker was lost by its silence alone.
    pub answer_until: Option<String>,
    pub evidence: Vec<EvidenceBody>,
}

/// Rows shown at once.
const MOST: i64 = 1_000;

impl Ops {
    /// Returns the unknown rows of one batch, or of all.
    pub async fn unknown(
        &self,
        name: Option<&BatchName>,
        older_than: Duration,
    ) -> Result<UnknownBody, OpsError> {
        let only = self.batch_id(name).await?;
        self.sweep_gone().await?;
        let now = self.now();
        let rows = self.ledger.unknown(only, older_than, MOST, now).await?;
        let status = self.ledger.status(only, now).await?;
        Ok(UnknownBody {
            shown: rows.len(),
            of: status.batches.iter().map(|batch| batch.counts.unknown).sum(),
            rows: rows.iter().map(|row| self.unknown_row(row, now)).collect(),
        })
    }

    fn unknown_row(&self, unknown: &UnknownRow, now: Timestamp) -> UnknownRowBody {
        let UnknownRow { batch, row, attempts, evidence, worker } = unknown;
        let known = self.weigh(&Looked {
            row: row.id,
            attempt: row.attempt,
            started: row.updated,
            attempts,
            evidence,
            worker: worker.as_ref().map(|worker| worker.id),
            state_dir: worker.as_ref().map(|worker| Path::new(&worker.state_dir)),
        });
        let late = worker.as_ref().and_then(|worker| worker.late_until);
        UnknownRowBody {
            batch: batch.name.clone(),
            row: self.dress().row(batch, row),
            verdict: known.verdict,
            for_seconds: now.since(row.updated).as_secs(),
            answer_until: late
                .filter(|&until| now < until)
                .map(|until| when::rfc3339(until, &self.settings.timezone)),
            evidence: known.evidence,
        }
    }
}
