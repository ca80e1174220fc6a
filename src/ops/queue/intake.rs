//! A group of jobs to rows of the day's batch, and to rejects with their reasons.

use std::collections::{BTreeMap, HashSet};

use sha2::{Digest as _, Sha256};

use super::super::Ops;
use super::super::error::OpsError;
use super::super::kind::{Builder, builder, default_message, signer};
use super::super::preview::any_stamp;
use crate::compose::{Person, Stamp};
use crate::config::queue::{Again, Ids, Pattern};
use crate::db::Location;
use crate::dispatch::is_allowed;
use crate::domain::address::Address;
use crate::domain::id::BatchId;
use crate::domain::text::with_causes;
use crate::domain::time::Timestamp;
use crate::intake::IntakeError;
use crate::intake::job::Job;
use crate::intake::lookup::{Answers, IdType, Lookup};
use crate::ledger::LedgerError;
use crate::ledger::batches::{Message, NewBatch};
use crate::ledger::load::NewRow;
use crate::ledger::rejects::NewReject;

/// Takes jobs of one kind in.
pub(in crate::ops) struct Intake {
    ops: Ops,
    kind: String,
    pattern: Pattern,
    lookup: Option<Lookup>,
    message: Message,
    builder: Builder,
    again: Again,
}

/// What became of a group of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ops) struct Sums {
    pub(in crate::ops) new: i64,
    /// There already, in whatever batch.
    pub(in crate::ops) known: i64,
    /// Part of `known`: failed before, and sent again.
    pub(in crate::ops) again: i64,
    pub(in crate::ops) rejected: i64,
}

/// Why a group cannot be taken in now.
#[derive(Debug, thiserror::Error)]
pub(in crate::ops) enum Trouble {
    #[error("{}", with_causes(.0))]
    Lookup(#[from] IntakeError),
    #[error("{}", with_causes(.0))]
    Ledger(#[from] LedgerError),
    #[error(transparent)]
    Setting(#[from] OpsError),
}

/// A job that may become a row.
struct Wanted<'p> {
    job: Job,
    payload: &'p [u8],
    batch: String,
}

impl Intake {
    /// Prepares taking in for a kind; a mistake in its settings is named now.
    pub(in crate::ops) fn of(ops: &Ops, name: &str) -> Result<Self, OpsError> {
        let present = ops.kind(name)?;
        let kind = present.kind;
        let no_message =
            || OpsError::usage(format!("[kinds.{name}] has a queue and needs a template"));
        let message = default_message(kind)?.ok_or_else(no_message)?;
        let request = ops.request_body(&kind.via)?;
        let builder = builder(&present.frozen.from, &message, signer(kind)?, request)?;
        let lookup = match &kind.lookup {
            None => None,
            Some(lookup) => Some(Lookup {
                name: format!("kinds.{name}.lookup"),
                database: Location::parse(lookup.database.expose(), std::path::Path::new(""))
                    .map_err(|err| {
                        OpsError::usage(format!("[kinds.{name}.lookup] cannot be read"))
                            .because(err)
                    })?,
                sql: lookup.sql.clone(),
                ids: match lookup.ids {
                    Ids::Integer => IdType::Integer,
                    Ids::Text => IdType::Text,
                },
            }),
        };
        let pattern = kind.batch.clone().unwrap_or_else(|| Pattern(format!("{name}-{{date}}")));
        Ok(Self {
            ops: ops.clone(),
            kind: name.to_owned(),
            pattern,
            lookup,
            message,
            builder,
            again: kind.again,
        })
    }

    pub(in crate::ops) fn kind(&self) -> &str {
        &self.kind
    }

    /// Makes rows of these jobs; when it returns, each of them is a row or a reject, committed.
    pub(in crate::ops) async fn take_in(&self, payloads: &[&[u8]]) -> Result<Sums, Trouble> {
        let now = self.ops.now();
        let (today, until) = day_of(now, &self.ops.kind(&self.kind)?.kind.timezone);
        let mut rejects = Vec::new();
        let mut wanted = Vec::new();
        let mut keys = HashSet::new();
        let mut sums = Sums::default();
        for &payload in payloads {
            match self.read(payload, &today) {
                Ok(job) if keys.insert(job.job.key.clone()) => wanted.push(job),
                Ok(_) => sums.known += 1,
                Err((key, why)) => rejects.push(self.reject(payload, key, why)),
            }
        }
        let answers = self.look_up(&wanted).await?;
        let mut by_batch: BTreeMap<String, Vec<(NewRow, &[u8])>> = BTreeMap::new();
        for job in wanted {
            let (key, payload, batch) = (job.job.key.clone(), job.payload, job.batch.clone());
            match self.row(job.job, &answers, now) {
                Ok(row) => by_batch.entry(batch).or_default().push((row, payload)),
                Err(why) => rejects.push(self.reject(payload, key, why)),
            }
        }
        for (batch, rows) in by_batch {
            self.put(&batch, until, rows, now, &mut sums, &mut rejects).await?;
        }
        sums.rejected = i64::try_from(rejects.len()).unwrap_or(i64::MAX);
        self.ops.ledger.reject(rejects, now).await?;
        Ok(sums)
    }

    fn read<'p>(&self, payload: &'p [u8], today: &str) -> Result<Wanted<'p>, (String, String)> {
        let job = Job::read(payload)?;
        if let Some(kind) = job.kind.as_ref().filter(|&kind| *kind != self.kind) {
            let why = format!("the job is of the kind `{kind}`, and this queue of `{}`", self.kind);
            return Err((job.key, why));
        }
        let batch = match &job.batch {
            None => self.pattern.on(today),
            Some(name) => match name.parse::<crate::domain::name::BatchName>() {
                Ok(name) => name.to_string(),
                Err(err) => return Err((job.key, format!("`batch`: {err}"))),
            },
        };
        Ok(Wanted { job, payload, batch })
    }

    /// Looks up what the jobs themselves do not say.
    async fn look_up(&self, wanted: &[Wanted<'_>]) -> Result<Answers, Trouble> {
        let Some(lookup) = &self.lookup else { return Ok(Answers::new()) };
        let keys = wanted.iter().filter(|job| job.job.address.is_none());
        let keys: Vec<String> = keys.map(|job| job.job.key.clone()).collect();
        Ok(lookup.ask(&keys).await?)
    }

    /// Makes a row of a job, or says why there can be none.
    fn row(&self, job: Job, answers: &Answers, now: Timestamp) -> Result<NewRow, String> {
        let (address, mut fields) = match (job.address, answers.get(&job.key)) {
            (Some(address), _) => (address, serde_json::Map::new()),
            (None, Some(Ok(found))) => (found.address.clone(), found.fields.clone()),
            (None, Some(Err(why))) => return Err(why.to_string()),
            (None, None) => {
                return Err(format!(
                    "the job has no `address`, and [kinds.{}] has no lookup",
                    self.kind
                ));
            }
        };
        fields.extend(job.fields.unwrap_or_default());
        let (address, _) = Address::parse(&address).map_err(|err| format!("the address: {err}"))?;
        if !is_allowed(&address, &self.ops.settings.only_to) {
            return Err("only_to in the configuration does not allow the address".to_owned());
        }
        let fields = serde_json::Value::Object(fields).to_string();
        let person = Person { key: &job.key, address: &address, fields: &fields };
        let Stamp { message_id, date } = any_stamp(self.builder.sender.domain(), now);
        self.builder
            .build(&person, &Stamp { message_id, date })
            .map_err(|err| format!("no message can be built: {err}"))?;
        Ok(NewRow {
            line: 0,
            address_key: address.compare_form(),
            address: address.as_written(),
            key: job.key,
            fields,
            past: None,
        })
    }

    /// Writes the rows of one batch; what the ledger declines for good is rejected.
    async fn put(
        &self,
        batch: &str,
        until: Timestamp,
        rows: Vec<(NewRow, &[u8])>,
        now: Timestamp,
        sums: &mut Sums,
        rejects: &mut Vec<NewReject>,
    ) -> Result<(), Trouble> {
        let whole: Vec<NewRow> = rows.iter().map(|(row, _)| row.clone()).collect();
        let opened = self.open(batch, until, now).await;
        let done = match opened {
            Ok(id) => self.take(id, whole, now).await,
            Err(err) => Err(err),
        };
        match done {
            Ok(done) => {
                sums.new += done.new;
                sums.known += done.known;
                sums.again += done.again;
                Ok(())
            }
            Err(LedgerError::Refused(why)) => {
                let why = why.to_string();
                rejects.extend(
                    rows.into_iter().map(|(row, job)| self.reject(job, row.key, why.clone())),
                );
                Ok(())
            }
            // One value that no database can hold must not stop the others.
            Err(err) if err.is_about_value() && rows.len() > 1 => {
                for row in rows {
                    Box::pin(self.put(batch, until, vec![row], now, sums, rejects)).await?;
                }
                Ok(())
            }
            Err(err) if err.is_about_value() => {
                let why = with_causes(&err);
                rejects.extend(
                    rows.into_iter().map(|(row, job)| self.reject(job, row.key, why.clone())),
                );
                Ok(())
            }
            Err(err) => Err(err.into()),
        }
    }

    /// Makes rows of those that have none, and sends those again that failed if the kind says so.
    async fn take(
        &self,
        batch: BatchId,
        rows: Vec<NewRow>,
        now: Timestamp,
    ) -> Result<Sums, LedgerError> {
        let ledger = &self.ops.ledger;
        let asked = if self.again == Again::Retry { rows.clone() } else { Vec::new() };
        let done = ledger.take_in(batch, &self.source(), rows, now).await?;
        let known = done.already + done.elsewhere + done.duplicates;
        let asked = if known > 0 { asked } else { Vec::new() };
        let again = ledger.try_failed_again(batch, asked, now).await?;
        Ok(Sums { new: done.new, known, again, rejected: 0 })
    }

    async fn open(
        &self,
        name: &str,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<BatchId, LedgerError> {
        // Most groups belong to a batch that is there and open: that is only a look.
        if let Some(there) = self.ops.ledger.find_batch(name).await?
            && there.kind == self.kind
            && there.open_until.is_some_and(|open| open >= until)
        {
            return Ok(there.id);
        }
        let present = self.ops.settings.kinds.get(&self.kind);
        let frozen = match present.map(|_| self.ops.kind(&self.kind)) {
            Some(Ok(present)) => present.frozen,
            Some(Err(_)) | None => {
                return Err(crate::ledger::Refused::NoSuchBatch(name.to_owned()).into());
            }
        };
        let parsed = name.parse();
        let Ok(parsed) = parsed else {
            return Err(crate::ledger::Refused::NoSuchBatch(name.to_owned()).into());
        };
        let new = NewBatch {
            name: parsed,
            kind: self.kind.clone(),
            title: name.to_owned(),
            frozen,
            message: self.message.clone(),
            source: self.source(),
        };
        Ok(self.ops.ledger.open_batch(new, until, now).await?.id)
    }

    fn source(&self) -> String {
        format!("the queue of {}", self.kind)
    }

    fn reject(&self, payload: &[u8], key: String, why: String) -> NewReject {
        let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(payload));
        let kept = payload.get(..crate::intake::job::LONGEST_JOB).unwrap_or(payload);
        NewReject { kind: self.kind.clone(), digest, key, payload: kept.to_vec(), why }
    }
}

/// Returns the day around `now`, as it stands in a batch's name, and its end.
fn day_of(now: Timestamp, zone: &jiff::tz::TimeZone) -> (String, Timestamp) {
    let moment = jiff::Timestamp::from_microsecond(now.0).unwrap_or_default();
    let today = moment.to_zoned_datetime(zone.clone());
    let end = today.tomorrow().and_then(|day| day.start_of_day());
    let end = end.map_or(now, |end| Timestamp(end.timestamp().as_microsecond()));
    (today.date().to_string(), end)
}
