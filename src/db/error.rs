//! What can go wrong below the ledger.

use super::Dialect;

/// Says why the database did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error("`{url}` is no ledger address: {why}")]
    Location { url: String, why: String },
    #[error("there is no ledger at {0}")]
    Missing(String),
    #[error("the ledger file {0} was replaced, moved or deleted while it was open")]
    Replaced(String),
    #[error("{engine} cannot be used: {why}")]
    Unfit { engine: &'static str, why: String },
    #[error("the ledger is open for reading only")]
    ReadOnly,
    #[error("another writer holds the database")]
    Busy(#[source] sqlx::Error),
    #[error("the database cannot be reached")]
    Away(#[source] sqlx::Error),
    #[error("a row with that key is there already")]
    Taken(#[source] sqlx::Error),
    #[error("the database cannot store a value")]
    Value(#[source] sqlx::Error),
    #[error("the database refused a statement")]
    Refused(#[source] sqlx::Error),
    #[error("the query cannot be run: {why}")]
    Query { why: String },
    #[error("column {index} holds no {wanted}")]
    Column {
        index: usize,
        wanted: &'static str,
        #[source]
        source: sqlx::Error,
    },
}

impl DbError {
    /// Sorts what the driver said.
    pub(super) fn of(dialect: Dialect, err: sqlx::Error) -> Self {
        match &err {
            sqlx::Error::Database(said) if dialect.is_busy(&**said) => Self::Busy(err),
            sqlx::Error::Database(said) if dialect.is_away(&**said) => Self::Away(err),
            sqlx::Error::Database(said) if said.is_unique_violation() => Self::Taken(err),
            sqlx::Error::Database(said) if dialect.is_about_value(&**said) => Self::Value(err),
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Away(err),
            _ => Self::Refused(err),
        }
    }

    /// The operating system gave no random numbers.
    pub fn random(err: std::io::Error) -> Self {
        Self::Away(sqlx::Error::Io(err))
    }

    /// Reports whether the whole transaction may be repeated at once.
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_))
    }

    /// Reports whether the same call may succeed later, with nothing changed here.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::Away(_))
    }

    /// Reports whether one of the values was to blame: the same statement never succeeds with it.
    pub const fn is_about_value(&self) -> bool {
        matches!(self, Self::Value(_) | Self::Taken(_))
    }

    /// Reports whether what was opened is not there any more; nothing brings it back.
    pub const fn is_replaced(&self) -> bool {
        matches!(self, Self::Replaced(_))
    }

    /// Reports whether it was a unique key that said no.
    pub const fn is_taken(&self) -> bool {
        matches!(self, Self::Taken(_))
    }
}

impl super::WorkError for DbError {
    fn is_busy(&self) -> bool {
        Self::is_busy(self)
    }
}
