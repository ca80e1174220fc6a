//! How a worker ends: by itself, when asked, and when asked twice.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Then, When};
use ittsu::dispatch::progress::{Progress, Why};
use ittsu::dispatch::settings::{Serve, Until};
use ittsu::domain::state::State;
use ittsu::transport::Route;

use super::office::{Office, on_sqlite, people};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! { asked_once_a_worker_finishes_what_is_on_the_wire }

on_sqlite! {
    asked_twice_a_worker_stops_at_once_and_counts_what_is_in_doubt,
    a_person_can_ask_a_worker_to_stop_through_the_ledger,
    without_waiting_a_worker_ends_when_nothing_is_due_now,
    without_waiting_a_worker_ends_when_the_server_is_away,
    a_worker_of_one_batch_leaves_the_others_alone,
    a_worker_waits_for_rows_in_the_hands_of_another,
    nothing_is_left_behind_in_the_state_directory,
}

async fn asked_once_a_worker_finishes_what_is_on_the_wire(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(50), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(500), Office::frozen()).await;
    let worker = office.hire(office.settings());
    office.until("some are out", || async { office.server.seen().accepted >= 10 }).await;

    let finished = worker.drained().await;

    let counts = office.counts(batch).await;
    assert_eq!((finished.why, finished.in_doubt, counts.sending), (Why::Drained, 0, 0));
    assert!(counts.ready > 300, "{counts:?}");
    // What it had claimed is free at once, and nobody is at work any more.
    assert_eq!(office.ledger.workers().await.unwrap(), []);
    assert!(office.rows(batch).await.iter().all(|row| row.worker.is_none()));
    office.check(batch).await;
}

/// F57: the second request records what is unknown.
async fn asked_twice_a_worker_stops_at_once_and_counts_what_is_in_doubt(place: Place) {
    let silent = Deed::silence(Then::Hang).taking();
    let behaviour = Behaviour::default().with(At::Dot, When::To("quiet".to_owned()), silent);
    let office = Office::on(place, behaviour).await;
    let list = [people(20), vec!["quiet@example.test".to_owned()]].concat();
    let batch = office.running("notice-1", &list, Office::frozen()).await;
    let mut settings = office.settings();
    for route in settings.routes.values_mut() {
        if let Route::Smtp(smtp) = &mut route.route {
            smtp.deadlines.answer = Duration::from_mins(10);
        }
        route.longest = Duration::from_mins(10);
    }
    let mut worker = office.hire(settings);
    office
        .until("only the quiet one is left", || async { office.server.seen().accepted >= 21 })
        .await;
    office
        .until("the others are recorded", || async { office.counts(batch).await.sent == 20 })
        .await;

    worker.shutdown.ask();
    loop {
        if let Some(Progress::Draining { on_wire: 1, at_most }) = worker.told.recv().await {
            assert!(at_most > Duration::from_secs(500));
            break;
        }
    }
    worker.shutdown.ask();
    let finished = worker.ended().await;

    assert_eq!((finished.why, finished.in_doubt), (Why::Stopped, 1));
    let row = office.row(batch, "quiet@example.test").await;
    assert!(row.is_unknown(), "{row:?}");
    office.check(batch).await;
}

async fn a_person_can_ask_a_worker_to_stop_through_the_ledger(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(20), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(2000), Office::frozen()).await;
    let worker = office.hire(office.settings());
    office.until("some are out", || async { office.server.seen().accepted >= 10 }).await;

    let id = office.ledger.workers().await.unwrap()[0].id;
    assert!(office.ledger.request_stop(id, office.clock.now()).await.unwrap());
    let finished = worker.ended().await;

    assert_eq!((finished.why, finished.in_doubt), (Why::AskedByPerson, 0));
    assert_eq!(office.counts(batch).await.sending, 0);
    office.check(batch).await;
}

async fn without_waiting_a_worker_ends_when_nothing_is_due_now(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let mut frozen = Office::frozen();
    frozen.retry.first = Duration::from_hours(1);
    frozen.retry.last = Duration::from_hours(1);
    let list = [people(20), vec!["r-450-422.1@example.test".to_owned()]].concat();
    let batch = office.running("notice-1", &list, frozen).await;
    let mut settings = office.settings();
    settings.until = Until::NothingDue;

    let finished = office.hire(settings).ended().await;

    assert_eq!(finished.why, Why::NothingDue);
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.ready), (20, 1));
    office.check(batch).await;
}

async fn without_waiting_a_worker_ends_when_the_server_is_away(place: Place) {
    let refusing = Deed::reply("421 4.3.2 not now").then(Then::Close);
    let behaviour = Behaviour::default().with(At::Greeting, When::Always, refusing);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(5), Office::frozen()).await;
    let mut settings = office.settings();
    settings.until = Until::NothingDue;

    let finished = office.hire(settings).ended().await;

    assert!(matches!(&finished.why, Why::Unreachable(why) if why.contains("421")), "{finished:?}");
    assert_eq!(office.counts(batch).await.ready, 5);
}

async fn a_worker_of_one_batch_leaves_the_others_alone(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let mine = office.running("notice-1", &people(10), Office::frozen()).await;
    let other = office.running("notice-2", &people(10), Office::frozen()).await;
    let mut settings = office.settings();
    settings.serve = Serve::Batch(mine);

    office.hire(settings).ended().await;

    assert_eq!(office.counts(mine).await.sent, 10);
    assert_eq!(office.counts(other).await.ready, 10);
}

async fn a_worker_waits_for_rows_in_the_hands_of_another(place: Place) {
    let silent = Deed::reply("250 2.0.0 ok").after(Duration::from_millis(700));
    let behaviour = Behaviour::default().with(At::Dot, When::To("slow".to_owned()), silent);
    let office = Office::on(place, behaviour).await;
    let slow = vec!["slow@example.test".to_owned()];
    let batch = office.running("notice-1", &slow, Office::frozen()).await;
    let first = office.hire(office.settings());
    office.until("it is on the wire", || async { office.counts(batch).await.sending == 1 }).await;

    let second = office.work().await;

    assert_eq!(second.why, Why::Idle);
    assert_eq!(office.row(batch, "slow@example.test").await.state, State::Sent);
    first.ended().await;
}

async fn nothing_is_left_behind_in_the_state_directory(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    office.running("notice-1", &people(20), Office::frozen()).await;

    office.work().await;

    let left: Vec<_> = std::fs::read_dir(office.place.path("state")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
