//! Every mail goes out once, whoever is at work and however often it is interrupted.

use std::time::Duration;

use ittsu::cli::demo::mailserver::Behaviour;
use ittsu::dispatch::progress::Why;
use ittsu::domain::batch::BatchState;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::journal::By;

use super::office::{Office, at_rate, people};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_batch_goes_out_once_and_the_worker_ends,
    four_workers_that_start_in_the_same_second_send_each_mail_once,
    pausing_and_resuming_twenty_times_sends_nobody_a_second_mail,
    a_worker_that_finds_nothing_to_do_ends_at_once,
    a_cancelled_batch_sends_no_more_than_what_is_on_the_wire,
    every_mail_is_built_from_its_own_row,
}

async fn a_batch_goes_out_once_and_the_worker_ends(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(300), Office::frozen()).await;

    let finished = office.work().await;

    assert_eq!((finished.why, finished.counts.sent, finished.in_doubt), (Why::Idle, 300, 0));
    assert_eq!(office.counts(batch).await.sent, 300);
    office.check(batch).await;
}

async fn four_workers_that_start_in_the_same_second_send_each_mail_once(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(1000), Office::frozen()).await;

    let workers: Vec<_> = (0..4).map(|_| office.hire(office.settings())).collect();
    let mut sent = 0;
    for worker in workers {
        let finished = worker.ended().await;
        assert_eq!((finished.why, finished.in_doubt), (Why::Idle, 0));
        sent += finished.counts.sent;
    }

    assert_eq!((sent, office.counts(batch).await.sent), (1000, 1000));
    office.check(batch).await;
}

async fn pausing_and_resuming_twenty_times_sends_nobody_a_second_mail(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(2), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(600), Office::frozen()).await;
    let workers: Vec<_> = (0..2).map(|_| office.hire(office.settings())).collect();

    for round in 1..=20 {
        office
            .until("some more mails were sent", || async {
                office.server.seen().accepted >= round * 20
            })
            .await;
        let by = By::new("hanako", "lunch");
        office.ledger.pause(Reach::Batch(batch), by.clone(), office.clock.now()).await.unwrap();
        let resumed = office.ledger.resume(Reach::Batch(batch), by, office.clock.now()).await;
        resumed.unwrap();
    }
    // A worker that looked while the batch was paused had nothing left to wait for.
    for worker in workers {
        worker.ended().await;
    }
    office.work().await;

    assert_eq!(office.counts(batch).await.sent, 600);
    office.check(batch).await;
}

async fn a_worker_that_finds_nothing_to_do_ends_at_once(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(5), Office::frozen()).await;
    office.work().await;

    let again = office.work().await;

    assert_eq!((again.why, again.counts.sent), (Why::Idle, 0));
    assert_eq!(office.server.seen().accepted, 5);
    office.check(batch).await;
}

/// knadh/listmonk#1010: one mail in ten seconds and 500 rows in hand, then cancelled.
async fn a_cancelled_batch_sends_no_more_than_what_is_on_the_wire(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(500), Office::frozen()).await;
    let worker = office.hire(at_rate(office.settings(), "6/min"));
    office.until("the first mail is out", || async { office.server.seen().accepted >= 1 }).await;
    office.until("its end is recorded", || async { office.counts(batch).await.sent >= 1 }).await;

    // A mail may go out between the look and the word: then the count is refused, nothing changed.
    office
        .until("the count that was seen still holds", || async {
            let ready = office.counts(batch).await.ready;
            let by = By::new("hanako", "wrong list");
            office.ledger.cancel(batch, Some(ready), by, office.clock.now()).await.is_ok()
        })
        .await;
    let finished = worker.ended().await;

    assert_eq!(finished.why, Why::Idle);
    let counts = office.counts(batch).await;
    let sent = counts.sent;
    assert!((1..=3).contains(&sent), "only what was on the wire went out: {counts:?}");
    assert_eq!((counts.failed, counts.ready, counts.sending), (500 - sent, 0, 0));
    assert_eq!(office.status(batch).await.state, BatchState::Cancelled);
    office.check(batch).await;
}

/// nylas/nylas-mail#2493: people got other people's names.
async fn every_mail_is_built_from_its_own_row(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(500), Office::frozen()).await;
    let other = office.hire(office.settings());
    office.work().await;
    other.ended().await;

    let mut ids = std::collections::BTreeSet::new();
    for mail in office.server.journal() {
        let text = String::from_utf8_lossy(&mail.content).into_owned();
        assert!(text.contains(&format!("this is yours: {}", mail.to)), "{text}");
        assert!(ids.insert(mail.message_id), "a Message-ID was used twice");
    }
    assert_eq!(ids.len(), 500);
    office.check(batch).await;
}
