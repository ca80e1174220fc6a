//! The rows in this worker's hands for one route, and which of them may go next.
//!
//! Promise: never more rows than were claimed, and running batches take turns, so that an order
//! does not wait for a notice.
//! Absent on purpose: the ledger and the clock; whoever takes rows out puts things right there.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::domain::id::{BatchId, RecipientId};
use crate::domain::rate::Rate;
use crate::domain::time::Timestamp;
use crate::ledger::claims::ClaimedRow;

use super::allowance::Allowance;
use super::served::{Open, Served};

/// One row, with everything that is needed to send it.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) row: ClaimedRow,
    pub(super) suppression_seen: i64,
    pub(super) served: Arc<Served>,
}

/// What this worker holds for one route.
#[derive(Debug, Default)]
pub(super) struct Hands {
    batches: Vec<Held>,
    turn: usize,
    /// The rate of the route itself.
    pace: Allowance,
    /// Rows that a connection has, and whether they were claimed once more meanwhile.
    out: HashMap<RecipientId, Again>,
    stops: u64,
}

/// Whether a row that a connection has came in a second time.
///
/// A pause gives rows back that a connection is about to start, and the next claim may bring them
/// here again. Two connections with one row would both send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    No,
    Yes,
}

/// Whether it is time to claim more rows of the batch that a row was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stock {
    Enough,
    Low,
}

#[derive(Debug)]
struct Held {
    served: Arc<Served>,
    rows: VecDeque<(ClaimedRow, i64)>,
    pace: Allowance,
    on_wire: usize,
    /// How many may be on the wire here, if the batch has a limit of its own.
    lanes: Option<usize>,
    /// Taken out since the last claim, to tell how fast it goes.
    taken: usize,
    /// When only so many rows are left, it is time to claim more.
    low: usize,
    /// The how manieth stop this was: nothing is taken until the ledger, looked at after it, says
    /// that the batch runs.
    stopped: Option<u64>,
}

/// Whose allowance is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Route,
    Batch(BatchId),
}

/// A batch that may need rows.
#[derive(Debug)]
pub(super) struct Supply {
    pub(super) served: Arc<Served>,
    pub(super) in_hand: usize,
    /// Taken out since this was last asked.
    pub(super) taken: usize,
}

impl Hands {
    pub(super) fn set_rate(&mut self, rate: Option<Rate>) {
        self.pace.set_rate(rate);
    }

    /// Returns how often a batch was stopped so far; to be asked before the ledger is looked at.
    pub(super) fn stops(&self) -> u64 {
        self.stops
    }

    /// Takes over which batches run now; returns those that ran before and do not any more.
    ///
    /// `as_of` is what `stops` said before the ledger was looked at, if what was stopped until then
    /// has reached it: a batch that a breaker stopped since stays stopped.
    pub(super) fn serve(&mut self, running: Vec<Arc<Served>>, as_of: Option<u64>) -> Vec<BatchId> {
        let mut before = std::mem::take(&mut self.batches);
        for served in running {
            let place = before.iter().position(|held| held.served.id == served.id);
            let mut held = match place {
                Some(place) => before.swap_remove(place),
                None => Held::new(Arc::clone(&served)),
            };
            held.pace.set_rate(served.rate);
            // None are held before some were taken in the ledger.
            held.lanes = served.connections.map(|_| held.lanes.unwrap_or(0));
            held.served = served;
            held.stopped = held.stopped.filter(|&stop| as_of.is_none_or(|as_of| stop > as_of));
            self.batches.push(held);
        }
        let gone: Vec<BatchId> = before.iter().map(|held| held.served.id).collect();
        // What is still on the wire of a batch that ended has to be counted to its end.
        for mut held in before.into_iter().filter(|held| held.on_wire > 0) {
            held.rows.clear();
            held.stopped = Some(self.stops);
            self.batches.push(held);
        }
        gone
    }

    /// Takes claimed rows in; rows of a batch that is not served are returned.
    pub(super) fn put(
        &mut self,
        batch: BatchId,
        rows: Vec<ClaimedRow>,
        suppression_seen: i64,
    ) -> bool {
        let mut new = rows;
        new.retain(|row| match self.out.get_mut(&row.id) {
            Some(again) => {
                *again = Again::Yes;
                false
            }
            None => true,
        });
        let Some(held) = self.find(batch).filter(|held| held.stopped.is_none()) else {
            return false;
        };
        // Likewise a row that still waits here: what came last is what the ledger knows.
        let known: HashSet<RecipientId> = new.iter().map(|row| row.id).collect();
        held.rows.retain(|(row, _)| !known.contains(&row.id));
        held.rows.extend(new.into_iter().map(|row| (row, suppression_seen)));
        held.low = held.rows.len() / 2;
        true
    }

    /// Takes the next row that may go at `now`, if there is one, and says whether more are needed.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<(Job, Stock)> {
        if !self.pace.allows(now) {
            return None;
        }
        let batches = self.batches.len();
        for step in 0..batches {
            let place = (self.turn + step) % batches;
            let held = &mut self.batches[place];
            if held.free(now) == 0 {
                continue;
            }
            let Some((row, suppression_seen)) = held.rows.pop_front() else { continue };
            held.on_wire += 1;
            held.taken += 1;
            held.pace.spend();
            self.pace.spend();
            self.turn = place + 1;
            self.out.insert(row.id, Again::No);
            let stock = if held.rows.len() == held.low { Stock::Low } else { Stock::Enough };
            return Some((Job { row, suppression_seen, served: Arc::clone(&held.served) }, stock));
        }
        None
    }

    /// Takes back a row that was not started; its tokens are free again.
    pub(super) fn put_back(&mut self, job: Job) {
        self.pace.unspend();
        self.out.remove(&job.row.id);
        if let Some(held) = self.find(job.served.id) {
            held.on_wire -= 1;
            held.pace.unspend();
            if held.stopped.is_none() {
                held.rows.push_front((job.row, job.suppression_seen));
            }
        }
    }

    /// Takes back the tokens of a row that went nowhere; says whether it was claimed once more.
    pub(super) fn not_sent(&mut self, batch: BatchId, row: RecipientId) -> Again {
        self.pace.unspend();
        if let Some(held) = self.find(batch) {
            held.on_wire -= 1;
            held.pace.unspend();
        }
        self.out.remove(&row).unwrap_or(Again::No)
    }

    /// Notes that a row that was taken out is off the wire.
    pub(super) fn done(&mut self, batch: BatchId, row: RecipientId) {
        self.out.remove(&row);
        if let Some(held) = self.find(batch) {
            held.on_wire -= 1;
        }
    }

    /// Lets go of a batch's rows and takes no more until it is served again.
    pub(super) fn stop(&mut self, batch: BatchId) {
        self.stops += 1;
        let stop = self.stops;
        if let Some(held) = self.find(batch) {
            held.rows.clear();
            held.stopped = Some(stop);
        }
    }

    /// Lets go of the rows of one batch and names them.
    pub(super) fn let_go_of(&mut self, batch: BatchId) -> Vec<RecipientId> {
        let Some(held) = self.find(batch) else { return Vec::new() };
        held.rows.drain(..).map(|(row, _)| row.id).collect()
    }

    /// Lets go of every row and names them.
    pub(super) fn let_go(&mut self) -> Vec<(BatchId, RecipientId)> {
        let mut rows = Vec::new();
        for held in &mut self.batches {
            let batch = held.served.id;
            rows.extend(held.rows.drain(..).map(|(row, _)| (batch, row.id)));
        }
        rows
    }

    /// Lists the batches in the order of their turns, and forgets how much was taken.
    pub(super) fn supplies(&mut self, now: Timestamp) -> Vec<Supply> {
        let turn = self.turn;
        let batches = self.batches.len().max(1);
        let mut supplies: Vec<Supply> = Vec::new();
        for step in 0..self.batches.len() {
            let held = &mut self.batches[(turn + step) % batches];
            if held.stopped.is_none() && held.is_open(now) {
                let taken = std::mem::take(&mut held.taken);
                let served = Arc::clone(&held.served);
                supplies.push(Supply { served, in_hand: held.rows.len(), taken });
            }
        }
        supplies
    }

    /// Lists who has to ask the ledger for tokens now.
    pub(super) fn thirsty(&self, now: Timestamp) -> Vec<(Whose, Rate)> {
        if self.in_hand() == 0 {
            return Vec::new();
        }
        let route = self.pace.wants(now).map(|rate| (Whose::Route, rate));
        let batches = self.batches.iter().filter(|held| !held.rows.is_empty());
        let batches =
            batches.filter_map(|held| Some((Whose::Batch(held.served.id), held.pace.wants(now)?)));
        route.into_iter().chain(batches).collect()
    }

    pub(super) fn pour(&mut self, whose: Whose, tokens: i64, now: Timestamp) {
        if let Some(pace) = self.pace_of(whose) {
            pace.pour(tokens, now);
        }
    }

    pub(super) fn wait(&mut self, whose: Whose, until: Timestamp) {
        if let Some(pace) = self.pace_of(whose) {
            pace.wait(until);
        }
    }

    /// Returns when the rate lets the next row go, if it is the rate that holds them.
    pub(super) fn rate_holds_until(&self, now: Timestamp) -> Option<Timestamp> {
        if self.in_hand() == 0 {
            return None;
        }
        self.pace.waits_until(now).or_else(|| {
            let held = self.batches.iter().filter(|held| !held.rows.is_empty());
            held.map(|held| held.pace.waits_until(now)).min().flatten()
        })
    }

    /// Allows so many rows of a batch with a limit of its own on the wire; says whether that is new.
    pub(super) fn allow(&mut self, batch: BatchId, lanes: usize) -> bool {
        self.find(batch).is_some_and(|held| held.lanes.replace(lanes) != Some(lanes))
    }

    /// Returns the rows of a batch in hand and on the wire.
    pub(super) fn of(&mut self, batch: BatchId) -> (usize, usize) {
        self.find(batch).map_or((0, 0), |held| (held.rows.len(), held.on_wire))
    }

    /// Returns how many rows could go at once.
    pub(super) fn could_go(&self, now: Timestamp) -> usize {
        let batches = self.batches.iter().map(|held| held.free(now).min(held.rows.len()));
        batches.sum::<usize>().min(self.pace.most(now))
    }

    pub(super) fn in_hand(&self) -> usize {
        self.batches.iter().map(|held| held.rows.len()).sum()
    }

    pub(super) fn on_wire(&self) -> usize {
        self.batches.iter().map(|held| held.on_wire).sum()
    }

    /// Reports whether nothing is in hand or on the wire.
    pub(super) fn are_empty(&self) -> bool {
        self.in_hand() == 0 && self.on_wire() == 0
    }

    /// Reports whether a batch is served now.
    pub(super) fn serves(&self, batch: BatchId) -> bool {
        self.batches.iter().any(|held| held.served.id == batch && held.stopped.is_none())
    }

    /// Returns the batches that are served now.
    pub(super) fn running(&self) -> Vec<Arc<Served>> {
        let running = self.batches.iter().filter(|held| held.stopped.is_none());
        running.map(|held| Arc::clone(&held.served)).collect()
    }

    fn find(&mut self, batch: BatchId) -> Option<&mut Held> {
        self.batches.iter_mut().find(|held| held.served.id == batch)
    }

    fn pace_of(&mut self, whose: Whose) -> Option<&mut Allowance> {
        match whose {
            Whose::Route => Some(&mut self.pace),
            Whose::Batch(batch) => self.find(batch).map(|held| &mut held.pace),
        }
    }
}

impl Held {
    fn new(served: Arc<Served>) -> Self {
        Self {
            served,
            rows: VecDeque::new(),
            pace: Allowance::default(),
            on_wire: 0,
            lanes: None,
            taken: 0,
            low: 0,
            stopped: None,
        }
    }

    fn is_open(&self, now: Timestamp) -> bool {
        !matches!(self.served.hours(now), Open::NotBefore(_))
    }

    /// Returns how many more rows of this batch may be on the wire.
    fn free(&self, now: Timestamp) -> usize {
        if self.stopped.is_some() || self.rows.is_empty() || !self.is_open(now) {
            return 0;
        }
        let lanes = self.lanes.unwrap_or(usize::MAX);
        lanes.saturating_sub(self.on_wire).min(self.pace.most(now))
    }
}
