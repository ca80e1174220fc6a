//! A new send: a form, a check on the real source, and then a draft; nothing leaves from here.

mod draw;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::batch::{Batch, Loaded};
use super::{Scene, Screen, View, Want, taken};
use crate::console::canvas::Canvas;
use crate::console::dialog::Dialog;
use crate::console::field::Field;
use crate::console::keys::Command;
use crate::console::message::{Answer, Ask, Checked, Deed, Fault, NewSend, Ticket};
use crate::console::words::{Sentence, Word};
use crate::ops::words::thousands;

/// The form as far as it is filled in.
#[derive(Clone, Debug)]
pub struct Form {
    kinds: Vec<String>,
    kind: usize,
    name: Field,
    title: Field,
    source: Field,
    encoding: usize,
    template: Field,
    at: Line,
    checked: Loaded<Checked>,
    /// What was checked; another form must be checked again.
    what: Option<NewSend>,
}

/// A line of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Kind,
    Name,
    Title,
    Source,
    Encoding,
    Template,
}

/// The lines from top to bottom, with their labels.
pub(super) const LINES: [(Line, Word); 6] = [
    (Line::Kind, Word::Kind),
    (Line::Name, Word::Name),
    (Line::Title, Word::Title),
    (Line::Source, Word::File),
    (Line::Encoding, Word::Encoding),
    (Line::Template, Word::Message),
];

/// Character sets that can be named; the first one is found out.
pub(super) const ENCODINGS: [Option<&str>; 6] =
    [None, Some("utf-8"), Some("shift_jis"), Some("euc-kr"), Some("euc-jp"), Some("utf-16")];

impl Form {
    pub fn new(view: &View<'_>) -> Self {
        Self {
            kinds: view.facts.kinds.clone(),
            kind: 0,
            name: Field::default(),
            title: Field::default(),
            source: Field::default(),
            encoding: 0,
            template: Field::default(),
            at: Line::Kind,
            checked: Loaded::default(),
            what: None,
        }
    }

    /// Returns the send that the form describes, as far as it is whole.
    fn wanted(&self) -> Option<NewSend> {
        let kind = self.kinds.get(self.kind)?;
        if self.name.is_empty() || self.source.is_empty() {
            return None;
        }
        let trimmed = |field: &Field| field.text().trim().to_owned();
        let template = Some(trimmed(&self.template)).filter(|text| !text.is_empty());
        Some(NewSend {
            kind: kind.clone(),
            batch: trimmed(&self.name),
            title: trimmed(&self.title),
            source: trimmed(&self.source),
            encoding: ENCODINGS[self.encoding].map(str::to_owned),
            template: template.map(Into::into),
        })
    }

    /// Returns what a check has found, if the form is still what was checked.
    fn good(&self) -> Option<&Checked> {
        let same = self.what.is_some() && self.what == self.wanted();
        self.checked.ok().filter(|_| same)
    }

    fn step(&mut self, by: usize) {
        let place = LINES.iter().position(|(line, _)| *line == self.at).unwrap_or(0);
        self.at = LINES[(place + by) % LINES.len()].0;
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        match command {
            Command::NextTab | Command::Down => self.step(1),
            Command::PreviousTab | Command::Up => self.step(LINES.len() - 1),
            Command::Check => self.check(scene),
            Command::Save => self.read_in(scene),
            Command::Open => match self.at {
                Line::Template if self.good().is_some() => self.read_in(scene),
                Line::Template => self.check(scene),
                _ => self.step(1),
            },
            Command::Back => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    fn check(&mut self, scene: &mut Scene<'_>) {
        let Some(wanted) = self.wanted() else {
            let missing = if self.name.is_empty() { Word::Name } else { Word::File };
            let word = scene.view.word(missing);
            return scene.warn(Sentence::Failure, &[("why", word)]);
        };
        self.what = Some(wanted.clone());
        self.checked.found = None;
        self.checked.ticket = scene.ask(Ask::Check(wanted));
    }

    /// Asks before the people are read in as a draft.
    fn read_in(&mut self, scene: &mut Scene<'_>) {
        let Some(checked) = self.good() else { return self.check(scene) };
        let Some(wanted) = self.wanted() else { return };
        if !scene.may_change() {
            return;
        }
        let view = &scene.view;
        let count = thousands(checked.body.new);
        let title = view.say(Sentence::AskRead, &[("n", &count), ("batch", &wanted.batch)]);
        let dialog = Dialog::new(view.language(), title, 1, Deed::Read(wanted.clone()))
            .fact(Word::Ledger, view.facts.place.clone())
            .fact(Word::File, wanted.source.clone())
            .means(view.say(Sentence::ReadMeans, &[]))
            .command(shell(&wanted));
        scene.confirm(dialog);
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        match self.at {
            Line::Kind | Line::Encoding => None,
            Line::Name => Some(&mut self.name),
            Line::Title => Some(&mut self.title),
            Line::Source => Some(&mut self.source),
            Line::Template => Some(&mut self.template),
        }
    }

    pub(super) fn typed(&mut self, event: KeyEvent) -> bool {
        let to = match event.code {
            KeyCode::Left => Some(usize::MAX),
            KeyCode::Right => Some(1),
            _ => None,
        };
        let turned = |at: usize, by: usize, len: usize| {
            if by == 1 { (at + 1) % len.max(1) } else { (at + len.max(1) - 1) % len.max(1) }
        };
        match (self.at, to) {
            (Line::Kind, Some(by)) => self.kind = turned(self.kind, by, self.kinds.len()),
            (Line::Encoding, Some(by)) => {
                self.encoding = turned(self.encoding, by, ENCODINGS.len());
            }
            // Tab, arrows up and down, Enter and F-keys go on to be commands.
            _ => return self.field().is_some_and(|field| field.key(event)),
        }
        true
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: &mut Option<Result<Answer, Fault>>) {
        if let Some(found) = taken(ticket, self.checked.ticket, answer) {
            self.checked.found = match found {
                Ok(Answer::Checked(checked)) => Some(Ok(*checked)),
                Ok(_) => None,
                Err(fault) => Some(Err(fault)),
            };
        }
    }

    /// Goes on to the draft that was made.
    pub(super) fn done(&mut self, deed: &Deed, scene: &mut Scene<'_>) {
        if let Deed::Read(send) = deed
            && Some(send) == self.what.as_ref()
        {
            scene.wants.push(Want::Back);
            let screen = Screen::Batch(Box::new(Batch::new(&send.batch)));
            scene.wants.push(Want::Open(Box::new(screen)));
        }
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::draw(self, view, canvas, area);
    }
}

/// Returns the command that reads the same people in.
fn shell(send: &NewSend) -> String {
    let mut command = format!("ittsu import {} {} --from {}", send.kind, send.batch, send.source);
    if !send.title.is_empty() {
        command = format!("{command} --title \"{}\"", send.title);
    }
    if let Some(encoding) = &send.encoding {
        command = format!("{command} --encoding {encoding}");
    }
    if let Some(template) = &send.template {
        command = format!("{command} --template {}", template.display());
    }
    command
}
