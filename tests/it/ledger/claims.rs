//! Claims: who gets which row.

use std::collections::BTreeSet;
use std::sync::Arc;

use ittsu::domain::id::{Attempt, RecipientId};
use ittsu::domain::outcome::Outcome;
use ittsu::domain::policy::Policy;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::How;
use ittsu::ledger::claims::{Believed, Unstarted};
use ittsu::ledger::recorder::StartAnswer;
use tokio::task::JoinSet;

use crate::support::engines::{Place, on_every_engine};
use crate::support::hand::{a_start, finish, start};
use crate::support::ledgers::{BATCH, Books, NOW};

on_every_engine! {
    sixteen_claimers_share_every_row_and_none_twice,
    claims_and_groups_go_on_side_by_side,
    a_row_that_is_not_due_is_left,
    an_unproven_batch_gives_one_row_to_one_worker,
    a_suspect_refusal_lets_the_next_worker_try,
    rows_given_back_are_anybodys_again,
    a_used_up_claim_is_forgotten,
    a_suppressed_person_is_seen_at_the_claim_and_at_the_start,
    a_row_that_cannot_be_tried_fails_without_an_attempt,
    believed_suspects_fail_unless_they_moved,
    a_suspect_whose_refusal_is_not_recorded_yet_is_named_as_early,
}

const AGAIN: Settled = Settled::Ready { due: NOW };

async fn sixteen_claimers_share_every_row_and_none_twice(place: Place) {
    let books = Arc::new(Books::with(place, 2_001, Policy::Hold).await);
    let mut claimers = JoinSet::new();
    for _ in 0..16 {
        let books = Arc::clone(&books);
        claimers.spawn(async move {
            let hand = books.worker().await;
            let mut mine = Vec::new();
            loop {
                let claimed = hand.claim(37).await;
                if claimed.rows.is_empty() {
                    return mine;
                }
                mine.extend(claimed.rows.iter().map(|row| row.id.0));
            }
        });
    }
    let taken: Vec<i64> = claimers.join_all().await.into_iter().flatten().collect();
    // `skip locked` may leave rows that were locked for a moment; nobody may have one twice.
    let rest = books.worker().await.claim(5_000).await.rows;
    let distinct: BTreeSet<i64> =
        taken.iter().copied().chain(rest.iter().map(|row| row.id.0)).collect();
    assert_eq!(taken.len() + rest.len(), 2_001);
    assert_eq!(distinct.len(), 2_001);
}

/// Eight claim while four write: what broke SQLite without its turns.
async fn claims_and_groups_go_on_side_by_side(place: Place) {
    let books = Arc::new(Books::with(place, 1_200, Policy::Hold).await);
    let mut tasks = JoinSet::new();
    for _ in 0..4 {
        let books = Arc::clone(&books);
        tasks.spawn(async move {
            let mut hand = books.worker().await;
            let rows = hand.claim(100).await.rows;
            for pair in rows.chunks(10) {
                let group: Vec<_> = pair.iter().map(|row| start(row.id.0, 1)).collect();
                hand.write(&group).await.expect("a group while others claim");
                let group: Vec<_> = pair
                    .iter()
                    .map(|row| finish(row.id.0, 1, Outcome::Accepted, Settled::Sent(How::Accepted)))
                    .collect();
                hand.write(&group).await.expect("a group while others claim");
            }
            rows.len()
        });
    }
    for _ in 0..8 {
        let books = Arc::clone(&books);
        tasks.spawn(async move {
            let hand = books.worker().await;
            let mut taken = 0;
            for _ in 0..20 {
                taken += hand.claim(5).await.rows.len();
            }
            taken
        });
    }
    tasks.join_all().await;
    let held = books.number("select count(*) from delivery where worker <> 0").await;
    let sent = books.number("select count(*) from delivery where state = 'sent'").await;
    assert_eq!(sent, 400);
    assert!(held > 0, "the claimers got nothing");
    books.assert_counters_agree().await;
}

async fn a_row_that_is_not_due_is_left(place: Place) {
    let books = Books::with(place, 2, Policy::Hold).await;
    let one = books.worker().await;
    let later = NOW + std::time::Duration::from_mins(1);
    books.run(&format!("update delivery set due_at = {} where id = 1", later.0)).await;
    let claimed = one.claim(9).await.rows;
    assert_eq!(claimed.iter().map(|row| row.id.0).collect::<Vec<_>>(), [2]);
    assert_eq!(books.ledger.next_due(BATCH).await.unwrap(), Some(later));
    assert_eq!(one.claim_at(BATCH, 9, later).await.rows[0].id.0, 1);
    assert_eq!(books.ledger.next_due(BATCH).await.unwrap(), None);
}

async fn an_unproven_batch_gives_one_row_to_one_worker(place: Place) {
    let books = Books::with(place, 9, Policy::Hold).await;
    books.run("update batch set probed = 0 where id = 1").await;
    let one = books.worker().await;
    let two = books.worker().await;
    let (first, second) = tokio::join!(one.claim(9), two.claim(9));
    assert_eq!(first.rows.len() + second.rows.len(), 1);
    assert_eq!(two.claim(9).await.rows, []);
    books.ledger.probed(BATCH).await.unwrap();
    assert_eq!(two.claim(9).await.rows.len(), 8);
}

async fn a_suspect_refusal_lets_the_next_worker_try(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    books.run("update batch set probed = 0 where id = 1").await;
    let mut one = books.worker().await;
    let two = books.worker().await;
    let row = one.begin().await;
    assert_eq!(two.claim(9).await.rows, []);
    let due = NOW + std::time::Duration::from_mins(5);
    one.finish(row, 1, Outcome::Refused, Settled::Ready { due }).await;
    assert_eq!(two.claim(9).await.rows.len(), 1);
}

async fn rows_given_back_are_anybodys_again(place: Place) {
    let books = Books::with(place, 4, Policy::Hold).await;
    let mut one = books.worker().await;
    let two = books.worker().await;
    one.claim(4).await;
    one.start(1, 1).await;
    let later = NOW + std::time::Duration::from_secs(9);
    let rows = vec![(RecipientId(1), NOW), (RecipientId(2), later)];
    // The started row is not one to give back.
    assert_eq!(one.ledger.give_back_rows(one.me.worker, rows).await.unwrap(), 1);
    assert_eq!(two.ledger.give_back(two.me.worker, BATCH, NOW).await.unwrap(), 0);
    assert_eq!(one.ledger.give_back(one.me.worker, BATCH, NOW).await.unwrap(), 2);
    assert_eq!(two.claim(9).await.rows.len(), 2);
    assert_eq!(two.claim_at(BATCH, 9, later).await.rows.len(), 1);
    // The claim with the started row is still there for a sweep.
    assert_eq!(books.sweep_gone(&one, &[]).await.settled.len(), 1);
    books.assert_counters_agree().await;
}

async fn a_used_up_claim_is_forgotten(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    for _ in 0..3 {
        let row = one.begin().await;
        assert_eq!(books.number("select count(*) from claim").await, 1);
        one.finish(row, 1, Outcome::Accepted, Settled::Sent(How::Accepted)).await;
    }
    one.claim(1).await;
    assert_eq!(books.number("select count(*) from claim").await, 0);
}

async fn a_suppressed_person_is_seen_at_the_claim_and_at_the_start(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    let suppress = |seq: i64, row: i64, kind: &'static str| {
        format!(
            "insert into suppression (seq, address_key, kind, reason, at, operator)
             values ({seq}, 'p{row}@example.org', '{kind}', 'asked', 0, 'mina')"
        )
    };
    books.run(&suppress(1, 1, "")).await;
    books.run(&suppress(2, 2, "order")).await;
    books.run("update id_block set next = 3 where name = 'suppression'").await;
    let claimed = one.claim(9).await;
    assert_eq!(claimed.suppression_seen, 3);
    let suppressed: Vec<bool> = claimed.rows.iter().map(|row| row.suppressed).collect();
    assert_eq!(suppressed, [true, false, false]);
    books.run(&suppress(3, 3, "notice")).await;
    books.run("update id_block set next = 4 where name = 'suppression'").await;
    let mut step = start(3, 1);
    step.start = Some(ittsu::ledger::recorder::Start { suppression_seen: 3, ..a_start(3, 1) });
    let answers = one.write(&[step]).await.unwrap();
    assert_eq!(answers[0].start, Some(StartAnswer::SuppressionMoved));
    let again = one.ledger.look_again(one.me.worker, &[RecipientId(3)]).await.unwrap();
    assert_eq!((again.suppression_seen, again.rows[0].suppressed), (4, true));
    books.assert_counters_agree().await;
}

async fn a_row_that_cannot_be_tried_fails_without_an_attempt(place: Place) {
    let books = Books::with(place, 3, Policy::Hold).await;
    let mut one = books.worker().await;
    one.claim(2).await;
    one.start(2, 1).await;
    let fail = |row: i64| Unstarted {
        row: RecipientId(row),
        how: How::Unbuildable,
        note: "no `name`".to_owned(),
    };
    let rows = vec![fail(1), fail(2), fail(3)];
    assert_eq!(one.ledger.fail_unstarted(one.me, rows, NOW).await.unwrap(), 1);
    assert_eq!(books.stands(1).await, "failed unbuildable");
    assert_eq!(books.row(1).await.attempt, 0);
    let kept = books.ledger.evidence(RecipientId(1)).await.unwrap();
    assert_eq!(kept[0].reply, b"no `name`");
    books.assert_counters_agree().await;
}

async fn believed_suspects_fail_unless_they_moved(place: Place) {
    let books = Books::with(place, 4, Policy::Hold).await;
    let mut one = books.worker().await;
    let mut two = books.worker().await;
    one.claim(4).await;
    let starts: Vec<_> = (1..=4).map(|row| start(row, 1)).collect();
    one.write(&starts).await.unwrap();
    let ends: Vec<_> = (1..=4).map(|row| finish(row, 1, Outcome::Refused, AGAIN)).collect();
    one.write(&ends).await.unwrap();
    // Row 1 is tried again, row 2 is in other hands, row 3 in mine.
    two.claim(1).await;
    assert!(matches!(two.start(1, 2).await, StartAnswer::Started { .. }));
    two.claim(1).await;
    one.claim(1).await;
    let all = (1..=4).map(|row| (RecipientId(row), Attempt(1))).collect();
    let believed = one.ledger.fail_suspects(one.me, all, NOW).await.unwrap();
    assert_eq!(believed, Believed { failed: 2, early: Vec::new() });
    let mut stands = Vec::new();
    for row in 1..=4 {
        stands.push(books.stands(row).await);
    }
    assert_eq!(stands, ["sending", "ready", "failed refused", "failed refused"]);
    books.assert_counters_agree().await;
}

async fn a_suspect_whose_refusal_is_not_recorded_yet_is_named_as_early(place: Place) {
    let books = Books::with(place, 1, Policy::Hold).await;
    let mut one = books.worker().await;
    let two = books.worker().await;
    one.claim(1).await;
    one.write(&[start(1, 1)]).await.unwrap();
    let (now, then) = ((RecipientId(1), Attempt(1)), (RecipientId(1), Attempt(2)));

    let mine = one.ledger.fail_suspects(one.me, vec![now, then], NOW).await.unwrap();
    let others = one.ledger.fail_suspects(two.me, vec![now], NOW).await.unwrap();

    assert_eq!(mine, Believed { failed: 0, early: vec![now] });
    assert_eq!(others, Believed::default());
    assert_eq!(books.stands(1).await, "sending");
}
