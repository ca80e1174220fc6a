//! The screens: what each one holds, what its keys do, and how it is drawn.
//!
//! Promise: a screen decides and draws, and does nothing; what it wants done it says as a
//! [`Want`]. Marks hold keys of rows, never places in a list.
//! Start reading at `View`, then any screen: one file each, its drawing below it.

pub mod batch;
pub mod batches;
pub mod find;
pub mod health;
pub mod journal;
pub mod new_send;
mod offers;
pub mod report;
pub mod unknown;

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::dialog::Dialog;
use super::field::Field;
use super::keys::Command;
use super::message::{Answer, Ask, Deed, Fault, Ticket};
use super::pace::Paces;
use super::words::{Language, Sentence, Word};
use crate::domain::time::Timestamp;
use crate::ops::live::{Live, LiveBatch};
use crate::ops::words::thousands;
use crate::report::when;

/// Which screen it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Batches,
    Batch,
    Unknown,
    Find,
    Report,
    Journal,
    Health,
    NewSend,
}

/// What never changes while the console is open.
#[derive(Clone, Debug)]
pub struct Facts {
    pub language: Language,
    /// As in PRODUCTION.
    pub label: Option<String>,
    /// Where the ledger is.
    pub place: String,
    /// None: nobody is named, and nothing can be changed.
    pub operator: Option<String>,
    pub read_only: bool,
    pub demo: bool,
    pub zone: TimeZone,
    pub kinds: Vec<String>,
}

/// Everything a screen may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    pub now: Timestamp,
    pub facts: &'a Facts,
    pub live: Option<&'a Live>,
    pub paces: &'a Paces,
    /// The ledger cannot be reached at the moment.
    pub away: bool,
}

/// What a screen wants done.
#[derive(Debug)]
pub enum Want {
    Ask(Ticket, Ask),
    Do(Deed),
    Confirm(Box<Dialog>),
    Say(String),
    Warn(String),
    Open(Box<Screen>),
    /// Long text that lies over the screen.
    Read {
        title: String,
        lines: Vec<String>,
    },
    Copy(String),
    Refresh,
    Back,
}

/// What a screen may look at, and where it says what it wants.
#[derive(Debug)]
pub struct Scene<'a> {
    pub view: View<'a>,
    pub tickets: &'a mut u64,
    pub wants: Vec<Want>,
}

/// Any screen.
#[derive(Clone, Debug)]
pub enum Screen {
    Batches(batches::Batches),
    Batch(batch::Batch),
    Unknown(unknown::Unknown),
    Find(find::Find),
    Report(report::Report),
    Journal(journal::Journal),
    Health(health::Health),
    NewSend(new_send::Form),
}

impl<'a> View<'a> {
    pub const fn language(&self) -> Language {
        self.facts.language
    }

    pub const fn word(&self, word: Word) -> &'static str {
        word.text(self.facts.language)
    }

    pub fn say(&self, sentence: Sentence, values: &[(&str, &str)]) -> String {
        sentence.with(self.facts.language, values)
    }

    pub fn batch(&self, name: &str) -> Option<&'a LiveBatch> {
        self.live.and_then(|live| live.batches.iter().find(|batch| batch.name == name))
    }

    pub fn batches(&self) -> &'a [LiveBatch] {
        self.live.map_or(&[], |live| live.batches.as_slice())
    }

    pub fn unknown(&self) -> i64 {
        self.batches().iter().map(|batch| batch.counts.unknown).sum()
    }

    /// Returns the time of day.
    pub fn clock(&self, at: Timestamp) -> String {
        when::clock_time(at, &self.facts.zone)
    }

    /// Returns the time to the minute, with the date if it is another day.
    pub fn near(&self, at: Timestamp) -> String {
        when::near(at, self.now, &self.facts.zone)
    }

    /// Returns why nothing can be changed now, if so.
    pub fn blocked(&self) -> Option<Sentence> {
        match self.facts {
            Facts { read_only: true, .. } => Some(Sentence::OffReadOnly),
            Facts { operator: None, .. } => Some(Sentence::OffNobody),
            _ if self.away => Some(Sentence::OffWhileAway),
            _ => None,
        }
    }
}

impl Scene<'_> {
    /// Asks something; its answer carries the ticket.
    pub fn ask(&mut self, ask: Ask) -> Ticket {
        *self.tickets += 1;
        let ticket = Ticket(*self.tickets);
        self.wants.push(Want::Ask(ticket, ask));
        ticket
    }

    pub fn say(&mut self, sentence: Sentence, values: &[(&str, &str)]) {
        self.wants.push(Want::Say(self.view.say(sentence, values)));
    }

    pub fn warn(&mut self, sentence: Sentence, values: &[(&str, &str)]) {
        self.wants.push(Want::Warn(self.view.say(sentence, values)));
    }

    pub fn confirm(&mut self, dialog: Dialog) {
        self.wants.push(Want::Confirm(Box::new(dialog)));
    }

    /// Reports whether something may be changed now; says why not.
    pub fn may_change(&mut self) -> bool {
        match self.view.blocked() {
            None => true,
            Some(why) => {
                self.warn(why, &[]);
                false
            }
        }
    }
}

/// Calls the same function of whatever screen it is.
macro_rules! each {
    ($screen:expr, $it:ident => $call:expr) => {
        match $screen {
            Screen::Batches($it) => $call,
            Screen::Batch($it) => $call,
            Screen::Unknown($it) => $call,
            Screen::Find($it) => $call,
            Screen::Report($it) => $call,
            Screen::Journal($it) => $call,
            Screen::Health($it) => $call,
            Screen::NewSend($it) => $call,
        }
    };
}

impl Screen {
    pub const fn name(&self) -> Name {
        match self {
            Self::Batches(_) => Name::Batches,
            Self::Batch(_) => Name::Batch,
            Self::Unknown(_) => Name::Unknown,
            Self::Find(_) => Name::Find,
            Self::Report(_) => Name::Report,
            Self::Journal(_) => Name::Journal,
            Self::Health(_) => Name::Health,
            Self::NewSend(_) => Name::NewSend,
        }
    }

    /// Returns what stands at the top: where one is.
    pub fn trail(&self, view: &View<'_>) -> String {
        match self {
            Self::Batch(batch) => format!("{} > {}", view.word(Word::Batches), batch.name),
            other => view.word(other.name().word()).to_owned(),
        }
    }

    /// Takes over what is new at the moment when it comes to the top.
    pub fn open(&mut self, scene: &mut Scene<'_>) {
        each!(self, it => it.open(scene));
    }

    /// Does what a key asks for.
    pub fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        each!(self, it => it.command(command, scene));
    }

    /// Returns the field that takes letters now, if one does.
    pub fn field(&mut self) -> Option<&mut Field> {
        each!(self, it => it.field())
    }

    /// Takes a key that a field may edit with; false if it is a command after all.
    pub fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        each!(self, it => it.typed(event, scene))
    }

    /// Takes an answer; one to an older question is dropped.
    pub fn answer(
        &mut self,
        ticket: Ticket,
        answer: &mut Option<Result<Answer, Fault>>,
        scene: &mut Scene<'_>,
    ) {
        each!(self, it => it.answer(ticket, answer, scene));
    }

    /// Notices that new numbers are there.
    pub fn renewed(&mut self, scene: &mut Scene<'_>) {
        each!(self, it => it.renewed(scene));
    }

    /// Notices that a deed came to its end.
    pub fn done(&mut self, deed: &Deed, scene: &mut Scene<'_>) {
        each!(self, it => it.done(deed, scene));
    }

    /// Notes how many rows its list can show.
    pub fn fits(&mut self, area: Rect, view: &View<'_>) {
        each!(self, it => it.fits(area, view));
    }

    pub fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        each!(self, it => it.draw(view, canvas, area));
    }
}

impl Name {
    pub const fn word(self) -> Word {
        match self {
            Self::Batches => Word::Batches,
            Self::Batch => Word::Batch,
            Self::Unknown => Word::Unknown,
            Self::Find => Word::Find,
            Self::Report => Word::Report,
            Self::Journal => Word::Journal,
            Self::Health => Word::Health,
            Self::NewSend => Word::NewSend,
        }
    }
}

/// Takes an answer if it is to this question.
fn taken(
    ticket: Ticket,
    mine: Ticket,
    answer: &mut Option<Result<Answer, Fault>>,
) -> Option<Result<Answer, Fault>> {
    (ticket == mine).then(|| answer.take()).flatten()
}

/// Returns the number as people read it.
fn n(count: i64) -> String {
    thousands(count)
}

/// Returns a document's time to the second, without its date and zone.
fn time_of(rfc3339: &str) -> &str {
    rfc3339.get(11..19).unwrap_or(rfc3339)
}

/// Returns a document's time with its date, to the minute.
fn minute_of(rfc3339: &str) -> String {
    rfc3339.get(..16).unwrap_or(rfc3339).replace('T', " ")
}
