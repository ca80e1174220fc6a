//! What an older system says became of a mail.
//!
//! Promise: its word is taken for what it says and for no more: what it had in its hands is unknown
//! here and waits for a person, whatever the kind's policy.

use super::plan::Seen;
use super::state::{Cause, Flag, How, State};
use super::time::Timestamp;

/// What became of one mail before this ledger knew it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    pub state: State,
    pub attempts: i64,
    /// When it came to that, if the older system says so.
    pub settled_at: Option<Timestamp>,
}

impl Past {
    /// Returns what is known of a mail; one that was handed over was tried once at least.
    pub fn of(state: State, attempts: Option<i64>, settled_at: Option<Timestamp>) -> Self {
        let least = i64::from(matches!(state, State::Sent | State::Sending));
        Self { state, attempts: attempts.unwrap_or(least).max(least), settled_at }
    }

    /// Reports whether it is still to be sent, like the mail of anybody else in a list.
    pub const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Returns the row as the ledger keeps it.
    pub const fn row(&self) -> Seen {
        let (how, flag) = match self.state {
            State::Ready => (None, None),
            State::Sending => (None, Some(Flag::Unknown)),
            State::Sent => (Some(How::Imported), None),
            State::Failed => (Some(How::Imported), Some(Flag::Failed)),
        };
        Seen {
            state: self.state,
            how,
            flag,
            held: false,
            unknown_attempts: matches!(self.state, State::Sending) as i64,
            handed_again: false,
        }
    }

    /// Returns why nobody knows what became of it: whoever had it in hands is gone.
    pub const fn cause(&self) -> Option<Cause> {
        match self.state {
            State::Sending => Some(Cause::Crash),
            State::Ready | State::Sent | State::Failed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::batch::Bucket;
    use crate::domain::plan::buckets;

    #[test]
    fn what_was_in_the_air_is_unknown_and_never_ready() {
        let row = Past::of(State::Sending, None, None).row();
        assert!(row.is_unknown());
        let places: Vec<_> = buckets(&row).collect();
        assert_eq!(places, [Bucket::Sending, Bucket::Unknown]);
    }

    #[test]
    fn a_mail_that_was_handed_over_was_tried_once_at_least() {
        let attempts = |state, said| Past::of(state, said, None).attempts;
        assert_eq!((attempts(State::Sent, None), attempts(State::Sent, Some(0))), (1, 1));
        assert_eq!((attempts(State::Failed, None), attempts(State::Failed, Some(4))), (0, 4));
        assert_eq!(attempts(State::Ready, None), 0);
    }
}
