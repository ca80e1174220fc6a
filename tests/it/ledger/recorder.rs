//! Groups of starts and finishes.

use ittsu::domain::outcome::Outcome;
use ittsu::domain::policy::Policy;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::{Cause, How};
use ittsu::ledger::recorder::{Answer, FinishAnswer, RecordError, StartAnswer, Step};

use crate::support::engines::{Place, on_every_engine};
use crate::support::hand::{a_finish, a_start, accepted, finish, start};
use crate::support::ledgers::{BATCH, Books, NOW, UNWRITABLE};

on_every_engine! {
    a_group_moves_its_rows_and_counts_them,
    every_end_leaves_its_row_where_it_was_settled,
    a_request_that_cannot_be_written_is_named_and_the_others_are,
    a_group_in_somebodys_way_is_written_when_they_are_done,
}

const STARTED: StartAnswer = StartAnswer::Started { first_started: NOW };

async fn a_group_moves_its_rows_and_counts_them(place: Place) {
    let books = Books::with(place, 10, Policy::Hold).await;
    let mut one = books.worker().await;
    assert_eq!(one.claim(10).await.rows.len(), 10);
    let starts: Vec<Step> = (1..=5).map(|id| start(id, 1)).collect();
    let answers = one.write(&starts).await.unwrap();
    assert_eq!(answers, vec![Answer { finish: None, start: Some(STARTED) }; 5]);
    books.assert_counters_agree().await;
    let done = (1..=5)
        .map(|id| Step {
            finish: Some(a_finish(id, 1, Outcome::Accepted, Settled::Sent(How::Accepted))),
            start: Some(a_start(id + 5, 1)),
        })
        .collect::<Vec<_>>();
    let answers = one.write(&done).await.unwrap();
    let both = Answer { finish: Some(FinishAnswer::Recorded), start: Some(STARTED) };
    assert_eq!(answers, vec![both; 5]);
    assert_eq!(books.stands(1).await, "sent accepted");
    assert_eq!(books.stands(6).await, "sending");
    assert_eq!(books.number("select count(*) from attempt where outcome = 'accepted'").await, 5);
    let reply = &books.rows("select reply from attempt where row = 1").await[0];
    assert_eq!(reply.bytes(0).unwrap(), b"250 2.0.0 ok \xff\x00'\"\\");
    books.assert_counters_agree().await;
}

async fn every_end_leaves_its_row_where_it_was_settled(place: Place) {
    let books = Books::with(place, 7, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(7).await;
    let starts: Vec<Step> = (1..=7).map(|id| start(id, 1)).collect();
    one.write(&starts).await.unwrap();
    let silence = Outcome::Unknown(Cause::NoAnswer);
    let group = [
        accepted(1, 1),
        finish(2, 1, Outcome::Refused, Settled::Failed(How::Refused)),
        finish(3, 1, Outcome::Deferred, Settled::Ready { due: NOW }),
        finish(4, 1, Outcome::NotSent, Settled::Ready { due: NOW }),
        finish(5, 1, silence, Settled::Unknown(Cause::NoAnswer)),
        finish(6, 1, silence, Settled::Sent(How::Assumed)),
        finish(7, 1, silence, Settled::Ready { due: NOW }),
    ];
    one.write(&group).await.unwrap();
    let mut stands = Vec::new();
    for id in 1..=7 {
        let row = books.row(id).await;
        assert_eq!(row.worker, 0);
        stands.push((books.stands(id).await, row.tries, row.unknown_attempts, row.due_at));
    }
    let due = Some(NOW.0);
    assert_eq!(
        stands,
        [
            ("sent accepted".to_owned(), 1, 0, None),
            ("failed refused".to_owned(), 1, 0, None),
            ("ready".to_owned(), 1, 0, due),
            ("ready".to_owned(), 0, 0, due),
            ("sending unknown".to_owned(), 1, 1, None),
            ("sent assumed".to_owned(), 1, 1, None),
            ("ready".to_owned(), 1, 1, due),
        ]
    );
    books.assert_counters_agree().await;
}

async fn a_request_that_cannot_be_written_is_named_and_the_others_are(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(3).await;
    let starts: Vec<Step> = (1..=3).map(|id| start(id, 1)).collect();
    one.write(&starts).await.unwrap();
    books.make_unwritable().await;
    let mut bad = a_finish(2, 1, Outcome::Accepted, Settled::Sent(How::Accepted));
    bad.template = UNWRITABLE;
    let group = [accepted(1, 1), Step { finish: Some(bad), start: None }, accepted(3, 1)];
    let err = one.write(&group).await.unwrap_err();
    assert!(matches!(err, RecordError::Unwritable { index: 1, .. }), "{err:?}");
    let rest = [group[0].clone(), group[2].clone()];
    let recorded = Answer { finish: Some(FinishAnswer::Recorded), start: None };
    assert_eq!(one.write(&rest).await.unwrap(), [recorded, recorded]);
    assert_eq!(books.stands(2).await, "sending");
    assert_eq!(books.stands(3).await, "sent accepted");
    books.assert_counters_agree().await;
}

/// Somebody holds a row of the group: the group waits, or is repeated whole, and then is written.
async fn a_group_in_somebodys_way_is_written_when_they_are_done(place: Place) {
    let books = Books::with(place, 6, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(6).await;
    let person = async {
        for _ in 0..20 {
            // Another order of rows than a recorder's: this is how deadlocks are made.
            books.run("update delivery set updated = updated + 1 where id = 6").await;
            books.touch_rows(&[6, 3, 1]).await;
        }
    };
    let worker = async {
        for attempt in 1..=10 {
            let starts: Vec<Step> = (1..=6).map(|id| start(id, attempt)).collect();
            let started = one.recorder.write(&starts, NOW).await.unwrap();
            assert!(started.iter().all(|a| matches!(a.start, Some(StartAnswer::Started { .. }))));
            let ends: Vec<Step> = (1..=6)
                .map(|id| finish(id, attempt, Outcome::Deferred, Settled::Ready { due: NOW }))
                .collect();
            one.recorder.write(&ends, NOW).await.unwrap();
            one.ledger.claim(one.me.worker, BATCH, 6, NOW).await.unwrap();
            // A row that was locked just now is passed over; it is claimed in the next round.
            while one.ledger.own_forgotten_rows(one.me.worker).await.unwrap().rows.len() < 6 {
                one.ledger.claim(one.me.worker, BATCH, 6, NOW).await.unwrap();
            }
        }
    };
    tokio::join!(person, worker);
    assert_eq!(books.number("select count(*) from attempt").await, 60);
    books.assert_counters_agree().await;
}
