//! What should be, and the ledger that it is compared with.

use std::collections::HashMap;

use ittsu::domain::id::{Attempt, BatchId, RecipientId, WorkerId};
use ittsu::domain::outcome::{Outcome, Phase};
use ittsu::domain::plan::Act;
use ittsu::domain::policy::Policy;
use ittsu::domain::retry::Jitter;
use ittsu::domain::selection::Selection;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::{Cause, How};
use ittsu::domain::step::Step as WireStep;
use ittsu::domain::time::Timestamp;
use ittsu::domain::watch::Proof;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::evidence::{Evidence, Seen};
use ittsu::ledger::recorder::{FinishAnswer, RecordError, StartAnswer, Step};
use ittsu::ledger::settle::SettleRequest;
use ittsu::ledger::sweep::{StepFileEntry, Victim};

use super::Happens;
use crate::support::hand::{Hand, a_finish, a_start};
use crate::support::ledgers::{ANSWER_WITHIN, Books, NOW, somebody};

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
        let done = match self.running {
            true => ledger.resume(reach, somebody(), NOW).await,
            false => ledger.pause(reach, somebody(), NOW).await,
        };
        // A batch without waiting rows is done: nothing to pause or resume, and nothing to start.
        done.map(drop).map_err(|err| err.to_string())
    }

    async fn claim(&mut self, worker: usize, limit: i64) -> Result<(), String> {
        let player = &self.players[worker];
        if player.dead || player.swept {
            return Ok(());
        }
        let (batch, id) = (self.batch, player.id());
        let claimed = player.hand.claim_at(batch, limit, LATER).await;
        let free = |row: &&Row| row.state == "ready" && row.worker == 0;
        let available = i64::try_from(self.rows.iter().filter(free).count()).unwrap();
        let expected = if self.running { available.min(limit) } else { 0 };
        if i64::try_from(claimed.rows.len()).unwrap() != expected {
            return Err(format!("{} rows were claimed and not {expected}", claimed.rows.len()));
        }
        for got in claimed.rows {
            let row = self.row(got.id.0);
            if !free(&&*row) || row.attempt != got.attempt.0 {
                return Err(format!("{got:?} was claimed and is {row:?}"));
            }
            row.worker = id;
            self.players[worker].claimed.push((got.id.0, got.attempt.0));
        }
        Ok(())
    }

    async fn write(
        &mut self,
        worker: usize,
        starts: usize,
        ends: &[Outcome],
    ) -> Result<(), String> {
        if self.players[worker].dead || self.players[worker].swept {
            return Ok(());
        }
        let mut group = Vec::new();
        for &outcome in ends {
            let Some((row, attempt)) = self.players[worker].wire.pop() else { break };
            let tries = self.row(row).tries;
            let settled = settle(self.policy, outcome, tries);
            let mut finish = a_finish(row, attempt, outcome, settled);
            finish.batch = self.batch;
            group.push(Step { finish: Some(finish), start: None });
        }
        for i in 0..starts {
            let Some((row, attempt)) = self.players[worker].claimed.pop() else { break };
            let mut start = a_start(row, attempt + 1);
            (start.batch, start.at) = (self.batch, self.tick());
            match group.get_mut(i) {
                Some(step) => step.start = Some(start),
                None => group.push(Step { finish: None, start: Some(start) }),
            }
        }
        self.group(worker, group).await
    }

    /// Hands a group in, for the first time, and compares the answers.
    async fn group(&mut self, worker: usize, group: Vec<Step>) -> Result<(), String> {
        let answers =
            self.players[worker].hand.write(&group).await.map_err(|err| err.to_string())?;
        let mut stopped = false;
        for (step, answer) in group.iter().zip(&answers) {
            if let Some(finish) = &step.finish {
                let expected = self.end_attempt(
                    worker,
                    finish.row.0,
                    finish.attempt.0,
                    finish.outcome,
                    finish.settled,
                );
                if answer.finish != Some(expected) {
                    return Err(format!("{finish:?} was answered {:?}", answer.finish));
                }
            }
            if let Some(start) = &step.start {
                let begun = self.start_attempt(worker, start.row.0, start.attempt.0);
                let right = match begun {
                    Begun::Yes => matches!(answer.start, Some(StartAnswer::Started { .. })),
                    Begun::NotRunning => answer.start == Some(StartAnswer::NotRunning),
                    Begun::Lost => answer.start == Some(StartAnswer::Lost),
                };
                if !right {
                    return Err(format!("{start:?} was answered {:?}", answer.start));
                }
                stopped |= matches!(begun, Begun::NotRunning);
            }
        }
        if stopped {
            self.free_ready(worker);
        }
        self.players[worker].last = group;
        Ok(())
    }

    fn start_attempt(&mut self, worker: usize, id: i64, attempt: i64) -> Begun {
        let (running, me) = (self.running, self.players[worker].id());
        let row = self.row(id);
        if !running {
            return Begun::NotRunning;
        }
        if row.state != "ready" || row.worker != me || row.attempt + 1 != attempt {
            return Begun::Lost;
        }
        row.state = "sending";
        row.attempt = attempt;
        row.handed_again += i64::from(row.unknown_attempts > 0);
        self.players[worker].wire.push((id, attempt));
        self.players[worker].started.push((id, attempt));
        Begun::Yes
    }

    fn end_attempt(
        &mut self,
        worker: usize,
        id: i64,
        attempt: i64,
        outcome: Outcome,
        settled: Settled,
    ) -> FinishAnswer {
        let me = self.players[worker].id();
        let row = self.row(id);
        if row.state != "sending" || row.worker != me || row.attempt != attempt {
            return FinishAnswer::Lost;
        }
        self.close(id, outcome, settled);
        FinishAnswer::Recorded
    }

    /// Ends the attempt a row has in the air.
    fn close(&mut self, id: i64, outcome: Outcome, settled: Settled) {
        let unknown = matches!(outcome, Outcome::Unknown(_));
        let row = self.row(id);
        row.tries += i64::from(outcome != Outcome::NotSent);
        row.unknown_attempts += i64::from(unknown);
        put(row, settled);
        let (attempt, generation) = (row.attempt, row.generation);
        self.past.ended.insert((id, attempt), (generation, unknown));
    }

    /// Takes what a worker has only reserved out of its hands and its memory.
    fn free_ready(&mut self, worker: usize) {
        let me = self.players[worker].id();
        for row in &mut self.rows {
            if row.worker == me && row.state == "ready" {
                row.worker = 0;
            }
        }
        self.players[worker].claimed.clear();
    }

    async fn repeat(&mut self, worker: usize) -> Result<(), String> {
        let player = &mut self.players[worker];
        if player.dead || player.swept || player.last.is_empty() {
            return Ok(());
        }
        // Only what nothing has happened to since: a worker repeats before it does anything else.
        let fresh = |step: &Step| {
            step.start
                .as_ref()
                .is_none_or(|start| player.wire.contains(&(start.row.0, start.attempt.0)))
        };
        if !player.last.iter().all(fresh) {
            return Ok(());
        }
        let group = player.last.clone();
        let answers = player.hand.write(&group).await.map_err(|err| err.to_string())?;
        let me = player.id();
        for (step, answer) in group.iter().zip(&answers) {
            if let Some(start) = &step.start {
                let row = self.row(start.row.0);
                let mine =
                    row.state == "sending" && row.worker == me && row.attempt == start.attempt.0;
                let right = match answer.start {
                    Some(StartAnswer::Started { .. }) => mine,
                    Some(StartAnswer::Lost | StartAnswer::NotRunning) => !mine,
                    _ => false,
                };
                if !right {
                    return Err(format!("the repeat of {start:?} was answered {:?}", answer.start));
                }
            }
            if answer.start == Some(StartAnswer::NotRunning) {
                self.free_ready(worker);
            }
        }
        Ok(())
    }

    async fn give_back(&mut self, worker: usize) -> Result<(), String> {
        let player = &self.players[worker];
        if player.dead || player.swept {
            return Ok(());
        }
        let me = player.id();
        let held = self.rows.iter().filter(|row| row.worker == me && row.state == "ready").count();
        let given = self.books.ledger.give_back(WorkerId(me), self.batch, NOW).await;
        let given = given.map_err(|err| err.to_string())?;
        self.free_ready(worker);
        if usize::try_from(given) == Ok(held) { Ok(()) } else { Err(format!("{given} of {held}")) }
    }

    /// Loses its memory of what it has claimed, and finds it in the ledger.
    async fn forget(&mut self, worker: usize) -> Result<(), String> {
        let player = &self.players[worker];
        if player.dead || player.swept {
            return Ok(());
        }
        let me = player.id();
        let found = self.books.ledger.own_forgotten_rows(WorkerId(me)).await;
        let found: Vec<_> = found
            .map_err(|err| err.to_string())?
            .rows
            .iter()
            .map(|r| (r.id.0, r.attempt.0))
            .collect();
        let held: Vec<_> = (self.first..)
            .zip(&self.rows)
            .filter(|(_, row)| row.worker == me && row.state == "ready")
            .map(|(id, row)| (id, row.attempt))
            .collect();
        if found != held {
            return Err(format!("{found:?} was found and {held:?} is held"));
        }
        self.players[worker].claimed = held;
        Ok(())
    }

    async fn replay(&mut self, worker: usize, outcome: Outcome) -> Result<(), String> {
        let player = &self.players[worker];
        if !player.dead || player.swept {
            return Ok(());
        }
        let Some(&(row, attempt)) = player.wire.last() else { return Ok(()) };
        self.learn(worker, row, attempt, outcome, Seen::OutcomeFile).await
    }

    async fn late(&mut self, worker: usize, pick: usize, outcome: Outcome) -> Result<(), String> {
        let player = &self.players[worker];
        if !player.swept || player.started.is_empty() {
            return Ok(());
        }
        let (row, attempt) = player.started[pick % player.started.len()];
        self.learn(worker, row, attempt, outcome, Seen::OutcomeFile).await
    }

    async fn learn(
        &mut self,
        worker: usize,
        id: i64,
        attempt: i64,
        outcome: Outcome,
        source: Seen,
    ) -> Result<(), String> {
        let me = self.players[worker].id();
        let evidence = Evidence {
            row: RecipientId(id),
            attempt: Attempt(attempt),
            worker: WorkerId(me),
            source,
            outcome,
            phase: Phase::Dot,
            code: Some(250),
            reply: b"250".to_vec(),
        };
        self.books.ledger.learn(evidence, NOW).await.map_err(|err| err.to_string())?;
        if self.past.learned.contains(&(id, attempt, me, outcome)) {
            return Ok(());
        }
        self.past.learned.push((id, attempt, me, outcome));
        let ended = self.past.ended.get(&(id, attempt)).copied();
        let decided = |generation: i64| {
            self.past.decided.iter().any(|&(r, a, g)| r == id && a >= attempt && g == generation)
        };
        let now = self.rows[usize::try_from(id - self.first).unwrap()].clone();
        let generation = ended.map_or(now.generation, |(generation, _)| generation);
        if generation != now.generation || decided(generation) {
            return Ok(());
        }
        let Some(settled) = late_end(&now, attempt, outcome) else { return Ok(()) };
        match ended {
            None => self.close(id, outcome, settled),
            Some((_, unknown)) => {
                let row = self.row(id);
                row.unknown_attempts -= i64::from(unknown);
                put(row, settled);
                self.past.ended.insert((id, attempt), (generation, false));
            }
        }
        Ok(())
    }

    async fn sweep(
        &mut self,
        worker: usize,
        proof: Proof,
        notes: &[WireStep],
    ) -> Result<(), String> {
        let player = &mut self.players[worker];
        if player.swept {
            // Somebody new comes in its place; who it was is over.
            *player = self::player(self.books.worker().await);
            return Ok(());
        }
        player.swept = true;
        let (me, wire) = (player.id(), std::mem::take(&mut player.wire));
        player.wire.clone_from(&wire);
        let steps: Vec<StepFileEntry> = wire
            .iter()
            .zip(notes)
            .map(|(&(row, attempt), &step)| StepFileEntry {
                row: RecipientId(row),
                attempt: Attempt(attempt),
                step,
            })
            .collect();
        let beat = self.books.ledger.worker(WorkerId(me)).await.unwrap().unwrap().beat;
        let victim = Victim {
            worker: WorkerId(me),
            beat,
            proof,
            steps: steps.clone(),
            answer_within: ANSWER_WITHIN,
        };
        let swept = self.books.ledger.sweep(victim, Jitter::NONE, NOW).await;
        if swept.map_err(|err| err.to_string())?.is_none() {
            return Err("the sweep found it alive".to_owned());
        }
        for id in self.first..self.first + ROWS {
            let row = self.row(id).clone();
            if row.worker != me {
                continue;
            }
            if row.state == "ready" {
                self.row(id).worker = 0;
                continue;
            }
            let note = steps.iter().rfind(|s| (s.row.0, s.attempt.0) == (id, row.attempt));
            let outcome = match note.map(|entry| entry.step) {
                Some(WireStep::Data) => Outcome::NotSent,
                Some(WireStep::Answered(reply)) if reply.code == 250 => Outcome::Accepted,
                Some(WireStep::Answered(_)) => Outcome::Refused,
                _ => Outcome::Unknown(Cause::Crash),
            };
            let settled = settle(self.policy, outcome, row.tries);
            self.close(id, outcome, settled);
        }
        Ok(())
    }

    async fn zombie(&mut self, worker: usize) -> Result<(), String> {
        let player = &mut self.players[worker];
        if !player.swept {
            return Ok(());
        }
        let group = match (player.claimed.pop(), player.wire.last()) {
            (Some((row, attempt)), _) => {
                let start = a_start(row, attempt + 1);
                vec![Step { finish: None, start: Some(start) }]
            }
            (None, Some(&(row, attempt))) => {
                let settled = Settled::Sent(How::Accepted);
                let finish = a_finish(row, attempt, Outcome::Accepted, settled);
                vec![Step { finish: Some(finish), start: None }]
            }
            (None, None) => Vec::new(),
        };
        match player.hand.write(&group).await {
            Err(RecordError::Fenced) => Ok(()),
            other => Err(format!("a swept worker was answered {other:?}")),
        }
    }

    async fn person(&mut self, row: usize, act: Act) -> Result<(), String> {
        let id = self.first + i64::try_from(row).unwrap() % ROWS;
        let request = SettleRequest {
            batch: self.batch,
            selection: Selection { keys: vec![format!("k{id}")], ..Selection::default() },
            act,
            to: None,
            confirm: 1,
            words: String::new(),
        };
        let settled = self.books.ledger.settle(request, somebody(), NOW).await;
        let changed = settled.map_err(|err| err.to_string())?.changed == 1;
        let row = self.row(id);
        let assumed = row.how == "assumed";
        // Nobody takes a row out of the hands of a worker that was not swept.
        let expected = match (act, row.state) {
            _ if row.worker != 0 => false,
            (Act::MarkSent, "sent") => assumed,
            (Act::MarkSent, _) => true,
            (Act::MarkFailed, "failed") => false,
            (Act::MarkFailed, "sent") => assumed,
            (Act::MarkFailed, _) => true,
            (_, "ready") => false,
            (Act::Resend, "sent") => false,
            (Act::Resend | Act::AnotherCopy, _) => true,
        };
        if changed != expected {
            return Err(format!("{act} of {row:?}: changed is {changed}"));
        }
        if !changed {
            return Ok(());
        }
        let decided = (id, row.attempt, row.generation);
        let was_sent = row.state == "sent";
        let (state, how) = match act {
            Act::MarkSent => ("sent", "operator"),
            Act::MarkFailed => ("failed", "operator"),
            Act::Resend | Act::AnotherCopy => ("ready", ""),
        };
        (row.state, row.how, row.unknown) = (state, how, false);
        if state == "ready" {
            row.tries = 0;
        }
        if act == Act::AnotherCopy && was_sent {
            row.generation += 1;
            (row.unknown_attempts, row.handed_again) = (0, 0);
        }
        self.past.decided.push(decided);
        Ok(())
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
