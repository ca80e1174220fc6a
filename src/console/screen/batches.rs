//! Home: every batch with its numbers, and what needs a person.

mod draw;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use super::{Scene, Screen, View, Want, offers};
use crate::console::canvas::Canvas;
use crate::console::field::Field;
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::screen::batch::Batch;
use crate::console::screen::new_send::Form;
use crate::console::words;
use crate::domain::batch::BatchState;
use crate::ops::live::LiveBatch;

/// The list of batches; the cursor stands on a name.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    list: List,
    chosen: Option<String>,
    filter: Field,
    filtering: bool,
    sort: Sort,
}

/// In which order batches are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    #[default]
    Newest,
    /// What needs a person, then what runs.
    Urgent,
    Name,
    Left,
}

impl Sort {
    const fn next(self) -> Self {
        match self {
            Self::Newest => Self::Urgent,
            Self::Urgent => Self::Name,
            Self::Name => Self::Left,
            Self::Left => Self::Newest,
        }
    }
}

impl Batches {
    /// Returns the batches in the order in which they are shown.
    fn shown<'a>(&self, view: &View<'a>) -> Vec<&'a LiveBatch> {
        let wanted = self.filter.text().to_lowercase();
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let mut batches: Vec<&LiveBatch> =
            view.batches().iter().filter(|batch| meets(batch, &words, view)).collect();
        match self.sort {
            Sort::Newest => {}
            Sort::Urgent => batches.sort_by_key(|batch| urgency(batch)),
            Sort::Name => batches.sort_by(|a, b| a.name.cmp(&b.name)),
            Sort::Left => batches.sort_by_key(|batch| std::cmp::Reverse(batch.counts.left())),
        }
        batches
    }

    fn under_cursor<'a>(&self, view: &View<'a>) -> Option<&'a LiveBatch> {
        let chosen = self.chosen.as_deref()?;
        view.batch(chosen)
    }

    pub(super) fn open(&mut self, scene: &mut Scene<'_>) {
        self.renewed(scene);
    }

    /// Keeps the cursor on the batch it stands on, wherever that moved.
    pub(super) fn renewed(&mut self, scene: &mut Scene<'_>) {
        let shown = self.shown(&scene.view);
        let place = self
            .chosen
            .as_ref()
            .and_then(|chosen| shown.iter().position(|batch| batch.name == *chosen));
        self.list.follow(place, shown.len());
        self.choose(&shown);
    }

    fn choose(&mut self, shown: &[&LiveBatch]) {
        self.chosen = shown.get(self.list.cursor).map(|batch| batch.name.clone());
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let shown = self.shown(&scene.view);
        if self.list.step(command, shown.len()) {
            return self.choose(&shown);
        }
        match command {
            Command::Filter => self.filtering = true,
            Command::Sort => {
                self.sort = self.sort.next();
                self.renewed(scene);
            }
            Command::NewSend => {
                let form = Box::new(Form::new(&scene.view));
                scene.wants.push(Want::Open(Box::new(Screen::NewSend(form))));
            }
            Command::StartWorker => offers::worker(scene),
            Command::Back if !self.filter.is_empty() => {
                self.filter.clear();
                self.renewed(scene);
            }
            Command::Back => scene.wants.push(Want::Back),
            _ => {
                if let Some(batch) = self.under_cursor(&scene.view) {
                    of_batch(command, batch, scene);
                }
            }
        }
    }

    pub(super) fn field(&mut self) -> Option<&mut Field> {
        self.filtering.then_some(&mut self.filter)
    }

    pub(super) fn typed(&mut self, event: KeyEvent, scene: &mut Scene<'_>) -> bool {
        match event.code {
            KeyCode::Enter => self.filtering = false,
            KeyCode::Esc => {
                self.filtering = false;
                self.filter.clear();
            }
            _ if self.filter.key(event) => {}
            _ => return false,
        }
        self.renewed(scene);
        true
    }

    pub(super) fn fits(&mut self, area: Rect, view: &View<'_>) {
        let height = draw::heights(area).list.saturating_sub(1);
        self.list.fits(height, self.shown(view).len());
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::draw(self, view, canvas, area);
    }
}

/// Does to one batch what a key asks for.
fn of_batch(command: Command, batch: &LiveBatch, scene: &mut Scene<'_>) {
    match command {
        Command::Open => {
            let screen = Screen::Batch(Box::new(Batch::new(&batch.name)));
            scene.wants.push(Want::Open(Box::new(screen)));
        }
        Command::Pause => offers::pause(batch, scene),
        Command::Resume => offers::resume(batch, scene),
        Command::Start => offers::start(batch, scene),
        Command::Cancel => offers::cancel(batch, scene),
        Command::Discard => offers::discard(batch, scene),
        Command::Copy => scene.wants.push(Want::Copy(batch.name.clone())),
        _ => {}
    }
}

fn meets(batch: &LiveBatch, words: &[&str], view: &View<'_>) -> bool {
    if words.is_empty() {
        return true;
    }
    let state = view.word(words::batch_state(batch.state));
    let all = format!("{} {} {} {} {state}", batch.name, batch.title, batch.kind, batch.state);
    let all = all.to_lowercase();
    words.iter().all(|word| match word.strip_prefix('!') {
        Some(not) => not.is_empty() || !all.contains(not),
        None => all.contains(word),
    })
}

const fn urgency(batch: &LiveBatch) -> u8 {
    match batch.state {
        _ if !batch.needs.is_empty() => 0,
        BatchState::Running => 1,
        BatchState::Paused | BatchState::Scheduled => 2,
        BatchState::Draft => 3,
        BatchState::Done | BatchState::Cancelled => 4,
    }
}
