//! Small writes to the ledger that no connection waits for.
//!
//! Promise: an errand is tried until it is done or this worker ends; they are done in the order in
//! which they were asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::domain::id::{Attempt, BatchId, RecipientId};
use crate::domain::text::with_causes;
use crate::domain::time::Timestamp;
use crate::ledger::claims::Unstarted;
use crate::ledger::evidence::Seen;
use crate::ledger::workers::Registered;
use crate::ledger::{Ledger, LedgerError};
use crate::shutdown::Shutdown;

use super::outcome_file::Kept;
use super::progress::{Progress, Teller};
use super::served::Served;
use super::tally::Tally;

/// How long a worker that ends still tries.
const LAST_TRIES: Duration = Duration::from_secs(10);
/// Rows that fail together in one transaction.
const MOST_ROWS: usize = 500;

/// One thing to be put right in the ledger.
#[derive(Clone, Debug)]
pub(super) enum Errand {
    /// A breaker stopped these batches.
    Pause {
        batches: Vec<BatchId>,
        because: String,
    },
    /// Rows that fail without an attempt.
    Fail(Vec<Unstarted>),
    /// A breaker decided that these refusals were meant.
    FailSuspects(Vec<(RecipientId, Attempt)>),
    /// The first answer that was not suspect came.
    Probed {
        served: Arc<Served>,
        then: Arc<Notify>,
    },
    /// Rows of this batch are not wanted here any more.
    GiveBack(BatchId),
    /// Unstarted rows that go later.
    PutOff(Vec<(RecipientId, Timestamp)>),
    /// A row came back to a batch that is perhaps cancelled.
    Leftovers(BatchId),
    EndpointFailed {
        transport: String,
        why: String,
        until: Timestamp,
    },
    EndpointOk {
        transport: String,
    },
    ReleaseLanes {
        transport: String,
        numbers: Vec<i64>,
    },
    /// What an answer said that came too late.
    Learn(Kept),
}

impl Errand {
    /// Reports whether another one could be done together with this one.
    const fn has_room(&self) -> bool {
        match self {
            Self::Fail(rows) => rows.len() < MOST_ROWS,
            Self::ReleaseLanes { numbers, .. } => numbers.len() < MOST_ROWS,
            _ => false,
        }
    }

    /// Returns what cannot be done when the ledger refuses it, for the log.
    const fn what(&self) -> &'static str {
        match self {
            Self::Pause { .. } => "a batch cannot be paused",
            Self::Fail(_) | Self::FailSuspects(_) => "rows cannot be failed",
            Self::Probed { .. } => "the first answer of a batch cannot be noted",
            Self::GiveBack(_) | Self::PutOff(_) => "rows cannot be given back",
            Self::Leftovers(_) => "rows of a cancelled batch cannot be ended",
            Self::EndpointFailed { .. } | Self::EndpointOk { .. } => {
                "how a transport stands cannot be noted"
            }
            Self::ReleaseLanes { .. } => "connections cannot be given back",
            Self::Learn(_) => "a late answer cannot be handed in",
        }
    }

    /// Takes the other one in, or gives it back.
    fn absorb(&mut self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Fail(rows), Self::Fail(more)) => rows.extend(more),
            (
                Self::ReleaseLanes { transport, numbers },
                Self::ReleaseLanes { transport: same, numbers: more },
            ) if *transport == same => numbers.extend(more),
            (_, other) => return Some(other),
        }
        None
    }
}

/// Where errands are asked for; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Errands {
    sender: mpsc::UnboundedSender<Errand>,
    open: Arc<AtomicUsize>,
    done: Arc<Notify>,
}

impl Errands {
    pub(super) fn ask(&self, errand: Errand) {
        self.open.fetch_add(1, Ordering::AcqRel);
        if self.sender.send(errand).is_err() {
            self.open.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Returns how many are not done yet.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Waits until the last open one is done.
    pub(super) async fn all_done(&self) {
        self.done.notified().await;
    }
}

/// Runs the errands, one after the other.
#[derive(Debug)]
pub(super) struct ErrandTask {
    ledger: Ledger,
    me: Registered,
    clock: Clock,
    shutdown: Shutdown,
    teller: Teller,
    tally: Arc<Tally>,
    errands: mpsc::UnboundedReceiver<Errand>,
    open: Arc<AtomicUsize>,
    done: Arc<Notify>,
}

impl ErrandTask {
    pub(super) fn new(
        ledger: Ledger,
        me: Registered,
        clock: Clock,
        shutdown: Shutdown,
        teller: Teller,
        tally: Arc<Tally>,
    ) -> (Errands, Self) {
        let (sender, errands) = mpsc::unbounded_channel();
        let open = Arc::new(AtomicUsize::new(0));
        let done = Arc::new(Notify::new());
        let asks = Errands { sender, open: Arc::clone(&open), done: Arc::clone(&done) };
        (asks, Self { ledger, me, clock, shutdown, teller, tally, errands, open, done })
    }

    /// Runs until nobody can ask any more; returns the late answers that were not handed in.
    pub(super) async fn run(mut self) -> Vec<Kept> {
        let mut undone = Vec::new();
        let mut put_aside = None;
        loop {
            let next = match put_aside.take() {
                Some(errand) => Some(errand),
                None => self.errands.recv().await,
            };
            let Some(errand) = next else { break };
            let (errand, count, other) = self.gather(errand);
            put_aside = other;
            let learned = match &errand {
                Errand::Learn(kept) => Some(kept.clone()),
                _ => None,
            };
            if !self.try_until_done(errand).await {
                undone.extend(learned);
            }
            if self.open.fetch_sub(count, Ordering::AcqRel) == count {
                self.done.notify_one();
            }
        }
        undone
    }

    /// Adds what waits behind this one and can be done with it; returns how many errands it stands
    /// for now, and the first one of another sort.
    fn gather(&mut self, mut errand: Errand) -> (Errand, usize, Option<Errand>) {
        let mut count = 1;
        while errand.has_room()
            && let Ok(next) = self.errands.try_recv()
        {
            if let Some(other) = errand.absorb(next) {
                return (errand, count, Some(other));
            }
            count += 1;
        }
        (errand, count, None)
    }

    /// Tries until it is done; false if it never was.
    async fn try_until_done(&self, errand: Errand) -> bool {
        let mut ends_at = None;
        loop {
            match self.run_once(errand.clone()).await {
                Ok(()) => return true,
                Err(error) if error.is_transient() => {
                    if self.shutdown.is_draining() {
                        let at = *ends_at.get_or_insert_with(|| Instant::now() + LAST_TRIES);
                        if self.shutdown.is_now() || Instant::now() >= at {
                            return false;
                        }
                    }
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
                Err(LedgerError::Fenced(_)) => return false,
                Err(error) => {
                    tracing::warn!(why = with_causes(&error), "{}", errand.what());
                    return false;
                }
            }
        }
    }

    async fn run_once(&self, errand: Errand) -> Result<(), LedgerError> {
        let (ledger, me, now) = (&self.ledger, self.me, self.clock.now());
        match errand {
            Errand::Pause { batches, because } => {
                for batch in batches {
                    let halted = ledger.pause_itself(batch, &because, now).await?;
                    if !halted.changed.is_empty() {
                        self.teller.tell(Progress::Paused { batch, why: because.clone() });
                    }
                    ledger.give_back(me.worker, batch, now).await?;
                }
            }
            Errand::Fail(rows) => {
                let failed = ledger.fail_unstarted(me, rows, now).await?;
                self.tally.failed_unstarted(failed.unsigned_abs());
            }
            Errand::FailSuspects(rows) => self.fail_suspects(rows, now).await?,
            Errand::Probed { served, then } => {
                ledger.probed(served.id).await?;
                served.is_probed.store(true, Ordering::Release);
                then.notify_one();
            }
            Errand::GiveBack(batch) => {
                ledger.give_back(me.worker, batch, now).await?;
            }
            Errand::PutOff(rows) => {
                ledger.give_back_rows(me.worker, rows).await?;
            }
            Errand::Leftovers(batch) => {
                ledger.cancel_leftovers(batch, now).await?;
            }
            Errand::EndpointFailed { transport, why, until } => {
                ledger.endpoint_failed(transport, why, until, now).await?;
            }
            Errand::EndpointOk { transport } => ledger.endpoint_ok(transport, now).await?,
            Errand::ReleaseLanes { transport, numbers } => {
                ledger.release_lanes(transport, me.worker, numbers, now).await?;
            }
            Errand::Learn(kept) => {
                ledger.learn(kept.as_evidence(me.worker, Seen::LateAnswer), now).await?;
            }
        }
        Ok(())
    }

    /// Fails what a breaker believes now; rows whose refusal is on its way to the ledger are waited
    /// for.
    async fn fail_suspects(
        &self,
        mut rows: Vec<(RecipientId, Attempt)>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let ends_at = Instant::now() + LAST_TRIES;
        while !rows.is_empty() && Instant::now() < ends_at {
            let believed = self.ledger.fail_suspects(self.me, rows, now).await?;
            self.tally.failed_after_all(believed.failed.unsigned_abs());
            rows = believed.early;
            if !rows.is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }
}
