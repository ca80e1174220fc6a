//! What people settle by hand: exactly the rows they saw, in the journal, and back again.

use std::time::Duration;

use ittsu::domain::id::Generation;
use ittsu::domain::plan::{Act, Left};
use ittsu::domain::selection::Selection;
use ittsu::domain::state::{Flag, How, State};
use ittsu::domain::time::Timestamp;
use ittsu::ledger::Refused;
use ittsu::ledger::batches::Batch;
use ittsu::ledger::journal::By;
use ittsu::ledger::rows::RowView;
use ittsu::ledger::settle::{NewAddress, SettleRequest, Settled};

use super::book::{Book, NOON, by, key, refusal, with_key};
use super::undo::undo as undone;
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    each_action_does_to_each_row_what_the_table_says,
    a_wrong_count_changes_nothing,
    the_second_time_there_is_nothing_to_do_whatever_the_count,
    a_plan_says_what_would_change_and_changes_nothing,
    the_second_operator_hears_who_was_first,
    two_operators_at_once_change_a_row_once,
    rows_of_a_living_worker_are_left_and_those_of_a_lost_one_are_not,
    a_mail_that_counts_as_sent_goes_out_again_only_as_another_copy,
    a_resent_row_starts_with_all_its_tries,
    doubts_are_counted_before_and_after,
    an_address_is_corrected_for_one_row_only,
    nothing_is_sent_again_from_a_cancelled_batch,
    a_bulk_change_touches_exactly_the_selected_rows,
    a_bulk_change_that_is_interrupted_is_all_or_nothing,
}

/// Lines 1 to 6 of a running batch, one in every state a row can be in.
pub(super) const SHAPES: [&str; 6] = [
    "state = 'ready'",
    "state = 'sending', flag = 'unknown', cause = 'crash', due_at = null, attempt = 1,
     first_started = 7, unknown_attempts = 1, worker = 0",
    "state = 'sending', due_at = null, attempt = 1, first_started = 7, worker = 5",
    "state = 'sent', how = 'accepted', due_at = null, attempt = 1, first_started = 7",
    "state = 'sent', how = 'assumed', flag = 'assumed', due_at = null, attempt = 2, tries = 2,
     first_started = 7, unknown_attempts = 2, handed_again = 1",
    "state = 'failed', how = 'refused', flag = 'failed', due_at = null, attempt = 5, tries = 5,
     first_started = 7, code = 550",
];

pub(super) async fn shaped(book: &Book, name: &str) -> Batch {
    let batch = book.running(name, 8).await;
    for (line, shape) in (1..).zip(SHAPES) {
        book.put(&batch, line, shape).await;
    }
    batch
}

pub(super) fn request(
    batch: &Batch,
    act: Act,
    selection: Selection,
    confirm: i64,
) -> SettleRequest {
    SettleRequest { batch: batch.id, selection, act, to: None, confirm, words: String::new() }
}

pub(super) async fn settle(
    book: &Book,
    batch: &Batch,
    act: Act,
    selection: Selection,
    confirm: i64,
) -> Result<Settled, Refused> {
    let request = request(batch, act, selection, confirm);
    book.ledger.settle(request, by(), later(60)).await.map_err(refusal)
}

pub(super) fn later(seconds: u64) -> Timestamp {
    NOON + Duration::from_secs(seconds)
}

pub(super) fn lines(lines: std::ops::RangeInclusive<i64>) -> Selection {
    Selection { keys: lines.map(key).collect(), ..Selection::default() }
}

fn shape(row: &RowView) -> (State, Option<How>, Option<Flag>) {
    (row.state, row.how, row.flag)
}

async fn each_action_does_to_each_row_what_the_table_says(place: Place) {
    let book = Book::on(place).await;
    book.worker(5).await;
    let sent = Ok((State::Sent, Some(How::Operator), None));
    let failed = Ok((State::Failed, Some(How::Operator), Some(Flag::Failed)));
    let ready = Ok((State::Ready, None, None));
    let table = [
        (Act::MarkSent, [sent, sent, Err(Left::BeingSent), Err(Left::AlreadySent), sent, sent]),
        (
            Act::MarkFailed,
            [
                failed,
                failed,
                Err(Left::BeingSent),
                Err(Left::Accepted),
                failed,
                Err(Left::AlreadyFailed),
            ],
        ),
        (
            Act::Resend,
            [
                Err(Left::AlreadyReady),
                ready,
                Err(Left::BeingSent),
                Err(Left::CountsAsSent),
                Err(Left::CountsAsSent),
                ready,
            ],
        ),
        (
            Act::AnotherCopy,
            [Err(Left::AlreadyReady), ready, Err(Left::BeingSent), ready, ready, ready],
        ),
    ];
    for (act, expected) in table {
        let batch = shaped(&book, &format!("by-{act}")).await;
        for (line, expected) in (1..).zip(expected) {
            let before = book.row(&batch, line).await;
            let settled = settle(&book, &batch, act, with_key(line), 1).await.unwrap();
            let after = book.row(&batch, line).await;
            match expected {
                Ok(expected) => {
                    assert_eq!((settled.matched, settled.changed), (1, 1), "{act} {before:?}");
                    assert_eq!(shape(&after), expected, "{act} {before:?}");
                    assert_eq!((after.worker, after.updated), (None, later(60)));
                    let due = (after.state == State::Ready).then_some(later(60));
                    assert_eq!(after.due_at, due);
                    let story = book.ledger.show(&batch, &key(line)).await.unwrap();
                    assert_eq!(story.journal.len(), 1);
                    assert_eq!(story.journal[0].action, act.as_str());
                }
                Err(why) => {
                    assert_eq!((settled.changed, settled.journal), (0, None), "{act} {before:?}");
                    assert_eq!((settled.left[0].why, settled.left[0].rows), (why, 1), "{act}");
                    assert_eq!(after, before);
                }
            }
        }
        book.adds_up().await;
    }
}

async fn a_wrong_count_changes_nothing(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let before = (book.rows(&batch).await, book.counts(&batch).await);
    for (act, changes) in [(Act::MarkSent, 6), (Act::MarkFailed, 5), (Act::AnotherCopy, 4)] {
        for wrong in [changes - 1, changes + 1, 0] {
            let refused = settle(&book, &batch, act, lines(1..=8), wrong).await.unwrap_err();
            assert_eq!(refused, Refused::CountDiffers { confirmed: wrong, now: changes });
        }
    }
    assert_eq!((book.rows(&batch).await, book.counts(&batch).await), before);
    assert_eq!(book.number("select count(*) from journal_row", Vec::new()).await, 0);
    book.adds_up().await;
}

async fn the_second_time_there_is_nothing_to_do_whatever_the_count(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let unknown = || Selection { unknown: true, ..Selection::default() };
    let first = settle(&book, &batch, Act::MarkFailed, unknown(), 1).await.unwrap();
    assert_eq!((first.matched, first.changed), (1, 1));
    let second = settle(&book, &batch, Act::MarkFailed, unknown(), 1).await.unwrap();
    assert_eq!((second.matched, second.changed, second.journal), (0, 0, None));
    let by_key = settle(&book, &batch, Act::MarkFailed, with_key(2), 7).await.unwrap();
    assert_eq!((by_key.matched, by_key.changed), (1, 0));
}

async fn a_plan_says_what_would_change_and_changes_nothing(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let before = (book.rows(&batch).await, book.counts(&batch).await);
    let asked = request(&batch, Act::MarkSent, lines(1..=8), 0);
    let plan = book.ledger.settle_plan(&asked, NOON).await.unwrap();
    assert_eq!((plan.matched, plan.changed, plan.journal), (8, 6, None));
    assert_eq!((book.rows(&batch).await, book.counts(&batch).await), before);
    let done = settle(&book, &batch, Act::MarkSent, lines(1..=8), 6).await.unwrap();
    assert_eq!((done.left, done.changed), (plan.left, plan.changed));
}

async fn the_second_operator_hears_who_was_first(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let mark = |who: &str, act| {
        let asked = request(&batch, act, with_key(2), 1);
        book.ledger.settle(asked, By::new(who, "the log says so"), later(60))
    };
    mark("kim", Act::MarkSent).await.unwrap();
    let second = mark("lee", Act::MarkSent).await.unwrap();
    assert_eq!(second.left[0].why, Left::AlreadySent);
    assert_eq!(second.left[0].by, Some(("kim".to_owned(), later(60))));
    let third = mark("lee", Act::MarkFailed).await.unwrap();
    assert_eq!((third.changed, third.left[0].why), (0, Left::ByHand));
}

async fn two_operators_at_once_change_a_row_once(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 200).await;
    let flag = "state = 'sending', flag = 'unknown', unknown_attempts = 1, due_at = null";
    book.sql(&format!("update delivery set {flag}"), Vec::new()).await;
    book.recount(batch.id).await;
    let all = || Selection { unknown: true, ..Selection::default() };
    let answers = futures_util::future::join_all((0..4).map(|n| {
        let act = if n % 2 == 0 { Act::MarkSent } else { Act::MarkFailed };
        settle(&book, &batch, act, all(), 200)
    }))
    .await;
    let changed: Vec<_> = answers.into_iter().map(|done| done.unwrap().changed).collect();
    assert_eq!(changed.iter().sum::<i64>(), 200, "{changed:?}");
    assert_eq!(changed.iter().filter(|&&n| n == 200).count(), 1, "{changed:?}");
    assert_eq!(book.number("select count(*) from journal_row", Vec::new()).await, 200);
    book.adds_up().await;
}

async fn rows_of_a_living_worker_are_left_and_those_of_a_lost_one_are_not(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 5).await;
    book.worker(5).await;
    book.put(&batch, 1, "worker = 5, due_at = null").await;
    book.put(&batch, 2, "worker = 5, state = 'sending', attempt = 1, due_at = null").await;
    book.put(
        &batch,
        3,
        "worker = 5, state = 'sending', flag = 'unknown', cause = 'no_answer', attempt = 1,
         unknown_attempts = 1, due_at = null",
    )
    .await;
    let done = settle(&book, &batch, Act::MarkFailed, lines(1..=4), 2).await.unwrap();
    assert_eq!((done.changed, done.left[0].why, done.left[0].rows), (2, Left::BeingSent, 2));
    assert_eq!(done.left[0].key, key(1));
    book.lose_worker(5).await;
    // Not swept yet: what it had on the wire is nobody's to decide, what it had claimed is.
    let done = settle(&book, &batch, Act::MarkFailed, lines(1..=2), 1).await.unwrap();
    assert_eq!((done.changed, done.left[0].why, done.left[0].rows), (1, Left::BeingSent, 1));
    book.adds_up().await;
}

async fn a_mail_that_counts_as_sent_goes_out_again_only_as_another_copy(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let before = book.row(&batch, 5).await;
    assert_eq!(book.counts(&batch).await.maybe_twice, 1);
    let resent = settle(&book, &batch, Act::Resend, with_key(5), 1).await.unwrap();
    assert_eq!(resent.left[0].why, Left::CountsAsSent);
    settle(&book, &batch, Act::AnotherCopy, with_key(5), 1).await.unwrap();
    let copy = book.row(&batch, 5).await;
    assert_eq!((before.generation, copy.generation), (Generation(1), Generation(2)));
    assert_eq!((copy.attempt, copy.tries), (before.attempt, 0));
    assert_eq!((copy.unknown_attempts, copy.handed_again, copy.first_started), (0, false, None));
    assert_eq!(book.counts(&batch).await.maybe_twice, 0);
    // A row that never counted as sent is the same mail again.
    settle(&book, &batch, Act::AnotherCopy, with_key(6), 1).await.unwrap();
    assert_eq!(book.row(&batch, 6).await.generation, Generation(1));
    book.adds_up().await;
}

async fn a_resent_row_starts_with_all_its_tries(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    settle(&book, &batch, Act::Resend, with_key(6), 1).await.unwrap();
    let row = book.row(&batch, 6).await;
    assert_eq!((row.tries, row.attempt.0, row.first_started), (0, 5, Some(Timestamp(7))));
}

async fn doubts_are_counted_before_and_after(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let plan = |act| {
        let asked = request(&batch, act, lines(1..=8), 0);
        let book = &book;
        async move { book.ledger.settle_plan(&asked, NOON).await.unwrap() }
    };
    assert_eq!(plan(Act::Resend).await.maybe_twice, 1);
    assert_eq!(plan(Act::MarkFailed).await.maybe_delivered, 2);
    settle(&book, &batch, Act::MarkFailed, with_key(2), 1).await.unwrap();
    assert_eq!(book.counts(&batch).await.maybe_delivered, 1);
    settle(&book, &batch, Act::MarkSent, with_key(2), 1).await.unwrap();
    assert_eq!(book.counts(&batch).await.maybe_delivered, 0);
    book.adds_up().await;
}

pub(super) fn new_address() -> NewAddress {
    NewAddress {
        as_written: "Right@Example.org".to_owned(),
        compare_form: "right@example.org".to_owned(),
    }
}

async fn an_address_is_corrected_for_one_row_only(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let to = |selection, confirm| SettleRequest {
        to: Some(new_address()),
        ..request(&batch, Act::Resend, selection, confirm)
    };
    let two = book.ledger.settle(to(lines(1..=8), 2), by(), NOON).await.unwrap_err();
    assert_eq!(refusal(two), Refused::NotOneRow(2));
    assert_eq!(book.row(&batch, 6).await.address, "K000006@example.org");
    let done = book.ledger.settle(to(with_key(6), 1), by(), NOON).await.unwrap();
    let row = book.row(&batch, 6).await;
    assert_eq!((row.address.as_str(), row.state), ("Right@Example.org", State::Ready));
    let found = book.number(
        "select count(*) from recipient where address_key = 'right@example.org'",
        Vec::new(),
    );
    assert_eq!(found.await, 1);
    let entry = &book.ledger.show(&batch, &key(6)).await.unwrap().journal[0];
    assert_eq!(Some(entry.id), done.journal);
    assert_eq!(entry.details["to"], "Right@Example.org");
    // A row that waits may be corrected only by going back to where it failed: it is left.
    let waits = book.ledger.settle(to(with_key(1), 1), by(), NOON).await.unwrap();
    assert_eq!((waits.changed, waits.left[0].why), (0, Left::AlreadyReady));
}

async fn nothing_is_sent_again_from_a_cancelled_batch(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    book.ledger.cancel(batch.id, Some(3), by(), NOON).await.unwrap();
    for act in [Act::Resend, Act::AnotherCopy] {
        let refused = settle(&book, &batch, act, lines(1..=8), 1).await.unwrap_err();
        assert_eq!(refused, Refused::Cancelled("notice-1".to_owned()));
    }
    let marked = settle(&book, &batch, Act::MarkSent, with_key(2), 1).await.unwrap();
    assert_eq!(marked.changed, 1);
    book.adds_up().await;
}

async fn bulk(book: &Book) -> Batch {
    let batch = book.running("notice-1", 10_050).await;
    book.sql(
        "update delivery set state = 'failed', how = 'refused', flag = 'failed', due_at = null,
                             attempt = 1, tries = 1, code = 550
          where batch = ? and id < (select b.first_row + 10001 from batch b where b.id = ?)",
        vec![batch.id.into(), batch.id.into()],
    )
    .await;
    book.recount(batch.id).await;
    batch
}

fn failed() -> Selection {
    Selection { state: Some(State::Failed), ..Selection::default() }
}

async fn a_bulk_change_touches_exactly_the_selected_rows(place: Place) {
    let book = Book::on(place).await;
    let batch = bulk(&book).await;
    let done = settle(&book, &batch, Act::Resend, failed(), 10_001).await.unwrap();
    assert_eq!((done.matched, done.changed, done.left.len()), (10_001, 10_001, 0));
    let counts = book.counts(&batch).await;
    assert_eq!((counts.ready, counts.failed), (10_050, 0));
    assert_eq!(book.number("select count(*) from journal_row", Vec::new()).await, 10_001);
    book.adds_up().await;
    let back = undone(&book, done.journal.unwrap()).await;
    assert_eq!(back.changed, 10_001);
    assert_eq!(book.counts(&batch).await.failed, 10_001);
    book.adds_up().await;
}

/// The process dies in the middle: its runtime, and every connection with it, is gone at once.
async fn a_bulk_change_that_is_interrupted_is_all_or_nothing(place: Place) {
    let url = place.url.clone();
    let book = Book::on(place).await;
    let batch = bulk(&book).await;
    for patience in [1, 5, 20, 50, 100, 200] {
        let before = book.counts(&batch).await;
        let (url, id) = (url.clone(), batch.id);
        let dying = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let work = async move {
                let location = ittsu::db::Location::parse(&url, std::path::Path::new("/")).unwrap();
                let open = ittsu::db::Open::Existing;
                let ledger = ittsu::ledger::Ledger::open(&location, open).await.unwrap();
                let asked = SettleRequest {
                    batch: id,
                    selection: failed(),
                    act: Act::MarkSent,
                    to: None,
                    confirm: 10_001,
                    words: String::new(),
                };
                ledger.settle(asked, by(), later(60)).await.unwrap();
            };
            let patience = Duration::from_millis(patience);
            // Whatever it has come to by then; the assertions hold at every moment.
            runtime.block_on(async { tokio::time::timeout(patience, work).await }).ok();
            runtime.shutdown_background();
        });
        dying.join().unwrap();
        // The next change waits for the locks of the dead one, so it sees what was left behind.
        let done = settle(&book, &batch, Act::MarkSent, failed(), 10_001).await.unwrap();
        let entries = book.number("select count(*) from journal_row", Vec::new()).await;
        let changed =
            book.number("select count(*) from delivery where how = 'operator'", Vec::new()).await;
        assert_eq!((entries, changed), (10_001, 10_001), "{before:?} {done:?}");
        assert!(done.changed == 0 || done.changed == 10_001, "{done:?}");
        book.adds_up().await;
        let entry = book.ledger.journal(Some(batch.id), None, 1).await.unwrap()[0].id;
        undone(&book, entry).await;
        book.sql("delete from journal_row", Vec::new()).await;
    }
}
