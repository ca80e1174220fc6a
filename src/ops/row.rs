//! One row as the JSON documents show it.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::when;
use crate::compose::message_id::Codec;
use crate::compose::sender::Sender;
use crate::domain::outcome::Phase;
use crate::domain::state::{Cause, How};
use crate::domain::text::lenient;
use crate::ledger::batches::Batch;
use crate::ledger::rows::RowView;

/// One row of `ittsu/rows/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowBody {
    pub key: String,
    pub address: String,
    pub state: &'static str,
    pub how: Option<&'static str>,
    pub unknown: bool,
    pub cause: Option<&'static str>,
    pub unknown_attempts: i64,
    pub attempt: i64,
    pub generation: i64,
    pub message_id: Option<String>,
    pub phase: Option<&'static str>,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    pub reply: Option<String>,
    pub worker: Option<String>,
    pub due_at: Option<String>,
    pub updated_at: String,
    pub settled_at: Option<String>,
}

/// What turns rows into documents.
#[derive(Clone, Copy, Debug)]
pub struct Dress<'a> {
    pub zone: &'a TimeZone,
    pub codec: Option<&'a Codec>,
}

impl Dress<'_> {
    /// Returns `row` as a document shows it.
    pub fn row(&self, batch: &Batch, row: &RowView) -> RowBody {
        let at = |time| when::rfc3339(time, self.zone);
        let reply = lenient(&row.reply);
        let reply = if reply.is_empty() { row.note.clone() } else { reply };
        RowBody {
            key: row.key.clone(),
            address: row.address.clone(),
            state: row.state.as_str(),
            how: row.how.map(How::as_str),
            unknown: row.is_unknown(),
            cause: row.cause.map(Cause::as_str),
            unknown_attempts: row.unknown_attempts,
            attempt: row.attempt.0,
            generation: row.generation.0,
            // A mail of an older system had one that nobody knows here.
            message_id: self.message_id(batch, row).filter(|_| row.how != Some(How::Imported)),
            phase: row.phase.map(Phase::as_str),
            code: row.code,
            enhanced: row.enhanced.clone(),
            reply: Some(reply).filter(|reply| !reply.is_empty()),
            worker: row.worker.map(|worker| worker.to_string()),
            due_at: row.due_at.filter(|due| due.0 > 0).map(at),
            updated_at: at(row.updated),
            settled_at: row.settled_at().map(at),
        }
    }

    /// Returns the Message-ID that the row's mail has or will have.
    pub fn message_id(&self, batch: &Batch, row: &RowView) -> Option<String> {
        let sender = Sender::parse(&batch.frozen.from).ok()?;
        Some(self.codec?.write(row.id, row.generation, sender.domain()))
    }
}
