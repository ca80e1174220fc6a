//! One worker, from its first registration to its end, over all its identities.
//!
//! Promise: a worker that was taken for lost stops, hands in what it still learned as evidence and
//! starts again under a new identity; one that is asked to end finishes what is on the wire.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock::Clock;
use crate::compose::message_id::Codec;
use crate::domain::text::with_causes;
use crate::ledger::recorder::Recorder;
use crate::ledger::workers::{Identity, Registered};
use crate::ledger::{Ledger, LedgerError};
use crate::shutdown::Shutdown;

use super::errand::ErrandTask;
use super::identity::Myself;
use super::keeper::Keeper;
use super::look::Look;
use super::outcome_file::{Kept, OutcomeFile};
use super::progress::{Finished, Progress, Teller, Why};
use super::pulse::{Health, Pulse};
use super::recorder::{Tools, recorder};
use super::route::Route;
use super::settings::{Serve, Settings};
use super::shift::{Parts, Shift};
use super::state_dir::StateDir;
use super::step_file::StepFile;
use super::sweep::{Watch, replay};
use super::tally::Tally;
use super::watch;

/// Why a worker could not work at all.
#[derive(Debug, thiserror::Error)]
pub enum DispatchError {
    #[error("the ledger does not let this worker in")]
    Ledger(#[from] LedgerError),
    #[error("the state directory {path} cannot be used")]
    StateDir {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("this ledger's Message-IDs cannot be written")]
    MessageIds,
}

/// An engine process.
#[derive(Debug)]
pub struct Worker {
    settings: Arc<Settings>,
    ledger: Ledger,
    clock: Clock,
    shutdown: Shutdown,
    teller: Teller,
    state: StateDir,
    myself: Myself,
    codec: Codec,
    tally: Arc<Tally>,
}

/// The running parts of a shift.
struct Running {
    shift: Arc<Shift>,
    routes: Vec<Arc<Route>>,
    keepers: JoinSet<()>,
    /// They end with the shift and hold nothing.
    watchers: JoinSet<()>,
    errands: JoinSet<Vec<Kept>>,
    recorder: JoinSet<OutcomeFile>,
}

impl Worker {
    /// Works until there is a reason to end, and says which.
    pub async fn run(
        settings: Settings,
        ledger: Ledger,
        clock: Clock,
        shutdown: Shutdown,
        teller: Teller,
    ) -> Result<Finished, DispatchError> {
        let state = StateDir::new(&settings.state_dir, ledger.id());
        state.make().map_err(|source| DispatchError::StateDir {
            path: settings.state_dir.clone(),
            source,
        })?;
        let key = data_encoding::HEXLOWER.encode(ledger.mac_key());
        let codec = Codec::new(ledger.id(), &key).ok_or(DispatchError::MessageIds)?;
        let worker = Self {
            settings: Arc::new(settings),
            ledger,
            clock,
            shutdown,
            teller,
            state,
            myself: Myself::look(),
            codec,
            tally: Arc::default(),
        };
        worker.work().await
    }

    async fn work(self) -> Result<Finished, DispatchError> {
        // Connections of a former identity that still wait for an answer.
        let mut leftovers = JoinSet::new();
        let why = loop {
            let mut running = self.begin().await?;
            self.wait(&mut running).await;
            if running.shift.pulse.health() == Health::Fenced && !self.shutdown.is_draining() {
                self.teller.tell(Progress::Fenced { worker: running.shift.me.worker });
                leftovers.spawn(running.close());
                continue;
            }
            let own = running.shift.why();
            let away = running.close().await;
            let stopped = if self.shutdown.is_now() { Why::Stopped } else { Why::Drained };
            break away.or(own).unwrap_or(stopped);
        };
        while leftovers.join_next().await.is_some() {}
        let counts = self.tally.counts();
        self.teller.tell(Progress::Counts(counts));
        Ok(Finished { counts, in_doubt: self.tally.rows_in_doubt(), why })
    }

    /// Registers, puts in order what dead workers left, and starts every part.
    async fn begin(&self) -> Result<Running, DispatchError> {
        let me = self.register().await?;
        let settings = &self.settings;
        let registered = self.clock.since_boot();
        let pulse = Arc::new(Pulse::new(registered, settings.lost_after));
        let connections = settings.routes.values().map(|route| route.connections).sum();
        let boot = &self.myself.process.boot;
        let in_state_dir =
            |source| DispatchError::StateDir { path: settings.state_dir.clone(), source };
        let steps = StepFile::create(&self.state.steps(me.worker), me.worker, boot, connections)
            .map_err(in_state_dir)?;
        let file = OutcomeFile::create(&self.state.outcomes(me.worker)).map_err(in_state_dir)?;
        let shutdown = self.shutdown.child();
        let tools = Tools {
            file,
            pulse: Arc::clone(&pulse),
            grouping: settings.grouping,
            heartbeat: settings.heartbeat,
            clock: self.clock.clone(),
            shutdown: shutdown.clone(),
            teller: self.teller.clone(),
        };
        let (desk, recorder_task) = recorder(Recorder::new(self.ledger.clone(), me), tools);
        let (errands, errand_task) = ErrandTask::new(
            self.ledger.clone(),
            me,
            self.clock.clone(),
            shutdown.clone(),
            self.teller.clone(),
            Arc::clone(&self.tally),
        );
        let shift = Arc::new(Shift::new(Parts {
            me,
            settings: Arc::clone(settings),
            ledger: self.ledger.clone(),
            clock: self.clock.clone(),
            shutdown,
            pulse,
            desk,
            errands: errands.clone(),
            codec: self.codec.clone(),
            tally: Arc::clone(&self.tally),
            teller: self.teller.clone(),
            steps,
            steps_path: self.state.steps(me.worker),
            connections,
        }));
        self.teller.tell(Progress::Registered { worker: me.worker });
        let mut running = Running::of(Arc::clone(&shift));
        // Beating begins at once: putting in order may take a while.
        running.recorder.spawn(recorder_task.run());
        running.errands.spawn(errand_task.run());
        let mut watch = Watch::new(self.myself.clone(), settings);
        self.put_in_order(&shift, &mut watch).await;
        running.routes = settings
            .routes
            .iter()
            .map(|(name, route)| {
                Arc::new(Route::new(name.clone(), route.clone(), settings.limits, errands.clone()))
            })
            .collect();
        running.watchers.spawn(watch::run(Arc::clone(&shift), watch));
        running.watchers.spawn(Look::new(Arc::clone(&shift), running.routes.clone()).run());
        for route in &running.routes {
            let keeper = Keeper::new(Arc::clone(&shift), Arc::clone(route));
            running.keepers.spawn(keeper.run());
        }
        Ok(running)
    }

    async fn register(&self) -> Result<Registered, LedgerError> {
        let kinds = match &self.settings.serve {
            Serve::Kinds(kinds) => kinds.clone(),
            Serve::Everything | Serve::Batch(_) => Vec::new(),
        };
        let identity = Identity {
            host: self.myself.host.clone(),
            process: self.myself.process.clone(),
            state_dir: self.state.path().to_string_lossy().into_owned(),
            kinds,
        };
        self.ledger.register(identity, self.clock.now()).await
    }

    /// Replays outcome files and sweeps the dead before the first claim (`protocol.md` 17).
    async fn put_in_order(&self, shift: &Shift, watch: &mut Watch) {
        while let Err(error) = self.try_to_put_in_order(shift, watch).await {
            tracing::warn!(%error, "what dead workers left cannot be put in order now");
            if shift.is_over() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    async fn try_to_put_in_order(
        &self,
        shift: &Shift,
        watch: &mut Watch,
    ) -> Result<(), LedgerError> {
        replay(&self.ledger, &self.state, &self.clock).await?;
        watch::round(shift, watch).await
    }

    /// Waits until the shift is over, telling how much is still on the wire.
    async fn wait(&self, running: &mut Running) {
        let shift = Arc::clone(&running.shift);
        let mut health = shift.pulse.watch();
        while !shift.is_over() {
            tokio::select! {
                () = shift.shutdown.draining() => {}
                _ = health.changed() => {}
            }
        }
        if shift.pulse.health() == Health::Fenced {
            return;
        }
        let since = Instant::now();
        let longest = self.settings.routes.values().map(|route| route.longest).max();
        let mut every = tokio::time::interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                ended = running.keepers.join_next() => if ended.is_none() { return },
                _ = every.tick() => {
                    let on_wire = running.routes.iter().map(|route| route.hands().on_wire()).sum();
                    let at_most = longest.unwrap_or_default().saturating_sub(since.elapsed());
                    self.teller.tell(Progress::Draining { on_wire, at_most });
                }
            }
        }
    }
}

impl Running {
    fn of(shift: Arc<Shift>) -> Self {
        Self {
            shift,
            routes: Vec::new(),
            keepers: JoinSet::new(),
            watchers: JoinSet::new(),
            errands: JoinSet::new(),
            recorder: JoinSet::new(),
        }
    }

    /// Waits for everything under this identity and leaves; says so if the ledger was away or gone.
    async fn close(mut self) -> Option<Why> {
        while self.keepers.join_next().await.is_some() {}
        while self.watchers.join_next().await.is_some() {}
        let Self { shift, routes, mut errands, mut recorder, .. } = self;
        let (ledger, clock, me) = (shift.ledger.clone(), shift.clock.clone(), shift.me);
        let (desk, tally, steps) =
            (shift.desk.clone(), Arc::clone(&shift.tally), shift.steps_path());
        let health = shift.pulse.health();
        let mut is_clean = shift.unrecorded() == 0;
        // The last askers go, so both tasks come to their end; the beat goes on until then.
        drop((shift, routes));
        let undone = joined(errands.join_next().await).unwrap_or_default();
        drop(desk);
        let mut file = joined(recorder.join_next().await)?;
        tally.in_doubt(undone.len() as u64);
        if let Err(error) = file.keep(&undone) {
            tracing::error!(%error, "late answers could not be kept");
        }
        is_clean &= file.kept() == 0;
        if let Err(error) = file.close() {
            tracing::warn!(%error, "the outcome file cannot be removed");
        }
        if health == Health::Gone {
            return Some(Why::LedgerReplaced);
        }
        if health == Health::Fenced || !is_clean {
            return None;
        }
        match ledger.leave(me, clock.now()).await {
            Ok(true) => {
                let _ = std::fs::remove_file(steps);
                None
            }
            // A row is still `sending`: whoever sweeps this worker finds the step file.
            Ok(false) => None,
            Err(error) => Some(Why::LedgerAway(with_causes(&error))),
        }
    }
}

/// Takes what a task returned; one that panicked has nothing to return, and says so in the log.
fn joined<T>(ended: Option<Result<T, tokio::task::JoinError>>) -> Option<T> {
    match ended? {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::error!(%error, "a part of the worker died");
            None
        }
    }
}
