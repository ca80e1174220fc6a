//! How many mails a route takes: `20/s`, `1200/min`, `6000/h`, `50000/day`.
//!
//! Promise: never more than the count per window, whatever the number of workers; within a window
//! mails go out evenly, in lots of about a second, and what was not used is not made up for. Only a
//! day's budget may be used as fast as it goes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::state::words;
use super::time::Timestamp;

words! {
    /// The time a rate counts over.
    Per {
        Second = "s",
        Minute = "min",
        Hour = "h",
        /// A calendar day in the configured time zone.
        Day = "day",
    }
}

const SECOND: i64 = 1_000_000;

/// At most `count` mails per `per`, of all workers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    pub count: i64,
    pub per: Per,
}

/// Says what is wrong with a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate; write it like 20/s, 1200/min, 6000/h or 50000/day")]
pub struct BadRate(pub String);

/// The window of a rate as the ledger keeps it for all workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start: Timestamp,
    pub used: i64,
}

/// What a worker that asks for tokens gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// So many, at least one and at most as asked; `window` is to be written back.
    Taken { tokens: i64, window: Window },
    /// None before this time.
    NotBefore(Timestamp),
}

impl Rate {
    /// Returns how many tokens a worker takes at once: about a second's worth, at least one.
    pub fn lot(self) -> i64 {
        match self.per {
            // A day is not spread out; its tokens are taken in lots that a dead worker may lose.
            Per::Day => (self.count / 1000).clamp(1, 100),
            Per::Second | Per::Minute | Per::Hour => (self.count * SECOND / self.micros()).max(1),
        }
    }

    /// Takes up to `wanted` tokens out of the stored window.
    ///
    /// `day` is the local calendar day around `now`: its midnight and the next one.
    pub fn take(
        self,
        now: Timestamp,
        stored: Option<Window>,
        wanted: i64,
        day: (Timestamp, Timestamp),
    ) -> Tokens {
        let (start, end) = self.window_around(now, day);
        // A window that began later was made by a worker whose clock is ahead: it holds.
        let window = stored.filter(|w| w.start >= start).unwrap_or(Window { start, used: 0 });
        if window.start >= end {
            return Tokens::NotBefore(window.start);
        }
        let used = window.used.max(self.forgone(now, window.start));
        let free = self.allowed(now, window.start) - used;
        if free > 0 {
            let tokens = wanted.clamp(1, free);
            let window = Window { used: used + tokens, ..window };
            return Tokens::Taken { tokens, window };
        }
        if window.used >= self.count {
            return Tokens::NotBefore(end);
        }
        Tokens::NotBefore(self.next_lot(now, window).min(end))
    }

    /// Returns the average time between two mails.
    pub fn gap(self) -> Duration {
        Duration::from_micros(u64::try_from(self.micros() / self.count.max(1)).unwrap_or(0))
    }

    fn window_around(self, now: Timestamp, day: (Timestamp, Timestamp)) -> (Timestamp, Timestamp) {
        if self.per == Per::Day {
            return day;
        }
        let start = now.0 - now.0.rem_euclid(self.micros());
        (Timestamp(start), Timestamp(start + self.micros()))
    }

    /// Returns how many tokens of a window that began at `start` may be used by `now`.
    fn allowed(self, now: Timestamp, start: Timestamp) -> i64 {
        if matches!(self.per, Per::Day | Per::Second) {
            return self.count;
        }
        let steps = (now.0 - start.0).max(0) / self.step() + 1;
        let allowed = i128::from(steps) * i128::from(self.step()) * i128::from(self.count)
            / i128::from(self.micros());
        i64::try_from(allowed).unwrap_or(self.count).clamp(1, self.count)
    }

    /// Returns how many tokens of the window nobody may use any more: those of past steps.
    ///
    /// Else a worker that starts at the end of a minute would send a minute's mails at once.
    fn forgone(self, now: Timestamp, start: Timestamp) -> i64 {
        let before = Timestamp(now.0 - self.step());
        let is_spread = matches!(self.per, Per::Minute | Per::Hour);
        if is_spread && before >= start { self.allowed(before, start) } else { 0 }
    }

    /// Returns when the next token after `window` becomes free, not before the next step.
    fn next_lot(self, now: Timestamp, window: Window) -> Timestamp {
        let mut at = now.0 - (now.0 - window.start.0).rem_euclid(self.step());
        loop {
            at += self.step();
            if self.allowed(Timestamp(at), window.start) > window.used {
                return Timestamp(at);
            }
        }
    }

    /// The time after which more tokens become free: a second, or the gap where that is longer.
    fn step(self) -> i64 {
        (self.micros() / self.count.max(1)).max(SECOND)
    }

    const fn micros(self) -> i64 {
        match self.per {
            Per::Second => SECOND,
            Per::Minute => 60 * SECOND,
            Per::Hour => 3600 * SECOND,
            Per::Day => 86_400 * SECOND,
        }
    }
}

impl FromStr for Rate {
    type Err = BadRate;

    fn from_str(text: &str) -> Result<Self, BadRate> {
        let read = || {
            let (count, per) = text.trim().split_once('/')?;
            let count = count.trim();
            let per = match per.trim() {
                "s" | "sec" | "second" => Per::Second,
                "m" | "min" | "minute" => Per::Minute,
                "h" | "hour" => Per::Hour,
                "d" | "day" => Per::Day,
                _ => return None,
            };
            let digits = count.bytes().all(|b| b.is_ascii_digit());
            let count = digits.then(|| count.parse::<i64>().ok())??;
            (1..=1_000_000_000).contains(&count).then_some(Self { count, per })
        };
        read().ok_or_else(|| BadRate(text.to_owned()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.per)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Midnight of some day, which is also the start of a minute and of an hour.
    const MIDNIGHT: Timestamp = Timestamp(20_000 * 86_400 * SECOND);
    const DAY: (Timestamp, Timestamp) = (MIDNIGHT, Timestamp(MIDNIGHT.0 + 86_400 * SECOND));

    fn at(millis: u64) -> Timestamp {
        MIDNIGHT + Duration::from_millis(millis)
    }

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    /// Takes as much as it gets from `from` to `to`; returns the number of tokens.
    fn drain(rate: Rate, window: &mut Option<Window>, from: Timestamp, to: Timestamp) -> i64 {
        let (mut now, mut sum) = (from, 0);
        while now < to {
            match rate.take(now, *window, 7, DAY) {
                Tokens::Taken { tokens, window: next } => {
                    sum += tokens;
                    *window = Some(next);
                }
                Tokens::NotBefore(then) => {
                    assert!(then > now);
                    now = then;
                }
            }
        }
        sum
    }

    #[rstest]
    #[case::second("20/s", 20, Per::Second)]
    #[case::minute("1200/min", 1200, Per::Minute)]
    #[case::hour("300/h", 300, Per::Hour)]
    #[case::day("50000/day", 50_000, Per::Day)]
    fn a_rate_reads_and_prints(#[case] text: &str, #[case] count: i64, #[case] per: Per) {
        assert_eq!(rate(text), Rate { count, per });
        assert_eq!(rate(text).to_string(), text);
        assert_eq!(rate(&text.replace('/', " / ")), rate(text));
    }

    #[rstest]
    #[case::empty("")]
    #[case::zero("0/s")]
    #[case::negative("-1/s")]
    #[case::no_unit("20")]
    #[case::unknown_unit("20/week")]
    #[case::no_number("/s")]
    #[case::fraction("0.5/s")]
    #[case::absurd("99999999999/s")]
    fn what_is_no_rate(#[case] text: &str) {
        assert_eq!(text.parse::<Rate>(), Err(BadRate(text.to_owned())));
    }

    #[test]
    fn a_slow_rate_gives_one_mail_at_a_time() {
        let six = rate("6/min");
        assert_eq!(six.lot(), 1);
        let Tokens::Taken { tokens: 1, window } = six.take(at(0), None, 5, DAY) else { panic!() };
        assert_eq!(six.take(at(1), Some(window), 1, DAY), Tokens::NotBefore(at(10_000)));
        assert!(matches!(six.take(at(10_000), Some(window), 1, DAY), Tokens::Taken { .. }));
    }

    #[test]
    fn a_fast_rate_gives_a_seconds_worth_every_second() {
        let fast = rate("1200/min");
        assert_eq!(fast.lot(), 20);
        let mut window = None;
        assert_eq!(drain(fast, &mut window, at(0), at(1000)), 20);
        assert_eq!(drain(fast, &mut window, at(1000), at(3000)), 40);
    }

    #[test]
    fn who_comes_late_in_a_window_gets_no_more_than_a_step() {
        assert_eq!(drain(rate("6/min"), &mut None, at(52_000), at(52_400)), 1);
        assert_eq!(drain(rate("6/min"), &mut None, at(52_000), at(60_000)), 1);
        assert_eq!(drain(rate("1200/min"), &mut None, at(40_500), at(40_900)), 20);
        let mut window = None;
        drain(rate("1200/min"), &mut window, at(0), at(1000));
        assert_eq!(drain(rate("1200/min"), &mut window, at(30_000), at(32_000)), 40);
    }

    #[test]
    fn a_days_budget_is_used_as_fast_as_it_goes_and_then_waits_for_midnight() {
        let day = rate("100/day");
        let mut window = None;
        assert_eq!(drain(day, &mut window, at(0), at(1)), 100);
        assert_eq!(day.take(at(2), window, 1, DAY), Tokens::NotBefore(DAY.1));
    }

    #[test]
    fn workers_share_one_window() {
        let rate = rate("3/s");
        let Tokens::Taken { tokens: 2, window } = rate.take(at(0), None, 2, DAY) else { panic!() };
        let Tokens::Taken { tokens: 1, window } = rate.take(at(5), Some(window), 2, DAY) else {
            panic!()
        };
        assert_eq!(rate.take(at(9), Some(window), 2, DAY), Tokens::NotBefore(at(1000)));
    }

    #[test]
    fn a_worker_whose_clock_is_behind_gets_no_second_window() {
        let rate = rate("3/s");
        let ahead = Window { start: at(5000), used: 3 };
        assert_eq!(rate.take(at(4200), Some(ahead), 1, DAY), Tokens::NotBefore(at(5000)));
    }

    proptest! {
        #[test]
        fn no_window_gives_more_than_its_count_and_none_gives_less_for_long(
            count in 1_i64..5000, per in 0_usize..3, begin in 0_u64..3_600_000,
        ) {
            let rate = Rate { count, per: Per::ALL[per] };
            let span = rate.micros();
            let start = at(begin).0;
            let start = Timestamp(start - start.rem_euclid(span));
            let got = drain(rate, &mut None, start, Timestamp(start.0 + span));
            prop_assert!(got <= count);
            prop_assert!(got >= count - 1, "{got} of {count}");
        }
    }
}
