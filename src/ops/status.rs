//! The counts of batches, why they wait, and what needs a person.

use std::time::Duration;

use serde::Serialize;

use super::Ops;
use super::attention::{Attention, Hands, Limits, Look, attention, rejected};
use super::error::OpsError;
use super::when;
use crate::domain::batch::BatchState;
use crate::domain::hours::Hours;
use crate::domain::name::BatchName;
use crate::domain::policy::OnUnknown;
use crate::domain::time::Timestamp;
use crate::ledger::batches::{Batch, ITSELF};
use crate::ledger::counts::BatchStatus;
use crate::ledger::workers::Worker;

/// `ittsu/status/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusBody {
    pub batches: Vec<BatchBody>,
    /// What needs a person; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attention: Option<Vec<Attention>>,
}

/// One batch of `ittsu/status/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BatchBody {
    pub batch: String,
    pub kind: String,
    pub title: String,
    pub state: &'static str,
    pub total: i64,
    pub ready: i64,
    pub sending: i64,
    pub sent: i64,
    pub failed: i64,
    pub unknown: i64,
    pub assumed: i64,
    pub maybe_twice: i64,
    pub maybe_delivered: i64,
    pub left_out: i64,
    pub attempts: i64,
    pub oldest_ready_at: Option<String>,
    pub next_due_at: Option<String>,
    pub scheduled_at: Option<String>,
    pub started_at: Option<String>,
    pub started_by: Option<String>,
    pub on_unknown: Policies,
    pub paused_because: Option<String>,
    pub paused_by: Option<String>,
    pub waiting_because: Option<&'static str>,
    pub workers: i64,
    pub rate_per_minute: f64,
}

/// What happens to unknown outcomes, by cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Policies {
    pub no_answer: &'static str,
    pub crash: &'static str,
    pub server_error: &'static str,
}

impl From<OnUnknown> for Policies {
    fn from(on_unknown: OnUnknown) -> Self {
        Self {
            no_answer: on_unknown.no_answer.as_str(),
            crash: on_unknown.crash.as_str(),
            server_error: on_unknown.server_error.as_str(),
        }
    }
}

/// Whether the answer also lists what needs a person.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    CountsOnly,
    /// Dead workers are swept first, and the sums are compared with the rows.
    Attention(Limits),
}

const MINUTE: Duration = Duration::from_mins(1);

impl Ops {
    /// Returns the counts of one batch, or of all, out of one snapshot.
    pub async fn status(
        &self,
        name: Option<&BatchName>,
        check: Check,
    ) -> Result<StatusBody, OpsError> {
        let only = self.batch_id(name).await?;
        if matches!(check, Check::Attention(_)) {
            self.sweep_gone().await?;
        }
        let now = self.now();
        let status = self.ledger.status(only, now).await?;
        let workers = self.ledger.workers().await?;
        let mut batches = Vec::with_capacity(status.batches.len());
        for batch in &status.batches {
            batches.push(self.batch_body(batch, &workers, now).await?);
        }
        let attention = match check {
            Check::CountsOnly => None,
            Check::Attention(limits) => {
                Some(self.attention(&status.batches, &workers, limits, now).await?)
            }
        };
        Ok(StatusBody { batches, attention })
    }

    async fn batch_body(
        &self,
        status: &BatchStatus,
        workers: &[Worker],
        now: Timestamp,
    ) -> Result<BatchBody, OpsError> {
        let BatchStatus { batch, state, counts, .. } = status;
        let at = |time| when::rfc3339(time, &self.settings.timezone);
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let paused = *state == BatchState::Paused;
        let rate_per_minute = self.rate_per_minute(status, now).await?;
        Ok(BatchBody {
            batch: batch.name.clone(),
            kind: batch.kind.clone(),
            title: batch.title.clone(),
            state: state.as_str(),
            total: counts.total(),
            ready: counts.ready,
            sending: counts.sending,
            sent: counts.sent,
            failed: counts.failed,
            unknown: counts.unknown,
            assumed: counts.assumed,
            maybe_twice: counts.maybe_twice,
            maybe_delivered: counts.maybe_delivered,
            left_out: counts.left_out,
            attempts: counts.attempts,
            oldest_ready_at: status.oldest_ready_at.map(at),
            next_due_at: status.next_due_at.map(at),
            scheduled_at: batch.scheduled_at.map(at),
            started_at: batch.started_at.map(at),
            started_by: some(&batch.started_by),
            on_unknown: batch.frozen.on_unknown.into(),
            paused_because: some(&batch.paused_because).filter(|_| paused),
            paused_by: some(&batch.paused_by).filter(|_| paused),
            waiting_because: self.waiting_because(status, workers, now).await?,
            workers: status.workers,
            rate_per_minute,
        })
    }

    /// Returns how many mails a minute were accepted lately; 0 while nothing goes out.
    pub(super) async fn rate_per_minute(
        &self,
        status: &BatchStatus,
        now: Timestamp,
    ) -> Result<f64, OpsError> {
        Ok(per_minute(self.sent_lately(status, MINUTE, now).await?, &status.batch, now))
    }

    /// Returns the mails that were accepted in the last `span`.
    async fn sent_lately(
        &self,
        status: &BatchStatus,
        span: Duration,
        now: Timestamp,
    ) -> Result<i64, OpsError> {
        if status.state != BatchState::Running || status.batch.started_at.is_none() {
            return Ok(0);
        }
        Ok(self.ledger.sent_since(&status.batch, now - span).await?)
    }

    /// Returns why rows that are ready do not go out now.
    pub(super) async fn waiting_because(
        &self,
        status: &BatchStatus,
        workers: &[Worker],
        now: Timestamp,
    ) -> Result<Option<&'static str>, OpsError> {
        if status.state != BatchState::Running || status.counts.ready == 0 {
            return Ok(None);
        }
        if hands(&status.batch, workers) == Hands::None {
            return Ok(Some("no_worker"));
        }
        if closed(&status.batch, now).is_some() {
            return Ok(Some("hours"));
        }
        let endpoint = self.ledger.endpoint(&status.batch.frozen.via).await?;
        if now < endpoint.closed_until {
            return Ok(Some("endpoint"));
        }
        if status.oldest_ready_at.is_none() && status.next_due_at.is_some() {
            return Ok(Some("retry"));
        }
        let transport = self.settings.transports.get(&status.batch.frozen.via);
        let limited = transport.is_some_and(|transport| transport.shared().rate.is_some());
        Ok((limited || !status.batch.rate.is_empty()).then_some("rate"))
    }

    async fn attention(
        &self,
        batches: &[BatchStatus],
        workers: &[Worker],
        limits: Limits,
        now: Timestamp,
    ) -> Result<Vec<Attention>, OpsError> {
        let mut list = Vec::new();
        for status in batches {
            let active = matches!(status.state, BatchState::Running | BatchState::Paused);
            let wrong_sums =
                if active { self.ledger.verify(Some(status.batch.id)).await?.len() } else { 0 };
            let quiet_for = self.quiet_for(status, workers, limits, now).await?;
            let look = Look { quiet_for, wrong_sums, ..look_at(status, workers, now) };
            list.extend(attention(&[look], limits, now));
        }
        for (kind, jobs) in self.ledger.rejects_by_kind().await? {
            list.push(rejected(&kind, jobs));
        }
        Ok(list)
    }

    /// Returns how long nothing was accepted although a worker was there and rows were due.
    async fn quiet_for(
        &self,
        status: &BatchStatus,
        workers: &[Worker],
        limits: Limits,
        now: Timestamp,
    ) -> Result<Option<Duration>, OpsError> {
        // Rows that are due since shorter, or a worker that came later, prove nothing.
        let since = now - limits.quiet;
        let long_due = status.oldest_ready_at.is_some_and(|oldest| oldest <= since);
        let long_there = workers
            .iter()
            .any(|worker| serves(worker, &status.batch) && worker.started_at <= since);
        if !long_due || !long_there || self.sent_lately(status, limits.quiet, now).await? > 0 {
            return Ok(None);
        }
        Ok(Some(limits.quiet))
    }
}

/// What can be told of a batch without reading its rows.
pub(super) fn look_at<'a>(status: &'a BatchStatus, workers: &[Worker], now: Timestamp) -> Look<'a> {
    let batch = &status.batch;
    let paused_itself = status.state == BatchState::Paused && batch.paused_by == ITSELF;
    Look {
        batch: &batch.name,
        state: status.state,
        counts: status.counts,
        paused_itself: paused_itself.then_some(batch.paused_because.as_str()),
        oldest_ready_at: status.oldest_ready_at,
        scheduled_at: batch.scheduled_at,
        hands: hands(batch, workers),
        quiet_for: None,
        closed: closed(batch, now).map(|_| "hours"),
        wrong_sums: 0,
    }
}

/// Reports whether a living worker serves the batch's kind.
pub(super) fn hands(batch: &Batch, workers: &[Worker]) -> Hands {
    if workers.iter().any(|worker| serves(worker, batch)) { Hands::Some } else { Hands::None }
}

/// Reports whether a worker takes rows of a batch; one that was asked to stop takes no more.
pub(super) fn serves(worker: &Worker, batch: &Batch) -> bool {
    let kinds = &worker.identity.kinds;
    worker.stop_at.is_none() && (kinds.is_empty() || kinds.contains(&batch.kind))
}

/// Returns the hours of a batch if it is outside of them now.
pub(super) fn closed(batch: &Batch, now: Timestamp) -> Option<Hours> {
    let hours = batch.frozen.hours?;
    let zone = jiff::tz::TimeZone::get(&batch.frozen.timezone).ok()?;
    let moment = jiff::Timestamp::from_microsecond(now.0).ok()?;
    let local = moment.to_zoned_datetime(zone);
    let minute = u16::try_from(i32::from(local.hour()) * 60 + i32::from(local.minute())).ok()?;
    (!hours.contains(minute)).then_some(hours)
}

/// Makes a rate of a count; in the first minute by the time that has passed.
fn per_minute(sent: i64, batch: &Batch, now: Timestamp) -> f64 {
    let Some(started) = batch.started_at else { return 0.0 };
    let seconds = now.since(started).clamp(Duration::from_secs(1), MINUTE).as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate is for people")]
    let rate = sent as f64 * 60.0 / seconds;
    (rate * 10.0).round() / 10.0
}
