//! The ledger: is it there, do its sums hold, what in it needs a person.

use std::time::Duration;

use super::DoctorBody;
use crate::dispatch::identity::Myself;
use crate::domain::batch::BatchState;
use crate::ledger::counts::BatchStatus;
use crate::ops::Ops;
use crate::ops::attention::Limits;
use crate::ops::status::Check;
use crate::ops::words::{age, thousands};

/// Clocks that differ by more than this confuse people, though never the sending.
const SKEW: Duration = Duration::from_secs(30);

impl Ops {
    pub(super) async fn look_at_ledger(&self, body: &mut DoctorBody) {
        body.ok("ledger", self.ledger.location().to_string());
        if let Err(err) = self.look_inside(body).await {
            body.stop("ledger", err.to_string(), "try again; if it stays, look at the database");
        }
    }

    async fn look_inside(&self, body: &mut DoctorBody) -> Result<(), crate::ops::error::OpsError> {
        let now = self.now();
        let status = self.ledger.status(None, now).await?;
        let wrong = self.ledger.verify(None).await?;
        if wrong.is_empty() {
            let rows = status.batches.iter().map(|batch| batch.counts.total()).sum();
            let batches = status.batches.len();
            let says = format!("{batches} batches, {} rows: every sum is right", thousands(rows));
            body.ok("sums", says);
        }
        for difference in wrong.iter().take(10) {
            let name = status.batches.iter().find(|batch| batch.batch.id == difference.batch);
            let name = name.map_or("?", |batch| batch.batch.name.as_str());
            let (counter, rows) = (difference.counter, difference.rows);
            let says = format!(
                "{name}: the counter {} says {counter}, the rows {rows}",
                difference.bucket
            );
            body.stop("sums", says, "keep a copy of the ledger and report this: it is a defect");
        }
        for batch in &status.batches {
            self.look_at_batch(batch, body);
        }
        let needs = self.status(None, Check::Attention(Limits::default())).await?;
        for need in needs.attention.unwrap_or_default() {
            body.look(&need.batch, need.line, need.command);
        }
        self.look_at_workers(body).await
    }

    fn look_at_batch(&self, status: &BatchStatus, body: &mut DoctorBody) {
        let batch = &status.batch;
        let now = self.now();
        if let Some(since) = batch.loading {
            let says = format!("its import began {} ago and has not ended", age(now.since(since)));
            body.look(&batch.name, says, "if none runs: run the same import again, it goes on");
        }
        if now.since(batch.created_at) == Duration::ZERO && batch.created_at > now + SKEW {
            let ahead = age(batch.created_at.since(now));
            let says = format!("it was made {ahead} in the future: two clocks differ");
            body.look(&batch.name, says, "set the clocks of all machines (NTP)");
        }
        let open = matches!(status.state, BatchState::Running | BatchState::Paused);
        let present = self.kind(&batch.kind);
        match present {
            Err(_) if open => body.look(
                &batch.name,
                format!("its kind {} is gone from the configuration", batch.kind),
                "it goes on with what it froze; only its transport must stay",
            ),
            Ok(present) if open && present.frozen != batch.frozen => body.look(
                &batch.name,
                "the configuration of its kind has changed since it started",
                format!(
                    "it keeps what it froze; to take the present: ittsu resume {} --refresh",
                    batch.name
                ),
            ),
            _ => {}
        }
    }

    async fn look_at_workers(
        &self,
        body: &mut DoctorBody,
    ) -> Result<(), crate::ops::error::OpsError> {
        let (now, myself) = (self.now(), Myself::look());
        let workers = self.ledger.workers().await?;
        for worker in &workers {
            let what = format!("worker {}", worker.id);
            let silent = now.since(worker.beat_at);
            let host = &worker.identity.host;
            if worker.beat_at > now + SKEW {
                let ahead = age(worker.beat_at.since(now));
                let says = format!("the clock of {host} is {ahead} ahead of this one");
                body.look(&what, says, "set the clocks of all machines (NTP)");
            } else if myself.proves_gone(&worker.identity.process) {
                body.look(&what, "its process is gone", "ittsu unknown   (settles what it left)");
            } else if silent > self.settings.worker.lost_after {
                let says = format!("{host} was last heard {} ago", age(silent));
                body.look(&what, says, "look at that machine; another worker takes its rows over");
            } else {
                body.ok(&what, format!("alive on {host}"));
            }
        }
        Ok(())
    }
}
