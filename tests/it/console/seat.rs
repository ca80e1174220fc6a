//! A person at the console: the real loop on a screen that tests can read, over a real ledger.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use futures_util::stream;
use ittsu::clock::Clock;
use ittsu::config::{Language, Request, Settings};
use ittsu::console::app::App;
use ittsu::console::canvas::Look;
use ittsu::console::canvas::glyphs::{Ambiguous, Glyphs};
use ittsu::console::canvas::theme::Theme;
use ittsu::console::run::{Opening, Surroundings, Tools, Window, drive};
use ittsu::console::{Facts, frame};
use ittsu::ops::{Open, Ops};
use ittsu::shutdown::Shutdown;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::cli::desk::Desk;

/// How tests see the screen: no colours, plain signs.
pub(crate) const LOOK: Look =
    Look { theme: Theme::None, glyphs: Glyphs::Ascii, ambiguous: Ambiguous::Narrow, greyed: false };
/// A screen that does not show what it should within this time never will.
const PATIENCE: Duration = Duration::from_secs(20);

/// A person, the keys under their fingers, and what they see.
pub(crate) struct Seat {
    pub(crate) ops: Ops,
    keys: mpsc::UnboundedSender<Event>,
    screen: watch::Receiver<String>,
    frames: Arc<Mutex<Vec<String>>>,
    running: JoinSet<io::Result<()>>,
    shutdown: Shutdown,
}

/// A window whose frames are kept.
struct Kept {
    terminal: Terminal<TestBackend>,
    seen: watch::Sender<String>,
    frames: Arc<Mutex<Vec<String>>>,
}

impl Window for Kept {
    fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size().map_err(io::Error::other)?;
        Ok((size.width, size.height))
    }

    fn draw(&mut self, app: &App) -> io::Result<()> {
        self.terminal.draw(|f| frame(app, f.buffer_mut())).map_err(io::Error::other)?;
        let text = text(self.terminal.backend().buffer());
        self.frames.lock().expect("frames").push(text.clone());
        self.seen.send_replace(text);
        Ok(())
    }

    fn redraw(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn copy(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Returns what stands on a screen, line by line; the second half of a wide sign is no sign.
pub(crate) fn text(buf: &ratatui::buffer::Buffer) -> String {
    let mut text = String::new();
    for y in buf.area.top()..buf.area.bottom() {
        let mut line = String::new();
        let mut x = buf.area.left();
        while x < buf.area.right() {
            let symbol = buf[(x, y)].symbol();
            line.push_str(symbol);
            x += u16::try_from(unicode_width::UnicodeWidthStr::width(symbol)).unwrap_or(1).max(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// What the console starts with, for `operator`.
pub(crate) fn facts(operator: Option<&str>) -> Facts {
    Facts {
        language: Language::En,
        label: None,
        place: "sqlite:ittsu.db".to_owned(),
        operator: operator.map(str::to_owned),
        read_only: operator.is_none(),
        demo: false,
        zone: TimeZone::UTC,
        kinds: vec!["notice".to_owned()],
    }
}

impl Seat {
    /// Sits down at the ledger of a desk.
    pub(crate) async fn at(desk: &Desk) -> Self {
        Self::with(desk, facts(Some("hanako"))).await
    }

    pub(crate) async fn with(desk: &Desk, facts: Facts) -> Self {
        let request = Request {
            file: Some(desk.shell.path("ittsu.toml")),
            variables: BTreeMap::new(),
            here: desk.shell.path("."),
            ..Request::default()
        };
        let settings = Settings::load(&request).expect("settings");
        let mut ops = Ops::open(settings, Clock::System, Open::Existing).await.expect("a ledger");
        ops.state_dir = desk.shell.path(".ittsu-state");
        let (keys, typed) = mpsc::unbounded_channel();
        let (seen, screen) = watch::channel(String::new());
        let frames = Arc::new(Mutex::new(Vec::new()));
        let terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen");
        let mut window = Kept { terminal, seen, frames: Arc::clone(&frames) };
        let events = stream::unfold(typed, |mut typed: mpsc::UnboundedReceiver<Event>| async {
            typed.recv().await.map(|event| (Ok(event), typed))
        });
        let shutdown = Shutdown::default();
        let mut running = JoinSet::new();
        let (mine, ending) = (ops.clone(), shutdown.clone());
        let tools = Tools { worker: Vec::new(), log: PathBuf::new(), clean: false };
        let opening = Opening { facts, batch: None, tools, surroundings: Surroundings::default() };
        running.spawn(async move {
            let events = Box::pin(events);
            drive(mine, opening, LOOK, &mut window, events, ending).await
        });
        Self { ops, keys, screen, frames, running, shutdown }
    }

    /// Presses one key.
    pub(crate) fn press(&self, code: KeyCode) {
        let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        self.keys.send(event).expect("the console runs");
    }

    /// Types letters.
    pub(crate) fn typed(&self, letters: &str) {
        letters.chars().for_each(|c| self.press(KeyCode::Char(c)));
    }

    pub(crate) fn paste(&self, text: &str) {
        self.keys.send(Event::Paste(text.to_owned())).expect("the console runs");
    }

    /// Waits until the screen shows this.
    pub(crate) async fn sees(&mut self, wanted: &str) {
        let shows = self.screen.wait_for(|screen| screen.contains(wanted));
        let found = tokio::time::timeout(PATIENCE, shows).await.map(|found| found.is_ok());
        assert!(found == Ok(true), "`{wanted}` never came:\n{}", self.now());
    }

    /// Returns what the screen shows now.
    pub(crate) fn now(&self) -> String {
        self.screen.borrow().clone()
    }

    /// Returns every frame that was drawn so far.
    pub(crate) fn frames(&self) -> Vec<String> {
        self.frames.lock().expect("frames").clone()
    }

    /// Gets up; the console must end by itself.
    pub(crate) async fn leaves(mut self) {
        self.shutdown.ask();
        let ended = tokio::time::timeout(PATIENCE, self.running.join_next()).await;
        ended.expect("it ends").expect("it ran").expect("no panic").expect("no error");
        self.ops.close().await;
    }
}
