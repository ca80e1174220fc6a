//! Every cell of the outcome table, one named case each.

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::{
    Auth, Body, Data, Dot, Ehlo, File, Greeting, Mail, Rcpt, Rset, StartTls,
};

mod answer;
mod opening;
mod rcpt;
mod silence;

/// Says a verdict in words, so that a table of cases reads like the table it tests.
fn say(verdict: Verdict) -> String {
    let Verdict { outcome, blame, counts, not_before, suspect, review, keep_connection, pause } =
        verdict;
    let mut words = vec![outcome.as_str().to_owned(), blame.as_str().to_owned()];
    if counts {
        words.push("counted".to_owned());
    }
    if let Some(wait) = not_before {
        words.push(format!("after {} min", wait.as_secs() / 60));
    }
    if let Some(suspect) = suspect {
        words.push(format!("suspect {suspect:?}").to_lowercase());
    }
    if let Some(pause) = pause {
        words.push(format!("pause {pause:?}").to_lowercase());
    }
    if review {
        words.push("review".to_owned());
    }
    words.push(if keep_connection { "keep" } else { "close" }.to_owned());
    words.join(", ")
}

/// Makes an event out of `550 5.1.1 no such user`.
fn answer(line: &str) -> Event {
    let (code, text) = line.split_at(3);
    Event::reply(code.parse().unwrap(), text.trim_start())
}

#[rstest]
#[case::greeting(Greeting, &[220])]
#[case::starttls(StartTls, &[220])]
#[case::login(Auth, &[235])]
#[case::only_354_lets_the_body_begin(Data, &[354])]
#[case::recipient_taken_forwarded_or_not_verified(Rcpt, &[250, 251, 252, 299])]
#[case::sender(Mail, &[250])]
#[case::hello(Ehlo, &[250])]
#[case::reset(Rset, &[250])]
fn the_dialogue_goes_on_only_after_the_right_code(#[case] phase: Phase, #[case] codes: &[u16]) {
    assert!(codes.iter().all(|&code| goes_on(phase, code)));
    let others = [150, 200, 220, 235, 250, 334, 354, 421, 450, 550, 850];
    let only_2yz = matches!(phase, Ehlo | Mail | Rcpt | Rset);
    for code in others.into_iter().filter(|c| !codes.contains(c)) {
        assert_eq!(goes_on(phase, code), only_2yz && code / 100 == 2, "{code}");
    }
}

#[test]
fn nothing_is_accepted_or_unknown_before_the_dot() {
    let codes = (100..1000).map(|code| Event::reply(code, ""));
    let others = [Event::Malformed, Event::Lost(Loss::Eof), Event::Cancelled, Event::Fenced];
    for event in codes.chain(others) {
        for &phase in Phase::ALL.iter().filter(|&&p| p != Dot && p != File && p != Phase::Request) {
            let outcome = classify(phase, &event).outcome;
            assert!(
                !matches!(outcome, Outcome::Accepted | Outcome::Unknown(_)),
                "{phase} {event:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn after_the_dot_only_a_complete_4yz_or_5yz_says_no_and_only_2yz_says_yes() {
    for code in 100..1000 {
        for text in ["", "4.7.1 x", "5.1.1 x", "2.0.0 x", "4.7.28 x", "too many recipients"] {
            let outcome = classify(Dot, &Event::reply(code, text)).outcome;
            let expected = match code / 100 {
                2 => outcome == Outcome::Accepted,
                4 | 5 => !matches!(outcome, Outcome::Accepted | Outcome::Unknown(_)),
                _ => matches!(outcome, Outcome::Unknown(_)),
            };
            assert!(expected, "{code} {text}: {outcome:?}");
        }
    }
}

#[test]
fn what_is_not_the_rows_fault_never_counts_against_it() {
    for code in 100..1000 {
        for text in ["", "5.7.1 x", "4.3.1 x", "5.5.3 x", "4.7.28 x"] {
            for &phase in Phase::ALL {
                let verdict = classify(phase, &Event::reply(code, text));
                let unknown = matches!(verdict.outcome, Outcome::Unknown(_));
                assert_eq!(verdict.counts, verdict.blame == Blame::Row || unknown, "{code} {text}");
                assert!(verdict.pause.is_none() || verdict.outcome == Outcome::NotSent);
            }
        }
    }
}

#[test]
fn a_connection_that_was_lost_stopped_or_surprised_is_never_used_again() {
    let out_of_step = (100..1000).filter(|code| !(200..600).contains(code) || code / 100 == 3);
    let surprises = out_of_step.map(|code| Event::reply(code, ""));
    let losses = [Loss::Timeout, Loss::Eof, Loss::Reset].map(Event::Lost);
    let ours = [Event::Malformed, Event::Cancelled, Event::Fenced];
    for event in surprises.chain(losses).chain(ours) {
        for &phase in Phase::ALL {
            assert!(!classify(phase, &event).keep_connection, "{phase} {event:?}");
        }
    }
    for phase in [Mail, Rcpt, Data, Body] {
        assert!(!classify(phase, &Event::reply(250, "")).keep_connection, "{phase}");
    }
}

#[test]
fn f33_a_421_closes_the_connection_in_every_phase_and_blames_no_row() {
    for phase in [Greeting, Ehlo, StartTls, Auth, Mail, Rcpt, Data, Body, Dot] {
        for text in
            ["", "4.7.0 busy", "4.4.2 timeout", "4.2.1 x", "4.1.8 x", "too many connections"]
        {
            let verdict = classify(phase, &Event::reply(421, text));
            assert_eq!(verdict.blame, Blame::Endpoint, "{phase} {text}");
            assert_eq!(verdict.outcome, Outcome::Deferred);
            assert!(!verdict.counts && !verdict.keep_connection);
        }
    }
}

#[test]
fn a_code_nobody_has_heard_of_counts_by_its_first_digit() {
    let known = [421, 450, 451, 452, 500, 501, 502, 503, 504, 521, 530, 535, 550, 551, 552, 553];
    for code in (400..600).filter(|c| !known.contains(c) && ![554, 555].contains(c)) {
        for phase in [Rcpt, Dot] {
            let outcome = classify(phase, &Event::reply(code, "hm")).outcome;
            let by_digit = if code < 500 { Outcome::Deferred } else { Outcome::Refused };
            assert_eq!(outcome, by_digit, "{phase} {code}");
        }
    }
}

#[test]
fn a_suspect_refusal_is_no_evidence_against_its_row() {
    let suspect = classify(Rcpt, &answer("550 5.7.1 no"));
    assert_eq!((suspect.outcome, suspect.as_evidence()), (Outcome::Refused, Outcome::NotSent));
    let plain = classify(Rcpt, &answer("550 5.1.1 no"));
    assert_eq!(plain.as_evidence(), Outcome::Refused);
}

#[rstest]
#[case::a_reply_is_shown_with_its_code(answer("550 5.1.1 no such user"), "550 5.1.1 no such user")]
#[case::a_reply_without_text_is_its_code(answer("250"), "250")]
#[case::a_reply_of_two_lines_is_one(answer("550 no\n  really"), "550 no / really")]
#[case::a_hostile_reply_is_written_out(answer("550 \x1b[2J"), "550 \\u{1b}[2J")]
#[case::what_is_no_reply_is_said(Event::Lost(Loss::Timeout), "no answer in time")]
#[case::what_is_missing_is_named(Event::NotOffered("AUTH"), "the server does not offer AUTH")]
fn an_event_has_words_that_are_safe_to_show(#[case] event: Event, #[case] words: &str) {
    assert_eq!(event.to_string(), words);
}
