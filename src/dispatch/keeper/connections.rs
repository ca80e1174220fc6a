//! How many connections this worker holds of those that all workers share.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

use crate::domain::breaker::Way;
use crate::domain::id::BatchId;

use super::super::errand::Errand;
use super::super::lane::Lane;
use super::super::progress::{Progress, Waiting};
use super::super::route::Route;
use super::super::shift::Shift;

/// How often a worker with more than its share looks whether another one waits.
const SHARE: Duration = Duration::from_secs(1);
/// After making room: so long the others have time to take it.
const MAKE_ROOM: Duration = Duration::from_secs(2);
/// Rows without a connection are given back after this.
const STARVES: Duration = Duration::from_secs(1);

/// A lane that ended: its place in the step file and its number in the ledger.
pub(super) type Ended = (usize, i64);

/// The connections of one route that this worker holds.
#[derive(Debug)]
pub(super) struct Connections {
    shift: Arc<Shift>,
    route: Arc<Route>,
    held: usize,
    /// Lanes of batches that have a limit of their own, by batch.
    of_batches: HashMap<BatchId, Vec<i64>>,
    looked: Instant,
    /// Since when there are rows and no connection for them.
    starving: Option<Instant>,
    not_before: Instant,
    /// How long nothing is given away after nobody took what was.
    patience: Duration,
}

impl Connections {
    pub(super) fn new(shift: Arc<Shift>, route: Arc<Route>) -> Self {
        let now = Instant::now();
        Self {
            shift,
            route,
            held: 0,
            of_batches: HashMap::new(),
            looked: now,
            starving: None,
            not_before: now,
            patience: SHARE,
        }
    }

    /// Opens as many connections as rows could go over, as far as the limits allow.
    pub(super) async fn open(&mut self, lanes: &mut JoinSet<Ended>) {
        let now = self.shift.clock.now();
        self.share_among_batches().await;
        self.make_room().await;
        let way = self.route.way(now);
        let could_go = self.route.hands().could_go(now);
        let wanted = match way {
            Way::Free => could_go + self.route.hands().on_wire(),
            // One connection is enough to try.
            Way::Probe => could_go.min(1),
            Way::Wait(_) => 0,
        };
        let wanted = wanted.min(self.route.limit()).min(self.route.settings.connections);
        if self.held < wanted && Instant::now() >= self.not_before {
            let (name, most) = (self.route.name.clone(), self.route.settings.connections);
            for number in self.take(name, wanted - self.held, most).await {
                let Some((place, slot)) = self.shift.take_slot() else {
                    self.release(&self.route.name, number);
                    continue;
                };
                self.held += 1;
                let lane = Lane::new(Arc::clone(&self.shift), Arc::clone(&self.route), slot);
                lanes.spawn(async move {
                    lane.run().await;
                    (place, number)
                });
            }
        }
        self.note_starving(wanted);
    }

    /// Lets rows go that this worker has no connection for: others may have one.
    fn note_starving(&mut self, wanted: usize) {
        if self.held > 0 || wanted == 0 {
            self.starving = None;
            return;
        }
        let why = Waiting::Connections { transport: self.route.name.clone() };
        self.shift.teller.tell(Progress::Waiting { why, until: None });
        if self.starving.get_or_insert_with(Instant::now).elapsed() < STARVES {
            return;
        }
        self.starving = None;
        let now = self.shift.clock.now();
        let rows = self.route.hands().let_go();
        let rows: Vec<_> = rows.into_iter().map(|(_, row)| (row, now)).collect();
        if !rows.is_empty() {
            self.route.rest_from_claiming(MAKE_ROOM);
            self.shift.errands.ask(Errand::PutOff(rows));
        }
    }

    /// Takes up to `wanted` of the first `connections` lanes of that name.
    async fn take(&self, name: String, wanted: usize, connections: usize) -> Vec<i64> {
        let (me, now) = (self.shift.me.worker, self.shift.clock.now());
        let connections = i64::try_from(connections).unwrap_or(i64::MAX);
        let taken = self.shift.ledger.take_lanes(name, me, wanted, connections, now).await;
        taken.unwrap_or_else(|error| {
            tracing::debug!(%error, "no connection now");
            Vec::new()
        })
    }

    fn release(&self, name: &str, number: i64) {
        let transport = name.to_owned();
        self.shift.errands.ask(Errand::ReleaseLanes { transport, numbers: vec![number] });
    }

    /// Frees what a lane held.
    pub(super) fn ended(&mut self, ended: Result<Ended, JoinError>) {
        self.held = self.held.saturating_sub(1);
        match ended {
            Ok((place, number)) => {
                self.shift.free_slot(place);
                self.release(&self.route.name, number);
            }
            // What it held stays taken until this worker leaves; its row is in doubt.
            Err(error) => {
                tracing::error!(%error, "a connection died; this worker ends");
                self.shift.end(super::super::progress::Why::Broken(error.to_string()));
            }
        }
    }

    /// Frees the lanes of batches.
    pub(super) fn leave(&mut self) {
        for (batch, numbers) in std::mem::take(&mut self.of_batches) {
            for number in numbers {
                self.release(&of_batch(batch), number);
            }
        }
    }

    /// Takes lanes for batches that may use only some connections, of all workers together.
    async fn share_among_batches(&mut self) {
        let running = self.route.hands().running();
        let limited = running.iter().filter_map(|served| Some((served.id, served.connections?)));
        let limited: HashMap<BatchId, usize> = limited.collect();
        let old: Vec<BatchId> =
            self.of_batches.keys().copied().filter(|id| !limited.contains_key(id)).collect();
        for batch in old {
            let numbers = self.of_batches.remove(&batch).unwrap_or_default();
            for number in numbers {
                self.release(&of_batch(batch), number);
            }
        }
        for (batch, most) in limited {
            let (in_hand, on_wire) = self.route.hands().of(batch);
            let mut numbers = self.of_batches.remove(&batch).unwrap_or_default();
            let wanted = (in_hand + on_wire).min(most);
            while numbers.len() > wanted.max(on_wire) {
                if let Some(number) = numbers.pop() {
                    self.release(&of_batch(batch), number);
                }
            }
            if numbers.len() < wanted {
                let missing = wanted - numbers.len();
                numbers.extend(self.take(of_batch(batch), missing, most).await);
            }
            if self.route.hands().allow(batch, numbers.len()) {
                self.route.work.notify_waiters();
            }
            self.of_batches.insert(batch, numbers);
        }
    }

    /// Lets one connection go if another worker has none and this one has more than its share.
    async fn make_room(&mut self) {
        let living = self.shift.living();
        if living < 2 || self.held < 2 || self.looked.elapsed() < self.patience {
            return;
        }
        self.looked = Instant::now();
        let most = i64::try_from(self.route.settings.connections).unwrap_or(i64::MAX);
        let Ok(lanes) = self.shift.ledger.lanes(&self.route.name, most).await else { return };
        if lanes.free > 0 {
            // What was given away lies there: nobody waits.
            self.patience = (self.patience * 2).min(SHARE * 60);
            return;
        }
        let share = self.route.settings.connections.div_ceil(living);
        if self.held > share && lanes.holders.len() < living {
            self.patience = SHARE;
            self.not_before = Instant::now() + MAKE_ROOM;
            self.route.ask_one_to_leave();
        }
    }
}

fn of_batch(batch: BatchId) -> String {
    format!("batch:{batch}")
}
