//! A moment, as the ledger keeps it.

use std::ops::{Add, Sub};
use std::time::Duration;

/// Microseconds since 1970-01-01 UTC.
///
/// Made by `clock` and passed in; nothing in `domain` reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the time that passed since `earlier`, or zero if it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn micros(wait: Duration) -> i64 {
    i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(micros(wait)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, wait: Duration) -> Self {
        Self(self.0.saturating_sub(micros(wait)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    #[test]
    fn time_that_lies_ahead_has_not_passed() {
        let noon = Timestamp(1_000_000_000_000_000);
        assert_eq!((noon + HOUR).since(noon), HOUR);
        assert_eq!(noon.since(noon + HOUR), Duration::ZERO);
        assert_eq!(noon - HOUR + HOUR, noon);
    }

    #[test]
    fn a_wait_without_end_does_not_overflow() {
        assert_eq!(Timestamp(5) + Duration::MAX, Timestamp(i64::MAX));
        assert_eq!(Timestamp(i64::MIN) - HOUR, Timestamp(i64::MIN));
    }
}
