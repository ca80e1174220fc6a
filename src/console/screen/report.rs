//! A report for somebody who was not there: pick batches, look at it, copy a line, save it.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::batch::Loaded;
use super::{Scene, View, Want, n, taken};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, left, right};
use crate::console::field::Field;
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Deed, Fault, ReportWish, Ticket};
use crate::console::show;
use crate::console::words::{Sentence, Word};
use crate::report::{Format, Listed, Privacy};

/// What is reported on, and how.
#[derive(Clone, Debug)]
pub struct Report {
    list: List,
    /// In the order in which they were picked.
    picked: Vec<String>,
    format: Format,
    listed: Option<Listed>,
    privacy: Privacy,
    text: Loaded<String>,
    line: Loaded<String>,
    /// Whether the report is looked at rather than the list of batches.
    reading: bool,
    file: Option<Field>,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            list: List::default(),
            picked: Vec::new(),
            format: Format::Html,
            listed: None,
            privacy: Privacy::Masked,
            text: Loaded::default(),
            line: Loaded::default(),
            reading: false,
            file: None,
        }
    }
}

/// The formats in the order in which a key goes through them.
const FORMATS: [Format; 6] =
    [Format::Html, Format::Xlsx, Format::Csv, Format::Md, Format::Json, Format::Text];

impl Report {
    fn under_cursor(&self, view: &View<'_>) -> Option<String> {
        view.batches().get(self.list.cursor).map(|batch| batch.name.clone())
    }

    fn wish(&self, format: Format, view: &View<'_>) -> Option<ReportWish> {
        let batches = match self.picked.as_slice() {
            [] => vec![self.under_cursor(view)?],
            picked => picked.to_vec(),
        };
        let language = view.facts.language;
        let (listed, privacy) = (self.listed, self.privacy);
        Some(ReportWish { batches, format, listed, privacy, language })
    }

    fn read(&mut self, scene: &mut Scene<'_>) {
        let Some(text) = self.wish(Format::Text, &scene.view) else { return };
        let Some(line) = self.wish(Format::Line, &scene.view) else { return };
        self.reading = true;
        (self.text.found, self.line.found) = (None, None);
        self.text.ticket = scene.ask(Ask::Report(text));
        self.line.ticket = scene.ask(Ask::Report(line));
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let len = self.length(&scene.view);
        if self.list.step(command, len) {
            return;
        }
        match command {
            Command::Mark if !self.reading => {
                if let Some(name) = self.under_cursor(&scene.view) {
                    match self.picked.iter().position(|picked| *picked == name) {
                        Some(place) => drop(self.picked.remove(place)),
                        None => self.picked.push(name),
                    }
                    self.list.step(Command::Down, len);
                }
            }
            Command::Open if !self.reading => {
                if self.picked.is_empty() {
                    self.picked.extend(self.under_cursor(&scene.view));
                }
                self.list = List::default();
                self.read(scene);
            }
            Command::Refresh if self.reading => self.read(scene),
            Command::Format => {
                let place = FORMATS.iter().position(|format| *format == self.format).unwrap_or(0);
                self.format = FORMATS[(place + 1) % FORMATS.len()];
            }
            Command::Mask => {
                self.privacy = match self.privacy {
                    Privacy::Masked => Privacy::Full,
                    Privacy::Full => Privacy::Masked,
                };
                if self.reading {
                    self.read(scene);
                }
            }
            Command::Save => self.file = Some(Field::with(&self.file_name(&scene.view))),
            Command::Copy => {
                if let Some(line) = self.line.ok() {
                    scene.wants.push(Want::Copy(line.trim_end().to_owned()));
                }
            }
            Command::Back if self.reading => {
                self.reading = false;
                self.list = List::default();
            }
            Command::Back => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    fn length(&self, view: &View<'_>) -> usize {
        if self.reading {
            self.text.ok().map_or(0, |text| text.lines().count())
        } else {
            view.batches().len()
        }
    }

    fn file_name(&self, view: &View<'_>) -> String {
        let at = view.live.map_or(view.now, |live| live.as_of);
        let at = crate::report::when::rfc3339(at, &view.facts.zone);
        let at: String = at.chars().take(16).filter(char::is_ascii_alphanumeric).collect();
        format!("report-{}.{}", at.replace('T', "-"), extension(self.format))
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        self.file.as_mut()
    }

    pub(super) fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        let Some(field) = &mut self.file else { return false };
        match event.code {
            KeyCode::Esc => self.file = None,
            KeyCode::Enter => {
                let file = PathBuf::from(field.text().trim());
                if field.is_empty() {
                    return true;
                }
                self.file = None;
                if let Some(wish) = self.wish(self.format, &scene.view) {
                    scene.wants.push(Want::Do(Deed::Save { wish, file }));
                }
            }
            _ => return field.key(event),
        }
        true
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: &mut Option<Result<Answer, Fault>>) {
        let text = |found: Result<Answer, Fault>| {
            found.map(|found| match found {
                Answer::Report(text) => text,
                _ => String::new(),
            })
        };
        if let Some(found) = taken(ticket, self.text.ticket, answer) {
            self.text.found = Some(text(found));
        }
        if let Some(found) = taken(ticket, self.line.ticket, answer) {
            self.line.found = Some(text(found));
        }
    }

    pub(super) fn fits(&mut self, area: Rect, view: &View<'_>) {
        let len = self.length(view);
        self.list.fits(area.height.saturating_sub(6), len);
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let body = Rect { height: area.height.saturating_sub(4), ..area };
        if self.reading {
            self.draw_text(view, canvas, body);
        } else {
            self.draw_list(view, canvas, body);
        }
        let foot = Rect { y: area.y + body.height, height: area.height - body.height, ..area };
        canvas.rule(foot, 0, view.word(Word::DoSave));
        let privacy = match self.privacy {
            Privacy::Masked => Word::Masked,
            Privacy::Full => Word::FullAddresses,
        };
        let text =
            format!("{}: {}   {}", view.word(Word::DoFormat), self.format, view.word(privacy));
        canvas.put(foot, 1, &text, Tone::Plain);
        match &self.file {
            Some(field) => show::field(canvas, foot, 2, view.word(Word::SaveTo), field, true),
            None => {
                if let Some(text) = self.shell(view) {
                    canvas.put(foot, 2, &text, Tone::Dim);
                }
            }
        }
    }

    /// Returns the command that writes the same report.
    fn shell(&self, view: &View<'_>) -> Option<String> {
        let wish = self.wish(self.format, view)?;
        let full = if self.privacy == Privacy::Full { " --full-addresses" } else { "" };
        let (batches, file) = (wish.batches.join(" "), self.file_name(view));
        Some(format!("ittsu report {batches} --format {}{full} -o {file}", self.format))
    }

    fn draw_list(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        canvas.put(area, 0, view.word_of(Sentence::ReportHint), Tone::Dim);
        let columns = [left(1), left(3), left(20), left(0), right(9), right(9), right(7)];
        let body = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
        let batches = view.batches();
        for (row, place) in (0..).zip(self.list.shown(batches.len(), body.height)) {
            let batch = &batches[place];
            let chosen = place == self.list.cursor;
            let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
            if chosen {
                canvas.tint(body, row, Tone::Chosen);
            }
            let picked = self.picked.contains(&batch.name);
            let texts = [
                (if chosen { ">" } else { " " }, tone(Tone::Plain)),
                (if picked { "[x]" } else { "[ ]" }, tone(Tone::Plain)),
                (batch.name.as_str(), tone(Tone::Plain)),
                (batch.title.as_str(), tone(Tone::Plain)),
                (&*n(batch.counts.total()), tone(Tone::Plain)),
                (&*n(batch.counts.sent), tone(Tone::Good)),
                (&*n(batch.counts.failed), tone(Tone::Bad)),
            ];
            canvas.cells(body, row, &columns, &texts);
        }
    }

    fn draw_text(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let line = self.line.ok().map(|line| line.trim_end()).unwrap_or_default();
        let used = canvas.wrapped(area, 0, line, Tone::Title) + 1;
        let body = Rect { y: area.y + used, height: area.height.saturating_sub(used), ..area };
        let Some(text) = super::batch::loaded(&self.text, view, canvas, body) else { return };
        let lines: Vec<&str> = text.lines().collect();
        // The text scrolls; nothing in it is chosen.
        let first = self.list.cursor.min(lines.len().saturating_sub(usize::from(body.height)));
        for (row, line) in (0..body.height).zip(&lines[first..]) {
            canvas.put(body, row, line, Tone::Plain);
        }
    }
}

const fn extension(format: Format) -> &'static str {
    match format {
        Format::Text | Format::Line => "txt",
        Format::Md => "md",
        Format::Csv => "csv",
        Format::Json => "json",
        Format::Html => "html",
        Format::Xlsx => "xlsx",
    }
}
