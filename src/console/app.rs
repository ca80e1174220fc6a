//! The whole console as one value, and what becomes of it when something happens.
//!
//! Promise: `update` reads no clock and no ledger and starts nothing; whatever is to be done it
//! returns as effects. Pasted text never runs a command. Nothing here waits.
//! Start reading at `App::update`.

mod deeds;
mod pressed;

use std::time::Duration;

use ratatui::layout::Rect;

use super::canvas::Look;
use super::canvas::theme::Tone;
use super::dialog::Dialog;
use super::draw;
use super::message::{Deed, Effect, Fault, Msg};
use super::overlay::Overlay;
use super::pace::Paces;
use super::screen::batches::Batches;
use super::screen::{Facts, Name, Scene, Screen, View, Want};
use super::tour::Tour;
use super::words::Sentence;
use crate::domain::time::Timestamp;
use crate::ops::live::Live;

/// The console.
#[derive(Debug)]
pub struct App {
    pub facts: Facts,
    pub look: Look,
    pub now: Timestamp,
    pub size: (u16, u16),
    /// What is shown; while the screen is frozen, what was there then.
    pub live: Option<Live>,
    newest: Option<Live>,
    pub frozen: Option<Timestamp>,
    pub lost: Option<Lost>,
    pub paces: Paces,
    pub stack: Vec<Screen>,
    pub(super) overlay: Option<Overlay>,
    pub toasts: Vec<Toast>,
    /// An input method was seen at work.
    pub method: bool,
    /// A batch that starts in a moment and can still be taken back.
    pub starting: Option<(String, Timestamp)>,
    pub(super) tour: Option<Tour>,
    leaving: Option<Timestamp>,
    tickets: u64,
}

/// The ledger cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub since: Timestamp,
    pub why: String,
    pub tries: u64,
}

/// Something that was said for a moment; all of them can be read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toast {
    pub at: Timestamp,
    pub text: String,
    pub tone: Tone,
}

/// How long a message stays.
const STAYS: Duration = Duration::from_secs(8);
/// How long the second ctrl-c is waited for.
const LEAVING: Duration = Duration::from_secs(3);
/// Messages that can be read again.
const HISTORY: usize = 200;
/// Until a start can no longer be taken back.
pub const TAKE_BACK: Duration = Duration::from_secs(10);

impl App {
    pub fn new(facts: Facts, look: Look, size: (u16, u16), now: Timestamp) -> Self {
        let tour = facts.demo.then(Tour::default);
        Self {
            facts,
            look,
            now,
            size,
            live: None,
            newest: None,
            frozen: None,
            lost: None,
            paces: Paces::default(),
            stack: vec![Screen::Batches(Batches::default())],
            overlay: None,
            toasts: Vec::new(),
            method: false,
            starting: None,
            tour,
            leaving: None,
            tickets: 0,
        }
    }

    /// Opens another screen than the first one at the start.
    pub fn begin_at(&mut self, screen: Screen) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.open(screen, &mut effects);
        effects
    }

    /// Takes what happened at `now` and returns what is to be done.
    pub fn update(&mut self, now: Timestamp, msg: Msg) -> Vec<Effect> {
        self.now = now;
        let mut effects = Vec::new();
        match msg {
            Msg::Key(event) => self.key(event, &mut effects),
            Msg::Paste(text) => self.paste(&text),
            Msg::Resize(width, height) => self.size = (width, height),
            Msg::Live(found) => self.take_live(found, &mut effects),
            Msg::Answer(ticket, answer) => {
                let mut answer = Some(answer);
                self.on_every(&mut effects, |screen, scene| {
                    screen.answer(ticket, &mut answer, scene);
                });
            }
            Msg::Done(deed, outcome) => self.done(&deed, outcome, &mut effects),
            Msg::Clock => self.clock(),
        }
        self.fit();
        effects
    }

    /// Returns what screens may look at.
    pub fn view(&self) -> View<'_> {
        View {
            now: self.now,
            facts: &self.facts,
            live: self.live.as_ref(),
            paces: &self.paces,
            away: self.lost.is_some(),
        }
    }

    pub fn top(&self) -> &Screen {
        // The first screen is never taken off.
        &self.stack[self.stack.len() - 1]
    }

    /// Reports whether these numbers are what is shown already.
    pub fn shows(&self, live: &Live) -> bool {
        let beats = |live: &Live| -> Vec<(i64, bool, bool)> {
            live.workers.iter().map(|worker| (worker.id, worker.stopping, worker.gone)).collect()
        };
        self.lost.is_none()
            && self.live.as_ref().is_some_and(|shown| {
                shown.batches == live.batches
                    && shown.routes == live.routes
                    && beats(shown) == beats(live)
                    && shown.news.first().map(|entry| entry.id)
                        == live.news.first().map(|entry| entry.id)
            })
    }

    /// Returns the message that is shown now.
    pub fn toast(&self) -> Option<&Toast> {
        self.toasts.last().filter(|toast| self.now.since(toast.at) < STAYS)
    }

    fn take_live(&mut self, found: Result<Box<Live>, Fault>, effects: &mut Vec<Effect>) {
        match found {
            Err(fault) => {
                let (since, tries) =
                    self.lost.as_ref().map_or((self.now, 0), |lost| (lost.since, lost.tries));
                self.lost = Some(Lost { since, why: fault.message, tries: tries + 1 });
            }
            Ok(live) => {
                self.lost = None;
                self.paces.note(&live);
                self.hear_others(&live);
                if self.frozen.is_some() {
                    self.newest = Some(*live);
                    return;
                }
                self.live = Some(*live);
                self.on_top(effects, Screen::renewed);
            }
        }
        self.follow_tour();
    }

    /// Says what another operator did meanwhile.
    fn hear_others(&mut self, live: &Live) {
        let Some(before) = self.live.as_ref().and_then(|live| live.news.first()) else { return };
        let me = self.facts.operator.clone().unwrap_or_default();
        let new = live.news.iter().take_while(|entry| entry.id > before.id);
        let Some(entry) = new.filter(|entry| entry.operator != me).last().cloned() else {
            return;
        };
        if self.toasts.iter().any(|toast| toast.text.contains(&format!("#{}", entry.id))) {
            return;
        }
        let action = format!("#{} {}", entry.id, entry.action.replace('_', " "));
        let batch = entry.name.unwrap_or_default();
        let values = [
            ("who", entry.operator.as_str()),
            ("what", action.as_str()),
            ("batch", batch.as_str()),
            ("why", entry.reason.as_str()),
        ];
        self.say(Sentence::OtherOperator, &values, Tone::Plain);
    }

    fn follow_tour(&mut self) {
        if let Some(tour) = self.tour {
            self.tour = Some(tour.saw(self.view().unknown(), self.top().name()));
        }
    }

    fn clock(&mut self) {
        if self.leaving.is_some_and(|at| self.now.since(at) >= LEAVING) {
            self.leaving = None;
        }
        if self.starting.as_ref().is_some_and(|(_, at)| *at <= self.now) {
            self.starting = None;
        }
    }

    pub(super) fn freeze(&mut self, effects: &mut Vec<Effect>) {
        if self.frozen.take().is_none() {
            self.frozen = Some(self.live.as_ref().map_or(self.now, |live| live.as_of));
            return;
        }
        if let Some(newest) = self.newest.take() {
            self.live = Some(newest);
            self.on_top(effects, Screen::renewed);
        }
    }

    /// Leaves at the second ctrl-c; the first one says what goes on.
    pub(super) fn leave(&mut self, effects: &mut Vec<Effect>) {
        if self.leaving.is_some_and(|at| self.now.since(at) < LEAVING) {
            return effects.push(Effect::Quit);
        }
        self.leaving = Some(self.now);
        self.overlay = None;
        self.say(Sentence::QuitAgain, &[], Tone::Warn);
    }

    pub(super) fn ask_to_quit(&mut self) {
        let sentence = if self.facts.demo { Sentence::QuitDemo } else { Sentence::QuitAsk };
        let title = self.view().say(sentence, &[]);
        let dialog = Dialog::new(self.facts.language, title, 1, Deed::Leave);
        self.overlay = Some(Overlay::Ask(Box::new(dialog)));
    }

    pub(super) fn show_news(&mut self) {
        let title = self.view().word(super::words::Word::News).to_owned();
        let lines = self.toasts.iter().rev();
        let lines = lines.map(|toast| format!("{}  {}", self.view().clock(toast.at), toast.text));
        let lines = lines.collect();
        self.overlay = Some(Overlay::Read { title, lines, first: 0 });
    }

    /// Puts a screen on top; one of the same name comes up instead of a second one.
    pub(super) fn open(&mut self, screen: Screen, effects: &mut Vec<Effect>) {
        self.stack.retain(|other| other.name() != screen.name() || other.name() == Name::Batches);
        self.stack.push(screen);
        self.on_top(effects, Screen::open);
        self.follow_tour();
    }

    pub(super) fn say(&mut self, sentence: Sentence, values: &[(&str, &str)], tone: Tone) {
        let text = sentence.with(self.facts.language, values);
        self.tell(text, tone);
    }

    fn tell(&mut self, text: String, tone: Tone) {
        if self.toasts.len() == HISTORY {
            self.toasts.remove(0);
        }
        self.toasts.push(Toast { at: self.now, text, tone });
    }

    pub(super) fn on_top(
        &mut self,
        effects: &mut Vec<Effect>,
        act: impl FnOnce(&mut Screen, &mut Scene<'_>),
    ) {
        let mut act = Some(act);
        let top = self.stack.len() - 1;
        self.on_screens(effects, top, |screen, scene| {
            if let Some(act) = act.take() {
                act(screen, scene);
            }
        });
    }

    fn on_every(
        &mut self,
        effects: &mut Vec<Effect>,
        act: impl FnMut(&mut Screen, &mut Scene<'_>),
    ) {
        self.on_screens(effects, 0, act);
    }

    fn on_screens(
        &mut self,
        effects: &mut Vec<Effect>,
        first: usize,
        mut act: impl FnMut(&mut Screen, &mut Scene<'_>),
    ) {
        let view = View {
            now: self.now,
            facts: &self.facts,
            live: self.live.as_ref(),
            paces: &self.paces,
            away: self.lost.is_some(),
        };
        let mut scene = Scene { view, tickets: &mut self.tickets, wants: Vec::new() };
        self.stack.iter_mut().skip(first).for_each(|screen| act(screen, &mut scene));
        let wants = scene.wants;
        self.grant(wants, effects);
    }

    fn grant(&mut self, wants: Vec<Want>, effects: &mut Vec<Effect>) {
        for want in wants {
            match want {
                Want::Ask(ticket, ask) => effects.push(Effect::Ask(ticket, ask)),
                Want::Do(deed) => Self::confirmed(deed, effects),
                Want::Confirm(dialog) => self.overlay = Some(Overlay::Ask(dialog)),
                Want::Say(text) => self.tell(text, Tone::Plain),
                Want::Warn(text) => self.tell(text, Tone::Warn),
                Want::Open(screen) => self.open(*screen, effects),
                Want::Read { title, lines } => {
                    self.overlay = Some(Overlay::Read { title, lines, first: 0 });
                }
                Want::Copy(text) => {
                    effects.push(Effect::Copy(text));
                    self.say(Sentence::Copied, &[], Tone::Plain);
                }
                Want::Refresh => effects.push(Effect::Refresh),
                Want::Back if self.stack.len() > 1 => drop(self.stack.pop()),
                Want::Back => {}
            }
        }
    }

    /// Tells the screen on top how much of it can be seen.
    fn fit(&mut self) {
        let area = draw::body(Rect { x: 0, y: 0, width: self.size.0, height: self.size.1 });
        let view = View {
            now: self.now,
            facts: &self.facts,
            live: self.live.as_ref(),
            paces: &self.paces,
            away: self.lost.is_some(),
        };
        if let Some(screen) = self.stack.last_mut() {
            screen.fits(area, &view);
        }
    }
}
