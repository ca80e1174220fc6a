//! A person in all batches: one field, one sentence, and every row with its attempts.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::batch::{Loaded, loaded, short};
use super::{Scene, View, Want, taken, time_of};
use crate::console::canvas::Canvas;
use crate::console::canvas::theme::Tone;
use crate::console::field::Field;
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Fault, Ticket};
use crate::console::show;
use crate::console::words::{Sentence, Word};
use crate::ops::find::FindBody;

/// Who is looked for, and what was found.
#[derive(Clone, Debug)]
pub struct Find {
    who: Field,
    typing: bool,
    found: Loaded<FindBody>,
    list: List,
}

impl Default for Find {
    fn default() -> Self {
        let (who, found, list) = (Field::default(), Loaded::default(), List::default());
        Self { who, typing: true, found, list }
    }
}

impl Find {
    fn look(&mut self, scene: &mut Scene<'_>) {
        if !self.who.is_empty() {
            self.list = List::default();
            self.found.found = None;
            self.found.ticket = scene.ask(Ask::Find(self.who.text().trim().to_owned()));
        }
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let len = self.found.ok().map_or(0, |found| lines(found, &scene.view).len());
        if self.list.step(command, len) {
            return;
        }
        match command {
            Command::Filter => self.typing = true,
            Command::Refresh => self.look(scene),
            Command::Copy => {
                if let Some(found) = self.found.ok() {
                    scene.wants.push(Want::Copy(found.verdict.clone()));
                }
            }
            Command::Back => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        self.typing.then_some(&mut self.who)
    }

    pub(super) fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        match event.code {
            KeyCode::Enter => {
                self.typing = self.who.is_empty();
                self.look(scene);
                true
            }
            KeyCode::Esc if self.who.is_empty() => {
                scene.wants.push(Want::Back);
                true
            }
            KeyCode::Esc => {
                self.typing = false;
                true
            }
            _ => self.who.key(event),
        }
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: &mut Option<Result<Answer, Fault>>) {
        if let Some(found) = taken(ticket, self.found.ticket, answer) {
            self.found.found = match found {
                Ok(Answer::Found(body)) => Some(Ok(body)),
                Ok(_) => None,
                Err(fault) => Some(Err(fault)),
            };
        }
    }

    pub(super) fn fits(&mut self, area: Rect, view: &View<'_>) {
        let len = self.found.ok().map_or(0, |found| lines(found, view).len());
        self.list.fits(area.height.saturating_sub(4), len);
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        show::field(canvas, area, 0, view.word(Word::Who), &self.who, self.typing);
        let body = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        if self.found.ticket == Ticket::default() {
            canvas.wrapped(body, 0, view.word_of(Sentence::FindHint), Tone::Dim);
            return;
        }
        let Some(found) = loaded(&self.found, view, canvas, body) else { return };
        let used = canvas.wrapped(body, 0, &found.verdict, Tone::Title) + 1;
        let body = Rect { y: body.y + used, height: body.height.saturating_sub(used), ..body };
        let lines = lines(found, view);
        for (row, place) in (0..).zip(self.list.shown(lines.len(), body.height)) {
            let (text, tone) = &lines[place];
            if place == self.list.cursor {
                canvas.tint(body, row, Tone::Chosen);
                canvas.put(body, row, text, Tone::Chosen);
            } else {
                canvas.put(body, row, text, *tone);
            }
        }
    }
}

/// Tells what was found, line by line.
fn lines(found: &FindBody, view: &View<'_>) -> Vec<(String, Tone)> {
    let mut lines = Vec::new();
    for row in &found.rows {
        let title = format!("{}  {}  {}", row.batch, row.row.key, row.row.address);
        lines.push((title, Tone::Title));
        lines.push((format!("  {}", row.verdict), Tone::Plain));
        for attempt in &row.attempts {
            let reply = attempt.reply.as_deref().or(attempt.note.as_deref()).unwrap_or_default();
            let text = format!(
                "  {} {}  {} {}  {} {}  {}",
                view.word(Word::Attempt),
                attempt.attempt,
                short(&attempt.started),
                time_of(&attempt.ended),
                attempt.outcome,
                attempt.phase.unwrap_or_default(),
                reply.trim_end(),
            );
            lines.push((text, Tone::Dim));
        }
    }
    for line in &found.left_out {
        let batch = line.batch.as_deref().unwrap_or_default();
        let text = format!("{}: {batch}  {} ({})", view.word(Word::LeftOut), line.why, line.source);
        lines.push((text, Tone::Plain));
    }
    for entry in &found.suppressed {
        let word = view.word(Word::DoNotSend);
        let text = format!("{word}: {}  {}  {}", entry.address, short(&entry.at), entry.reason);
        lines.push((text, Tone::Warn));
    }
    lines
}
