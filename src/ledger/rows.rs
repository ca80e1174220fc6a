//! Rows as people look at them: lists, one row with its story, and a person found anywhere.
//!
//! Promise: a page is reached by key and costs the same wherever it stands; nothing here changes
//! anything.
//! Start reading at `RowView`, then `select`, then `story`.

mod find;
pub(super) mod left_out;
mod select;
mod story;
mod unknown;

use crate::db::{Row, Tx};
use crate::domain::id::{Attempt, BatchId, Generation, RecipientId, WorkerId};
use crate::domain::outcome::Phase;
use crate::domain::selection::Selection;
use crate::domain::state::{Cause, Flag, How, State};
use crate::domain::time::Timestamp;

use super::batches::{self, Batch};
use super::delivery::{word, word_or_none};
use super::{Ledger, LedgerError, Refused};

pub use find::{Found, Who};
pub use left_out::LeftOutLine;
pub use story::{AttemptView, EvidenceView, RowStory};
pub use unknown::{LastWorker, UnknownRow};

pub(super) use select::Chosen;

/// One row with its last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    pub id: RecipientId,
    pub batch: BatchId,
    pub key: String,
    pub address: String,
    /// The person's columns, as JSON.
    pub fields: String,
    pub state: State,
    pub how: Option<How>,
    pub flag: Option<Flag>,
    pub cause: Option<Cause>,
    /// Attempts of this generation without a known end.
    pub unknown_attempts: i64,
    /// It was started again in this generation after an unknown attempt.
    pub handed_again: bool,
    pub attempt: Attempt,
    pub tries: i64,
    pub generation: Generation,
    /// When this generation was first started.
    pub first_started: Option<Timestamp>,
    /// From when it may be claimed.
    pub due_at: Option<Timestamp>,
    /// Who holds it, or held it when it became unknown.
    pub worker: Option<WorkerId>,
    pub phase: Option<Phase>,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    /// The server's last answer, as it came.
    pub reply: Vec<u8>,
    /// Our own words about the last attempt.
    pub note: String,
    pub updated: Timestamp,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// In the order in which they were imported.
    pub rows: Vec<RowView>,
    /// How many rows of the batch the selection meets, on this page or not.
    pub of: i64,
}

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    Start,
    Row(RecipientId),
    Key(String),
}

impl RowView {
    pub const fn is_unknown(&self) -> bool {
        matches!(self.flag, Some(Flag::Unknown))
    }

    /// Returns when it came to its end.
    pub const fn settled_at(&self) -> Option<Timestamp> {
        match self.state {
            State::Sent | State::Failed => Some(self.updated),
            State::Ready | State::Sending => None,
        }
    }

    /// Reads the columns of `row_columns!`, which begin at 0.
    fn of(row: &Row) -> Result<Self, LedgerError> {
        let some = |n: i64| Some(n).filter(|&n| n != 0);
        Ok(Self {
            id: RecipientId(row.int(0)?),
            batch: BatchId(row.int(1)?),
            key: row.text(2)?,
            address: row.text(3)?,
            fields: row.text(4)?,
            state: state(&row.text(5)?)?,
            how: how(&row.text(6)?)?,
            flag: flag(row.text_or_null(7)?.as_deref())?,
            cause: cause(&row.text(8)?)?,
            unknown_attempts: row.int(9)?,
            handed_again: row.int(10)? > 0,
            attempt: Attempt(row.int(11)?),
            tries: row.int(12)?,
            generation: Generation(row.int(13)?),
            first_started: some(row.int(14)?).map(Timestamp),
            due_at: row.int_or_null(15)?.map(Timestamp),
            worker: some(row.int(16)?).map(WorkerId),
            phase: phase(&row.text(17)?)?,
            code: some(row.int(18)?).and_then(|code| u16::try_from(code).ok()),
            enhanced: Some(row.text(19)?).filter(|text| !text.is_empty()),
            reply: row.bytes_or_null(20)?.unwrap_or_default(),
            note: row.text_or_null(21)?.unwrap_or_default(),
            updated: Timestamp(row.int(22)?),
        })
    }
}

/// The columns that `RowView::of` reads, of `delivery d`, `recipient r` and the last `attempt a`.
macro_rules! row_columns {
    () => {
        "d.id, d.batch, r.key, r.address, r.fields, d.state, d.how, d.flag, d.cause,
         d.unknown_attempts, d.handed_again, d.attempt, d.tries, d.generation, d.first_started,
         d.due_at, d.worker, d.phase, d.code, d.enhanced, a.reply, a.note, d.updated"
    };
}
use row_columns;

pub(super) fn state(text: &str) -> Result<State, LedgerError> {
    word("state", text, State::from_word)
}

pub(super) fn how(text: &str) -> Result<Option<How>, LedgerError> {
    word_or_none("reason", text, How::from_word)
}

pub(super) fn flag(text: Option<&str>) -> Result<Option<Flag>, LedgerError> {
    word_or_none("flag", text.unwrap_or_default(), Flag::from_word)
}

pub(super) fn cause(text: &str) -> Result<Option<Cause>, LedgerError> {
    word_or_none("cause", text, Cause::from_word)
}

fn phase(text: &str) -> Result<Option<Phase>, LedgerError> {
    word_or_none("phase", text, Phase::from_word)
}

/// Returns up to `limit` rows behind `after`, in import order.
pub(super) async fn page(
    tx: &mut Tx,
    chosen: &Chosen<'_>,
    after: RecipientId,
    limit: i64,
) -> Result<Vec<RowView>, LedgerError> {
    let sql = chosen.sql(
        tx.dialect(),
        row_columns!(),
        "left join attempt a on a.row = d.id and a.number = d.attempt",
        " order by d.id limit ?",
    );
    let rows = chosen.bind(tx.query(sql), after).bind(limit).fetch_all().await?;
    rows.iter().map(RowView::of).collect()
}

/// Returns the number of the row with that key.
pub(super) async fn id_of(
    tx: &mut Tx,
    batch: &Batch,
    key: &str,
) -> Result<RecipientId, LedgerError> {
    let row = tx
        .query(
            "select d.id from recipient r join delivery d on d.id = r.id
              where r.scope = ? and r.key = ? and d.batch = ?",
        )
        .bind(batch.scope)
        .bind(key)
        .bind(batch.id)
        .fetch_optional()
        .await?;
    match row {
        Some(row) => Ok(RecipientId(row.int(0)?)),
        None => Err(Refused::NoSuchRow { batch: batch.name.clone(), key: key.to_owned() }.into()),
    }
}

impl Ledger {
    /// Returns a page of the rows of a batch that `selection` meets, and how many it meets in all.
    pub async fn rows(
        &self,
        batch: BatchId,
        selection: &Selection,
        after: After,
        limit: i64,
        now: Timestamp,
    ) -> Result<Page, LedgerError> {
        let mut tx = self.db.snapshot().await?;
        let batch = batches::by_id(&mut tx, batch).await?;
        let after = match after {
            After::Start => RecipientId(0),
            After::Row(id) => id,
            After::Key(key) => id_of(&mut tx, &batch, &key).await?,
        };
        let chosen = Chosen::new(&batch, selection, now);
        let of = chosen.count(&mut tx).await?;
        Ok(Page { rows: page(&mut tx, &chosen, after, limit).await?, of })
    }
}
