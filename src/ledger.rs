//! The durable record of every mail.
//!
//! Promise: a row that may have reached a server is never made ready again without the batch's
//! policy or a person; every write names what it believes, and rows that did not match are an
//! answer, not an error; counters follow from the rows that changed, in the same transaction.
//! Absent on purpose: this room knows no transport, reads no clock and prints nothing.
//! Start reading at `claims`, then `recorder`, then `sweep`; for what people do, at `batches`, then
//! `load`, then `settle`.

mod act;
pub mod batches;
pub mod claims;
pub mod counts;
mod error;
pub mod evidence;
mod ids;
pub mod journal;
pub mod load;
pub mod recorder;
mod refused;
pub mod rows;
mod schema;
pub mod settle;
pub mod shared;
pub mod snapshot;
pub mod suppression;
pub mod sweep;
pub mod workers;

use std::sync::Arc;

use crate::db::{Db, DbError, Location, Open};

pub use error::LedgerError;
pub use refused::Refused;

/// An open ledger; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ledger {
    db: Db,
    meta: Arc<schema::Meta>,
}

impl Ledger {
    /// Opens the ledger at `location`, brings its tables up to date, and refuses a newer one.
    pub async fn open(location: &Location, open: Open) -> Result<Self, LedgerError> {
        let db = match Db::open(location, open).await {
            Err(DbError::Missing(place)) => return Err(LedgerError::Missing(place)),
            opened => opened?,
        };
        let meta = Arc::new(schema::prepare(&db, open).await?);
        Ok(Self { db, meta })
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

    /// Waits for the writes under way and closes every connection.
    pub async fn close(&self) {
        self.db.close().await;
    }
}
