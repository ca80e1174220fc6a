//! The desk for rows nobody can decide: what is known about each, and what each choice would do.
//!
//! Promise: a row is settled by batch, key and the attempt that was shown; marks on rows that are
//! gone are forgotten, so that no choice can reach what is not seen.

mod draw;

use std::collections::{BTreeMap, BTreeSet};

use ratatui::layout::Rect;

use super::batch::Loaded;
use super::{Scene, View, Want, taken};
use crate::console::canvas::Canvas;
use crate::console::dialog::{Dialog, REASONS};
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Deed, Fault, Group, Ticket};
use crate::console::words::{Sentence, Word};
use crate::domain::plan::Act;
use crate::domain::selection::{KEYS_NAMED, Selection};
use crate::domain::state::How;
use crate::domain::time::Timestamp;
use crate::ops::evidence::Verdict;
use crate::ops::live::{JournalEntry, Live};
use crate::ops::row::RowBody;
use crate::ops::unknown::UnknownRowBody;

/// A row by what names it for ever: its batch and its key.
type Id = (String, String);

/// The desk.
#[derive(Clone, Debug, Default)]
pub struct Unknown {
    /// Only rows of this batch; none: of all.
    pub only: Option<String>,
    which: Which,
    rows: Loaded<Vec<UnknownRowBody>>,
    ruled: Loaded<Vec<(String, RowBody)>>,
    list: List,
    chosen: Option<Id>,
    marks: BTreeSet<Id>,
    /// Unknown rows by the numbers when the list was read.
    counted: Option<i64>,
    /// When the ages in the list were true.
    looked_at: Timestamp,
    /// The entry that `undo` takes back.
    last: Option<i64>,
    detail_ticket: Ticket,
}

/// Which list is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Which {
    #[default]
    Waiting,
    ByRule,
}

/// A row of either list, as far as a decision needs it.
#[derive(Clone, Copy, Debug)]
struct Desk<'a> {
    batch: &'a str,
    row: &'a RowBody,
    verdict: Option<Verdict>,
}

impl Desk<'_> {
    fn id(&self) -> Id {
        (self.batch.to_owned(), self.row.key.clone())
    }
}

impl Unknown {
    /// Opens the desk, for one batch if one is named.
    pub fn of(only: Option<String>) -> Self {
        Self { only, ..Self::default() }
    }

    /// Returns the rows of the list that is shown, in the order in which they are shown.
    fn desk(&self) -> Vec<Desk<'_>> {
        let mine = |batch: &str| self.only.as_deref().is_none_or(|only| only == batch);
        match self.which {
            Which::Waiting => self
                .rows
                .ok()
                .into_iter()
                .flatten()
                .filter(|row| mine(&row.batch))
                .map(|row| Desk { batch: &row.batch, row: &row.row, verdict: Some(row.verdict) })
                .collect(),
            Which::ByRule => self
                .ruled
                .ok()
                .into_iter()
                .flatten()
                .filter(|(batch, _)| mine(batch))
                .map(|(batch, row)| Desk { batch, row, verdict: None })
                .collect(),
        }
    }

    /// Returns the rows that a choice would be about: the marked ones, else the one under the
    /// cursor.
    fn meant(&self) -> Vec<Desk<'_>> {
        let desk = self.desk();
        if self.marks.is_empty() {
            return desk
                .into_iter()
                .filter(|row| self.chosen.as_ref() == Some(&row.id()))
                .collect();
        }
        desk.into_iter().filter(|row| self.marks.contains(&row.id())).collect()
    }

    fn evidence(&self) -> Option<&UnknownRowBody> {
        let (batch, key) = self.chosen.as_ref()?;
        let mut rows = self.rows.ok()?.iter();
        rows.find(|row| row.batch == *batch && row.row.key == *key)
    }

    pub(super) fn open(&mut self, scene: &mut Scene<'_>) {
        self.load(scene);
    }

    fn load(&mut self, scene: &mut Scene<'_>) {
        self.counted = scene.view.live.map(|_| scene.view.unknown());
        match self.which {
            Which::Waiting => self.rows.ticket = scene.ask(Ask::Unknown),
            Which::ByRule => {
                let batches = scene.view.batches().iter();
                let batches = batches.filter(|batch| batch.counts.assumed > 0);
                let batches = batches.map(|batch| batch.name.clone()).collect();
                self.ruled.ticket = scene.ask(Ask::ByRule { batches });
            }
        }
    }

    /// Reads the list again when the numbers say that it has changed.
    pub(super) fn renewed(&mut self, scene: &mut Scene<'_>) {
        if self.which == Which::Waiting && self.counted != Some(scene.view.unknown()) {
            self.load(scene);
        }
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let len = self.desk().len();
        if self.list.step(command, len) {
            self.choose();
            return;
        }
        match command {
            Command::Mark => self.mark(),
            Command::MarkAll => self.mark_all_alike(),
            Command::SendAgain => self.settle(Act::Resend, scene),
            Command::MarkFailed => self.settle(Act::MarkFailed, scene),
            Command::MarkSent => self.settle(Act::MarkSent, scene),
            Command::Undo => self.undo(scene),
            Command::OtherList => {
                self.which = match self.which {
                    Which::Waiting => Which::ByRule,
                    Which::ByRule => Which::Waiting,
                };
                self.marks.clear();
                self.chosen = None;
                self.list = List::default();
                self.load(scene);
            }
            Command::Open => {
                if let Some((batch, key)) = self.chosen.clone() {
                    self.detail_ticket = scene.ask(Ask::Row { batch, key });
                }
            }
            Command::Refresh => self.load(scene),
            Command::Copy => {
                if let Some((batch, key)) = &self.chosen {
                    scene.wants.push(Want::Copy(format!("ittsu show {batch} {key}")));
                }
            }
            Command::Back if !self.marks.is_empty() => self.marks.clear(),
            Command::Back if self.only.is_some() => {
                self.only = None;
                self.follow();
            }
            Command::Back => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    fn mark(&mut self) {
        let Some(id) = self.chosen.clone() else { return };
        if !self.marks.remove(&id) {
            self.marks.insert(id);
        }
        let len = self.desk().len();
        self.list.step(Command::Down, len);
        self.choose();
    }

    /// Marks every row of which the same is known as of the one under the cursor.
    fn mark_all_alike(&mut self) {
        let desk = self.desk();
        let like = desk.iter().find(|row| self.chosen.as_ref() == Some(&row.id()));
        let Some(verdict) = like.map(|row| row.verdict) else { return };
        let alike: BTreeSet<Id> =
            desk.iter().filter(|row| row.verdict == verdict).map(Desk::id).collect();
        self.marks = if alike == self.marks { BTreeSet::new() } else { alike };
    }

    /// Asks before rows are settled; the dialog holds what it shows.
    fn settle(&self, act: Act, scene: &mut Scene<'_>) {
        if !scene.may_change() {
            return;
        }
        // What counts as sent by rule is sent already; sending it again is another copy.
        let act = match (act, self.which) {
            (Act::Resend, Which::ByRule) => Act::AnotherCopy,
            (act, _) => act,
        };
        let meant = self.meant();
        if meant.is_empty() {
            return scene.warn(Sentence::NoProof, &[]);
        }
        scene.confirm(question(act, &meant, self.which, &scene.view));
    }

    fn undo(&self, scene: &mut Scene<'_>) {
        if !scene.may_change() {
            return;
        }
        let mine = scene.view.live.and_then(|live| newest_of(live, &scene.view));
        match self.last.or(mine) {
            Some(entry) => scene.confirm(undo_question(entry, &scene.view)),
            None => scene.warn(Sentence::NothingToUndo, &[]),
        }
    }

    /// Keeps cursor and marks on the rows that are still there.
    fn follow(&mut self) {
        let ids: Vec<Id> = self.desk().iter().map(Desk::id).collect();
        self.marks.retain(|id| ids.contains(id));
        let place = self.chosen.as_ref().and_then(|id| ids.iter().position(|other| other == id));
        self.list.follow(place, ids.len());
        self.chosen = ids.get(self.list.cursor).cloned();
    }

    fn choose(&mut self) {
        let cursor = self.list.cursor;
        self.chosen = self.desk().get(cursor).map(Desk::id);
    }

    pub(super) fn answer(
        &mut self,
        ticket: Ticket,
        answer: &mut Option<Result<Answer, Fault>>,
        scene: &mut Scene<'_>,
    ) {
        if let Some(found) = taken(ticket, self.rows.ticket, answer) {
            self.rows.found = Some(found.map(|found| match found {
                Answer::Unknown(body) => sorted(body.rows),
                _ => Vec::new(),
            }));
            self.looked_at = scene.view.now;
            self.follow();
        }
        if let Some(found) = taken(ticket, self.ruled.ticket, answer) {
            self.ruled.found = Some(found.map(|found| match found {
                Answer::ByRule(rows) => rows,
                _ => Vec::new(),
            }));
            self.follow();
        }
        match taken(ticket, self.detail_ticket, answer) {
            Some(Ok(Answer::Row(body))) => {
                let title = format!("{}  {}  {}", body.batch, body.row.key, body.row.address);
                let lines = super::batch::story(&body, scene);
                scene.wants.push(Want::Read { title, lines });
            }
            Some(Err(fault)) => scene.wants.push(Want::Warn(fault.message)),
            _ => {}
        }
    }

    pub(super) fn done(&mut self, deed: &Deed, scene: &mut Scene<'_>) {
        match deed {
            Deed::Settle { .. } => self.marks.clear(),
            Deed::Undo { .. } => self.last = None,
            _ => {}
        }
        self.load(scene);
    }

    /// Notes the entry of the journal that `undo` would take back.
    pub fn wrote(&mut self, entry: Option<i64>) {
        self.last = entry.or(self.last);
    }

    pub(super) fn fits(&mut self, area: Rect) {
        let len = self.desk().len();
        self.list.fits(draw::places(area).list.height, len);
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        draw::draw(self, view, canvas, area);
    }
}

/// Sorts by what can be done: certainly not sent, accepted, nobody knows; then by batch.
fn sorted(mut rows: Vec<UnknownRowBody>) -> Vec<UnknownRowBody> {
    rows.sort_by_key(|row| match row.verdict {
        Verdict::NotSent => 0,
        Verdict::Accepted => 1,
        Verdict::Unknown => 2,
    });
    rows
}

/// Returns the question before rows are settled.
fn question(act: Act, meant: &[Desk<'_>], which: Which, view: &View<'_>) -> Dialog {
    let count = meant.len();
    let how_many = count.to_string();
    let what = view.word(match act {
        Act::MarkSent => Word::DoMarkSent,
        Act::MarkFailed => Word::DoMarkFailed,
        Act::Resend | Act::AnotherCopy => Word::DoResend,
    });
    let groups = groups(meant, which);
    let names: Vec<&str> = groups.iter().map(|group| group.batch.as_str()).collect();
    let doubles = meant.iter().filter(|row| row.verdict != Some(Verdict::NotSent)).count();
    let consequence = match act {
        Act::MarkSent => view.say(Sentence::MarkSent, &[]),
        Act::MarkFailed => view.say(Sentence::MarkFailed, &[]),
        Act::Resend | Act::AnotherCopy if doubles == 0 => view.say(Sentence::ResendSafe, &[]),
        Act::Resend | Act::AnotherCopy => {
            view.say(Sentence::Resend, &[("n", &doubles.to_string())])
        }
    };
    let first: Vec<&str> = meant.iter().take(3).map(|row| row.row.address.as_str()).collect();
    let mut first = first.join(", ");
    if count > 3 {
        let more = view.say(Sentence::AndMore, &[("n", &(count - 3).to_string())]);
        first = format!("{first} {more}");
    }
    let names = names.join(", ");
    let values = [("what", what), ("n", how_many.as_str()), ("batch", names.as_str())];
    let title = view.say(Sentence::AskSettle, &values);
    let command = command(act, &groups);
    let deed = Deed::Settle { act, groups, reason: String::new() };
    let place = match &view.facts.label {
        Some(label) => format!("{label}  {}", view.facts.place),
        None => view.facts.place.clone(),
    };
    Dialog::new(view.language(), title, count as u64, deed)
        .fact(Word::Ledger, place)
        .fact(Word::Recipients, first)
        .means(consequence)
        .command(command)
        .with_reason(REASONS)
}

/// Sorts rows by their batch; each group selects exactly the rows that were shown.
fn groups(meant: &[Desk<'_>], which: Which) -> Vec<Group> {
    let mut by_batch: BTreeMap<&str, Vec<(String, i64)>> = BTreeMap::new();
    for row in meant {
        by_batch.entry(row.batch).or_default().push((row.row.key.clone(), row.row.attempt));
    }
    let group = |(batch, seen): (&str, Vec<(String, i64)>)| Group {
        batch: batch.to_owned(),
        which: Selection {
            keys: seen.iter().map(|(key, _)| key.clone()).collect(),
            unknown: which == Which::Waiting,
            how: (which == Which::ByRule).then_some(How::Assumed),
            ..Selection::default()
        },
        count: seen.len() as u64,
        seen,
    };
    by_batch.into_iter().map(group).collect()
}

fn command(act: Act, groups: &[Group]) -> String {
    let verb = match act {
        Act::MarkSent => "mark sent",
        Act::MarkFailed => "mark failed",
        Act::Resend | Act::AnotherCopy => "resend",
    };
    let copy = if act == Act::AnotherCopy { " --another-copy" } else { "" };
    let commands = groups.iter().map(|group| {
        let Group { batch, which, count, .. } = group;
        // Too many to be typed: they go into a file, one on each line.
        let which = if which.keys.len() > KEYS_NAMED {
            format!("--keys FILE {}", Selection { keys: Vec::new(), ..which.clone() })
        } else {
            which.to_string()
        };
        format!("ittsu {verb} {batch} {which}{copy} --reason \"{{reason}}\" --confirm {count}")
    });
    commands.collect::<Vec<_>>().join("; ")
}

/// Returns the question before an entry of the journal is taken back.
pub(super) fn undo_question(entry: i64, view: &View<'_>) -> Dialog {
    let title = view.say(Sentence::AskUndo, &[("n", &entry.to_string())]);
    Dialog::new(view.language(), title, 1, Deed::Undo { entry })
        .means(view.say(Sentence::UndoMeans, &[]))
        .command(format!("ittsu undo {entry}"))
}

/// Returns the newest mark or resend of this operator that was not taken back.
fn newest_of(live: &Live, view: &View<'_>) -> Option<i64> {
    let me = view.facts.operator.as_deref()?;
    let undone: BTreeSet<i64> =
        live.news.iter().filter_map(JournalEntry::undoes).map(|id| id.0).collect();
    let mut mine = live.news.iter().filter(|entry| {
        entry.operator == me
            && Act::from_word(&entry.action).is_some()
            && !undone.contains(&entry.id.0)
    });
    mine.next().map(|entry| entry.id.0)
}
