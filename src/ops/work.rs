//! Working: running the engine in this process.

use super::Ops;
use super::error::OpsError;
use crate::dispatch::progress::{Finished, Teller};
use crate::dispatch::settings::{Serve, Until};
use crate::dispatch::{DispatchError, Worker};
use crate::ledger::LedgerError;
use crate::shutdown::Shutdown;

impl Ops {
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
        let settings = self.worker_settings(serve, until)?;
        let (ledger, clock) = (self.ledger.clone(), self.clock.clone());
        Ok(Worker::run(settings, ledger, clock, shutdown, teller).await?)
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
