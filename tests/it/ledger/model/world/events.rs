//! One event at a time: what it does to the ledger, and what it should do.

use ittsu::domain::id::{Attempt, RecipientId, WorkerId};
use ittsu::domain::outcome::{Outcome, Phase};
use ittsu::domain::plan::Act;
use ittsu::domain::retry::Jitter;
use ittsu::domain::selection::Selection;
use ittsu::domain::settle::Settled;
use ittsu::domain::state::{Cause, How};
use ittsu::domain::step::Step as WireStep;
use ittsu::domain::watch::Proof;
use ittsu::ledger::evidence::{Evidence, Seen};
use ittsu::ledger::recorder::{FinishAnswer, RecordError, StartAnswer, Step};
use ittsu::ledger::settle::SettleRequest;
use ittsu::ledger::sweep::{StepFileEntry, Victim};

use super::{Begun, LATER, ROWS, Row, World, late_end, player, put, settle};
use crate::support::hand::{a_finish, a_start};
use crate::support::ledgers::{ANSWER_WITHIN, NOW, somebody};

impl World<'_> {
    pub(super) async fn claim(&mut self, worker: usize, limit: i64) -> Result<(), String> {
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

    pub(super) async fn write(
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

    pub(super) async fn repeat(&mut self, worker: usize) -> Result<(), String> {
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

    pub(super) async fn give_back(&mut self, worker: usize) -> Result<(), String> {
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
    pub(super) async fn forget(&mut self, worker: usize) -> Result<(), String> {
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

    pub(super) async fn replay(&mut self, worker: usize, outcome: Outcome) -> Result<(), String> {
        let player = &self.players[worker];
        if !player.dead || player.swept {
            return Ok(());
        }
        let Some(&(row, attempt)) = player.wire.last() else { return Ok(()) };
        self.learn(worker, row, attempt, outcome, Seen::OutcomeFile).await
    }

    pub(super) async fn late(
        &mut self,
        worker: usize,
        pick: usize,
        outcome: Outcome,
    ) -> Result<(), String> {
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

    pub(super) async fn sweep(
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

    pub(super) async fn zombie(&mut self, worker: usize) -> Result<(), String> {
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

    pub(super) async fn person(&mut self, row: usize, act: Act) -> Result<(), String> {
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
            (Act::MarkSent | Act::MarkFailed, "sent") => assumed,
            (Act::MarkFailed, "failed")
            | (Act::Resend | Act::AnotherCopy, "ready")
            | (Act::Resend, "sent") => false,
            (Act::MarkSent | Act::MarkFailed | Act::Resend | Act::AnotherCopy, _) => true,
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
