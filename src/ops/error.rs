//! Why an action was not done.

pub use crate::intake::Candidate;

use std::error::Error;
use std::fmt;
use std::io::ErrorKind;

use crate::db::DbError;
use crate::intake::IntakeError;
use crate::ledger::{LedgerError, Refused};

/// What sort of trouble it is; the command line picks its exit code by it.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The character set of a source is not sure: it is one of these.
    Unsure(Vec<Candidate>),
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

impl From<LedgerError> for OpsError {
    fn from(err: LedgerError) -> Self {
        let transient = err.is_transient();
        match err {
            LedgerError::Refused(refused) => refused.into(),
            LedgerError::Missing(place) => Self::away(format!("there is no ledger at {place}"))
                .hint("only init, import and demo make one: is this the right configuration?"),
            LedgerError::Newer { .. } | LedgerError::Older { .. } => Self::usage(err.to_string()),
            err if transient => Self::away("the ledger cannot be reached").because(err),
            err => Self::failed("the ledger failed").because(err),
        }
    }
}

impl From<Refused> for OpsError {
    fn from(refused: Refused) -> Self {
        let message = refused.to_string();
        let err = match refused {
            Refused::NotConfirmed { now } => {
                Self::unconfirmed(u64::try_from(now).unwrap_or(0), message)
            }
            _ if refused.is_missing() => Self::missing(message),
            _ if refused.is_misuse() => Self::usage(message),
            _ => Self::refused(message),
        };
        match next_step(&refused) {
            Some(hint) => err.hint(hint),
            None => err,
        }
    }
}

/// Returns what a person can do about a refusal.
fn next_step(refused: &Refused) -> Option<String> {
    Some(match refused {
        Refused::NoSuchBatch(_) => "`ittsu status` lists the batches".to_owned(),
        Refused::NoSuchRow { batch, .. } => format!("`ittsu rows {batch}` lists its rows"),
        Refused::NoSuchEntry(_) => "`ittsu journal` lists the entries".to_owned(),
        Refused::CountDiffers { now, .. } => {
            format!("nothing was changed; look again, then confirm {now}")
        }
        Refused::Loading(batch) => format!("run the import of {batch} again, it goes on"),
        Refused::NeverStarted(batch) => format!("ittsu start {batch}"),
        Refused::Paused(batch) => format!("ittsu resume {batch}"),
        Refused::Running(batch) => format!("ittsu pause {batch}"),
        Refused::KindPaused(kind) => format!("ittsu resume --kind {kind}"),
        Refused::AllPaused => "ittsu resume --all".to_owned(),
        Refused::Attempted { batch, .. } => format!("`ittsu cancel {batch}` ends it for good"),
        _ => return None,
    })
}

impl From<IntakeError> for OpsError {
    fn from(err: IntakeError) -> Self {
        let message = err.to_string();
        match err {
            IntakeError::Open { source, .. } if source.kind() == ErrorKind::NotFound => {
                Self::missing(message)
            }
            IntakeError::Open { source, .. } | IntakeError::Read { source, .. } => {
                Self::failed(message).because(source)
            }
            IntakeError::Unsure { candidates, .. } => {
                let names: Vec<_> = candidates.iter().map(|one| one.name.as_str()).collect();
                let hint = format!("name it: --encoding {}", names.join(" or --encoding "));
                Self::new(Trouble::Unsure(candidates), message).hint(hint)
            }
            IntakeError::Outside { source, .. } => {
                let away = source.downcast_ref::<DbError>().is_some_and(DbError::is_transient);
                let trouble = if away { Trouble::Away } else { Trouble::Failed };
                Self::new(trouble, message).because(source)
            }
            IntakeError::NoAddressColumn { .. } => {
                Self::usage(message).hint("name it: --map email=COLUMN")
            }
            IntakeError::Ambiguous { field, .. } => {
                Self::usage(message).hint(format!("name it: --map {field}=COLUMN"))
            }
            IntakeError::NoSuchEncoding(_)
            | IntakeError::Delimiter(_)
            | IntakeError::NoSuchColumn { .. }
            | IntakeError::NoSuchSheet { .. } => Self::usage(message),
            IntakeError::Empty { .. }
            | IntakeError::Line { .. }
            | IntakeError::Workbook { .. }
            | IntakeError::Lost => Self::failed(message),
        }
    }
}
