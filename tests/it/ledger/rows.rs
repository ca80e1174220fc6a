//! Rows as people look at them: selections, pages, one row, one person, the unknown ones.

use std::time::Duration;

use ittsu::domain::id::{Attempt, RecipientId, WorkerId};
use ittsu::domain::outcome::Phase;
use ittsu::domain::policy::OncePer;
use ittsu::domain::selection::Selection;
use ittsu::domain::state::{Cause, How, State};
use ittsu::ledger::Refused;
use ittsu::ledger::batches::Batch;
use ittsu::ledger::load::Writes;
use ittsu::ledger::rows::{After, Who};

use super::book::{
    Book, NOON, SECOND, bad_line, by, key, new_batch, people, person, refusal, with_key,
};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_selection_meets_exactly_the_rows_of_every_condition,
    pages_follow_each_other_without_gap_or_overlap,
    a_page_of_a_batch_holds_no_row_of_another,
    a_filter_is_counted_over_the_whole_batch,
    a_row_tells_its_whole_story,
    a_person_is_found_in_every_batch_by_address_key_and_row,
    a_person_who_was_left_out_is_found_with_the_line,
    unknown_rows_come_with_what_is_known,
    a_key_nobody_has_is_no_row,
}

/// Ten rows: 1-4 ready, 5 and 6 sent, 7 assumed, 8 unknown, 9 and 10 failed.
async fn mixed(book: &Book) -> Batch {
    let batch = book.draft("notice-1").await;
    let mut rows = people(1..=10);
    rows[9].address_key = "k000010@other.example".to_owned();
    rows[1].address_key = "k000002@not-example.org".to_owned();
    book.import(&batch, rows).await;
    book.start(&batch, 10).await.unwrap();
    let done = "due_at = null, attempt = 1, tries = 1, code = 250";
    for line in [5, 6] {
        book.put(&batch, line, &format!("state = 'sent', how = 'accepted', {done}")).await;
    }
    book.put(&batch, 7, &format!("state = 'sent', how = 'assumed', flag = 'assumed', {done}"))
        .await;
    let unknown = "state = 'sending', flag = 'unknown', cause = 'no_answer', worker = 5,
                   due_at = null, attempt = 1, unknown_attempts = 1, updated = updated - 600000000";
    book.put(&batch, 8, unknown).await;
    let failed = "state = 'failed', flag = 'failed', due_at = null, attempt = 1";
    book.put(&batch, 9, &format!("{failed}, how = 'refused', code = 550")).await;
    book.put(&batch, 10, &format!("{failed}, how = 'expired', code = 451")).await;
    book.ledger.batch("notice-1").await.unwrap()
}

async fn lines(book: &Book, batch: &Batch, selection: Selection) -> Vec<i64> {
    let page = book.ledger.rows(batch.id, &selection, After::Start, 100, NOON).await.unwrap();
    assert_eq!(page.of, i64::try_from(page.rows.len()).unwrap(), "{selection:?}");
    page.rows.iter().map(|row| row.key.trim_start_matches('k').parse().unwrap()).collect()
}

async fn a_selection_meets_exactly_the_rows_of_every_condition(place: Place) {
    let book = Book::on(place).await;
    let batch = mixed(&book).await;
    let all = Selection::default;
    let keys = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
    let ten = Some(600 * SECOND);
    let cases: Vec<(Selection, &[i64])> = vec![
        (all(), &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        (Selection { state: Some(State::Ready), ..all() }, &[1, 2, 3, 4]),
        (Selection { state: Some(State::Sending), ..all() }, &[8]),
        (Selection { state: Some(State::Sent), ..all() }, &[5, 6, 7]),
        (Selection { state: Some(State::Failed), ..all() }, &[9, 10]),
        (Selection { unknown: true, ..all() }, &[8]),
        (Selection { unknown: true, state: Some(State::Sent), ..all() }, &[]),
        (Selection { how: Some(How::Assumed), ..all() }, &[7]),
        (Selection { how: Some(How::Accepted), ..all() }, &[5, 6]),
        (Selection { how: Some(How::Refused), ..all() }, &[9]),
        (Selection { code: Some(250), ..all() }, &[5, 6, 7]),
        (Selection { code: Some(250), how: Some(How::Assumed), ..all() }, &[7]),
        (Selection { domain: Some("other.example".to_owned()), ..all() }, &[10]),
        (Selection { domain: Some("example.org".to_owned()), ..all() }, &[1, 3, 4, 5, 6, 7, 8, 9]),
        (Selection { older_than: ten, ..all() }, &[8]),
        (Selection { older_than: Some(601 * SECOND), ..all() }, &[]),
        (Selection { worker: Some(WorkerId(5)), ..all() }, &[8]),
        (Selection { worker: Some(WorkerId(6)), ..all() }, &[]),
        (Selection { keys: keys(&["k000009", "k000001", "k000009", "none"]), ..all() }, &[1, 9]),
        (
            Selection { keys: keys(&["k000009", "k000001"]), state: Some(State::Failed), ..all() },
            &[9],
        ),
    ];
    for (selection, expected) in cases {
        assert_eq!(lines(&book, &batch, selection.clone()).await, expected, "{selection:?}");
    }
}

async fn pages_follow_each_other_without_gap_or_overlap(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 105).await;
    let mut after = After::Start;
    let mut seen = Vec::new();
    loop {
        let all = Selection::default();
        let page = book.ledger.rows(batch.id, &all, after, 10, NOON).await.unwrap();
        assert_eq!(page.of, 105);
        let Some(last) = page.rows.last() else { break };
        after = After::Row(last.id);
        seen.extend(page.rows.into_iter().map(|row| row.key));
    }
    assert_eq!(seen, (1..=105).map(key).collect::<Vec<_>>());
}

async fn a_page_of_a_batch_holds_no_row_of_another(place: Place) {
    let book = Book::on(place).await;
    let first = book.draft("notice-1").await;
    let second = book.draft("notice-2").await;
    // Their row numbers lie between each other's.
    for part in 0..3 {
        let lines = |part: i64| people(part * 10 + 1..=part * 10 + 10);
        book.import(&first, lines(part)).await;
        book.import(&second, lines(part)).await;
    }
    for batch in [first, second] {
        let rows = book.rows(&batch).await;
        assert_eq!(rows.len(), 30);
        assert!(rows.iter().all(|row| row.batch == batch.id));
        let keys: Vec<_> = rows.iter().map(|row| row.key.clone()).collect();
        assert_eq!(keys, (1..=30).map(key).collect::<Vec<_>>());
    }
}

async fn a_filter_is_counted_over_the_whole_batch(place: Place) {
    let book = Book::on(place).await;
    let batch = mixed(&book).await;
    let cases = [
        (Selection { state: Some(State::Ready), ..Selection::default() }, 4),
        (Selection { code: Some(250), ..Selection::default() }, 3),
        (Selection { domain: Some("example.org".to_owned()), ..Selection::default() }, 8),
    ];
    for (selection, of) in cases {
        let page = book.ledger.rows(batch.id, &selection, After::Start, 1, NOON).await.unwrap();
        assert_eq!((page.rows.len(), page.of), (1, of), "{selection:?}");
    }
}

async fn attempt(book: &Book, batch: &Batch, line: i64, number: i64, outcome: &str, reply: &[u8]) {
    let id = book.row(batch, line).await.id;
    book.sql(
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         values (?, ?, 5, 1, 10, 20, 'dot', ?, '', 'row', 451, '4.7.1', ?, '', 0, 1)",
        vec![id.into(), number.into(), outcome.into(), reply.into()],
    )
    .await;
}

async fn evidence(book: &Book, batch: &Batch, line: i64, outcome: &str) {
    let id = book.row(batch, line).await.id;
    book.sql(
        "insert into evidence (id, row, attempt, generation, worker, source, outcome, code, reply,
                               at, became)
         values (1, ?, 2, 1, 5, 'late_answer', ?, 250, ?, 30, 'kept')",
        vec![id.into(), outcome.into(), (&b"250 ok"[..]).into()],
    )
    .await;
}

async fn a_row_tells_its_whole_story(place: Place) {
    let book = Book::on(place).await;
    let batch = mixed(&book).await;
    book.put(&batch, 9, "attempt = 2, phase = 'dot'").await;
    let reply = b"451 \xff\x00 later";
    attempt(&book, &batch, 9, 1, "deferred", b"").await;
    attempt(&book, &batch, 9, 2, "refused", reply).await;
    evidence(&book, &batch, 9, "accepted").await;
    let story = book.ledger.show(&batch, &key(9)).await.unwrap();
    assert_eq!((story.row.reply.as_slice(), story.row.code), (&reply[..], Some(550)));
    assert_eq!((story.row.phase, story.row.attempt), (Some(Phase::Dot), Attempt(2)));
    assert_eq!((story.row.settled_at(), story.batch.name.as_str()), (Some(NOON), "notice-1"));
    let attempts: Vec<_> =
        story.attempts.iter().map(|a| (a.number.0, a.outcome.as_str(), a.code)).collect();
    assert_eq!(attempts, [(1, "deferred", Some(451)), (2, "refused", Some(451))]);
    assert_eq!(story.evidence[0].outcome, "accepted");
    assert_eq!(story.evidence[0].reply, b"250 ok");
    assert_eq!(story.row.address, person(9).address);
}

async fn a_person_is_found_in_every_batch_by_address_key_and_row(place: Place) {
    let book = Book::on(place).await;
    for name in ["notice-1", "notice-2"] {
        book.running(name, 5).await;
    }
    let orders = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    book.import(&orders, vec![person(3)]).await;
    book.ledger.suppress(vec![person(3).address_key], "order", by(), NOON).await.unwrap();
    let found = |who: Who| {
        let book = &book;
        async move {
            let found = book.ledger.find(&who).await.unwrap();
            let rows: Vec<_> =
                found.rows.iter().map(|story| story.batch.name.clone()).collect::<Vec<_>>();
            (rows, found.suppressed.len())
        }
    };
    let everywhere = ["order-1", "notice-2", "notice-1"].map(str::to_owned).to_vec();
    let address = Who { address: Some(person(3).address_key), ..Who::default() };
    assert_eq!(found(address).await, (everywhere.clone(), 1));
    let by_key = Who { key: Some(key(3)), ..Who::default() };
    assert_eq!(found(by_key).await, (everywhere, 0));
    let row = book.row(&orders, 3).await.id;
    let by_row = Who { row: Some(row), ..Who::default() };
    assert_eq!(found(by_row).await, (vec!["order-1".to_owned()], 0));
    let nobody = Who {
        address: Some("nobody@example.org".to_owned()),
        key: Some("nobody".to_owned()),
        row: Some(RecipientId(999_999)),
    };
    assert_eq!(found(nobody).await, (Vec::new(), 0));
}

async fn a_person_who_was_left_out_is_found_with_the_line(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.ledger.suppress(vec![person(2).address_key], "", by(), NOON).await.unwrap();
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    load.push(person(1)).await.unwrap();
    load.push(person(2)).await.unwrap();
    load.leave_out(bad_line(3)).await.unwrap();
    load.finish().await.unwrap();
    let who = Who { address: Some(person(2).address_key), key: Some(key(2)), ..Who::default() };
    let found = book.ledger.find(&who).await.unwrap();
    assert_eq!((found.rows.len(), found.left_out.len(), found.suppressed.len()), (0, 1, 1));
    let line = &found.left_out[0];
    assert_eq!((line.source.as_str(), line.line), ("people.csv", 2));
}

async fn unknown_rows_come_with_what_is_known(place: Place) {
    let book = Book::on(place).await;
    let batch = mixed(&book).await;
    book.running("notice-2", 3).await;
    book.worker(5).await;
    book.put(&batch, 8, "attempt = 2").await;
    attempt(&book, &batch, 8, 2, "unknown", b"").await;
    evidence(&book, &batch, 8, "accepted").await;
    let unknown = |only, age| book.ledger.unknown(only, age, 100, NOON);
    for only in [None, Some(batch.id)] {
        let rows = unknown(only, Duration::ZERO).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].row.key.as_str(), rows[0].batch.id), ("k000008", batch.id));
        assert_eq!(rows[0].row.cause, Some(Cause::NoAnswer));
        assert_eq!((rows[0].attempts.len(), rows[0].evidence.len()), (1, 1));
        let worker = rows[0].worker.as_ref().unwrap();
        assert_eq!((worker.host.as_str(), worker.lost_at), ("mail-1", None));
    }
    assert_eq!(unknown(None, 600 * SECOND).await.unwrap().len(), 1);
    assert_eq!(unknown(None, 601 * SECOND).await.unwrap(), []);
    let other = book.ledger.batch("notice-2").await.unwrap();
    assert_eq!(unknown(Some(other.id), Duration::ZERO).await.unwrap(), []);
}

async fn a_key_nobody_has_is_no_row(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 3).await;
    let missing = Refused::NoSuchRow { batch: "notice-1".to_owned(), key: key(9) };
    let refused = book.ledger.show(&batch, &key(9)).await.unwrap_err();
    assert_eq!(refusal(refused), missing);
    let all = Selection::default();
    let page = book.ledger.rows(batch.id, &all, After::Key(key(9)), 1, NOON);
    assert_eq!(refusal(page.await.unwrap_err()), missing);
    assert_eq!(lines(&book, &batch, with_key(9)).await, [0_i64; 0]);
}
