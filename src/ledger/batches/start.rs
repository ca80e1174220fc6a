//! Starting a batch, now or at a time.

use crate::db::Tx;
use crate::domain::batch::{Start, Wanted, may_start};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::journal::{self, By, Entry};
use crate::ledger::{Ledger, LedgerError, Refused, counts};

use super::pause::{self, KindPause};
use super::{Batch, Frozen, Message, add_message, locked, message};

/// A start that a person asked for.
#[derive(Clone, Debug)]
pub struct StartRequest {
    pub batch: BatchId,
    /// The number of ready rows the person saw.
    pub confirm: i64,
    /// Not before this time.
    pub at: Option<Timestamp>,
    /// The settings that hold from now on.
    pub frozen: Frozen,
    /// The message that holds from now on; the stored one if it is none.
    pub message: Option<Message>,
    /// Rows that may fail because no message can be built for them.
    pub leave_unbuildable: Option<i64>,
}

/// What a start came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    Now {
        ready: i64,
    },
    At {
        time: Timestamp,
        ready: i64,
    },
    /// Started, but its kind or everything is paused.
    Paused {
        ready: i64,
    },
    NothingToDo,
}

impl Ledger {
    /// Lets workers take a batch, if as many rows are ready as were confirmed.
    pub async fn start(
        &self,
        request: StartRequest,
        by: By,
        now: Timestamp,
    ) -> Result<Started, LedgerError> {
        let request = (request, by);
        self.act(request, move |tx, (request, by)| Box::pin(start(tx, request, by, now))).await
    }
}

async fn start(
    tx: &mut Tx,
    request: &StartRequest,
    by: &By,
    now: Timestamp,
) -> Result<Started, LedgerError> {
    let batch = locked(tx, request.batch).await?;
    let ready = counts::of(tx, batch.id).await?.ready;
    let started = batch.started_at.is_some();
    match may_start(batch.wanted, started, batch.loading.is_some(), ready) {
        Start::Go => {}
        Start::NothingToDo => return Ok(Started::NothingToDo),
        Start::Loading => return Err(Refused::Loading(batch.name).into()),
        Start::Paused => return Err(Refused::Paused(batch.name).into()),
        Start::Cancelled => return Err(Refused::Cancelled(batch.name).into()),
    }
    if is_repeated(&batch, request) {
        return Ok(Started::NothingToDo);
    }
    if request.confirm != ready {
        return Err(Refused::CountDiffers { confirmed: request.confirm, now: ready }.into());
    }
    freeze(tx, &batch, &request.frozen, request.message.as_ref(), now).await?;
    tx.query("update batch set confirmed = ?, leave_unbuildable = ?, started_by = ? where id = ?")
        .bind(ready)
        .bind(request.leave_unbuildable)
        .bind(&by.operator)
        .bind(batch.id)
        .execute()
        .await?;
    let entry = Entry { matched: ready, changed: ready, ..Entry::of("start", batch.id) };
    if let Some(time) = request.at.filter(|&at| now < at) {
        schedule(tx, batch.id, time).await?;
        let details = serde_json::json!({ "at": time.0 });
        journal::write(tx, &Entry { details, ..entry }, by, now).await?;
        return Ok(Started::At { time, ready });
    }
    journal::write(tx, &entry, by, now).await?;
    Ok(match run(tx, &batch, now).await? {
        None => Started::Now { ready },
        Some(_) => Started::Paused { ready },
    })
}

/// Reports whether the same start at the same time was asked for before.
fn is_repeated(batch: &Batch, request: &StartRequest) -> bool {
    batch.wanted == Wanted::Scheduled
        && request.at.is_some()
        && batch.scheduled_at == request.at
        && batch.confirmed == Some(request.confirm)
}

/// Keeps the settings and the message that hold from now on.
pub(super) async fn freeze(
    tx: &mut Tx,
    batch: &Batch,
    frozen: &Frozen,
    new: Option<&Message>,
    now: Timestamp,
) -> Result<(), LedgerError> {
    let mut version = batch.template_version;
    if let Some(new) = new
        && *new != message(tx, batch.id, version).await?
    {
        version += 1;
        add_message(tx, batch.id, version, new, now).await?;
    }
    tx.query("update batch set settings = ?, template_version = ? where id = ?")
        .bind(frozen.to_json())
        .bind(version)
        .bind(batch.id)
        .execute()
        .await?;
    Ok(())
}

pub(super) async fn schedule(
    tx: &mut Tx,
    batch: BatchId,
    at: Timestamp,
) -> Result<(), LedgerError> {
    tx.query(
        "update batch set wanted = ?, scheduled_at = ?, paused_because = '', paused_by = '',
                          paused_at = null
          where id = ?",
    )
    .bind(Wanted::Scheduled.as_str())
    .bind(at)
    .bind(batch)
    .execute()
    .await?;
    Ok(())
}

/// Makes a batch run, or wait for the pause that holds its kind; returns that pause.
pub(super) async fn run(
    tx: &mut Tx,
    batch: &Batch,
    now: Timestamp,
) -> Result<Option<KindPause>, LedgerError> {
    let pause = pause::that_holds(tx, &batch.kind).await?;
    let wanted = if pause.is_some() { Wanted::Paused } else { Wanted::Running };
    let held = pause.as_ref();
    tx.query(
        "update batch set wanted = ?, started_at = coalesce(started_at, ?), paused_because = ?,
                          paused_by = ?, paused_at = ?
          where id = ?",
    )
    .bind(wanted.as_str())
    .bind(now)
    .bind(held.map_or("", |pause| &pause.because))
    .bind(held.map_or("", |pause| &pause.by))
    .bind(held.map(|pause| pause.at))
    .bind(batch.id)
    .execute()
    .await?;
    Ok(pause)
}
