//! What an ended attempt makes of its row.
//!
//! Promise: the one place where outcome, policy and retry settings meet; nothing else decides.

use std::time::Duration;

use super::outcome::{Blame, Outcome};
use super::policy::{OnUnknown, Policy};
use super::retry::{Jitter, Retry};
use super::smtp::Verdict;
use super::state::{Cause, How, State};
use super::time::Timestamp;
use super::watch::Proof;

/// What a row becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    Sent(How),
    Failed(How),
    /// Waits until `due`, then it may be claimed.
    Ready {
        due: Timestamp,
    },
    /// Stays `sending`, flagged, until evidence or a person comes.
    Unknown(Cause),
}

/// The settings of a batch that decide, frozen when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub on_unknown: OnUnknown,
    pub retry: Retry,
}

/// What the row had behind it when this attempt began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Tries that counted, without this one.
    pub tries: i64,
    /// Attempts of this generation without a known end, without this one.
    pub unknown_attempts: i64,
}

/// How a row's worker was lost, and until when its answer can still come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    pub proof: Proof,
    /// When the attempt was started.
    pub started: Timestamp,
    /// The longest time from start to answer: the deadlines `data`, `body` and `answer` together.
    pub answer_within: Duration,
}

/// How long a row keeps away from a route that is in trouble, if `retry.first` is not shorter.
const ROUTE_TROUBLE: Duration = Duration::from_secs(10);

/// Returns what the row becomes when its attempt ended with `verdict` in a living worker.
pub fn settle(
    now: Timestamp,
    verdict: &Verdict,
    rules: &Rules,
    behind: Behind,
    jitter: Jitter,
) -> Settled {
    match verdict.outcome {
        Outcome::Accepted => Settled::Sent(How::Accepted),
        // It may be our own fault: the row stays ready until a breaker has decided.
        Outcome::Refused if verdict.suspect.is_some() => {
            Settled::Ready { due: now + rules.retry.wait(1, jitter) }
        }
        Outcome::Refused => Settled::Failed(How::Refused),
        Outcome::Deferred | Outcome::NotSent if verdict.counts => {
            put_off(now, verdict.not_before, rules, behind, jitter)
        }
        Outcome::Deferred | Outcome::NotSent => {
            Settled::Ready { due: now + uncounted_wait(verdict, &rules.retry) }
        }
        Outcome::Unknown(cause) => {
            let due = now + rules.retry.wait(1, jitter);
            by_policy(cause, rules, behind, due)
        }
    }
}

/// Returns what a `sending` row becomes when its worker is swept.
///
/// `outcome` is what the step file proves (`step::outcome_of_step`), else `Unknown(Crash)`.
pub fn settle_swept(
    now: Timestamp,
    outcome: Outcome,
    lost: Lost,
    rules: &Rules,
    behind: Behind,
    jitter: Jitter,
) -> Settled {
    match outcome {
        Outcome::Accepted => Settled::Sent(How::Accepted),
        Outcome::Refused => Settled::Failed(How::Refused),
        Outcome::Deferred => put_off(now, None, rules, behind, jitter),
        Outcome::NotSent => Settled::Ready { due: now },
        Outcome::Unknown(cause) => {
            let due = match lost.proof {
                Proof::ProcessGone => now + rules.retry.wait(1, jitter),
                // It may only be out of sight: its answer can still come and settle the row.
                Proof::Silent => (lost.started + lost.answer_within).max(now),
            };
            by_policy(cause, rules, behind, due)
        }
    }
}

/// Reports whether a failed row may nevertheless have reached its person (counted apart).
pub const fn is_maybe_delivered(state: State, unknown_attempts: i64) -> bool {
    matches!(state, State::Failed) && unknown_attempts > 0
}

fn put_off(
    now: Timestamp,
    not_before: Option<Duration>,
    rules: &Rules,
    behind: Behind,
    jitter: Jitter,
) -> Settled {
    let tries = behind.tries + 1;
    if rules.retry.is_used_up(tries) {
        return Settled::Failed(How::Expired);
    }
    // Whoever sets a short `retry.first` means it, also where a server greylists.
    let least = not_before.unwrap_or_default().min(rules.retry.first);
    Settled::Ready { due: now + rules.retry.wait(tries, jitter).max(least) }
}

fn uncounted_wait(verdict: &Verdict, retry: &Retry) -> Duration {
    match verdict.blame {
        // The route itself backs off; the row only makes room for others meanwhile.
        Blame::Endpoint => ROUTE_TROUBLE.min(retry.first),
        Blame::Row | Blame::Connection | Blame::Batch => Duration::ZERO,
    }
}

fn by_policy(cause: Cause, rules: &Rules, behind: Behind, due: Timestamp) -> Settled {
    match rules.on_unknown.of(cause) {
        Policy::AssumeSent => Settled::Sent(How::Assumed),
        // To fail it would say that the person has no mail, and nobody knows that.
        Policy::Resend if rules.retry.is_used_up(behind.tries + 1) => Settled::Unknown(cause),
        Policy::Resend => Settled::Ready { due },
        Policy::Hold => Settled::Unknown(cause),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::outcome::Phase;
    use crate::domain::smtp::{Event, Loss, classify};

    const NOW: Timestamp = Timestamp(1_000_000_000_000);
    const MINUTE: Duration = Duration::from_mins(1);

    fn rules(policy: Policy) -> Rules {
        let retry = Retry { attempts: 3, first: MINUTE * 5, last: MINUTE * 240 };
        Rules { on_unknown: OnUnknown::one_word(policy), retry }
    }

    fn tries(tries: i64) -> Behind {
        Behind { tries, unknown_attempts: 0 }
    }

    fn end(phase: Phase, event: &Event, rules: &Rules, behind: Behind) -> Settled {
        settle(NOW, &classify(phase, event), rules, behind, Jitter::NONE)
    }

    fn ready(wait: Duration) -> Settled {
        Settled::Ready { due: NOW + wait }
    }

    #[rstest]
    #[case::a_yes_is_sent(Phase::Dot, Event::reply(250, "ok"), Settled::Sent(How::Accepted))]
    #[case::a_no_is_failed(
        Phase::Rcpt,
        Event::reply(550, "5.1.1 no"),
        Settled::Failed(How::Refused)
    )]
    #[case::a_no_that_may_be_our_fault_stays_ready(
        Phase::Rcpt, Event::reply(550, "5.7.1 no"), ready(MINUTE * 5))]
    #[case::a_refused_sender_leaves_the_row_ready(
        Phase::Mail,
        Event::reply(550, "5.1.8 no"),
        ready(Duration::ZERO)
    )]
    #[case::a_lost_connection_is_tried_at_once(
        Phase::Mail,
        Event::Lost(Loss::Eof),
        ready(Duration::ZERO)
    )]
    #[case::too_many_recipients_are_tried_at_once(
        Phase::Rcpt,
        Event::reply(452, "4.5.3 many"),
        ready(Duration::ZERO)
    )]
    #[case::a_route_in_trouble_is_left_alone_a_moment(
        Phase::Mail,
        Event::reply(421, "busy"),
        ready(Duration::from_secs(10))
    )]
    #[case::greylisting_waits_five_minutes(
        Phase::Rcpt, Event::reply(450, "greylisted"), ready(MINUTE * 5))]
    #[case::not_now_waits_for_the_second_wait(
        Phase::Dot, Event::reply(450, "later"), ready(MINUTE * 10))]
    fn what_an_answer_makes_of_a_row(
        #[case] phase: Phase,
        #[case] event: Event,
        #[case] settled: Settled,
    ) {
        let behind = tries(i64::from(phase == Phase::Dot));
        assert_eq!(end(phase, &event, &rules(Policy::Hold), behind), settled);
    }

    #[test]
    fn used_up_tries_fail_as_expired_and_keep_the_last_reply() {
        let later = Event::reply(450, "later");
        assert_eq!(
            end(Phase::Rcpt, &later, &rules(Policy::Hold), tries(2)),
            Settled::Failed(How::Expired)
        );
    }

    #[test]
    fn our_own_fault_and_the_routes_never_use_up_tries() {
        for (phase, event) in [
            (Phase::Mail, Event::Lost(Loss::Eof)),
            (Phase::Mail, Event::reply(421, "")),
            (Phase::Mail, Event::reply(550, "")),
            (Phase::Rcpt, Event::reply(554, "")),
            (Phase::Dot, Event::reply(552, "")),
        ] {
            let settled = end(phase, &event, &rules(Policy::Hold), tries(99));
            assert!(matches!(settled, Settled::Ready { .. }), "{phase} {event:?}");
        }
    }

    #[test]
    fn greylisting_waits_shorter_only_where_the_first_wait_is_shorter() {
        let second = Duration::from_secs(1);
        let retry = Retry { attempts: 3, first: second, last: MINUTE };
        let rules = Rules { retry, ..rules(Policy::Hold) };
        let grey = Event::reply(450, "greylisted");
        assert_eq!(end(Phase::Rcpt, &grey, &rules, tries(0)), ready(second));
    }

    #[rstest]
    #[case::assume_sent(Policy::AssumeSent, Settled::Sent(How::Assumed))]
    #[case::resend(Policy::Resend, ready(MINUTE * 5))]
    #[case::hold(Policy::Hold, Settled::Unknown(Cause::NoAnswer))]
    fn an_unanswered_dot_follows_the_policy(#[case] policy: Policy, #[case] settled: Settled) {
        let silence = Event::Lost(Loss::Timeout);
        assert_eq!(end(Phase::Dot, &silence, &rules(policy), tries(0)), settled);
    }

    #[test]
    fn an_unknown_last_try_is_held_and_does_not_fail() {
        let silence = Event::Lost(Loss::Timeout);
        assert_eq!(
            end(Phase::Dot, &silence, &rules(Policy::Resend), tries(2)),
            Settled::Unknown(Cause::NoAnswer)
        );
    }

    #[test]
    fn each_cause_has_its_own_policy() {
        let on_unknown = OnUnknown {
            no_answer: Policy::AssumeSent,
            crash: Policy::Hold,
            server_error: Policy::Resend,
        };
        let rules = Rules { on_unknown, ..rules(Policy::Hold) };
        let silence = Event::Lost(Loss::Timeout);
        assert_eq!(end(Phase::Dot, &silence, &rules, tries(0)), Settled::Sent(How::Assumed));
        assert_eq!(
            swept(Outcome::Unknown(Cause::Crash), Proof::ProcessGone, &rules, 0),
            Settled::Unknown(Cause::Crash)
        );
    }

    fn swept(outcome: Outcome, proof: Proof, rules: &Rules, behind: i64) -> Settled {
        let lost = Lost { proof, started: NOW, answer_within: MINUTE * 15 };
        settle_swept(NOW + MINUTE, outcome, lost, rules, tries(behind), Jitter::NONE)
    }

    #[rstest]
    #[case::proved_dead_goes_out_after_the_first_wait(Proof::ProcessGone, ready(MINUTE * 6))]
    #[case::only_silent_waits_until_no_answer_can_come(Proof::Silent, ready(MINUTE * 15))]
    fn a_swept_unknown_under_resend(#[case] proof: Proof, #[case] settled: Settled) {
        let outcome = Outcome::Unknown(Cause::Crash);
        assert_eq!(swept(outcome, proof, &rules(Policy::Resend), 0), settled);
    }

    #[test]
    fn a_swept_unknown_whose_time_is_over_goes_out_now() {
        let lost = Lost { proof: Proof::Silent, started: NOW, answer_within: MINUTE };
        let later = NOW + MINUTE * 9;
        let settled = settle_swept(
            later,
            Outcome::Unknown(Cause::Crash),
            lost,
            &rules(Policy::Resend),
            tries(0),
            Jitter::NONE,
        );
        assert_eq!(settled, Settled::Ready { due: later });
    }

    #[rstest]
    #[case::accepted(Outcome::Accepted, Settled::Sent(How::Accepted))]
    #[case::refused(Outcome::Refused, Settled::Failed(How::Refused))]
    #[case::not_sent(Outcome::NotSent, ready(MINUTE))]
    #[case::deferred(Outcome::Deferred, ready(MINUTE * 6))]
    fn what_the_step_file_proves_counts_more_than_the_policy(
        #[case] outcome: Outcome,
        #[case] settled: Settled,
    ) {
        assert_eq!(swept(outcome, Proof::ProcessGone, &rules(Policy::AssumeSent), 0), settled);
    }

    #[test]
    fn a_failed_row_with_an_unknown_attempt_may_have_been_delivered() {
        assert!(is_maybe_delivered(State::Failed, 1));
        assert!(!is_maybe_delivered(State::Failed, 0));
        assert!(!is_maybe_delivered(State::Sent, 1));
    }
}
