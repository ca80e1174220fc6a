//! Why an action was not done.

use std::error::Error;
use std::fmt;

/// What sort of trouble it is; the command line picks its exit code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It was tried and did not work.
    Failed,
    /// The request or the configuration is wrong.
    Usage,
    /// There is no such batch, row or file.
    Missing,
    /// The count or the state is not what was confirmed.
    Refused,
    /// A count is needed: so many rows.
    Unconfirmed { found: u64 },
    /// The ledger or the mail server cannot be reached; later it may work.
    Away,
}

/// Why an action was not done; the ledger is as it was.
#[derive(Debug)]
pub struct OpsError {
    pub trouble: Trouble,
    /// One sentence without a period.
    pub message: String,
    /// What the person can do.
    pub hint: Option<String>,
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl OpsError {
    pub fn new(trouble: Trouble, message: impl Into<String>) -> Self {
        Self { trouble, message: message.into(), hint: None, source: None }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Trouble::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Trouble::Usage, message)
    }

    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(Trouble::Missing, message)
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Trouble::Refused, message)
    }

    pub fn away(message: impl Into<String>) -> Self {
        Self::new(Trouble::Away, message)
    }

    /// Says that `found` rows would change and nobody has confirmed that number.
    pub fn unconfirmed(found: u64, message: impl Into<String>) -> Self {
        Self::new(Trouble::Unconfirmed { found }, message)
    }

    /// Adds what the person can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(cause.into());
        self
    }
}

impl fmt::Display for OpsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for OpsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
