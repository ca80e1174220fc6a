//! The traces that broke the protocol before its rules were found, T1 to T12.

use ittsu::domain::late::Late;
use ittsu::domain::outcome::Outcome;
use ittsu::domain::plan::Act;
use ittsu::domain::policy::Policy;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::{Cause, How};
use ittsu::ledger::LedgerError;
use ittsu::ledger::recorder::{FinishAnswer, RecordError, StartAnswer, Step};

use crate::support::engines::{Place, on_every_engine};
use crate::support::hand::{a_finish, a_start, accepted, finish, start};
use crate::support::ledgers::{ANSWER_WITHIN, BATCH, Books, NOW, RETRY_FIRST};

on_every_engine! {
    t1_a_late_yes_keeps_the_row_from_going_out_again,
    t1_a_late_yes_takes_the_row_out_of_the_next_hands,
    t2_a_late_yes_says_nothing_about_another_copy,
    t3_a_late_yes_of_an_older_attempt_ends_the_row,
    t4_a_start_that_comes_after_the_sweep_writes_nothing,
    t4_a_start_that_came_before_the_sweep_is_seen_by_it,
    t4_a_claim_that_comes_after_the_sweep_takes_nothing,
    t5_a_group_handed_in_again_changes_nothing_and_answers_the_same,
    t6_a_start_refused_by_a_pause_gives_every_claim_of_the_batch_back,
    t6_a_forgotten_claim_is_found_again,
    t7_a_repeated_finish_leaves_the_next_attempt_alone,
    t8_a_number_is_never_used_again,
    t9_a_worker_back_from_the_dead_overrules_no_person,
    t10_a_refusal_after_an_unknown_is_marked_as_maybe_delivered,
    t11_counters_follow_what_matched_and_not_what_was_asked,
    t12_no_message_starts_after_the_pause,
}

const SILENCE: Outcome = Outcome::Unknown(Cause::NoAnswer);
const STARTED: StartAnswer = StartAnswer::Started { first_started: NOW };
const AGAIN: Settled = Settled::Ready { due: NOW };
const YES: Late = Late::Settles(Settled::Sent(How::Accepted));

async fn t1_a_late_yes_keeps_the_row_from_going_out_again(place: Place) {
    let books = Books::with(place, 1, Policy::Resend).await;
    let mut one = books.worker().await;
    let two = books.worker().await;
    let row = one.begin().await;
    books.sweep_silent(&one).await;
    assert_eq!(books.stands(row).await, "ready");
    // Its answer can still come: until then nobody gets the row.
    let later = NOW + ANSWER_WITHIN;
    assert_eq!(books.row(row).await.due_at, Some(later.0));
    assert_eq!(two.claim(9).await.rows, []);
    assert_eq!(books.late(&one, row, 1, Outcome::Accepted).await, YES);
    assert_eq!(books.stands(row).await, "sent accepted");
    assert_eq!(two.claim_at(BATCH, 9, later).await.rows, []);
    assert_eq!(books.row(row).await.unknown_attempts, 0);
    books.assert_counters_agree().await;
}

async fn t1_a_late_yes_takes_the_row_out_of_the_next_hands(place: Place) {
    let books = Books::with(place, 1, Policy::Resend).await;
    let mut one = books.worker().await;
    let mut two = books.worker().await;
    let row = one.begin().await;
    books.sweep_silent(&one).await;
    assert_eq!(two.claim_at(BATCH, 9, NOW + ANSWER_WITHIN).await.rows.len(), 1);
    assert_eq!(books.late(&one, row, 1, Outcome::Accepted).await, YES);
    assert_eq!(two.start(row, 2).await, StartAnswer::Lost);
    assert_eq!(books.stands(row).await, "sent accepted");
    books.assert_counters_agree().await;
}

async fn t2_a_late_yes_says_nothing_about_another_copy(place: Place) {
    let books = Books::with(place, 1, Policy::AssumeSent).await;
    let mut one = books.worker().await;
    let row = one.begin().await;
    books.sweep_silent(&one).await;
    assert_eq!(books.stands(row).await, "sent assumed");
    assert_eq!(books.person(row, Act::AnotherCopy).await, 1);
    assert_eq!(books.late(&one, row, 1, Outcome::Accepted).await, Late::Keep);
    let seen = books.row(row).await;
    assert_eq!((seen.state.as_str(), seen.generation, seen.attempt), ("ready", 2, 1));
    books.assert_counters_agree().await;
}

async fn t3_a_late_yes_of_an_older_attempt_ends_the_row(place: Place) {
    let books = Books::with(place, 1, Policy::Resend).await;
    let mut one = books.worker().await;
    let mut two = books.worker().await;
    let row = one.begin().await;
    books.sweep_silent(&one).await;
    assert_eq!(two.claim_at(BATCH, 9, NOW + ANSWER_WITHIN).await.rows.len(), 1);
    assert_eq!(two.start(row, 2).await, STARTED);
    assert_eq!(books.late(&one, row, 1, Outcome::Accepted).await, YES);
    let swept = books.sweep_gone(&two, &[]).await;
    assert_eq!(swept.settled, []);
    assert_eq!(books.stands(row).await, "sent accepted");
    let mut three = books.worker().await;
    assert_eq!(three.claim_at(BATCH, 9, NOW + ANSWER_WITHIN * 9).await.rows, []);
    assert_eq!(three.start(row, 3).await, StartAnswer::Lost);
    books.assert_counters_agree().await;
}

async fn t4_a_start_that_comes_after_the_sweep_writes_nothing(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(1).await;
    assert_eq!(books.sweep_gone(&one, &[]).await.freed, 1);
    assert!(matches!(one.write(&[start(1, 1)]).await, Err(RecordError::Fenced)));
    assert!(matches!(one.write(&[]).await, Err(RecordError::Fenced)));
    assert_eq!(books.stands(1).await, "ready");
    let mut two = books.worker().await;
    assert_eq!(two.begin().await, 1);
    books.assert_counters_agree().await;
}

async fn t4_a_start_that_came_before_the_sweep_is_seen_by_it(place: Place) {
    let books = Books::with(place, 2, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(2).await;
    assert_eq!(one.start(1, 1).await, STARTED);
    let swept = books.sweep_gone(&one, &[]).await;
    assert_eq!((swept.freed, swept.settled.len()), (1, 1));
    assert_eq!(books.stands(1).await, "sending unknown");
    assert_eq!(books.row(1).await.cause, "crash");
    assert_eq!(books.stands(2).await, "ready");
    assert_eq!(books.number("select count(*) from claim").await, 0);
    books.assert_counters_agree().await;
}

async fn t4_a_claim_that_comes_after_the_sweep_takes_nothing(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let one = books.worker().await;
    books.sweep_gone(&one, &[]).await;
    let err = one.ledger.claim(one.me.worker, BATCH, 3, NOW).await.unwrap_err();
    assert!(matches!(err, LedgerError::Fenced(worker) if worker == one.me.worker), "{err:?}");
    assert_eq!(books.number("select count(*) from delivery where worker <> 0").await, 0);
    assert_eq!(books.number("select count(*) from claim").await, 0);
}

async fn t5_a_group_handed_in_again_changes_nothing_and_answers_the_same(place: Place) {
    let books = Books::with(place, 4, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(4).await;
    one.write(&[start(1, 1), start(2, 1)]).await.unwrap();
    let group = [
        Step { finish: accepted(1, 1).finish, start: Some(a_start(3, 1)) },
        Step {
            finish: Some(a_finish(2, 1, SILENCE, Settled::Unknown(Cause::NoAnswer))),
            start: Some(a_start(4, 1)),
        },
    ];
    let first = one.write(&group).await.unwrap();
    books.assert_counters_agree().await;
    assert_eq!(one.write(&group).await.unwrap(), first);
    assert_eq!(one.write(&[group[1].clone()]).await.unwrap(), first[1..]);
    assert_eq!(books.row(3).await.attempt, 1);
    assert_eq!(books.row(2).await.unknown_attempts, 1);
    assert_eq!(books.number("select count(*) from attempt").await, 2);
    books.assert_counters_agree().await;
}

async fn t6_a_start_refused_by_a_pause_gives_every_claim_of_the_batch_back(place: Place) {
    let books = Books::with(place, 4, Policy::Hold).await;
    books.batch(ittsu::domain::id::BatchId(2), 5, 6, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(4).await;
    one.claim_at(ittsu::domain::id::BatchId(2), 2, NOW).await;
    assert_eq!(one.start(1, 1).await, STARTED);
    books.pause().await;
    let group = [Step { finish: accepted(1, 1).finish, start: Some(a_start(2, 1)) }];
    let answers = one.write(&group).await.unwrap();
    assert_eq!(answers[0].finish, Some(FinishAnswer::Recorded));
    assert_eq!(answers[0].start, Some(StartAnswer::NotRunning));
    assert_eq!(books.number("select count(*) from delivery where worker <> 0").await, 2);
    books.resume().await;
    let two = books.worker().await;
    assert_eq!(two.claim(9).await.rows.len(), 3);
    books.assert_counters_agree().await;
}

async fn t6_a_forgotten_claim_is_found_again(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    let claimed = one.claim(3).await;
    one.start(2, 1).await;
    let found = one.ledger.own_forgotten_rows(one.me.worker).await.unwrap();
    let expected: Vec<_> = claimed.rows.into_iter().filter(|row| row.id.0 != 2).collect();
    assert_eq!(found.rows, expected);
    let two = books.worker().await;
    assert_eq!(two.ledger.own_forgotten_rows(two.me.worker).await.unwrap().rows, []);
}

async fn t7_a_repeated_finish_leaves_the_next_attempt_alone(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    let mut two = books.worker().await;
    let row = one.begin().await;
    let first = finish(row, 1, Outcome::Deferred, AGAIN);
    one.write(std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(two.begin().await, row);
    let before = books.row(row).await;
    // It was recorded the first time, and that is what the repeat is told.
    let again = one.write(std::slice::from_ref(&first)).await.unwrap();
    assert_eq!(again[0].finish, Some(FinishAnswer::Recorded));
    assert_eq!(
        one.finish(row, 2, Outcome::Accepted, Settled::Sent(How::Accepted)).await,
        FinishAnswer::Lost
    );
    assert_eq!(books.row(row).await, before);
    assert_eq!(before.attempt, 2);
    books.assert_counters_agree().await;
}

async fn t8_a_number_is_never_used_again(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    let row = one.begin().await;
    one.finish(row, 1, Outcome::NotSent, AGAIN).await;
    let seen = books.row(row).await;
    assert_eq!((seen.attempt, seen.tries), (1, 0));
    let mut two = books.worker().await;
    two.claim(1).await;
    assert_eq!(two.start(row, 1).await, StartAnswer::Lost);
    assert_eq!(two.start(row, 2).await, STARTED);
    // What is said about attempt 1 again does not touch attempt 2.
    one.finish(row, 1, Outcome::NotSent, AGAIN).await;
    assert_eq!(books.late(&one, row, 1, Outcome::NotSent).await, Late::Keep);
    assert_eq!(books.stands(row).await, "sending");
    books.assert_counters_agree().await;
}

async fn t9_a_worker_back_from_the_dead_overrules_no_person(place: Place) {
    let books = Books::with(place, 2, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(2).await;
    one.start(1, 1).await;
    books.sweep_silent(&one).await;
    assert_eq!(books.person(1, Act::MarkFailed).await, 1);
    let group = [Step { finish: accepted(1, 1).finish, start: Some(a_start(2, 1)) }];
    assert!(matches!(one.write(&group).await, Err(RecordError::Fenced)));
    assert_eq!(books.late(&one, 1, 1, Outcome::Accepted).await, Late::Conflict);
    assert_eq!(books.stands(1).await, "failed operator");
    let kept = books.ledger.evidence(ittsu::domain::id::RecipientId(1)).await.unwrap();
    assert_eq!(kept.last().map(|line| line.became.as_str()), Some("conflict"));
    books.assert_counters_agree().await;
}

async fn t10_a_refusal_after_an_unknown_is_marked_as_maybe_delivered(place: Place) {
    let books = Books::with(place, 1, Policy::Resend).await;
    let mut one = books.worker().await;
    let row = one.begin().await;
    one.finish(row, 1, SILENCE, AGAIN).await;
    one.claim(1).await;
    assert_eq!(one.start(row, 2).await, STARTED);
    assert_eq!(books.row(row).await.handed_again, 1);
    one.finish(row, 2, Outcome::Refused, Settled::Failed(How::Refused)).await;
    let seen = books.row(row).await;
    assert_eq!((seen.state.as_str(), seen.unknown_attempts), ("failed", 1));
    for bucket in ["maybe_delivered", "maybe_twice"] {
        let sql = format!("select n from batch_count where bucket = '{bucket}' and slot = 1");
        assert_eq!(books.number(&sql).await, 1, "{bucket}");
    }
    books.assert_counters_agree().await;
}

async fn t11_counters_follow_what_matched_and_not_what_was_asked(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(3).await;
    // A person was faster than the start; the counters are moved with the row.
    books
        .run("update delivery set state = 'failed', how = 'operator', flag = 'failed', worker = 0 where id = 2")
        .await;
    books.run("update batch_count set n = n - 1 where bucket = 'ready' and slot = 0").await;
    books.run("insert into batch_count (batch, bucket, slot, n) values (1, 'failed', 0, 1)").await;
    let answers = one.write(&[start(1, 1), start(2, 1), start(3, 1)]).await.unwrap();
    let starts: Vec<_> = answers.iter().map(|answer| answer.start).collect();
    assert_eq!(starts, [Some(STARTED), Some(StartAnswer::Lost), Some(STARTED)]);
    books.assert_counters_agree().await;
}

async fn t12_no_message_starts_after_the_pause(place: Place) {
    let books = Books::with(place, 400, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(400).await;
    let starting = async {
        for row in 1..=400 {
            if one.start(row, 1).await == StartAnswer::NotRunning {
                return row;
            }
        }
        401
    };
    let pausing = async {
        while books.number("select count(*) from delivery where state = 'sending'").await < 5 {
            tokio::task::yield_now().await;
        }
        books.pause().await;
        books.number("select count(*) from delivery where state = 'sending'").await
    };
    let (refused, sending) = tokio::join!(starting, pausing);
    assert_eq!(refused, sending + 1, "the first start after the pause was refused");
    assert_eq!(
        books.number("select count(*) from delivery where state = 'sending'").await,
        sending
    );
    let first_wait = NOW + RETRY_FIRST;
    assert_eq!(one.claim_at(BATCH, 9, first_wait).await.rows, []);
    books.assert_counters_agree().await;
}
