//! What an answer means that came after its worker was given up.
//!
//! Promise: a late yes settles the row unless a person has decided; a late no settles it only where
//! it still answers the row's own question. Everything else is kept and, if it contradicts, shown.

use super::id::{Attempt, Generation};
use super::outcome::Outcome;
use super::settle::Settled;
use super::state::{How, State};
use super::time::Timestamp;

/// The row as it stands when the evidence arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub state: State,
    pub how: Option<How>,
    pub attempt: Attempt,
    pub generation: Generation,
    /// Attempts of this generation without a known end.
    pub unknown_attempts: i64,
    /// A person marked or resent the row after the attempt was given up.
    pub decided: bool,
    /// `retry.attempts` is used up.
    pub used_up: bool,
}

/// What was learned about one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    pub attempt: Attempt,
    pub generation: Generation,
    /// A refusal that may be our own fault comes as `NotSent` (`Verdict::as_evidence`).
    pub outcome: Outcome,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The row becomes this; the attempt is no longer one without a known end.
    Settles(Settled),
    /// It is only kept.
    Keep,
    /// It is kept, and shown because it contradicts the row.
    Conflict,
}

impl Late {
    /// Returns the word stored as `evidence.became`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settles(_) => "settled",
            Self::Keep => "kept",
            Self::Conflict => "conflict",
        }
    }
}

/// Decides what late evidence makes of a row; `due` is when it may go out again if it has to.
pub fn weigh(row: &Standing, learned: &Learned, due: Timestamp) -> Late {
    if learned.generation != row.generation {
        return Late::Keep;
    }
    match learned.outcome {
        Outcome::Accepted => late_yes(row),
        Outcome::Unknown(_) => Late::Keep,
        // What became of an older attempt says nothing about this one.
        _ if learned.attempt != row.attempt => Late::Keep,
        Outcome::Refused => late_no(row, Settled::Failed(How::Refused)),
        Outcome::Deferred if row.used_up => late_no(row, Settled::Failed(How::Expired)),
        Outcome::Deferred | Outcome::NotSent => late_no(row, Settled::Ready { due }),
    }
}

/// The server took some attempt of this generation: the person has the mail.
fn late_yes(row: &Standing) -> Late {
    let open = match row.state {
        State::Ready | State::Sending => true,
        State::Sent => row.how == Some(How::Assumed),
        State::Failed => row.how == Some(How::Refused),
    };
    if open && !row.decided {
        return Late::Settles(Settled::Sent(How::Accepted));
    }
    match row.state {
        State::Sent => Late::Keep,
        State::Ready | State::Sending | State::Failed => Late::Conflict,
    }
}

/// The row's own attempt was not taken.
fn late_no(row: &Standing, becomes: Settled) -> Late {
    let open = match row.state {
        State::Ready => row.unknown_attempts > 0,
        // Also before the sweep has flagged it: nobody but its worker could finish this attempt.
        State::Sending => true,
        State::Sent => row.how == Some(How::Assumed),
        State::Failed => false,
    };
    if open && !row.decided {
        return Late::Settles(becomes);
    }
    match row.state {
        State::Sent => Late::Conflict,
        State::Ready | State::Sending | State::Failed => Late::Keep,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::state::Cause;
    use How::{Assumed, Cancelled, Evidence, Expired, Imported, Operator, Refused};
    use State::{Failed, Ready, Sending, Sent};

    const DUE: Timestamp = Timestamp(7);
    const YES: Late = Late::Settles(Settled::Sent(How::Accepted));
    const NO: Late = Late::Settles(Settled::Failed(Refused));
    const AGAIN: Late = Late::Settles(Settled::Ready { due: DUE });

    /// A row at attempt 2 of generation 1 whose attempt is not known, as a sweep left it.
    fn row(state: State, how: Option<How>) -> Standing {
        Standing {
            state,
            how,
            attempt: Attempt(2),
            generation: Generation(1),
            unknown_attempts: 1,
            decided: false,
            used_up: false,
        }
    }

    fn about(attempt: i64, outcome: Outcome) -> Learned {
        Learned { attempt: Attempt(attempt), generation: Generation(1), outcome }
    }

    #[rstest]
    #[case::a_row_that_waits_for_its_resend(Ready, None, YES, NO, AGAIN)]
    #[case::a_row_in_doubt(Sending, None, YES, NO, AGAIN)]
    #[case::a_row_assumed_sent(Sent, Some(Assumed), YES, NO, AGAIN)]
    #[case::a_row_accepted(Sent, Some(How::Accepted), Late::Keep, Late::Conflict, Late::Conflict)]
    #[case::a_row_marked_sent(Sent, Some(Operator), Late::Keep, Late::Conflict, Late::Conflict)]
    #[case::a_row_sent_by_evidence(
        Sent,
        Some(Evidence),
        Late::Keep,
        Late::Conflict,
        Late::Conflict
    )]
    #[case::a_row_taken_over(Sent, Some(Imported), Late::Keep, Late::Conflict, Late::Conflict)]
    #[case::a_row_refused(Failed, Some(Refused), YES, Late::Keep, Late::Keep)]
    #[case::a_row_marked_failed(Failed, Some(Operator), Late::Conflict, Late::Keep, Late::Keep)]
    #[case::a_row_expired(Failed, Some(Expired), Late::Conflict, Late::Keep, Late::Keep)]
    #[case::a_row_cancelled(Failed, Some(Cancelled), Late::Conflict, Late::Keep, Late::Keep)]
    fn evidence_about_the_rows_own_attempt(
        #[case] state: State,
        #[case] how: Option<How>,
        #[case] accepted: Late,
        #[case] refused: Late,
        #[case] put_off: Late,
    ) {
        let row = row(state, how);
        assert_eq!(weigh(&row, &about(2, Outcome::Accepted), DUE), accepted);
        assert_eq!(weigh(&row, &about(2, Outcome::Refused), DUE), refused);
        assert_eq!(weigh(&row, &about(2, Outcome::Deferred), DUE), put_off);
        assert_eq!(weigh(&row, &about(2, Outcome::NotSent), DUE), put_off);
        assert_eq!(weigh(&row, &about(2, Outcome::Unknown(Cause::Crash)), DUE), Late::Keep);
    }

    #[rstest]
    #[case::ready(Ready, None, YES)]
    #[case::in_the_air_again(Sending, None, YES)]
    #[case::assumed(Sent, Some(Assumed), YES)]
    #[case::refused(Failed, Some(Refused), YES)]
    #[case::marked_failed(Failed, Some(Operator), Late::Conflict)]
    fn t3_a_late_yes_of_an_older_attempt_settles_the_row_and_a_late_no_does_not(
        #[case] state: State,
        #[case] how: Option<How>,
        #[case] accepted: Late,
    ) {
        let row = row(state, how);
        assert_eq!(weigh(&row, &about(1, Outcome::Accepted), DUE), accepted);
        for outcome in [Outcome::Refused, Outcome::Deferred, Outcome::NotSent] {
            assert_eq!(weigh(&row, &about(1, outcome), DUE), Late::Keep);
        }
    }

    #[test]
    fn t2_evidence_about_another_copy_is_only_kept() {
        for state in [Ready, Sending] {
            let row = Standing { generation: Generation(2), ..row(state, None) };
            for outcome in [Outcome::Accepted, Outcome::Refused, Outcome::NotSent] {
                assert_eq!(weigh(&row, &about(2, outcome), DUE), Late::Keep);
            }
        }
    }

    #[rstest]
    #[case::resent_by_a_person(Ready, None, Late::Conflict, Late::Keep)]
    #[case::resent_and_in_the_air(Sending, None, Late::Conflict, Late::Keep)]
    #[case::marked_failed(Failed, Some(Operator), Late::Conflict, Late::Keep)]
    #[case::marked_sent(Sent, Some(Operator), Late::Keep, Late::Conflict)]
    #[case::assumed_and_looked_at(Sent, Some(Assumed), Late::Keep, Late::Conflict)]
    #[case::refused_again_after_a_person_resent(Failed, Some(Refused), Late::Conflict, Late::Keep)]
    fn evidence_never_overturns_a_person(
        #[case] state: State,
        #[case] how: Option<How>,
        #[case] accepted: Late,
        #[case] refused: Late,
    ) {
        let row = Standing { decided: true, ..row(state, how) };
        assert_eq!(weigh(&row, &about(2, Outcome::Accepted), DUE), accepted);
        assert_eq!(weigh(&row, &about(2, Outcome::Refused), DUE), refused);
    }

    #[test]
    fn a_late_no_leaves_a_ready_row_alone_that_was_never_in_doubt() {
        let row = Standing { unknown_attempts: 0, ..row(Ready, None) };
        assert_eq!(weigh(&row, &about(2, Outcome::Refused), DUE), Late::Keep);
    }

    #[test]
    fn a_late_not_now_expires_a_row_whose_tries_are_used_up() {
        let row = Standing { used_up: true, ..row(Sending, None) };
        let expired = Late::Settles(Settled::Failed(Expired));
        assert_eq!(weigh(&row, &about(2, Outcome::Deferred), DUE), expired);
        assert_eq!(weigh(&row, &about(2, Outcome::NotSent), DUE), AGAIN);
    }
}
