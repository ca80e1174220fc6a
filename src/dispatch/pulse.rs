//! What every connection must know before it goes on: is the ledger there, are we still alive in it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::domain::watch::may_write_dot;

/// How this worker stands with the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Well,
    /// The ledger cannot be written: nothing new is sent (breaker B7).
    Away,
    /// This worker was taken for lost: it writes and sends nothing more.
    Fenced,
    /// The ledger that it wrote to is not there any more: it ends, and sends nothing more.
    Gone,
}

impl Health {
    /// Reports whether this worker can never write to the ledger again under its identity.
    pub(super) const fn is_final(self) -> bool {
        matches!(self, Self::Fenced | Self::Gone)
    }
}

/// Shared by the recorder, who feels the pulse, and the connections, who ask.
#[derive(Debug)]
pub(super) struct Pulse {
    /// Microseconds since boot of the last beat that the ledger acknowledged.
    acknowledged: AtomicU64,
    lost_after: Duration,
    health: watch::Sender<Health>,
    /// Connections whose start was written and whose finish was not handed in yet.
    out: AtomicUsize,
}

impl Pulse {
    /// Begins with the registration as the first beat.
    pub(super) fn new(registered: Duration, lost_after: Duration) -> Self {
        Self {
            acknowledged: AtomicU64::new(micros(registered)),
            lost_after,
            health: watch::Sender::new(Health::Well),
            out: AtomicUsize::new(0),
        }
    }

    /// Notes that a beat *begun* at `since_boot` was acknowledged.
    pub(super) fn acknowledge(&self, since_boot: Duration) {
        self.acknowledged.fetch_max(micros(since_boot), Ordering::AcqRel);
    }

    /// Reports whether a final dot may be written at `since_boot` (`protocol.md` 4).
    pub(super) fn allows_dot(&self, since_boot: Duration) -> bool {
        let acknowledged = Duration::from_micros(self.acknowledged.load(Ordering::Acquire));
        !self.health().is_final() && may_write_dot(acknowledged, since_boot, self.lost_after)
    }

    pub(super) fn health(&self) -> Health {
        *self.health.borrow()
    }

    /// Changes the health; being fenced is for ever, and so is having lost the ledger.
    pub(super) fn set_health(&self, health: Health) {
        self.health.send_if_modified(|now| {
            let changes = *now != health && !now.is_final();
            if changes {
                *now = health;
            }
            changes
        });
    }

    /// Returns a receiver that wakes whenever the health changes.
    pub(super) fn watch(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    pub(super) fn went_out(&self, connections: usize) {
        self.out.fetch_add(connections, Ordering::AcqRel);
    }

    pub(super) fn came_back(&self) {
        self.out.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn out(&self) -> usize {
        self.out.load(Ordering::Acquire)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn a_dot_needs_a_beat_younger_than_half_of_lost_after() {
        let pulse = Pulse::new(s(100), s(60));
        assert!(pulse.allows_dot(s(130)));
        assert!(!pulse.allows_dot(s(131)));
        pulse.acknowledge(s(120));
        assert!(pulse.allows_dot(s(150)));
    }

    #[test]
    fn an_older_beat_does_not_turn_time_back() {
        let pulse = Pulse::new(s(100), s(60));
        pulse.acknowledge(s(50));
        assert!(pulse.allows_dot(s(130)));
    }

    #[test]
    fn a_fenced_worker_writes_no_dot_and_stays_fenced() {
        let pulse = Pulse::new(s(100), s(60));
        pulse.set_health(Health::Fenced);
        pulse.set_health(Health::Well);
        assert_eq!(pulse.health(), Health::Fenced);
        assert!(!pulse.allows_dot(s(100)));
    }
}
