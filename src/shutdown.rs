//! How a process is asked to end: once to finish what it holds, twice to stop at once.
//!
//! Promise: nobody is interrupted; whoever holds a [`Shutdown`] looks at it between two steps.
//! Absent on purpose: exit codes and words. The command line asks [`Shutdown::signal`].

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The same signal again within this time is the same request; nobody types that fast.
const ECHO: Duration = Duration::from_millis(100);

/// A request to end, shared by everything that runs.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    drain: CancellationToken,
    now: CancellationToken,
    signal: Arc<AtomicI32>,
}

impl Shutdown {
    /// Asks to end: the first call lets the work in hand finish, the second stops it.
    pub fn ask(&self) {
        if self.drain.is_cancelled() {
            self.now.cancel();
        }
        self.drain.cancel();
    }

    /// Returns a request of its own that this one passes on to.
    ///
    /// A part that ends for its own reasons asks the child; its siblings go on.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            drain: self.drain.child_token(),
            now: self.now.child_token(),
            signal: Arc::clone(&self.signal),
        }
    }

    /// Reports whether nothing new may begin.
    pub fn is_draining(&self) -> bool {
        self.drain.is_cancelled()
    }

    /// Reports whether even the work in hand must stop.
    pub fn is_now(&self) -> bool {
        self.now.is_cancelled()
    }

    /// Waits until nothing new may begin.
    pub async fn draining(&self) {
        self.drain.cancelled().await;
    }

    /// Waits until even the work in hand must stop.
    pub async fn now(&self) {
        self.now.cancelled().await;
    }

    /// Returns the number of the signal that asked first, if one did.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed)).filter(|&number| number != 0)
    }

    /// Turns SIGINT, SIGTERM and SIGHUP into requests for as long as it is polled.
    pub async fn listen(self) -> io::Result<()> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = signal(SignalKind::hangup())?;
        let mut last: Option<(SignalKind, Instant)> = None;
        loop {
            let kind = tokio::select! {
                _ = interrupt.recv() => SignalKind::interrupt(),
                _ = terminate.recv() => SignalKind::terminate(),
                _ = hangup.recv() => SignalKind::hangup(),
            };
            let number = kind.as_raw_value();
            let first =
                self.signal.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
            let is_echo = last.is_some_and(|(same, at)| same == kind && at.elapsed() < ECHO);
            last = Some((kind, Instant::now()));
            // A terminal that goes away hangs up and may terminate as well: that is one request.
            // So are two of one kind at once: timeout(1) signals its child and then its own group.
            if first.is_ok() || (kind != SignalKind::hangup() && !is_echo) {
                self.ask();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_drains_and_the_second_stops() {
        let shutdown = Shutdown::default();
        assert!(!shutdown.is_draining());
        shutdown.ask();
        assert!(shutdown.is_draining() && !shutdown.is_now());
        shutdown.ask();
        assert!(shutdown.is_now());
    }

    #[test]
    fn a_part_that_ends_leaves_its_siblings_running() {
        let whole = Shutdown::default();
        let (one, other) = (whole.child(), whole.child());
        one.ask();
        assert!(one.is_draining() && !other.is_draining() && !whole.is_draining());
        whole.ask();
        assert!(other.is_draining());
    }
}
