//! Looks at the batches again and again, so that what a person decides takes effect everywhere.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::batch::{BatchState, Counts};
use crate::domain::id::BatchId;
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::counts::BatchStatus;

use super::errand::Errand;
use super::progress::{Progress, Waiting, Why};
use super::pulse::Health;
use super::route::Route;
use super::served::{Open, Served};
use super::settings::{Serve, Until};
use super::shift::Shift;

/// Nothing is said of a wait that is shorter than this.
const WORTH_SAYING: Duration = Duration::from_secs(1);
/// A start that was missed by more than this is left to a person.
const LATE: Duration = Duration::from_hours(1);
const LONGEST: Duration = Duration::from_secs(1);

/// Looks for one shift.
#[derive(Debug)]
pub(super) struct Look {
    shift: Arc<Shift>,
    routes: Vec<Arc<Route>>,
    known: HashMap<BatchId, Arc<Served>>,
    /// Since when nothing was due, at every look.
    quiet_since: Option<Instant>,
}

impl Look {
    pub(super) fn new(shift: Arc<Shift>, routes: Vec<Arc<Route>>) -> Self {
        Self { shift, routes, known: HashMap::new(), quiet_since: None }
    }

    /// Looks until the shift is over.
    pub(super) async fn run(mut self) {
        let shift = Arc::clone(&self.shift);
        let every = (shift.settings.heartbeat / 5).min(LONGEST);
        while !shift.is_over() {
            if shift.pulse.health() == Health::Well
                && let Err(error) = self.look().await
            {
                tracing::debug!(%error, "the batches cannot be looked at now");
            }
            tokio::select! {
                () = shift.look_asked() => {}
                // Giving back the rows of a batch that is done is all that a worker may wait for.
                () = shift.errands.all_done() => {}
                () = shift.shutdown.draining() => {}
                () = tokio::time::sleep(every) => {}
            }
        }
    }

    async fn look(&mut self) -> Result<(), LedgerError> {
        let shift = Arc::clone(&self.shift);
        let now = shift.clock.now();
        if !matches!(shift.settings.serve, Serve::Batch(_)) {
            shift.ledger.start_scheduled(LATE, now).await?;
        }
        // What breakers have stopped is in the ledger only when no errand is open.
        let is_quiet = shift.errands.open() == 0;
        let stops: Vec<Option<u64>> =
            self.routes.iter().map(|route| is_quiet.then(|| route.hands().stops())).collect();
        let only = match shift.settings.serve {
            Serve::Batch(id) => Some(id),
            Serve::Everything | Serve::Kinds(_) => None,
        };
        let status = shift.ledger.status(only, now).await?;
        let mine: Vec<&BatchStatus> =
            status.batches.iter().filter(|status| self.is_served(status)).collect();
        let mut by_route: HashMap<&str, Vec<Arc<Served>>> = HashMap::new();
        for status in &mine {
            if let Some(served) = self.served(status).await? {
                by_route.entry(&status.batch.frozen.via).or_default().push(served);
            }
        }
        self.known.retain(|id, _| mine.iter().any(|status| status.batch.id == *id));
        for (route, as_of) in self.routes.iter().zip(stops) {
            route.learn(&shift.ledger.endpoint(&route.name).await?);
            let running = by_route.remove(route.name.as_str()).unwrap_or_default();
            for gone in route.hands().serve(running, as_of) {
                shift.errands.ask(Errand::GiveBack(gone));
            }
            route.need.notify_one();
        }
        shift.teller.tell(Progress::Counts(shift.tally.counts()));
        self.end_if_idle(&mine, now);
        Ok(())
    }

    /// Reports whether this worker takes rows of a batch.
    fn is_served(&self, status: &BatchStatus) -> bool {
        let batch = &status.batch;
        let asked = match &self.shift.settings.serve {
            Serve::Everything => true,
            Serve::Kinds(kinds) => kinds.contains(&batch.kind),
            Serve::Batch(id) => batch.id == *id,
        };
        asked
            && status.state == BatchState::Running
            && self.routes.iter().any(|route| route.name == batch.frozen.via)
    }

    /// Returns what is needed to send a batch's rows; a batch that cannot be sent is paused.
    async fn served(&mut self, status: &BatchStatus) -> Result<Option<Arc<Served>>, LedgerError> {
        let batch = &status.batch;
        if let Some(served) = self.known.get(&batch.id).filter(|served| served.is_still(batch)) {
            return Ok(Some(Arc::clone(served)));
        }
        let shift = &self.shift;
        let message = shift.ledger.message(batch.id, batch.template_version).await?;
        let dkim = shift.settings.dkim.get(&batch.kind).cloned();
        match Served::new(batch, &message, dkim, status.counts.sent > 0, shift.settings.limits) {
            Ok(served) => {
                let served = Arc::new(served);
                self.known.insert(batch.id, Arc::clone(&served));
                Ok(Some(served))
            }
            Err(because) => {
                shift.errands.ask(Errand::Pause { batches: vec![batch.id], because });
                Ok(None)
            }
        }
    }

    /// Ends the worker if it is to end when nothing is left, and says what it waits for if not.
    fn end_if_idle(&mut self, mine: &[&BatchStatus], now: Timestamp) {
        let shift = &self.shift;
        let open = |counts: &Counts| counts.ready + counts.sending - counts.unknown;
        let left: i64 = mine.iter().map(|status| open(&status.counts)).sum();
        let is_claiming = self.routes.iter().any(|route| route.is_claiming());
        let in_hand: usize = self
            .routes
            .iter()
            .map(|route| {
                let hands = route.hands();
                hands.in_hand() + hands.on_wire()
            })
            .sum();
        let is_busy = is_claiming || in_hand > 0 || shift.errands.open() > 0;
        let next_due = mine.iter().filter_map(|status| status.next_due_at).min();
        let nothing_due =
            !is_busy && mine.iter().all(|status| status.oldest_ready_at.is_none_or(|at| at > now));
        let was_quiet = self.quiet_since.is_some();
        self.quiet_since = nothing_due.then(|| self.quiet_since.unwrap_or_else(Instant::now));
        let has_waited = self.quiet_since.is_some_and(|since| since.elapsed() >= WORTH_SAYING);
        match shift.settings.until {
            Until::Idle if left == 0 && !is_busy => shift.end(Why::Idle),
            // Twice, because a claim may have been on its way at the first look.
            Until::NothingDue if nothing_due && was_quiet => shift.end(Why::NothingDue),
            Until::NothingDue if is_busy || left > 0 => self.end_if_unreachable(now),
            _ => {}
        }
        if nothing_due && left > 0 && has_waited {
            let mut ready = mine.iter().map(|status| status.counts.ready);
            let rows = ready.by_ref().sum::<i64>().unsigned_abs();
            let why = if rows > 0 {
                Waiting::Retries { rows }
            } else {
                Waiting::Others { rows: left.unsigned_abs() }
            };
            shift.teller.tell(Progress::Waiting { why, until: next_due });
        }
        self.tell_what_holds(now);
    }

    /// A worker that is not to wait does not wait for a route that is away either.
    fn end_if_unreachable(&self, now: Timestamp) {
        let mut routes = self.routes.iter().filter(|route| route.hands().in_hand() > 0).peekable();
        if routes.peek().is_none() {
            return;
        }
        let away: Vec<_> = routes.map(|route| route.away(now)).collect();
        if let Some(Some((why, _))) = away.first()
            && away.iter().all(Option::is_some)
        {
            self.shift.end(Why::Unreachable(why.clone()));
        }
    }

    /// Tells a watcher what keeps rows in hand from going.
    fn tell_what_holds(&self, now: Timestamp) {
        for route in &self.routes {
            let away = route.away(now).map(|(why, until)| {
                (Waiting::Endpoint { transport: route.name.clone(), why }, until)
            });
            let rate = route.hands().rate_holds_until(now).map(|at| (Waiting::Rate, Some(at)));
            let closed = self.known.values().filter_map(|served| match served.hours(now) {
                Open::NotBefore(at) => Some(at),
                Open::Always | Open::Until(_) => None,
            });
            let hours = closed.min().map(|at| (Waiting::Hours, Some(at)));
            if let Some((why, until)) = away.or(rate).or(hours) {
                self.shift.teller.tell(Progress::Waiting { why, until });
            }
        }
    }
}
