//! What the ledger declines to do although the database would take it.

/// Says why nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no batch `{0}`")]
    NoSuchBatch(String),
    #[error("there is no row `{key}` in `{batch}`")]
    NoSuchRow { batch: String, key: String },
    #[error("there is no journal entry {0}")]
    NoSuchEntry(i64),
    #[error("`{batch}` is a batch of the kind `{kind}`")]
    OtherKind { batch: String, kind: String },
    #[error("{now} would change now, but {confirmed} were confirmed")]
    CountDiffers { confirmed: i64, now: i64 },
    #[error("{now} would change; the number must be confirmed")]
    NotConfirmed { now: i64 },
    #[error("the import of `{0}` did not end; run it again first")]
    Loading(String),
    #[error("`{0}` was never started")]
    NeverStarted(String),
    #[error("`{0}` is paused; resume it")]
    Paused(String),
    #[error("`{0}` is cancelled, nothing is sent from it any more")]
    Cancelled(String),
    #[error("`{0}` is already started")]
    Started(String),
    #[error("`{0}` is running; pause it first")]
    Running(String),
    #[error("mails of `{batch}` were already attempted: {attempts}")]
    Attempted { batch: String, attempts: i64 },
    #[error("the kind `{0}` is paused as a whole")]
    KindPaused(String),
    #[error("everything is paused")]
    AllPaused,
    #[error("an address can be corrected for one row only, not for {0}")]
    NotOneRow(i64),
    #[error("a `{0}` cannot be undone")]
    NotUndoable(String),
}

impl Refused {
    /// Reports whether what was named does not exist.
    pub const fn is_missing(&self) -> bool {
        matches!(self, Self::NoSuchBatch(_) | Self::NoSuchRow { .. } | Self::NoSuchEntry(_))
    }

    /// Reports whether a number has to be confirmed before it can happen.
    pub const fn is_unconfirmed(&self) -> bool {
        matches!(self, Self::NotConfirmed { .. })
    }

    /// Reports whether the command itself was wrong, whatever stands in the ledger.
    pub const fn is_misuse(&self) -> bool {
        matches!(self, Self::OtherKind { .. } | Self::NotOneRow(_) | Self::NotUndoable(_))
    }
}
