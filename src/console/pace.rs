//! How fast batches go and when they are done, from the numbers that were seen.
//!
//! Promise: a time is named only after enough was really seen, always as a range, and what stands
//! still is said to stand still. Nothing is asked of the ledger for it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::ops::live::{Live, LiveBatch};

/// What was seen of every batch lately.
#[derive(Clone, Debug, Default)]
pub struct Paces(BTreeMap<String, Pace>);

/// What was seen of one batch lately.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    seen: VecDeque<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Timestamp,
    sent: i64,
    /// Sent or failed: whatever came to an end.
    ended: i64,
}

/// A speed, in mails a minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    pub now: f64,
    pub slow: f64,
    pub fast: f64,
}

/// When the last mail goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eta {
    pub about: Timestamp,
    pub from: Timestamp,
    pub to: Timestamp,
}

/// Samples younger than this are all kept; older ones only now and then.
const CLOSE: Duration = Duration::from_secs(90);
const THIN: Duration = Duration::from_secs(15);
const LONGEST: Duration = Duration::from_mins(31);
/// A speed is said after so long, or after so many mails.
const ENOUGH: Duration = Duration::from_secs(20);
const MANY: i64 = 200;
const MINUTE: Duration = Duration::from_mins(1);

impl Paces {
    /// Notes the numbers of a moment.
    pub fn note(&mut self, live: &Live) {
        self.0.retain(|name, _| live.batches.iter().any(|batch| batch.name == *name));
        for batch in &live.batches {
            self.0.entry(batch.name.clone()).or_default().note(live.as_of, batch);
        }
    }

    pub fn of(&self, batch: &str) -> Option<&Pace> {
        self.0.get(batch)
    }
}

impl Pace {
    fn note(&mut self, at: Timestamp, batch: &LiveBatch) {
        if self.seen.back().is_some_and(|last| at <= last.at) {
            return;
        }
        let counts = &batch.counts;
        self.seen.push_back(Seen { at, sent: counts.sent, ended: counts.sent + counts.failed });
        self.thin(at);
    }

    /// Forgets what is too old, and of what is older than a moment all but a few.
    fn thin(&mut self, now: Timestamp) {
        let mut kept: Option<Timestamp> = None;
        self.seen.retain(|seen| {
            let age = now.since(seen.at);
            let far = kept.is_none_or(|last| seen.at.since(last) >= THIN);
            let keep = age <= CLOSE || (age <= LONGEST && far);
            if keep {
                kept = Some(seen.at);
            }
            keep
        });
    }

    /// Returns the mails a minute within `span` before the last look.
    fn rate(&self, span: Duration) -> Option<f64> {
        let last = self.seen.back()?;
        let first = self.seen.iter().find(|seen| last.at.since(seen.at) <= span)?;
        let passed = last.at.since(first.at);
        let sent = (last.sent - first.sent).max(0);
        if passed < Duration::from_secs(2) || (passed < ENOUGH && sent < MANY) {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a speed is for people")]
        let sent = sent as f64;
        Some(sent * 60.0 / passed.as_secs_f64())
    }

    /// Returns the speed of the last minute, with what it was within it and before.
    pub fn speed(&self) -> Option<Speed> {
        let now = self.rate(MINUTE)?;
        let others = [ENOUGH + ENOUGH / 2, MINUTE * 5].map(|span| self.rate(span).unwrap_or(now));
        let slow = others.into_iter().fold(now * 0.95, f64::min);
        let fast = others.into_iter().fold(now * 1.05, f64::max);
        Some(Speed { now, slow, fast })
    }

    /// Returns when `left` mails are done if the speed stays within what was seen.
    pub fn eta(&self, left: i64) -> Option<Eta> {
        let speed = self.speed().filter(|speed| speed.slow > 0.0)?;
        let last = self.seen.back()?.at;
        #[expect(clippy::cast_precision_loss, reason = "an estimate, to the minute")]
        let after = |rate: f64| {
            Duration::try_from_secs_f64(left.max(0) as f64 * 60.0 / rate)
                .ok()
                .map(|wait| last + wait)
        };
        Some(Eta { about: after(speed.now)?, from: after(speed.fast)?, to: after(speed.slow)? })
    }

    /// Returns for how long nothing came to an end, as far as it was watched.
    pub fn still_for(&self) -> Option<Duration> {
        let last = self.seen.back()?;
        let moved = self.seen.iter().rev().find(|seen| seen.ended != last.ended);
        let since = match moved {
            Some(moved) => moved.at,
            None => self.seen.front()?.at,
        };
        Some(last.at.since(since))
    }

    /// Returns the mails sent in each of the last `many` minutes, the oldest first; none where
    /// nobody looked yet.
    pub fn minutes(&self, many: u32) -> Vec<Option<i64>> {
        let Some(last) = self.seen.back() else { return vec![None; many as usize] };
        let sent_at = |at: Timestamp| self.seen.iter().rev().find(|seen| seen.at <= at);
        (0..many)
            .rev()
            .map(|back| {
                let end = sent_at(last.at - MINUTE * back)?;
                let begin = sent_at(last.at - MINUTE * (back + 1));
                // The first minute counts from the first look.
                let begin = begin.or_else(|| self.seen.front())?;
                (begin.at < end.at).then(|| end.sent - begin.sent)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(seconds: i64, sent: impl Fn(i64) -> i64) -> Pace {
        let mut pace = Pace::default();
        for second in 0..=seconds {
            let (at, sent) = (Timestamp(second * 1_000_000), sent(second));
            pace.seen.push_back(Seen { at, sent, ended: sent });
            pace.thin(at);
        }
        pace
    }

    #[test]
    fn a_speed_is_said_only_after_enough_was_seen() {
        assert!(watched(10, |s| s).speed().is_none());
        let fast = watched(5, |s| s * 100).speed().unwrap();
        assert!((fast.now - 6_000.0).abs() < 1.0, "{fast:?}");
        let steady = watched(90, |s| s * 20).speed().unwrap();
        assert!((steady.now - 1_200.0).abs() < 1.0, "{steady:?}");
        assert!(steady.slow < steady.now && steady.now < steady.fast);
    }

    #[test]
    fn an_end_is_a_range_and_never_in_the_past() {
        let eta = watched(90, |s| s * 20).eta(1_200).unwrap();
        assert_eq!(eta.about, Timestamp(150_000_000));
        assert!(eta.from < eta.about && eta.about < eta.to);
        assert!(watched(90, |_| 7).eta(100).is_none(), "nothing moves: no end can be named");
    }

    #[test]
    fn what_stands_still_says_for_how_long() {
        assert_eq!(watched(300, |s| s.min(120)).still_for(), Some(Duration::from_secs(195)));
        assert_eq!(watched(30, |s| s).still_for(), Some(Duration::from_secs(1)));
    }

    #[test]
    fn an_hour_of_watching_stays_small() {
        let pace = watched(7_200, |s| s * 20);
        assert!(pace.seen.len() < 300, "{}", pace.seen.len());
        let minutes = pace.minutes(30);
        assert!(minutes.iter().flatten().all(|&n| (900..=1_500).contains(&n)), "{minutes:?}");
    }
}
