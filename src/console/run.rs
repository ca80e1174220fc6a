//! The loop: keys, answers and the clock in; frames and effects out.
//!
//! Promise: a frame is drawn only after something changed, and at most thirty times a second; a
//! key is never answered later than the frame it falls into, whatever the ledger does.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event, EventStream};
use futures_util::{Stream, StreamExt as _};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::app::App;
use super::canvas::Look;
use super::canvas::glyphs::{Ambiguous, Glyphs};
use super::canvas::theme::Theme;
use super::effects::Doer;
use super::message::{Effect, Msg};
use super::refresh;
use super::screen::batch::Batch;
use super::screen::{Facts, Screen};
use super::terminal::{self, Taken};
use crate::ops::Ops;
use crate::shutdown::Shutdown;

/// What the console starts with.
#[derive(Debug)]
pub struct Opening {
    pub facts: Facts,
    /// The batch whose screen is opened.
    pub batch: Option<String>,
    pub tools: Tools,
    pub surroundings: Surroundings,
}

/// What the console cannot do through `ops`: another process.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The words after `ittsu` that run a worker on this ledger.
    pub worker: Vec<OsString>,
    /// Where a worker that was started here writes what it says.
    pub log: PathBuf,
    /// The operator's own settings stay out of it (the demo).
    pub clean: bool,
}

/// What the variables of the process say about the terminal.
#[expect(clippy::struct_excessive_bools, reason = "each is a variable that is set or not")]
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub no_color: bool,
    pub theme: Option<String>,
    pub ascii: bool,
    pub utf8: bool,
    /// The locale is one in which terminals may draw uncertain signs wide.
    pub east_asian: bool,
    /// `1` or `2`: what was measured before.
    pub width: Option<String>,
    pub term: String,
    pub depth: String,
    pub ground: String,
}

/// Where frames go; the real terminal, or a test's.
pub trait Window {
    fn size(&self) -> io::Result<(u16, u16)>;
    fn draw(&mut self, app: &App) -> io::Result<()>;
    fn redraw(&mut self) -> io::Result<()>;
    fn suspend(&mut self) -> io::Result<()>;
    fn copy(&mut self, text: &str) -> io::Result<()>;
}

/// The shortest time between two frames.
const FRAME: Duration = Duration::from_millis(33);
const SECOND: Duration = Duration::from_secs(1);
/// Messages that may wait; whoever sends more waits.
const WAITING: usize = 64;
/// How long deeds under way are waited for at the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the console on the terminal of this process and returns when it is closed.
pub async fn open(ops: Ops, opening: Opening, shutdown: Shutdown) -> io::Result<()> {
    let look = opening.surroundings.look();
    let mut window = Taken::over()?;
    let events = EventStream::new();
    drive(ops, opening, look, &mut window, events, shutdown).await
}

/// Runs the console on any window and any events.
pub async fn drive(
    ops: Ops,
    opening: Opening,
    look: Look,
    window: &mut impl Window,
    events: impl Stream<Item = io::Result<Event>> + Unpin,
    shutdown: Shutdown,
) -> io::Result<()> {
    let (heard, messages) = mpsc::channel(WAITING);
    let wake = Arc::new(Notify::new());
    let mut watching = JoinSet::new();
    watching.spawn(refresh::run(ops.clone(), Arc::clone(&wake), heard.clone()));
    let operator = opening.facts.operator.clone().unwrap_or_default();
    let doer = Doer::new(ops.clone(), operator, opening.tools, heard);
    let app = App::new(opening.facts, look, window.size()?, ops.now());
    let mut console = Console { app, doer, wake, window, ops, dirty: true, quit: false };
    if let Some(batch) = opening.batch {
        let effects = console.app.begin_at(Screen::Batch(Box::new(Batch::new(&batch))));
        console.perform(effects)?;
    }
    let ended = console.run(events, messages, shutdown).await;
    let Console { doer, .. } = console;
    watching.abort_all();
    doer.finish(PATIENCE).await;
    ended
}

/// The console while it runs.
struct Console<'w, W> {
    app: App,
    doer: Doer,
    wake: Arc<Notify>,
    window: &'w mut W,
    ops: Ops,
    dirty: bool,
    quit: bool,
}

impl<W: Window> Console<'_, W> {
    async fn run(
        &mut self,
        mut events: impl Stream<Item = io::Result<Event>> + Unpin,
        mut messages: mpsc::Receiver<Msg>,
        shutdown: Shutdown,
    ) -> io::Result<()> {
        let mut clock = interval(SECOND);
        clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut next_frame = Instant::now();
        while !self.quit {
            // Keys come first, so that nothing the ledger says can hold them up.
            tokio::select! {
                biased;
                () = shutdown.draining() => return Ok(()),
                event = events.next() => match event {
                    Some(event) => self.happened(event?)?,
                    // Nobody can press a key any more: the terminal is gone.
                    None => return Ok(()),
                },
                Some(msg) = messages.recv() => self.take(msg)?,
                _ = clock.tick() => self.take(Msg::Clock)?,
                () = sleep_until(next_frame), if self.dirty => {
                    self.window.draw(&self.app)?;
                    self.dirty = false;
                    next_frame = Instant::now() + FRAME;
                }
            }
        }
        Ok(())
    }

    fn happened(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Key(event) => self.take(Msg::Key(event)),
            Event::Paste(text) => self.take(Msg::Paste(text)),
            Event::Resize(width, height) => self.take(Msg::Resize(width, height)),
            _ => Ok(()),
        }
    }

    fn take(&mut self, msg: Msg) -> io::Result<()> {
        let same = match &msg {
            Msg::Live(Ok(live)) => self.app.shows(live),
            _ => false,
        };
        let effects = self.app.update(self.ops.now(), msg);
        self.dirty |= !same || !effects.is_empty();
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Ask(ticket, ask) => self.doer.ask(ticket, ask),
                Effect::Do(deed) => self.doer.act(deed),
                Effect::Refresh => self.wake.notify_one(),
                Effect::Copy(text) => self.window.copy(&text)?,
                Effect::Redraw => self.window.redraw()?,
                Effect::Suspend => self.window.suspend()?,
                Effect::Quit => self.quit = true,
            }
        }
        Ok(())
    }
}

impl Surroundings {
    /// Chooses colours and signs; measures the terminal where that can matter.
    fn look(&self) -> Look {
        let theme =
            Theme::of(self.no_color, self.theme.as_deref(), &self.term, &self.depth, &self.ground);
        let ambiguous = match self.width.as_deref() {
            Some("1") => Ambiguous::Narrow,
            Some("2") => Ambiguous::Wide,
            _ if self.east_asian => terminal::measure(),
            _ => Ambiguous::Narrow,
        };
        let glyphs = Glyphs::of(self.ascii, self.utf8, ambiguous);
        Look { theme, glyphs, ambiguous, greyed: false }
    }
}

impl Tools {
    /// Starts a worker that outlives the console; returns its process.
    pub fn start_worker(&self) -> io::Result<u32> {
        use std::os::unix::fs::OpenOptionsExt as _;
        use std::os::unix::process::CommandExt as _;
        if let Some(folder) = self.log.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let log =
            std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&self.log)?;
        let mut command = std::process::Command::new(std::env::current_exe()?);
        if self.clean {
            command.env_clear();
        }
        let child = command
            .args(&self.worker)
            // Its own group: what the terminal sends to ours does not reach it.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(child.id())
    }
}
