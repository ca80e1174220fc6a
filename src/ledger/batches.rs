//! Batches: made, looked up, started, paused, changed and ended.
//!
//! Promise: what a batch is follows from what is wanted and from its rows (`domain::batch`), and
//! every change a person makes is journalled in the transaction that makes it.
//! Start reading at `Batch`, then `start`, then `pause`.

pub mod cancel;
pub mod change;
pub mod discard;
pub mod frozen;
pub mod open;
pub mod pause;
pub mod schedule;
pub mod start;

pub use frozen::{Frozen, Words};

use crate::db::{Row, Tx};
use crate::domain::batch::{BatchState, Counts, Door, Wanted, state};
use crate::domain::id::{BatchId, ScopeId};
use crate::domain::name::BatchName;
use crate::domain::policy::OncePer;
use crate::domain::time::Timestamp;

use super::{Ledger, LedgerError, Refused, ids};

/// One notice, or one day of order mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub id: BatchId,
    pub name: String,
    pub kind: String,
    pub title: String,
    pub scope: ScopeId,
    pub wanted: Wanted,
    /// Since when an import runs or has stopped half-way.
    pub loading: Option<Timestamp>,
    pub frozen: Frozen,
    pub template_version: i64,
    /// The number of rows that was confirmed when it was started or scheduled.
    pub confirmed: Option<i64>,
    pub scheduled_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub started_by: String,
    pub paused_because: String,
    /// A person, or `ittsu` when it paused by itself.
    pub paused_by: String,
    pub paused_at: Option<Timestamp>,
    /// Until when a pattern may put more rows into it by itself.
    pub open_until: Option<Timestamp>,
    /// What it was read from, for people.
    pub source: String,
    /// Its own rate; empty: its transport's.
    pub rate: String,
    pub connections: Option<i64>,
    /// Rows that may fail because no message can be built for them.
    pub leave_unbuildable: Option<i64>,
    /// The lowest and the highest number a row of it can have.
    pub first_row: i64,
    pub last_row: i64,
}

/// The message of a batch: the template's text, and its HTML part if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    pub html: Option<String>,
}

/// A batch that is to be made.
#[derive(Clone, Debug)]
pub struct NewBatch {
    pub name: BatchName,
    pub kind: String,
    pub title: String,
    pub frozen: Frozen,
    pub message: Message,
    pub source: String,
}

/// A batch, and whether this call made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Made {
    New(Batch),
    /// It was there before, and stays as it is.
    Already(Batch),
}

/// Who pauses a batch that no person paused.
pub const ITSELF: &str = "ittsu";

/// Selects batches; the rest of the statement follows as a literal.
macro_rules! batch_sql {
    ($rest:literal) => {
        concat!(
            "select id, name, kind, title, scope, wanted, loading, settings, template_version,
                    confirmed, scheduled_at, created_at, started_at, started_by, paused_because,
                    paused_by, paused_at, open_until, source, rate, connections,
                    leave_unbuildable, first_row, last_row
               from batch ",
            $rest
        )
    };
}

impl Batch {
    /// Returns what it is, by its counts at `now`.
    pub fn state(&self, counts: &Counts, now: Timestamp) -> BatchState {
        let door = match self.open_until {
            Some(until) if now < until => Door::Open,
            _ => Door::Closed,
        };
        state(self.wanted, door, counts)
    }

    pub(super) fn of(row: &Row) -> Result<Self, LedgerError> {
        let wanted = row.text(5)?;
        let settings = row.text(7)?;
        Ok(Self {
            id: BatchId(row.int(0)?),
            name: row.text(1)?,
            kind: row.text(2)?,
            title: row.text(3)?,
            scope: ScopeId(row.int(4)?),
            wanted: Wanted::from_word(&wanted).ok_or_else(|| LedgerError::Nonsense {
                what: "batch state",
                word: wanted.clone(),
            })?,
            loading: row.int_or_null(6)?.map(Timestamp),
            frozen: Frozen::from_json(&settings)
                .map_err(|err| LedgerError::Nonsense { what: "setting", word: err.to_string() })?,
            template_version: row.int(8)?,
            confirmed: row.int_or_null(9)?,
            scheduled_at: row.int_or_null(10)?.map(Timestamp),
            created_at: Timestamp(row.int(11)?),
            started_at: row.int_or_null(12)?.map(Timestamp),
            started_by: row.text(13)?,
            paused_because: row.text(14)?,
            paused_by: row.text(15)?,
            paused_at: row.int_or_null(16)?.map(Timestamp),
            open_until: row.int_or_null(17)?.map(Timestamp),
            source: row.text(18)?,
            rate: row.text(19)?,
            connections: row.int_or_null(20)?,
            leave_unbuildable: row.int_or_null(21)?,
            first_row: row.int(22)?,
            last_row: row.int(23)?,
        })
    }
}

/// Returns every batch, the latest last.
pub(super) async fn all(tx: &mut Tx) -> Result<Vec<Batch>, LedgerError> {
    let rows = tx.query(batch_sql!("order by id")).fetch_all().await?;
    rows.iter().map(Batch::of).collect()
}

/// Returns the batch of that name.
pub(super) async fn named(tx: &mut Tx, name: &str) -> Result<Option<Batch>, LedgerError> {
    let row = tx.query(batch_sql!("where name = ?")).bind(name).fetch_optional().await?;
    row.as_ref().map(Batch::of).transpose()
}

pub(super) async fn by_id(tx: &mut Tx, id: BatchId) -> Result<Batch, LedgerError> {
    let row = tx.query(batch_sql!("where id = ?")).bind(id).fetch_optional().await?;
    row.as_ref().map(Batch::of).transpose()?.ok_or_else(|| gone(id))
}

/// Returns the batch and keeps everybody else from changing it until the transaction ends.
pub(super) async fn locked(tx: &mut Tx, id: BatchId) -> Result<Batch, LedgerError> {
    let sql = batch_sql!("where id = ?").to_owned() + tx.dialect().for_update();
    let row = tx.query(sql).bind(id).fetch_optional().await?;
    row.as_ref().map(Batch::of).transpose()?.ok_or_else(|| gone(id))
}

/// Returns the batch; until the transaction ends others may look at it but not change it.
pub(super) async fn held_still(tx: &mut Tx, id: BatchId) -> Result<Batch, LedgerError> {
    let sql = batch_sql!("where id = ?").to_owned() + tx.dialect().for_share();
    let row = tx.query(sql).bind(id).fetch_optional().await?;
    row.as_ref().map(Batch::of).transpose()?.ok_or_else(|| gone(id))
}

fn gone(id: BatchId) -> LedgerError {
    Refused::NoSuchBatch(format!("#{id}")).into()
}

/// Stores another version of a batch's message and returns its number.
pub(super) async fn add_message(
    tx: &mut Tx,
    batch: BatchId,
    version: i64,
    message: &Message,
    now: Timestamp,
) -> Result<(), LedgerError> {
    tx.query("insert into batch_template (batch, version, text, html, at) values (?, ?, ?, ?, ?)")
        .bind(batch)
        .bind(version)
        .bind(&message.text)
        .bind(message.html.clone())
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn message(
    tx: &mut Tx,
    batch: BatchId,
    version: i64,
) -> Result<Message, LedgerError> {
    let row = tx
        .query("select text, html from batch_template where batch = ? and version = ?")
        .bind(batch)
        .bind(version)
        .fetch_one()
        .await?;
    Ok(Message { text: row.text(0)?, html: row.text_or_null(1)? })
}

impl Ledger {
    /// Returns the batch of that name, or says that there is none.
    pub async fn batch(&self, name: &str) -> Result<Batch, LedgerError> {
        let found = self.find_batch(name).await?;
        found.ok_or_else(|| Refused::NoSuchBatch(name.to_owned()).into())
    }

    pub async fn find_batch(&self, name: &str) -> Result<Option<Batch>, LedgerError> {
        named(&mut self.db.read().await?, name).await
    }

    pub async fn batch_by_id(&self, id: BatchId) -> Result<Batch, LedgerError> {
        by_id(&mut self.db.read().await?, id).await
    }

    /// Returns every batch, the latest last.
    pub async fn batches(&self) -> Result<Vec<Batch>, LedgerError> {
        all(&mut self.db.read().await?).await
    }

    /// Returns one version of a batch's message; attempts name the version they sent.
    pub async fn message(&self, batch: BatchId, version: i64) -> Result<Message, LedgerError> {
        message(&mut self.db.read().await?, batch, version).await
    }

    /// Makes a draft, or returns the batch of that name as it is.
    ///
    /// The same name for another kind is refused.
    pub async fn create_draft(&self, new: NewBatch, now: Timestamp) -> Result<Made, LedgerError> {
        let kind = new.kind.clone();
        let made = self.act(new, move |tx, new| Box::pin(create(tx, new, now))).await?;
        match made {
            Made::Already(batch) if batch.kind != kind => {
                Err(Refused::OtherKind { batch: batch.name, kind: batch.kind }.into())
            }
            made => Ok(made),
        }
    }
}

async fn create(tx: &mut Tx, new: &NewBatch, now: Timestamp) -> Result<Made, LedgerError> {
    if let Some(batch) = named(tx, new.name.as_str()).await? {
        return Ok(Made::Already(batch));
    }
    let id = BatchId(ids::reserve(tx, ids::BATCH, 1).await?);
    let scope = match new.frozen.once_per {
        OncePer::Batch => scope(tx, &format!("batch:{id}")).await?,
        OncePer::Kind => scope(tx, &format!("kind:{}", new.kind)).await?,
    };
    tx.query(
        "insert into batch (id, name, kind, title, scope, wanted, loading, settings,
                            template_version, confirmed, scheduled_at, created_at, started_at,
                            started_by, paused_because, paused_by, paused_at, refused_early,
                            open_until, source, rate, connections, probed, leave_unbuildable,
                            first_row, last_row)
         values (?, ?, ?, ?, ?, ?, null, ?, 1, null, null, ?, null, '', '', '', null, 0,
                 null, ?, '', null, 0, null, 0, 0)",
    )
    .bind(id)
    .bind(new.name.as_str())
    .bind(&new.kind)
    .bind(&new.title)
    .bind(scope)
    .bind(Wanted::Draft.as_str())
    .bind(new.frozen.to_json())
    .bind(now)
    .bind(&new.source)
    .execute()
    .await?;
    add_message(tx, id, 1, &new.message, now).await?;
    by_id(tx, id).await.map(Made::New)
}

/// Returns a batch as it would be if it were made: without a number, and without rows.
pub(super) async fn unmade(
    tx: &mut Tx,
    new: &NewBatch,
    now: Timestamp,
) -> Result<Batch, LedgerError> {
    let scope = match new.frozen.once_per {
        OncePer::Batch => None,
        OncePer::Kind => find_scope(tx, &format!("kind:{}", new.kind)).await?,
    };
    Ok(Batch {
        id: BatchId(0),
        name: new.name.as_str().to_owned(),
        kind: new.kind.clone(),
        title: new.title.clone(),
        scope: scope.unwrap_or(ScopeId(0)),
        wanted: Wanted::Draft,
        loading: None,
        frozen: new.frozen.clone(),
        template_version: 1,
        confirmed: None,
        scheduled_at: None,
        created_at: now,
        started_at: None,
        started_by: String::new(),
        paused_because: String::new(),
        paused_by: String::new(),
        paused_at: None,
        open_until: None,
        source: new.source.clone(),
        rate: String::new(),
        connections: None,
        leave_unbuildable: None,
        first_row: 0,
        last_row: 0,
    })
}

async fn find_scope(tx: &mut Tx, name: &str) -> Result<Option<ScopeId>, LedgerError> {
    let found = tx.query("select id from scope where name = ?").bind(name).fetch_optional().await?;
    Ok(found.map(|row| row.int(0)).transpose()?.map(ScopeId))
}

/// Returns the scope of that name and makes it if it is new.
async fn scope(tx: &mut Tx, name: &str) -> Result<ScopeId, LedgerError> {
    if let Some(found) = find_scope(tx, name).await? {
        return Ok(found);
    }
    let id = ScopeId(ids::reserve(tx, ids::SCOPE, 1).await?);
    tx.query("insert into scope (id, name) values (?, ?)").bind(id).bind(name).execute().await?;
    Ok(id)
}
