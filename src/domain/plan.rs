//! What a person may do to which row; decided before anything is touched.

use super::batch::{Bucket, Wanted};
use super::state::{Flag, How, State, words};

words! {
    /// What a person asks for.
    Act {
        MarkSent = "mark-sent",
        MarkFailed = "mark-failed",
        /// Back to `ready`, the same mail again.
        Resend = "resend",
        /// Back to `ready`; a mail that counts as sent goes out as another copy.
        AnotherCopy = "another-copy",
    }
}

words! {
    /// Why a row is left as it is.
    Left {
        /// A living worker has it in its hands.
        BeingSent = "being_sent",
        AlreadySent = "already_sent",
        AlreadyFailed = "already_failed",
        AlreadyReady = "already_ready",
        /// A server's own answer, or a record of it, said yes; nobody may call that failed.
        Accepted = "accepted",
        /// A person marked it sent: `undo` takes that back.
        ByHand = "by_hand",
        /// It counts as sent: only `--another-copy` sends it again.
        CountsAsSent = "counts_as_sent",
        /// Its batch is cancelled: nothing is sent from it any more.
        BatchCancelled = "batch_cancelled",
        /// It is no longer as the journal entry left it.
        Moved = "moved",
    }
}

/// A row as far as a decision needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub state: State,
    pub how: Option<How>,
    pub flag: Option<Flag>,
    /// A worker that is not known to be lost has claimed or started it.
    pub held: bool,
    pub unknown_attempts: i64,
    /// It was started again in this generation after an unknown attempt.
    pub handed_again: bool,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Sent,
    Failed,
    /// `ready` again, the same generation.
    Again,
    /// `ready` again as the next generation: nothing of the earlier copy counts for it.
    Copy,
}

impl Seen {
    /// Reports whether nobody knows what became of it.
    pub const fn is_unknown(&self) -> bool {
        matches!(self.flag, Some(Flag::Unknown))
    }

    const fn is_assumed(&self) -> bool {
        matches!(self.how, Some(How::Assumed))
    }
}

/// Decides what `act` does to a row of a batch, or why it leaves it.
pub const fn decide(act: Act, row: &Seen, wanted: Wanted) -> Result<Change, Left> {
    // An unknown row is nobody's, even while its worker lives: the worker has let go of it.
    if row.held && !row.is_unknown() {
        return Err(Left::BeingSent);
    }
    match (act, row.state) {
        // `sending` without a flag: between a death and its sweep nobody may decide.
        (_, State::Sending) if !row.is_unknown() => Err(Left::BeingSent),
        (Act::MarkSent, State::Sent) if !row.is_assumed() => Err(Left::AlreadySent),
        (Act::MarkSent, _) => Ok(Change::Sent),
        (Act::MarkFailed, State::Failed) => Err(Left::AlreadyFailed),
        (Act::MarkFailed, State::Sent) if !row.is_assumed() => match row.how {
            Some(How::Operator) => Err(Left::ByHand),
            _ => Err(Left::Accepted),
        },
        (Act::MarkFailed, _) => Ok(Change::Failed),
        (Act::Resend | Act::AnotherCopy, State::Ready) => Err(Left::AlreadyReady),
        (Act::Resend, State::Sent) => Err(Left::CountsAsSent),
        (Act::Resend | Act::AnotherCopy, State::Sending | State::Failed | State::Sent) => {
            match (wanted, row.state) {
                (Wanted::Cancelled, _) => Err(Left::BatchCancelled),
                (_, State::Sent) => Ok(Change::Copy),
                _ => Ok(Change::Again),
            }
        }
    }
}

/// Returns the counters a row stands in, by state, flag and what its generation went through.
pub fn buckets(row: &Seen) -> impl Iterator<Item = Bucket> {
    let state = match row.state {
        State::Ready => Bucket::Ready,
        State::Sending => Bucket::Sending,
        State::Sent => Bucket::Sent,
        State::Failed => Bucket::Failed,
    };
    let unknown = row.is_unknown().then_some(Bucket::Unknown);
    let assumed = (row.is_assumed()).then_some(Bucket::Assumed);
    let twice = row.handed_again.then_some(Bucket::MaybeTwice);
    let delivered =
        (row.state == State::Failed && row.unknown_attempts > 0).then_some(Bucket::MaybeDelivered);
    [Some(state), unknown, assumed, twice, delivered].into_iter().flatten()
}

impl Change {
    /// Returns the row as it stands afterwards.
    #[must_use]
    pub const fn of(self, row: &Seen) -> Seen {
        match self {
            Self::Sent => Seen {
                state: State::Sent,
                how: Some(How::Operator),
                flag: None,
                held: false,
                ..*row
            },
            Self::Failed => Seen {
                state: State::Failed,
                how: Some(How::Operator),
                flag: Some(Flag::Failed),
                held: false,
                ..*row
            },
            Self::Again => Seen { state: State::Ready, how: None, flag: None, held: false, ..*row },
            Self::Copy => Seen {
                state: State::Ready,
                how: None,
                flag: None,
                held: false,
                unknown_attempts: 0,
                handed_again: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: Seen = Seen {
        state: State::Ready,
        how: None,
        flag: None,
        held: false,
        unknown_attempts: 0,
        handed_again: false,
    };
    const UNKNOWN: Seen =
        Seen { state: State::Sending, flag: Some(Flag::Unknown), unknown_attempts: 1, ..READY };
    const SENDING: Seen = Seen { state: State::Sending, ..READY };
    const SENT: Seen = Seen { state: State::Sent, how: Some(How::Accepted), ..READY };
    const ASSUMED: Seen = Seen {
        state: State::Sent,
        how: Some(How::Assumed),
        flag: Some(Flag::Assumed),
        unknown_attempts: 1,
        ..READY
    };
    const FAILED: Seen =
        Seen { state: State::Failed, how: Some(How::Refused), flag: Some(Flag::Failed), ..READY };

    #[test]
    fn a_person_may_do_exactly_this_to_each_row() {
        use Change as C;
        use Left as L;
        let table = [
            // row, mark sent, mark failed, resend, another copy
            (READY, Ok(C::Sent), Ok(C::Failed), Err(L::AlreadyReady), Err(L::AlreadyReady)),
            (UNKNOWN, Ok(C::Sent), Ok(C::Failed), Ok(C::Again), Ok(C::Again)),
            (SENDING, Err(L::BeingSent), Err(L::BeingSent), Err(L::BeingSent), Err(L::BeingSent)),
            (SENT, Err(L::AlreadySent), Err(L::Accepted), Err(L::CountsAsSent), Ok(C::Copy)),
            (ASSUMED, Ok(C::Sent), Ok(C::Failed), Err(L::CountsAsSent), Ok(C::Copy)),
            (FAILED, Ok(C::Sent), Err(L::AlreadyFailed), Ok(C::Again), Ok(C::Again)),
        ];
        for (row, sent, failed, resend, copy) in table {
            for (act, expected) in [
                (Act::MarkSent, sent),
                (Act::MarkFailed, failed),
                (Act::Resend, resend),
                (Act::AnotherCopy, copy),
            ] {
                assert_eq!(decide(act, &row, Wanted::Running), expected, "{act} {row:?}");
                assert_eq!(decide(act, &row, Wanted::Paused), expected, "{act} {row:?} paused");
            }
        }
    }

    #[test]
    fn a_row_in_the_hands_of_a_living_worker_is_left_unless_it_is_unknown() {
        for row in [READY, SENDING, SENT, FAILED] {
            for &act in Act::ALL {
                let held = Seen { held: true, ..row };
                assert_eq!(decide(act, &held, Wanted::Running), Err(Left::BeingSent));
            }
        }
        let held = Seen { held: true, ..UNKNOWN };
        assert_eq!(decide(Act::MarkSent, &held, Wanted::Running), Ok(Change::Sent));
    }

    #[test]
    fn nothing_is_sent_again_from_a_cancelled_batch_but_it_can_be_marked() {
        for row in [UNKNOWN, FAILED] {
            assert_eq!(decide(Act::Resend, &row, Wanted::Cancelled), Err(Left::BatchCancelled));
        }
        assert_eq!(decide(Act::AnotherCopy, &SENT, Wanted::Cancelled), Err(Left::BatchCancelled));
        assert_eq!(decide(Act::MarkSent, &UNKNOWN, Wanted::Cancelled), Ok(Change::Sent));
        assert_eq!(decide(Act::MarkFailed, &UNKNOWN, Wanted::Cancelled), Ok(Change::Failed));
    }

    #[test]
    fn asking_twice_for_the_same_changes_nothing_the_second_time() {
        for row in [READY, UNKNOWN, ASSUMED, FAILED, SENT] {
            for &act in Act::ALL {
                if let Ok(change) = decide(act, &row, Wanted::Running) {
                    let after = change.of(&row);
                    assert!(decide(act, &after, Wanted::Running).is_err(), "{act} {row:?}");
                }
            }
        }
    }

    #[test]
    fn a_row_called_failed_after_an_unknown_attempt_is_counted_as_maybe_delivered() {
        let after = Change::Failed.of(&UNKNOWN);
        assert!(buckets(&after).any(|bucket| bucket == Bucket::MaybeDelivered));
        let after = Change::Failed.of(&READY);
        assert_eq!(buckets(&after).collect::<Vec<_>>(), [Bucket::Failed]);
    }

    #[test]
    fn another_copy_leaves_the_doubts_of_the_first_behind() {
        let twice = Seen { handed_again: true, ..ASSUMED };
        assert_eq!(
            buckets(&twice).collect::<Vec<_>>(),
            [Bucket::Sent, Bucket::Assumed, Bucket::MaybeTwice]
        );
        assert_eq!(buckets(&Change::Copy.of(&twice)).collect::<Vec<_>>(), [Bucket::Ready]);
    }
}
