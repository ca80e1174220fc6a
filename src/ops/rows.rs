//! Rows of a batch, a page at a time.

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::find::LeftOutBody;
use super::row::RowBody;
use crate::domain::id::RecipientId;
use crate::domain::name::BatchName;
use crate::domain::selection::Selection;
use crate::ledger::rows::After;
pub use crate::ledger::snapshot::CauseCount;

/// `ittsu/rows/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowsBody {
    pub batch: String,
    pub shown: usize,
    /// How many rows of the whole batch the selection meets.
    pub of: i64,
    pub rows: Vec<RowBody>,
}

/// `ittsu/left-out/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutPage {
    pub batch: String,
    pub shown: usize,
    pub of: i64,
    pub left_out: Vec<LeftOutBody>,
}

/// Rows read from the ledger at once.
const PAGE: u64 = 2_000;

impl Ops {
    /// Returns up to `limit` rows of a batch behind `after`, in import order.
    pub async fn rows(
        &self,
        name: &BatchName,
        which: &Selection,
        after: Option<&str>,
        limit: u64,
    ) -> Result<RowsBody, OpsError> {
        let batch = self.batch(name).await?;
        let now = self.now();
        let mut from = after.map_or(After::Start, |key| After::Key(key.to_owned()));
        let mut body = RowsBody { batch: batch.name.clone(), shown: 0, of: 0, rows: Vec::new() };
        loop {
            let room = limit.saturating_sub(body.rows.len() as u64).min(PAGE);
            let room = i64::try_from(room).unwrap_or(i64::MAX);
            let page = self.ledger.rows(batch.id, which, from, room, now).await?;
            body.of = page.of;
            body.rows.extend(page.rows.iter().map(|row| self.dress().row(&batch, row)));
            body.shown = body.rows.len();
            match page.rows.last() {
                Some(last) if (body.rows.len() as u64) < limit => from = After::Row(last.id),
                _ => return Ok(body),
            }
        }
    }

    /// Returns up to `limit` rows behind the row `after`, without counting what the selection meets.
    ///
    /// For whoever looks at one page after the other: a page costs the same wherever it stands.
    pub async fn row_page(
        &self,
        name: &BatchName,
        which: &Selection,
        after: RecipientId,
        limit: i64,
    ) -> Result<Vec<(RecipientId, RowBody)>, OpsError> {
        let batch = self.batch(name).await?;
        let mut snapshot = self.ledger.snapshot(self.now()).await?;
        let rows = snapshot.rows(&batch, which, after, limit).await?;
        Ok(rows.iter().map(|row| (row.id, self.dress().row(&batch, row))).collect())
    }

    /// Counts what did not end well in a batch by its reason, the commonest first.
    pub async fn causes(&self, name: &BatchName) -> Result<Vec<CauseCount>, OpsError> {
        let batch = self.batch(name).await?;
        let mut snapshot = self.ledger.snapshot(self.now()).await?;
        Ok(snapshot.causes(&batch).await?)
    }

    /// Returns up to `limit` lines of the sources that became no row.
    pub async fn left_out(
        &self,
        name: &BatchName,
        after: i64,
        limit: u64,
    ) -> Result<LeftOutPage, OpsError> {
        let batch = self.batch(name).await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let lines = self.ledger.left_out(batch.id, after, limit).await?;
        let status = self.ledger.status(Some(batch.id), self.now()).await?;
        Ok(LeftOutPage {
            batch: batch.name,
            shown: lines.len(),
            of: status.batches.iter().map(|batch| batch.counts.left_out).sum(),
            left_out: lines.iter().map(|line| self.left_out_line(line)).collect(),
        })
    }
}
