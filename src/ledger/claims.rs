//! A worker's right to a set of rows.
//!
//! Promise: a row is in the hands of one worker at most. A claimed row stays `ready`: reserved is
//! not sending.

use crate::domain::id::{Attempt, BatchId, Generation, RecipientId, WorkerId};
use crate::domain::state::How;
use crate::domain::time::Timestamp;

use super::workers::Registered;
use super::{Ledger, LedgerError};

/// What a claim brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    pub rows: Vec<ClaimedRow>,
    /// The number of the do-not-send list when it was looked at with these rows.
    pub suppression_seen: i64,
}

/// A row in this worker's hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedRow {
    pub id: RecipientId,
    pub batch: BatchId,
    pub attempt: Attempt,
    pub tries: i64,
    pub generation: Generation,
    pub unknown_attempts: i64,
    /// When this generation was first started; fixes the Date of the message.
    pub first_started: Option<Timestamp>,
    pub key: String,
    pub address: String,
    /// The person's columns, as JSON.
    pub fields: String,
    /// On the do-not-send list: it fails without an attempt.
    pub suppressed: bool,
}

impl Ledger {
    /// Reserves up to `limit` rows of a running batch that are due.
    ///
    /// Until a batch has had its first answer that is not suspect, one row is given out, and only
    /// while no other is out (protocol 18). Nothing is claimed for a worker that was swept.
    pub async fn claim(
        &self,
        _worker: WorkerId,
        _batch: BatchId,
        _limit: i64,
        _now: Timestamp,
    ) -> Result<Claimed, LedgerError> {
        todo!()
    }

    /// Returns the `ready` rows that carry this worker's number, as if just claimed.
    ///
    /// For a worker with empty hands: a claim whose acknowledgement was lost, or one it forgot.
    pub async fn own_forgotten_rows(&self, _worker: WorkerId) -> Result<Claimed, LedgerError> {
        todo!()
    }

    /// Gives this worker's unstarted rows of a batch back; `due` is from when others may have them.
    pub async fn give_back(
        &self,
        _worker: WorkerId,
        _batch: BatchId,
        _now: Timestamp,
    ) -> Result<i64, LedgerError> {
        todo!()
    }

    /// Gives single unstarted rows back, each due at its time.
    pub async fn give_back_rows(
        &self,
        _worker: WorkerId,
        _rows: Vec<(RecipientId, Timestamp)>,
        _now: Timestamp,
    ) -> Result<i64, LedgerError> {
        todo!()
    }

    /// Fails a claimed row without an attempt; false if it was not this worker's any more.
    ///
    /// `how` is `Suppressed`, `Unbuildable` or `Expired`; `note` says why, for people.
    pub async fn fail_unstarted(
        &self,
        _me: Registered,
        _row: RecipientId,
        _how: How,
        _note: String,
        _now: Timestamp,
    ) -> Result<bool, LedgerError> {
        todo!()
    }

    /// Fails rows whose suspect refusals a breaker has decided to believe (protocol 18).
    ///
    /// Only rows that are still ready at exactly that attempt; returns how many.
    pub async fn fail_suspects(
        &self,
        _me: Registered,
        _rows: Vec<(RecipientId, Attempt)>,
        _now: Timestamp,
    ) -> Result<i64, LedgerError> {
        todo!()
    }

    /// Notes that a batch has had its first answer that is not suspect: claims are full from now on.
    pub async fn probed(&self, _batch: BatchId) -> Result<(), LedgerError> {
        todo!()
    }
}
