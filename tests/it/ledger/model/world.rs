//! What should be, and the ledger that it is compared with.

mod events;

use std::collections::HashMap;

use ittsu::domain::id::{BatchId, WorkerId};
use ittsu::domain::outcome::Outcome;
use ittsu::domain::policy::Policy;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::How;
use ittsu::domain::time::Timestamp;
use ittsu::domain::watch::Proof;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::recorder::Step;

use super::Happens;
use crate::support::hand::Hand;
use crate::support::ledgers::{Books, NOW, somebody};

const ROWS: i64 = 4;
/// `retry.attempts` of the test's batches.
const ATTEMPTS: i64 = 5;
/// Every row is due by then.
const LATER: Timestamp = Timestamp(NOW.0 + 86_400_000_000);

/// A row as it should stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Row {
    state: &'static str,
    how: &'static str,
    unknown: bool,
    attempt: i64,
    tries: i64,
    generation: i64,
    unknown_attempts: i64,
    handed_again: i64,
    worker: i64,
}

/// What the model remembers beside the rows.
#[derive(Debug, Default)]
struct Past {
    /// Per attempt that has ended: its generation, and whether its end is not known.
    ended: HashMap<(i64, i64), (i64, bool)>,
    /// Per row: at which attempt and generation a person decided about it.
    decided: Vec<(i64, i64, i64)>,
    /// Evidence that was handed in before.
    learned: Vec<(i64, i64, i64, Outcome)>,
}

/// A worker of the story.
struct Player {
    hand: Hand,
    /// Rows in its memory that it may start, and the attempt each stands at.
    claimed: Vec<(i64, i64)>,
    /// What it has on the wire.
    wire: Vec<(i64, i64)>,
    /// Everything it ever started.
    started: Vec<(i64, i64)>,
    last: Vec<Step>,
    dead: bool,
    swept: bool,
}

pub(super) struct World<'b> {
    books: &'b Books,
    batch: BatchId,
    first: i64,
    policy: Policy,
    running: bool,
    rows: Vec<Row>,
    past: Past,
    players: Vec<Player>,
    clock: i64,
}

fn player(hand: Hand) -> Player {
    Player {
        hand,
        claimed: Vec::new(),
        wire: Vec::new(),
        started: Vec::new(),
        last: Vec::new(),
        dead: false,
        swept: false,
    }
}

impl Player {
    const fn id(&self) -> i64 {
        self.hand.me.worker.0
    }
}

impl<'b> World<'b> {
    pub(super) async fn new(books: &'b Books, number: i64, policy: Policy) -> Self {
        let batch = BatchId(number);
        let first = number * 100;
        books.batch(batch, first, first + ROWS - 1, policy).await;
        let row = Row { state: "ready", generation: 1, ..Row::default() };
        let mut players = Vec::new();
        for _ in 0..3 {
            players.push(player(books.worker().await));
        }
        Self {
            books,
            batch,
            first,
            policy,
            running: true,
            rows: vec![row; usize::try_from(ROWS).unwrap()],
            past: Past::default(),
            players,
            clock: 0,
        }
    }

    /// Sweeps whoever is left, so that the slots are free again.
    pub(super) async fn end(self) {
        for player in &self.players {
            self.books.sweep(WorkerId(player.id()), Proof::ProcessGone, &[]).await;
        }
    }

    /// Compares every row with the ledger's.
    pub(super) async fn compare(&self) -> Result<(), String> {
        for (id, row) in (self.first..).zip(&self.rows) {
            let seen = self.books.row(id).await;
            let seen = (
                (seen.state.as_str(), seen.how.as_str(), seen.flag.as_deref() == Some("unknown")),
                (seen.attempt, seen.tries, seen.generation),
                (seen.unknown_attempts, seen.handed_again, seen.worker),
            );
            let model = (
                (row.state, row.how, row.unknown),
                (row.attempt, row.tries, row.generation),
                (row.unknown_attempts, row.handed_again, row.worker),
            );
            if seen != model {
                return Err(format!("row {id} is {seen:?} and should be {model:?}"));
            }
        }
        Ok(())
    }

    fn row(&mut self, id: i64) -> &mut Row {
        let first = self.first;
        &mut self.rows[usize::try_from(id - first).unwrap()]
    }

    /// Returns a moment of its own: it is what tells one start from another.
    const fn tick(&mut self) -> Timestamp {
        self.clock += 1;
        Timestamp(NOW.0 + self.clock)
    }

    pub(super) async fn happen(&mut self, event: &Happens) -> Result<(), String> {
        match event {
            Happens::Claim { worker, limit } => self.claim(*worker, *limit).await,
            Happens::Write { worker, starts, ends } => self.write(*worker, *starts, ends).await,
            Happens::Repeat { worker } => self.repeat(*worker).await,
            Happens::GiveBack { worker } => self.give_back(*worker).await,
            Happens::Forget { worker } => self.forget(*worker).await,
            Happens::Die { worker } => {
                self.players[*worker].dead = true;
                Ok(())
            }
            Happens::Replay { worker, outcome } => self.replay(*worker, *outcome).await,
            Happens::Sweep { worker, proof, steps } => self.sweep(*worker, *proof, steps).await,
            Happens::Zombie { worker } => self.zombie(*worker).await,
            Happens::Late { worker, pick, outcome } => self.late(*worker, *pick, *outcome).await,
            Happens::Pause => {
                self.running = false;
                self.reach().await
            }
            Happens::Resume => {
                self.running = true;
                self.reach().await
            }
            Happens::Person { row, act } => self.person(*row, *act).await,
        }
    }

    async fn reach(&self) -> Result<(), String> {
        let reach = Reach::Batch(self.batch);
        let ledger = &self.books.ledger;
        let done = if self.running {
            ledger.resume(reach, somebody(), NOW).await
        } else {
            ledger.pause(reach, somebody(), NOW).await
        };
        // A batch without waiting rows is done: nothing to pause or resume, and nothing to start.
        done.map(drop).map_err(|err| err.to_string())
    }
}

enum Begun {
    Yes,
    NotRunning,
    Lost,
}

/// What the end of an attempt makes of its row, by the policy.
fn settle(policy: Policy, outcome: Outcome, tries: i64) -> Settled {
    match outcome {
        Outcome::Accepted => Settled::Sent(How::Accepted),
        Outcome::Refused => Settled::Failed(How::Refused),
        Outcome::Deferred | Outcome::NotSent => Settled::Ready { due: NOW },
        Outcome::Unknown(cause) => match policy {
            Policy::AssumeSent => Settled::Sent(How::Assumed),
            Policy::Resend if tries + 1 < ATTEMPTS => Settled::Ready { due: NOW },
            Policy::Resend | Policy::Hold => Settled::Unknown(cause),
        },
    }
}

/// What a late answer makes of a row that no person has decided about, if anything.
fn late_end(row: &Row, attempt: i64, outcome: Outcome) -> Option<Settled> {
    let open = match (row.state, row.how) {
        ("sending", _) | ("sent", "assumed") => true,
        ("ready", _) => row.unknown_attempts > 0,
        _ => false,
    };
    let ours = open && row.attempt == attempt;
    match outcome {
        Outcome::Accepted if matches!(row.state, "ready" | "sending") => {
            Some(Settled::Sent(How::Accepted))
        }
        Outcome::Accepted if matches!(row.how, "assumed" | "refused") => {
            Some(Settled::Sent(How::Accepted))
        }
        Outcome::Refused if ours => Some(Settled::Failed(How::Refused)),
        Outcome::Deferred if ours && row.tries >= ATTEMPTS => Some(Settled::Failed(How::Expired)),
        Outcome::Deferred | Outcome::NotSent if ours => Some(Settled::Ready { due: NOW }),
        _ => None,
    }
}

fn put(row: &mut Row, settled: Settled) {
    let (state, how, unknown) = match settled {
        Settled::Sent(how) => ("sent", how.as_str(), false),
        Settled::Failed(how) => ("failed", how.as_str(), false),
        Settled::Ready { .. } => ("ready", "", false),
        Settled::Unknown(_) => ("sending", "", true),
    };
    (row.state, row.how, row.unknown, row.worker) = (state, how, unknown, 0);
}
