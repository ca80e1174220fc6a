//! SOURCE: where people come from, as it is written on the command line.

use std::path::PathBuf;
use std::str::FromStr;

use super::error::OpsError;
use crate::domain::name::BatchName;
use crate::domain::selection::Selection;
use crate::domain::state::State;

/// A source as it was named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceName {
    File(PathBuf),
    Stdin,
    /// A query of the configuration.
    Query(String),
    /// The rows of another batch.
    Batch {
        name: BatchName,
        which: Selection,
    },
}

impl FromStr for SourceName {
    type Err = OpsError;

    fn from_str(text: &str) -> Result<Self, OpsError> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        if let Some(name) = text.strip_prefix("query:") {
            return Ok(Self::Query(name.to_owned()));
        }
        let Some(rest) = text.strip_prefix("batch:") else {
            return Ok(Self::File(PathBuf::from(text)));
        };
        let (name, filter) = rest.split_once('?').unwrap_or((rest, ""));
        let name = name
            .parse()
            .map_err(|err| OpsError::usage(format!("`{text}` names no batch")).because(err))?;
        Ok(Self::Batch { name, which: selection(text, filter)? })
    }
}

fn selection(text: &str, filter: &str) -> Result<Selection, OpsError> {
    let mut which = Selection::default();
    match filter.split_once('=') {
        None if filter.is_empty() => {}
        Some(("state", "unknown")) => which.unknown = true,
        Some(("state", word)) => {
            which.state = Some(State::from_word(word).ok_or_else(|| {
                OpsError::usage(format!("`{text}`: there is no state `{word}`"))
                    .hint("states are ready, sending, sent, failed and unknown")
            })?);
        }
        _ => {
            return Err(OpsError::usage(format!("`{text}` cannot be read"))
                .hint("write it like batch:notice-12 or batch:notice-12?state=failed"));
        }
    }
    Ok(which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_file_unless_it_says_otherwise() {
        let read = |text: &str| text.parse::<SourceName>().unwrap();
        assert_eq!(read("-"), SourceName::Stdin);
        assert_eq!(read("query:members"), SourceName::Query("members".into()));
        assert_eq!(read("a/b.csv"), SourceName::File("a/b.csv".into()));
        let SourceName::Batch { name, which } = read("batch:notice-12?state=failed") else {
            panic!("a batch");
        };
        assert_eq!((name.as_str(), which.state), ("notice-12", Some(State::Failed)));
        assert!(matches!(read("batch:a"), SourceName::Batch { which, .. } if which.is_empty()));
    }

    #[test]
    fn a_batch_with_a_filter_nobody_knows_is_refused() {
        for text in ["batch:", "batch:A", "batch:a?state=lost", "batch:a?how=x", "batch:a?failed"] {
            assert!(text.parse::<SourceName>().is_err(), "{text}");
        }
    }
}
