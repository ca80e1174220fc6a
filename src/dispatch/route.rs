//! One transport as this worker uses it: its rows, its connections, and whether it answers.
//!
//! Promise: whatever stops the route takes effect before the next row is taken.
//! Absent on purpose: waiting and connecting (`lane`), claims and lanes (`keeper`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::domain::breaker::{Endpoint, Limits, Seen, UnknownRun, Way};
use crate::domain::id::BatchId;
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::retry::Jitter;
use crate::domain::smtp::Event;
use crate::domain::time::Timestamp;
use crate::ledger::claims::{Claimed, ClaimedRow};
use crate::ledger::shared::endpoint::EndpointRow;
use crate::transport::Ended;

use super::errand::{Errand, Errands};
use super::hands::{Hands, Job, Stock};
use super::settings::RouteSettings;
use super::throttle::Throttle;

/// Whether a connection had carried messages before something happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worn {
    New,
    Used,
}

/// Shared by the connections of a route and by its keeper.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) name: String,
    pub(super) settings: RouteSettings,
    /// Wakes connections: there may be a row to send.
    pub(super) work: Notify,
    /// Wakes the keeper: rows, tokens or connections may be needed.
    pub(super) need: Arc<Notify>,
    hands: Mutex<Hands>,
    standing: Mutex<Standing>,
    open: AtomicUsize,
    /// Connections that are asked to make room for another worker.
    to_leave: AtomicUsize,
    /// Rows may be on their way from the ledger into these hands.
    is_claiming: AtomicBool,
    /// No rows are claimed before this.
    rests_until: Mutex<Option<Instant>>,
    limits: Limits,
    errands: Errands,
}

#[derive(Debug)]
struct Standing {
    endpoint: Endpoint,
    why: String,
    /// This worker is the one that tries.
    is_probing: bool,
    throttle: Throttle,
    unknowns: UnknownRun,
}

impl Route {
    pub(super) fn new(
        name: String,
        settings: RouteSettings,
        limits: Limits,
        errands: Errands,
    ) -> Self {
        let mut hands = Hands::default();
        hands.set_rate(settings.rate);
        let standing = Standing {
            endpoint: Endpoint::default(),
            why: String::new(),
            is_probing: false,
            throttle: Throttle::new(settings.connections),
            unknowns: UnknownRun::new(limits),
        };
        Self {
            name,
            settings,
            work: Notify::new(),
            need: Arc::default(),
            hands: Mutex::new(hands),
            standing: Mutex::new(standing),
            open: AtomicUsize::new(0),
            to_leave: AtomicUsize::new(0),
            is_claiming: AtomicBool::new(false),
            rests_until: Mutex::new(None),
            limits,
            errands,
        }
    }

    pub(super) fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next row that may go; asks the keeper for more in time.
    pub(super) fn take(&self, now: Timestamp) -> Option<Job> {
        let taken = self.hands().take(now);
        if !matches!(taken, Some((_, Stock::Enough))) {
            self.need.notify_one();
        }
        taken.map(|(job, _)| job)
    }

    /// Takes claimed rows in; those of a batch that is not served here are given back.
    pub(super) fn put(&self, claimed: Claimed) {
        let mut by_batch: BTreeMap<BatchId, Vec<ClaimedRow>> = BTreeMap::new();
        for row in claimed.rows {
            by_batch.entry(row.batch).or_default().push(row);
        }
        for (batch, rows) in by_batch {
            if !self.hands().put(batch, rows, claimed.suppression_seen) {
                self.errands.ask(Errand::GiveBack(batch));
            }
        }
        self.work.notify_waiters();
    }

    /// Stops a batch at once and lets the ledger know.
    pub(super) fn pause(&self, batches: Vec<BatchId>, because: String) {
        {
            let mut hands = self.hands();
            for &batch in &batches {
                hands.stop(batch);
            }
        }
        self.errands.ask(Errand::Pause { batches, because });
    }

    /// Stops every batch of this route: what happened concerns them all.
    pub(super) fn pause_all(&self, because: &str) {
        let running = self.hands().running();
        self.pause(running.iter().map(|served| served.id).collect(), because.to_owned());
    }

    /// Returns what may be done with the route at `now`.
    pub(super) fn way(&self, now: Timestamp) -> Way {
        let standing = self.standing();
        match standing.endpoint.way(now) {
            // The one connection that tries is under way; the others hear of it by `work`.
            Way::Probe if standing.is_probing => Way::Wait(now + Duration::from_secs(1)),
            way => way,
        }
    }

    pub(super) fn begin_probe(&self) {
        self.standing().is_probing = true;
    }

    /// Lets another connection try.
    pub(super) fn end_probe(&self) {
        self.standing().is_probing = false;
    }

    pub(super) fn is_probing(&self) -> bool {
        self.standing().is_probing
    }

    /// Returns the words of the last failure, while the route counts as away.
    pub(super) fn away(&self, now: Timestamp) -> Option<(String, Option<Timestamp>)> {
        let standing = self.standing();
        match standing.endpoint.way(now) {
            Way::Free => None,
            Way::Probe | Way::Wait(_) => Some((standing.why.clone(), standing.endpoint.open_until)),
        }
    }

    /// Learns how a message, or the opening of a connection, went.
    pub(super) fn saw(&self, now: Timestamp, ended: &Ended, line: Worn, jitter: Jitter) {
        let mut standing = self.standing();
        let verdict = &ended.verdict;
        match (verdict.blame, verdict.outcome, line) {
            // The process ends or was fenced: that says nothing about the route.
            _ if matches!(ended.event, Event::Cancelled | Event::Fenced) => {
                standing.is_probing = false;
            }
            // A server that hangs up after some messages, or after a while, is no failure.
            (Blame::Connection, Outcome::NotSent, Worn::Used) => standing.is_probing = false,
            (Blame::Endpoint, ..) | (Blame::Connection, Outcome::NotSent, Worn::New) => {
                self.fail(&mut standing, now, ended, jitter);
            }
            _ => self.works(&mut standing),
        }
        if verdict.outcome == Outcome::Accepted {
            standing.throttle.accepted();
        }
    }

    fn fail(&self, standing: &mut Standing, now: Timestamp, ended: &Ended, jitter: Jitter) {
        // Connections that were under way when the route failed do not make it fail again.
        if matches!(standing.endpoint.way(now), Way::Wait(_)) {
            return;
        }
        standing.endpoint = standing.endpoint.failed(now, &ended.verdict, self.limits, jitter);
        standing.is_probing = false;
        let last = ended.event.to_string();
        let reason = standing.endpoint.reason(&self.name, self.limits, &last);
        standing.why = reason.map_or(last, |reason| reason.to_string());
        self.errands.ask(Errand::EndpointFailed {
            transport: self.name.clone(),
            why: standing.why.clone(),
            until: standing.endpoint.open_until.unwrap_or_default(),
        });
        self.need.notify_one();
    }

    fn works(&self, standing: &mut Standing) {
        if standing.is_probing || standing.endpoint.failures > 0 {
            standing.is_probing = false;
            standing.endpoint = Endpoint::default();
            self.errands.ask(Errand::EndpointOk { transport: self.name.clone() });
            self.work.notify_waiters();
        }
    }

    /// Looks at one ended attempt for a run of unknown outcomes (B6).
    pub(super) fn watch_unknowns(&self, seen: Seen<'_>) {
        let reason = self.standing().unknowns.see(seen);
        if let Some(reason) = reason {
            self.pause_all(&reason.to_string());
        }
    }

    /// Takes over what the other workers know about the route.
    pub(super) fn learn(&self, row: &EndpointRow) {
        // What this worker found out itself is on its way to the ledger and newer.
        if self.errands.open() > 0 {
            return;
        }
        let mut standing = self.standing();
        let open_until = Some(row.closed_until).filter(|at| at.0 > 0);
        let endpoint = Endpoint { failures: row.failures, open_until };
        if standing.endpoint != endpoint && !standing.is_probing {
            standing.endpoint = endpoint;
            row.why.clone_into(&mut standing.why);
            self.work.notify_waiters();
        }
    }

    /// Learns that the server turned a connection away because there are too many.
    ///
    /// False if this is the only one: then the route itself is in trouble.
    pub(super) fn too_many(&self) -> bool {
        let open = self.open();
        if open > 0 {
            self.standing().throttle.too_many(open);
        }
        open > 0
    }

    /// Returns how many connections this worker may try to hold.
    pub(super) fn limit(&self) -> usize {
        self.standing().throttle.limit()
    }

    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }

    /// Counts a connection that was opened, for as long as what is returned lives.
    pub(super) fn opened(self: &Arc<Self>) -> Counted {
        self.open.fetch_add(1, Ordering::AcqRel);
        Counted(Arc::clone(self))
    }

    pub(super) fn set_claiming(&self, is_claiming: bool) {
        self.is_claiming.store(is_claiming, Ordering::SeqCst);
    }

    /// Reports whether rows may be on their way from the ledger; to be asked before the hands are
    /// looked at.
    pub(super) fn is_claiming(&self) -> bool {
        self.is_claiming.load(Ordering::SeqCst)
    }

    /// Claims nothing for a while: there is no way to send it.
    pub(super) fn rest_from_claiming(&self, wait: Duration) {
        let until = Instant::now() + wait;
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
    }

    pub(super) fn rests_from_claiming(&self) -> bool {
        let until = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Asks one connection to make room for another worker after its message.
    pub(super) fn ask_one_to_leave(&self) {
        self.to_leave.store(1, Ordering::Release);
        self.work.notify_waiters();
    }

    /// Reports, once for each that was asked, that this connection is the one to leave.
    pub(super) fn should_leave(&self) -> bool {
        let leave = |asked: usize| asked.checked_sub(1);
        self.to_leave.fetch_update(Ordering::AcqRel, Ordering::Acquire, leave).is_ok()
    }
}

/// One open connection among those of its route.
#[derive(Debug)]
pub(super) struct Counted(Arc<Route>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}
