//! When a row that was put off is tried again.

use std::time::Duration;

/// The retry settings of a kind, frozen in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Tries that may count in all, the first included; at least 1.
    pub attempts: i64,
    pub first: Duration,
    pub last: Duration,
}

/// A number from 0 to 1 drawn by the caller; the only chance that enters this room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter(pub f64);

/// How far jitter moves a wait, so that rows put off together do not come back together.
const SPREAD: f64 = 0.25;

impl Jitter {
    /// The middle, for where chance must not matter.
    pub const NONE: Self = Self(0.0);

    /// Returns `wait` made longer by up to a quarter.
    pub fn lengthen(self, wait: Duration) -> Duration {
        wait.saturating_add(wait.mul_f64(SPREAD * self.fraction()))
    }

    /// Returns `wait` made shorter by up to a quarter.
    pub fn shorten(self, wait: Duration) -> Duration {
        wait.saturating_sub(wait.mul_f64(SPREAD * self.fraction()))
    }

    fn fraction(self) -> f64 {
        if self.0.is_finite() { self.0.clamp(0.0, 1.0) } else { 0.0 }
    }
}

impl Retry {
    /// Returns the wait after the `tries`-th try that counted: `first`, doubling, up to `last`.
    ///
    /// Never shorter than `first` and never longer than `last` (or `first`, if that is longer).
    pub fn wait(&self, tries: i64, jitter: Jitter) -> Duration {
        let last = self.last.max(self.first);
        let doublings = u32::try_from(tries.clamp(1, 31) - 1).unwrap_or(0);
        let base = self.first.saturating_mul(1 << doublings).min(last);
        let longer = jitter.lengthen(base);
        let wait = if longer <= last { longer } else { jitter.shorten(last) };
        wait.clamp(self.first, last)
    }

    /// Reports whether no further try is allowed after `tries` that counted.
    pub const fn is_used_up(&self, tries: i64) -> bool {
        tries >= self.attempts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn retry(first: u32, last: u32) -> Retry {
        Retry { attempts: 5, first: MINUTE * first, last: MINUTE * last }
    }

    #[test]
    fn waits_double_from_the_first_to_the_last() {
        let waits: Vec<u64> =
            (1..9).map(|n| retry(5, 240).wait(n, Jitter::NONE).as_secs() / 60).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 240, 240]);
    }

    #[test]
    fn jitter_spreads_rows_that_were_put_off_together() {
        let retry = retry(5, 240);
        assert_eq!(retry.wait(2, Jitter(1.0)), MINUTE * 25 / 2);
        assert_eq!(retry.wait(9, Jitter(1.0)), MINUTE * 180);
    }

    #[test]
    fn a_last_wait_shorter_than_the_first_is_lifted_to_it() {
        assert_eq!(retry(5, 1).wait(7, Jitter(0.7)), MINUTE * 5);
    }

    #[test]
    fn the_first_try_counts_as_one_of_the_attempts() {
        assert!(!retry(1, 1).is_used_up(4));
        assert!(retry(1, 1).is_used_up(5));
    }

    proptest! {
        #[test]
        fn a_wait_lies_between_first_and_last(
            first in 0_u32..100_000, more in 0_u32..100_000, tries in -3_i64..200, jitter: f64,
        ) {
            let retry = retry(first, first + more);
            let wait = retry.wait(tries, Jitter(jitter));
            prop_assert!(retry.first <= wait && wait <= retry.last, "{wait:?}");
        }
    }
}
