//! Keeps a route supplied: rows claimed in time, tokens in lots, connections as many as are of use.
//!
//! Promise: a worker holds at most what it sends in about half a minute, and at least a row for
//! each connection; connections and rate are those of all workers together.

mod connections;
mod supply;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::domain::rate::Tokens;

use super::hands::Whose;
use super::pulse::Health;
use super::route::Route;
use super::served::day;
use super::shift::Shift;
use connections::Connections;
use supply::Supplier;

/// The keeper looks again after this, whatever happens.
const TICK: Duration = Duration::from_millis(200);

/// Supplies one route under one identity.
#[derive(Debug)]
pub(super) struct Keeper {
    shift: Arc<Shift>,
    route: Arc<Route>,
    supplier: Supplier,
    connections: Connections,
}

impl Keeper {
    pub(super) fn new(shift: Arc<Shift>, route: Arc<Route>) -> Self {
        let supplier = Supplier::new(Arc::clone(&shift), Arc::clone(&route));
        let connections = Connections::new(Arc::clone(&shift), Arc::clone(&route));
        Self { shift, route, supplier, connections }
    }

    /// Works until the shift is over and every connection has finished.
    pub(super) async fn run(mut self) {
        let mut lanes = JoinSet::new();
        while !self.shift.is_over() {
            if self.shift.pulse.health() == Health::Well {
                self.route.set_claiming(true);
                self.supplier.claim().await;
                self.route.set_claiming(false);
                let wakes_at = self.take_tokens().await;
                self.connections.open(&mut lanes).await;
                self.wait(&mut lanes, wakes_at).await;
            } else {
                self.wait(&mut lanes, None).await;
            }
        }
        while let Some(ended) = lanes.join_next().await {
            self.connections.ended(ended);
        }
        self.connections.leave();
    }

    /// Takes lots for whoever waits for one; returns when the next is to be had.
    async fn take_tokens(&self) -> Option<Instant> {
        let now = self.shift.clock.now();
        let thirsty = self.route.hands().thirsty(now);
        for (whose, rate) in thirsty {
            let key = match whose {
                Whose::Route => self.route.name.clone(),
                Whose::Batch(batch) => format!("batch:{batch}"),
            };
            let today = day(now, &self.shift.settings.zone);
            let ledger = &self.shift.ledger;
            match ledger.take_tokens(key, rate, rate.lot(), now, today).await {
                Ok(Tokens::Taken { tokens, .. }) => {
                    self.route.hands().pour(whose, tokens, now);
                    self.route.work.notify_waiters();
                }
                Ok(Tokens::NotBefore(until)) => self.route.hands().wait(whose, until),
                Err(error) => tracing::debug!(%error, "no tokens now"),
            }
        }
        let until = self.route.hands().rate_holds_until(now)?;
        Some(Instant::now() + until.since(now))
    }

    async fn wait(&mut self, lanes: &mut JoinSet<connections::Ended>, wakes_at: Option<Instant>) {
        let tick = Instant::now() + TICK;
        let until = wakes_at.map_or(tick, |at| at.min(tick));
        let mut health = self.shift.pulse.watch();
        tokio::select! {
            Some(ended) = lanes.join_next() => self.connections.ended(ended),
            () = self.route.need.notified() => {}
            () = self.shift.shutdown.draining() => {}
            _ = health.changed() => {}
            () = tokio::time::sleep_until(until) => {}
        }
        while let Some(ended) = lanes.try_join_next() {
            self.connections.ended(ended);
        }
    }
}
