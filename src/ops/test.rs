//! One message of a batch, sent to the operator: never a row, never counted.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::Ops;
use super::action::Action;
use super::error::OpsError;
use super::kind::Builder;
use crate::compose::request::once;
use crate::compose::{Person, Stamp};
use crate::dispatch::identity::Myself;
use crate::dispatch::is_allowed;
use crate::dispatch::settings::RouteSettings;
use crate::domain::address::Address;
use crate::domain::name::BatchName;
use crate::domain::outcome::Outcome;
use crate::domain::rate::Tokens;
use crate::domain::time::Timestamp;
use crate::ledger::batches::Batch;
use crate::ledger::journal::{By, Entry};
use crate::ledger::rows::RowView;
use crate::ledger::workers::{Identity, Registered};
use crate::transport::{Connection, Ended, Envelope, NoSteps};

/// `ittsu/test/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestBody {
    pub batch: String,
    pub to: String,
    /// Whose message it is.
    pub key: String,
    pub message_id: String,
    /// `accepted`, `refused`, `deferred`, `not_sent` or `unknown`.
    pub outcome: &'static str,
    pub phase: &'static str,
    pub code: Option<u16>,
    pub reply: String,
}

/// How long a free connection is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
const AGAIN: Duration = Duration::from_millis(250);

impl Ops {
    /// Sends one message of the batch to `to`, as the person of `key` would get it.
    pub async fn test(
        &self,
        name: &BatchName,
        to: &str,
        key: Option<&str>,
        by: By,
    ) -> Result<TestBody, OpsError> {
        let batch = self.batch(name).await?;
        let (address, _) = Address::parse(to)
            .map_err(|err| OpsError::usage(format!("`{to}` is no address")).because(err))?;
        if !is_allowed(&address, &self.settings.only_to) {
            return Err(OpsError::refused(format!("only_to does not allow mail to {address}")));
        }
        let row = match key {
            Some(key) => self.ledger.show(&batch, key).await?.row,
            None => self.first_row(&batch).await?,
        };
        let message = self.ledger.message(batch.id, batch.template_version).await?;
        let builder = self.builder(&batch, &message)?;
        let (message_id, content) = self.build_test(&builder, &row, &address)?;
        let envelope = Envelope {
            from: batch.frozen.envelope_from.clone(),
            to: address.on_the_wire(),
            once: once(&message_id).to_owned(),
        };
        let ended = self.hand_over_once(&batch, &envelope, &content).await?;
        let body = TestBody {
            batch: batch.name.clone(),
            to: address.as_written(),
            key: row.key,
            message_id,
            outcome: ended.verdict.outcome.as_str(),
            phase: ended.phase.as_str(),
            code: ended.reply.as_ref().map(|reply| reply.code),
            reply: ended.event.to_string(),
        };
        let entry = Entry {
            matched: 1,
            changed: i64::from(ended.verdict.outcome == Outcome::Accepted),
            details: serde_json::json!({ "to": body.to, "as": body.key, "outcome": body.outcome }),
            ..Entry::of(Action::Test.word(), batch.id)
        };
        self.ledger.note(entry, by, self.now()).await?;
        Ok(body)
    }

    fn build_test(
        &self,
        builder: &Builder,
        row: &RowView,
        address: &Address,
    ) -> Result<(String, Vec<u8>), OpsError> {
        let codec = self.dress().codec;
        let domain = builder.sender.domain();
        let message_id = codec.map(|codec| codec.write_test(fastrand::u64(..), domain));
        let message_id =
            message_id.ok_or_else(|| OpsError::failed("Message-IDs cannot be written"))?;
        let stamp = Stamp { message_id: message_id.clone(), date: self.now() };
        let person = Person { key: &row.key, address, fields: &row.fields };
        let content = builder
            .content(&person, &stamp)
            .map_err(|err| OpsError::refused("the message cannot be built").because(err))?;
        Ok((message_id, content))
    }

    /// Hands one message over within the limits that all workers share.
    async fn hand_over_once(
        &self,
        batch: &Batch,
        envelope: &Envelope,
        content: &[u8],
    ) -> Result<Ended, OpsError> {
        let via = &batch.frozen.via;
        let route = self.route(via)?;
        let me = self.register_for_test().await?;
        let done = self.hand_over_as(me, via, &route, envelope, content).await;
        self.ledger.leave(me, self.now()).await?;
        done
    }

    async fn hand_over_as(
        &self,
        me: Registered,
        via: &str,
        route: &RouteSettings,
        envelope: &Envelope,
        content: &[u8],
    ) -> Result<Ended, OpsError> {
        let lane = self.lane(me, via, route).await?;
        self.token(via, route).await?;
        let ended = match Connection::open(&route.route).await {
            Err(ended) => ended,
            Ok(mut connection) => {
                let ended = match connection.offer(envelope, content, &NoSteps).await {
                    Err(ended) => ended,
                    Ok(()) => connection.hand_over(content, &NoSteps, &|| true).await,
                };
                connection.close().await;
                ended
            }
        };
        self.ledger.release_lanes(via.to_owned(), me.worker, vec![lane], self.now()).await?;
        Ok(ended)
    }

    /// A lane belongs to a worker; this one serves no batch and lives for one message.
    async fn register_for_test(&self) -> Result<Registered, OpsError> {
        let Myself { host, process } = Myself::look();
        let state_dir = self.state_dir.display().to_string();
        let kinds = vec!["(test mail)".to_owned()];
        let identity = Identity { host, process, state_dir, kinds };
        Ok(self.ledger.register(identity, self.now()).await?)
    }

    async fn lane(
        &self,
        me: Registered,
        via: &str,
        route: &RouteSettings,
    ) -> Result<i64, OpsError> {
        let connections = i64::try_from(route.connections).unwrap_or(i64::MAX);
        let begun = self.clock.since_boot();
        loop {
            let taken =
                self.ledger.take_lane(via.to_owned(), me.worker, connections, self.now()).await?;
            if let Some(lane) = taken {
                return Ok(lane);
            }
            if self.clock.since_boot().saturating_sub(begun) > PATIENCE {
                return Err(OpsError::away(format!(
                    "all {connections} connections of [{via}] are in use"
                )));
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn token(&self, via: &str, route: &RouteSettings) -> Result<(), OpsError> {
        let Some(rate) = route.rate else { return Ok(()) };
        let begun = self.clock.since_boot();
        loop {
            let now = self.now();
            let day = day_around(now, &self.settings.timezone);
            match self.ledger.take_tokens(via.to_owned(), rate, 1, now, day).await? {
                Tokens::Taken { .. } => return Ok(()),
                Tokens::NotBefore(_) => {}
            }
            if self.clock.since_boot().saturating_sub(begun) > PATIENCE {
                return Err(OpsError::away(format!("the rate of [{via}] is used up: {rate}")));
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Returns the local midnights around a moment.
fn day_around(now: Timestamp, zone: &TimeZone) -> (Timestamp, Timestamp) {
    let moment = jiff::Timestamp::from_microsecond(now.0).unwrap_or_default();
    let today = moment.to_zoned_datetime(zone.clone());
    let at = |day: jiff::ZonedDateTime| Timestamp(day.timestamp().as_microsecond());
    let begins = today.start_of_day().unwrap_or_else(|_| today.clone());
    let ends = today.tomorrow().and_then(|day| day.start_of_day()).unwrap_or(today);
    (at(begins), at(ends))
}
