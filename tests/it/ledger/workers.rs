//! Workers: numbers, slots, stopping, leaving, sweeping.

use std::time::Duration;

use ittsu::domain::outcome::Outcome;
use ittsu::domain::policy::Policy;
use ittsu::domain::settle::Settled;
use ittsu::domain::smtp::ReplyCode;
use ittsu::domain::state::{Cause, How};
use ittsu::domain::step::Step;
use ittsu::domain::watch::Proof;
use ittsu::ledger::LedgerError;
use ittsu::ledger::recorder::{RecordError, StartAnswer};
use ittsu::ledger::workers::LostHow;

use crate::support::engines::{Place, on_every_engine};
use crate::support::hand::start;
use crate::support::ledgers::{ANSWER_WITHIN, Books, NOW, RETRY_FIRST};

on_every_engine! {
    a_worker_gets_a_new_number_and_the_lowest_free_slot,
    a_sixty_fourth_worker_is_refused,
    a_worker_that_leaves_gives_everything_back,
    a_worker_with_a_mail_on_the_wire_cannot_leave,
    a_worker_is_asked_to_stop_once,
    a_beat_that_moved_is_not_swept,
    a_beat_is_every_group_and_every_idle_moment,
    a_sweep_follows_the_policy_of_the_batch,
    a_sweep_believes_the_step_file,
    a_silent_worker_under_resend_is_waited_for,
    a_sweep_frees_connections_and_probes,
    a_start_and_a_sweep_at_once_leave_nothing_between,
    a_claim_and_a_sweep_at_once_leave_nothing_between,
}

async fn a_worker_gets_a_new_number_and_the_lowest_free_slot(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let (one, two) = (books.worker().await, books.worker().await);
    assert!(one.me.worker < two.me.worker);
    assert_eq!((one.me.slot, two.me.slot), (1, 2));
    assert!(one.ledger.leave(one.me, NOW).await.unwrap());
    let three = books.worker().await;
    assert!(three.me.worker > two.me.worker);
    assert_eq!(three.me.slot, 1);
    let ids: Vec<_> = books.ledger.workers().await.unwrap().iter().map(|w| w.id).collect();
    assert_eq!(ids, [two.me.worker, three.me.worker]);
}

async fn a_sixty_fourth_worker_is_refused(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let one = books.worker().await;
    let identity = books.ledger.worker(one.me.worker).await.unwrap().unwrap().identity;
    for _ in 0..62 {
        books.ledger.register(identity.clone(), NOW).await.unwrap();
    }
    let err = books.ledger.register(identity.clone(), NOW).await.unwrap_err();
    assert!(matches!(err, LedgerError::TooManyWorkers), "{err:?}");
    books.sweep_gone(&one, &[]).await;
    assert_eq!(books.ledger.register(identity, NOW).await.unwrap().slot, 1);
}

async fn a_worker_that_leaves_gives_everything_back(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(3).await;
    assert!(one.ledger.leave(one.me, NOW).await.unwrap());
    assert_eq!(books.worker().await.claim(9).await.rows.len(), 3);
    assert!(matches!(one.write(&[]).await, Err(RecordError::Fenced)));
    let left = books.ledger.worker(one.me.worker).await.unwrap().unwrap();
    assert_eq!((left.lost_at, left.lost_how), (Some(NOW), LostHow::Left));
}

async fn a_worker_with_a_mail_on_the_wire_cannot_leave(place: Place) {
    let books = Books::with(place, 2, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(2).await;
    one.start(1, 1).await;
    assert!(!one.ledger.leave(one.me, NOW).await.unwrap());
    assert_eq!(books.number("select count(*) from delivery where worker <> 0").await, 2);
    one.finish(1, 1, Outcome::Accepted, Settled::Sent(How::Accepted)).await;
    assert!(one.ledger.leave(one.me, NOW).await.unwrap());
}

async fn a_worker_is_asked_to_stop_once(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let one = books.worker().await;
    let later = NOW + Duration::from_secs(1);
    assert!(books.ledger.request_stop(one.me.worker, NOW).await.unwrap());
    assert!(books.ledger.request_stop(one.me.worker, later).await.unwrap());
    let asked = books.ledger.worker(one.me.worker).await.unwrap().unwrap();
    assert_eq!(asked.stop_at, Some(NOW));
    books.sweep_gone(&one, &[]).await;
    assert!(!books.ledger.request_stop(one.me.worker, later).await.unwrap());
}

async fn a_beat_that_moved_is_not_swept(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(1).await;
    let watched = books.ledger.worker(one.me.worker).await.unwrap().unwrap().beat;
    one.write(&[]).await.unwrap();
    let victim = ittsu::ledger::sweep::Victim {
        worker: one.me.worker,
        beat: watched,
        proof: Proof::Silent,
        steps: Vec::new(),
        answer_within: ANSWER_WITHIN,
    };
    let jitter = ittsu::domain::retry::Jitter::NONE;
    assert_eq!(books.ledger.sweep(victim, jitter, NOW).await.unwrap(), None);
    assert!(matches!(one.start(1, 1).await, StartAnswer::Started { .. }));
    assert!(books.sweep(one.me.worker, Proof::ProcessGone, &[]).await.is_some());
    assert!(books.sweep(one.me.worker, Proof::ProcessGone, &[]).await.is_none());
}

async fn a_beat_is_every_group_and_every_idle_moment(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    let beat = || async { books.ledger.worker(one.me.worker).await.unwrap().unwrap().beat };
    let before = beat().await;
    one.recorder.write(&[], NOW).await.unwrap();
    one.claim(1).await;
    one.recorder.write(&[start(1, 1)], NOW).await.unwrap();
    assert_eq!(books.ledger.worker(one.me.worker).await.unwrap().unwrap().beat, before + 2);
}

async fn a_sweep_follows_the_policy_of_the_batch(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let other = |n: i64| ittsu::domain::id::BatchId(n);
    books.batch(other(2), 2, 2, Policy::Resend).await;
    books.batch(other(3), 3, 3, Policy::AssumeSent).await;
    let mut one = books.worker().await;
    for batch in 1..=3 {
        one.claim_at(other(batch), 1, NOW).await;
    }
    let group: Vec<_> = (1..=3)
        .map(|row| {
            let mut step = start(row, 1);
            if let Some(start) = &mut step.start {
                start.batch = other(row);
            }
            step
        })
        .collect();
    one.write(&group).await.unwrap();
    books.sweep_gone(&one, &[]).await;
    assert_eq!(books.stands(1).await, "sending unknown");
    assert_eq!(books.stands(2).await, "ready");
    assert_eq!(books.row(2).await.due_at, Some((NOW + RETRY_FIRST).0));
    assert_eq!(books.stands(3).await, "sent assumed");
    let sql = "select count(*) from attempt where outcome = 'unknown' and cause = 'crash'";
    assert_eq!(books.number(sql).await, 3);
    books.assert_counters_agree().await;
}

async fn a_sweep_believes_the_step_file(place: Place) {
    let books = Books::with(place, 5, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(5).await;
    let starts: Vec<_> = (1..=5).map(|row| start(row, 1)).collect();
    one.write(&starts).await.unwrap();
    let said = |code| Step::Answered(ReplyCode { code, enhanced: None });
    let swept = books
        .sweep_gone(
            &one,
            &[
                (1, 1, Step::Data),
                (2, 1, Step::Dot),
                (3, 1, said(250)),
                (4, 1, said(550)),
                // A note about another attempt proves nothing about this one.
                (5, 7, Step::Data),
            ],
        )
        .await;
    let settled: Vec<Settled> = swept.settled.into_iter().map(|(_, settled)| settled).collect();
    assert_eq!(
        settled,
        [
            Settled::Ready { due: NOW },
            Settled::Unknown(Cause::Crash),
            Settled::Sent(How::Accepted),
            Settled::Failed(How::Refused),
            Settled::Unknown(Cause::Crash),
        ]
    );
    assert_eq!(books.row(1).await.tries, 0);
    assert_eq!(books.number("select count(*) from evidence where source = 'step_file'").await, 4);
    books.assert_counters_agree().await;
}

async fn a_silent_worker_under_resend_is_waited_for(place: Place) {
    let books = Books::with(place, 1, Policy::Resend).await;
    let mut one = books.worker().await;
    let row = one.begin().await;
    books.sweep_silent(&one).await;
    let until = NOW + ANSWER_WITHIN;
    assert_eq!(books.row(row).await.due_at, Some(until.0));
    let lost = books.ledger.worker(one.me.worker).await.unwrap().unwrap();
    assert_eq!((lost.lost_how, lost.late_until), (LostHow::Silent, Some(until)));
}

async fn a_sweep_frees_connections_and_probes(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let one = books.worker().await;
    let relay = || "smtp.relay".to_owned();
    let ledger = &books.ledger;
    assert_eq!(ledger.take_lane(relay(), one.me.worker, 1, NOW).await.unwrap(), Some(1));
    ledger.endpoint_failed(relay(), "421".to_owned(), NOW, NOW).await.unwrap();
    assert!(ledger.take_probe(relay(), one.me.worker, NOW).await.unwrap());
    let two = books.worker().await;
    assert_eq!(ledger.take_lane(relay(), two.me.worker, 1, NOW).await.unwrap(), None);
    assert!(!ledger.take_probe(relay(), two.me.worker, NOW).await.unwrap());
    books.sweep_gone(&one, &[]).await;
    assert_eq!(ledger.take_lane(relay(), two.me.worker, 1, NOW).await.unwrap(), Some(1));
    assert!(ledger.take_probe(relay(), two.me.worker, NOW).await.unwrap());
}

/// Both orders happen, over and over; neither may leave a row nobody looks at.
async fn a_start_and_a_sweep_at_once_leave_nothing_between(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let (mut started, mut fenced) = (0, 0);
    for _ in 0..30 {
        let mut one = books.worker().await;
        let attempt = books.row(1).await.attempt + 1;
        assert_eq!(one.claim(1).await.rows.len(), 1);
        let worker = one.me.worker;
        let group = [start(1, attempt)];
        let (written, swept) = tokio::join!(
            one.recorder.write(&group, NOW),
            books.sweep(worker, Proof::ProcessGone, &[])
        );
        if swept.is_none() {
            // The group moved the beat first; the sweep looks again.
            books.sweep(worker, Proof::ProcessGone, &[]).await.expect("it stands still now");
        }
        match written {
            Ok(_) => {
                started += 1;
                assert_eq!(books.stands(1).await, "sending unknown");
                books.person(1, ittsu::domain::plan::Act::Resend).await;
            }
            Err(RecordError::Fenced) => {
                fenced += 1;
                assert_eq!(books.stands(1).await, "ready");
            }
            Err(err) => panic!("{err:?}"),
        }
        let left = books.number("select count(*) from delivery where worker <> 0").await;
        assert_eq!(left, 0, "the row is in dead hands");
    }
    assert_eq!(started + fenced, 30);
    books.assert_counters_agree().await;
}

async fn a_claim_and_a_sweep_at_once_leave_nothing_between(place: Place) {
    let books = Books::with(place, 5, Policy::Hold).await;
    for _ in 0..30 {
        let one = books.worker().await;
        let worker = one.me.worker;
        let claim = books.ledger.claim(worker, crate::support::ledgers::BATCH, 5, NOW);
        let (claimed, swept) = tokio::join!(claim, books.sweep(worker, Proof::ProcessGone, &[]));
        assert!(swept.is_some());
        match claimed {
            Ok(_) | Err(LedgerError::Fenced(_)) => {}
            Err(err) => panic!("{err:?}"),
        }
        let left = books.number("select count(*) from delivery where worker <> 0").await;
        assert_eq!(left, 0, "rows are in dead hands");
        assert_eq!(books.number("select count(*) from claim").await, 0);
    }
    assert_eq!(books.number("select count(*) from delivery where due_at is not null").await, 5);
}
