//! What a worker tells whoever watches it, and how it ends.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::domain::id::{BatchId, RecipientId, WorkerId};
use crate::domain::time::Timestamp;

/// One thing that a watcher may want to say.
///
/// Sent without waiting: a watcher that does not keep up loses lines, never mails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The worker has an identity; it changes when the worker was taken for lost.
    Registered {
        worker: WorkerId,
    },
    /// Counts of this worker since it began.
    Counts(Counts),
    /// A batch paused itself.
    Paused {
        batch: BatchId,
        why: String,
    },
    /// Nothing can go out before `until`.
    Waiting {
        why: Waiting,
        until: Option<Timestamp>,
    },
    /// Nothing new begins; so many messages are still on the wire, at most for so long.
    Draining {
        on_wire: usize,
        at_most: Duration,
    },
    LedgerAway {
        why: String,
    },
    LedgerBack,
    /// A sweep took rows from a worker that is gone.
    Swept {
        worker: WorkerId,
        freed: u64,
        unknown: u64,
    },
    /// This worker was taken for lost and starts again under a new identity.
    Fenced {
        worker: WorkerId,
    },
    /// A queue cannot be read, or what it names cannot be looked up; sending goes on.
    QueueAway {
        kind: String,
        why: String,
    },
    QueueBack {
        kind: String,
    },
    /// Jobs became rows, or could not.
    TookIn {
        kind: String,
        new: i64,
        /// Failed before, and sent again because new jobs came for them.
        again: i64,
        rejected: i64,
    },
    /// The ledger refuses this row's outcome; it is kept in the outcome file.
    Unwritable {
        row: RecipientId,
        why: String,
    },
}

/// Tells a watcher, if there is one.
#[derive(Clone, Debug, Default)]
pub struct Teller(Option<mpsc::Sender<Progress>>);

impl Teller {
    /// Returns a teller and the end to listen at.
    pub fn pair() -> (Self, mpsc::Receiver<Progress>) {
        let (sender, receiver) = mpsc::channel(256);
        (Self(Some(sender)), receiver)
    }

    pub(crate) fn tell(&self, progress: Progress) {
        if let Some(sender) = &self.0 {
            let _ = sender.try_send(progress);
        }
    }
}

/// Why a worker that has work does not send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    Rate,
    Hours,
    /// Rows that are tried again later, of this worker or another.
    Retries {
        rows: u64,
    },
    /// Rows in the hands of other workers.
    Others {
        rows: u64,
    },
    /// The transport does not answer; its own words.
    Endpoint {
        transport: String,
        why: String,
    },
    /// Other workers hold every connection.
    Connections {
        transport: String,
    },
}

/// What became of the attempts of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: u64,
    pub failed: u64,
    /// Outcomes nobody knows, whatever the policy made of them.
    pub unknown: u64,
    /// Rows that went back to be tried later.
    pub later: u64,
}

/// How a worker's life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub counts: Counts,
    /// Rows whose outcome could not be learned or recorded before the end.
    pub in_doubt: u64,
    pub why: Why,
}

/// Why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing is left that it serves.
    Idle,
    /// Nothing is due now (`--no-wait`).
    NothingDue,
    /// It was asked to, and finished what it held.
    Drained,
    /// It was asked twice and stopped at once.
    Stopped,
    /// `ittsu workers stop` asked it to.
    AskedByPerson,
    /// The ledger stayed away.
    LedgerAway(String),
    /// The ledger's file was replaced, moved or deleted under this worker.
    LedgerReplaced,
    /// A part of it died; a defect of this program.
    Broken(String),
    /// The transport stayed away and it was told not to wait.
    Unreachable(String),
}
