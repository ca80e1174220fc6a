//! One moment of everything, cheap enough to be asked for every second.
//!
//! Promise: the numbers of all batches come from one snapshot, and nothing here reads rows: what is
//! asked grows with the number of batches and workers, never with the people in them.
//! Absent on purpose: whether the counters are true. That reads every row; `doctor` does it.

use super::Ops;
use super::attention::{Limits, Need, attention};
use super::error::OpsError;
use super::status::look_at;
use crate::dispatch::identity::Myself;
use crate::domain::batch::{BatchState, Counts};
use crate::domain::time::Timestamp;
use crate::ledger::counts::BatchStatus;
use crate::ledger::workers::Worker;

pub use crate::ledger::journal::JournalEntry;

/// Everything that a person watches, at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub as_of: Timestamp,
    /// The newest first.
    pub batches: Vec<LiveBatch>,
    pub workers: Vec<LiveWorker>,
    pub routes: Vec<LiveRoute>,
    /// What operators did last, the latest first.
    pub news: Vec<JournalEntry>,
}

/// One batch with its numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveBatch {
    pub name: String,
    pub kind: String,
    pub title: String,
    pub state: BatchState,
    pub counts: Counts,
    pub oldest_ready_at: Option<Timestamp>,
    pub next_due_at: Option<Timestamp>,
    pub scheduled_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub started_by: String,
    pub paused_because: String,
    pub paused_by: String,
    /// What it was read from.
    pub source: String,
    /// The route it takes.
    pub via: String,
    /// The speed it may have at most; empty: no limit.
    pub limit: String,
    /// Living workers that hold rows of it.
    pub workers: i64,
    /// `no_worker`, `hours`, `endpoint`, `retry` or `rate`.
    pub waiting: Option<&'static str>,
    /// What needs a person.
    pub needs: Vec<Need>,
}

/// One worker that was not taken for lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveWorker {
    pub id: i64,
    pub host: String,
    pub pid: i64,
    pub started_at: Timestamp,
    pub beat_at: Timestamp,
    pub stopping: bool,
    /// Its process on this machine is proved gone.
    pub gone: bool,
    /// Empty: every kind.
    pub kinds: Vec<String>,
}

/// One way out, as all workers share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveRoute {
    pub name: String,
    /// Nothing is tried before this.
    pub closed_until: Option<Timestamp>,
    pub why: String,
    pub failures: i64,
}

/// Entries of the journal that are news.
const NEWS: i64 = 20;

impl Ops {
    /// Returns everything that a person watches, at this moment.
    pub async fn live(&self) -> Result<Live, OpsError> {
        let now = self.now();
        let status = self.ledger.status(None, now).await?;
        let workers = self.ledger.workers().await?;
        let mut batches = Vec::with_capacity(status.batches.len());
        for batch in &status.batches {
            batches.push(self.live_batch(batch, &workers, now).await?);
        }
        batches.sort_by_key(|batch| std::cmp::Reverse(batch.created_at));
        let myself = Myself::look();
        let workers = workers.iter().map(|worker| live_worker(worker, &myself)).collect();
        let mut routes = Vec::with_capacity(self.settings.transports.len());
        for name in self.settings.transports.keys() {
            let row = self.ledger.endpoint(name).await?;
            let closed_until = Some(row.closed_until).filter(|&until| now < until);
            let (why, failures) = (row.why, row.failures);
            routes.push(LiveRoute { name: name.clone(), closed_until, why, failures });
        }
        let news = self.ledger.journal(None, None, NEWS).await?;
        Ok(Live { as_of: now, batches, workers, routes, news })
    }

    async fn live_batch(
        &self,
        status: &BatchStatus,
        workers: &[Worker],
        now: Timestamp,
    ) -> Result<LiveBatch, OpsError> {
        let BatchStatus { batch, state, counts, .. } = status;
        let transport = self.settings.transports.get(&batch.frozen.via);
        let shared = transport.and_then(|transport| transport.shared().rate);
        let limit = match (batch.rate.is_empty(), shared) {
            (false, _) => batch.rate.clone(),
            (true, Some(rate)) => rate.to_string(),
            (true, None) => String::new(),
        };
        Ok(LiveBatch {
            name: batch.name.clone(),
            kind: batch.kind.clone(),
            title: batch.title.clone(),
            state: *state,
            counts: *counts,
            oldest_ready_at: status.oldest_ready_at,
            next_due_at: status.next_due_at,
            scheduled_at: batch.scheduled_at,
            created_at: batch.created_at,
            started_at: batch.started_at,
            started_by: batch.started_by.clone(),
            paused_because: batch.paused_because.clone(),
            paused_by: batch.paused_by.clone(),
            source: batch.source.clone(),
            via: batch.frozen.via.clone(),
            limit,
            workers: status.workers,
            waiting: self.waiting_because(status, workers, now).await?,
            needs: needs(status, workers, now),
        })
    }
}

/// Says what needs a person, but for what only rows can tell: who watches sees by the numbers
/// themselves that nothing moves.
fn needs(status: &BatchStatus, workers: &[Worker], now: Timestamp) -> Vec<Need> {
    if matches!(status.state, BatchState::Done | BatchState::Cancelled | BatchState::Draft) {
        return Vec::new();
    }
    let look = look_at(status, workers, now);
    attention(&[look], Limits::default(), now).into_iter().map(|entry| entry.need).collect()
}

fn live_worker(worker: &Worker, myself: &Myself) -> LiveWorker {
    LiveWorker {
        id: worker.id.0,
        host: worker.identity.host.clone(),
        pid: worker.identity.process.pid,
        started_at: worker.started_at,
        beat_at: worker.beat_at,
        stopping: worker.stop_at.is_some(),
        gone: myself.proves_gone(&worker.identity.process),
        kinds: worker.identity.kinds.clone(),
    }
}
