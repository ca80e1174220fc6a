//! Jobs from a queue into the day's batch, beside the worker that sends them.
//!
//! Promise: a job is acknowledged only after its row, or the reason why there is none, is committed;
//! a job that cannot become a row never blocks the ones behind it; what is away is waited for and
//! said once.
//! Start reading at `run`, then `intake`.

mod intake;

pub(super) use intake::Intake;

use std::time::Duration;

use tokio::task::JoinSet;

use self::intake::Sums;
use super::Ops;
use super::error::OpsError;
use super::work::{Progress, Serve, Teller, Until};
use crate::config::queue::Shape as Configured;
use crate::dispatch::failpoint::FailPoint;
use crate::intake::queue::{Queue, QueueSettings, Shape, Taken};
use crate::shutdown::Shutdown;

/// Jobs that are taken and written together.
const GROUP: usize = 500;
/// How long a first job is waited for; a stop is heard in between.
const WAIT: Duration = Duration::from_millis(500);
/// After a failure: no sooner, then longer and longer.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// A worker that ends when nothing is left asks so often before it goes on without the queue.
const TRIES: u32 = 3;

impl Ops {
    /// Starts taking in for every kind that has a queue and is served.
    pub(super) fn take_jobs(
        &self,
        serve: &Serve,
        until: Until,
        shutdown: &Shutdown,
        teller: &Teller,
    ) -> Result<JoinSet<()>, OpsError> {
        let mut tasks = JoinSet::new();
        for (name, kind) in &self.settings.kinds {
            let is_served = match serve {
                Serve::Everything => true,
                Serve::Kinds(kinds) => kinds.contains(name),
                Serve::Batch(_) => false,
            };
            let Some(queue) = kind.queue.as_ref().filter(|_| is_served) else { continue };
            let settings = QueueSettings {
                url: queue.expose().clone(),
                shape: match &queue.shape {
                    Configured::Stream { stream, group } => {
                        Shape::Stream { stream: stream.clone(), group: group.clone() }
                    }
                    Configured::List { list } => Shape::List { list: list.clone() },
                },
                consumer: format!("ittsu-{}-{:08x}", std::process::id(), fastrand::u32(..)),
                idle: queue.idle,
            };
            let desk = Desk {
                intake: Intake::of(self, name)?,
                settings,
                until,
                shutdown: shutdown.clone(),
                teller: teller.clone(),
                queue: None,
                taken: Vec::new(),
                is_away: false,
            };
            tasks.spawn(desk.run());
        }
        Ok(tasks)
    }
}

/// One kind's queue while it is read.
struct Desk {
    intake: Intake,
    settings: QueueSettings,
    until: Until,
    shutdown: Shutdown,
    teller: Teller,
    queue: Option<Queue>,
    /// Taken from the queue and not written yet.
    taken: Vec<Taken>,
    /// It was said that something is away.
    is_away: bool,
}

impl Desk {
    async fn run(mut self) {
        let (mut pause, mut failures) = (PAUSE, 0);
        // What was taken is written even when the worker is asked to end, if that can be done now.
        while !self.shutdown.is_draining() {
            match self.turn().await {
                Ok(0) if self.until != Until::Forever => return,
                Ok(_) => {
                    (pause, failures) = (PAUSE, 0);
                    if std::mem::take(&mut self.is_away) {
                        self.teller
                            .tell(Progress::QueueBack { kind: self.intake.kind().to_owned() });
                    }
                }
                Err(why) => {
                    failures += 1;
                    tracing::debug!(%why, "a queue cannot be taken in");
                    if !std::mem::replace(&mut self.is_away, true) {
                        let kind = self.intake.kind().to_owned();
                        self.teller.tell(Progress::QueueAway { kind, why });
                    }
                    if self.until != Until::Forever && failures >= TRIES {
                        return;
                    }
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.shutdown.draining() => {}
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Takes one group through; returns how many jobs it had.
    async fn turn(&mut self) -> Result<usize, String> {
        if self.taken.is_empty() {
            self.taken = self.take().await?;
            if !self.taken.is_empty() {
                FailPoint::JobsTaken.pass();
            }
        }
        if self.taken.is_empty() {
            return Ok(0);
        }
        let payloads: Vec<&[u8]> = self.taken.iter().map(|job| job.payload.as_slice()).collect();
        let sums = self.intake.take_in(&payloads).await.map_err(|err| err.to_string())?;
        FailPoint::JobsKept.pass();
        let Sums { new, again, rejected, .. } = sums;
        if new + again + rejected > 0 {
            let kind = self.intake.kind().to_owned();
            self.teller.tell(Progress::TookIn { kind, new, again, rejected });
        }
        // If this is lost the jobs come again, and the ledger knows them by their keys.
        let taken = std::mem::take(&mut self.taken);
        if let Some(queue) = &mut self.queue
            && let Err(err) = queue.done(&taken).await
        {
            self.queue = None;
            return Err(err.to_string());
        }
        Ok(taken.len())
    }

    async fn take(&mut self) -> Result<Vec<Taken>, String> {
        let mut queue = match self.queue.take() {
            Some(queue) => queue,
            None => Queue::open(self.settings.clone()).await.map_err(|err| err.to_string())?,
        };
        let taken = queue.take(GROUP, WAIT).await.map_err(|err| err.to_string())?;
        // A connection that failed is not used again.
        self.queue = Some(queue);
        Ok(taken)
    }
}
