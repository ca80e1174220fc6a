//! Who works: registering, heartbeats, slots, and asking a worker to stop.
//!
//! Promise: an identity is new at each start, and `lost_at` is never taken back: whoever was swept
//! or has left stays fenced for ever.

use crate::domain::id::WorkerId;
use crate::domain::time::Timestamp;
use crate::domain::watch::Process;

use super::{Ledger, LedgerError};

/// Who a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub host: String,
    pub process: Process,
    pub state_dir: String,
    /// The kinds it serves; empty: all.
    pub kinds: Vec<String>,
}

/// A registered worker: its number and its slot among the counters, 1 to 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registered {
    pub worker: WorkerId,
    pub slot: i64,
}

/// A worker as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    pub id: WorkerId,
    pub identity: Identity,
    pub started_at: Timestamp,
    /// Rises with every transaction of its recorder; when it stands still, it may be dead.
    pub beat: i64,
    pub beat_at: Timestamp,
    pub slot: i64,
    pub lost_at: Option<Timestamp>,
    pub lost_how: LostHow,
    /// Until when an answer to something it had on the wire may still come.
    pub late_until: Option<Timestamp>,
    /// Since when it is asked to stop.
    pub stop_at: Option<Timestamp>,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostHow {
    /// It has not ended.
    Not,
    /// It gave everything back and said so.
    Left,
    /// Its process is proved gone.
    Gone,
    /// Its beat stood still; it may still be alive somewhere.
    Silent,
}

impl Ledger {
    /// Gives this process a number and the lowest free slot.
    pub async fn register(
        &self,
        _identity: Identity,
        _now: Timestamp,
    ) -> Result<Registered, LedgerError> {
        todo!()
    }

    /// Returns the workers that were not swept and have not left, the oldest first.
    pub async fn workers(&self) -> Result<Vec<Worker>, LedgerError> {
        todo!()
    }

    /// Returns any worker, also a lost one.
    pub async fn worker(&self, _id: WorkerId) -> Result<Option<Worker>, LedgerError> {
        todo!()
    }

    /// Asks a worker to finish what is on the wire and to stop; false if it has ended already.
    pub async fn request_stop(&self, _id: WorkerId, _now: Timestamp) -> Result<bool, LedgerError> {
        todo!()
    }

    /// Gives every claim back and ends the worker: it is fenced from now on.
    ///
    /// Its rows that are still `sending` are not touched; the sweep of a worker that left finds
    /// none, because every started row got its end before.
    pub async fn leave(&self, _me: Registered, _now: Timestamp) -> Result<(), LedgerError> {
        todo!()
    }
}
