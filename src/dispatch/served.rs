//! A running batch as this worker serves it: its settings, its message, its breakers.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::compose::{Dkim, Sender, Template};
use crate::domain::address::Address;
use crate::domain::breaker::{BatchBreakers, Limits};
use crate::domain::hours::Hours;
use crate::domain::id::{BatchId, RecipientId};
use crate::domain::rate::Rate;
use crate::domain::time::Timestamp;
use crate::ledger::batches::{Batch, Frozen, Message};

/// Rows that could not be built before any could, after which it is no fault of theirs.
const FIRST_ROWS: usize = 20;

/// Everything that is needed to send a row of a batch.
#[derive(Debug)]
pub(super) struct Served {
    pub(super) id: BatchId,
    pub(super) name: String,
    pub(super) frozen: Frozen,
    pub(super) template_version: i64,
    pub(super) rate: Option<Rate>,
    pub(super) connections: Option<usize>,
    pub(super) gives_up_at: Option<Timestamp>,
    pub(super) template: Template,
    pub(super) sender: Sender,
    /// As it goes on the wire.
    pub(super) envelope_from: String,
    pub(super) zone: TimeZone,
    pub(super) dkim: Option<Arc<Dkim>>,
    breakers: Mutex<BatchBreakers>,
    has_answer: AtomicBool,
    /// The ledger knows of an answer: claims bring more than one row.
    pub(super) is_probed: AtomicBool,
    builds: Mutex<Builds>,
}

impl Served {
    /// Reads what is needed from the batch; the error is a reason to pause it.
    pub(super) fn new(
        batch: &Batch,
        message: &Message,
        dkim: Option<Arc<Dkim>>,
        has_sent: bool,
        limits: Limits,
    ) -> Result<Self, String> {
        let frozen = batch.frozen.clone();
        let template = Template::parse(&message.text, message.html.as_deref())
            .map_err(|error| format!("the message of the batch cannot be read: {error}"))?;
        let sender = Sender::parse(&frozen.from)
            .map_err(|error| format!("the sender of the batch cannot be used: {error}"))?;
        let (envelope, _) = Address::parse(&frozen.envelope_from)
            .map_err(|error| format!("the envelope sender `{}`: {error}", frozen.envelope_from))?;
        let zone = zone(&frozen.timezone)?;
        let breakers = BatchBreakers::new(limits);
        let built = has_sent || batch.leave_unbuildable.is_some();
        Ok(Self {
            id: batch.id,
            name: batch.name.clone(),
            template_version: batch.template_version,
            rate: batch.rate.parse().ok(),
            connections: batch.connections.and_then(|n| usize::try_from(n).ok()),
            gives_up_at: batch.started_at.zip(frozen.give_up_after).map(|(at, wait)| at + wait),
            template,
            sender,
            envelope_from: envelope.on_the_wire(),
            zone,
            dkim,
            breakers: Mutex::new(if has_sent { breakers.after_acceptances() } else { breakers }),
            has_answer: AtomicBool::new(false),
            is_probed: AtomicBool::new(false),
            builds: Mutex::new(Builds { built, unfit: BTreeSet::new() }),
            frozen,
        })
    }

    /// Reports whether `batch` still is what this was made from, as far as a row can tell.
    pub(super) fn is_still(&self, batch: &Batch) -> bool {
        self.template_version == batch.template_version
            && self.frozen == batch.frozen
            && self.rate == batch.rate.parse().ok()
            && self.connections == batch.connections.and_then(|n| usize::try_from(n).ok())
    }

    pub(super) fn breakers(&self) -> MutexGuard<'_, BatchBreakers> {
        self.breakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports, once, that this is the first answer of the batch that this worker saw.
    pub(super) fn is_first_answer(&self) -> bool {
        !self.has_answer.load(Ordering::Relaxed) && !self.has_answer.swap(true, Ordering::AcqRel)
    }

    /// Notes that a message could be built.
    pub(super) fn built(&self) {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        if !builds.built {
            builds.built = true;
            builds.unfit.clear();
        }
    }

    /// Decides what becomes of a row whose message cannot be built.
    pub(super) fn cannot_build(&self, row: RecipientId) -> Unbuilt {
        let mut builds = self.builds.lock().unwrap_or_else(PoisonError::into_inner);
        builds.cannot(row)
    }

    /// Returns whether `now` lies in the sending hours, and until when that holds.
    pub(super) fn hours(&self, now: Timestamp) -> Open {
        let Some(hours) = self.frozen.hours else { return Open::Always };
        let Ok(at) = jiff::Timestamp::from_microsecond(now.0) else { return Open::Always };
        let local = at.to_zoned_datetime(self.zone.clone());
        let minute =
            u16::from(local.hour().unsigned_abs()) * 60 + u16::from(local.minute().unsigned_abs());
        let into_minute = Duration::from_secs(u64::from(local.second().unsigned_abs()));
        let minutes = |n: u16| now + Duration::from_secs(u64::from(n) * 60) - into_minute;
        if hours.contains(minute) {
            Open::Until(minutes(minutes_until_close(hours, minute)))
        } else {
            Open::NotBefore(minutes(hours.minutes_until_open(minute)))
        }
    }
}

/// Whether a batch may send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Always,
    Until(Timestamp),
    NotBefore(Timestamp),
}

/// What becomes of a row whose message cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unbuilt {
    /// Others can be built: this one fails.
    Fails,
    /// Nothing was built yet: others are looked at first.
    Later,
    /// None of the first rows can be built: the message is at fault, nobody else.
    PausesBatch,
}

#[derive(Debug)]
struct Builds {
    built: bool,
    unfit: BTreeSet<RecipientId>,
}

impl Builds {
    fn cannot(&mut self, row: RecipientId) -> Unbuilt {
        if self.built {
            return Unbuilt::Fails;
        }
        // A row that comes a second time says that every other one was looked at.
        let is_new = self.unfit.insert(row);
        if !is_new || self.unfit.len() >= FIRST_ROWS {
            Unbuilt::PausesBatch
        } else {
            Unbuilt::Later
        }
    }
}

/// Returns the zone of that name; an empty one is the system's.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    if name.is_empty() {
        return Ok(TimeZone::system());
    }
    TimeZone::get(name).map_err(|error| format!("the time zone `{name}`: {error}"))
}

const fn minutes_until_close(hours: Hours, minute: u16) -> u16 {
    match (hours.until + 1440 - minute) % 1440 {
        0 => 1440,
        minutes => minutes,
    }
}

/// Returns the local calendar day around `now`: its midnight and the next one.
pub(super) fn day(now: Timestamp, zone: &TimeZone) -> (Timestamp, Timestamp) {
    let whole = || (now, now + Duration::from_hours(24));
    let Ok(at) = jiff::Timestamp::from_microsecond(now.0) else { return whole() };
    let Ok(start) = at.to_zoned_datetime(zone.clone()).start_of_day() else { return whole() };
    let Ok(end) = start.tomorrow().and_then(|next| next.start_of_day()) else { return whole() };
    (Timestamp(start.timestamp().as_microsecond()), Timestamp(end.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn one_row_that_cannot_be_built_fails_when_others_can() {
        let mut builds = Builds { built: true, unfit: BTreeSet::new() };
        assert_eq!(builds.cannot(RecipientId(1)), Unbuilt::Fails);
    }

    #[test]
    fn a_message_that_fits_none_of_the_first_twenty_pauses_the_batch() {
        let mut builds = Builds { built: false, unfit: BTreeSet::new() };
        for row in 1..20 {
            assert_eq!(builds.cannot(RecipientId(row)), Unbuilt::Later);
        }
        assert_eq!(builds.cannot(RecipientId(20)), Unbuilt::PausesBatch);
    }

    #[test]
    fn a_small_batch_that_cannot_be_built_pauses_when_all_were_looked_at() {
        let mut builds = Builds { built: false, unfit: BTreeSet::new() };
        assert_eq!(builds.cannot(RecipientId(1)), Unbuilt::Later);
        assert_eq!(builds.cannot(RecipientId(2)), Unbuilt::Later);
        assert_eq!(builds.cannot(RecipientId(1)), Unbuilt::PausesBatch);
    }

    #[test]
    fn a_day_is_the_calendar_day_of_the_zone() {
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let (start, end) = day(at("2026-11-30T20:00:00Z"), &tokyo);
        assert_eq!(start, at("2026-11-30T15:00:00Z"));
        assert_eq!(end, at("2026-12-01T15:00:00Z"));
    }

    #[test]
    fn a_day_in_which_the_clock_is_set_forward_is_shorter() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let (start, end) = day(at("2026-03-29T10:00:00Z"), &berlin);
        assert_eq!(end.since(start), Duration::from_hours(23));
    }
}
