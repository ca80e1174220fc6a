//! What is our own fault fails nobody: the batch pauses and says why.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Login, Then, When};
use ittsu::dispatch::progress::Why;
use ittsu::domain::batch::BatchState;
use ittsu::domain::id::BatchId;
use ittsu::domain::state::{How, State};
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::journal::By;
use ittsu::transport::Route;
use ittsu::transport::smtp::Credentials;

use super::office::{Office, on_sqlite, people};
use crate::support::engines::Place;

on_sqlite! {
    a_refused_login_pauses_the_batch_and_a_right_one_sends_it,
    a_sender_refused_at_mail_pauses_after_one_row,
    a_sender_refused_at_rcpt_pauses_after_three_rows,
    a_content_refused_for_everybody_pauses_after_three_rows,
    a_message_too_large_for_the_server_pauses_at_once,
    a_list_of_many_bad_addresses_pauses_before_its_end,
    three_unknown_outcomes_in_a_row_pause_the_route,
    one_refusal_for_policy_among_many_accepted_fails_its_own_row,
    one_message_too_big_among_many_accepted_fails_its_own_row,
    a_message_that_breaks_every_connection_fails_alone_in_the_end,
}

/// Returns why a batch paused itself; nobody may have failed.
async fn paused(office: &Office, batch: BatchId) -> String {
    let status = office.status(batch).await;
    assert_eq!(status.state, BatchState::Paused, "{status:?}");
    assert_eq!(status.batch.paused_by, "ittsu");
    assert_eq!(status.counts.failed, 0);
    office.check(batch).await;
    status.batch.paused_because
}

async fn resume(office: &Office, batch: BatchId) {
    let by = By::new("hanako", "repaired");
    office.ledger.resume(Reach::Batch(batch), by, office.clock.now()).await.unwrap();
}

async fn a_refused_login_pauses_the_batch_and_a_right_one_sends_it(place: Place) {
    let login =
        Login { user: "bulk".to_owned(), password: "right".to_owned(), mechanisms: "PLAIN LOGIN" };
    let office = Office::on(place, Behaviour { login: Some(login), ..Behaviour::default() }).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;
    let with = |password: &str| {
        let mut settings = office.settings();
        for route in settings.routes.values_mut() {
            if let Route::Smtp(smtp) = &mut route.route {
                let password = password.to_owned().into();
                smtp.credentials = Some(Credentials { user: "bulk".to_owned(), password });
            }
        }
        settings
    };

    let finished = office.hire(with("wrong")).ended().await;

    assert_eq!(finished.why, Why::Idle);
    let why = paused(&office, batch).await;
    assert!(why.contains("login") && why.contains("535"), "{why}");
    assert_eq!(office.counts(batch).await.attempts, 0);
    resume(&office, batch).await;
    office.hire(with("right")).ended().await;
    assert_eq!(office.counts(batch).await.sent, 50);
}

async fn a_sender_refused_at_mail_pauses_after_one_row(place: Place) {
    let no = Deed::reply("550 5.1.7 bounce@example.com is not yours");
    let behaviour = Behaviour::default().with(At::Mail, When::Always, no);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;

    office.work().await;

    let why = paused(&office, batch).await;
    assert!(why.contains("550 5.1.7 bounce@example.com is not yours"), "{why}");
    assert_eq!(office.counts(batch).await.attempts, 1);
    office.server.change(|behaviour| behaviour.rules.clear());
    resume(&office, batch).await;
    office.work().await;
    assert_eq!(office.counts(batch).await.sent, 50);
    office.check(batch).await;
}

async fn a_sender_refused_at_rcpt_pauses_after_three_rows(place: Place) {
    let no = Deed::reply("554 5.7.1 Sender address rejected: Access denied");
    let behaviour = Behaviour::default().with(At::Rcpt, When::Always, no);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;

    let workers = [office.hire(office.settings()), office.hire(office.settings())];
    for worker in workers {
        worker.ended().await;
    }

    let why = paused(&office, batch).await;
    assert!(why.contains("Access denied"), "{why}");
    let counts = office.counts(batch).await;
    assert_eq!(counts.ready, 50);
    // Two workers take turns with one row each; either needs three to be sure.
    assert!(counts.attempts <= 6, "{counts:?}");
}

async fn a_content_refused_for_everybody_pauses_after_three_rows(place: Place) {
    let no = Deed::reply("554 5.7.1 message looks like spam");
    let behaviour = Behaviour::default().with(At::Dot, When::Always, no);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;

    office.work().await;

    let why = paused(&office, batch).await;
    assert!(why.contains("message looks like spam"), "{why}");
    let counts = office.counts(batch).await;
    assert_eq!((counts.ready, counts.attempts), (50, 3));
}

async fn a_message_too_large_for_the_server_pauses_at_once(place: Place) {
    let mut small = Behaviour::default().without("SIZE");
    small.capabilities.push("SIZE 100".to_owned());
    let office = Office::on(place, small).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;

    office.work().await;

    paused(&office, batch).await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.ready, counts.attempts), (50, 1));
}

async fn a_list_of_many_bad_addresses_pauses_before_its_end(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let mut list = Vec::new();
    for number in 0..400 {
        list.push(format!("good{number}@example.test"));
        if number % 3 == 0 {
            list.push(format!("r-550-511.{number}@example.test"));
        }
    }
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    office.work().await;

    let status = office.status(batch).await;
    assert_eq!(status.state, BatchState::Paused, "{status:?}");
    assert!(status.batch.paused_because.contains('%'), "{}", status.batch.paused_because);
    assert!(status.counts.ready > 100, "{:?}", status.counts);
    office.check(batch).await;
}

async fn three_unknown_outcomes_in_a_row_pause_the_route(place: Place) {
    let cut = Deed::silence(Then::Close).taking();
    let behaviour = Behaviour::default().with(At::Dot, When::Always, cut);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;
    let other = office.running("notice-2", &people(50), Office::frozen()).await;

    office.work().await;

    for batch in [batch, other] {
        let status = office.status(batch).await;
        assert_eq!(status.state, BatchState::Paused, "{status:?}");
    }
    let unknown = office.counts(batch).await.unknown + office.counts(other).await.unknown;
    // Two batches try one row each at a time.
    assert!((3..=4).contains(&unknown), "{unknown}");
    office.check_sums().await;
}

async fn one_refusal_for_policy_among_many_accepted_fails_its_own_row(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let mut list = people(60);
    list.insert(20, "r-550-571.1@example.test".to_owned());
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    let finished = office.work().await;

    // What was put off and failed after all is told as failed.
    assert_eq!((finished.counts.sent, finished.counts.failed, finished.counts.later), (60, 1, 0));
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed), (60, 1));
    office.check(batch).await;
}

async fn one_message_too_big_among_many_accepted_fails_its_own_row(place: Place) {
    let no = Deed::reply("552 5.3.4 message too big");
    let behaviour = Behaviour::default().with(At::Dot, When::To("big".to_owned()), no);
    let office = Office::on(place, behaviour).await;
    let mut list = people(60);
    list.insert(20, "big@example.test".to_owned());
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    let finished = office.work().await;

    assert_eq!((finished.counts.sent, finished.counts.failed, finished.counts.later), (60, 1, 0));
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed), (60, 1));
    office.check(batch).await;
}

async fn a_message_that_breaks_every_connection_fails_alone_in_the_end(place: Place) {
    let hangs_up = Deed::bytes(b"").then(Then::Close);
    let behaviour = Behaviour::default().with(At::Rcpt, When::To("poison".to_owned()), hangs_up);
    let office = Office::on(place, behaviour).await;
    let mut list = people(60);
    list.insert(20, "poison@example.test".to_owned());
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    let mut settings = office.settings();
    settings.limits.endpoint.first = Duration::from_millis(10);
    settings.limits.endpoint.last = Duration::from_millis(50);
    let finished = office.hire(settings).ended().await;

    assert_eq!((finished.counts.sent, finished.counts.failed), (60, 1));
    let row = office.row(batch, "poison@example.test").await;
    assert_eq!((row.state, row.how), (State::Failed, Some(How::Expired)), "{row:?}");
    office.check(batch).await;
}
