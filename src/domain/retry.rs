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

impl Retry {
    /// Returns the wait after the `tries`-th try that counted, from `first`, doubling, to `last`.
    pub fn wait(&self, _tries: i64, _jitter: Jitter) -> Duration {
        todo!()
    }

    /// Reports whether no further try is allowed after `tries` that counted.
    pub const fn is_used_up(&self, tries: i64) -> bool {
        tries >= self.attempts
    }
}
