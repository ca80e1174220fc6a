//! What can be wrong with a template, and with the message of one person.

use std::fmt;

/// The file of a template that an error is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Text,
    Html,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Text => "template",
            Self::Html => "HTML template",
        })
    }
}

/// A template that no message can be built from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part} line {line}: {why}")]
pub struct TemplateError {
    pub part: Part,
    /// Counted in the file, from 1.
    pub line: usize,
    pub why: String,
}

/// A message that cannot be built for this person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("{part} line {line}: there is no column `{name}`{}", hint(nearest.as_deref()))]
    UnknownPlaceholder { part: Part, line: usize, name: String, nearest: Option<String> },
    #[error("{part} line {line}: {why}")]
    Render { part: Part, line: usize, why: String },
    #[error("{place} holds {what}, which no header may hold")]
    Control { place: String, what: String },
    #[error("{place}: {why}")]
    Header { place: String, why: String },
    #[error("`{address}` cannot be written into a message: {why}")]
    Address { address: String, why: String },
    #[error("the {} holds a NUL character", match .0 { Part::Text => "text", Part::Html => "HTML" })]
    Nul(Part),
    #[error("the fields of this row are not a JSON object: {0}")]
    Fields(String),
    #[error("the request for the mail API cannot be written: {0}")]
    Request(String),
    #[error("the message could not be signed: {0}")]
    Sign(String),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
