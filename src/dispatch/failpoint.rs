//! Places at which a test kills this process as hard as the kernel can.
//!
//! `ITTSU_FAIL_AT=dot.after:3` kills it at the third pass of `dot.after`. Compiled only with the
//! feature `failpoints`; without it every call is empty.

/// A named place before or after a step of a hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    ClaimBefore,
    ClaimAfter,
    StartBefore,
    StartAfter,
    BodyBefore,
    BodyAfter,
    DotBefore,
    /// The dot is on its way; the server may or may not have it yet.
    DotAfter,
    /// The server has had time to answer; nothing of the answer was read.
    ReplyBefore,
    ReplyAfter,
    FinishBefore,
    FinishAfter,
    /// Jobs were taken from a queue; the ledger knows nothing of them.
    JobsTaken,
    /// The rows are committed; the queue does not know it yet.
    JobsKept,
}

impl FailPoint {
    /// Every place, in the order in which a hand-over passes them.
    pub const ALL: &[Self] = &[
        Self::ClaimBefore,
        Self::ClaimAfter,
        Self::StartBefore,
        Self::StartAfter,
        Self::BodyBefore,
        Self::BodyAfter,
        Self::DotBefore,
        Self::DotAfter,
        Self::ReplyBefore,
        Self::ReplyAfter,
        Self::FinishBefore,
        Self::FinishAfter,
    ];

    /// The places on the way of a job from its queue into the ledger.
    pub const OF_JOBS: &[Self] = &[Self::JobsTaken, Self::JobsKept];

    /// Returns the name that `ITTSU_FAIL_AT` uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaimBefore => "claim.before",
            Self::ClaimAfter => "claim.after",
            Self::StartBefore => "start.before",
            Self::StartAfter => "start.after",
            Self::BodyBefore => "body.before",
            Self::BodyAfter => "body.after",
            Self::DotBefore => "dot.before",
            Self::DotAfter => "dot.after",
            Self::ReplyBefore => "reply.before",
            Self::ReplyAfter => "reply.after",
            Self::FinishBefore => "finish.before",
            Self::FinishAfter => "finish.after",
            Self::JobsTaken => "jobs.taken",
            Self::JobsKept => "jobs.kept",
        }
    }

    /// Passes this place: dies here if this is the pass that was asked for.
    #[inline]
    pub fn pass(self) {
        #[cfg(feature = "failpoints")]
        armed::pass(self);
    }

    /// Passes this place with the answer lying unread in the socket, if this is the pass that kills.
    #[inline]
    pub fn pass_when_answered(self) {
        #[cfg(feature = "failpoints")]
        armed::pass_after(self, std::time::Duration::from_millis(50));
    }
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    use super::FailPoint;

    static ARMED: LazyLock<Option<(FailPoint, u64)>> =
        LazyLock::new(|| read(&std::env::var("ITTSU_FAIL_AT").ok()?));
    static PASSES: AtomicU64 = AtomicU64::new(0);

    /// Reads `NAME:N`; `NAME` alone is the first pass.
    pub(super) fn read(text: &str) -> Option<(FailPoint, u64)> {
        let (name, pass) = text.split_once(':').unwrap_or((text, "1"));
        let mut places = FailPoint::ALL.iter().chain(FailPoint::OF_JOBS);
        let place = *places.find(|place| place.as_str() == name)?;
        Some((place, pass.parse().ok()?))
    }

    pub(super) fn pass(place: FailPoint) {
        pass_after(place, Duration::ZERO);
    }

    pub(super) fn pass_after(place: FailPoint, wait: Duration) {
        let Some((armed, wanted)) = *ARMED else { return };
        if armed == place && PASSES.fetch_add(1, Ordering::Relaxed) + 1 == wanted {
            std::thread::sleep(wait);
            // Nothing is flushed and nobody is told: that is the point.
            let _ = kill_process(getpid(), Signal::KILL);
            loop {
                std::thread::park();
            }
        }
    }
}

#[cfg(all(test, feature = "failpoints"))]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_named_with_the_pass_that_kills() {
        assert_eq!(armed::read("dot.after:3"), Some((FailPoint::DotAfter, 3)));
        assert_eq!(armed::read("claim.before"), Some((FailPoint::ClaimBefore, 1)));
        assert_eq!(armed::read("nowhere:3"), None);
        assert_eq!(armed::read("dot.after:x"), None);
    }

    #[test]
    fn every_place_has_a_name_of_its_own() {
        let places = FailPoint::ALL.iter().chain(FailPoint::OF_JOBS);
        let mut names: Vec<_> = places.map(|place| place.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 14);
    }
}
