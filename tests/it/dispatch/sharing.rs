//! What all workers share: the rate, the connections, and the turn.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{Behaviour, Records};
use ittsu::ledger::batches::change::Changes;
use ittsu::ledger::journal::By;

use super::office::{Office, at_rate, on_sqlite, people};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    two_workers_share_one_rate,
    four_workers_never_open_more_connections_than_allowed,
}

on_sqlite! {
    a_changed_rate_takes_effect_between_messages,
    a_worker_that_comes_later_gets_its_share_of_the_connections,
    an_order_does_not_wait_for_a_notice,
    a_batch_with_one_connection_uses_one_over_all_workers,
}

async fn two_workers_share_one_rate(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.running("notice-1", &people(100), Office::frozen()).await;
    let settings = || at_rate(office.settings(), "20/s");

    let workers = [office.hire(settings()), office.hire(settings())];
    for worker in workers {
        worker.ended().await;
    }

    let times: Vec<i64> = office.server.journal().iter().map(|mail| mail.at).collect();
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    // 100 mails need five windows of a second; the first and the last may be short.
    assert!(last - first > 3_000_000, "{} us", last - first);
    office.check(batch).await;
}

/// in2code-de/luxletter#247: "too many concurrent connections".
async fn four_workers_never_open_more_connections_than_allowed(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(3), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(400), Office::frozen()).await;
    let settings = || {
        let mut settings = office.settings();
        settings.routes.values_mut().for_each(|route| route.connections = 3);
        settings
    };

    let workers: Vec<_> = (0..4).map(|_| office.hire(settings())).collect();
    for worker in workers {
        worker.ended().await;
    }

    let seen = office.server.seen();
    assert!(seen.most_open <= 3, "{seen:?}");
    assert_eq!((office.counts(batch).await.sent, seen.errors), (400, 0));
    office.check(batch).await;
}

async fn a_changed_rate_takes_effect_between_messages(place: Place) {
    let office = Office::on(place, Behaviour::default()).await;
    let batch = office.draft("notice-1", &people(50), Office::frozen()).await;
    let by = By::new("hanako", "slowly at first");
    let rate = |rate: &str| Changes { rate: Some(rate.to_owned()), ..Changes::default() };
    office.ledger.change(batch, rate("1/h"), by.clone(), office.clock.now()).await.unwrap();
    office.start(batch, Office::frozen()).await;
    let worker = office.hire(office.settings());
    office.until("the first mail is out", || async { office.server.seen().accepted >= 1 }).await;

    office.ledger.change(batch, rate(""), by, office.clock.now()).await.unwrap();
    worker.ended().await;

    assert_eq!(office.counts(batch).await.sent, 50);
    office.check(batch).await;
}

async fn a_worker_that_comes_later_gets_its_share_of_the_connections(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(20), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(1500), Office::frozen()).await;
    let settings = || {
        let mut settings = office.settings();
        settings.routes.values_mut().for_each(|route| route.connections = 4);
        settings
    };
    let first = office.hire(settings());
    office.until("all connections are in use", || async { office.server.seen().open == 4 }).await;

    let second = office.hire(settings());
    let (first, second) = (first.ended().await, second.ended().await);

    assert!(second.counts.sent > 0, "{first:?} {second:?}");
    assert!(office.server.seen().most_open <= 4);
    office.check(batch).await;
}

async fn an_order_does_not_wait_for_a_notice(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(10), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let notice = office.running("notice-1", &people(2000), Office::frozen()).await;
    let worker = office.hire(office.settings());
    office.until("the notice goes out", || async { office.server.seen().accepted > 100 }).await;

    let orders: Vec<String> = (0..10).map(|n| format!("order{n}@example.test")).collect();
    let order = office.running("order-1", &orders, Office::frozen()).await;
    office.until("the orders are out", || async { office.counts(order).await.sent == 10 }).await;

    assert!(office.counts(notice).await.ready > 500);
    worker.drained().await;
    office.check(order).await;
}

async fn a_batch_with_one_connection_uses_one_over_all_workers(place: Place) {
    let slow = Behaviour {
        thinks: Duration::from_millis(5),
        records: Records::Nothing,
        ..Behaviour::default()
    };
    let office = Office::on(place, slow).await;
    let batch = office.draft("notice-1", &people(60), Office::frozen()).await;
    let one = Changes { connections: Some(1), ..Changes::default() };
    let by = By::new("hanako", "gently");
    office.ledger.change(batch, one, by, office.clock.now()).await.unwrap();
    office.start(batch, Office::frozen()).await;

    let workers = [office.hire(office.settings()), office.hire(office.settings())];
    for worker in workers {
        worker.ended().await;
    }

    assert_eq!(office.counts(batch).await.sent, 60);
    assert!(office.server.seen().most_open <= 2, "{:?}", office.server.seen());
    office.check(batch).await;
}
