//! Whose fault it is: the recipient's, or everybody's.

use super::*;
use crate::domain::outcome::Outcome;

#[test]
fn a_suspect_refusal_is_believed_after_three_accepted_messages() {
    let mut batch = Told::new();
    assert_eq!(batch.suspects(1), Ruling::default());
    assert!(batch.accepts(2).is_empty());
    assert!(batch.accepts(3).is_empty());
    assert_eq!(batch.accepts(4), [1]);
    assert!(batch.accepts(5).is_empty());
}

#[test]
fn suspects_with_accepted_messages_in_between_are_not_in_a_row() {
    let mut batch = Told::new();
    for row in 0..30 {
        assert_eq!(batch.suspects(row).pause, None);
        batch.accepts(100 + row);
    }
}

#[test]
fn a_bad_address_as_first_row_does_not_stop_the_rest() {
    let mut batch = Told::new();
    let bad = Event::reply(503, "bad address");
    assert_eq!(batch.hears(1, Phase::Rcpt, &bad), Ruling::default());
    let failed: Vec<i64> = (2..6).flat_map(|row| batch.accepts(row)).collect();
    assert_eq!(failed, [1]);
}

#[test]
fn a_row_refused_again_while_others_went_through_fails() {
    let mut batch = Told::new();
    batch.suspects(1);
    batch.accepts(2);
    assert_eq!(batch.suspects(1), believed());
}

#[test]
fn the_last_row_of_a_list_fails_after_its_third_refusal() {
    let mut batch = Told::new();
    batch.accepts(1);
    assert_eq!(batch.suspects(2), Ruling::default());
    assert_eq!(batch.suspects(2), Ruling::default());
    assert_eq!(batch.suspects(2), believed());
}

#[test]
fn a_restarted_worker_knows_that_others_went_through() {
    let mut batch = Told { breakers: BatchBreakers::new(Limits::default()).after_acceptances() };
    batch.suspects(2);
    batch.suspects(2);
    assert_eq!(batch.suspects(2), believed());
}

const TOO_BIG: fn() -> Event = || Event::reply(552, "5.3.4 too big");

#[test]
fn one_message_that_is_too_big_pauses_a_batch_that_had_none_accepted_and_names_its_row() {
    let reason = pause(Told::new().hears(1, Phase::Dot, &TOO_BIG()));
    assert!(reason.contains("ittsu mark failed notice-12 --key 100234"), "{reason}");
}

#[test]
fn one_message_that_is_too_big_fails_alone_when_others_went_through() {
    let mut batch = Told::new();
    batch.accepts(1);
    let first = batch.hears(2, Phase::Dot, &TOO_BIG());
    assert_eq!(first.pause, None);
    let held = first.verdict.unwrap();
    assert_eq!((held.outcome, held.pause), (Outcome::Refused, None));
    assert!(held.suspect.is_some(), "it waits for more acceptances: {held:?}");
    let failed: Vec<i64> = (3..6).flat_map(|row| batch.accepts(row)).collect();
    assert_eq!(failed, [2]);
}

#[test]
fn three_messages_in_a_row_that_are_too_big_pause_whatever_went_through_before() {
    let mut batch = Told::new();
    batch.accepts(1);
    assert_eq!(batch.hears(2, Phase::Dot, &TOO_BIG()).pause, None);
    assert_eq!(batch.hears(3, Phase::Dot, &TOO_BIG()).pause, None);
    let third = batch.hears(4, Phase::Dot, &TOO_BIG());
    assert_eq!(third.pause.unwrap().breaker, Breaker::Content);
}

/// What a row's message does to a connection that carried none before.
fn breaks(batch: &mut Told, row: i64) -> bool {
    let ruling = batch.hears(row, Phase::Rcpt, &Event::Lost(Loss::Eof));
    assert_eq!((ruling.pause, ruling.fail.len()), (None, 0));
    ruling.verdict.is_some_and(|verdict| verdict.counts)
}

#[test]
fn a_row_that_breaks_new_connections_while_others_go_through_uses_up_its_tries() {
    let mut batch = Told::new();
    let mut counted = Vec::new();
    for row in 2..8 {
        counted.push(breaks(&mut batch, 1));
        batch.accepts(row);
    }
    assert_eq!(counted, [false, false, false, true, true, true]);
}

#[test]
fn a_row_is_not_to_blame_where_nobody_gets_through() {
    let mut batch = Told::new();
    assert!((0..50).all(|_| !breaks(&mut batch, 1)));
}

#[test]
fn the_last_row_of_a_list_uses_up_its_tries_when_it_breaks_connections_again_and_again() {
    let mut batch = Told::new();
    batch.accepts(9);
    let counted: Vec<bool> = (0..12).map(|_| breaks(&mut batch, 1)).collect();
    assert_eq!(counted.iter().position(|&counts| counts), Some(10), "{counted:?}");
}

#[test]
fn a_row_is_not_to_blame_for_connections_that_wore_out() {
    let mut batch = Told::new();
    let lost = classify(Phase::Mail, &Event::Lost(Loss::Eof));
    for row in 2..50 {
        let worn = Seen { is_fresh: false, ..seen(1, Phase::Mail, &lost, None) };
        assert_eq!(batch.breakers.see(worn), Ruling::default());
        batch.accepts(row);
    }
}

#[test]
fn a_server_that_asks_for_patience_uses_up_no_tries() {
    let mut batch = Told::new();
    for row in 2..50 {
        let ruling = batch.hears(1, Phase::Rcpt, &Event::reply(421, "4.7.0 later"));
        assert_eq!(ruling, Ruling::default());
        batch.accepts(row);
    }
}
