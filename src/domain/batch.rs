//! What a batch is: its counts, its state, and when it may start.

use super::state::words;

words! {
    /// What people want of a batch; stored.
    Wanted {
        Draft = "draft",
        Scheduled = "scheduled",
        Running = "running",
        Paused = "paused",
        Cancelled = "cancelled",
    }
}

words! {
    /// What a batch is; computed from what is wanted and from its rows, never stored.
    BatchState {
        Draft = "draft",
        Scheduled = "scheduled",
        Running = "running",
        Paused = "paused",
        Cancelled = "cancelled",
        Done = "done",
    }
}

words! {
    /// A counter that is kept beside the rows.
    Bucket {
        Ready = "ready",
        Sending = "sending",
        /// Part of `sending`: flagged as unknown.
        Unknown = "unknown",
        Sent = "sent",
        /// Part of `sent`: nobody knows, the policy counts it.
        Assumed = "assumed",
        Failed = "failed",
        /// Handed over again after an unknown attempt of the same generation.
        MaybeTwice = "maybe_twice",
        /// Part of `failed`: an attempt of the same generation is unknown.
        MaybeDelivered = "maybe_delivered",
        Attempts = "attempts",
        /// People in the source who got no row.
        LeftOut = "left_out",
    }
}

/// How many rows of a batch stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub ready: i64,
    pub sending: i64,
    pub unknown: i64,
    pub sent: i64,
    pub assumed: i64,
    pub failed: i64,
    pub maybe_twice: i64,
    pub maybe_delivered: i64,
    pub attempts: i64,
    pub left_out: i64,
}

impl Counts {
    /// Returns the number of rows: the four states add up to it.
    pub const fn total(&self) -> i64 {
        self.ready + self.sending + self.sent + self.failed
    }

    /// Reports whether the numbers can be true together: none is below zero, and no part is larger
    /// than its whole. Counters that were written wrongly mostly break one of the two.
    pub const fn add_up(&self) -> bool {
        let states = self.ready >= 0 && self.sending >= 0 && self.sent >= 0 && self.failed >= 0;
        let parts = self.unknown >= 0 && self.assumed >= 0 && self.maybe_delivered >= 0;
        states
            && parts
            && self.unknown <= self.sending
            && self.assumed <= self.sent
            && self.maybe_delivered <= self.failed
    }

    /// Returns the rows of which nothing final can be said yet.
    pub const fn left(&self) -> i64 {
        self.ready + self.sending
    }

    pub const fn get(&self, bucket: Bucket) -> i64 {
        match bucket {
            Bucket::Ready => self.ready,
            Bucket::Sending => self.sending,
            Bucket::Unknown => self.unknown,
            Bucket::Sent => self.sent,
            Bucket::Assumed => self.assumed,
            Bucket::Failed => self.failed,
            Bucket::MaybeTwice => self.maybe_twice,
            Bucket::MaybeDelivered => self.maybe_delivered,
            Bucket::Attempts => self.attempts,
            Bucket::LeftOut => self.left_out,
        }
    }

    pub const fn add(&mut self, bucket: Bucket, n: i64) {
        let place = match bucket {
            Bucket::Ready => &mut self.ready,
            Bucket::Sending => &mut self.sending,
            Bucket::Unknown => &mut self.unknown,
            Bucket::Sent => &mut self.sent,
            Bucket::Assumed => &mut self.assumed,
            Bucket::Failed => &mut self.failed,
            Bucket::MaybeTwice => &mut self.maybe_twice,
            Bucket::MaybeDelivered => &mut self.maybe_delivered,
            Bucket::Attempts => &mut self.attempts,
            Bucket::LeftOut => &mut self.left_out,
        };
        *place += n;
    }
}

/// Whether more rows may still be put into a batch by itself (a batch of the day, until midnight).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    Open,
    Closed,
}

/// Returns what a batch is.
///
/// Unknown rows are `sending`, so they keep it from being done; rows that come back make it run
/// again; an empty batch is not done.
pub const fn state(wanted: Wanted, door: Door, counts: &Counts) -> BatchState {
    let finished = counts.total() > 0 && counts.left() == 0 && matches!(door, Door::Closed);
    match wanted {
        Wanted::Draft => BatchState::Draft,
        Wanted::Scheduled => BatchState::Scheduled,
        Wanted::Cancelled => BatchState::Cancelled,
        Wanted::Running | Wanted::Paused if finished => BatchState::Done,
        Wanted::Running => BatchState::Running,
        Wanted::Paused => BatchState::Paused,
    }
}

/// What `start` comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It starts, if the count is right.
    Go,
    /// It started before, or no row waits.
    NothingToDo,
    /// Its import did not end.
    Loading,
    /// It was started and then paused: `resume` is the word.
    Paused,
    Cancelled,
}

/// Decides what `start` comes to; `started` says whether it ever was.
pub const fn may_start(wanted: Wanted, started: bool, loading: bool, ready: i64) -> Start {
    match wanted {
        Wanted::Cancelled => Start::Cancelled,
        Wanted::Running => Start::NothingToDo,
        Wanted::Paused if started => {
            if ready == 0 {
                Start::NothingToDo
            } else {
                Start::Paused
            }
        }
        Wanted::Draft | Wanted::Scheduled | Wanted::Paused if loading => Start::Loading,
        Wanted::Draft | Wanted::Scheduled | Wanted::Paused => {
            if ready == 0 {
                Start::NothingToDo
            } else {
                Start::Go
            }
        }
    }
}

/// What becomes of a batch whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    Starts,
    /// Nobody was there at the time: `late` has passed since.
    Missed,
    /// Other rows wait than were confirmed.
    CountDiffers {
        confirmed: i64,
        ready: i64,
    },
}

/// Decides what becomes of a scheduled batch whose time passed `late_by` microseconds ago.
pub const fn at_its_time(late_by: i64, may_be_late: i64, confirmed: i64, ready: i64) -> Due {
    if late_by > may_be_late {
        Due::Missed
    } else if confirmed != ready {
        Due::CountDiffers { confirmed, ready }
    } else {
        Due::Starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ready: i64, sending: i64, sent: i64, failed: i64) -> Counts {
        Counts { ready, sending, sent, failed, ..Counts::default() }
    }

    #[test]
    fn numbers_add_up_only_while_none_is_negative_and_no_part_exceeds_its_whole() {
        let right = Counts { unknown: 1, assumed: 2, maybe_delivered: 3, ..counts(4, 1, 2, 3) };
        assert!(Counts::default().add_up() && right.add_up());
        let wrong = [
            Counts { ready: -1, sending: 1, ..counts(0, 0, 1, 499) },
            Counts { sending: -1, ..right },
            Counts { sent: -1, ..right },
            Counts { failed: -1, ..right },
            Counts { unknown: 2, ..right },
            Counts { unknown: -1, ..right },
            Counts { assumed: 3, ..right },
            Counts { assumed: -1, ..right },
            Counts { maybe_delivered: 4, ..right },
            Counts { maybe_delivered: -1, ..right },
        ];
        assert!(wrong.iter().all(|counts| !counts.add_up()), "{wrong:?}");
    }

    #[test]
    fn a_batch_is_done_only_when_it_has_rows_and_none_waits_or_is_in_doubt() {
        use BatchState as S;
        let cases = [
            (Wanted::Running, Door::Closed, counts(0, 0, 5, 1), S::Done),
            (Wanted::Paused, Door::Closed, counts(0, 0, 5, 1), S::Done),
            (Wanted::Running, Door::Closed, counts(0, 0, 0, 0), S::Running),
            (Wanted::Running, Door::Open, counts(0, 0, 5, 1), S::Running),
            (Wanted::Running, Door::Closed, counts(0, 1, 5, 1), S::Running),
            (Wanted::Running, Door::Closed, counts(1, 0, 5, 1), S::Running),
            (Wanted::Paused, Door::Closed, counts(0, 1, 5, 1), S::Paused),
            (Wanted::Draft, Door::Closed, counts(0, 0, 5, 1), S::Draft),
            (Wanted::Scheduled, Door::Closed, counts(5, 0, 0, 0), S::Scheduled),
            (Wanted::Cancelled, Door::Closed, counts(0, 0, 0, 9), S::Cancelled),
        ];
        for (wanted, door, counts, expected) in cases {
            assert_eq!(state(wanted, door, &counts), expected, "{wanted} {door:?} {counts:?}");
        }
    }

    #[test]
    fn starting_twice_is_nothing_to_do_and_half_an_import_never_starts() {
        let cases = [
            (Wanted::Draft, false, false, 7, Start::Go),
            (Wanted::Draft, false, false, 0, Start::NothingToDo),
            (Wanted::Draft, false, true, 7, Start::Loading),
            (Wanted::Scheduled, false, false, 7, Start::Go),
            (Wanted::Scheduled, false, true, 7, Start::Loading),
            (Wanted::Running, true, false, 7, Start::NothingToDo),
            (Wanted::Running, true, true, 7, Start::NothingToDo),
            (Wanted::Running, true, false, 0, Start::NothingToDo),
            (Wanted::Paused, true, false, 7, Start::Paused),
            (Wanted::Paused, true, false, 0, Start::NothingToDo),
            (Wanted::Paused, false, false, 7, Start::Go),
            (Wanted::Cancelled, true, false, 7, Start::Cancelled),
        ];
        for (wanted, started, loading, ready, expected) in cases {
            assert_eq!(may_start(wanted, started, loading, ready), expected, "{wanted} {started}");
        }
    }

    #[test]
    fn a_scheduled_batch_starts_only_in_time_and_with_the_confirmed_rows() {
        assert_eq!(at_its_time(0, 10, 5, 5), Due::Starts);
        assert_eq!(at_its_time(10, 10, 5, 5), Due::Starts);
        assert_eq!(at_its_time(11, 10, 5, 5), Due::Missed);
        assert_eq!(at_its_time(1, 10, 5, 6), Due::CountDiffers { confirmed: 5, ready: 6 });
    }

    #[test]
    fn every_bucket_has_its_own_place() {
        let mut counts = Counts::default();
        for (i, &bucket) in (1..).zip(Bucket::ALL) {
            counts.add(bucket, i);
        }
        for (i, &bucket) in (1..).zip(Bucket::ALL) {
            assert_eq!(counts.get(bucket), i);
        }
        assert_eq!(counts.total(), counts.left() + counts.sent + counts.failed);
    }
}
