//! A person's change taken back: every row exactly as it was, or left if it has moved.

use ittsu::domain::id::JournalId;
use ittsu::domain::plan::{Act, Left};
use ittsu::domain::state::{Cause, How, State};
use ittsu::ledger::Refused;
use ittsu::ledger::journal::By;
use ittsu::ledger::rows::RowView;
use ittsu::ledger::settle::{SettleRequest, Settled};

use super::book::{Book, NOON, by, key, refusal, with_key};
use super::settle::{SHAPES, later, lines, new_address, request, settle, shaped};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    undo_brings_every_row_back_exactly,
    undo_brings_another_copy_and_an_address_back,
    undo_leaves_rows_that_have_moved_since,
    undo_is_an_entry_of_its_own_and_cannot_be_undone,
    undo_does_not_wake_a_cancelled_batch,
}

/// Everything of a row that an undo must bring back.
fn essence(mut row: RowView) -> RowView {
    row.updated = NOON;
    row.due_at = row.due_at.map(|_| NOON);
    row
}

pub(super) async fn undo(book: &Book, entry: JournalId) -> Settled {
    book.ledger.undo(entry, By::new("lee", "a mistake"), later(120)).await.unwrap()
}

async fn undo_brings_every_row_back_exactly(place: Place) {
    let book = Book::on(place).await;
    for (act, changes) in [(Act::MarkSent, 6), (Act::MarkFailed, 5), (Act::Resend, 2)] {
        let batch = shaped(&book, &format!("by-{act}")).await;
        let before: Vec<_> = book.rows(&batch).await.into_iter().map(essence).collect();
        let counts = book.counts(&batch).await;
        let done = settle(&book, &batch, act, lines(1..=8), changes).await.unwrap();
        let back = undo(&book, done.journal.unwrap()).await;
        assert_eq!((back.matched, back.changed, back.left.len()), (changes, changes, 0));
        let after: Vec<_> = book.rows(&batch).await.into_iter().map(essence).collect();
        assert_eq!(after, before, "{act}");
        assert_eq!(book.counts(&batch).await, counts);
        assert_eq!(book.row(&batch, 2).await.cause, Some(Cause::Crash));
        book.adds_up().await;
    }
}

async fn undo_brings_another_copy_and_an_address_back(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let before = book.row(&batch, 5).await;
    let asked = SettleRequest {
        to: Some(new_address()),
        ..request(&batch, Act::AnotherCopy, with_key(5), 1)
    };
    let done = book.ledger.settle(asked, by(), later(60)).await.unwrap();
    assert_eq!(book.row(&batch, 5).await.address, "Right@Example.org");
    undo(&book, done.journal.unwrap()).await;
    assert_eq!(essence(book.row(&batch, 5).await), essence(before));
    assert_eq!(book.counts(&batch).await.maybe_twice, 1);
    let old = book.number(
        "select count(*) from recipient where address_key = 'k000005@example.org'",
        Vec::new(),
    );
    assert_eq!(old.await, 1);
    book.adds_up().await;
}

async fn undo_leaves_rows_that_have_moved_since(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 6).await;
    book.worker(5).await;
    for line in 1..=5 {
        book.put(&batch, line, SHAPES[5]).await;
    }
    let done = settle(&book, &batch, Act::Resend, lines(1..=5), 5).await.unwrap();
    // One was claimed, one was sent, one was marked by somebody else.
    book.put(&batch, 1, "worker = 5, due_at = null").await;
    book.put(
        &batch,
        2,
        "state = 'sent', how = 'accepted', attempt = 6, due_at = null, updated = updated + 9",
    )
    .await;
    let other = request(&batch, Act::MarkFailed, with_key(3), 1);
    book.ledger.settle(other, by(), later(90)).await.unwrap();
    let back = undo(&book, done.journal.unwrap()).await;
    assert_eq!((back.matched, back.changed), (5, 2));
    let left: Vec<_> = back.left.iter().map(|left| (left.why, left.rows)).collect();
    assert_eq!(left, [(Left::BeingSent, 1), (Left::Moved, 2)]);
    let states: Vec<_> =
        book.rows(&batch).await.iter().map(|row| (row.state, row.how)).take(5).collect();
    assert_eq!(
        states,
        [
            (State::Ready, None),
            (State::Sent, Some(How::Accepted)),
            (State::Failed, Some(How::Operator)),
            (State::Failed, Some(How::Refused)),
            (State::Failed, Some(How::Refused)),
        ]
    );
    book.adds_up().await;
}

async fn undo_is_an_entry_of_its_own_and_cannot_be_undone(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let done = settle(&book, &batch, Act::MarkSent, with_key(2), 1).await.unwrap();
    let back = undo(&book, done.journal.unwrap()).await;
    let story = book.ledger.show(&batch, &key(2)).await.unwrap();
    let told: Vec<_> =
        story.journal.iter().map(|e| (e.action.as_str(), e.operator.as_str())).collect();
    assert_eq!(told, [("mark-sent", "kim"), ("undo", "lee")]);
    assert_eq!(story.journal[1].undoes(), done.journal);
    let again = undo(&book, done.journal.unwrap()).await;
    assert_eq!((again.changed, again.left[0].why, again.journal), (0, Left::Moved, None));
    let of_undo = book.ledger.undo(back.journal.unwrap(), by(), NOON).await.unwrap_err();
    assert_eq!(refusal(of_undo), Refused::NotUndoable("undo".to_owned()));
    let of_nothing = book.ledger.undo(JournalId(999), by(), NOON).await.unwrap_err();
    assert_eq!(refusal(of_nothing), Refused::NoSuchEntry(999));
}

async fn undo_does_not_wake_a_cancelled_batch(place: Place) {
    let book = Book::on(place).await;
    let batch = shaped(&book, "notice-1").await;
    let done = settle(&book, &batch, Act::MarkFailed, lines(1..=2), 2).await.unwrap();
    book.ledger.cancel(batch.id, Some(2), by(), NOON).await.unwrap();
    let back = undo(&book, done.journal.unwrap()).await;
    assert_eq!((back.changed, back.left[0].why), (1, Left::BatchCancelled));
    assert_eq!(book.row(&batch, 1).await.state, State::Failed);
    assert!(book.row(&batch, 2).await.is_unknown());
    book.adds_up().await;
}
