//! What an older system says became of mails: taken over once, and never sent again.

use ittsu::domain::past::Past;
use ittsu::domain::state::{How, State};
use ittsu::ledger::batches::start::Started;
use ittsu::ledger::load::{Adopted, NewRow};

use super::book::{Book, NOON, by, people, person};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    what_an_older_system_settled_is_taken_over_as_it_says,
    what_was_settled_meanwhile_is_counted_and_taken_over_on_demand,
}

/// The person of a line, of whom an older system says what became of their mail.
fn told(line: i64, state: State) -> NewRow {
    NewRow { past: Some(Past::of(state, None, None)), ..person(line) }
}

async fn what_an_older_system_settled_is_taken_over_as_it_says(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("order-old").await;
    // Who was mailed is known by the key alone, and stays known whoever must not be mailed now.
    let sent =
        NewRow { address: String::new(), address_key: String::new(), ..told(1, State::Sent) };
    book.ledger.suppress(vec![person(4).address_key], "", by(), NOON).await.unwrap();
    let lines = || {
        let failed = told(4, State::Failed);
        vec![sent.clone(), told(2, State::Sending), told(3, State::Ready), failed, person(5)]
    };
    let sums = book.import(&batch, lines()).await;
    assert_eq!(sums.adopted, Adopted { sent: 1, failed: 1, unknown: 1 });
    assert_eq!((sums.new, sums.read, sums.gone), (2, 5, 0));
    let counts = book.counts(&batch).await;
    assert_eq!((counts.ready, counts.sending, counts.unknown), (2, 1, 1));
    assert_eq!((counts.sent, counts.failed, counts.attempts), (1, 1, 2));
    assert_eq!(book.row(&batch, 1).await.how, Some(How::Imported));
    assert!(book.row(&batch, 2).await.is_unknown());
    book.adds_up().await;
    let again = book.import(&batch, lines()).await;
    assert_eq!((again.new, again.adopted, again.already), (0, Adopted::default(), 5));
    assert_eq!(again.settled_meanwhile, 0);
    assert_eq!(book.counts(&batch).await, counts);
    // A worker gets what waits, and nothing else.
    assert_eq!(book.start(&batch, 2).await.unwrap(), Started::Now { ready: 2 });
}

async fn what_was_settled_meanwhile_is_counted_and_taken_over_on_demand(place: Place) {
    let book = Book::on(place).await;
    let batch = book.draft("order-old").await;
    book.import(&batch, people(1..=3)).await;
    let lines = || vec![told(1, State::Sent), told(2, State::Sending), told(3, State::Ready)];
    let kept = book.import(&batch, lines()).await;
    assert_eq!((kept.already, kept.changed, kept.settled_meanwhile, kept.replaced), (3, 2, 2, 0));
    assert_eq!(book.counts(&batch).await.ready, 3);
    let taken = book.replace(&batch, lines()).await;
    assert_eq!((taken.changed, taken.replaced), (2, 2));
    let counts = book.counts(&batch).await;
    assert_eq!((counts.ready, counts.sent, counts.unknown, counts.attempts), (1, 1, 1, 2));
    book.adds_up().await;
    let again = book.replace(&batch, lines()).await;
    assert_eq!((again.changed, again.replaced), (0, 0));
}
