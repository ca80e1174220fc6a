//! Which rows of a batch are meant: the SELECT of the command line.

use std::time::Duration;

use super::id::WorkerId;
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

impl Selection {
    /// Reports whether no condition is set, which means every row and is never taken for an answer.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}
