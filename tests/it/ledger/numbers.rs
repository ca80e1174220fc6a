//! Every number of one answer comes from one moment and agrees with the rows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ittsu::domain::batch::{BatchState, Bucket};
use ittsu::domain::id::RecipientId;
use ittsu::domain::plan::Act;
use ittsu::domain::policy::OncePer;
use ittsu::domain::selection::Selection;
use ittsu::domain::state::{How, State};
use ittsu::ledger::batches::Batch;
use ittsu::ledger::counts::Difference;
use ittsu::ledger::settle::SettleRequest;

use super::book::{Book, NOON, by, key, new_batch, people, person};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    the_state_of_a_batch_follows_from_its_rows,
    a_wrong_counter_is_found,
    the_longest_wait_is_since_the_start_or_since_the_row_came_due,
    only_living_workers_are_counted,
    numbers_add_up_while_rows_move,
    a_report_is_one_moment,
    causes_and_domains_are_counted,
    the_do_not_send_list_grows_and_shrinks_with_a_rising_number,
}

async fn the_state_of_a_batch_follows_from_its_rows(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 2).await;
    let state =
        || async { book.ledger.status(Some(batch.id), NOON).await.unwrap().batches[0].state };
    assert_eq!(state().await, BatchState::Running);
    let sent = "state = 'sent', how = 'accepted', due_at = null, attempt = 1";
    book.put(&batch, 1, sent).await;
    book.put(&batch, 2, "state = 'sending', flag = 'unknown', due_at = null, attempt = 1").await;
    assert_eq!(state().await, BatchState::Running);
    book.put(&batch, 2, "state = 'failed', how = 'refused', flag = 'failed'").await;
    assert_eq!(state().await, BatchState::Done);
    // Rows that come back make it run again.
    book.put(&batch, 2, "state = 'ready', how = '', flag = null, due_at = 5").await;
    assert_eq!(state().await, BatchState::Running);
    book.put(&batch, 2, sent).await;
    book.sql("update batch set open_until = ?", vec![(NOON + Duration::from_secs(9)).into()]).await;
    assert_eq!(state().await, BatchState::Running);
}

async fn a_wrong_counter_is_found(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 5).await;
    let other = book.running("notice-2", 5).await;
    book.adds_up().await;
    book.sql(
        "update delivery set state = 'sent', how = 'accepted', due_at = null, attempt = 3
          where id = ?",
        vec![book.row(&batch, 1).await.id.into()],
    )
    .await;
    let batch = batch.id;
    let expected = [
        Difference { batch, bucket: Bucket::Ready, counter: 5, rows: 4 },
        Difference { batch, bucket: Bucket::Sent, counter: 0, rows: 1 },
        Difference { batch, bucket: Bucket::Attempts, counter: 0, rows: 3 },
    ];
    assert_eq!(book.ledger.verify(None).await.unwrap(), expected);
    assert_eq!(book.ledger.verify(Some(batch)).await.unwrap(), expected);
    assert_eq!(book.ledger.verify(Some(other.id)).await.unwrap(), []);
}

async fn the_longest_wait_is_since_the_start_or_since_the_row_came_due(place: Place) {
    let book = Book::on(place).await;
    let draft = book.draft("notice-1").await;
    book.import(&draft, people(1..=3)).await;
    let waits = || async {
        let status = book.ledger.status(None, NOON + Duration::from_secs(100)).await.unwrap();
        let batch = &status.batches[0];
        (batch.oldest_ready_at, batch.next_due_at)
    };
    assert_eq!(waits().await, (None, None));
    book.start(&draft, 3).await.unwrap();
    assert_eq!(waits().await, (Some(NOON), None));
    let due = |seconds| format!("due_at = {}", (NOON + Duration::from_secs(seconds)).0);
    book.put(&draft, 1, &due(500)).await;
    assert_eq!(waits().await, (Some(NOON), Some(NOON + Duration::from_secs(500))));
    book.put(&draft, 2, &due(50)).await;
    book.put(&draft, 3, "due_at = null, worker = 5").await;
    let expected = (NOON + Duration::from_secs(50), NOON + Duration::from_secs(500));
    assert_eq!(waits().await, (Some(expected.0), Some(expected.1)));
    book.put(&draft, 2, &due(600)).await;
    assert_eq!(waits().await, (None, Some(NOON + Duration::from_secs(500))));
}

async fn only_living_workers_are_counted(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let workers = || async { book.ledger.status(None, NOON).await.unwrap().batches[0].workers };
    for worker in [5, 6] {
        book.worker(worker).await;
        for claim in [0, 10] {
            book.sql(
                "insert into claim (id, worker, batch, ids, at) values (?, ?, ?, '[]', 0)",
                vec![(worker + claim).into(), worker.into(), batch.id.into()],
            )
            .await;
        }
    }
    assert_eq!(workers().await, 2);
    book.lose_worker(6).await;
    assert_eq!(workers().await, 1);
}

/// Marks rows back and forth until it is told to stop.
async fn churn(book: &Book, batch: &Batch, stop: &AtomicBool) {
    let mut act = Act::MarkFailed;
    while !stop.load(Ordering::Relaxed) {
        let keys = (1..=40).map(key).collect();
        let request = SettleRequest {
            batch: batch.id,
            selection: Selection { keys, ..Selection::default() },
            act,
            to: None,
            confirm: 40,
            words: String::new(),
        };
        book.ledger.settle(request, by(), NOON).await.unwrap();
        act = if act == Act::MarkFailed { Act::Resend } else { Act::MarkFailed };
    }
}

async fn numbers_add_up_while_rows_move(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 100).await;
    let stop = AtomicBool::new(false);
    let look = async {
        for _ in 0..100 {
            let counts = book.counts(&batch).await;
            assert_eq!(counts.total(), 100, "{counts:?}");
            assert!(counts.failed == 0 || counts.failed == 40, "{counts:?}");
            book.adds_up().await;
        }
        stop.store(true, Ordering::Relaxed);
    };
    tokio::join!(churn(&book, &batch, &stop), look);
}

async fn a_report_is_one_moment(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 100).await;
    let stop = AtomicBool::new(false);
    let look = async {
        for _ in 0..30 {
            let mut moment = book.ledger.snapshot(NOON).await.unwrap();
            let counts = moment.status(Some(batch.id)).await.unwrap()[0].counts;
            let rows =
                moment.rows(&batch, &Selection::default(), RecipientId(0), 1_000).await.unwrap();
            let failed = rows.iter().filter(|row| row.state == State::Failed).count();
            let domains = moment.domains(&batch).await.unwrap();
            let causes = moment.causes(&batch).await.unwrap();
            let explained: i64 = causes.iter().map(|cause| cause.rows).sum();
            assert_eq!(i64::try_from(failed).unwrap(), counts.failed);
            assert_eq!((domains[0].counts.failed, explained), (counts.failed, counts.failed));
            assert_eq!(domains[0].counts.total(), 100);
        }
        stop.store(true, Ordering::Relaxed);
    };
    tokio::join!(churn(&book, &batch, &stop), look);
}

async fn causes_and_domains_are_counted(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut rows = people(1..=8);
    for row in &mut rows[5..] {
        row.address_key = format!("{}@docomo.example", row.key);
    }
    book.import(&batch, rows).await;
    book.start(&batch, 8).await.unwrap();
    let failed = "state = 'failed', how = 'refused', flag = 'failed', due_at = null, attempt = 1";
    for (line, code) in [(1, 550), (2, 550), (7, 554)] {
        let enhanced = if code == 550 { "5.1.1" } else { "5.7.1" };
        let sets = format!("{failed}, code = {code}, enhanced = '{enhanced}'");
        book.put(&batch, line, &sets).await;
    }
    let id = book.row(&batch, 2).await.id;
    book.sql(
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         values (?, 1, 5, 1, 10, 20, 'rcpt', 'refused', '', 'row', 550, '5.1.1', ?, '', 0, 1)",
        vec![id.into(), (&b"550 no such user"[..]).into()],
    )
    .await;
    let batch = book.ledger.batch("notice-1").await.unwrap();
    let mut moment = book.ledger.snapshot(NOON).await.unwrap();
    let causes = moment.causes(&batch).await.unwrap();
    let told: Vec<_> =
        causes.iter().map(|c| (c.how, c.code, c.enhanced.as_str(), c.rows)).collect();
    let refused = Some(How::Refused);
    assert_eq!(told, [(refused, 550, "5.1.1", 2), (refused, 554, "5.7.1", 1)]);
    assert_eq!(causes[0].reply, b"550 no such user");
    let domains = moment.domains(&batch).await.unwrap();
    let told: Vec<_> =
        domains.iter().map(|d| (d.domain.as_str(), d.counts.total(), d.counts.failed)).collect();
    assert_eq!(told, [("example.org", 5, 2), ("docomo.example", 3, 1)]);
}

async fn the_do_not_send_list_grows_and_shrinks_with_a_rising_number(place: Place) {
    let book = Book::on(place).await;
    let addresses = |lines: std::ops::RangeInclusive<i64>| -> Vec<String> {
        lines.map(|line| person(line).address_key).collect()
    };
    let add = |lines, kind| book.ledger.suppress(addresses(lines), kind, by(), NOON);
    let remove = |lines, kind| book.ledger.unsuppress(addresses(lines), kind, by(), NOON);
    let first = add(1..=6_000, "").await.unwrap();
    assert_eq!((first.matched, first.changed), (6_000, 6_000));
    let again = add(5_999..=6_001, "").await.unwrap();
    assert_eq!((again.matched, again.changed), (3, 1));
    let of_a_kind = add(1..=2, "notice").await.unwrap();
    assert_eq!(of_a_kind.changed, 2);
    let last = book.ledger.suppressions(Some("notice"), 0, 10).await.unwrap().pop().unwrap();
    assert_eq!((last.address, last.operator.as_str()), (person(2).address_key, "kim"));
    let gone = remove(2..=6_001, "").await.unwrap();
    assert_eq!((gone.matched, gone.changed), (6_000, 6_000));
    assert_eq!(remove(2..=6_001, "").await.unwrap().changed, 0);
    assert_eq!(book.ledger.suppressions(None, 0, 10_000).await.unwrap().len(), 3);
    remove(1..=2, "notice").await.unwrap();
    add(7..=7, "notice").await.unwrap();
    let newest = book.ledger.suppressions_of(&person(7).address_key).await.unwrap();
    assert!(newest[0].seq > last.seq);
    let journal = book.ledger.journal(None, None, 100).await.unwrap();
    let told: Vec<_> = journal.iter().rev().map(|e| (e.action.as_str(), e.changed)).collect();
    assert_eq!(
        told,
        [
            ("suppress", 6_000),
            ("suppress", 1),
            ("suppress", 2),
            ("unsuppress", 6_000),
            ("unsuppress", 2),
            ("suppress", 1)
        ]
    );
    let orders = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    assert_eq!(book.import(&orders, people(1..=7)).await.suppressed, 1);
}
