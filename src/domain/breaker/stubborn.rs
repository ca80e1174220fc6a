//! Rows whose messages break every connection while the others of their batch go through.
//!
//! Why: a lost connection is no try of the row, so nothing would ever end one whose content makes a
//! filter hang up.

use std::collections::HashMap;

use super::{Limits, Seen};
use crate::domain::id::RecipientId;
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::smtp::Verdict;

/// How often rows broke new connections, each time after another message had been accepted.
#[derive(Clone, Debug, Default)]
pub(super) struct Stubborn {
    rows: HashMap<RecipientId, Broke>,
    accepted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Broke {
    times: usize,
    /// Times before which another message of the batch had been accepted.
    among_others: usize,
    /// Messages of the batch that were accepted before the last time.
    accepted: u64,
}

impl Stubborn {
    pub(super) fn accepted(&mut self) {
        self.accepted += 1;
    }

    /// Returns the verdict as a try that counts, once the row has done it too often; `proved` says
    /// that the batch ever had a message accepted.
    pub(super) fn broke(
        &mut self,
        seen: Seen<'_>,
        proved: bool,
        limits: Limits,
    ) -> Option<Verdict> {
        let verdict = seen.verdict;
        let is_break = matches!(verdict.outcome, Outcome::NotSent | Outcome::Deferred)
            && verdict.blame == Blame::Connection
            && !verdict.counts;
        if !is_break || !seen.is_fresh {
            return None;
        }
        let broke = self.rows.entry(seen.row).or_default();
        broke.times += 1;
        // Where nobody else gets through it is the server, not the row.
        if broke.times == 1 || self.accepted > broke.accepted {
            broke.among_others += 1;
        }
        broke.accepted = self.accepted;
        let is_alone = proved && broke.times > limits.stubborn_alone;
        let counts = is_alone || broke.among_others > limits.stubborn;
        counts.then_some(Verdict { counts, blame: Blame::Row, ..*verdict })
    }
}
