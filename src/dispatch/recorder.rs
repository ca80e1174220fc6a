//! One task that writes every start and finish of a worker, many in one transaction.
//!
//! Promise: an answer means durable. A finish that the ledger cannot take is fsynced into the
//! outcome file and offered again until it can; while one commit is under way the next group gathers.
//! Absent on purpose: what a write means for a row; the ledger answers, the lane decides.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clock::Clock;
use crate::domain::text::with_causes;
use crate::domain::time::Timestamp;
use crate::ledger::recorder::{Answer as Written, RecordError, Recorder, StartAnswer, Step};
use crate::shutdown::Shutdown;

use super::failpoint::FailPoint;
use super::gathering::Gathering;
use super::outcome_file::{Kept, OutcomeFile};
use super::progress::{Progress, Teller};
use super::pulse::{Health, Pulse};
use super::settings::Grouping;

/// A group is never longer, so that one commit stays short.
const LONGEST_GROUP: usize = 256;
/// A write that takes longer counts as "the ledger is away" for everybody else. Counted in steps: a
/// process that was stopped meanwhile has waited for one step, whatever the clock says.
const SLOW_WRITE: u32 = 10;
const SLOW_STEP: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a worker that is to end waits for a ledger that is away.
const LAST_TRIES: Duration = Duration::from_secs(10);

/// Writes a group: the ledger's recorder, or a test's.
pub(super) trait Writer: Send {
    fn write(
        &mut self,
        group: &[Step],
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Written>, RecordError>> + Send;
}

impl Writer for Recorder {
    async fn write(&mut self, group: &[Step], now: Timestamp) -> Result<Vec<Written>, RecordError> {
        Self::write(self, group, now).await
    }
}

/// What became of a request.
#[derive(Debug)]
pub(super) enum Answer {
    Written(Written),
    /// The ledger is away and this worker ends: the finish is in the outcome file, nothing started.
    Kept,
    /// The ledger refuses this very row: the finish is in the outcome file, nothing started.
    Unwritable,
    /// This worker was taken for lost; what the finish said is handed back as evidence.
    Fenced(Option<Kept>),
}

/// "Finish the last row, start the next", with the way back to who asked.
#[derive(Debug)]
struct Request {
    step: Step,
    /// How long the connection was out with the finished message.
    was_out: Option<Duration>,
    is_kept: bool,
    answer: oneshot::Sender<Answer>,
}

/// Where connections hand their writes in; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Desk {
    requests: mpsc::Sender<Request>,
    pulse: Arc<Pulse>,
}

impl Desk {
    /// Hands a step in and waits until it is durable.
    ///
    /// `out_since` is when the finished message's start was known to be written: since then that
    /// connection was expected back.
    pub(super) async fn write(&self, step: Step, out_since: Option<Instant>) -> Answer {
        let (answer, answered) = oneshot::channel();
        let was_out = out_since.map(|since| since.elapsed());
        let request = Request { step, was_out, is_kept: false, answer };
        let sent = self.requests.send(request).await;
        if out_since.is_some() {
            self.pulse.came_back();
        }
        match sent {
            Ok(()) => answered.await.unwrap_or(Answer::Fenced(None)),
            Err(mpsc::error::SendError(request)) => Answer::Fenced(request.kept()),
        }
    }
}

/// The task; it ends when every [`Desk`] is gone, when this worker is fenced, or when the ledger was
/// replaced under it.
#[derive(Debug)]
pub(super) struct RecorderTask<W> {
    writer: W,
    requests: mpsc::Receiver<Request>,
    file: OutcomeFile,
    pulse: Arc<Pulse>,
    gathering: Gathering,
    grouping: Grouping,
    heartbeat: Duration,
    clock: Clock,
    shutdown: Shutdown,
    teller: Teller,
    /// Rows the ledger refuses for ever; their file stays.
    unwritable: usize,
    /// When a worker that is to end stops trying to reach the ledger.
    ends_at: Option<Instant>,
}

/// What the recorder task needs besides the ledger's recorder.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) file: OutcomeFile,
    pub(super) pulse: Arc<Pulse>,
    pub(super) grouping: Grouping,
    pub(super) heartbeat: Duration,
    pub(super) clock: Clock,
    pub(super) shutdown: Shutdown,
    pub(super) teller: Teller,
}

/// Makes the task and the desk in front of it.
pub(super) fn recorder<W: Writer>(writer: W, tools: Tools) -> (Desk, RecorderTask<W>) {
    let (sender, requests) = mpsc::channel(LONGEST_GROUP);
    let Tools { file, pulse, grouping, heartbeat, clock, shutdown, teller } = tools;
    let desk = Desk { requests: sender, pulse: Arc::clone(&pulse) };
    let gathering = Gathering::default();
    let task = RecorderTask {
        writer,
        requests,
        file,
        pulse,
        gathering,
        grouping,
        heartbeat,
        clock,
        shutdown,
        teller,
        unwritable: 0,
        ends_at: None,
    };
    (desk, task)
}

impl<W: Writer> RecorderTask<W> {
    /// Writes until nobody can ask any more; gives the outcome file back.
    pub(super) async fn run(mut self) -> OutcomeFile {
        let mut last_write = Instant::now();
        let most = match self.grouping {
            Grouping::Together => LONGEST_GROUP,
            Grouping::OneByOne => 1,
        };
        loop {
            let mut group = Vec::new();
            tokio::select! {
                biased;
                taken = self.requests.recv_many(&mut group, most) => if taken == 0 { break },
                // The commits are the heartbeat; a timer beats only while there are none.
                () = tokio::time::sleep_until(last_write + self.heartbeat) => {}
            }
            if !group.is_empty() && self.grouping == Grouping::Together {
                self.gather(&mut group).await;
            }
            self.write(group).await;
            last_write = Instant::now();
            if self.pulse.health().is_final() {
                break;
            }
        }
        self.close().await
    }

    /// Waits a moment for the connections that are out with a message.
    async fn gather(&mut self, group: &mut Vec<Request>) {
        for was_out in group.iter().filter_map(|request| request.was_out) {
            self.gathering.came_back(was_out);
        }
        // The timer of the runtime counts milliseconds, a commit may take less: so this yields.
        let until = Instant::now() + self.gathering.patience();
        while group.len() < LONGEST_GROUP {
            match self.requests.try_recv() {
                Ok(request) => group.push(request),
                Err(mpsc::error::TryRecvError::Disconnected) => break,
                Err(mpsc::error::TryRecvError::Empty) => {
                    if self.pulse.out() == 0 || Instant::now() >= until {
                        break;
                    }
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    /// Writes one group, again and again until the ledger has it or this worker must end.
    async fn write(&mut self, mut group: Vec<Request>) {
        let mut pause = Duration::from_millis(250);
        loop {
            let steps: Vec<Step> = group.iter().map(|request| request.step.clone()).collect();
            let beat = self.clock.since_boot();
            let began = Instant::now();
            pass_before(&steps);
            match self.attempt(&steps, &mut group).await {
                Some(Ok(answers)) => {
                    pass_after(&steps);
                    self.pulse.acknowledge(beat);
                    if !group.is_empty() {
                        self.gathering.committed(began.elapsed());
                    }
                    self.is_back();
                    let started = |answer: &&Written| {
                        matches!(answer.start, Some(StartAnswer::Started { .. }))
                    };
                    // Before they know it themselves: the next group is gathered at once.
                    self.pulse.went_out(answers.iter().filter(started).count());
                    for (request, written) in group.into_iter().zip(answers) {
                        request.tell(Answer::Written(written));
                    }
                    return;
                }
                Some(Err(RecordError::Fenced)) => return self.fence(group),
                Some(Err(RecordError::Unwritable { index, source })) => {
                    self.set_aside(&mut group, index, &source.to_string());
                }
                Some(Err(RecordError::Away(error))) if error.is_replaced() => {
                    self.pulse.set_health(Health::Gone);
                    return self.give_up(group);
                }
                Some(Err(RecordError::Away(error))) => {
                    self.is_away(&with_causes(&error));
                    self.keep(&mut group);
                    if !self.wait(pause, &mut group).await {
                        return self.give_up(group);
                    }
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                None => return self.give_up(group),
            }
        }
    }

    /// Runs one write to its end; `None` only when this process has to stop at once.
    async fn attempt(
        &mut self,
        steps: &[Step],
        group: &mut [Request],
    ) -> Option<Result<Vec<Written>, RecordError>> {
        let Self { writer, pulse, file, teller, shutdown, clock, .. } = self;
        let mut write = pin!(writer.write(steps, clock.now()));
        let mut waited = 0;
        loop {
            tokio::select! {
                biased;
                result = &mut write => return Some(result),
                () = shutdown.now(), if pulse.health() == Health::Away => return None,
                () = tokio::time::sleep(SLOW_STEP) => {
                    waited += 1;
                    if waited >= SLOW_WRITE && pulse.health() == Health::Well {
                        pulse.set_health(Health::Away);
                        teller.tell(Progress::LedgerAway { why: "it does not answer".to_owned() });
                        keep(file, group, teller);
                    }
                }
            }
        }
    }

    /// Pauses before the next try, keeping what comes in; false when this worker has to end.
    async fn wait(&mut self, pause: Duration, group: &mut Vec<Request>) -> bool {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                biased;
                () = self.shutdown.now() => return false,
                request = self.requests.recv(), if group.len() < LONGEST_GROUP => match request {
                    Some(request) => {
                        group.push(request);
                        self.keep(group);
                    }
                    None => return false,
                },
                () = tokio::time::sleep_until(until) => return !self.has_tried_enough(),
            }
        }
    }

    /// Reports whether this worker has to end and the ledger has stayed away long enough.
    fn has_tried_enough(&mut self) -> bool {
        let now = Instant::now();
        self.shutdown.is_draining() && *self.ends_at.get_or_insert(now + LAST_TRIES) <= now
    }

    fn is_away(&self, why: &str) {
        if self.pulse.health() == Health::Well {
            self.pulse.set_health(Health::Away);
            self.teller.tell(Progress::LedgerAway { why: why.to_owned() });
        }
    }

    fn is_back(&mut self) {
        if self.pulse.health() == Health::Away {
            self.pulse.set_health(Health::Well);
            self.teller.tell(Progress::LedgerBack);
        }
        // The rows in the file are durable in the ledger now, unless it refused one for ever.
        if self.unwritable == 0
            && let Err(error) = self.file.clear()
        {
            tracing::warn!(%error, "the outcome file cannot be cleared; it will be replayed");
        }
    }

    fn keep(&mut self, group: &mut [Request]) {
        keep(&mut self.file, group, &self.teller);
    }

    /// Answers a group that could not be written before the end; its ends are in the file.
    fn give_up(&mut self, mut group: Vec<Request>) {
        self.keep(&mut group);
        for request in group {
            request.tell(Answer::Kept);
        }
    }

    /// Takes the request that the ledger refuses out of the group.
    fn set_aside(&mut self, group: &mut Vec<Request>, index: usize, why: &str) {
        if index >= group.len() {
            return;
        }
        let mut request = group.remove(index);
        let row = match &request.step {
            Step { finish: Some(finish), .. } => finish.row,
            Step { start: Some(start), .. } => start.row,
            Step { .. } => return,
        };
        self.unwritable += 1;
        self.teller.tell(Progress::Unwritable { row, why: why.to_owned() });
        keep(&mut self.file, std::slice::from_mut(&mut request), &self.teller);
        request.tell(Answer::Unwritable);
    }

    /// Tells everybody that this worker was taken for lost.
    fn fence(&mut self, group: Vec<Request>) {
        self.pulse.set_health(Health::Fenced);
        for request in group {
            let kept = request.kept();
            request.tell(Answer::Fenced(kept));
        }
    }

    /// Answers who still asks after the last write.
    async fn close(mut self) -> OutcomeFile {
        self.requests.close();
        while let Some(request) = self.requests.recv().await {
            let kept = request.kept();
            request.tell(Answer::Fenced(kept));
        }
        self.file
    }
}

impl Request {
    /// Returns what the finish says, for the outcome file and for evidence.
    fn kept(&self) -> Option<Kept> {
        self.step.finish.as_ref().map(Kept::of)
    }

    fn tell(self, answer: Answer) {
        // Who asked may have stopped at once; the write is done all the same.
        let _ = self.answer.send(answer);
    }
}

/// Keeps the finishes of a group on this machine, each once.
fn keep(file: &mut OutcomeFile, group: &mut [Request], teller: &Teller) {
    let new: Vec<Kept> =
        group.iter().filter(|request| !request.is_kept).filter_map(Request::kept).collect();
    match file.keep(&new) {
        Ok(()) => group.iter_mut().for_each(|request| request.is_kept = true),
        Err(error) => {
            let why = format!("the outcome file cannot be written either: {error}");
            teller.tell(Progress::LedgerAway { why });
        }
    }
}

fn pass_before(steps: &[Step]) {
    pass(steps, FailPoint::FinishBefore, FailPoint::StartBefore);
}

fn pass_after(steps: &[Step]) {
    pass(steps, FailPoint::FinishAfter, FailPoint::StartAfter);
}

fn pass(steps: &[Step], finish: FailPoint, start: FailPoint) {
    if steps.iter().any(|step| step.finish.is_some()) {
        finish.pass();
    }
    if steps.iter().any(|step| step.start.is_some()) {
        start.pass();
    }
}

#[cfg(test)]
mod tests;
