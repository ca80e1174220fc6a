//! What workers share about a transport.

use std::sync::Arc;
use std::time::Duration;

use ittsu::domain::policy::Policy;
use ittsu::domain::rate::Tokens;
use ittsu::domain::time::Timestamp;
use tokio::task::JoinSet;

use crate::support::engines::{Place, on_every_engine};
use crate::support::ledgers::{Books, NOW};

on_every_engine! {
    workers_together_take_no_more_tokens_than_the_rate,
    a_day_of_tokens_survives_a_restart,
    workers_together_hold_no_more_lanes_than_connections,
    a_failing_transport_is_closed_for_all_and_tried_by_one,
}

const DAY: (Timestamp, Timestamp) =
    (Timestamp(NOW.0 - 3_600_000_000), Timestamp(NOW.0 + 82_800_000_000));

async fn workers_together_take_no_more_tokens_than_the_rate(place: Place) {
    let books = Arc::new(Books::with(place, 1, Policy::Hold).await);
    let mut takers = JoinSet::new();
    for _ in 0..8 {
        let ledger = books.ledger.clone();
        takers.spawn(async move {
            let mut taken = 0;
            for _ in 0..10 {
                let rate = "20/s".parse().unwrap();
                let relay = "smtp.relay".to_owned();
                match ledger.take_tokens(relay, rate, 3, NOW, DAY).await.unwrap() {
                    Tokens::Taken { tokens, .. } => taken += tokens,
                    Tokens::NotBefore(at) => assert!(at > NOW),
                }
            }
            taken
        });
    }
    assert_eq!(takers.join_all().await.into_iter().sum::<i64>(), 20);
}

async fn a_day_of_tokens_survives_a_restart(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let rate = "3/day".parse().unwrap();
    let take = |ledger: ittsu::ledger::Ledger, now: Timestamp, day| async move {
        ledger.take_tokens("smtp.relay".to_owned(), rate, 2, now, day).await.unwrap()
    };
    assert!(matches!(take(books.ledger.clone(), NOW, DAY).await, Tokens::Taken { tokens: 2, .. }));
    let again = ittsu::ledger::Ledger::open(books.ledger.location(), ittsu::db::Open::Existing);
    let again = again.await.unwrap();
    assert!(matches!(take(again.clone(), NOW, DAY).await, Tokens::Taken { tokens: 1, .. }));
    assert_eq!(take(again.clone(), NOW, DAY).await, Tokens::NotBefore(DAY.1));
    let tomorrow = (DAY.1, DAY.1 + Duration::from_hours(24));
    assert!(matches!(take(again, DAY.1, tomorrow).await, Tokens::Taken { tokens: 2, .. }));
}

async fn workers_together_hold_no_more_lanes_than_connections(place: Place) {
    let books = Arc::new(Books::with(place, 1, Policy::Hold).await);
    let mut takers = JoinSet::new();
    for _ in 0..6 {
        let books = Arc::clone(&books);
        takers.spawn(async move {
            let me = books.worker().await.me;
            let mut lanes = Vec::new();
            for _ in 0..3 {
                let relay = "smtp.relay".to_owned();
                let lane = books.ledger.take_lane(relay, me.worker, 7, NOW).await.unwrap();
                lanes.extend(lane.map(|lane| (me.worker, lane)));
            }
            lanes
        });
    }
    let mut taken: Vec<_> = takers.join_all().await.into_iter().flatten().collect();
    // Who came while another one's lane was locked may have gone away empty.
    let last = books.worker().await.me.worker;
    while let Some(lane) =
        books.ledger.take_lane("smtp.relay".to_owned(), last, 7, NOW).await.unwrap()
    {
        taken.push((last, lane));
    }
    let mut numbers: Vec<i64> = taken.iter().map(|(_, lane)| *lane).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
    let (worker, lane) = taken[0];
    let relay = || "smtp.relay".to_owned();
    books.ledger.release_lanes(relay(), worker, vec![lane], NOW).await.unwrap();
    assert_eq!(books.ledger.lanes("smtp.relay", 7).await.unwrap().free, 1);
    // A lane that is not mine any more is not mine to give back.
    assert_eq!(books.ledger.take_lane(relay(), last, 7, NOW).await.unwrap(), Some(lane));
    if worker != last {
        books.ledger.release_lanes(relay(), worker, vec![lane], NOW).await.unwrap();
        assert_eq!(books.ledger.lanes("smtp.relay", 7).await.unwrap().free, 0);
    }
}

async fn a_failing_transport_is_closed_for_all_and_tried_by_one(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let (one, two) = (books.worker().await.me.worker, books.worker().await.me.worker);
    let (ledger, relay) = (&books.ledger, || "smtp.relay".to_owned());
    assert_eq!(ledger.endpoint("smtp.relay").await.unwrap().failures, 0);
    let until = NOW + Duration::from_mins(1);
    ledger.endpoint_failed(relay(), "421 busy".to_owned(), until, NOW).await.unwrap();
    let state = ledger.endpoint_failed(relay(), "421 again".to_owned(), NOW, NOW).await.unwrap();
    assert_eq!((state.failures, state.closed_until, state.why.as_str()), (2, until, "421 again"));
    assert!(!ledger.take_probe(relay(), one, NOW).await.unwrap());
    assert!(ledger.take_probe(relay(), one, until).await.unwrap());
    assert!(ledger.take_probe(relay(), one, until).await.unwrap());
    assert!(!ledger.take_probe(relay(), two, until).await.unwrap());
    ledger.endpoint_ok(relay(), until).await.unwrap();
    let state = ledger.endpoint("smtp.relay").await.unwrap();
    assert_eq!((state.failures, state.closed_until, state.probe), (0, Timestamp(0), None));
}
