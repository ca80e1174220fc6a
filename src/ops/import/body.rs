//! What an import answers with, as its document.

use serde::Serialize;

use crate::intake::Finding;
use crate::ledger::load::Elsewhere;

/// `ittsu/import/1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportBody {
    pub batch: String,
    pub read: i64,
    pub new: i64,
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
    pub dry_run: bool,
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
