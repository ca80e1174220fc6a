//! What can go wrong in the ledger.

use tokio::time::error::Elapsed;

use crate::db::{DbError, WorkError};
use crate::domain::id::WorkerId;

use super::Refused;

/// Says why the ledger did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("there is no ledger at {0}")]
    Missing(String),
    #[error(
        "the ledger has schema {found}; this program knows up to {known} and is too old for it"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "the ledger has schema {found} and must first be brought to {known} by a command that writes"
    )]
    Older { found: i64, known: i64 },
    #[error("the ledger holds `{word}` where a {what} belongs")]
    Nonsense { what: &'static str, word: String },
    #[error("worker {0} was taken for lost; it must register anew")]
    Fenced(WorkerId),
    #[error("63 workers are at work already")]
    TooManyWorkers,
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error("the ledger did not answer in time")]
    Slow(#[source] Elapsed),
    #[error("the ledger failed")]
    Db(#[from] DbError),
}

impl LedgerError {
    /// Reports whether the same call may succeed later, with nothing changed here.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Slow(_) => true,
            Self::Db(err) => err.is_transient(),
            _ => false,
        }
    }

    /// Reports whether one of the values cannot be stored, whenever it is tried.
    pub const fn is_about_value(&self) -> bool {
        matches!(self, Self::Db(err) if err.is_about_value())
    }

    /// Reports whether the ledger that was opened is not there any more; nothing brings it back.
    pub const fn is_replaced(&self) -> bool {
        matches!(self, Self::Db(err) if err.is_replaced())
    }

    pub(super) fn slow(elapsed: Elapsed) -> Self {
        Self::Slow(elapsed)
    }

    /// Reports whether somebody else holds a unique key that was to be inserted.
    pub const fn is_taken(&self) -> bool {
        matches!(self, Self::Db(err) if err.is_taken())
    }
}

impl WorkError for LedgerError {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Db(err) if err.is_busy())
    }
}
