//! What is looked at once more right before a row goes.

use std::time::Duration;

use ittsu::cli::demo::mailserver::Behaviour;
use ittsu::clock::Clock;
use ittsu::dispatch::progress::{Progress, Waiting};
use ittsu::domain::batch::BatchState;
use ittsu::domain::state::{How, State};
use ittsu::domain::time::Timestamp;
use ittsu::ledger::batches::Frozen;
use ittsu::ledger::journal::By;

use super::office::{Office, at_rate, on_sqlite, people};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! { an_address_suppressed_during_the_run_is_not_mailed }

on_sqlite! {
    only_to_leaves_everybody_else_out,
    one_row_that_cannot_be_built_fails_by_itself,
    a_message_that_fits_nobody_pauses_the_batch,
    outside_its_hours_a_batch_waits_and_says_until_when,
    rows_that_were_not_sent_in_time_are_given_up,
}

/// F68.
async fn an_address_suppressed_during_the_run_is_not_mailed(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(40), Office::frozen()).await;
    let worker = office.hire(at_rate(office.settings(), "20/s"));
    office.until("the first mails are out", || async { office.server.seen().accepted >= 5 }).await;

    let gone = vec!["person39@example.test".to_owned(), "person40@example.test".to_owned()];
    let by = By::new("hanako", "asked to leave");
    office.ledger.suppress(gone.clone(), "", by, office.clock.now()).await.unwrap();
    worker.ended().await;

    for key in &gone {
        let row = office.row(batch, key).await;
        assert_eq!((row.state, row.how), (State::Failed, Some(How::Suppressed)), "{row:?}");
        assert_eq!(row.attempt.0, 0);
    }
    assert_eq!(office.counts(batch).await.sent, 38);
    office.check(batch).await;
}

async fn only_to_leaves_everybody_else_out(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let mut list = people(10);
    list.push("tester@example.co.jp".to_owned());
    let batch = office.running("notice-1", &list, Office::frozen()).await;
    let mut settings = office.settings();
    settings.only_to = vec!["@example.co.jp".to_owned()];

    office.hire(settings).ended().await;

    let sent: Vec<String> = office.accepted().into_keys().collect();
    assert_eq!(sent, ["tester@example.co.jp"]);
    assert_eq!(office.counts(batch).await.failed, 10);
    office.check(batch).await;
}

/// F69.
async fn one_row_that_cannot_be_built_fails_by_itself(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let text = "Subject: hello\n\n{{ 10 / (0 if token == 'person1@example.test' else 2) }}\n";
    let batch = office.draft_of("notice-1", &people(30), Office::frozen(), text).await;
    office.start(batch, Office::frozen()).await;

    office.work().await;

    let row = office.row(batch, "person1@example.test").await;
    assert_eq!((row.state, row.how), (State::Failed, Some(How::Unbuildable)), "{row:?}");
    assert_eq!((row.attempt.0, office.counts(batch).await.sent), (0, 29));
    office.check(batch).await;
}

async fn a_message_that_fits_nobody_pauses_the_batch(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let text = "Subject: hello\n\nDear {{ nobody }}\n";
    for (name, size) in [("notice-1", 50), ("notice-2", 3)] {
        let list: Vec<String> = people(size).iter().map(|who| format!("{name}{who}")).collect();
        let batch = office.draft_of(name, &list, Office::frozen(), text).await;
        office.start(batch, Office::frozen()).await;

        office.work().await;

        let status = office.status(batch).await;
        assert_eq!(status.state, BatchState::Paused, "{status:?}");
        assert!(status.batch.paused_because.contains("nobody"), "{status:?}");
        assert_eq!(
            (status.counts.ready, status.counts.attempts),
            (i64::try_from(size).unwrap(), 0)
        );
    }
    assert_eq!(office.server.seen().accepted, 0);
}

async fn outside_its_hours_a_batch_waits_and_says_until_when(place: Place) {
    let noon = at("2026-11-30T12:00:30Z");
    let mut office = Office::on(place, Behaviour::default()).await;
    office.clock = Clock::standing_at(noon);
    let hours = Some("08:00-09:00".parse().unwrap());
    let frozen = Frozen { hours, timezone: "UTC".to_owned(), ..Office::frozen() };
    let batch = office.running("notice-1", &people(5), frozen).await;
    let mut worker = office.hire(office.settings());

    let until = loop {
        let told = worker.told.recv().await.expect("a worker that says why it waits");
        if let Progress::Waiting { why: Waiting::Hours, until } = told {
            break until;
        }
    };
    assert_eq!(until, Some(at("2026-12-01T08:00:00Z")));
    assert_eq!(office.server.seen().accepted, 0);

    office.clock.advance(Duration::from_hours(20));
    worker.ended().await;
    assert_eq!(office.counts(batch).await.sent, 5);
    office.check(batch).await;
}

async fn rows_that_were_not_sent_in_time_are_given_up(place: Place) {
    let noon = at("2026-11-30T12:00:00Z");
    let mut office = Office::on(place, Behaviour::default()).await;
    office.clock = Clock::standing_at(noon);
    let frozen = Frozen {
        hours: Some("08:00-09:00".parse().unwrap()),
        timezone: "UTC".to_owned(),
        give_up_after: Some(Duration::from_hours(2)),
        ..Office::frozen()
    };
    let batch = office.running("notice-1", &people(30), frozen).await;
    let worker = office.hire(office.settings());
    office
        .until("it serves the batch", || async {
            office.ledger.workers().await.unwrap().len() == 1
        })
        .await;

    office.clock.advance(Duration::from_hours(3));
    worker.ended().await;

    let rows = office.rows(batch).await;
    assert!(rows.iter().all(|row| row.how == Some(How::Expired)), "{rows:?}");
    assert_eq!(office.server.seen().accepted, 0);
    office.check(batch).await;
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}
