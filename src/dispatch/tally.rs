//! What became of the attempts of one worker, over all its identities.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::outcome::Outcome;
use crate::domain::settle::Settled;

use super::progress::Counts;

/// Counts recorded ends.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sent: AtomicU64,
    failed: AtomicU64,
    unknown: AtomicU64,
    later: AtomicU64,
    in_doubt: AtomicU64,
}

impl Tally {
    /// Counts one recorded end.
    pub(super) fn count(&self, outcome: Outcome, settled: Settled) {
        let place = match (outcome, settled) {
            (Outcome::Unknown(_), _) | (_, Settled::Unknown(_)) => &self.unknown,
            (_, Settled::Sent(_)) => &self.sent,
            (_, Settled::Failed(_)) => &self.failed,
            (_, Settled::Ready { .. }) => &self.later,
        };
        place.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts rows that failed without an attempt.
    pub(super) fn failed_unstarted(&self, rows: u64) {
        self.failed.fetch_add(rows, Ordering::Relaxed);
    }

    /// Counts rows that were put off and failed after all.
    pub(super) fn failed_after_all(&self, rows: u64) {
        self.failed.fetch_add(rows, Ordering::Relaxed);
        self.later.fetch_sub(rows, Ordering::Relaxed);
    }

    /// Counts rows whose end could not be learned or recorded.
    pub(super) fn in_doubt(&self, rows: u64) {
        self.in_doubt.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn counts(&self) -> Counts {
        let read = |place: &AtomicU64| place.load(Ordering::Relaxed);
        Counts {
            sent: read(&self.sent),
            failed: read(&self.failed),
            unknown: read(&self.unknown),
            later: read(&self.later),
        }
    }

    pub(super) fn rows_in_doubt(&self) -> u64 {
        self.in_doubt.load(Ordering::Relaxed)
    }
}
