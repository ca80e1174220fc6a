//! Pausing and resuming: one batch, a kind, everything.

use ittsu::domain::batch::{BatchState, Due, Wanted};
use ittsu::domain::policy::OncePer;
use ittsu::ledger::Refused;
use ittsu::ledger::batches::pause::{Halted, Reach, Refresh};
use ittsu::ledger::batches::start::Started;
use ittsu::ledger::journal::By;

use super::batches::{at, later, state};
use super::book::{Book, NOON, SECOND, by, frozen, message, new_batch, people, refusal};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_paused_batch_goes_on_when_it_is_resumed,
    a_scheduled_batch_that_was_paused_keeps_its_time,
    a_paused_kind_holds_batches_that_start_later,
    resuming_a_kind_leaves_a_batch_that_was_paused_by_name,
    everything_can_be_paused_at_once,
    a_batch_that_paused_itself_is_tried_with_one_row_when_it_goes_on,
    a_resumed_batch_can_take_the_present_message,
}

async fn a_paused_batch_goes_on_when_it_is_resumed(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 5).await;
    let why = By::new("kim", "wrong text");
    let paused = book.ledger.pause(Reach::Batch(batch.id), why.clone(), NOON).await.unwrap();
    assert_eq!(paused.changed, ["notice-1"]);
    let held = book.ledger.batch("notice-1").await.unwrap();
    let told = (held.paused_because.as_str(), held.paused_by.as_str(), held.paused_at);
    assert_eq!((held.wanted, told), (Wanted::Paused, ("wrong text", "kim", Some(NOON))));
    let again = book.ledger.pause(Reach::Batch(batch.id), why, NOON).await.unwrap();
    assert_eq!(again.left, [("notice-1".to_owned(), BatchState::Paused)]);
    assert_eq!(
        refusal(book.start(&batch, 5).await.unwrap_err()),
        Refused::Paused("notice-1".to_owned())
    );
    let resumed = book.ledger.resume(Reach::Batch(batch.id), by(), later(1)).await.unwrap();
    assert_eq!(resumed.changed, ["notice-1"]);
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.wanted, batch.started_at), (Wanted::Running, Some(NOON)));
    assert_eq!((batch.paused_because.as_str(), batch.paused_at), ("", None));
    let again = book.ledger.resume(Reach::Batch(batch.id), by(), later(1)).await.unwrap();
    assert_eq!(again.left, [("notice-1".to_owned(), BatchState::Running)]);
    let draft = book.draft("notice-2").await;
    let paused = book.ledger.pause(Reach::Batch(draft.id), by(), NOON).await.unwrap();
    assert_eq!(paused.left, [("notice-2".to_owned(), BatchState::Draft)]);
}

async fn a_scheduled_batch_that_was_paused_keeps_its_time(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    book.ledger.start(at(&batch, 5, later(60)), by(), NOON).await.unwrap();
    book.ledger.pause(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    assert_eq!(book.ledger.start_scheduled(3_600 * SECOND, later(61)).await.unwrap(), []);
    book.ledger.resume(Reach::Batch(batch.id), by(), later(62)).await.unwrap();
    assert_eq!(state(&book, "notice-1").await, BatchState::Scheduled);
    let due = book.ledger.start_scheduled(3_600 * SECOND, later(63)).await.unwrap();
    assert_eq!(due[0].what, Due::Starts);
}

async fn a_paused_kind_holds_batches_that_start_later(place: Place) {
    let book = Book::on(place).await;
    let running = book.running("notice-1", 3).await;
    let kind = || Reach::Kind("notice".to_owned());
    let why = By::new("kim", "relay is down");
    let paused = book.ledger.pause(kind(), why.clone(), NOON).await.unwrap();
    assert_eq!((paused.kind_changed, paused.changed), (true, vec!["notice-1".to_owned()]));
    let again = book.ledger.pause(kind(), why, later(1)).await.unwrap();
    assert_eq!(again, Halted::default());

    let late = book.draft("notice-2").await;
    book.import(&late, people(1..=2)).await;
    assert_eq!(book.start(&late, 2).await.unwrap(), Started::Paused { ready: 2 });
    let other = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    book.import(&other, people(1..=2)).await;
    assert_eq!(book.start(&other, 2).await.unwrap(), Started::Now { ready: 2 });

    let alone = book.ledger.resume(Reach::Batch(running.id), by(), NOON).await.unwrap_err();
    assert_eq!(refusal(alone), Refused::KindPaused("notice".to_owned()));
    let resumed = book.ledger.resume(kind(), by(), later(2)).await.unwrap();
    assert_eq!(resumed.changed, ["notice-1", "notice-2"]);
    for name in ["notice-1", "notice-2", "order-1"] {
        assert_eq!(state(&book, name).await, BatchState::Running, "{name}");
    }
    assert_eq!(book.ledger.kind_pauses().await.unwrap(), []);
    assert_eq!(book.ledger.resume(kind(), by(), later(3)).await.unwrap(), Halted::default());
}

async fn resuming_a_kind_leaves_a_batch_that_was_paused_by_name(place: Place) {
    let book = Book::on(place).await;
    let first = book.running("notice-1", 3).await;
    book.running("notice-2", 3).await;
    book.ledger.pause(Reach::Batch(first.id), By::new("lee", "wrong text"), NOON).await.unwrap();
    let kind = || Reach::Kind("notice".to_owned());
    book.ledger.pause(kind(), by(), later(1)).await.unwrap();
    let resumed = book.ledger.resume(kind(), by(), later(2)).await.unwrap();
    assert_eq!(resumed.changed, ["notice-2"]);
    let first = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((first.wanted, first.paused_because.as_str()), (Wanted::Paused, "wrong text"));
}

async fn everything_can_be_paused_at_once(place: Place) {
    let book = Book::on(place).await;
    book.running("notice-1", 3).await;
    let scheduled = book.draft("notice-2").await;
    book.import(&scheduled, people(1..=2)).await;
    book.ledger.start(at(&scheduled, 2, later(60)), by(), NOON).await.unwrap();
    let kind = || Reach::Kind("notice".to_owned());
    book.ledger.pause(Reach::Everything, by(), NOON).await.unwrap();
    book.ledger.pause(kind(), by(), later(1)).await.unwrap();
    // Its time comes while everything is paused: it is started, and held.
    book.ledger.start_scheduled(3_600 * SECOND, later(61)).await.unwrap();
    for name in ["notice-1", "notice-2"] {
        assert_eq!(state(&book, name).await, BatchState::Paused, "{name}");
    }
    // The kind is still paused.
    let resumed = book.ledger.resume(Reach::Everything, by(), later(70)).await.unwrap();
    assert_eq!((resumed.kind_changed, resumed.changed), (true, Vec::new()));
    let resumed = book.ledger.resume(kind(), by(), later(71)).await.unwrap();
    assert_eq!(resumed.changed, ["notice-1", "notice-2"]);
}

async fn a_batch_that_paused_itself_is_tried_with_one_row_when_it_goes_on(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let probed = || book.number("select probed from batch", Vec::new());
    book.sql("update batch set probed = 1", Vec::new()).await;
    book.ledger.pause(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    book.ledger.resume(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    assert_eq!(probed().await, 1);
    book.ledger.pause_itself(batch.id, "the server refuses our sender", NOON).await.unwrap();
    let held = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!(
        (held.paused_by.as_str(), held.paused_because.as_str()),
        ("ittsu", "the server refuses our sender")
    );
    book.ledger.resume(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    assert_eq!(probed().await, 0);
}

async fn a_resumed_batch_can_take_the_present_message(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let refresh =
        |text: &str| Refresh { frozen: frozen(OncePer::Batch), message: Some(message(text)) };
    let running = book.ledger.resume_refreshed(batch.id, refresh("x"), by(), NOON).await;
    assert_eq!(refusal(running.unwrap_err()), Refused::Running("notice-1".to_owned()));
    book.ledger.pause(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    book.ledger.resume_refreshed(batch.id, refresh("Subject: b\n\nb"), by(), NOON).await.unwrap();
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.wanted, batch.template_version), (Wanted::Running, 2));
}
