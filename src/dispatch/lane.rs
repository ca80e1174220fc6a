//! One connection: takes a row, hands it over, records the end, takes the next.
//!
//! Promise: a start is asked for only with a connection, a row and a token in hand; a finish never
//! waits for a next row; no dot is written unless the ledger has the start and knew this worker to
//! be alive a moment ago.
//! Absent on purpose: what an outcome means (`domain`), which row is next (`hands`).

mod again;
mod ending;
mod notes;
mod open;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::domain::breaker::Way;
use crate::domain::id::{Attempt, RecipientId};
use crate::domain::smtp::{Event, classify};
use crate::domain::state::How;
use crate::domain::step::Step as HandOver;
use crate::domain::time::Timestamp;
use crate::ledger::claims::Unstarted;
use crate::ledger::recorder::{Finish, Start, StartAnswer, Step};
use crate::transport::{Connection, Ended};

use super::errand::Errand;
use super::failpoint::FailPoint;
use super::hands::{Again, Job};
use super::prepare::{Prepared, Unfit, prepare};
use super::pulse::Health;
use super::recorder::Answer;
use super::route::{Counted, Route, Worn};
use super::served::Unbuilt;
use super::settings::Grouping;
use super::shift::Shift;
use super::step_file::Slot;
use notes::Notes;

/// A connection without work is closed after this; servers hang up on idle clients anyway.
const IDLE: Duration = Duration::from_secs(10);
const IDLE_AMONG_OTHERS: Duration = Duration::from_secs(1);

/// Whether a lane goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    End,
}

/// One connection of a route, with what belongs to it.
#[derive(Debug)]
pub(super) struct Lane {
    shift: Arc<Shift>,
    route: Arc<Route>,
    slot: Slot,
    line: Option<Line>,
    /// Since when there has been nothing to do.
    idle_since: Option<Instant>,
    /// This connection tries a route that is away, for all workers.
    is_probing: bool,
    /// The end of the last message, not yet handed in.
    pending: Option<Pending>,
}

/// An open connection; counted for as long as it is held.
#[derive(Debug)]
struct Line {
    connection: Connection,
    /// Handed over so far.
    messages: u32,
    _counted: Counted,
}

/// An ended attempt whose end is to be recorded.
#[derive(Debug)]
struct Pending {
    finish: Finish,
    /// When its start was known to be written.
    since: Instant,
}

impl Lane {
    pub(super) fn new(shift: Arc<Shift>, route: Arc<Route>, slot: Slot) -> Self {
        Self { shift, route, slot, line: None, idle_since: None, is_probing: false, pending: None }
    }

    /// Sends until there is nothing to do here; every started row has its end by then.
    pub(super) async fn run(mut self) {
        while self.turn().await == Flow::On {}
        if self.is_probing {
            self.route.end_probe();
        }
        let _ = self.flush().await;
        self.hang_up().await;
    }

    async fn turn(&mut self) -> Flow {
        if self.shift.is_over() || self.route.should_leave() {
            return Flow::End;
        }
        if self.pending.is_some() && self.line.is_none() {
            return self.flush().await;
        }
        let now = self.shift.clock.now();
        match self.route.way(now) {
            Way::Free => {}
            // The one that tries goes on, whatever the others wait for.
            _ if self.is_probing && self.route.is_probing() => {}
            Way::Probe => {
                // Who has nothing to send leaves the try to others.
                let has_rows = self.route.hands().could_go(now) > 0;
                if !has_rows || !self.take_probe(now).await {
                    return self.rest(Some(Duration::from_secs(1))).await;
                }
            }
            Way::Wait(until) => return self.rest(Some(until.since(now))).await,
        }
        if self.line.is_none() {
            if self.route.hands().could_go(now) == 0 {
                return self.rest(None).await;
            }
            return self.connect().await;
        }
        if self.shift.pulse.health() == Health::Well
            && let Some(job) = self.route.take(now)
        {
            return self.carry(job, now).await;
        }
        if self.pending.is_some() { self.flush().await } else { self.rest(None).await }
    }

    /// Makes this worker the one that tries a route that is away.
    async fn take_probe(&mut self, now: Timestamp) -> bool {
        let (transport, me) = (self.route.name.clone(), self.shift.me.worker);
        let taken = self.shift.ledger.take_probe(transport, me, now).await.unwrap_or(false);
        if taken {
            self.route.begin_probe();
            self.is_probing = true;
        }
        taken
    }

    /// Waits until there may be something to do; ends the lane when there is not for long.
    async fn rest(&mut self, at_most: Option<Duration>) -> Flow {
        if self.flush().await == Flow::End {
            return Flow::End;
        }
        let shift = Arc::clone(&self.shift);
        let route = Arc::clone(&self.route);
        let mut health = shift.pulse.watch();
        let work = route.work.notified();
        let mut work = std::pin::pin!(work);
        work.as_mut().enable();
        let now = shift.clock.now();
        if shift.pulse.health() == Health::Well
            && (route.way(now) == Way::Free || self.is_probing)
            && route.hands().could_go(now) > 0
        {
            return Flow::On;
        }
        // Where other workers may want the connection it is let go of sooner.
        let patience = if shift.living() > 1 { IDLE_AMONG_OTHERS } else { IDLE };
        let ends_at = *self.idle_since.get_or_insert_with(Instant::now) + patience;
        let wakes_at = at_most.map_or(ends_at, |wait| ends_at.min(Instant::now() + wait));
        tokio::select! {
            () = work => {}
            _ = health.changed() => {}
            () = shift.shutdown.draining() => return Flow::End,
            () = tokio::time::sleep_until(wakes_at) => {}
        }
        if Instant::now() >= ends_at { Flow::End } else { Flow::On }
    }

    /// Takes one row through to its end; the end itself is handed in with the next start.
    async fn carry(&mut self, job: Job, now: Timestamp) -> Flow {
        let Some(mut line) = self.line.take() else {
            self.route.hands().put_back(job);
            return Flow::On;
        };
        let date = job.row.first_started.unwrap_or(now);
        let prepared = match self.prepare(&job, now, date) {
            Ok(prepared) => prepared,
            Err(unfit) => {
                self.line = Some(line);
                self.set_aside(&job, unfit, now);
                return Flow::On;
            }
        };
        job.served.built();
        self.idle_since = None;
        let attempt = job.row.attempt.next();
        self.slot.turn();
        let deciding = self.route.settings.route.deciding();
        let notes = Notes::new(&self.slot, &job.row, attempt, deciding);
        notes.begin();
        let start = Self::start(&job, attempt, now);
        let shutdown = self.shift.shutdown.clone();
        let since = Instant::now();
        let (answer, offered) = {
            let Prepared { envelope, content, .. } = &prepared;
            let write = Self::write(&self.shift, &self.route, self.pending.take(), Some(start));
            let offer = line.connection.offer(envelope, content, &notes);
            tokio::join!(write, or_stopped(&shutdown, offer))
        };
        let (started, out_since) = match answer {
            Ok(Some(StartAnswer::Started { first_started })) => (first_started, Instant::now()),
            refused => {
                // A transaction that was offered and has no start marker ends before its body.
                let was_refused = offered.is_some_and(|offered| offered.is_err());
                self.line = Some(line).filter(|line| was_refused && line.connection.is_usable());
                return self.not_started(job, refused).await;
            }
        };
        let prepared = self.with_date(prepared, &job, now, started);
        let ended = match offered {
            None => notes.cancelled(since),
            Some(Err(ended)) => ended,
            Some(Ok(())) => {
                let ended = self.hand_over(&mut line, &prepared, &notes).await;
                self.repeat(&mut line, &prepared, &job, started, &notes, ended).await
            }
        };
        let worn = if line.messages == 0 { Worn::New } else { Worn::Used };
        self.conclude(&job, attempt, now, &ended, out_since, worn);
        self.keep(line, &ended).await
    }

    /// Hands one prepared message over; what is asked right before its last step is asked here.
    async fn hand_over(&self, line: &mut Line, prepared: &Prepared, notes: &Notes<'_>) -> Ended {
        let (pulse, clock) = (&self.shift.pulse, &self.shift.clock);
        let (shutdown, since) = (&self.shift.shutdown, Instant::now());
        let gate = || {
            FailPoint::DotBefore.pass();
            !notes.is_broken() && !shutdown.is_now() && pulse.allows_dot(clock.since_boot())
        };
        let hand_over = line.connection.hand_over(&prepared.content, notes, &gate);
        let ended = or_stopped(shutdown, hand_over).await;
        FailPoint::ReplyAfter.pass();
        ended.unwrap_or_else(|| notes.cancelled(since))
    }

    fn prepare(&self, job: &Job, now: Timestamp, date: Timestamp) -> Result<Prepared, Unfit> {
        let request = self.route.settings.request.as_deref();
        prepare(job, now, date, &self.shift.settings.only_to, &self.shift.codec, request)
    }

    /// Builds the message once more if the ledger knows another first start; the Date is frozen.
    fn with_date(
        &self,
        prepared: Prepared,
        job: &Job,
        now: Timestamp,
        date: Timestamp,
    ) -> Prepared {
        if date.0 / 1_000_000 == prepared.date.0 / 1_000_000 {
            return prepared;
        }
        self.prepare(job, now, date).unwrap_or(prepared)
    }

    fn start(job: &Job, attempt: Attempt, at: Timestamp) -> Start {
        Start {
            row: job.row.id,
            batch: job.served.id,
            attempt,
            at,
            suppression_seen: job.suppression_seen,
        }
    }

    /// Puts a row aside that is not to be sent.
    fn set_aside(&self, job: &Job, unfit: Unfit, now: Timestamp) {
        let (row, batch) = (job.row.id, job.served.id);
        self.route.hands().not_sent(batch, row);
        match unfit {
            Unfit::Fails { how, note } => self.fail(Unstarted { row, how, note }),
            Unfit::Unbuildable { note } => match job.served.cannot_build(row) {
                Unbuilt::Fails => self.fail(Unstarted { row, how: How::Unbuildable, note }),
                Unbuilt::Later => self.shift.errands.ask(Errand::PutOff(vec![(row, now)])),
                Unbuilt::PausesBatch => {
                    let because = format!("no message of this batch can be built: {note}");
                    self.route.pause(vec![batch], because);
                }
            },
        }
    }

    fn fail(&self, row: Unstarted) {
        self.shift.errands.ask(Errand::Fail(vec![row]));
    }

    /// Looks at the rows in hand once more, because the do-not-send list has changed.
    async fn look_again(&self, job: Job) {
        let mut rows = self.route.hands().let_go();
        rows.push((job.served.id, job.row.id));
        let ids: Vec<RecipientId> = rows.iter().map(|&(_, row)| row).collect();
        match self.shift.ledger.look_again(self.shift.me.worker, &ids).await {
            Ok(claimed) => self.route.put(claimed),
            Err(error) => {
                tracing::debug!(%error, "rows are given back instead of being looked at again");
                let now = self.shift.clock.now();
                let rows = ids.into_iter().map(|row| (row, now)).collect();
                self.shift.errands.ask(Errand::PutOff(rows));
            }
        }
    }

    /// Deals with a start that the ledger did not write: the row did not go.
    async fn not_started(&self, job: Job, answer: Result<Option<StartAnswer>, Broken>) -> Flow {
        let (batch, row) = (job.served.id, job.row.id);
        let again = self.route.hands().not_sent(batch, row);
        match answer {
            Ok(Some(StartAnswer::NotRunning)) => {
                self.route.hands().stop(batch);
                self.shift.errands.ask(Errand::GiveBack(batch));
                self.shift.look_soon();
            }
            Ok(Some(StartAnswer::SuppressionMoved)) => self.look_again(job).await,
            Err(Broken::Unwritable) => {
                let later = self.shift.clock.now() + Duration::from_mins(1);
                self.shift.errands.ask(Errand::PutOff(vec![(row, later)]));
            }
            // It was given back and claimed again, and nobody here has it now.
            Ok(_) if again == Again::Yes => {
                let now = self.shift.clock.now();
                self.shift.errands.ask(Errand::PutOff(vec![(row, now)]));
            }
            // Another worker, or a person, has the row.
            Ok(_) => {}
            Err(Broken::Ends) => return Flow::End,
        }
        Flow::On
    }

    /// Hands in the end of the last message by itself.
    async fn flush(&mut self) -> Flow {
        match Self::write(&self.shift, &self.route, self.pending.take(), None).await {
            Ok(_) | Err(Broken::Unwritable) => Flow::On,
            Err(Broken::Ends) => Flow::End,
        }
    }

    /// Hands in an end, a start, or both as one request.
    async fn write(
        shift: &Shift,
        route: &Route,
        pending: Option<Pending>,
        start: Option<Start>,
    ) -> Result<Option<StartAnswer>, Broken> {
        if pending.is_none() && start.is_none() {
            return Ok(None);
        }
        if shift.settings.grouping == Grouping::OneByOne && pending.is_some() && start.is_some() {
            Box::pin(Self::write(shift, route, pending, None)).await?;
            return Box::pin(Self::write(shift, route, None, start)).await;
        }
        let out_since = pending.as_ref().map(|last| last.since);
        let finish = pending.as_ref().map(|last| last.finish.clone());
        match shift.desk.write(Step { finish, start }, out_since).await {
            Answer::Written(written) => {
                if let Some((last, answer)) = pending.zip(written.finish) {
                    ending::recorded(shift, route, &last, answer);
                }
                Ok(written.start)
            }
            Answer::Unwritable => {
                shift.not_recorded(pending.as_ref().map_or(0, |_| 1));
                Err(Broken::Unwritable)
            }
            Answer::Kept => {
                shift.not_recorded(pending.as_ref().map_or(0, |_| 1));
                Err(Broken::Ends)
            }
            Answer::Fenced(kept) => {
                if let Some(kept) = kept {
                    shift.learn(kept);
                }
                Err(Broken::Ends)
            }
        }
    }
}

/// Why a request was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    Unwritable,
    /// This lane's worker ends.
    Ends,
}

/// Runs a step of the dialogue, or stops in the middle of it when this process must end at once.
async fn or_stopped<T>(
    shutdown: &crate::shutdown::Shutdown,
    step: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        done = step => Some(done),
        () = shutdown.now() => None,
    }
}

/// Describes a hand-over that this process broke off itself.
fn broken_off(phase: crate::domain::outcome::Phase, since: Instant) -> Ended {
    let event = Event::Cancelled;
    let verdict = classify(phase, &event);
    Ended { phase, event, verdict, reply: None, id: None, took: since.elapsed() }
}

/// The step that is noted before anything of a row is on the wire.
const BEGIN: HandOver = HandOver::Started;
