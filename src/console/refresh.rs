//! Asks for everything that is watched, again and again, beside the screen.
//!
//! Promise: the screen never waits for it; one question is under way at a time; when the ledger
//! cannot be reached it goes on asking, less and less often, and says so each time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use super::message::{Fault, Msg};
use crate::ops::Ops;

/// How often numbers are asked for while all is well.
const EVERY: Duration = Duration::from_secs(1);
/// How long one answer is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const SLOWEST: Duration = Duration::from_secs(8);
/// Looks between two sweeps of workers whose process on this machine is gone.
const SWEEP: u64 = 5;

/// Runs until nobody listens any more.
pub(super) async fn run(ops: Ops, wake: Arc<Notify>, heard: mpsc::Sender<Msg>) {
    let mut failures = 0_u32;
    for look in 0_u64.. {
        let found = tokio::time::timeout(PATIENCE, ops.live()).await;
        let found = match found {
            Ok(Ok(live)) => Ok(Box::new(live)),
            Ok(Err(err)) => Err(Fault::from(err)),
            Err(_) => Err(Fault {
                message: format!("no answer within {} s", PATIENCE.as_secs()),
                hint: None,
                away: true,
            }),
        };
        failures = if found.is_err() { failures.saturating_add(1) } else { 0 };
        if heard.send(Msg::Live(found)).await.is_err() {
            return;
        }
        // Rows of dead workers come to light even where no other worker lives. A sweep that fails
        // is tried again; the numbers say what is wrong with the ledger.
        if failures == 0 && look % SWEEP == 0 {
            drop(ops.sweep_gone().await);
        }
        let wait = EVERY.saturating_mul(2_u32.saturating_pow(failures)).min(SLOWEST);
        let wait = if failures == 0 { EVERY } else { wait };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = wake.notified() => {}
        }
    }
}
