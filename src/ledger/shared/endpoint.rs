//! Whether a transport is down, for all workers, and who may try it.

use crate::domain::id::WorkerId;
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

/// The state of a transport as all workers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointRow {
    /// Nothing is tried before this; 0 when all is well.
    pub closed_until: Timestamp,
    pub why: String,
    pub failures: i64,
    /// The worker that may try it, if one does.
    pub probe: Option<WorkerId>,
    pub updated: Timestamp,
}

impl Ledger {
    /// Returns the state of a transport; one never heard of is well.
    pub async fn endpoint(&self, _transport: &str) -> Result<EndpointRow, LedgerError> {
        todo!()
    }

    /// Notes another failure and closes the transport until `until`; returns the state after it.
    pub async fn endpoint_failed(
        &self,
        _transport: String,
        _why: String,
        _until: Timestamp,
        _now: Timestamp,
    ) -> Result<EndpointRow, LedgerError> {
        todo!()
    }

    /// Makes this worker the only one that tries the transport; false if another one does.
    pub async fn take_probe(
        &self,
        _transport: String,
        _worker: WorkerId,
        _now: Timestamp,
    ) -> Result<bool, LedgerError> {
        todo!()
    }

    /// Notes that the transport works: everybody may use it again.
    pub async fn endpoint_ok(
        &self,
        _transport: String,
        _now: Timestamp,
    ) -> Result<(), LedgerError> {
        todo!()
    }
}
