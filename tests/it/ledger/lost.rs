//! Acknowledgements that never arrive, on the engines that have a network between (T5).

use ittsu::db::{Location, Open};
use ittsu::domain::policy::Policy;
use ittsu::ledger::Ledger;
use ittsu::ledger::recorder::{Answer, FinishAnswer, Recorder, StartAnswer, Step};

use crate::support::engines::{Engine, Place, run};
use crate::support::hand::{a_start, accepted, start};
use crate::support::ledgers::{BATCH, Books, NOW};
use crate::support::proxy::{Fault, Proxy};

mod postgres {
    use super::*;

    #[test]
    fn t5_a_group_whose_acknowledgement_was_lost_is_found_written() {
        run(Engine::Postgres, super::lost);
    }

    #[test]
    fn t5_a_group_that_runs_after_its_sender_gave_it_up_changes_nothing() {
        run(Engine::Postgres, super::late);
    }

    #[test]
    fn t6_a_claim_whose_acknowledgement_was_lost_is_found_again() {
        run(Engine::Postgres, super::claim);
    }
}

mod mariadb {
    use super::*;

    #[test]
    fn t5_a_group_whose_acknowledgement_was_lost_is_found_written() {
        run(Engine::MariaDb, super::lost);
    }

    #[test]
    fn t5_a_group_that_runs_after_its_sender_gave_it_up_changes_nothing() {
        run(Engine::MariaDb, super::late);
    }

    #[test]
    fn t6_a_claim_whose_acknowledgement_was_lost_is_found_again() {
        run(Engine::MariaDb, super::claim);
    }
}

const STARTED: StartAnswer = StartAnswer::Started { first_started: NOW };
const BOTH: Answer = Answer { finish: Some(FinishAnswer::Recorded), start: Some(STARTED) };

/// A worker of `books` whose recorder goes through `proxy` and has written a group before.
async fn recorder(books: &Books, proxy: &Proxy) -> Recorder {
    let hand = books.worker().await;
    assert_eq!(hand.claim(9).await.rows.len(), 9);
    let far = Location::parse(&proxy.url, std::path::Path::new("/")).unwrap();
    let far = Ledger::open(&far, Open::Existing).await.unwrap();
    let mut recorder = Recorder::new(far, hand.me);
    recorder.write(&[start(1, 1), start(2, 1), start(3, 1)], NOW).await.unwrap();
    recorder.write(&[group(1)], NOW).await.unwrap();
    recorder
}

/// Ends `row` and starts the one three further on.
fn group(row: i64) -> Step {
    Step { finish: accepted(row, 1).finish, start: Some(a_start(row + 3, 1)) }
}

async fn lost(place: Place) {
    let proxy = Proxy::before(&place.url).await;
    let books = Books::with(place, 9, Policy::Hold).await;
    let mut recorder = recorder(&books, &proxy).await;
    proxy.next(Fault::LoseAnswer);
    let steps = [group(2), group(3)];
    let (answers, ()) = tokio::join!(recorder.write(&steps, NOW), proxy.struck());
    assert_eq!(answers.unwrap(), [BOTH, BOTH]);
    assert_eq!(books.number("select count(*) from attempt").await, 3);
    assert_eq!(books.number("select count(*) from delivery where attempt = 1").await, 6);
    books.assert_counters_agree().await;
}

async fn late(place: Place) {
    let proxy = Proxy::before(&place.url).await;
    let books = Books::with(place, 9, Policy::Hold).await;
    let mut recorder = recorder(&books, &proxy).await;
    proxy.next(Fault::DeliverLate);
    let steps = [group(2), group(3)];
    let (answers, ()) = tokio::join!(recorder.write(&steps, NOW), proxy.struck());
    assert_eq!(answers.unwrap(), [BOTH, BOTH]);
    books.assert_counters_agree().await;
    proxy.deliver().await;
    assert_eq!(books.number("select count(*) from attempt").await, 3);
    assert_eq!(books.stands(6).await, "sending");
    books.assert_counters_agree().await;
    recorder.write(&[Step { finish: accepted(6, 1).finish, start: None }], NOW).await.unwrap();
    assert_eq!(books.stands(6).await, "sent accepted");
}

async fn claim(place: Place) {
    let proxy = Proxy::before(&place.url).await;
    let books = Books::with(place, 3, Policy::Hold).await;
    let hand = books.worker().await;
    let far = Location::parse(&proxy.url, std::path::Path::new("/")).unwrap();
    let far = Ledger::open(&far, Open::Existing).await.unwrap();
    // The first commit is that of the number the claim gets.
    proxy.after(1, Fault::LoseCommit);
    let worker = hand.me.worker;
    let (taken, ()) = tokio::join!(far.claim(worker, BATCH, 3, NOW), proxy.struck());
    assert!(taken.unwrap_err().is_transient());
    let found = books.ledger.own_forgotten_rows(worker).await.unwrap();
    assert_eq!(found.rows.len(), 3);
}
