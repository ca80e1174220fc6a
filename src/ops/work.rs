//! Working: running the engine in this process.

pub use crate::dispatch::progress::{Finished, Progress, Teller, Waiting, Why};
pub use crate::dispatch::settings::{Serve, Until};

use super::Ops;
use super::error::OpsError;
use crate::dispatch::{DispatchError, Worker};
use crate::domain::batch::{BatchState, Bucket, Counts};
use crate::ledger::LedgerError;
use crate::shutdown::Shutdown;

/// What a worker works on, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub names: Vec<String>,
    pub sum: Counts,
}

impl Ops {
    /// Returns the counts of the batches that a worker would take rows from now.
    ///
    /// A batch that is named is counted whatever it is.
    pub async fn numbers(&self, serve: &Serve) -> Result<Numbers, OpsError> {
        let only = match serve {
            Serve::Batch(id) => Some(*id),
            Serve::Everything | Serve::Kinds(_) => None,
        };
        let mut numbers = Numbers::default();
        for batch in self.ledger.status(only, self.now()).await?.batches {
            let is_served = match serve {
                Serve::Batch(_) => true,
                Serve::Everything => batch.state == BatchState::Running,
                Serve::Kinds(kinds) => {
                    batch.state == BatchState::Running && kinds.contains(&batch.batch.kind)
                }
            };
            if is_served {
                numbers.names.push(batch.batch.name);
                for &bucket in Bucket::ALL {
                    numbers.sum.add(bucket, batch.counts.get(bucket));
                }
            }
        }
        Ok(numbers)
    }

    /// Works until there is a reason to end.
    pub async fn work(
        &self,
        serve: Serve,
        until: Until,
        shutdown: Shutdown,
        teller: Teller,
    ) -> Result<Finished, OpsError> {
        if let Serve::Kinds(kinds) = &serve {
            kinds.iter().try_for_each(|kind| self.kind(kind).map(|_| ()))?;
        }
        let settings = self.worker_settings(serve.clone(), until)?;
        let (ledger, clock) = (self.ledger.clone(), self.clock.clone());
        // Taking in ends with the worker, whatever the worker ends for.
        let ending = shutdown.child();
        let mut jobs = self.take_jobs(&serve, until, &ending, &teller)?;
        if until != Until::Forever {
            // What lies in the queues belongs to what has to be done before the end.
            while jobs.join_next().await.is_some() {}
        }
        let finished = Worker::run(settings, ledger, clock, shutdown, teller).await;
        ending.ask();
        while jobs.join_next().await.is_some() {}
        Ok(finished?)
    }
}

impl From<DispatchError> for OpsError {
    fn from(err: DispatchError) -> Self {
        match err {
            DispatchError::Ledger(LedgerError::TooManyWorkers) => {
                Self::refused("63 workers are at work already")
                    .hint("`ittsu workers` lists them; `ittsu workers stop ID` ends one")
            }
            DispatchError::Ledger(err) => err.into(),
            err @ DispatchError::StateDir { .. } => Self::failed(err.to_string())
                .because(err)
                .hint("name a folder that lasts and that can be written: ITTSU_STATE_DIR"),
            err @ DispatchError::MessageIds => Self::failed(err.to_string()),
        }
    }
}
