//! Is a worker still alive: by watching its beat, or by proof that its process is gone.

use std::time::Duration;

/// Why a worker is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proof {
    /// Its process is proved gone: it can never answer again.
    ProcessGone,
    /// Its beat stood still; it may still be alive somewhere.
    Silent,
}

/// The settings of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub heartbeat: Duration,
    pub lost_after: Duration,
}

/// One worker as a sweeper has watched it, by the sweeper's own clock (`Clock::since_boot`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    pub beat: i64,
    /// When this beat was first seen, or watching had to begin anew.
    pub since: Duration,
    /// When the ledger was last reached.
    pub looked: Duration,
}

impl Watched {
    pub const fn first(beat: i64, now: Duration) -> Self {
        Self { beat, since: now, looked: now }
    }

    /// Returns the watch after another look that found `beat`.
    #[must_use]
    pub fn look(self, _beat: i64, _now: Duration, _patience: Patience) -> Self {
        todo!()
    }

    /// Reports whether the beat has stood still long enough, watched without a gap.
    pub fn is_lost(self, _patience: Patience) -> bool {
        todo!()
    }
}

/// The identity of a worker's process, as it registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub boot: String,
    pub pid_ns: String,
    pub pid: i64,
    pub pid_start: i64,
}

/// What the sweeper finds on its own machine under the worker's pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    /// A process with this start time; `defunct` when it is dead and only not yet collected.
    Process {
        start: i64,
        defunct: bool,
    },
    /// It could not be looked up (another operating system, no `/proc`).
    CannotTell,
}

/// Reports whether the worker's process is proved gone.
///
/// `boot` and `pid_ns` are the sweeper's own; empty ones prove nothing.
pub fn is_process_gone(_worker: &Process, _boot: &str, _pid_ns: &str, _found: Found) -> bool {
    todo!()
}

/// Reports whether a worker may still write its final dot.
///
/// `acknowledged` is when the ledger last took its beat, `now` the present, both since boot.
pub fn may_write_dot(acknowledged: Duration, now: Duration, lost_after: Duration) -> bool {
    now.saturating_sub(acknowledged) <= lost_after / 2
}
