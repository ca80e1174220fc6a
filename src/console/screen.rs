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

use std::time::Duration;

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
    Batch(Box<batch::Batch>),
    Unknown(unknown::Unknown),
    Find(find::Find),
    Report(report::Report),
    Journal(journal::Journal),
    Health(health::Health),
    NewSend(Box<new_send::Form>),
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

    /// Returns a span of time in its largest unit that says enough.
    pub fn age(&self, span: Duration) -> String {
        let seconds = span.as_secs();
        let (sentence, n) = match seconds {
            0..120 => (Sentence::Seconds, seconds),
            120..7_200 => (Sentence::Minutes, seconds / 60),
            7_200..172_800 => (Sentence::Hours, seconds / 3_600),
            _ => (Sentence::Days, seconds / 86_400),
        };
        self.say(sentence, &[("n", &n.to_string())])
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
        match self {
            Self::Batches(it) => it.open(scene),
            Self::Batch(it) => it.open(scene),
            Self::Unknown(it) => it.open(scene),
            Self::Journal(it) => it.open(scene),
            Self::Health(it) => it.open(scene),
            Self::Find(_) | Self::Report(_) | Self::NewSend(_) => {}
        }
    }

    /// Does what a key asks for.
    pub fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        match self {
            Self::Batches(it) => it.command(command, scene),
            Self::Batch(it) => it.command(command, scene),
            Self::Unknown(it) => it.command(command, scene),
            Self::Find(it) => it.command(command, scene),
            Self::Report(it) => it.command(command, scene),
            Self::Journal(it) => it.command(command, scene),
            Self::Health(it) => it.command(command, scene),
            Self::NewSend(it) => it.command(command, scene),
        }
    }

    /// Returns the field that takes letters now, if one does.
    pub fn field(&mut self) -> Option<&mut Field> {
        match self {
            Self::Batches(it) => it.field(),
            Self::Batch(it) => it.field(),
            Self::Find(it) => it.field(),
            Self::Report(it) => it.field(),
            Self::NewSend(it) => it.field(),
            Self::Unknown(_) | Self::Journal(_) | Self::Health(_) => None,
        }
    }

    /// Takes a key that a field may edit with; false if it is a command after all.
    pub fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        match self {
            Self::Batches(it) => it.typed(event, scene),
            Self::Batch(it) => it.typed(event, scene),
            Self::Find(it) => it.typed(event, scene),
            Self::Report(it) => it.typed(event, scene),
            Self::NewSend(it) => it.typed(event),
            Self::Unknown(_) | Self::Journal(_) | Self::Health(_) => false,
        }
    }

    /// Takes an answer; one to an older question is dropped.
    pub fn answer(
        &mut self,
        ticket: Ticket,
        answer: &mut Option<Result<Answer, Fault>>,
        scene: &mut Scene<'_>,
    ) {
        match self {
            Self::Batch(it) => it.answer(ticket, answer, scene),
            Self::Unknown(it) => it.answer(ticket, answer, scene),
            Self::Find(it) => it.answer(ticket, answer),
            Self::Report(it) => it.answer(ticket, answer),
            Self::Journal(it) => it.answer(ticket, answer),
            Self::Health(it) => it.answer(ticket, answer),
            Self::NewSend(it) => it.answer(ticket, answer),
            Self::Batches(_) => {}
        }
    }

    /// Notices that new numbers are there.
    pub fn renewed(&mut self, scene: &mut Scene<'_>) {
        match self {
            Self::Batches(it) => it.renewed(scene),
            Self::Unknown(it) => it.renewed(scene),
            Self::Journal(it) => it.renewed(scene),
            Self::Health(it) => it.renewed(scene),
            Self::Batch(_) | Self::Find(_) | Self::Report(_) | Self::NewSend(_) => {}
        }
    }

    /// Notices that a deed came to its end.
    pub fn done(&mut self, deed: &Deed, scene: &mut Scene<'_>) {
        match self {
            Self::Batch(it) => it.done(scene),
            Self::Unknown(it) => it.done(deed, scene),
            Self::Journal(it) => it.open(scene),
            Self::NewSend(it) => it.done(deed, scene),
            Self::Batches(_) | Self::Find(_) | Self::Report(_) | Self::Health(_) => {}
        }
    }

    /// Notes how many rows its list can show.
    pub fn fits(&mut self, area: Rect, view: &View<'_>) {
        match self {
            Self::Batches(it) => it.fits(area, view),
            Self::Batch(it) => it.fits(area),
            Self::Unknown(it) => it.fits(area),
            Self::Find(it) => it.fits(area, view),
            Self::Report(it) => it.fits(area, view),
            Self::Journal(it) => it.fits(area),
            Self::Health(it) => it.fits(view),
            Self::NewSend(_) => {}
        }
    }

    pub fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        match self {
            Self::Batches(it) => it.draw(view, canvas, area),
            Self::Batch(it) => it.draw(view, canvas, area),
            Self::Unknown(it) => it.draw(view, canvas, area),
            Self::Find(it) => it.draw(view, canvas, area),
            Self::Report(it) => it.draw(view, canvas, area),
            Self::Journal(it) => it.draw(view, canvas, area),
            Self::Health(it) => it.draw(view, canvas, area),
            Self::NewSend(it) => it.draw(view, canvas, area),
        }
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
