//! Every cell of the table by name.

use std::time::Duration;

use rstest::rstest;

use super::*;
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::smtp::{Pause, Suspect};
use crate::domain::state::Cause;

/// What a call came to, in the words of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Accepted,
    AcceptedToReview,
    Refused,
    /// A clear no, of which the breaker decides whose fault it is.
    Suspect,
    NotSent,
    /// Nothing was taken; everybody comes back later.
    RouteLater,
    RouteAway,
    Unknown(Cause),
    /// Unknown, and everybody backs off.
    Trouble,
    Pause(Pause),
    UnknownAndPause,
}

fn means(verdict: Verdict) -> Means {
    match (verdict.outcome, verdict.pause, verdict.blame) {
        (Outcome::Accepted, None, _) if verdict.review => Means::AcceptedToReview,
        (Outcome::Accepted, None, _) => Means::Accepted,
        (Outcome::Refused, None, _) if verdict.suspect == Some(Suspect::Content) => Means::Suspect,
        (Outcome::Refused, None, Blame::Row) => Means::Refused,
        (Outcome::NotSent, None, Blame::Connection) => Means::NotSent,
        (Outcome::NotSent, None, Blame::Endpoint) => Means::RouteAway,
        (Outcome::Deferred, None, Blame::Endpoint) => Means::RouteLater,
        (Outcome::Unknown(Cause::ServerError), None, Blame::Endpoint) => Means::Trouble,
        (Outcome::Unknown(cause), None, _) => Means::Unknown(cause),
        (Outcome::NotSent, Some(why), Blame::Batch) => Means::Pause(why),
        (Outcome::Unknown(_), Some(Pause::Service), Blame::Batch) => Means::UnknownAndPause,
        other => panic!("no cell of the table: {other:?}"),
    }
}

fn answer(status: u16, body: Body) -> Answer {
    Answer {
        status,
        body,
        retry_after: None,
        keyed: false,
        promised: false,
        names_recipient: false,
    }
}

fn of(answer: Answer) -> Means {
    means(classify(&Event::Answer(answer)))
}

#[rstest]
#[case::ok_with_an_id_is_accepted(200, Body::Yes, Means::Accepted)]
#[case::created_is_accepted(201, Body::Yes, Means::Accepted)]
#[case::queued_at_the_provider_is_accepted(202, Body::NotAsked, Means::Accepted)]
#[case::an_empty_yes_is_accepted(204, Body::NotAsked, Means::Accepted)]
#[case::a_yes_without_its_id_is_accepted_and_looked_at(200, Body::NoId, Means::AcceptedToReview)]
#[case::no_in_the_body_is_a_refusal_whatever_the_status(200, Body::No, Means::Suspect)]
#[case::neither_yes_nor_no_in_the_body_is_unknown(
    200,
    Body::Undecided,
    Means::Unknown(Cause::NoAnswer)
)]
#[case::a_yes_cut_in_its_body_is_unknown(200, Body::Cut, Means::Unknown(Cause::NoAnswer))]
#[case::moved_for_good_is_never_followed(301, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::found_is_never_followed(302, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::moved_for_now_is_never_followed(307, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::permanent_redirect_is_never_followed(308, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::see_other_was_processed_and_is_unknown(303, Body::NotAsked, Means::UnknownAndPause)]
#[case::a_bad_request_is_for_the_breaker(400, Body::No, Means::Suspect)]
#[case::unprocessable_is_for_the_breaker(422, Body::NoId, Means::Suspect)]
#[case::unauthorized_pauses(401, Body::NotAsked, Means::Pause(Pause::Credential))]
#[case::forbidden_pauses(403, Body::NotAsked, Means::Pause(Pause::Credential))]
#[case::unpaid_pauses(402, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::a_wrong_address_of_the_api_pauses(404, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::a_wrong_method_pauses(405, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::an_answer_in_no_wanted_form_pauses(406, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::a_wrong_content_type_pauses(415, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::not_implemented_pauses(501, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::an_old_http_pauses(505, Body::NotAsked, Means::Pause(Pause::Service))]
#[case::request_timeout_was_not_sent(408, Body::NotAsked, Means::NotSent)]
#[case::misdirected_was_not_sent(421, Body::NotAsked, Means::NotSent)]
#[case::too_early_was_not_sent(425, Body::NotAsked, Means::NotSent)]
#[case::a_conflict_without_a_key_proves_nothing(
    409,
    Body::NotAsked,
    Means::Unknown(Cause::ServerError)
)]
#[case::too_large_is_for_the_breaker(413, Body::NotAsked, Means::Suspect)]
#[case::too_many_requests_is_later(429, Body::NotAsked, Means::RouteLater)]
#[case::a_4xx_nobody_knows_is_for_the_breaker(418, Body::NotAsked, Means::Suspect)]
#[case::internal_error_proves_nothing(500, Body::NotAsked, Means::Trouble)]
#[case::bad_gateway_proves_nothing(502, Body::NotAsked, Means::Trouble)]
#[case::unavailable_proves_nothing(503, Body::NotAsked, Means::Trouble)]
#[case::gateway_timeout_proves_nothing(504, Body::NotAsked, Means::Trouble)]
#[case::an_edge_that_got_an_odd_answer_proves_nothing(520, Body::NotAsked, Means::Trouble)]
#[case::an_edge_that_waited_in_vain_proves_nothing(524, Body::NotAsked, Means::Trouble)]
#[case::a_5xx_nobody_knows_proves_nothing(599, Body::NotAsked, Means::Trouble)]
#[case::an_edge_that_was_turned_away_sent_nothing(521, Body::NotAsked, Means::RouteAway)]
#[case::an_edge_that_could_not_connect_sent_nothing(522, Body::NotAsked, Means::RouteAway)]
#[case::an_edge_without_a_way_sent_nothing(523, Body::NotAsked, Means::RouteAway)]
#[case::an_edge_whose_handshake_failed_sent_nothing(525, Body::NotAsked, Means::RouteAway)]
#[case::an_edge_that_did_not_trust_sent_nothing(526, Body::NotAsked, Means::RouteAway)]
#[case::a_first_digit_that_is_none_is_unknown(700, Body::NotAsked, Means::Unknown(Cause::NoAnswer))]
#[case::a_switch_of_protocols_is_unknown(101, Body::NotAsked, Means::Unknown(Cause::NoAnswer))]
fn an_answer_without_key_or_promise(
    #[case] status: u16,
    #[case] body: Body,
    #[case] expected: Means,
) {
    assert_eq!(of(answer(status, body)), expected);
}

#[rstest]
#[case::no_answer_in_time_is_unknown(Event::Lost(Loss::Timeout), Means::Unknown(Cause::NoAnswer))]
#[case::a_reset_is_unknown(Event::Lost(Loss::Reset), Means::Unknown(Cause::NoAnswer))]
#[case::a_closed_connection_is_unknown(Event::Lost(Loss::Eof), Means::Unknown(Cause::NoAnswer))]
#[case::nonsense_is_unknown(Event::Malformed, Means::Unknown(Cause::NoAnswer))]
#[case::our_own_stop_is_unknown(Event::Cancelled, Means::Unknown(Cause::NoAnswer))]
#[case::a_shut_gate_was_not_sent(Event::Fenced, Means::NotSent)]
#[case::a_request_that_was_not_all_written_was_not_sent(
    Event::NotWritten(Loss::Reset),
    Means::NotSent
)]
#[case::a_stalled_request_that_was_not_all_written_was_not_sent(
    Event::NotWritten(Loss::Timeout),
    Means::NotSent
)]
fn no_answer(#[case] event: Event, #[case] expected: Means) {
    assert_eq!(means(classify(&event)), expected);
    assert!(!classify(&event).keep_connection);
}

#[test]
fn a_conflict_about_our_own_key_is_unknown_until_the_first_call_is_known() {
    let conflict = Answer { keyed: true, ..answer(409, Body::NotAsked) };
    assert_eq!(of(conflict), Means::Unknown(Cause::NoAnswer));
}

#[rstest]
#[case::a_bad_request_is_a_refusal(400, Body::NotAsked, Means::Refused)]
#[case::unprocessable_is_a_refusal(422, Body::NotAsked, Means::Refused)]
#[case::no_in_the_body_is_a_refusal(200, Body::No, Means::Refused)]
#[case::yes_stays_yes(200, Body::Yes, Means::Accepted)]
#[case::nothing_readable_stays_unknown(200, Body::Undecided, Means::Unknown(Cause::NoAnswer))]
#[case::a_credential_stays_one(401, Body::NotAsked, Means::Pause(Pause::Credential))]
#[case::an_internal_error_still_proves_nothing(500, Body::NotAsked, Means::Trouble)]
fn an_answer_that_names_the_recipient(
    #[case] status: u16,
    #[case] body: Body,
    #[case] expected: Means,
) {
    assert_eq!(of(Answer { names_recipient: true, ..answer(status, body) }), expected);
}

#[test]
fn a_promise_makes_a_5xx_a_later_and_nothing_else() {
    let promised = |status| of(Answer { promised: true, ..answer(status, Body::NotAsked) });
    assert_eq!(promised(503), Means::RouteLater);
    assert_eq!(promised(500), Means::RouteLater);
    assert_eq!(promised(202), Means::Accepted);
    assert_eq!(promised(429), Means::RouteLater);
}

#[rstest]
#[case::too_many_requests(429)]
#[case::unavailable(503)]
#[case::internal_error(500)]
fn the_route_waits_as_long_as_it_is_asked_to(#[case] status: u16) {
    let wait = Some(Duration::from_secs(77));
    let asked = Answer { retry_after: wait, ..answer(status, Body::NotAsked) };
    assert_eq!(classify(&Event::Answer(asked)).not_before, wait);
}

#[test]
fn a_wait_of_nothing_is_a_moment_all_the_same() {
    let asked = Answer { retry_after: Some(Duration::ZERO), ..answer(429, Body::NotAsked) };
    assert_eq!(classify(&Event::Answer(asked)).not_before, Some(Duration::from_secs(1)));
}

#[test]
fn an_unknown_call_counts_as_a_try_and_a_later_one_does_not() {
    assert!(classify(&Event::Answer(answer(500, Body::NotAsked))).counts);
    assert!(classify(&Event::Lost(Loss::Timeout)).counts);
    assert!(!classify(&Event::Answer(answer(429, Body::NotAsked))).counts);
    assert!(!classify(&Event::Answer(answer(401, Body::NotAsked))).counts);
}

#[test]
fn no_answer_but_a_complete_2xx_ever_counts_as_accepted() {
    let bodies = [Body::NotAsked, Body::Yes, Body::No, Body::NoId, Body::Undecided, Body::Cut];
    for status in 100..1000 {
        for body in bodies {
            for (keyed, promised) in [(false, false), (true, false), (false, true), (true, true)] {
                let answer = Answer { keyed, promised, ..answer(status, body) };
                let verdict = classify(&Event::Answer(answer));
                let complete = matches!(body, Body::NotAsked | Body::Yes | Body::NoId);
                let accepted = verdict.outcome == Outcome::Accepted;
                assert_eq!(accepted, status / 100 == 2 && complete, "{answer:?}");
                // No status fails a row by itself: the breaker, the policy or a person does.
                assert!(verdict.outcome != Outcome::Refused || verdict.suspect.is_some());
            }
        }
    }
}

#[test]
fn a_key_is_repeated_only_well_inside_its_window() {
    use crate::domain::time::Timestamp;
    let first = Timestamp(1_000_000);
    let day = Duration::from_hours(24);
    assert_eq!(repeatable_until(first, day), first + Duration::from_mins(24 * 60 - 144));
}
