//! Letting workers take a batch.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Ops;
use super::error::OpsError;
use super::status::serves;
use super::when;
use super::words::thousands;
use crate::domain::batch::{Start, may_start};
use crate::domain::name::BatchName;
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::batches::start::{StartRequest, Started};
use crate::ledger::counts::BatchStatus;
use crate::ledger::journal::By;

/// A time that was typed in minutes, and a clock that differs a little, are not the past.
const JUST_NOW: Duration = Duration::from_mins(1);

/// A start as it was asked for.
#[derive(Clone, Debug)]
pub struct StartWish {
    pub batch: BatchName,
    pub confirm: Option<u64>,
    pub at: Option<Timestamp>,
    pub leave_unbuildable: Option<u64>,
    /// Whether every waiting message has just been built.
    pub built: Built,
}

/// Whether the messages still have to be built before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Built {
    /// An import that has just ended built all of them.
    JustNow,
    NotYet,
}

/// `ittsu/start/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StartBody {
    pub batch: String,
    /// `started`, `scheduled`, `paused` (its kind is) or `nothing_to_do`.
    pub what: &'static str,
    pub at: Option<String>,
    /// The rows that were confirmed.
    pub matched: u64,
    pub changed: u64,
    pub left: u64,
    pub sent: i64,
    pub failed: i64,
    pub ready: i64,
    pub sending: i64,
    pub unknown: i64,
    /// Whether a living worker serves it.
    pub workers: usize,
}

impl Ops {
    /// Lets workers take a batch, now or at a time, if as many rows are ready as were confirmed.
    pub async fn start(&self, wish: StartWish, by: By) -> Result<StartBody, OpsError> {
        self.refuse_past(wish.at)?;
        let batch = self.batch(&wish.batch).await?;
        let status = self.status_of(&batch).await?;
        let ready = status.counts.ready;
        let started = batch.started_at.is_some();
        match may_start(batch.wanted, started, batch.loading.is_some(), ready) {
            Start::Go => {
                if wish.built == Built::NotYet {
                    self.refuse_unbuildable(&batch, wish.leave_unbuildable).await?;
                }
                if wish.confirm.is_none() {
                    return Err(unconfirmed(&batch, ready));
                }
            }
            Start::NothingToDo if status.counts.total() == 0 => {
                return Err(OpsError::refused(format!("there is nobody in `{}`", batch.name)));
            }
            Start::NothingToDo => return self.started(&batch, Started::NothingToDo).await,
            // The ledger words what stands in the way.
            Start::Loading | Start::Paused | Start::Cancelled => {}
        }
        let frozen = match self.settings.kinds.get(&batch.kind) {
            Some(_) => self.kind(&batch.kind)?.frozen,
            None => batch.frozen.clone(),
        };
        let request = StartRequest {
            batch: batch.id,
            confirm: wish.confirm.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX)),
            at: wish.at,
            frozen,
            message: None,
            leave_unbuildable: wish.leave_unbuildable.and_then(|n| i64::try_from(n).ok()),
        };
        let done = self.ledger.start(request, by, self.now()).await?;
        self.started(&batch, done).await
    }

    /// Refuses a start at a time that is over: somebody mistyped it, and it would start at once.
    pub(super) fn refuse_past(&self, at: Option<Timestamp>) -> Result<(), OpsError> {
        let now = self.now();
        match at {
            Some(at) if now.since(at) > JUST_NOW => {
                let (at, zone) =
                    (when::minute(at, &self.settings.timezone), &self.settings.timezone);
                let now = when::minute(now, zone);
                let message = format!("{at} is over, it is {now} now; nothing was changed");
                Err(OpsError::usage(message).hint("without --at it starts at once"))
            }
            _ => Ok(()),
        }
    }

    async fn refuse_unbuildable(&self, batch: &Batch, leave: Option<u64>) -> Result<(), OpsError> {
        let message = self.ledger.message(batch.id, batch.template_version).await?;
        let builder = Arc::new(self.builder(batch, &message)?);
        self.build_waiting(batch, &builder).await?.refuse(&batch.name, leave)
    }

    /// Returns one batch with its counts.
    pub(super) async fn status_of(&self, batch: &Batch) -> Result<BatchStatus, OpsError> {
        let status = self.ledger.status(Some(batch.id), self.now()).await?;
        let gone = || OpsError::missing(format!("there is no batch `{}` any more", batch.name));
        status.batches.into_iter().next().ok_or_else(gone)
    }

    async fn started(&self, batch: &Batch, done: Started) -> Result<StartBody, OpsError> {
        let counts = self.status_of(batch).await?.counts;
        let workers = self.ledger.workers().await?;
        let serving = workers.iter().filter(|worker| serves(worker, batch));
        let (what, at, rows) = match done {
            Started::Now { ready } => ("started", None, ready),
            Started::At { time, ready } => ("scheduled", Some(time), ready),
            Started::Paused { ready } => ("paused", None, ready),
            Started::NothingToDo => ("nothing_to_do", None, 0),
        };
        let rows = u64::try_from(rows).unwrap_or(0);
        Ok(StartBody {
            batch: batch.name.clone(),
            what,
            at: at.map(|at| when::rfc3339(at, &self.settings.timezone)),
            matched: rows,
            changed: rows,
            left: 0,
            sent: counts.sent,
            failed: counts.failed,
            ready: counts.ready,
            sending: counts.sending,
            unknown: counts.unknown,
            workers: serving.count(),
        })
    }
}

fn unconfirmed(batch: &Batch, ready: i64) -> OpsError {
    let found = u64::try_from(ready).unwrap_or(0);
    let n = thousands(ready);
    let message = format!("{n} people would get {} \"{}\"", batch.name, batch.title);
    OpsError::unconfirmed(found, message)
}
