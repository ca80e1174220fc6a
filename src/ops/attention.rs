//! What needs a person, in one list: for `status --check`, the console and `demo`.
//!
//! Promise: every entry is one line and one command. An entry that is not there is not hidden
//! somewhere else: this is the whole list.

use std::time::Duration;

use serde::Serialize;

use super::words::{age, thousands};
use crate::domain::batch::{BatchState, Counts};
use crate::domain::state::words;
use crate::domain::time::Timestamp;

words! {
    /// Why a person is needed.
    Need {
        /// Rows of which nobody knows whether they went out wait for a decision.
        Unknown = "unknown",
        PausedItself = "paused_itself",
        NoWorker = "no_worker",
        NoProgress = "no_progress",
        LongWait = "long_wait",
        WrongSum = "wrong_sum",
        StartMissed = "start_missed",
        /// Queue jobs could not become rows.
        Rejected = "rejected",
    }
}

/// One thing that needs a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attention {
    #[serde(skip)]
    pub need: Need,
    /// The same, as documents name it.
    #[serde(rename = "need")]
    word: &'static str,
    pub batch: String,
    pub line: String,
    /// The command that shows or settles it.
    pub command: String,
}

/// One batch as far as it may need a person.
#[derive(Clone, Debug)]
pub struct Look<'a> {
    pub batch: &'a str,
    pub state: BatchState,
    pub counts: Counts,
    /// Set when the batch paused itself.
    pub paused_itself: Option<&'a str>,
    pub oldest_ready_at: Option<Timestamp>,
    pub scheduled_at: Option<Timestamp>,
    pub hands: Hands,
    /// For how long nothing was accepted although something could have been.
    pub quiet_for: Option<Duration>,
    /// Outside of its hours a batch waits, and that is as it should be.
    pub closed: Option<&'a str>,
    /// Counters that do not say what the rows say.
    pub wrong_sums: usize,
}

/// Whether somebody works on a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hands {
    /// A living worker serves its kind.
    Some,
    None,
}

/// What the list is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a row may be ready.
    pub max_wait: Duration,
    /// How long nothing may be accepted.
    pub quiet: Duration,
    /// How late a scheduled start may be.
    pub late: Duration,
    /// How long before a scheduled start a worker should be there.
    pub soon: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let minutes = |n: u64| Duration::from_secs(60 * n);
        Self { max_wait: minutes(15), quiet: minutes(5), late: minutes(1), soon: minutes(10) }
    }
}

/// Returns what needs a person, in the order of the batches.
pub fn attention(looks: &[Look<'_>], limits: Limits, now: Timestamp) -> Vec<Attention> {
    looks.iter().flat_map(|look| of_batch(look, limits, now)).collect()
}

/// Returns the entry for the rejected jobs of one kind; it belongs to no batch.
pub fn rejected(kind: &str, jobs: i64) -> Attention {
    let n = thousands(jobs);
    Attention {
        need: Need::Rejected,
        word: Need::Rejected.as_str(),
        batch: String::new(),
        line: format!("Rejected jobs of {kind}: {n}. They could not become a row."),
        command: "ittsu rejects list".to_owned(),
    }
}

fn of_batch(look: &Look<'_>, limits: Limits, now: Timestamp) -> Vec<Attention> {
    let mut list = Vec::new();
    let mut add = |need, line: String, command: String| {
        let batch = look.batch.to_owned();
        list.push(Attention { need, word: need.as_str(), batch, line, command });
    };
    let name = look.batch;
    let ready = thousands(look.counts.ready);
    if look.counts.unknown > 0 {
        let n = thousands(look.counts.unknown);
        let line = format!("Unknown: {n}. Nobody knows whether they went out.");
        add(Need::Unknown, line, format!("ittsu unknown {name}"));
    }
    if let Some(why) = look.paused_itself {
        let line = format!("Paused by itself: {why}. No recipient was failed for it.");
        add(Need::PausedItself, line, format!("ittsu resume {name}"));
    }
    if look.wrong_sums > 0 {
        let line = format!("Counters that differ from the rows: {}.", look.wrong_sums);
        add(Need::WrongSum, line, "ittsu doctor".to_owned());
    }
    if let Some(at) = look.scheduled_at
        && look.state == BatchState::Scheduled
        && now.since(at) > limits.late
    {
        let line = format!("It was to start {} ago and did not.", age(now.since(at)));
        add(Need::StartMissed, line, "ittsu work".to_owned());
    }
    let starts_soon = look.state == BatchState::Scheduled
        && look
            .scheduled_at
            .is_some_and(|at| at.since(now) <= limits.soon && now.since(at) <= limits.late);
    if look.counts.ready == 0 || !(look.state == BatchState::Running || starts_soon) {
        return list;
    }
    if look.hands == Hands::None {
        let line = format!("Waiting: {ready}, and nobody is sending. Start a worker.");
        add(Need::NoWorker, line, "ittsu work".to_owned());
        return list;
    }
    if look.closed.is_some() || starts_soon {
        return list;
    }
    if let Some(quiet) = look.quiet_for.filter(|&quiet| quiet >= limits.quiet) {
        let line = format!("Waiting: {ready}, and nothing was accepted for {}.", age(quiet));
        add(Need::NoProgress, line, "ittsu workers".to_owned());
    }
    if let Some(since) = look.oldest_ready_at.filter(|&at| now.since(at) > limits.max_wait) {
        let line = format!("Waiting: {ready}, the longest for {}.", age(now.since(since)));
        add(Need::LongWait, line, format!("ittsu status {name}"));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_796_016_727_000_000);

    fn running() -> Look<'static> {
        Look {
            batch: "notice-12",
            state: BatchState::Running,
            counts: Counts { ready: 1_240, sent: 3_760, failed: 12, ..Counts::default() },
            paused_itself: None,
            oldest_ready_at: Some(NOW - Duration::from_mins(1)),
            scheduled_at: None,
            hands: Hands::Some,
            quiet_for: None,
            closed: None,
            wrong_sums: 0,
        }
    }

    fn needs(look: &Look<'_>) -> Vec<Need> {
        let list = attention(std::slice::from_ref(look), Limits::default(), NOW);
        list.into_iter().map(|entry| entry.need).collect()
    }

    #[test]
    fn a_batch_that_goes_out_needs_nobody() {
        assert_eq!(needs(&running()), []);
        let done = Counts { sent: 5_000, failed: 12, ..Counts::default() };
        assert_eq!(needs(&Look { counts: done, state: BatchState::Done, ..running() }), []);
    }

    #[test]
    fn a_start_that_is_near_wants_a_worker() {
        let minutes = |n: u64| Duration::from_secs(60 * n);
        let scheduled = |at, hands| Look {
            state: BatchState::Scheduled,
            scheduled_at: Some(at),
            hands,
            ..running()
        };
        assert_eq!(needs(&scheduled(NOW + minutes(9), Hands::None)), [Need::NoWorker]);
        assert_eq!(needs(&scheduled(NOW + minutes(9), Hands::Some)), []);
        assert_eq!(needs(&scheduled(NOW + minutes(11), Hands::None)), []);
        assert_eq!(needs(&scheduled(NOW - minutes(2), Hands::None)), [Need::StartMissed]);
    }

    #[test]
    fn each_need_is_seen() {
        let long_ago = NOW - Duration::from_hours(2);
        let unknown = Counts { sending: 2, unknown: 2, ..running().counts };
        let cases = [
            (Look { counts: unknown, ..running() }, Need::Unknown),
            (
                Look {
                    state: BatchState::Paused,
                    paused_itself: Some("the login was refused"),
                    ..running()
                },
                Need::PausedItself,
            ),
            (Look { hands: Hands::None, ..running() }, Need::NoWorker),
            (Look { quiet_for: Some(Duration::from_secs(301)), ..running() }, Need::NoProgress),
            (Look { oldest_ready_at: Some(long_ago), ..running() }, Need::LongWait),
            (Look { wrong_sums: 1, ..running() }, Need::WrongSum),
            (
                Look {
                    state: BatchState::Scheduled,
                    scheduled_at: Some(long_ago),
                    hands: Hands::None,
                    ..running()
                },
                Need::StartMissed,
            ),
        ];
        for (look, need) in cases {
            assert_eq!(needs(&look), [need]);
        }
    }

    #[test]
    fn what_waits_for_its_hours_or_for_a_person_is_no_stall() {
        let long = Look {
            oldest_ready_at: Some(NOW - Duration::from_hours(10)),
            quiet_for: Some(Duration::from_hours(10)),
            ..running()
        };
        assert_eq!(needs(&Look { closed: Some("08:00-21:00"), ..long.clone() }), []);
        assert_eq!(needs(&Look { state: BatchState::Paused, ..long.clone() }), []);
        assert_eq!(needs(&Look { state: BatchState::Draft, hands: Hands::None, ..long }), []);
    }
}
