//! Rows of a group that end alike, or start alike: what they share is said once in a statement.
//!
//! Reading a statement costs an engine more than running it. So only what differs from row to row
//! is said of each, in one JSON list.

use crate::db::{Cell, List};
use crate::domain::id::{Attempt, BatchId};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::settle::Settled;

use super::{Finish, Start};

/// What finishes share whose rows end alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending<'a> {
    pub(super) batch: BatchId,
    pub(super) attempt: Attempt,
    pub(super) settled: Settled,
    pub(super) outcome: Outcome,
    pub(super) counts: bool,
    pub(super) phase: Phase,
    pub(super) blame: Blame,
    pub(super) code: Option<u16>,
    pub(super) enhanced: Option<&'a str>,
    pub(super) review: bool,
    pub(super) template: i64,
}

/// What starts share whose rows start alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    pub(super) batch: BatchId,
    pub(super) attempt: Attempt,
    pub(super) suppression_seen: i64,
}

/// Puts finishes together; each list has row, started, ended, reply as hex, note.
pub(super) fn endings<'a>(finishes: &[&'a Finish]) -> Vec<(Ending<'a>, List)> {
    let mut all = Vec::new();
    for finish in finishes {
        list_of(&mut all, Ending::of(finish)).push(&[
            Cell::Int(finish.row.0),
            Cell::Int(finish.started.0),
            Cell::Int(finish.ended.0),
            Cell::Bytes(&finish.reply),
            Cell::Text(finish.note.as_deref().unwrap_or("")),
        ]);
    }
    all
}

/// Puts starts together; each list has row, time.
pub(super) fn beginnings(starts: &[&Start]) -> Vec<(Beginning, List)> {
    let mut all = Vec::new();
    for start in starts {
        let Start { batch, attempt, suppression_seen, .. } = **start;
        let beginning = Beginning { batch, attempt, suppression_seen };
        list_of(&mut all, beginning).push(&[Cell::Int(start.row.0), Cell::Int(start.at.0)]);
    }
    all
}

impl<'a> Ending<'a> {
    fn of(finish: &'a Finish) -> Self {
        Self {
            batch: finish.batch,
            attempt: finish.attempt,
            settled: finish.settled,
            outcome: finish.outcome,
            counts: finish.counts,
            phase: finish.phase,
            blame: finish.blame,
            code: finish.code,
            enhanced: finish.enhanced.as_deref(),
            review: finish.review,
            template: finish.template,
        }
    }
}

/// Returns the list of what is like `shared`; a new one if it is the first.
fn list_of<K: PartialEq>(all: &mut Vec<(K, List)>, shared: K) -> &mut List {
    let place = all.iter().position(|(known, _)| *known == shared).unwrap_or_else(|| {
        all.push((shared, List::new()));
        all.len() - 1
    });
    &mut all[place].1
}
