//! Finds workers that are gone and settles what they left.
//!
//! Promise: what a dead worker kept on this machine is handed in before its rows are given up.
//! Whether a worker lives is watched on this worker's own clock, never read off a time in the
//! ledger; only the same boot and pid namespace prove a process gone.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::clock::Clock;
use crate::domain::id::WorkerId;
use crate::domain::retry::Jitter;
use crate::domain::settle::Settled;
use crate::domain::watch::{Patience, Proof, Watched};
use crate::ledger::evidence::Seen;
use crate::ledger::sweep::{StepFileEntry, Swept, Victim};
use crate::ledger::workers::Worker;
use crate::ledger::{Ledger, LedgerError};

use super::identity::Myself;
use super::outcome_file::Orphan;
use super::progress::Progress;
use super::settings::Settings;
use super::state_dir::StateDir;
use super::step_file;

/// Watches all workers for one process.
#[derive(Debug)]
pub(super) struct Watch {
    myself: Myself,
    patience: Patience,
    /// The longest time from start to answer over any route.
    answer_within: Duration,
    seen: HashMap<WorkerId, Watched>,
}

impl Watch {
    pub(super) fn new(myself: Myself, settings: &Settings) -> Self {
        let patience = Patience { heartbeat: settings.heartbeat, lost_after: settings.lost_after };
        Self { myself, patience, answer_within: answer_within(settings), seen: HashMap::new() }
    }

    /// Looks at a worker's beat and returns the proof that it is gone, if there is one.
    pub(super) fn look(&mut self, worker: &Worker, since_boot: Duration) -> Option<Proof> {
        let first = Watched::first(worker.beat, since_boot);
        let watched = self.seen.entry(worker.id).or_insert(first);
        *watched = watched.look(worker.beat, since_boot, self.patience);
        if self.myself.proves_gone(&worker.identity.process) {
            Some(Proof::ProcessGone)
        } else {
            watched.is_lost(self.patience).then_some(Proof::Silent)
        }
    }

    /// Forgets workers that are no longer listed.
    pub(super) fn keep_only(&mut self, workers: &[Worker]) {
        self.seen.retain(|&id, _| workers.iter().any(|worker| worker.id == id));
    }

    /// Hands in what the victim kept here, then sweeps it.
    pub(super) async fn sweep(
        &self,
        ledger: &Ledger,
        victim: &Worker,
        proof: Proof,
        clock: &Clock,
    ) -> Result<Option<Progress>, LedgerError> {
        let state = StateDir::new(&victim.identity.state_dir, ledger.id());
        replay_file(ledger, victim.id, &state.outcomes(victim.id), clock).await?;
        let victim_steps = self.steps_of(victim, &state);
        let swept = ledger
            .sweep(
                Victim {
                    worker: victim.id,
                    beat: victim.beat,
                    proof,
                    steps: victim_steps,
                    answer_within: self.answer_within,
                },
                Jitter(fastrand::f64()),
                clock.now(),
            )
            .await?;
        Ok(swept.map(|swept| {
            // The rows are settled: what the file could say has been said.
            let _ = std::fs::remove_file(state.steps(victim.id));
            told(victim.id, &swept)
        }))
    }

    /// Reads the victim's step file, if it is of this machine and boot.
    fn steps_of(&self, victim: &Worker, state: &StateDir) -> Vec<StepFileEntry> {
        let boot = &self.myself.process.boot;
        if victim.identity.process.boot != *boot {
            return Vec::new();
        }
        let noted = step_file::read(&state.steps(victim.id), victim.id, boot);
        let entry = |noted: step_file::Noted| StepFileEntry {
            row: noted.row,
            attempt: noted.attempt,
            step: noted.step,
        };
        noted.into_iter().map(entry).collect()
    }
}

/// Hands in what dead workers kept in this state directory (`protocol.md` 17).
pub(super) async fn replay(
    ledger: &Ledger,
    state: &StateDir,
    clock: &Clock,
) -> Result<(), LedgerError> {
    let files = state.all_outcomes().unwrap_or_else(|error| {
        tracing::warn!(%error, "the state directory cannot be read");
        Vec::new()
    });
    for (worker, path) in files {
        replay_file(ledger, worker, &path, clock).await?;
    }
    Ok(())
}

async fn replay_file(
    ledger: &Ledger,
    worker: WorkerId,
    path: &Path,
    clock: &Clock,
) -> Result<(), LedgerError> {
    let mut orphan = match Orphan::take(path) {
        Ok(Some(orphan)) => orphan,
        Ok(None) => return Ok(()),
        Err(error) => {
            unreadable(path, &error);
            return Ok(());
        }
    };
    let kept = match orphan.read() {
        Ok(kept) => kept,
        Err(error) => {
            unreadable(path, &error);
            return Ok(());
        }
    };
    let mut is_refused = false;
    for kept in kept {
        let evidence = kept.as_evidence(worker, Seen::OutcomeFile);
        match ledger.learn(evidence, clock.now()).await {
            Ok(_) => {}
            Err(error) if error.is_transient() => return Err(error),
            // The others must not wait for the one that cannot be written.
            Err(error) => {
                is_refused = true;
                tracing::error!(row = kept.row.0, %error, "an outcome cannot be handed in");
            }
        }
    }
    if !is_refused && let Err(error) = orphan.remove() {
        unreadable(path, &error);
    }
    Ok(())
}

/// A file that cannot be read stays where it is; its rows are unknown, which is true.
fn unreadable(path: &Path, error: &io::Error) {
    tracing::warn!(path = %path.display(), %error, "an outcome file cannot be replayed");
}

/// Sweeps the workers whose process is proved gone, seen from this process; never a silent one.
pub async fn sweep_gone(
    ledger: &Ledger,
    settings: &Settings,
    clock: &Clock,
) -> Result<Vec<Progress>, LedgerError> {
    let watch = Watch::new(Myself::look(), settings);
    let mut told = Vec::new();
    for worker in ledger.workers().await? {
        if watch.myself.proves_gone(&worker.identity.process) {
            told.extend(watch.sweep(ledger, &worker, Proof::ProcessGone, clock).await?);
        }
    }
    Ok(told)
}

fn answer_within(settings: &Settings) -> Duration {
    // A batch of a route this worker does not know may be among the rows: the RFC's own times.
    let rfc = Duration::from_mins(2 + 3 + 10);
    settings.routes.values().map(|route| route.longest).max().unwrap_or(rfc)
}

fn told(worker: WorkerId, swept: &Swept) -> Progress {
    let ready = |settled: &Settled| matches!(settled, Settled::Ready { .. });
    let freed = swept.settled.iter().filter(|(_, settled)| ready(settled)).count() as u64;
    Progress::Swept {
        worker,
        freed: swept.freed.unsigned_abs() + freed,
        unknown: swept.settled.len() as u64 - freed,
    }
}
