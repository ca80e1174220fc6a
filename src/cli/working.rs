//! A worker in this process, and the line that says how far it is.
//!
//! The first Ctrl-C or SIGTERM lets it finish what is on the wire, the second stops it at once.

use std::collections::{HashMap, VecDeque};
use std::mem::Discriminant;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{MissedTickBehavior, interval};

use super::error::{CliError, ExitCode};
use super::progress::EVERY;
use super::shell::Shell;
use crate::domain::batch::Counts;
use crate::domain::text::visible;
use crate::domain::time::Timestamp;
use crate::ops::Ops;
use crate::ops::when;
use crate::ops::words::{age, percent, thousands};
use crate::ops::work::{Finished, Numbers, Progress, Serve, Teller, Until, Waiting, Why};
use crate::shutdown::Shutdown;

/// What a worker is to do, and whether it talks.
#[derive(Clone, Debug)]
pub struct Goal {
    pub serve: Serve,
    pub until: Until,
    pub talk: Talk,
}

/// Whether a worker says how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Talk {
    Aloud,
    /// A program reads a document and wants to hear nothing else.
    Silent,
}

/// How it ended.
#[derive(Clone, Debug)]
pub struct Done {
    pub finished: Finished,
    signal: Option<i32>,
    /// A batch paused itself meanwhile.
    pub paused: bool,
}

impl Done {
    /// Returns the exit code; `partly` says whether some rows did not go out.
    pub fn code(&self, partly: bool) -> ExitCode {
        match (&self.finished.why, self.signal) {
            (Why::LedgerAway(_) | Why::LedgerReplaced | Why::Unreachable(_), _) => {
                ExitCode::Unreachable
            }
            (Why::Broken(_), _) => ExitCode::Failed,
            (Why::Drained | Why::Stopped, Some(2)) => ExitCode::Interrupted,
            (Why::Drained | Why::Stopped, Some(_)) => ExitCode::Terminated,
            _ if partly => ExitCode::Partly,
            _ => ExitCode::Done,
        }
    }

    /// Returns why it ended, in a word for documents.
    pub const fn why(&self) -> &'static str {
        match self.finished.why {
            Why::Idle => "idle",
            Why::NothingDue => "nothing_due",
            Why::Drained => "drained",
            Why::Stopped => "stopped",
            Why::AskedByPerson => "asked_by_person",
            Why::LedgerAway(_) => "ledger_away",
            Why::LedgerReplaced => "ledger_replaced",
            Why::Broken(_) => "broken",
            Why::Unreachable(_) => "unreachable",
        }
    }
}

/// Works until there is a reason to end, saying how far it is.
pub async fn run(ops: &Ops, goal: Goal, shell: &mut Shell) -> Result<Done, CliError> {
    let shutdown = Shutdown::default();
    let (teller, mut told) = Teller::pair();
    let mut line = Line::new(ops, &goal, shell);
    let mut work = Box::pin(ops.work(goal.serve, goal.until, shutdown.clone(), teller));
    let mut listen = Box::pin(shutdown.clone().listen());
    let mut tick = interval(Duration::from_secs(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_listening = true;
    let finished = loop {
        tokio::select! {
            biased;
            finished = &mut work => break finished,
            heard = &mut listen, if is_listening => {
                is_listening = false;
                if let Err(err) = heard {
                    line.say(&format!("Signals cannot be heard: {err}."));
                }
            }
            Some(progress) = told.recv() => line.hear(&progress),
            _ = tick.tick() => line.look().await,
        }
    };
    while let Ok(progress) = told.try_recv() {
        line.hear(&progress);
    }
    line.end();
    let paused = line.paused;
    Ok(Done { finished: finished?, signal: shutdown.signal(), paused })
}

/// Says how a worker ended.
pub fn tell(done: &Done, shell: &mut Shell) {
    let counts = done.finished.counts;
    let n = |n: u64| thousands(i64::try_from(n).unwrap_or(i64::MAX));
    let mut parts =
        vec![format!("{} sent", n(counts.sent)), format!("{} failed", n(counts.failed))];
    if counts.unknown > 0 {
        parts.push(format!("{} without an answer", n(counts.unknown)));
    }
    if counts.later > 0 {
        parts.push(format!("{} put off", n(counts.later)));
    }
    let why = match &done.finished.why {
        Why::Idle => "Nothing is left to do".to_owned(),
        Why::NothingDue => "Nothing is due now".to_owned(),
        Why::Drained => "Stopped, and nothing was on the wire any more".to_owned(),
        Why::Stopped => "Stopped at once".to_owned(),
        Why::AskedByPerson => "An operator asked this worker to stop".to_owned(),
        Why::LedgerAway(why) => format!("The ledger cannot be reached: {}", visible(why)),
        Why::LedgerReplaced => REPLACED.to_owned(),
        Why::Broken(why) => format!("A part of the worker died: {}", visible(why)),
        Why::Unreachable(why) => format!("Nothing could be reached: {}", visible(why)),
    };
    shell.printer.say(&format!("{why}. By this worker: {}.", parts.join(", ")));
    if done.finished.in_doubt > 0 {
        let n = n(done.finished.in_doubt);
        shell.printer.say(&format!("In doubt: {n}. Nobody knows whether they went out."));
    }
}

const REPLACED: &str = "The ledger file was replaced, moved or deleted under this worker, so it \
    sends nothing more; the answers it still got are kept in its state directory. Put the right file \
    back before a worker is started: on an older copy it sends again what went out since";

/// Counts the rows of running batches that nobody knows about.
pub async fn unknown_now(ops: &Ops, kinds: &[String]) -> Result<i64, CliError> {
    let serve = if kinds.is_empty() { Serve::Everything } else { Serve::Kinds(kinds.to_vec()) };
    Ok(ops.numbers(&serve).await?.sum.unknown)
}

/// The line that moves on a terminal, and comes every 10 s elsewhere.
struct Line<'a> {
    ops: &'a Ops,
    serve: Serve,
    bar: ProgressBar,
    is_terminal: bool,
    is_silent: bool,
    printed: Instant,
    /// Rows that were done at a moment, the last 15 s.
    samples: VecDeque<(Instant, i64)>,
    /// When each reason to wait was said last.
    waiting: HashMap<Discriminant<Waiting>, Instant>,
    draining: Option<(usize, Duration, Instant)>,
    paused: bool,
}

impl<'a> Line<'a> {
    fn new(ops: &'a Ops, goal: &Goal, shell: &Shell) -> Self {
        let is_silent = goal.talk == Talk::Silent || shell.printer.is_quiet();
        let is_terminal = shell.printer.talk_is_terminal() && !is_silent;
        let target =
            if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self {
            ops,
            serve: goal.serve.clone(),
            bar,
            is_terminal,
            is_silent,
            printed: Instant::now(),
            samples: VecDeque::new(),
            waiting: HashMap::new(),
            draining: None,
            paused: false,
        }
    }

    fn say(&self, text: &str) {
        if !self.is_silent {
            self.bar.suspend(|| super::printer::aside(text));
        }
    }

    /// Takes the line away.
    fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn hear(&mut self, progress: &Progress) {
        match progress {
            Progress::Registered { .. } | Progress::Counts(_) => {}
            Progress::Paused { why, .. } => {
                self.paused = true;
                let why = visible(why);
                self.say(&format!("Paused by itself: {why} No recipient was failed for it."));
            }
            Progress::Waiting { why, until } => self.wait(why, *until),
            Progress::Draining { on_wire, at_most } => {
                if self.draining.is_none() && *on_wire > 0 {
                    self.say(&format!(
                        "Stopping: mails on the wire: {on_wire}, at most {}. \
                         Once more stops at once and leaves them in doubt.",
                        age(*at_most)
                    ));
                }
                self.draining = Some((*on_wire, *at_most, Instant::now()));
            }
            Progress::LedgerAway { why } => {
                let why = visible(why);
                self.say(&format!("The ledger cannot be reached: {why}. Nothing new is sent."));
            }
            Progress::LedgerBack => self.say("The ledger is there again."),
            Progress::Swept { worker, freed, unknown } => self.say(&format!(
                "Worker {worker} is gone. Its rows: {freed} free again, {unknown} settled by the \
                 batch's rule or unknown."
            )),
            Progress::Fenced { worker } => self.say(&format!(
                "This worker was taken for lost as {worker}; it goes on under a new number."
            )),
            Progress::QueueAway { kind, why } => self.say(&format!(
                "Jobs of {kind} cannot be taken in: {}. They stay in the queue; sending goes on.",
                visible(why)
            )),
            Progress::QueueBack { kind } => {
                self.say(&format!("Jobs of {kind} are taken in again."));
            }
            Progress::TookIn { kind, again, rejected, .. } => {
                if *again > 0 {
                    self.say(&format!(
                        "New jobs of {kind} for mails that failed, sent again: {again}."
                    ));
                }
                if *rejected > 0 {
                    self.say(&format!(
                        "Jobs of {kind} that could not become a row: {rejected}. \
                         See: ittsu rejects list"
                    ));
                }
            }
            Progress::Unwritable { row, why } => self.say(&format!(
                "The ledger does not take the outcome of row {row}: {}. It is kept in a file.",
                visible(why)
            )),
        }
    }

    fn wait(&mut self, why: &Waiting, until: Option<Timestamp>) {
        // Reasons alternate while a route is closed: each is said once a minute at most.
        let which = std::mem::discriminant(why);
        let said = self.waiting.get(&which).is_some_and(|at| at.elapsed() < Duration::from_mins(1));
        if said {
            return;
        }
        self.waiting.insert(which, Instant::now());
        let zone = &self.ops.settings.timezone;
        let until = until.map(|at| format!(" until {}", when::clock_time(at, zone)));
        let until = until.unwrap_or_default();
        let n = |rows: &u64| thousands(i64::try_from(*rows).unwrap_or(i64::MAX));
        match why {
            // The line says the speed; a rate is no news.
            Waiting::Rate => {}
            Waiting::Hours => self.say(&format!("Waiting for the hours of the batch{until}.")),
            Waiting::Retries { rows } => {
                self.say(&format!("Waiting for the next try of {} rows{until}.", n(rows)));
            }
            Waiting::Others { rows } => {
                self.say(&format!("Waiting for {} rows of other workers{until}.", n(rows)));
            }
            Waiting::Endpoint { transport, why } => {
                let why = visible(why);
                let name = if why.starts_with(transport.as_str()) { "" } else { transport };
                let gap = if name.is_empty() { "" } else { " cannot be used: " };
                self.say(&format!(
                    "{name}{gap}{}. Next try{}.",
                    why.trim_end_matches('.'),
                    until.replace(" until", ":")
                ));
            }
            Waiting::Connections { transport } => {
                self.say(&format!("Other workers hold every connection of {transport}."));
            }
        }
    }

    /// Looks at the counts and draws or prints the line.
    async fn look(&mut self) {
        if self.is_silent || (!self.is_terminal && self.printed.elapsed() < EVERY) {
            return;
        }
        self.printed = Instant::now();
        if let Some(text) = self.text().await {
            if self.is_terminal {
                self.bar.set_message(text);
                self.bar.tick();
            } else {
                super::printer::aside(&text);
            }
        }
    }

    async fn text(&mut self) -> Option<String> {
        if let Some((on_wire, at_most, since)) = self.draining {
            let left = at_most.saturating_sub(since.elapsed());
            return Some(format!("Stopping: mails on the wire: {on_wire}, at most {}.", age(left)));
        }
        // Numbers that cannot be read are not shown; the worker itself says what is wrong.
        let Numbers { names, sum } = self.ops.numbers(&self.serve).await.ok()?;
        let who = match names.as_slice() {
            [] => return Some("Nothing to do; waiting for a batch.".to_owned()),
            [one] => one.clone(),
            more => format!("{} batches", more.len()),
        };
        Some(format!("{who}: {}{}", counted(&sum), self.speed(&sum)))
    }

    /// Returns speed and end, by what was done in the last 15 s.
    fn speed(&mut self, sum: &Counts) -> String {
        let now = Instant::now();
        self.samples.push_back((now, sum.sent + sum.failed));
        while self.samples.len() > 2
            && self.samples.front().is_some_and(|(at, _)| at.elapsed() > Duration::from_secs(15))
        {
            self.samples.pop_front();
        }
        let Some(&(since, before)) = self.samples.front() else { return String::new() };
        let seconds = now.duration_since(since).as_secs_f64();
        let done = sum.sent + sum.failed - before;
        if seconds < 1.0 || done <= 0 {
            return String::new();
        }
        #[expect(clippy::cast_precision_loss, reason = "a speed is for people")]
        let (done, left) = (done as f64, (sum.left() - sum.unknown) as f64);
        let wait = Duration::from_secs_f64((left * seconds / done).clamp(0.0, 1e9));
        #[expect(clippy::cast_possible_truncation, reason = "no worker sends so many a minute")]
        let per_minute = thousands((done * 60.0 / seconds) as i64);
        let end = when::clock_time(self.ops.now() + wait, &self.ops.settings.timezone);
        format!(" {per_minute}/min, done about {end}")
    }
}

/// Says the counts of a batch in one line.
pub fn counted(counts: &Counts) -> String {
    let unknown = match counts.unknown {
        0 => String::new(),
        n => format!(", {} unknown", thousands(n)),
    };
    format!(
        "{} of {} sent ({} %), {} failed, {} left{unknown}.",
        thousands(counts.sent),
        thousands(counts.total()),
        percent(counts.sent, counts.total()),
        thousands(counts.failed),
        thousands(counts.left() - counts.unknown),
    )
}
