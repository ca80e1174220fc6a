//! B7: what cannot be recorded is not sent.

use super::Reason;
use crate::domain::time::Timestamp;

/// Shut from the first failed ledger write to the next one that worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerDoor {
    shut_since: Option<Timestamp>,
}

impl LedgerDoor {
    /// Reports whether a new attempt may begin.
    pub const fn is_open(self) -> bool {
        self.shut_since.is_none()
    }

    /// Returns since when the ledger has not taken a write.
    pub const fn shut_since(self) -> Option<Timestamp> {
        self.shut_since
    }

    /// Notes a write that failed; returns the reason if it was the first.
    pub fn failed(&mut self, now: Timestamp, error: &str) -> Option<Reason> {
        if self.shut_since.is_some() {
            return None;
        }
        self.shut_since = Some(now);
        Some(Reason::ledger(error))
    }

    /// Notes a write that worked.
    pub fn written(&mut self) {
        self.shut_since = None;
    }
}
