//! People into the ledger: every line counted once, and running it again is harmless.

use ittsu::domain::policy::OncePer;
use ittsu::domain::selection::Selection;
use ittsu::domain::state::State;
use ittsu::ledger::Refused;
use ittsu::ledger::batches::start::Started;
use ittsu::ledger::load::{LoadSums, NewRow, SAME_KEY, Writes};
use ittsu::ledger::rows::After;

use super::book::{Book, NOON, bad_line, by, key, new_batch, people, person, push_all, refusal};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    the_sums_of_an_import_add_up,
    the_same_import_twice_changes_nothing_and_says_so,
    a_killed_import_goes_on_where_it_stopped,
    a_key_that_comes_twice_is_one_row_however_far_apart,
    rows_stand_in_the_order_of_the_source,
    a_changed_line_is_counted_and_left_until_it_may_be_replaced,
    a_row_in_a_workers_hands_keeps_its_contents,
    a_row_that_was_attempted_keeps_its_contents,
    rows_gone_from_the_source_are_counted,
    a_corrected_line_is_no_longer_left_out,
    what_another_source_left_out_stays,
    only_counting_writes_nothing,
    a_started_batch_takes_exactly_what_was_confirmed,
    a_batch_whose_import_did_not_end_cannot_start,
    a_cancelled_batch_takes_no_more_people,
    a_person_with_a_row_in_another_batch_of_the_kind_stays_there,
    a_row_that_a_cancelled_batch_never_sent_is_taken_over,
    two_imports_at_once_make_every_row_once,
    one_address_under_two_keys_is_counted,
    keys_are_compared_byte_for_byte,
    text_comes_back_as_it_went_in,
    suppressed_people_get_no_row,
}

fn read(sums: &LoadSums) -> i64 {
    sums.new + sums.already + sums.elsewhere + sums.duplicates + sums.suppressed + sums.rejected
}

async fn the_sums_of_an_import_add_up(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.ledger.suppress(vec![person(7).address_key], "", by(), NOON).await.unwrap();
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    for row in people(1..=1_000) {
        load.push(row).await.unwrap();
    }
    load.push(person(3)).await.unwrap();
    load.leave_out(bad_line(1_001)).await.unwrap();
    load.leave_out(bad_line(1_002)).await.unwrap();
    let sums = load.finish().await.unwrap();
    assert_eq!((sums.new, sums.duplicates, sums.suppressed, sums.rejected), (999, 1, 1, 2));
    assert_eq!((sums.read, read(&sums)), (1_003, 1_003));
    let counts = book.counts(&batch).await;
    assert_eq!((counts.ready, counts.total(), counts.left_out), (999, 999, 4));
    book.adds_up().await;
}

async fn the_same_import_twice_changes_nothing_and_says_so(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let lines = || async {
        let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
        for row in people(1..=1_000).into_iter().chain([person(5)]) {
            load.push(row).await.unwrap();
        }
        load.leave_out(bad_line(1_001)).await.unwrap();
        load.finish().await.unwrap()
    };
    let first = lines().await;
    let before = (book.rows(&batch).await, book.counts(&batch).await);
    let second = lines().await;
    assert_eq!((first.new, first.duplicates, first.already), (1_000, 1, 0));
    assert_eq!((second.new, second.duplicates, second.already), (0, 1, 1_000));
    assert_eq!((second.read, second.changed, second.gone), (1_002, 0, 0));
    assert_eq!((book.rows(&batch).await, book.counts(&batch).await), before);
    book.adds_up().await;
}

async fn a_killed_import_goes_on_where_it_stopped(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    let mut line = 0;
    while load.so_far().new == 0 {
        line += 1;
        load.push(person(line)).await.unwrap();
    }
    // Part of what was pushed is written, part of it is not, and nobody says `finish`.
    drop(load);
    assert_eq!(
        refusal(book.start(&batch, line).await.unwrap_err()),
        Refused::Loading("notice-1".to_owned())
    );
    let sums = book.import(&batch, people(1..=line + 500)).await;
    assert_eq!((sums.new + sums.already, sums.duplicates), (line + 500, 0));
    assert!(sums.already >= 10_000 && sums.new >= 500, "{sums:?}");
    assert_eq!(book.counts(&batch).await.ready, line + 500);
    assert_eq!(book.start(&batch, line + 500).await.unwrap(), Started::Now { ready: line + 500 });
    book.adds_up().await;
}

async fn a_key_that_comes_twice_is_one_row_however_far_apart(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let far = NewRow { line: 12_001, ..person(1) };
    let near = NewRow { line: 12_002, ..person(12_000) };
    let lines = || people(1..=12_000).into_iter().chain([far.clone(), near.clone()]).collect();
    let first = book.import(&batch, lines()).await;
    assert_eq!((first.new, first.duplicates), (12_000, 2));
    let left_out = book.ledger.left_out(batch.id, 0, 10).await.unwrap();
    let told: Vec<_> =
        left_out.iter().map(|line| (line.line, line.key.as_str(), line.why.as_str())).collect();
    assert_eq!(told, [(12_001, "k000001", SAME_KEY), (12_002, "k012000", SAME_KEY)]);
    let second = book.import(&batch, lines()).await;
    assert_eq!((second.new, second.already, second.duplicates), (0, 12_000, 2));
    assert_eq!(book.ledger.left_out(batch.id, 0, 10).await.unwrap(), left_out);
    book.adds_up().await;
}

async fn rows_stand_in_the_order_of_the_source(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut lines = people(1..=100);
    lines.reverse();
    let keys: Vec<_> = lines.iter().map(|row| row.key.clone()).collect();
    book.import(&batch, lines).await;
    let rows = book.rows(&batch).await;
    assert_eq!(rows.iter().map(|row| row.key.clone()).collect::<Vec<_>>(), keys);
    let page = book
        .ledger
        .rows(batch.id, &Selection::default(), After::Key(keys[9].clone()), 3, NOON)
        .await
        .unwrap();
    let shown: Vec<_> = page.rows.iter().map(|row| row.key.as_str()).collect();
    assert_eq!((shown, page.of), (keys[10..13].iter().map(String::as_str).collect(), 100));
}

fn changed(line: i64) -> NewRow {
    NewRow { fields: r#"{"name":"佐藤"}"#.to_owned(), ..person(line) }
}

async fn a_changed_line_is_counted_and_left_until_it_may_be_replaced(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=10)).await;
    let moved = NewRow {
        address: "New@example.org".to_owned(),
        address_key: "new@example.org".to_owned(),
        ..person(2)
    };
    let lines = || vec![changed(1), moved.clone(), person(3)];
    let kept = book.import(&batch, lines()).await;
    assert_eq!((kept.already, kept.changed, kept.replaced), (3, 2, 0));
    assert_eq!(book.row(&batch, 1).await.fields, person(1).fields);
    let replaced = book.replace(&batch, lines()).await;
    assert_eq!((replaced.already, replaced.changed, replaced.replaced), (3, 2, 2));
    assert_eq!(book.row(&batch, 1).await.fields, changed(1).fields);
    assert_eq!(book.row(&batch, 2).await.address, "New@example.org");
    let again = book.replace(&batch, lines()).await;
    assert_eq!((again.changed, again.replaced), (0, 0));
    let journal = book.ledger.journal(Some(batch.id), None, 10).await.unwrap();
    let replaced: Vec<_> = journal.iter().filter(|entry| entry.action == "replace").collect();
    assert_eq!((replaced.len(), replaced[0].changed), (1, 2));
    book.adds_up().await;
}

async fn a_row_in_a_workers_hands_keeps_its_contents(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=3)).await;
    book.put(&batch, 1, "worker = 5, due_at = null").await;
    let sums = book.replace(&batch, vec![changed(1), changed(2)]).await;
    assert_eq!((sums.changed, sums.replaced), (2, 1));
    assert_eq!(book.row(&batch, 1).await.fields, person(1).fields);
    assert_eq!(book.row(&batch, 2).await.fields, changed(2).fields);
}

async fn a_row_that_was_attempted_keeps_its_contents(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=3)).await;
    book.put(&batch, 1, "attempt = 1").await;
    let sums = book.replace(&batch, vec![changed(1), changed(2)]).await;
    assert_eq!((sums.changed, sums.replaced), (2, 1));
    assert_eq!(book.row(&batch, 1).await.fields, person(1).fields);
}

async fn rows_gone_from_the_source_are_counted(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=10)).await;
    let sums = book.import(&batch, people(4..=12)).await;
    assert_eq!((sums.new, sums.already, sums.gone), (2, 7, 3));
    assert_eq!(book.counts(&batch).await.ready, 12);
}

async fn a_corrected_line_is_no_longer_left_out(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    load.push(person(1)).await.unwrap();
    load.leave_out(bad_line(2)).await.unwrap();
    load.leave_out(bad_line(3)).await.unwrap();
    load.finish().await.unwrap();
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    load.push(person(1)).await.unwrap();
    load.push(person(2)).await.unwrap();
    load.leave_out(bad_line(3)).await.unwrap();
    let sums = load.finish().await.unwrap();
    assert_eq!((sums.new, sums.already, sums.rejected), (1, 1, 1));
    let left: Vec<_> = book.ledger.left_out(batch.id, 0, 10).await.unwrap();
    assert_eq!(left.iter().map(|line| line.line).collect::<Vec<_>>(), [3]);
    assert_eq!(book.counts(&batch).await.left_out, 1);
    book.adds_up().await;
}

async fn what_another_source_left_out_stays(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    for source in ["a.csv", "b.csv", "a.csv"] {
        let request = ittsu::ledger::load::LoadRequest {
            batch: batch.id,
            source: source.to_owned(),
            existing: ittsu::ledger::load::Existing::Keep,
            writes: Writes::Everything,
        };
        let mut load = book.ledger.load(request, by(), NOON).await.unwrap();
        load.leave_out(bad_line(2)).await.unwrap();
        load.finish().await.unwrap();
    }
    let left = book.ledger.left_out(batch.id, 0, 10).await.unwrap();
    let told: Vec<_> = left.iter().map(|line| (line.source.as_str(), line.line)).collect();
    assert_eq!(told, [("a.csv", 2), ("b.csv", 2)]);
    book.adds_up().await;
}

async fn only_counting_writes_nothing(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=10)).await;
    let before = (book.rows(&batch).await, book.counts(&batch).await);
    let load = book.begin(&batch, Writes::Nothing).await.unwrap();
    let lines = people(5..=12_000).into_iter().chain([person(5), person(11), changed(6)]);
    let sums = push_all(load, lines.collect()).await;
    assert_eq!((sums.new, sums.already, sums.duplicates), (11_990, 6, 3));
    assert_eq!((sums.gone, sums.read, sums.changed), (4, 11_999, 0));
    assert_eq!((book.rows(&batch).await, book.counts(&batch).await), before);
    assert_eq!(book.ledger.batch("notice-1").await.unwrap().loading, None);
}

async fn a_started_batch_takes_exactly_what_was_confirmed(place: Place) {
    let book = Book::on(place).await;
    let batch = book.running("notice-1", 10).await;
    let refused = book.begin(&batch, Writes::Everything).await.unwrap_err();
    assert_eq!(refusal(refused), Refused::Started("notice-1".to_owned()));

    let mut load = book.begin(&batch, Writes::UpTo(2)).await.unwrap();
    for row in people(9..=13) {
        load.push(row).await.unwrap();
    }
    let refused = refusal(load.finish().await.unwrap_err());
    assert_eq!(refused, Refused::CountDiffers { confirmed: 2, now: 3 });
    assert_eq!(book.counts(&batch).await.ready, 10);

    let load = book.begin(&batch, Writes::UpTo(3)).await.unwrap();
    let sums = push_all(load, people(9..=13)).await;
    assert_eq!((sums.new, sums.already), (3, 2));
    let batch = book.ledger.batch("notice-1").await.unwrap();
    assert_eq!((batch.confirmed, batch.loading), (Some(13), None));
    assert_eq!(book.counts(&batch).await.ready, 13);
    book.adds_up().await;
}

async fn a_batch_whose_import_did_not_end_cannot_start(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.import(&batch, people(1..=5)).await;
    drop(book.begin(&batch, Writes::Everything).await.unwrap());
    let refused = refusal(book.start(&batch, 5).await.unwrap_err());
    assert_eq!(refused, Refused::Loading("notice-1".to_owned()));
    book.import(&batch, people(1..=5)).await;
    assert_eq!(book.start(&batch, 5).await.unwrap(), Started::Now { ready: 5 });
}

async fn a_cancelled_batch_takes_no_more_people(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut load = book.begin(&batch, Writes::Everything).await.unwrap();
    load.push(person(1)).await.unwrap();
    book.ledger.cancel(batch.id, None, by(), NOON).await.unwrap();
    // The chunk that was gathered before comes too late.
    let refused = refusal(load.finish().await.unwrap_err());
    assert_eq!(refused, Refused::Cancelled("notice-1".to_owned()));
    let refused = refusal(book.begin(&batch, Writes::UpTo(1)).await.unwrap_err());
    assert_eq!(refused, Refused::Cancelled("notice-1".to_owned()));
    assert_eq!(book.counts(&batch).await.total(), 0);
}

async fn a_person_with_a_row_in_another_batch_of_the_kind_stays_there(place: Place) {
    let book = Book::on(place).await;
    let first = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    book.import(&first, people(1..=4)).await;
    book.start(&first, 4).await.unwrap();
    book.put(&first, 2, "state = 'failed', how = 'refused', flag = 'failed', due_at = null").await;
    book.put(&first, 3, "state = 'sending', flag = 'unknown', unknown_attempts = 1, due_at = null")
        .await;
    let second = book.draft_of(new_batch("order-2", "order", OncePer::Kind)).await;
    let sums = book.import(&second, people(1..=6)).await;
    assert_eq!((sums.new, sums.elsewhere, sums.read), (2, 4, 6));
    let named: Vec<_> = sums
        .open_elsewhere
        .iter()
        .map(|row| (row.key.clone(), row.batch.as_str(), row.state, row.unknown))
        .collect();
    let expected =
        [(key(2), "order-1", State::Failed, false), (key(3), "order-1", State::Sending, true)];
    assert_eq!(named, expected);
    assert_eq!(book.counts(&second).await.total(), 2);
    assert_eq!(book.counts(&first).await.total(), 4);
    book.adds_up().await;
}

async fn a_row_that_a_cancelled_batch_never_sent_is_taken_over(place: Place) {
    let book = Book::on(place).await;
    let first = book.draft_of(new_batch("order-1", "order", OncePer::Kind)).await;
    book.import(&first, people(1..=4)).await;
    book.start(&first, 4).await.unwrap();
    book.put(&first, 1, "attempt = 1, tries = 1, first_started = 5").await;
    book.ledger.cancel(first.id, Some(4), by(), NOON).await.unwrap();
    let second = book.draft_of(new_batch("order-2", "order", OncePer::Kind)).await;
    let lines = vec![person(1), changed(2), person(3), person(5)];
    let sums = book.import(&second, lines.clone()).await;
    assert_eq!((sums.new, sums.taken_over, sums.elsewhere), (3, 2, 1));
    let second = book.ledger.batch("order-2").await.unwrap();
    let (old, new) = (book.counts(&first).await, book.counts(&second).await);
    assert_eq!((old.failed, old.total()), (2, 2));
    assert_eq!((new.ready, new.total()), (3, 3));
    // It goes out with what the new source says, in the new batch.
    assert_eq!(book.row(&second, 2).await.fields, changed(2).fields);
    assert_eq!(book.rows(&second).await.len(), 3);
    let journal = book.ledger.journal(Some(second.id), None, 10).await.unwrap();
    assert!(journal.iter().any(|entry| entry.action == "take-over" && entry.changed == 2));
    let again = book.import(&second, lines).await;
    assert_eq!((again.new, again.already, again.elsewhere), (0, 3, 1));
    assert_eq!(book.start(&second, 3).await.unwrap(), Started::Now { ready: 3 });
    book.adds_up().await;
}

async fn two_imports_at_once_make_every_row_once(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let mut backwards = people(1..=3_000);
    backwards.reverse();
    let (a, b) =
        tokio::join!(book.import(&batch, people(1..=3_000)), book.import(&batch, backwards));
    assert_eq!(a.new + b.new, 3_000);
    assert_eq!((a.new + a.already, b.new + b.already), (3_000, 3_000));
    assert_eq!(book.counts(&batch).await.ready, 3_000);
    book.adds_up().await;
}

async fn one_address_under_two_keys_is_counted(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let twin = NewRow { key: "other".to_owned(), line: 9, ..person(1) };
    for _ in 0..2 {
        let sums = book.import(&batch, vec![person(1), person(2), twin.clone()]).await;
        assert_eq!((sums.same_address, sums.duplicates), (1, 0));
    }
    assert_eq!(book.counts(&batch).await.ready, 3);
}

async fn keys_are_compared_byte_for_byte(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let keys = ["ann", "Ann", "ann ", " ann", "änn", "a\u{308}nn", "ＡＮＮ", "か", "が", "ガ"];
    let lines: Vec<_> =
        (1..).zip(keys).map(|(line, key)| NewRow { key: key.to_owned(), ..person(line) }).collect();
    let first = book.import(&batch, lines.clone()).await;
    assert_eq!((first.new, first.duplicates), (10, 0));
    let second = book.import(&batch, lines).await;
    assert_eq!((second.new, second.already), (0, 10));
    for (line, key) in (1..).zip(keys) {
        let story = book.ledger.show(&batch, key).await.unwrap();
        assert_eq!(story.row.address, person(line).address);
    }
}

async fn text_comes_back_as_it_went_in(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    let hard = "'\"\\\t\r\n%_;--\\N\\. 髙﨑① 👩‍👩‍👧 \u{200b}";
    let fields = serde_json::json!({ "name": hard }).to_string();
    let row = NewRow {
        key: format!("k{hard}"),
        address: "\"a'b\\\\\"@example.org".to_owned(),
        fields: fields.clone(),
        ..person(1)
    };
    book.import(&batch, vec![row.clone()]).await;
    // The second way in: rows that are looked up first.
    let other = NewRow { key: format!("l{hard}"), ..row.clone() };
    book.import(&batch, vec![row.clone(), other.clone()]).await;
    for expected in [row, other] {
        let found = book.ledger.show(&batch, &expected.key).await.unwrap().row;
        assert_eq!(
            (found.key, found.address, found.fields),
            (expected.key, expected.address, expected.fields)
        );
    }
    assert_eq!(book.counts(&batch).await.ready, 2);
}

async fn suppressed_people_get_no_row(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("notice-1").await;
    book.ledger.suppress(vec![person(1).address_key], "notice", by(), NOON).await.unwrap();
    book.ledger.suppress(vec![person(2).address_key], "order", by(), NOON).await.unwrap();
    book.ledger.suppress(vec![person(3).address_key], "", by(), NOON).await.unwrap();
    let sums = book.import(&batch, people(1..=4)).await;
    assert_eq!((sums.new, sums.suppressed), (2, 2));
    // Put on the list after they had their row: they are there, and stay there.
    book.ledger.suppress(vec![person(4).address_key], "", by(), NOON).await.unwrap();
    let again = book.import(&batch, people(1..=4)).await;
    assert_eq!((again.new, again.already, again.suppressed), (0, 2, 2));
    assert_eq!(book.counts(&batch).await.left_out, 2);
    book.adds_up().await;
}
