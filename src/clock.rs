//! The only place that reads a clock.
//!
//! Promise: every other room gets the time as a value, so a test can stand at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::domain::time::Timestamp;

/// Tells the time; cheap to clone and passed in as a value.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's own clocks.
    #[default]
    System,
    /// A clock that moves only when a test moves it.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// Returns a clock that stands at `start` until it is moved.
    pub fn standing_at(start: Timestamp) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(start.0)))
    }

    /// Moves a manual clock; the system's clock is left alone.
    pub fn advance(&self, by: Duration) {
        if let Self::Manual(at) = self {
            at.fetch_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX), Ordering::Relaxed);
        }
    }

    /// Returns the time of day, for people and for `due_at`.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::System => Timestamp(micros(ClockId::Realtime)),
            Self::Manual(at) => Timestamp(at.load(Ordering::Relaxed)),
        }
    }

    /// Returns the time since boot, *including* time the machine was suspended.
    ///
    /// `std::time::Instant` stands still in suspend; a worker that woke up must not believe that
    /// its last heartbeat was a moment ago (`CLOCK_BOOTTIME`, `clock_gettime(2)`).
    pub fn since_boot(&self) -> Duration {
        let micros = match self {
            Self::System => micros(ClockId::Boottime),
            Self::Manual(at) => at.load(Ordering::Relaxed),
        };
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

fn micros(id: ClockId) -> i64 {
    let time = clock_gettime(id);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}
