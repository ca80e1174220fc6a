//! Why a source cannot be read at all, or no further.

use std::path::PathBuf;

use super::encoding::Candidate;

/// A source that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    #[error("{} cannot be opened", path.display())]
    Open {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{name} cannot be read")]
    Read {
        name: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{name} is empty")]
    Empty { name: String },
    /// The caller shows the samples and asks, or names `--encoding`.
    #[error("the character set of {name} is not sure")]
    Unsure { name: String, candidates: Vec<Candidate> },
    #[error("`{0}` is no character set that is known here")]
    NoSuchEncoding(String),
    #[error("`{0}` cannot separate fields; one ASCII character can")]
    Delimiter(char),
    #[error("{name} line {line}: {why}")]
    Line { name: String, line: u64, why: String },
    #[error("{name} has no column with mail addresses; its columns are {}", columns.join(", "))]
    NoAddressColumn { name: String, columns: Vec<String> },
    #[error("{name} has no column `{column}`{}", nearest.as_deref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    NoSuchColumn { name: String, column: String, nearest: Option<String> },
    #[error("{name} line {line}: more than one column could be the {field}: {}", columns.join(", "))]
    Ambiguous { name: String, line: u64, field: &'static str, columns: Vec<String> },
    #[error("{name} has no sheet `{sheet}`; it has {}", sheets.join(", "))]
    NoSuchSheet { name: String, sheet: String, sheets: Vec<String> },
    #[error("{name} is no workbook that can be read: {why}")]
    Workbook { name: String, why: String },
    /// The task that reads ended without a word: it panicked.
    #[error("the source was lost while it was read")]
    Lost,
    #[error("{name} failed")]
    Outside {
        name: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
