//! How many mails a route takes: `20/s`, `1200/min`, `6000/h`, `50000/day`.

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
    /// So many, at most as asked; write `window` back.
    Taken { tokens: i64, window: Window },
    /// None before this time.
    NotBefore(Timestamp),
}

impl Rate {
    /// Returns how many tokens a worker takes at once: about a second's worth, at least one.
    pub fn lot(self) -> i64 {
        todo!()
    }

    /// Takes up to `wanted` tokens out of the stored window.
    ///
    /// `day` is the local calendar day around `now`: its midnight and the next one.
    pub fn take(
        self,
        _stored: Option<Window>,
        _wanted: i64,
        _now: Timestamp,
        _day: (Timestamp, Timestamp),
    ) -> Tokens {
        todo!()
    }

    /// Returns the average time between two mails.
    pub fn gap(self) -> Duration {
        todo!()
    }
}

impl FromStr for Rate {
    type Err = BadRate;

    fn from_str(_text: &str) -> Result<Self, BadRate> {
        todo!()
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.per)
    }
}
