//! What operators did, and taking a mark or a resend back.

use ratatui::layout::Rect;

use super::batch::{Loaded, loaded, short};
use super::unknown::undo_question;
use super::{Scene, View, Want, taken};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, left, right};
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Fault, Ticket};
use crate::console::words::{Sentence, Word};
use crate::domain::plan::Act;
use crate::ops::journal::EntryBody;

/// The newest entries.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    entries: Loaded<Vec<EntryBody>>,
    list: List,
    newest: Option<i64>,
}

impl Journal {
    pub(super) fn open(&mut self, scene: &mut Scene<'_>) {
        self.newest = newest(&scene.view);
        self.entries.ticket = scene.ask(Ask::Journal);
    }

    /// Reads again when somebody did something.
    pub(super) fn renewed(&mut self, scene: &mut Scene<'_>) {
        if self.newest != newest(&scene.view) {
            self.open(scene);
        }
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let len = self.entries.ok().map_or(0, Vec::len);
        if self.list.step(command, len) {
            return;
        }
        let entry = self.entries.ok().and_then(|entries| entries.get(self.list.cursor));
        match (command, entry) {
            (Command::Undo, Some(entry)) => {
                if !scene.may_change() {
                    return;
                }
                if Act::from_word(&entry.action).is_some() {
                    scene.confirm(undo_question(entry.id, &scene.view));
                } else {
                    scene.warn(Sentence::NothingToUndo, &[]);
                }
            }
            (Command::Copy, Some(entry)) => {
                scene.wants.push(Want::Copy(text(entry)));
            }
            (Command::Refresh, _) => self.open(scene),
            (Command::Back, _) => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: &mut Option<Result<Answer, Fault>>) {
        if let Some(found) = taken(ticket, self.entries.ticket, answer) {
            let here = self.entries.ok().and_then(|all| all.get(self.list.cursor));
            let here = here.map(|entry| entry.id);
            self.entries.found = Some(found.map(|found| match found {
                Answer::Journal(body) => body.entries,
                _ => Vec::new(),
            }));
            let entries = self.entries.ok().map_or(&[][..], Vec::as_slice);
            let at_top = self.list.cursor == 0;
            let place = entries.iter().position(|entry| Some(entry.id) == here);
            self.list.follow(if at_top { Some(0) } else { place }, entries.len());
        }
    }

    pub(super) fn fits(&mut self, area: Rect) {
        let len = self.entries.ok().map_or(0, Vec::len);
        self.list.fits(area.height.saturating_sub(2), len);
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(entries) = loaded(&self.entries, view, canvas, area) else { return };
        if entries.is_empty() {
            canvas.wrapped(area, 1, view.word_of(Sentence::NoJournal), Tone::Plain);
            return;
        }
        let heads =
            [Word::ColTime, Word::ColWho, Word::ColWhat, Word::Batch, Word::ColRows, Word::ColWhy];
        let heads = heads.map(|word| (view.word(word), Tone::Dim));
        let mut texts = vec![("", Tone::Dim), ("#", Tone::Dim)];
        texts.extend(heads);
        canvas.cells(area, 0, &columns(area.width), &texts);
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
        for (row, place) in (0..).zip(self.list.shown(entries.len(), body.height)) {
            line(&entries[place], place == self.list.cursor, canvas, body, row);
        }
    }
}

fn newest(view: &View<'_>) -> Option<i64> {
    view.live.and_then(|live| live.news.first()).map(|entry| entry.id.0)
}

fn columns(width: u16) -> Vec<crate::console::canvas::Column> {
    if width < 100 {
        vec![left(1), right(4), left(11), left(8), left(12), left(13), right(6), left(0)]
    } else {
        vec![left(1), right(5), left(16), left(12), left(14), left(20), right(8), left(0)]
    }
}

/// Draws one entry in a row.
pub(super) fn line(entry: &EntryBody, chosen: bool, canvas: &mut Canvas<'_>, area: Rect, row: u16) {
    let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
    if chosen {
        canvas.tint(area, row, Tone::Chosen);
    }
    let at = short(&entry.at);
    let at = if area.width < 100 { at.get(5..).unwrap_or_default() } else { &at };
    let why = match (entry.reason.as_str(), entry.selection.as_str()) {
        ("", selection) => selection.to_owned(),
        (reason, "") => reason.to_owned(),
        (reason, selection) => format!("{reason}  ({selection})"),
    };
    let texts = [
        (if chosen { ">" } else { " " }, tone(Tone::Plain)),
        (&*entry.id.to_string(), tone(Tone::Dim)),
        (at, tone(Tone::Dim)),
        (entry.operator.as_str(), tone(Tone::Plain)),
        (&*entry.action.replace('_', " "), tone(Tone::Title)),
        (entry.batch.as_deref().unwrap_or_default(), tone(Tone::Plain)),
        (&*super::n(entry.changed), tone(Tone::Plain)),
        (why.as_str(), tone(Tone::Plain)),
    ];
    canvas.cells(area, row, &columns(area.width), &texts);
}

fn text(entry: &EntryBody) -> String {
    let batch = entry.batch.as_deref().unwrap_or_default();
    let EntryBody { at, operator, action, changed, reason, .. } = entry;
    format!("{at} {operator} {action} {batch} {changed} {reason}")
}
