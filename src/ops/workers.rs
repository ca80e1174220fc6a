//! Who works, on what; and asking one to stop.

use serde::Serialize;

use super::Ops;
use super::action::Action;
use super::document::{Change, WhyLeft};
use super::error::OpsError;
use super::when;
use crate::dispatch::identity::Myself;
use crate::domain::id::WorkerId;
use crate::ledger::journal::{By, Entry};
use crate::ledger::workers::Worker;

/// `ittsu/workers/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkersBody {
    pub workers: Vec<WorkerBody>,
}

/// One worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerBody {
    pub id: i64,
    pub host: String,
    pub pid: i64,
    pub started_at: String,
    pub beat_at: String,
    /// `working`, `stopping` or `gone` (its process is proved dead).
    pub state: &'static str,
    /// Empty: every kind.
    pub kinds: Vec<String>,
    /// Rows it has reserved or on the wire.
    pub rows: i64,
    pub batches: Vec<String>,
}

impl Ops {
    /// Returns the workers that were not taken for lost.
    pub async fn workers(&self) -> Result<WorkersBody, OpsError> {
        let myself = Myself::look();
        let mut workers = Vec::new();
        for worker in self.ledger.workers().await? {
            let held = self.ledger.held_by(worker.id).await?;
            workers.push(WorkerBody {
                rows: held.iter().map(|(_, rows)| rows).sum(),
                batches: held.into_iter().map(|(batch, _)| batch).collect(),
                ..self.worker_body(&worker, &myself)
            });
        }
        Ok(WorkersBody { workers })
    }

    fn worker_body(&self, worker: &Worker, myself: &Myself) -> WorkerBody {
        let at = |time| when::rfc3339(time, &self.settings.timezone);
        let gone = myself.proves_gone(&worker.identity.process);
        WorkerBody {
            id: worker.id.0,
            host: worker.identity.host.clone(),
            pid: worker.identity.process.pid,
            started_at: at(worker.started_at),
            beat_at: at(worker.beat_at),
            state: match (gone, worker.stop_at) {
                (true, _) => "gone",
                (false, Some(_)) => "stopping",
                (false, None) => "working",
            },
            kinds: worker.identity.kinds.clone(),
            rows: 0,
            batches: Vec::new(),
        }
    }

    /// Asks a worker to finish what is on the wire and to end.
    pub async fn stop_worker(&self, id: i64, operator: &str) -> Result<Change, OpsError> {
        let worker = self.ledger.worker(WorkerId(id)).await?;
        let Some(worker) = worker else {
            return Err(OpsError::missing(format!("there is no worker {id}"))
                .hint("`ittsu workers` lists them"));
        };
        let asked =
            worker.stop_at.is_none() && self.ledger.request_stop(worker.id, self.now()).await?;
        if !asked {
            let why = match worker.lost_at {
                Some(_) => "it has ended",
                None => "asked already",
            };
            let why_left = vec![WhyLeft { why: why.to_owned(), rows: 1 }];
            return Ok(Change { matched: 1, left: 1, why_left, ..Change::default() });
        }
        let entry = Entry {
            selection: format!("worker {id}"),
            matched: 1,
            changed: 1,
            ..Entry::all(Action::StopWorker.word())
        };
        let journal = self.ledger.note(entry, By::new(operator, ""), self.now()).await?;
        Ok(Change { matched: 1, changed: 1, journal: Some(journal.0), ..Change::default() })
    }
}
