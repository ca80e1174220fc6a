//! Batches: started once, paused, scheduled, cancelled, changed, thrown away.

use std::time::Duration;

use ittsu::domain::batch::{BatchState, Due, Wanted};
use ittsu::domain::policy::OncePer;
use ittsu::domain::state::{How, State};
use ittsu::domain::time::Timestamp;
use ittsu::ledger::Refused;
use ittsu::ledger::batches::cancel::Cancelled;
use ittsu::ledger::batches::change::Changes;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::batches::start::{StartRequest, Started};
use ittsu::ledger::batches::{Batch, Made};

use super::book::{
    Book, NOON, SECOND, by, frozen, message, new_batch, people, refusal, start_request,
};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_batch_is_made_once_and_belongs_to_one_kind,
    starting_twice_is_nothing_to_do,
    a_wrong_count_starts_nothing,
    an_empty_draft_has_nothing_to_start,
    a_start_freezes_settings_and_message,
    a_batch_starts_at_its_time,
    a_batch_with_other_rows_than_confirmed_is_paused_at_its_time,
    a_batch_nobody_started_in_time_is_paused,
    cancelling_is_final_and_names_its_count,
    rows_that_come_back_to_a_cancelled_batch_end_too,
    a_draft_can_be_thrown_away_and_its_name_is_free,
    a_started_batch_cannot_be_thrown_away,
    speed_changes_whenever_and_the_message_only_while_nothing_is_sent,
    every_change_is_in_the_journal_once,
}

pub(super) async fn state(book: &Book, name: &str) -> BatchState {
    let batch = book.ledger.batch(name).await.unwrap();
    book.ledger.status(Some(batch.id), NOON).await.unwrap().batches[0].state
}

pub(super) fn later(seconds: u64) -> Timestamp {
    NOON + Duration::from_secs(seconds)
}

pub(super) fn at(batch: &Batch, confirm: i64, at: Timestamp) -> StartRequest {
    StartRequest { at: Some(at), ..start_request(batch, confirm) }
}

async fn a_batch_is_made_once_and_belongs_to_one_kind(place: Place) {
    let book = Book::on(place).await;
    let first = book.draft("notice-1").await;
    assert_eq!((first.wanted, first.template_version), (Wanted::Draft, 1));
    let again = new_batch("notice-1", "notice", OncePer::Batch);
    assert_eq!(book.ledger.create_draft(again, NOON).await.unwrap(), Made::Already(first));
    let other = new_batch("notice-1", "order", OncePer::Batch);
    assert_eq!(
        refusal(book.ledger.create_draft(other, NOON).await.unwrap_err()),
        Refused::OtherKind { batch: "notice-1".to_owned(), kind: "notice".to_owned() }
    );
    // Two at the same moment: one makes it, the other finds it.
    let both = || book.ledger.create_draft(new_batch("n-2", "notice", OncePer::Batch), NOON);
    let (a, b) = tokio::join!(both(), both());
    let new = [a.unwrap(), b.unwrap()].iter().filter(|made| matches!(made, Made::New(_))).count();
    assert_eq!(new, 1);
    assert_eq!(
        refusal(book.ledger.batch("nobody").await.unwrap_err()),
        Refused::NoSuchBatch("nobody".to_owned())
    );
}

async fn starting_twice_is_nothing_to_do(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    assert_eq!(book.start(&batch, 5).await.unwrap(), Started::Now { ready: 5 });
    let before = book.ledger.batch("notice-1").await.unwrap();
    // Whatever number the second one says.
    assert_eq!(book.start(&batch, 5).await.unwrap(), Started::NothingToDo);
    assert_eq!(book.start(&batch, 99).await.unwrap(), Started::NothingToDo);
    assert_eq!(book.ledger.batch("notice-1").await.unwrap(), before);
    let other = book.draft("notice-2").await;
    book.import(&other, people(1..=3)).await;
    let starts = (0..4).map(|_| async { book.start(&other, 3).await.unwrap() });
    let four = futures_util::future::join_all(starts).await;
    let begun = four.iter().filter(|started| **started == Started::Now { ready: 3 }).count();
    assert_eq!(begun, 1, "{four:?}");
}

async fn a_wrong_count_starts_nothing(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    let before = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!(
        refusal(book.start(&batch, 4).await.unwrap_err()),
        Refused::CountDiffers { confirmed: 4, now: 5 }
    );
    assert_eq!(book.ledger.batch("notice-1").await.unwrap(), before);
    assert!(journal(&book, &batch).await.iter().all(|action| action != "start"));
}

async fn an_empty_draft_has_nothing_to_start(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    assert_eq!(book.start(&batch, 0).await.unwrap(), Started::NothingToDo);
    assert_eq!(state(&book, "notice-1").await, BatchState::Draft);
}

async fn a_start_freezes_settings_and_message(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    let mut settings = frozen(OncePer::Batch);
    settings.via = "smtp.other".to_owned();
    let request = StartRequest {
        frozen: settings.clone(),
        message: Some(message("Subject: new\n\nnew\n")),
        leave_unbuildable: Some(2),
        ..start_request(&batch, 5)
    };
    book.ledger.start(request, by(), NOON).await.unwrap();
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.frozen, batch.template_version), (settings, 2));
    assert_eq!((batch.confirmed, batch.leave_unbuildable), (Some(5), Some(2)));
    assert_eq!((batch.started_at, batch.started_by.as_str()), (Some(NOON), "kim"));
    let text = |version| book.ledger.message(batch.id, version);
    assert_eq!(text(1).await.unwrap().text, "Subject: hello\n\nhello\n");
    assert_eq!(text(2).await.unwrap().text, "Subject: new\n\nnew\n");
}

async fn a_batch_starts_at_its_time(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    let time = later(3_600);
    let started = book.ledger.start(at(&batch, 5, time), by(), NOON).await.unwrap();
    assert_eq!(started, Started::At { time, ready: 5 });
    let again = book.ledger.start(at(&batch, 5, time), by(), NOON).await.unwrap();
    assert_eq!(again, Started::NothingToDo);
    assert_eq!(state(&book, "notice-1").await, BatchState::Scheduled);
    let late = 3_600 * SECOND;
    assert_eq!(book.ledger.start_scheduled(late, later(3_599)).await.unwrap(), []);
    let (a, b) = tokio::join!(
        book.ledger.start_scheduled(late, later(3_601)),
        book.ledger.start_scheduled(late, later(3_601)),
    );
    let due = [a.unwrap(), b.unwrap()].concat();
    assert_eq!(due.len(), 1);
    assert_eq!((due[0].name.as_str(), due[0].what), ("notice-1", Due::Starts));
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.wanted, batch.started_at), (Wanted::Running, Some(later(3_601))));
    // A time that has passed already is now.
    let other = book.draft("notice-2").await;
    book.import(&other, people(1..=2)).await;
    let started = book.ledger.start(at(&other, 2, NOON), by(), NOON).await.unwrap();
    assert_eq!(started, Started::Now { ready: 2 });
}

async fn a_batch_with_other_rows_than_confirmed_is_paused_at_its_time(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    book.ledger.start(at(&batch, 5, later(60)), by(), NOON).await.unwrap();
    book.put(&batch, 1, "state = 'failed', how = 'operator', flag = 'failed', due_at = null").await;
    let due = book.ledger.start_scheduled(3_600 * SECOND, later(61)).await.unwrap();
    assert_eq!(due[0].what, Due::CountDiffers { confirmed: 5, ready: 4 });
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.wanted, batch.paused_by.as_str()), (Wanted::Paused, "ittsu"));
    assert_eq!(batch.paused_because, "4 rows were ready at its time, 5 were confirmed");
    // It never started, so it is started anew, with the right number.
    let resumed = book.ledger.resume(Reach::Batch(batch.id), by(), NOON).await.unwrap_err();
    assert_eq!(refusal(resumed), Refused::NeverStarted("notice-1".to_owned()));
    assert_eq!(book.start(&batch, 4).await.unwrap(), Started::Now { ready: 4 });
    assert_eq!(book.ledger.batch("notice-1").await.unwrap().paused_because, "");
}

async fn a_batch_nobody_started_in_time_is_paused(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    book.ledger.start(at(&batch, 5, later(60)), by(), NOON).await.unwrap();
    let due = book.ledger.start_scheduled(3_600 * SECOND, later(60 + 3_601)).await.unwrap();
    assert_eq!(due[0].what, Due::Missed);
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.wanted, batch.started_at), (Wanted::Paused, None));
}

async fn cancelling_is_final_and_names_its_count(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 6).await;
    book.put(&batch, 1, "state = 'sent', how = 'accepted', due_at = null, attempt = 1").await;
    book.put(&batch, 2, "state = 'sending', attempt = 1, worker = 3, due_at = null").await;
    book.put(&batch, 3, "due_at = 5, attempt = 1, unknown_attempts = 1").await;
    let cancel = |confirm| book.ledger.cancel(batch.id, confirm, by(), NOON);
    let before = (book.rows(&batch).await, book.ledger.batch("notice-1").await.unwrap());
    assert_eq!(refusal(cancel(None).await.unwrap_err()), Refused::NotConfirmed { now: 4 });
    assert_eq!(
        refusal(cancel(Some(5)).await.unwrap_err()),
        Refused::CountDiffers { confirmed: 5, now: 4 }
    );
    assert_eq!((book.rows(&batch).await, book.ledger.batch("notice-1").await.unwrap()), before);
    assert_eq!(cancel(Some(4)).await.unwrap(), Cancelled::Now { rows: 4 });
    let counts = book.counts(&batch).await;
    assert_eq!((counts.ready, counts.sending, counts.sent, counts.failed), (0, 1, 1, 4));
    assert_eq!(counts.maybe_delivered, 1);
    let row = book.row(&batch, 4).await;
    assert_eq!((row.state, row.how, row.due_at), (State::Failed, Some(How::Cancelled), None));
    assert_eq!(cancel(Some(4)).await.unwrap(), Cancelled::NothingToDo);
    assert_eq!(
        refusal(book.start(&batch, 0).await.unwrap_err()),
        Refused::Cancelled("notice-1".to_owned())
    );
    let resumed = book.ledger.resume(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    assert_eq!(resumed.left, [("notice-1".to_owned(), BatchState::Cancelled)]);
    book.adds_up().await;
}

async fn rows_that_come_back_to_a_cancelled_batch_end_too(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    book.put(&batch, 1, "state = 'sending', attempt = 1, worker = 3, due_at = null").await;
    assert_eq!(book.ledger.cancel_leftovers(batch.id, NOON).await.unwrap(), 0);
    book.ledger.cancel(batch.id, Some(2), by(), NOON).await.unwrap();
    assert_eq!(book.ledger.cancel_leftovers(batch.id, NOON).await.unwrap(), 0);
    // The server of the one on the wire said "not now".
    book.put(&batch, 1, "state = 'ready', worker = 0, due_at = 99").await;
    assert_eq!(book.ledger.cancel_leftovers(batch.id, NOON).await.unwrap(), 1);
    assert_eq!(book.row(&batch, 1).await.how, Some(How::Cancelled));
    assert_eq!(book.counts(&batch).await.failed, 3);
    book.adds_up().await;
}

async fn a_draft_can_be_thrown_away_and_its_name_is_free(place: Place) {
    let book = Book::on(place).await;
    let orders = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    book.import(&orders, people(1..=2)).await;
    let other = book.draft_of(new_batch("order-2", "order", OncePer::Kind)).await;
    book.import(&other, people(3..=6)).await;
    assert_eq!(book.ledger.discard(other.id, by(), NOON).await.unwrap(), 4);
    assert_eq!(book.counts(&orders).await.ready, 2);
    assert_eq!(book.number("select count(*) from recipient", Vec::new()).await, 2);
    let again = book.draft_of(new_batch("order-2", "order", OncePer::Kind)).await;
    assert_eq!(book.import(&again, people(1..=6)).await.new, 4);
    let notice = book.draft("notice-1").await;
    book.import(&notice, people(1..=3)).await;
    assert_eq!(book.ledger.discard(notice.id, by(), NOON).await.unwrap(), 3);
    for table in ["batch", "scope", "delivery", "recipient", "batch_template"] {
        let left = book.number(&format!("select count(*) from {table}"), Vec::new()).await;
        let expected = match table {
            "batch" | "batch_template" => 2,
            "scope" => 1,
            _ => 6,
        };
        assert_eq!(left, expected, "{table}");
    }
    let journal = book.ledger.journal(None, None, 100).await.unwrap();
    assert!(journal.iter().any(|e| e.action == "discard" && e.selection == "notice-1"));
    book.adds_up().await;
}

async fn a_started_batch_cannot_be_thrown_away(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let refused = book.ledger.discard(batch.id, by(), NOON).await.unwrap_err();
    assert_eq!(refusal(refused), Refused::Started("notice-1".to_owned()));
    assert_eq!(book.counts(&batch).await.ready, 3);
}

async fn speed_changes_whenever_and_the_message_only_while_nothing_is_sent(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let change = |changes| book.ledger.change(batch.id, changes, by(), NOON);
    let faster =
        Changes { rate: Some("20/s".to_owned()), connections: Some(4), ..Changes::default() };
    let changed = change(faster.clone()).await.unwrap();
    assert_eq!((changed.rate.as_str(), changed.connections), ("20/s", Some(4)));
    let back = Changes { rate: Some(String::new()), connections: Some(0), ..Changes::default() };
    let changed = change(back).await.unwrap();
    assert_eq!((changed.rate.as_str(), changed.connections), ("", None));
    let text = || Changes { message: Some(message("new")), ..Changes::default() };
    assert_eq!(refusal(change(text()).await.unwrap_err()), Refused::Running("notice-1".to_owned()));
    let time = Changes { at: Some(later(5)), ..Changes::default() };
    assert_eq!(
        refusal(change(time.clone()).await.unwrap_err()),
        Refused::Started("notice-1".to_owned())
    );
    book.ledger.pause(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    assert_eq!(change(text()).await.unwrap().template_version, 2);
    assert_eq!(change(text()).await.unwrap().template_version, 2);
    let draft = book.draft("notice-2").await;
    book.import(&draft, people(1..=2)).await;
    book.ledger.start(at(&draft, 2, later(60)), by(), NOON).await.unwrap();
    let moved = book.ledger.change(draft.id, time, by(), NOON).await.unwrap();
    assert_eq!(moved.scheduled_at, Some(later(5)));
}

async fn journal(book: &Book, batch: &Batch) -> Vec<String> {
    let entries = book.ledger.journal(Some(batch.id), None, 100).await.unwrap();
    entries.into_iter().rev().map(|entry| entry.action).collect()
}

async fn every_change_is_in_the_journal_once(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    for _ in 0..2 {
        book.start(&batch, 3).await.ok();
        book.ledger.pause(Reach::Batch(batch.id), by(), NOON).await.unwrap();
        let same = Changes { title: Some("お知らせ".to_owned()), ..Changes::default() };
        book.ledger.change(batch.id, same, by(), NOON).await.unwrap();
    }
    book.ledger.resume(Reach::Batch(batch.id), by(), NOON).await.unwrap();
    book.ledger.cancel(batch.id, Some(3), by(), NOON).await.unwrap();
    book.ledger.cancel(batch.id, Some(3), by(), NOON).await.unwrap();
    let expected = ["import", "start", "pause", "change", "resume", "cancel"];
    assert_eq!(journal(&book, &batch).await, expected);
    let entries = book.ledger.journal(Some(batch.id), None, 2).await.unwrap();
    assert_eq!((entries[0].action.as_str(), entries[0].changed), ("cancel", 3));
    assert_eq!((entries[0].operator.as_str(), entries[0].reason.as_str()), ("kim", "a test"));
    assert_eq!(entries[0].name.as_deref(), Some("notice-1"));
    let older = book.ledger.journal(Some(batch.id), Some(entries[1].id), 100).await.unwrap();
    assert_eq!(older.len(), 4);
    assert_eq!(entries[0].batch, Some(batch.id));
}
