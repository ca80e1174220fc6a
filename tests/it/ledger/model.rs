//! The ledger against a small model: random claims, groups, crashes, repeats, sweeps, late answers
//! and people, on every engine.

mod world;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use tokio::runtime::Handle;

use ittsu::domain::outcome::Outcome;
use ittsu::domain::plan::Act;
use ittsu::domain::policy::Policy;
use ittsu::domain::smtp::ReplyCode;
use ittsu::domain::state::Cause;
use ittsu::domain::step::Step;
use ittsu::domain::watch::Proof;

use crate::support::engines::{Engine, Place, on_every_engine};
use crate::support::ledgers::Books;

use world::World;

on_every_engine! { the_ledger_does_what_the_model_does }

/// Something that happens. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub(super) enum Happens {
    Claim {
        worker: usize,
        limit: i64,
    },
    /// Starts some rows it has claimed and ends some it has started, as one group.
    Write {
        worker: usize,
        starts: usize,
        ends: Vec<Outcome>,
    },
    /// Hands its last group in again: the acknowledgement was lost.
    Repeat {
        worker: usize,
    },
    GiveBack {
        worker: usize,
    },
    Forget {
        worker: usize,
    },
    /// It stops for good without a word, or only seems to.
    Die {
        worker: usize,
    },
    /// A dead worker's outcome file is read before anybody has swept it.
    Replay {
        worker: usize,
        outcome: Outcome,
    },
    Sweep {
        worker: usize,
        proof: Proof,
        steps: Vec<Step>,
    },
    /// A swept worker's group arrives.
    Zombie {
        worker: usize,
    },
    /// A swept worker's answer arrives.
    Late {
        worker: usize,
        pick: usize,
        outcome: Outcome,
    },
    Pause,
    Resume,
    Person {
        row: usize,
        act: Act,
    },
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Accepted),
        2 => Just(Outcome::Refused),
        2 => Just(Outcome::Deferred),
        1 => Just(Outcome::NotSent),
        3 => Just(Outcome::Unknown(Cause::NoAnswer)),
    ]
}

fn definite() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => Just(Outcome::Accepted),
        1 => Just(Outcome::Refused),
        1 => Just(Outcome::Deferred),
        1 => Just(Outcome::NotSent),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let said = |code| Step::Answered(ReplyCode { code, enhanced: None });
    prop_oneof![
        2 => Just(Step::Data),
        3 => Just(Step::Dot),
        1 => Just(said(250)),
        1 => Just(said(550)),
    ]
}

fn happens() -> impl Strategy<Value = Happens> {
    let worker = || 0_usize..3;
    let ends = prop::collection::vec(outcomes(), 0..3);
    let acts = prop::sample::select(Act::ALL.to_vec());
    let proof = prop_oneof![Just(Proof::ProcessGone), Just(Proof::Silent)];
    let notes = prop::collection::vec(steps(), 0..4);
    prop_oneof![
        5 => (worker(), 1_i64..4).prop_map(|(worker, limit)| Happens::Claim { worker, limit }),
        9 => (worker(), 0_usize..3, ends)
            .prop_map(|(worker, starts, ends)| Happens::Write { worker, starts, ends }),
        2 => worker().prop_map(|worker| Happens::Repeat { worker }),
        1 => worker().prop_map(|worker| Happens::GiveBack { worker }),
        1 => worker().prop_map(|worker| Happens::Forget { worker }),
        2 => worker().prop_map(|worker| Happens::Die { worker }),
        1 => (worker(), definite())
            .prop_map(|(worker, outcome)| Happens::Replay { worker, outcome }),
        3 => (worker(), proof, notes)
            .prop_map(|(worker, proof, steps)| Happens::Sweep { worker, proof, steps }),
        1 => worker().prop_map(|worker| Happens::Zombie { worker }),
        4 => (worker(), 0_usize..9, definite())
            .prop_map(|(worker, pick, outcome)| Happens::Late { worker, pick, outcome }),
        1 => Just(Happens::Pause),
        2 => Just(Happens::Resume),
        4 => (0_usize..4, acts).prop_map(|(row, act)| Happens::Person { row, act }),
    ]
}

async fn the_ledger_does_what_the_model_does(place: Place) {
    let asked = std::env::var("ITTSU_TEST_MODEL_CASES").ok().and_then(|n| n.parse().ok());
    let cases = asked.unwrap_or(if place.engine == Engine::Sqlite { 64 } else { 24 });
    let books = Books::with(place, 0, Policy::Hold).await;
    let policy = prop_oneof![Just(Policy::Hold), Just(Policy::Resend), Just(Policy::AssumeSent)];
    let story = (policy, prop::collection::vec(happens(), 1..60));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let (handle, next) = (Handle::current(), std::cell::Cell::new(1));
    let told = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&story, |(policy, story)| {
            next.set(next.get() + 1);
            handle.block_on(tell(&books, next.get(), policy, &story)).map_err(TestCaseError::fail)
        })
    });
    if let Err(err) = told {
        panic!("{err}");
    }
    books.assert_counters_agree().await;
}

async fn tell(books: &Books, number: i64, policy: Policy, story: &[Happens]) -> Result<(), String> {
    let mut world = World::new(books, number, policy).await;
    let mut told = Ok(());
    for (at, event) in story.iter().enumerate() {
        told = world
            .happen(event)
            .await
            .and(world.compare().await)
            .map_err(|why| format!("{policy}: after event {at}, {event:?}: {why}"));
        if told.is_err() {
            break;
        }
    }
    // Also after a difference: the same story is told again and again to make it shorter.
    world.end().await;
    told
}
