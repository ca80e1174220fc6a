//! Reports: one moment of the ledger, handed to the writer page by page.

use std::io;

use super::Ops;
use super::error::OpsError;
use crate::domain::batch::BatchState;
use crate::domain::id::{BatchId, RecipientId};
use crate::domain::name::BatchName;
use crate::domain::selection::Selection;
use crate::domain::state::{How, State};
use crate::domain::text::lenient;
use crate::ledger::batches::Batch;
use crate::ledger::counts::BatchStatus;
use crate::ledger::rows::{LeftOutLine, RowView};
use crate::ledger::snapshot::{CauseCount, Snapshot};
use crate::report::summary::{Domain, WhyNot};
use crate::report::{Listed, Listing, Missing, Summary, Writer};

/// Rows read at a time: a million of them must not be in memory at once.
const PAGE: i64 = 1_000;

impl Ops {
    /// Writes what `names` come to at this moment, with the rows that were asked for.
    pub async fn report(
        &self,
        names: &[BatchName],
        listed: Option<Listed>,
        writer: &mut dyn Writer,
    ) -> Result<(), OpsError> {
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            ids.push(self.batch(name).await?.id);
        }
        let mut snapshot = self.ledger.snapshot(self.now()).await?;
        for id in ids {
            self.report_batch(&mut snapshot, id, listed, writer).await?;
        }
        writer.finish().map_err(unwritten)
    }

    async fn report_batch(
        &self,
        snapshot: &mut Snapshot,
        id: BatchId,
        listed: Option<Listed>,
        writer: &mut dyn Writer,
    ) -> Result<(), OpsError> {
        let mut found = snapshot.status(Some(id)).await?;
        let Some(status) = found.pop() else { return Ok(()) };
        let summary = self.summary(snapshot, &status).await?;
        writer.batch(&summary).map_err(unwritten)?;
        let batch = &status.batch;
        match listed {
            None => Ok(()),
            Some(Listed::LeftOut) => write_left_out(snapshot, batch, writer).await,
            Some(listed) => {
                for selection in selections(listed) {
                    self.write_rows(snapshot, batch, &selection, writer).await?;
                }
                Ok(())
            }
        }
    }

    async fn summary(
        &self,
        snapshot: &mut Snapshot,
        status: &BatchStatus,
    ) -> Result<Summary, OpsError> {
        let BatchStatus { batch, state, counts, .. } = status;
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let because = some(&batch.paused_because).filter(|_| *state == BatchState::Paused);
        let domains = snapshot.domains(batch).await?;
        let domains = domains
            .into_iter()
            .map(|domain| Domain { domain: domain.domain, counts: domain.counts });
        Ok(Summary {
            as_of: snapshot.as_of,
            batch: batch.name.clone(),
            kind: batch.kind.clone(),
            title: batch.title.clone(),
            state: *state,
            counts: *counts,
            started_at: batch.started_at,
            started_by: some(&batch.started_by),
            scheduled_at: batch.scheduled_at,
            paused_because: because,
            oldest_ready_at: status.oldest_ready_at,
            rate_per_minute: self.rate_per_minute(status, snapshot.as_of).await?,
            causes: snapshot.causes(batch).await?.iter().map(why_not).collect(),
            domains: domains.collect(),
            key_word: some(&batch.frozen.words.key),
        })
    }

    async fn write_rows(
        &self,
        snapshot: &mut Snapshot,
        batch: &Batch,
        selection: &Selection,
        writer: &mut dyn Writer,
    ) -> Result<(), OpsError> {
        let mut after = RecipientId(0);
        loop {
            let rows = snapshot.rows(batch, selection, after, PAGE).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.id;
            for row in &rows {
                writer.row(&self.listing(batch, row)).map_err(unwritten)?;
            }
        }
    }

    fn listing(&self, batch: &Batch, row: &RowView) -> Listing {
        Listing {
            key: row.key.clone(),
            address: row.address.clone(),
            state: row.state,
            how: row.how,
            unknown: row.is_unknown(),
            cause: row.cause,
            unknown_attempts: row.unknown_attempts,
            attempt: row.attempt.0,
            generation: row.generation.0,
            message_id: self
                .dress()
                .message_id(batch, row)
                .filter(|_| row.how != Some(How::Imported)),
            phase: row.phase.map(|phase| phase.as_str().to_owned()),
            code: row.code,
            enhanced: row.enhanced.clone(),
            reply: lenient(&row.reply),
            note: row.note.clone(),
            updated_at: row.updated,
        }
    }
}

/// Returns what the rows of a list have in common; several sets where one cannot say it.
fn selections(listed: Listed) -> Vec<Selection> {
    let state = |state| Selection { state: Some(state), ..Selection::default() };
    match listed {
        Listed::Failed => vec![state(State::Failed)],
        Listed::Unknown => vec![Selection { unknown: true, ..Selection::default() }],
        Listed::NotSent => [State::Ready, State::Sending, State::Failed].map(state).to_vec(),
        Listed::All => vec![Selection::default()],
        Listed::LeftOut => Vec::new(),
    }
}

async fn write_left_out(
    snapshot: &mut Snapshot,
    batch: &Batch,
    writer: &mut dyn Writer,
) -> Result<(), OpsError> {
    let mut after = 0;
    loop {
        let lines = snapshot.left_out(batch, after, PAGE).await?;
        let Some(last) = lines.last() else { return Ok(()) };
        after = last.id;
        for line in &lines {
            writer.left_out(&missing(line)).map_err(unwritten)?;
        }
    }
}

fn missing(line: &LeftOutLine) -> Missing {
    Missing {
        source: line.source.clone(),
        line: line.line,
        key: line.key.clone(),
        address: line.address.clone(),
        why: line.why.clone(),
        value: line.value.clone(),
    }
}

fn why_not(cause: &CauseCount) -> WhyNot {
    let reply = lenient(&cause.reply);
    WhyNot {
        state: cause.state,
        how: cause.how,
        cause: cause.cause,
        code: u16::try_from(cause.code).ok().filter(|&code| code > 0),
        enhanced: Some(cause.enhanced.clone()).filter(|enhanced| !enhanced.is_empty()),
        rows: cause.rows,
        words: if reply.trim().is_empty() { cause.note.clone() } else { reply },
    }
}

fn unwritten(err: io::Error) -> OpsError {
    OpsError::failed("the report could not be written").because(err)
}
