//! The durable record of every mail.
//!
//! Promise: a row that may have reached a server is never made ready again without the batch's
//! policy or a person; every write names what it believes, and rows that did not match are an
//! answer, not an error; counters follow from the rows that changed, in the same transaction.
//! Absent on purpose: this room knows no transport, reads no clock and prints nothing.
//! Start reading at `claims`, then `recorder`, then `sweep`; for what people do, at `batches`, then
//! `load`, then `settle`.

mod act;
mod attempts;
pub mod batches;
pub mod claims;
pub mod counts;
mod delivery;
mod error;
pub mod evidence;
mod ids;
pub mod journal;
pub mod load;
mod moves;
pub mod recorder;
mod refused;
pub mod rejects;
pub mod rows;
mod schema;
pub mod settle;
pub mod shared;
pub mod snapshot;
pub mod suppression;
pub mod sweep;
pub mod workers;

use std::ops::Range;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::db::{Db, DbError, Field, List, Location, Open};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;

pub use error::LedgerError;
pub use refused::Refused;

/// An open ledger; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ledger {
    db: Db,
    meta: Arc<schema::Meta>,
    claims: Arc<Mutex<Range<i64>>>,
}

/// Numbers for claims that one process takes at a time.
const CLAIM_NUMBERS: i64 = 100;

impl Ledger {
    /// Opens the ledger at `location`, brings its tables up to date, and refuses a newer one.
    pub async fn open(location: &Location, open: Open) -> Result<Self, LedgerError> {
        let db = match Db::open(location, open).await {
            Err(DbError::Missing(place)) => return Err(LedgerError::Missing(place)),
            opened => opened?,
        };
        let meta = Arc::new(schema::prepare(&db, open).await?);
        Ok(Self { db, meta, claims: Arc::default() })
    }

    /// Returns the random name that this ledger was given when it was made.
    pub fn id(&self) -> &str {
        &self.meta.ledger_id
    }

    /// Returns the secret that Message-IDs are signed with.
    pub fn mac_key(&self) -> &[u8] {
        &self.meta.mac_key
    }

    /// Returns where it is, fit to be shown.
    pub fn location(&self) -> &Location {
        self.db.location()
    }

    /// Returns a number for a claim, out of a block of this process.
    ///
    /// Not within the claim's own transaction: that would hold the block until its commit, and all
    /// workers would claim one after the other.
    async fn claim_number(&self) -> Result<i64, LedgerError> {
        let mut block = self.claims.lock().await;
        if let Some(number) = block.next() {
            return Ok(number);
        }
        let first: i64 = self
            .db
            .write(|tx| Box::pin(async { ids::reserve(tx, ids::CLAIM, CLAIM_NUMBERS).await }))
            .await?;
        *block = first + 1..first + CLAIM_NUMBERS;
        Ok(first)
    }

    /// Ends rows that came back to `ready` in batches that are cancelled: nothing else would.
    async fn clear_cancelled(
        &self,
        batches: &[BatchId],
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        if batches.is_empty() {
            return Ok(());
        }
        let list: List = batches.iter().map(|batch| batch.0).collect();
        let dialect = self.db.dialect();
        let sql = format!(
            "select b.id from {} v join batch b on b.id = v.id where b.wanted = 'cancelled'",
            dialect.json_rows(&[Field::Int("id")])
        );
        let cancelled = self.db.read().await?.query(sql).bind(list).fetch_all().await?;
        for row in cancelled {
            self.cancel_leftovers(BatchId(row.int(0)?), now).await?;
        }
        Ok(())
    }

    /// Waits for the writes under way and closes every connection.
    pub async fn close(&self) {
        self.db.close().await;
    }
}
