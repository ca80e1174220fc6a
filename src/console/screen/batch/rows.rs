//! The rows of a batch, reached by key: a page costs the same wherever it stands.

use super::super::{Scene, Want, minute_of, taken, time_of};
use crate::console::field::Field;
use crate::console::keys::{Command, half_width};
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Fault, Ticket};
use crate::console::words::Word;
use crate::domain::id::RecipientId;
use crate::domain::selection::Selection;
use crate::domain::state::{How, State};
use crate::ops::row::RowBody;
use crate::ops::show::ShowBody;

/// The page that is looked at, and how it was reached.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) filter: Field,
    pub(super) filtering: bool,
    pub(super) list: List,
    pub(super) page: Vec<(RecipientId, RowBody)>,
    pub(super) fault: Option<Fault>,
    pub(super) loading: bool,
    /// Where the pages before this one began.
    before: Vec<i64>,
    from: i64,
    ticket: Ticket,
    row_ticket: Ticket,
    /// Where the cursor goes when the page is there.
    land: Land,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Land {
    #[default]
    First,
    Last,
}

/// Rows of a page; the effect reads no more at once.
pub(in crate::console) const PAGE: usize = 200;

impl Rows {
    pub(super) fn under_cursor(&self) -> Option<&RowBody> {
        self.page.get(self.list.cursor).map(|(_, row)| row)
    }

    /// Reports whether more rows may follow.
    pub(super) fn is_full(&self) -> bool {
        self.page.len() == PAGE
    }

    /// Reads the first page of what the filter means.
    pub(super) fn load(&mut self, batch: &str, scene: &mut Scene<'_>) {
        self.before.clear();
        self.from = 0;
        self.land = Land::First;
        self.ask(batch, scene);
    }

    fn ask(&mut self, batch: &str, scene: &mut Scene<'_>) {
        let which = selection(self.filter.text());
        let after = RecipientId(self.from);
        self.loading = true;
        self.ticket = scene.ask(Ask::Rows { batch: batch.to_owned(), which, after });
    }

    /// Moves the cursor; at an end of the page, to the next page or the one before.
    pub(super) fn step(&mut self, command: Command, batch: &str, scene: &mut Scene<'_>) -> bool {
        let at_end = self.list.cursor + 1 >= self.page.len();
        let down = matches!(command, Command::Down | Command::PageDown);
        let up = matches!(command, Command::Up | Command::PageUp);
        if self.loading && (down || up) {
            return true;
        }
        if down && at_end && self.is_full() {
            let Some((last, _)) = self.page.last() else { return true };
            self.before.push(self.from);
            self.from = last.0;
            self.land = Land::First;
            self.ask(batch, scene);
            return true;
        }
        if up && self.list.cursor == 0 {
            let Some(from) = self.before.pop() else { return true };
            self.from = from;
            self.land = Land::Last;
            self.ask(batch, scene);
            return true;
        }
        if command == Command::First && !self.before.is_empty() {
            self.load(batch, scene);
            return true;
        }
        self.list.step(command, self.page.len())
    }

    pub(super) fn open_row(&mut self, batch: &str, scene: &mut Scene<'_>) {
        if let Some(row) = self.under_cursor() {
            let key = row.key.clone();
            self.row_ticket = scene.ask(Ask::Row { batch: batch.to_owned(), key });
        }
    }

    pub(super) fn answer(
        &mut self,
        ticket: Ticket,
        answer: &mut Option<Result<Answer, Fault>>,
        batch: &str,
        scene: &mut Scene<'_>,
    ) {
        if let Some(found) = taken(ticket, self.ticket, answer) {
            self.loading = false;
            match found {
                Ok(Answer::Rows(page)) => {
                    self.fault = None;
                    self.page = page;
                    let place = match self.land {
                        Land::First => 0,
                        Land::Last => self.page.len(),
                    };
                    self.list.follow(Some(place), self.page.len());
                }
                Ok(_) => {}
                Err(fault) => self.fault = Some(fault),
            }
        }
        match taken(ticket, self.row_ticket, answer) {
            Some(Ok(Answer::Row(body))) => {
                let title = format!("{batch}  {}  {}", body.row.key, body.row.address);
                let lines = story(&body, scene);
                scene.wants.push(Want::Read { title, lines });
            }
            Some(Err(fault)) => scene.wants.push(Want::Warn(fault.message)),
            _ => {}
        }
    }

    pub(super) fn fits(&mut self, height: u16) {
        self.list.fits(height, self.page.len());
    }
}

/// Reads a filter: `state:failed`, `how:refused`, `domain:naver.com`, `code:550`, `unknown`, or a
/// key.
pub(super) fn selection(text: &str) -> Selection {
    let text: String = text.chars().map(half_width).collect();
    let mut which = Selection::default();
    for word in text.split_whitespace() {
        match word.split_once(':') {
            Some(("state" | "s", state)) => which.state = State::from_word(state),
            Some(("how", how)) => which.how = How::from_word(how),
            Some(("domain" | "d", domain)) => which.domain = Some(domain.to_lowercase()),
            Some(("code", code)) => which.code = code.parse().ok(),
            _ if word == "unknown" => which.unknown = true,
            _ => match word.strip_prefix('@') {
                Some(domain) => which.domain = Some(domain.to_lowercase()),
                None => which.keys.push(word.to_owned()),
            },
        }
    }
    which
}

/// Tells everything that is known about one row, line by line.
pub(in crate::console) fn story(body: &ShowBody, scene: &Scene<'_>) -> Vec<String> {
    let word = |word: Word| scene.view.word(word);
    let mut lines = vec![body.says.clone(), String::new()];
    if let Some(id) = &body.row.message_id {
        lines.push(format!("Message-ID: {id}"));
    }
    let fields = body.fields.as_object().into_iter().flatten();
    lines.extend(fields.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    }));
    lines.push(String::new());
    for attempt in &body.attempts {
        lines.push(format!(
            "{} {}  {}-{}  {} {}",
            word(Word::Attempt),
            attempt.attempt,
            minute_of(&attempt.started),
            time_of(&attempt.ended),
            attempt.outcome,
            attempt.phase.unwrap_or_default(),
        ));
        let words = attempt.reply.iter().chain(&attempt.note);
        lines.extend(words.map(|words| format!("    {}", words.trim_end())));
    }
    if !body.evidence.is_empty() {
        lines.push(String::new());
        lines.push(word(Word::Known).to_owned());
        lines.extend(body.evidence.iter().map(|seen| {
            let at = seen.at.as_deref().map(time_of).unwrap_or_default();
            format!("  {at:8}  {}  ({})", seen.what, seen.source)
        }));
    }
    if !body.journal.is_empty() {
        lines.push(String::new());
        lines.push(word(Word::Journal).to_owned());
        lines.extend(body.journal.iter().map(|entry| {
            let at = minute_of(&entry.at);
            format!("  {at}  {} {}: {}", entry.operator, entry.action, entry.reason)
        }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_as_it_is_typed_with_any_input_method() {
        let which = selection("state:failed domain:Naver.com ｃｏｄｅ：５５０");
        assert_eq!(which.state, Some(State::Failed));
        assert_eq!(which.domain.as_deref(), Some("naver.com"));
        assert_eq!(which.code, Some(550));
        assert!(selection("unknown").unknown);
        assert_eq!(selection("100234").keys, ["100234"]);
        assert!(selection("  ").is_empty());
    }
}
