//! The connections of a transport, of all workers together.

use crate::domain::id::WorkerId;
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

/// Who holds a transport's lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Workers that hold lanes, and how many.
    pub holders: Vec<(WorkerId, i64)>,
    pub free: i64,
}

impl Ledger {
    /// Takes a free lane below `connections`, or `None` if all are taken.
    pub async fn take_lane(
        &self,
        _transport: String,
        _worker: WorkerId,
        _connections: i64,
        _now: Timestamp,
    ) -> Result<Option<i64>, LedgerError> {
        todo!()
    }

    /// Gives a lane back.
    pub async fn release_lane(
        &self,
        _transport: String,
        _worker: WorkerId,
        _number: i64,
        _now: Timestamp,
    ) -> Result<(), LedgerError> {
        todo!()
    }

    /// Returns who holds the lanes, so that a worker can tell whether it has more than its share.
    pub async fn lanes(&self, _transport: &str, _connections: i64) -> Result<Lanes, LedgerError> {
        todo!()
    }
}
