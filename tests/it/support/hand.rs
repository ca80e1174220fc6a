//! A worker in the hands of a test, and the steps it takes.

use ittsu::domain::id::{Attempt, BatchId, RecipientId};
use ittsu::domain::outcome::{Blame, Outcome, Phase};
use ittsu::domain::settle::Settled;
use ittsu::domain::state::How;
use ittsu::domain::time::Timestamp;
use ittsu::ledger::Ledger;
use ittsu::ledger::claims::Claimed;
use ittsu::ledger::recorder::{
    Answer, Finish, FinishAnswer, RecordError, Recorder, Start, StartAnswer, Step,
};
use ittsu::ledger::workers::Registered;

use super::ledgers::{BATCH, NOW};

/// A worker in the hands of a test.
pub(crate) struct Hand {
    pub(crate) ledger: Ledger,
    pub(crate) me: Registered,
    pub(crate) recorder: Recorder,
}

impl Hand {
    pub(crate) async fn claim(&self, limit: i64) -> Claimed {
        self.claim_at(BATCH, limit, NOW).await
    }

    pub(crate) async fn claim_at(&self, batch: BatchId, limit: i64, now: Timestamp) -> Claimed {
        self.ledger.claim(self.me.worker, batch, limit, now).await.expect("a claim")
    }

    pub(crate) async fn write(&mut self, group: &[Step]) -> Result<Vec<Answer>, RecordError> {
        self.recorder.write(group, NOW).await
    }

    /// Starts a row and returns the answer.
    pub(crate) async fn start(&mut self, row: i64, attempt: i64) -> StartAnswer {
        let answers = self.write(&[start(row, attempt)]).await.expect("a group");
        answers[0].start.expect("an answer to the start")
    }

    /// Ends a row and returns the answer.
    pub(crate) async fn finish(
        &mut self,
        row: i64,
        attempt: i64,
        outcome: Outcome,
        settled: Settled,
    ) -> FinishAnswer {
        let answers = self.write(&[finish(row, attempt, outcome, settled)]).await.expect("a group");
        answers[0].finish.expect("an answer to the finish")
    }

    /// Claims, starts and returns the first row that is due.
    pub(crate) async fn begin(&mut self) -> i64 {
        let claimed = self.claim(1).await;
        let row = claimed.rows.first().expect("a row is due");
        let (id, attempt) = (row.id.0, row.attempt.0 + 1);
        assert!(matches!(self.start(id, attempt).await, StartAnswer::Started { .. }));
        id
    }
}

/// A step that starts `row` for the `attempt`-th time.
pub(crate) fn start(row: i64, attempt: i64) -> Step {
    Step { finish: None, start: Some(a_start(row, attempt)) }
}

pub(crate) fn a_start(row: i64, attempt: i64) -> Start {
    Start {
        row: RecipientId(row),
        batch: BATCH,
        attempt: Attempt(attempt),
        at: NOW,
        suppression_seen: 1,
    }
}

/// A step that ends the `attempt`-th try of `row`.
pub(crate) fn finish(row: i64, attempt: i64, outcome: Outcome, settled: Settled) -> Step {
    Step { finish: Some(a_finish(row, attempt, outcome, settled)), start: None }
}

pub(crate) fn a_finish(row: i64, attempt: i64, outcome: Outcome, settled: Settled) -> Finish {
    Finish {
        row: RecipientId(row),
        batch: BATCH,
        attempt: Attempt(attempt),
        started: NOW,
        ended: NOW,
        outcome,
        settled,
        counts: outcome != Outcome::NotSent,
        phase: Phase::Dot,
        blame: Blame::Row,
        code: Some(250),
        enhanced: Some("2.0.0".to_owned()),
        reply: b"250 2.0.0 ok \xff\x00'\"\\".to_vec(),
        note: None,
        review: false,
        template: 1,
    }
}

/// A step that says the server took it.
pub(crate) fn accepted(row: i64, attempt: i64) -> Step {
    finish(row, attempt, Outcome::Accepted, Settled::Sent(How::Accepted))
}
