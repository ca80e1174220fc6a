//! The rate of a transport, taken in lots of about a second.

use crate::domain::rate::{Rate, Tokens};
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

impl Ledger {
    /// Takes up to `wanted` tokens of `transport`'s rate.
    ///
    /// `day` is the local calendar day around `now`: its midnight and the next one.
    pub async fn take_tokens(
        &self,
        _transport: String,
        _rate: Rate,
        _wanted: i64,
        _now: Timestamp,
        _day: (Timestamp, Timestamp),
    ) -> Result<Tokens, LedgerError> {
        todo!()
    }
}
