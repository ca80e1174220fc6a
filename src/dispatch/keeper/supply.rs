//! Claims rows before they run out, of each running batch in turn.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::breaker::Way;
use crate::domain::id::BatchId;
use crate::domain::state::How;
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::claims::{Claimed, Unstarted};

use super::super::failpoint::FailPoint;
use super::super::hands::Supply;
use super::super::prepare::TOO_LATE;
use super::super::route::Route;
use super::super::served::Served;
use super::super::shift::Shift;

/// A claim is at most what goes out in this time.
const AHEAD: Duration = Duration::from_secs(30);
/// After a claim that brought nothing: no sooner, then longer and longer.
const REST: Duration = Duration::from_millis(100);
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Claims for one route.
#[derive(Debug)]
pub(super) struct Supplier {
    shift: Arc<Shift>,
    route: Arc<Route>,
    batches: HashMap<BatchId, Pace>,
    looked_for_forgotten: Option<Instant>,
    /// When rows of a batch were last given up.
    gave_up: HashMap<BatchId, Instant>,
}

/// How fast a batch goes here, and when to look for rows again.
#[derive(Clone, Copy, Debug)]
struct Pace {
    asked_at: Instant,
    per_second: f64,
    rest: Duration,
    not_before: Instant,
    was_probed: bool,
}

impl Supplier {
    pub(super) fn new(shift: Arc<Shift>, route: Arc<Route>) -> Self {
        Self {
            shift,
            route,
            batches: HashMap::new(),
            looked_for_forgotten: None,
            gave_up: HashMap::new(),
        }
    }

    /// Claims for every batch that has less than half of what it may have.
    pub(super) async fn claim(&mut self) {
        let now = self.shift.clock.now();
        self.give_up(now).await;
        // Rows that cannot go are better in other hands; errands still hold rows of their own.
        if self.route.rests_from_claiming()
            || matches!(self.route.way(now), Way::Wait(_))
            || self.shift.errands.open() > self.most_errands()
        {
            return;
        }
        let supplies = self.route.hands().supplies(now);
        self.batches.retain(|&id, _| supplies.iter().any(|supply| supply.served.id == id));
        for supply in supplies {
            let wanted = self.wanted(&supply);
            if wanted > 0 {
                self.claim_for(supply.served.id, wanted).await;
            }
        }
        self.look_for_forgotten().await;
    }

    /// Fails the rows of batches that were given up, whether they are due or not.
    async fn give_up(&mut self, now: Timestamp) {
        let ends = |served: &Arc<Served>| served.gives_up_at.is_some_and(|at| at <= now);
        let running = self.route.hands().running();
        for served in running.into_iter().filter(ends) {
            // Rows in doubt keep a batch running: that is no reason to look all the time.
            let looked = self.gave_up.get(&served.id);
            if looked.is_some_and(|at| at.elapsed() < LONGEST_REST) {
                continue;
            }
            self.gave_up.insert(served.id, Instant::now());
            if let Err(error) = self.give_up_rows(&served, now).await {
                tracing::debug!(%error, batch = %served.name, "rows cannot be given up now");
            }
        }
    }

    async fn give_up_rows(&self, served: &Served, now: Timestamp) -> Result<(), LedgerError> {
        let (me, batch) = (self.shift.me, served.id);
        let mut rows = self.route.hands().let_go_of(batch);
        let begun = Instant::now();
        // A batch with very many rows is not ended in one go: other batches have their turn.
        while begun.elapsed() < LONGEST_REST {
            // Rows that are to be tried later are given up as well: everything is due by then.
            let ever = Timestamp(i64::MAX);
            let claimed = self.shift.ledger.claim(me.worker, batch, 1000, ever).await?;
            rows.extend(claimed.rows.iter().map(|row| row.id));
            if rows.is_empty() {
                break;
            }
            let fail = |row| Unstarted { row, how: How::Expired, note: TOO_LATE.to_owned() };
            let failing = std::mem::take(&mut rows).into_iter().map(fail).collect();
            let failed = self.shift.ledger.fail_unstarted(me, failing, now).await?;
            self.shift.tally.failed_unstarted(failed.unsigned_abs());
        }
        Ok(())
    }

    fn most_errands(&self) -> usize {
        self.route.settings.connections.max(64)
    }

    /// Returns how many rows a batch should get now.
    fn wanted(&mut self, supply: &Supply) -> usize {
        let now = Instant::now();
        let batch = supply.served.id;
        let pace = self.batches.entry(batch).or_insert(Pace {
            asked_at: now,
            per_second: 0.0,
            rest: REST,
            not_before: now,
            was_probed: false,
        });
        if !pace.was_probed && supply.served.is_probed.load(Ordering::Acquire) {
            pace.was_probed = true;
            pace.not_before = now;
        }
        let passed = now.duration_since(pace.asked_at).as_secs_f64();
        if supply.taken > 0 && passed > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "a count of rows in half a minute")]
            let measured = supply.taken as f64 / passed;
            pace.per_second = if pace.per_second == 0.0 {
                measured
            } else {
                (pace.per_second * 3.0 + measured) / 4.0
            };
        }
        pace.asked_at = now;
        let connections = self.route.settings.connections;
        let most = usize::try_from(supply.served.frozen.claim).unwrap_or(usize::MAX);
        let size = claim_size(pace.per_second, connections, most);
        if now < pace.not_before || supply.in_hand * 2 > size { 0 } else { size }
    }

    async fn claim_for(&mut self, batch: BatchId, wanted: usize) {
        let (me, now) = (self.shift.me.worker, self.shift.clock.now());
        let limit = i64::try_from(wanted).unwrap_or(i64::MAX);
        FailPoint::ClaimBefore.pass();
        let claimed = self.shift.ledger.claim(me, batch, limit, now).await;
        let claimed = claimed.unwrap_or_else(|error| {
            tracing::debug!(%error, %batch, "no claim now");
            Claimed::default()
        });
        if !claimed.rows.is_empty() {
            FailPoint::ClaimAfter.pass();
        }
        let is_empty = claimed.rows.is_empty();
        if let Some(pace) = self.batches.get_mut(&batch) {
            pace.rest = if is_empty { (pace.rest * 2).min(LONGEST_REST) } else { REST };
            pace.not_before = Instant::now() + if is_empty { pace.rest } else { Duration::ZERO };
        }
        if !is_empty {
            self.route.put(claimed);
        }
    }

    /// Looks for rows that carry this worker's number although nobody here knows them
    /// (`protocol.md` 8): only with empty hands, else they would be found twice.
    async fn look_for_forgotten(&mut self) {
        let due = self
            .looked_for_forgotten
            .is_none_or(|at| at.elapsed() >= self.shift.settings.heartbeat);
        let is_idle = {
            let hands = self.route.hands();
            hands.in_hand() == 0 && hands.on_wire() == 0
        };
        if !due || !is_idle || self.shift.errands.open() > 0 {
            return;
        }
        self.looked_for_forgotten = Some(Instant::now());
        let me = self.shift.me.worker;
        let Ok(mut found) = self.shift.ledger.own_forgotten_rows(me).await else { return };
        // Rows of another route are found again by that route's keeper.
        found.rows.retain(|row| self.route.hands().serves(row.batch));
        self.route.put(found);
    }
}

/// Returns how many rows of a batch to hold: what goes out in half a minute, but a row for each
/// connection, and never more than the kind's `claim`.
fn claim_size(per_second: f64, connections: usize, most: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is never negative, and a huge one is cut by `most`"
    )]
    let ahead = (per_second * AHEAD.as_secs_f64()).ceil() as usize;
    // Nothing measured yet: a few rows for each connection, so that measuring can begin.
    let ahead = if per_second == 0.0 { connections * 4 } else { ahead };
    ahead.clamp(connections, most.max(connections))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_what_goes_out_in_half_a_minute() {
        assert_eq!(claim_size(5.0, 8, 500), 150);
    }

    #[test]
    fn a_slow_batch_still_has_a_row_for_each_connection() {
        assert_eq!(claim_size(0.1, 8, 500), 8);
    }

    #[test]
    fn the_kind_sets_the_most() {
        assert_eq!(claim_size(20_000.0, 8, 500), 500);
        assert_eq!(claim_size(0.0, 8, 10), 10);
    }
}
