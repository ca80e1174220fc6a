//! What an import answers with, as its document.

use serde::Serialize;

use crate::domain::state::State;
use crate::intake::Finding;
use crate::ledger::load::{Adopted, Elsewhere};

/// `ittsu/import/1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportBody {
    pub batch: String,
    pub read: i64,
    pub new: i64,
    /// Rows that an older system has settled, as it says.
    pub adopted: AdoptedBody,
    pub already: i64,
    pub elsewhere: i64,
    pub changed: i64,
    pub replaced: i64,
    pub gone: i64,
    pub rejected: i64,
    pub suppressed: i64,
    /// Named by `--except`.
    pub excepted: i64,
    pub duplicates: i64,
    pub same_address: i64,
    pub taken_over: i64,
    pub unbuildable: i64,
    pub encoding: Option<String>,
    pub findings: Vec<FindingBody>,
    pub findings_left_out: u64,
    /// People who have a row in another batch that did not end well.
    pub open_elsewhere: Vec<ElsewhereBody>,
    /// The older system's words, how often each came, and what it is here.
    pub old: Vec<OldBody>,
    /// Part of `changed`: it waits here, and the older system has settled it.
    pub settled_meanwhile: i64,
    pub dry_run: bool,
}

/// New rows that are not to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AdoptedBody {
    pub sent: i64,
    pub failed: i64,
    pub unknown: i64,
}

impl AdoptedBody {
    /// Returns how many there are.
    pub const fn total(&self) -> i64 {
        self.sent + self.failed + self.unknown
    }
}

impl From<Adopted> for AdoptedBody {
    fn from(Adopted { sent, failed, unknown }: Adopted) -> Self {
        Self { sent, failed, unknown }
    }
}

/// One word of an older system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OldBody {
    pub word: String,
    pub lines: i64,
    /// What it is here: a state, or `unknown`.
    pub becomes: &'static str,
}

pub(super) fn old_body(((state, word), lines): (&(State, String), &i64)) -> OldBody {
    let becomes = match state {
        State::Sending => "unknown",
        state => state.as_str(),
    };
    OldBody { word: word.clone(), lines: *lines, becomes }
}

/// One thing that is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingBody {
    pub line: u64,
    pub column: String,
    pub why: String,
    pub value: String,
}

/// One person who has a row in another batch, and how to send it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ElsewhereBody {
    pub key: String,
    pub batch: String,
    pub state: &'static str,
    pub unknown: bool,
    pub command: String,
}

pub(super) fn finding_body(finding: &Finding) -> FindingBody {
    FindingBody {
        line: finding.line,
        column: finding.column.clone(),
        why: finding.why.to_string(),
        value: finding.value.clone(),
    }
}

pub(super) fn elsewhere_body(row: &Elsewhere) -> ElsewhereBody {
    ElsewhereBody {
        key: row.key.clone(),
        batch: row.batch.clone(),
        state: row.state.as_str(),
        unknown: row.unknown,
        command: format!("ittsu resend {} --key {} --reason TEXT --confirm 1", row.batch, row.key),
    }
}
