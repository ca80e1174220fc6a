//! What each answer, silence or cut makes of its row, through the whole engine.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Goodbye, Rule, Then, When};
use ittsu::dispatch::progress::Why;
use ittsu::domain::policy::{OnUnknown, Policy};
use ittsu::domain::state::{Cause, How, State};
use ittsu::ledger::batches::Frozen;
use ittsu::transport::Route;

use super::office::{Office, on_sqlite, people};
use crate::support::engines::{Engine, Place, on_every_engine};

on_every_engine! {
    each_row_ends_as_its_own_server_says,
    an_answer_that_never_comes_follows_the_policy,
}

on_sqlite! {
    a_server_that_falls_silent_before_the_dot_costs_nothing_but_time,
    a_server_that_says_421_at_any_step_fails_nobody,
    a_server_that_hangs_up_after_some_messages_burns_no_attempt,
    a_server_that_hangs_up_after_errors_burns_no_attempt,
    a_server_that_lets_two_in_gets_two_connections,
    a_server_that_is_away_is_waited_for,
    a_recipient_put_off_is_tried_again_until_the_tries_are_used_up,
    a_late_answer_is_never_taken_for_that_of_another_mail,
}

/// An address that orders `word`, different for every `number`.
fn orders(word: &str, number: usize) -> String {
    format!("{word}.{number}@example.test")
}

async fn each_row_ends_as_its_own_server_says(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let ends = [
        ("plain", State::Sent, Some(How::Accepted)),
        ("r-550-511", State::Failed, Some(How::Refused)),
        ("r-550-521", State::Failed, Some(How::Refused)),
        ("r-450-422", State::Failed, Some(How::Expired)),
        ("greylist", State::Sent, Some(How::Accepted)),
        ("dot-bare", State::Sent, Some(How::Accepted)),
        ("dot-euckr", State::Sent, Some(How::Accepted)),
        ("dot-drip", State::Sent, Some(How::Accepted)),
        ("dot-close-after-accept", State::Sending, None),
    ];
    let mut list = people(60);
    list.extend(ends.iter().map(|(word, ..)| orders(word, 1)));
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    let finished = office.work().await;

    assert_eq!(finished.why, Why::Idle);
    for (word, state, how) in ends {
        let row = office.row(batch, &orders(word, 1)).await;
        assert_eq!((row.state, row.how), (state, how), "{word}: {row:?}");
    }
    let held = office.row(batch, &orders("dot-close-after-accept", 1)).await;
    assert!(held.is_unknown() && held.cause == Some(Cause::NoAnswer), "{held:?}");
    office.check(batch).await;
}

async fn an_answer_that_never_comes_follows_the_policy(place: Place) {
    for (policy, name) in
        [(Policy::Hold, "held"), (Policy::AssumeSent, "assumed"), (Policy::Resend, "again")]
    {
        let silent = Deed::silence(Then::Hang).taking();
        let behaviour = Behaviour::default().with(At::Dot, When::Times(1), silent);
        let place = Place::on(place.engine).await;
        let office = Office::on(place, behaviour).await;
        let frozen = Frozen { on_unknown: OnUnknown::one_word(policy), ..Office::frozen() };
        let batch = office.running(name, &people(20), frozen).await;
        let mut settings = office.settings();
        answer_within(&mut settings, Duration::from_millis(300));

        let finished = office.hire(settings).ended().await;

        assert_eq!((finished.why, finished.counts.unknown), (Why::Idle, 1), "{name}");
        let counts = office.counts(batch).await;
        let twice = office.accepted().values().filter(|&&times| times == 2).count();
        let (sent, unknown, assumed, maybe_twice) =
            (counts.sent, counts.unknown, counts.assumed, counts.maybe_twice);
        match policy {
            Policy::Hold => assert_eq!((sent, unknown, assumed, twice), (19, 1, 0, 0)),
            Policy::AssumeSent => assert_eq!((sent, unknown, assumed, twice), (20, 0, 1, 0)),
            Policy::Resend => assert_eq!((sent, unknown, maybe_twice, twice), (20, 0, 1, 1)),
        }
        office.check_sums().await;
    }
}

/// lettre/lettre#1027: a silent server hung the send for ever.
async fn a_server_that_falls_silent_before_the_dot_costs_nothing_but_time(_place: Place) {
    for at in [At::Greeting, At::Ehlo, At::Mail, At::Rcpt, At::Data] {
        let behaviour = Behaviour::default().with(at, When::Times(2), Deed::silence(Then::Hang));
        let office = Office::on(Place::on(Engine::Sqlite).await, behaviour).await;
        let batch = office.running("notice-1", &people(30), Office::frozen()).await;
        let mut settings = office.settings();
        each_step_within(&mut settings, Duration::from_millis(200));

        office.hire(settings).ended().await;

        let rows = office.rows(batch).await;
        assert!(rows.iter().all(|row| row.state == State::Sent && row.tries <= 1), "{at:?}");
        office.check(batch).await;
    }
}

async fn a_server_that_says_421_at_any_step_fails_nobody(_place: Place) {
    for at in [At::Greeting, At::Ehlo, At::Mail, At::Rcpt, At::Data, At::Dot] {
        let closing = Deed::reply("421 4.3.2 shutting down").then(Then::Close);
        let behaviour = Behaviour::default().with(at, When::Times(1), closing);
        let office = Office::on(Place::on(Engine::Sqlite).await, behaviour).await;
        let batch = office.running("notice-1", &people(30), Office::frozen()).await;

        office.work().await;

        let rows = office.rows(batch).await;
        assert!(rows.iter().all(|row| row.state == State::Sent), "{at:?}: {rows:?}");
        office.check(batch).await;
    }
}

async fn a_server_that_hangs_up_after_some_messages_burns_no_attempt(_place: Place) {
    for (messages, goodbye) in [(1, Goodbye::Silent), (10, Goodbye::Silent), (10, Goodbye::With421)]
    {
        let behaviour = Behaviour {
            messages_per_connection: Some((messages, goodbye)),
            ..Behaviour::default()
        };
        let office = Office::on(Place::on(Engine::Sqlite).await, behaviour).await;
        let batch = office.running("notice-1", &people(100), Office::frozen()).await;

        office.work().await;

        let rows = office.rows(batch).await;
        let fine = |row: &ittsu::ledger::rows::RowView| row.state == State::Sent && row.tries <= 1;
        assert!(rows.iter().all(fine), "{messages} {goodbye:?}: {rows:?}");
        office.check(batch).await;
    }
}

async fn a_server_that_hangs_up_after_errors_burns_no_attempt(place: Place) {
    let office = Office::on(place, Behaviour { errors: Some(3), ..Behaviour::default() }).await;
    let mut list = people(300);
    list.extend((0..15).map(|number| orders("r-550-511", number)));
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    office.work().await;

    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed), (300, 15));
    assert!(office.rows(batch).await.iter().all(|row| row.tries <= 1));
    office.check(batch).await;
}

async fn a_server_that_lets_two_in_gets_two_connections(place: Place) {
    let behaviour = Behaviour {
        connections: Some(2),
        thinks: Duration::from_millis(2),
        ..Behaviour::default()
    };
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(400), Office::frozen()).await;
    let mut settings = office.settings();
    settings.routes.values_mut().for_each(|route| route.connections = 64);

    office.hire(settings).ended().await;

    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.attempts), (400, 400));
    // Turned away some times at first, and then no more.
    let seen = office.server.seen();
    assert!(seen.connections < 130, "{seen:?}");
    office.check(batch).await;
}

async fn a_server_that_is_away_is_waited_for(place: Place) {
    let refusing = Deed::reply("421 4.3.2 not now").then(Then::Close);
    let behaviour = Behaviour::default().with(At::Greeting, When::Always, refusing);
    let office = Office::on(place, behaviour).await;
    let batch = office.running("notice-1", &people(50), Office::frozen()).await;
    let worker = office.hire(office.settings());
    office
        .until("the route counts as away", || async {
            office.ledger.endpoint(super::office::RELAY).await.unwrap().failures > 0
        })
        .await;

    assert_eq!(office.counts(batch).await.attempts, 0);
    office.server.change(|behaviour| behaviour.rules.clear());
    worker.ended().await;

    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.attempts), (50, 50));
    office.check(batch).await;
}

async fn a_recipient_put_off_is_tried_again_until_the_tries_are_used_up(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let list = [people(5), vec![orders("r-450-422", 1), orders("r-452-422", 2)]].concat();
    let batch = office.running("notice-1", &list, Office::frozen()).await;

    office.work().await;

    for key in &list[5..] {
        let row = office.row(batch, key).await;
        assert_eq!((row.state, row.how, row.tries), (State::Failed, Some(How::Expired), 5));
        assert_eq!((row.attempt.0, row.unknown_attempts), (5, 0), "{key}");
    }
    office.check(batch).await;
}

/// F32: an answer that comes after our time limit belongs to nobody.
async fn a_late_answer_is_never_taken_for_that_of_another_mail(place: Place) {
    let late = Deed::reply("554 5.6.0 not this one").after(Duration::from_millis(600));
    let rule = Rule { at: At::Dot, when: When::To("late".to_owned()), deed: late };
    let behaviour = Behaviour { rules: vec![rule], ..Behaviour::default() };
    let office = Office::on(place, behaviour).await;
    let list = [vec!["late@example.test".to_owned()], people(50)].concat();
    let batch = office.running("notice-1", &list, Office::frozen()).await;
    let mut settings = office.settings();
    settings.routes.values_mut().for_each(|route| route.connections = 1);
    answer_within(&mut settings, Duration::from_millis(200));

    office.hire(settings).ended().await;

    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.unknown), (50, 1));
    office.check(batch).await;
}

fn answer_within(settings: &mut ittsu::dispatch::settings::Settings, wait: Duration) {
    for route in settings.routes.values_mut() {
        if let Route::Smtp(smtp) = &mut route.route {
            smtp.deadlines.answer = wait;
        }
    }
}

fn each_step_within(settings: &mut ittsu::dispatch::settings::Settings, wait: Duration) {
    for route in settings.routes.values_mut() {
        if let Route::Smtp(smtp) = &mut route.route {
            let steps = &mut smtp.deadlines;
            (steps.greeting, steps.command) = (wait, wait);
            (steps.data, steps.body, steps.answer) = (wait, wait, wait);
        }
    }
}
