//! One batch: its numbers, its rows a page at a time, its errors by cause, what was done to it,
//! and its message as a person gets it.

mod draw;
pub(in crate::console) mod rows;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::{Scene, View, Want, offers, taken};
use crate::console::canvas::Canvas;
use crate::console::dialog::{Dialog, REASONS};
use crate::console::field::Field;
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Deed, Fault, Group, Ticket};
use crate::console::words::{Sentence, Word};
use crate::domain::plan::Act;
use crate::domain::selection::Selection;
use crate::domain::state::State;
use crate::ops::journal::EntryBody;
use crate::ops::preview::PreviewBody;
use crate::ops::rows::CauseCount;
use rows::Rows;

pub(super) use draw::{loaded, short};
pub(in crate::console) use rows::story;

/// The batch that is looked at, with what was read of it so far.
#[derive(Clone, Debug)]
pub struct Batch {
    pub name: String,
    tab: Tab,
    rows: Rows,
    causes: Loaded<Vec<CauseCount>>,
    timeline: Loaded<Vec<EntryBody>>,
    message: Loaded<PreviewBody>,
    list: List,
    /// The address of a test mail, while it is typed.
    test: Option<Field>,
}

/// What is shown of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tab {
    #[default]
    Overview,
    Rows,
    Errors,
    Timeline,
    Message,
}

/// Something that is read from the ledger when it is wanted.
#[derive(Clone, Debug)]
pub(super) struct Loaded<T> {
    pub(super) ticket: Ticket,
    pub(super) found: Option<Result<T, Fault>>,
}

impl<T> Default for Loaded<T> {
    fn default() -> Self {
        Self { ticket: Ticket(0), found: None }
    }
}

impl<T> Loaded<T> {
    pub(super) fn ok(&self) -> Option<&T> {
        self.found.as_ref().and_then(|found| found.as_ref().ok())
    }
}

impl Tab {
    const ALL: [(Self, Word); 5] = [
        (Self::Overview, Word::Overview),
        (Self::Rows, Word::Rows),
        (Self::Errors, Word::Errors),
        (Self::Timeline, Word::Timeline),
        (Self::Message, Word::Message),
    ];

    fn step(self, by: usize) -> Self {
        let place = Self::ALL.iter().position(|(tab, _)| *tab == self).unwrap_or(0);
        Self::ALL[(place + by) % Self::ALL.len()].0
    }
}

impl Batch {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            tab: Tab::default(),
            rows: Rows::default(),
            causes: Loaded::default(),
            timeline: Loaded::default(),
            message: Loaded::default(),
            list: List::default(),
            test: None,
        }
    }

    pub(super) fn open(&mut self, scene: &mut Scene<'_>) {
        self.load(scene);
    }

    /// Reads what the tab shows.
    fn load(&mut self, scene: &mut Scene<'_>) {
        let batch = self.name.clone();
        match self.tab {
            Tab::Overview => {}
            Tab::Rows => self.rows.load(&batch, scene),
            Tab::Errors => self.causes.ticket = scene.ask(Ask::Causes { batch }),
            Tab::Timeline => self.timeline.ticket = scene.ask(Ask::Timeline { batch }),
            Tab::Message => {
                let key = self.rows.under_cursor().map(|row| row.key.clone());
                self.message.ticket = scene.ask(Ask::Message { batch, key });
            }
        }
    }

    fn go(&mut self, tab: Tab, scene: &mut Scene<'_>) {
        self.tab = tab;
        self.list = List::default();
        self.load(scene);
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        if self.moved(command, scene) {
            return;
        }
        match command {
            Command::NextTab => self.go(self.tab.step(1), scene),
            Command::PreviousTab => self.go(self.tab.step(Tab::ALL.len() - 1), scene),
            Command::Refresh => self.load(scene),
            Command::Open => self.deeper(scene),
            Command::Filter => {
                if self.tab != Tab::Rows {
                    self.go(Tab::Rows, scene);
                }
                self.rows.filtering = true;
            }
            Command::SendAgain => self.send_cause_again(scene),
            Command::Test => self.test = Some(Field::default()),
            Command::StartWorker => offers::worker(scene),
            Command::Back if self.tab == Tab::Rows && !self.rows.filter.is_empty() => {
                self.rows.filter.clear();
                self.rows.load(&self.name, scene);
            }
            Command::Back => scene.wants.push(Want::Back),
            Command::Copy => self.copy(scene),
            _ => {
                if let Some(batch) = scene.view.batch(&self.name) {
                    match command {
                        Command::Pause => offers::pause(batch, scene),
                        Command::Resume => offers::resume(batch, scene),
                        Command::Start => offers::start(batch, scene),
                        Command::Cancel => offers::cancel(batch, scene),
                        Command::Discard => offers::discard(batch, scene),
                        _ => {}
                    }
                }
            }
        }
    }

    fn moved(&mut self, command: Command, scene: &mut Scene<'_>) -> bool {
        match self.tab {
            Tab::Rows => self.rows.step(command, &self.name, scene),
            Tab::Errors => {
                let len = self.causes.ok().map_or(0, Vec::len);
                self.list.step(command, len)
            }
            Tab::Timeline => {
                let len = self.timeline.ok().map_or(0, Vec::len);
                self.list.step(command, len)
            }
            Tab::Message => self.list.step(command, draw::MOST_LINES),
            Tab::Overview => false,
        }
    }

    /// Goes from the tab to what the cursor stands on.
    fn deeper(&mut self, scene: &mut Scene<'_>) {
        match self.tab {
            Tab::Overview => self.go(Tab::Rows, scene),
            Tab::Rows => self.rows.open_row(&self.name, scene),
            Tab::Errors => {
                if let Some(filter) = self.cause().map(filter_of) {
                    self.rows.filter = Field::with(&filter);
                    self.go(Tab::Rows, scene);
                }
            }
            Tab::Timeline | Tab::Message => {}
        }
    }

    fn cause(&self) -> Option<&CauseCount> {
        self.causes.ok()?.get(self.list.cursor)
    }

    /// Asks whether all rows that failed for one reason go out again.
    fn send_cause_again(&self, scene: &mut Scene<'_>) {
        if self.tab != Tab::Errors || !scene.may_change() {
            return;
        }
        let Some(cause) = self.cause() else { return };
        if cause.state != State::Failed {
            // Rows in doubt are settled where their evidence is shown.
            return scene.warn(Sentence::NoProof, &[]);
        }
        let count = u64::try_from(cause.rows).unwrap_or(0);
        let which = Selection {
            state: Some(State::Failed),
            how: cause.how,
            code: u16::try_from(cause.code).ok().filter(|&code| code > 0),
            ..Selection::default()
        };
        let same = self.causes.ok().into_iter().flatten().filter(|other| {
            other.state == cause.state && other.how == cause.how && other.code == cause.code
        });
        // The command line selects by code; causes that differ in less than that go together.
        let all: i64 = same.map(|cause| cause.rows).sum();
        let count = count.max(u64::try_from(all).unwrap_or(0));
        let command =
            format!("ittsu resend {} {which} --reason \"{{reason}}\" --confirm {count}", self.name);
        let view = scene.view;
        let values = [
            ("what", view.word(Word::DoResend)),
            ("n", &count.to_string()),
            ("batch", self.name.as_str()),
        ];
        let title = view.say(Sentence::AskSettle, &values);
        let means = view.say(Sentence::ResendFailed, &[]);
        let group = Group { batch: self.name.clone(), which, seen: Vec::new(), count };
        let deed = Deed::Settle { act: Act::Resend, groups: vec![group], reason: String::new() };
        let words = crate::domain::text::lenient(&cause.reply);
        let dialog = Dialog::new(view.language(), title, count, deed)
            .fact(Word::Ledger, view.facts.place.clone())
            .fact(Word::LastWords, words)
            .means(means)
            .command(command)
            .with_reason(REASONS);
        scene.confirm(dialog);
    }

    fn copy(&self, scene: &mut Scene<'_>) {
        let text = match (self.tab, self.rows.under_cursor()) {
            (Tab::Rows, Some(row)) => format!("ittsu show {} {}", self.name, row.key),
            _ => format!("ittsu status {}", self.name),
        };
        scene.wants.push(Want::Copy(text));
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        match &mut self.test {
            Some(field) => Some(field),
            None => self.rows.filtering.then_some(&mut self.rows.filter),
        }
    }

    pub(super) fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        if self.test.is_some() {
            return self.test_typed(event, scene);
        }
        match event.code {
            KeyCode::Enter => self.rows.filtering = false,
            KeyCode::Esc => {
                self.rows.filtering = false;
                self.rows.filter.clear();
            }
            _ => return self.rows.filter.key(event),
        }
        self.rows.load(&self.name, scene);
        true
    }

    /// Takes a key of a test mail's address; Enter asks before it goes out.
    fn test_typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        match event.code {
            KeyCode::Esc => self.test = None,
            KeyCode::Enter => {
                let Some(field) = self.test.take().filter(|field| !field.is_empty()) else {
                    return true;
                };
                if scene.may_change() {
                    let to = field.text().trim().to_owned();
                    let key = self.rows.under_cursor().map(|row| row.key.clone());
                    scene.confirm(test_dialog(&self.name, to, key, &scene.view));
                }
            }
            _ => return self.test.as_mut().is_some_and(|field| field.key(event)),
        }
        true
    }

    pub(super) fn answer(
        &mut self,
        ticket: Ticket,
        answer: &mut Option<Result<Answer, Fault>>,
        scene: &mut Scene<'_>,
    ) {
        self.rows.answer(ticket, answer, &self.name, scene);
        if let Some(found) = taken(ticket, self.causes.ticket, answer) {
            self.causes.found = Some(found.map(|found| match found {
                Answer::Causes(causes) => causes,
                _ => Vec::new(),
            }));
        }
        if let Some(found) = taken(ticket, self.timeline.ticket, answer) {
            self.timeline.found = Some(found.map(|found| match found {
                Answer::Journal(body) => body.entries,
                _ => Vec::new(),
            }));
        }
        if let Some(found) = taken(ticket, self.message.ticket, answer) {
            self.message.found = match found {
                Ok(Answer::Message(body)) => Some(Ok(body)),
                Ok(_) => None,
                Err(fault) => Some(Err(fault)),
            };
        }
    }

    pub(super) fn done(&mut self, scene: &mut Scene<'_>) {
        self.load(scene);
    }

    pub(super) fn fits(&mut self, area: Rect) {
        self.rows.fits(area.height.saturating_sub(5));
        let len = match self.tab {
            Tab::Errors => self.causes.ok().map_or(0, Vec::len),
            Tab::Timeline => self.timeline.ok().map_or(0, Vec::len),
            _ => draw::MOST_LINES,
        };
        self.list.fits(area.height.saturating_sub(4), len);
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::draw(self, view, canvas, area);
    }
}

/// Asks before a real mail goes to the operator.
pub(super) fn test_dialog(batch: &str, to: String, key: Option<String>, view: &View<'_>) -> Dialog {
    let flag = key.as_ref().map(|key| format!(" --as {key}")).unwrap_or_default();
    let command = format!("ittsu test {batch} --to {to}{flag}");
    let title = format!("{}: {to}", view.word(Word::DoTest));
    let deed = Deed::Test { batch: batch.to_owned(), to, key };
    Dialog::new(view.language(), title, 1, deed)
        .means(view.say(Sentence::TestMeans, &[]))
        .command(command)
}

fn filter_of(cause: &CauseCount) -> String {
    let mut words = Vec::new();
    if cause.state == State::Sending {
        words.push("unknown".to_owned());
    } else {
        words.push(format!("state:{}", cause.state));
    }
    if let Some(how) = cause.how {
        words.push(format!("how:{how}"));
    }
    if cause.code > 0 {
        words.push(format!("code:{}", cause.code));
    }
    words.join(" ")
}
