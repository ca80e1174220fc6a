//! Watches the other workers, and hears when a person asks this one to stop.

use std::sync::Arc;

use crate::ledger::LedgerError;

use super::progress::Why;
use super::pulse::Health;
use super::shift::Shift;
use super::sweep::Watch;

/// Looks at every beat until the shift is over.
pub(super) async fn run(shift: Arc<Shift>, mut watch: Watch) {
    while !shift.is_over() {
        tokio::select! {
            () = tokio::time::sleep(shift.settings.heartbeat) => {}
            () = shift.shutdown.draining() => return,
        }
        if shift.pulse.health() == Health::Well
            && let Err(error) = round(&shift, &mut watch).await
        {
            tracing::debug!(%error, "the workers cannot be looked at now");
        }
    }
}

/// Looks at every worker once and sweeps those that are gone.
pub(super) async fn round(shift: &Shift, watch: &mut Watch) -> Result<(), LedgerError> {
    let workers = shift.ledger.workers().await?;
    shift.set_living(workers.len());
    watch.keep_only(&workers);
    for worker in &workers {
        if worker.id == shift.me.worker {
            if worker.stop_at.is_some() {
                shift.end(Why::AskedByPerson);
            }
            continue;
        }
        let Some(proof) = watch.look(worker, shift.clock.since_boot()) else { continue };
        if let Some(told) = watch.sweep(&shift.ledger, worker, proof, &shift.clock).await? {
            shift.teller.tell(told);
        }
    }
    Ok(())
}
