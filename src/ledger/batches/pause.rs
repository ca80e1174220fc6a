//! Pausing and resuming: one batch, a whole kind, or everything.
//!
//! A paused kind (or everything, the kind `''`) also holds batches that start later. Resuming it
//! lets exactly those go on that it held: a batch that somebody paused by name stays paused.

use crate::db::{Row, Tx};
use crate::domain::batch::{BatchState, Wanted};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused, counts};

use super::start::{freeze, run, schedule};
use super::{Batch, Frozen, ITSELF, Message, all, locked};

/// What is paused or resumed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Batch(BatchId),
    Kind(String),
    Everything,
}

/// What a pause or a resume did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halted {
    /// The batches that changed, by name.
    pub changed: Vec<String>,
    /// The batches that were looked at and left, and what they are.
    pub left: Vec<(String, BatchState)>,
    /// The kind itself (or everything) was paused or let go by this call.
    pub kind_changed: bool,
}

/// A pause of a whole kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindPause {
    /// Empty: every kind.
    pub kind: String,
    pub because: String,
    pub by: String,
    pub at: Timestamp,
}

/// The present settings and message, for a batch that is to take them on.
#[derive(Clone, Debug)]
pub struct Refresh {
    pub frozen: Frozen,
    pub message: Option<Message>,
}

impl Reach {
    fn kind(&self) -> Option<&str> {
        match self {
            Self::Batch(_) => None,
            Self::Kind(kind) => Some(kind),
            Self::Everything => Some(""),
        }
    }

    fn covers(&self, batch: &Batch) -> bool {
        match self {
            Self::Batch(id) => batch.id == *id,
            Self::Kind(kind) => batch.kind == *kind,
            Self::Everything => true,
        }
    }
}

impl KindPause {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            kind: row.text(0)?,
            because: row.text(1)?,
            by: row.text(2)?,
            at: Timestamp(row.int(3)?),
        })
    }

    fn refusal(&self) -> Refused {
        match self.kind.as_str() {
            "" => Refused::AllPaused,
            kind => Refused::KindPaused(kind.to_owned()),
        }
    }
}

impl Ledger {
    /// Lets no further message start; those on the wire finish.
    pub async fn pause(&self, reach: Reach, by: By, now: Timestamp) -> Result<Halted, LedgerError> {
        self.act((reach, by), move |tx, (reach, by)| Box::pin(pause(tx, reach, by, now))).await
    }

    /// Pauses a batch because of what its engine saw; the reason is for a person.
    pub async fn pause_itself(
        &self,
        batch: BatchId,
        because: &str,
        now: Timestamp,
    ) -> Result<Halted, LedgerError> {
        self.pause(Reach::Batch(batch), By::new(ITSELF, because), now).await
    }

    /// Takes a pause back.
    pub async fn resume(
        &self,
        reach: Reach,
        by: By,
        now: Timestamp,
    ) -> Result<Halted, LedgerError> {
        self.act((reach, by), move |tx, (reach, by)| Box::pin(resume(tx, reach, by, now))).await
    }

    /// Takes a batch's pause back after giving it the present settings and message.
    pub async fn resume_refreshed(
        &self,
        batch: BatchId,
        refresh: Refresh,
        by: By,
        now: Timestamp,
    ) -> Result<Halted, LedgerError> {
        self.act((refresh, by), move |tx, (refresh, by)| {
            Box::pin(async move {
                let held = locked(tx, batch).await?;
                if held.wanted != Wanted::Paused {
                    return Err(Refused::Running(held.name).into());
                }
                freeze(tx, &held, &refresh.frozen, refresh.message.as_ref(), now).await?;
                journal::write(tx, &Entry::of("refresh", batch), by, now).await?;
                resume(tx, &Reach::Batch(batch), by, now).await
            })
        })
        .await
    }

    /// Returns the pauses of whole kinds.
    pub async fn kind_pauses(&self) -> Result<Vec<KindPause>, LedgerError> {
        kind_pauses(&mut self.db.read().await?).await
    }
}

async fn kind_pauses(tx: &mut Tx) -> Result<Vec<KindPause>, LedgerError> {
    let rows = tx
        .query("select kind, because, \"by\", at from kind_pause order by kind")
        .fetch_all()
        .await?;
    rows.iter().map(KindPause::of).collect()
}

/// Returns the pause that holds every batch of `kind`, if there is one.
pub(super) async fn that_holds(tx: &mut Tx, kind: &str) -> Result<Option<KindPause>, LedgerError> {
    let pauses = kind_pauses(tx).await?;
    Ok(pauses.into_iter().find(|pause| pause.kind.is_empty() || pause.kind == kind))
}

/// Writes that a batch is paused.
pub(super) async fn set(
    tx: &mut Tx,
    batch: BatchId,
    because: &str,
    by: &str,
    now: Timestamp,
) -> Result<(), LedgerError> {
    tx.query(
        "update batch set wanted = ?, paused_because = ?, paused_by = ?, paused_at = ? where id = ?",
    )
    .bind(Wanted::Paused.as_str())
    .bind(because)
    .bind(by)
    .bind(now)
    .bind(batch)
    .execute()
    .await?;
    Ok(())
}

/// Returns the batches in reach, locked one after the other in the order of their numbers.
async fn in_reach(tx: &mut Tx, reach: &Reach) -> Result<Vec<Batch>, LedgerError> {
    if let Reach::Batch(id) = reach {
        return Ok(vec![locked(tx, *id).await?]);
    }
    let mut batches = Vec::new();
    for batch in all(tx).await?.into_iter().filter(|batch| reach.covers(batch)) {
        if matches!(batch.wanted, Wanted::Running | Wanted::Paused | Wanted::Scheduled) {
            batches.push(locked(tx, batch.id).await?);
        }
    }
    Ok(batches)
}

async fn pause(tx: &mut Tx, reach: &Reach, by: &By, now: Timestamp) -> Result<Halted, LedgerError> {
    let mut halted = Halted::default();
    if let Some(kind) = reach.kind() {
        halted.kind_changed = hold_kind(tx, kind, by, now).await?;
    }
    for batch in in_reach(tx, reach).await? {
        let counts = counts::of(tx, batch.id).await?;
        let runs = batch.state(&counts, now) == BatchState::Running;
        // A scheduled batch is held when its time comes; pausing it by name holds it at once.
        let waits = batch.wanted == Wanted::Scheduled && reach.kind().is_none();
        if runs || waits {
            set(tx, batch.id, &by.reason, &by.operator, now).await?;
            let entry = Entry { matched: 1, changed: 1, ..Entry::of("pause", batch.id) };
            journal::write(tx, &entry, by, now).await?;
            halted.changed.push(batch.name);
        } else if reach.kind().is_none() {
            let state = batch.state(&counts, now);
            halted.left.push((batch.name, state));
        }
    }
    Ok(halted)
}

/// Pauses a kind, or everything; returns whether it was not paused before.
async fn hold_kind(tx: &mut Tx, kind: &str, by: &By, now: Timestamp) -> Result<bool, LedgerError> {
    if kind_pauses(tx).await?.iter().any(|pause| pause.kind == kind) {
        return Ok(false);
    }
    tx.query("insert into kind_pause (kind, because, \"by\", at) values (?, ?, ?, ?)")
        .bind(kind)
        .bind(&by.reason)
        .bind(&by.operator)
        .bind(now)
        .execute()
        .await?;
    journal::write(tx, &Entry { selection: kind_words(kind), ..Entry::all("pause") }, by, now)
        .await?;
    Ok(true)
}

fn kind_words(kind: &str) -> String {
    if kind.is_empty() { "--all".to_owned() } else { format!("--kind {kind}") }
}

async fn resume(
    tx: &mut Tx,
    reach: &Reach,
    by: &By,
    now: Timestamp,
) -> Result<Halted, LedgerError> {
    let mut halted = Halted::default();
    let mut since = None;
    if let Some(kind) = reach.kind() {
        let pauses = kind_pauses(tx).await?;
        let Some(pause) = pauses.into_iter().find(|pause| pause.kind == kind) else {
            return Ok(halted);
        };
        tx.query("delete from kind_pause where kind = ?").bind(kind).execute().await?;
        let entry = Entry { selection: kind_words(kind), ..Entry::all("resume") };
        journal::write(tx, &entry, by, now).await?;
        halted.kind_changed = true;
        since = Some(pause.at);
    }
    for batch in in_reach(tx, reach).await? {
        // What the kind's pause did not hold, its end does not let go.
        if since.is_some() && batch.paused_at != since {
            continue;
        }
        if go_on(tx, &batch, reach, by, now).await? {
            halted.changed.push(batch.name);
        } else {
            let state = batch.state(&counts::of(tx, batch.id).await?, now);
            halted.left.push((batch.name, state));
        }
    }
    Ok(halted)
}

/// Lets one batch go on; false if it is not paused or still held by another pause.
async fn go_on(
    tx: &mut Tx,
    batch: &Batch,
    reach: &Reach,
    by: &By,
    now: Timestamp,
) -> Result<bool, LedgerError> {
    if batch.wanted != Wanted::Paused {
        return Ok(false);
    }
    match (batch.started_at, batch.scheduled_at) {
        (None, Some(at)) => schedule(tx, batch.id, at).await?,
        (None, None) => return Err(Refused::NeverStarted(batch.name.clone()).into()),
        (Some(_), _) => {
            if let Some(pause) = that_holds(tx, &batch.kind).await?
                && reach.kind().is_none()
            {
                return Err(pause.refusal().into());
            }
            if run(tx, batch, now).await?.is_some() {
                return Ok(false);
            }
        }
    }
    if batch.paused_by == ITSELF {
        // Whatever stopped it may still be so: one row is tried before the others follow.
        tx.query("update batch set probed = 0, refused_early = 0 where id = ?")
            .bind(batch.id)
            .execute()
            .await?;
    }
    let entry = Entry { matched: 1, changed: 1, ..Entry::of("resume", batch.id) };
    journal::write(tx, &entry, by, now).await?;
    Ok(true)
}
