//! What a hand-over tells the step file, the recorder and the fail points on its way.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::time::Instant;

use crate::domain::id::{Attempt, RecipientId};
use crate::domain::outcome::Phase;
use crate::domain::step::Step;
use crate::ledger::claims::ClaimedRow;
use crate::transport::{Ended, Steps};

use super::super::failpoint::FailPoint;
use super::super::step_file::{Noted, Slot};
use super::{BEGIN, broken_off};

/// Takes the notes of one hand-over.
#[derive(Debug)]
pub(super) struct Notes<'a> {
    slot: &'a Slot,
    row: RecipientId,
    attempt: Attempt,
    /// The step from whose beginning on nobody may know.
    deciding: Phase,
    has_dot: AtomicBool,
    is_broken: AtomicBool,
}

impl<'a> Notes<'a> {
    pub(super) fn new(slot: &'a Slot, row: &ClaimedRow, attempt: Attempt, deciding: Phase) -> Self {
        let (has_dot, is_broken) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { slot, row: row.id, attempt, deciding, has_dot, is_broken }
    }

    /// Notes that the row is about to be started.
    pub(super) fn begin(&self) {
        self.note(BEGIN);
    }

    /// Reports whether a note could not be written: then the file would prove too much later.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    /// Describes a hand-over that was broken off here and now.
    pub(super) fn cancelled(&self, since: Instant) -> Ended {
        broken_off(
            if self.has_dot.load(Ordering::Acquire) { self.deciding } else { Phase::Body },
            since,
        )
    }
}

impl Steps for Notes<'_> {
    fn note(&self, step: Step) {
        if step == Step::Data {
            FailPoint::BodyBefore.pass();
        }
        if step == Step::Dot {
            self.has_dot.store(true, Ordering::Release);
        }
        let noted = Noted { row: self.row, attempt: self.attempt, step };
        if let Err(error) = self.slot.note(noted)
            && !self.is_broken.swap(true, Ordering::AcqRel)
        {
            tracing::warn!(%error, "the step file cannot be written");
        }
        if step == Step::BodyComplete {
            FailPoint::BodyAfter.pass();
        }
    }

    fn dot_has_left(&self) {
        FailPoint::DotAfter.pass();
        FailPoint::ReplyBefore.pass_when_answered();
    }
}
