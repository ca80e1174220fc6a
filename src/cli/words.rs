//! SELECT, sources and options, from arguments to what `ops` takes.

use std::fmt::Write as _;
use std::io::Read as _;

use super::args::{Select, SourceArgs};
use super::error::CliError;
use crate::domain::id::WorkerId;
use crate::domain::selection::Selection;
use crate::ops::source::SourceName;

/// Reads which rows are meant.
pub fn selection(select: &Select) -> Result<Selection, CliError> {
    let mut keys = select.keys.clone();
    if let Some(path) = &select.keys_file {
        let mut text = String::new();
        let read = if path.as_os_str() == "-" {
            std::io::stdin().lock().read_to_string(&mut text).map(|_| ())
        } else {
            std::fs::read_to_string(path).map(|read| text = read)
        };
        read.map_err(|err| {
            let message = format!("the keys in {} cannot be read", path.display());
            CliError::not_found(message).because(&err)
        })?;
        let text = text.trim_start_matches('\u{feff}');
        keys.extend(text.lines().map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned));
        if keys.is_empty() {
            return Err(CliError::usage(format!("{} names no key", path.display())));
        }
    }
    let domain = match &select.domain {
        None => None,
        Some(domain) => Some(a_label(domain)?),
    };
    Ok(Selection {
        keys,
        state: select.state,
        how: select.how,
        code: select.code,
        domain,
        older_than: select.older_than.map(|span| span.0),
        worker: select.worker.map(WorkerId),
        unknown: select.unknown,
    })
}

fn a_label(domain: &str) -> Result<String, CliError> {
    let address = format!("a@{}", domain.trim_start_matches('@'));
    let (address, _) = crate::domain::address::Address::parse(&address)
        .map_err(|err| CliError::usage(format!("`{domain}` is no domain")).because(&err))?;
    Ok(address.domain().to_owned())
}

/// Writes which rows were meant, as it stands in the journal.
pub fn in_words(select: &Select) -> String {
    let mut words = String::new();
    // Writing to a string cannot fail.
    let mut add = |flag: &str, value: &str| {
        let gap = if words.is_empty() { "" } else { " " };
        let _ = write!(words, "{gap}--{flag}{}{value}", if value.is_empty() { "" } else { " " });
    };
    select.keys.iter().for_each(|key| add("key", key));
    if let Some(path) = &select.keys_file {
        add("keys", &path.display().to_string());
    }
    if let Some(state) = select.state {
        add("state", state.as_str());
    }
    if let Some(how) = select.how {
        add("how", how.as_str());
    }
    if let Some(code) = select.code {
        add("code", &code.to_string());
    }
    if let Some(domain) = &select.domain {
        add("domain", domain);
    }
    if let Some(span) = select.older_than {
        add("older-than", &span.to_string());
    }
    if let Some(worker) = select.worker {
        add("worker", &worker.to_string());
    }
    if select.unknown {
        add("unknown", "");
    }
    words
}

/// Reads the sources of an import.
pub fn sources(args: &SourceArgs) -> Result<(SourceName, Vec<SourceName>), CliError> {
    let except = args.except.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    Ok((args.from.parse()?, except))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::state::State;

    #[test]
    fn a_selection_reads_back_as_it_was_typed() {
        let select = Select {
            keys: vec!["100234".to_owned(), "100235".to_owned()],
            state: Some(State::Failed),
            code: Some(550),
            unknown: true,
            ..Select::default()
        };
        assert_eq!(
            in_words(&select),
            "--key 100234 --key 100235 --state failed --code 550 --unknown"
        );
        let which = selection(&select).unwrap();
        assert_eq!((which.keys.len(), which.code, which.unknown), (2, Some(550), true));
    }

    #[test]
    fn a_domain_is_compared_in_a_labels() {
        let select = Select { domain: Some("@例え.Example".to_owned()), ..Select::default() };
        let which = selection(&select).unwrap();
        assert_eq!(which.domain.as_deref(), Some("xn--r8jz45g.example"));
    }
}
