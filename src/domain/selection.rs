//! Which rows of a batch are meant: the SELECT of the command line.

use std::fmt;
use std::time::Duration;

use super::id::WorkerId;
use super::span::Span;
use super::state::{How, State};

/// Rows that meet every condition that is set; among `keys` one is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    pub keys: Vec<String>,
    pub state: Option<State>,
    pub how: Option<How>,
    pub code: Option<u16>,
    /// In A-labels, lower case.
    pub domain: Option<String>,
    /// Rows that have not changed for so long.
    pub older_than: Option<Duration>,
    pub worker: Option<WorkerId>,
    pub unknown: bool,
}

/// How many keys a selection names before it only counts them.
pub const KEYS_NAMED: usize = 3;

impl Selection {
    /// Reports whether no condition is set: that is every row, and never what was meant by silence.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

impl fmt::Display for Selection {
    /// Says the selection as flags, for the journal and for questions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = Vec::new();
        if self.keys.len() > KEYS_NAMED {
            said.push(format!("{} keys", self.keys.len()));
        } else {
            said.extend(self.keys.iter().map(|key| format!("--key {key}")));
        }
        said.extend(self.state.map(|state| format!("--state {state}")));
        said.extend(self.how.map(|how| format!("--how {how}")));
        said.extend(self.code.map(|code| format!("--code {code}")));
        said.extend(self.domain.as_ref().map(|domain| format!("--domain {domain}")));
        said.extend(self.older_than.map(|age| format!("--older-than {}", Span(age))));
        said.extend(self.worker.map(|worker| format!("--worker {worker}")));
        if self.unknown {
            said.push("--unknown".to_owned());
        }
        f.write_str(&said.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_says_its_conditions_as_flags() {
        let selection = Selection {
            keys: vec!["1".into(), "2".into()],
            state: Some(State::Failed),
            how: Some(How::Refused),
            code: Some(550),
            domain: Some("example.org".into()),
            older_than: Some(Duration::from_mins(10)),
            worker: Some(WorkerId(7)),
            unknown: true,
        };
        assert_eq!(
            selection.to_string(),
            "--key 1 --key 2 --state failed --how refused --code 550 --domain example.org \
             --older-than 10m --worker 7 --unknown"
        );
    }

    #[test]
    fn many_keys_are_counted() {
        let keys = (0..700).map(|n| n.to_string()).collect();
        assert_eq!(Selection { keys, ..Selection::default() }.to_string(), "700 keys");
    }

    #[test]
    fn a_selection_without_conditions_is_empty() {
        assert!(Selection::default().is_empty());
        assert!(!Selection { unknown: true, ..Selection::default() }.is_empty());
    }
}
