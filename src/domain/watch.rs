//! Is a worker still alive: by watching its beat, or by proof that its process is gone.
//!
//! Promise: no clock of another machine is compared with ours, and a sweeper that was away itself
//! declares nobody dead.

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
    /// Returns the watch after the first look.
    pub const fn first(beat: i64, now: Duration) -> Self {
        Self { beat, since: now, looked: now }
    }

    /// Returns the watch after another look that found `beat`.
    #[must_use]
    pub fn look(self, beat: i64, now: Duration, patience: Patience) -> Self {
        let gap = now.saturating_sub(self.looked) > patience.heartbeat * 2;
        if beat != self.beat || gap || now < self.looked {
            return Self::first(beat, now);
        }
        Self { looked: now, ..self }
    }

    /// Reports whether the beat has stood still for `lost_after`, watched without a gap.
    pub fn is_lost(self, patience: Patience) -> bool {
        self.looked.saturating_sub(self.since) >= patience.lost_after
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
    /// A process with this start time; `defunct` when it is dead and nobody has collected it yet.
    Process {
        start: i64,
        defunct: bool,
    },
    /// It could not be looked up (another operating system, no `/proc`).
    CannotTell,
}

/// Reports whether the worker's process is proved gone.
///
/// `boot` and `pid_ns` are the sweeper's own; an empty one, or another one, proves nothing.
pub fn is_process_gone(worker: &Process, boot: &str, pid_ns: &str, found: Found) -> bool {
    let same = |theirs: &str, mine: &str| !mine.is_empty() && theirs == mine;
    if !same(&worker.boot, boot) || !same(&worker.pid_ns, pid_ns) {
        return false;
    }
    match found {
        Found::Nothing | Found::Process { defunct: true, .. } => true,
        // Somebody else has the number now; who registered no start time cannot be told apart.
        Found::Process { start, .. } => worker.pid_start > 0 && start != worker.pid_start,
        Found::CannotTell => false,
    }
}

/// Reports whether a worker may still write its final dot.
///
/// `acknowledged` is when the ledger last took its beat, `now` the present, both since boot.
pub fn may_write_dot(acknowledged: Duration, now: Duration, lost_after: Duration) -> bool {
    now.saturating_sub(acknowledged) <= lost_after / 2
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PATIENCE: Patience =
        Patience { heartbeat: Duration::from_secs(5), lost_after: Duration::from_mins(1) };

    fn at(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    /// Looks every 5 s from 0 to `until` and always finds the same beat.
    fn watched_until(until: u64) -> Watched {
        let first = Watched::first(7, at(0));
        (1..=until / 5).fold(first, |w, n| w.look(7, at(n * 5), PATIENCE))
    }

    #[test]
    fn a_beat_that_stands_still_for_the_whole_time_means_lost() {
        assert!(!watched_until(55).is_lost(PATIENCE));
        assert!(watched_until(60).is_lost(PATIENCE));
    }

    #[test]
    fn a_beat_that_moves_begins_the_time_anew() {
        let moved = watched_until(55).look(8, at(60), PATIENCE);
        assert_eq!(moved, Watched::first(8, at(60)));
    }

    #[test]
    fn after_an_outage_of_the_ledger_nobody_is_lost() {
        let back = watched_until(50).look(7, at(500), PATIENCE);
        assert!(!back.is_lost(PATIENCE));
        assert_eq!(back.since, at(500));
    }

    #[test]
    fn one_missed_look_is_no_gap() {
        let late = watched_until(50).look(7, at(60), PATIENCE);
        assert!(late.is_lost(PATIENCE));
    }

    #[test]
    fn f21_a_clock_that_jumps_declares_nobody_dead() {
        for jump in [at(3600), at(0)] {
            let jumped = watched_until(55).look(7, jump, PATIENCE);
            assert!(!jumped.is_lost(PATIENCE), "{jump:?}");
        }
    }

    #[test]
    fn a_slow_worker_that_beats_is_never_lost() {
        let slow = (1..1000).fold(Watched::first(0, at(0)), |watched, n| {
            assert!(!watched.is_lost(PATIENCE));
            watched.look(i64::try_from(n / 11).unwrap(), at(n * 5), PATIENCE)
        });
        assert!(!slow.is_lost(PATIENCE));
    }

    #[test]
    fn a_sweeper_that_has_just_come_declares_nobody_dead() {
        assert!(!Watched::first(7, at(9_999)).is_lost(PATIENCE));
    }

    fn living(start: i64) -> Found {
        Found::Process { start, defunct: false }
    }

    fn worker() -> Process {
        Process { boot: "b1".into(), pid_ns: "pid:[1]".into(), pid: 42, pid_start: 1000 }
    }

    #[rstest]
    #[case::no_such_process("b1", "pid:[1]", Found::Nothing, true)]
    #[case::the_number_is_used_again("b1", "pid:[1]", living(2000), true)]
    #[case::dead_and_not_collected("b1", "pid:[1]", Found::Process { start: 1000, defunct: true }, true)]
    #[case::still_there("b1", "pid:[1]", living(1000), false)]
    #[case::another_boot("b2", "pid:[1]", Found::Nothing, false)]
    #[case::another_container("b1", "pid:[2]", Found::Nothing, false)]
    #[case::no_boot_id("", "pid:[1]", Found::Nothing, false)]
    #[case::no_way_to_look("b1", "pid:[1]", Found::CannotTell, false)]
    fn a_process_is_gone_only_with_proof(
        #[case] boot: &str,
        #[case] pid_ns: &str,
        #[case] found: Found,
        #[case] gone: bool,
    ) {
        assert_eq!(is_process_gone(&worker(), boot, pid_ns, found), gone);
    }

    #[test]
    fn an_empty_identity_proves_nothing() {
        let nobody = Process { boot: String::new(), pid_ns: String::new(), ..worker() };
        assert!(!is_process_gone(&nobody, "", "", Found::Nothing));
        let no_start = Process { pid_start: 0, ..worker() };
        assert!(!is_process_gone(&no_start, "b1", "pid:[1]", living(1000)));
    }

    #[test]
    fn the_dot_is_written_only_within_half_of_lost_after() {
        assert!(may_write_dot(at(100), at(130), at(60)));
        assert!(!may_write_dot(at(100), at(131), at(60)));
    }
}
