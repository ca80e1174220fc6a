//! The tables: what every screen knows, and what each one adds.

use crossterm::event::{KeyCode, KeyModifiers};

use super::Hint::{self, HelpOnly, Shown};
use super::{Binding, Command as C};
use crate::console::screen::Name;
use crate::console::words::Word as W;

const fn key(code: KeyCode, command: C, word: W, hint: Hint) -> Binding {
    Binding { code, modifiers: KeyModifiers::NONE, command, word, hint }
}

const fn letter(c: char, command: C, word: W, hint: Hint) -> Binding {
    key(KeyCode::Char(c), command, word, hint)
}

const fn ctrl(c: char, command: C, word: W) -> Binding {
    let (code, modifiers) = (KeyCode::Char(c), KeyModifiers::CONTROL);
    Binding { code, modifiers, command, word, hint: HelpOnly }
}

/// Moving in a list.
pub const MOVES: &[Binding] = &[
    key(KeyCode::Up, C::Up, W::DoMove, HelpOnly),
    key(KeyCode::Down, C::Down, W::DoMove, HelpOnly),
    letter('k', C::Up, W::DoMove, HelpOnly),
    letter('j', C::Down, W::DoMove, HelpOnly),
    key(KeyCode::PageUp, C::PageUp, W::DoPage, HelpOnly),
    key(KeyCode::PageDown, C::PageDown, W::DoPage, HelpOnly),
    ctrl('u', C::PageUp, W::DoPage),
    ctrl('d', C::PageDown, W::DoPage),
    key(KeyCode::Home, C::First, W::DoEnds, HelpOnly),
    key(KeyCode::End, C::Last, W::DoEnds, HelpOnly),
    letter('g', C::First, W::DoEnds, HelpOnly),
    letter('G', C::Last, W::DoEnds, HelpOnly),
];

/// What every screen knows.
pub const GLOBAL: &[Binding] = &[
    letter('1', C::Batches, W::Batches, HelpOnly),
    letter('2', C::Unknown, W::Unknown, HelpOnly),
    letter('3', C::Find, W::Find, HelpOnly),
    letter('4', C::Report, W::Report, HelpOnly),
    letter('5', C::Journal, W::Journal, HelpOnly),
    letter('6', C::Health, W::Health, HelpOnly),
    letter('u', C::Unknown, W::Unknown, HelpOnly),
    key(KeyCode::Esc, C::Back, W::DoBack, HelpOnly),
    letter('q', C::Quit, W::DoQuit, Shown),
    letter('?', C::Help, W::DoHelp, Shown),
    key(KeyCode::F(1), C::Help, W::DoHelp, HelpOnly),
    letter(':', C::Palette, W::Palette, Shown),
    letter('!', C::News, W::News, HelpOnly),
    letter('f', C::Freeze, W::DoFreeze, HelpOnly),
    letter('r', C::Refresh, W::DoRefresh, HelpOnly),
    key(KeyCode::F(5), C::Refresh, W::DoRefresh, HelpOnly),
    ctrl('l', C::Redraw, W::DoRedraw),
    ctrl('z', C::Suspend, W::DoSuspend),
    ctrl('c', C::Leave, W::DoQuit),
];

const BATCHES: &[Binding] = &[
    key(KeyCode::Enter, C::Open, W::DoOpen, Shown),
    letter('c', C::NewSend, W::NewSend, Shown),
    letter('p', C::Pause, W::DoPause, Shown),
    letter('e', C::Resume, W::DoResume, Shown),
    letter('/', C::Filter, W::DoFilter, Shown),
    letter('s', C::Sort, W::DoSort, Shown),
    letter('w', C::StartWorker, W::DoWorker, HelpOnly),
    key(KeyCode::F(6), C::Start, W::DoStart, HelpOnly),
    key(KeyCode::F(10), C::Discard, W::DoDiscard, HelpOnly),
    key(KeyCode::F(12), C::Cancel, W::DoCancel, HelpOnly),
    letter('y', C::Copy, W::DoCopy, HelpOnly),
];

const BATCH: &[Binding] = &[
    key(KeyCode::Tab, C::NextTab, W::DoNextTab, Shown),
    key(KeyCode::BackTab, C::PreviousTab, W::DoPreviousTab, HelpOnly),
    key(KeyCode::Right, C::NextTab, W::DoNextTab, HelpOnly),
    key(KeyCode::Left, C::PreviousTab, W::DoPreviousTab, HelpOnly),
    key(KeyCode::Enter, C::Open, W::DoOpen, Shown),
    letter('p', C::Pause, W::DoPause, Shown),
    letter('e', C::Resume, W::DoResume, Shown),
    letter('/', C::Filter, W::DoFilter, Shown),
    key(KeyCode::F(6), C::Start, W::DoStart, HelpOnly),
    key(KeyCode::F(7), C::SendAgain, W::DoResend, HelpOnly),
    letter('t', C::Test, W::DoTest, HelpOnly),
    letter('w', C::StartWorker, W::DoWorker, HelpOnly),
    letter('n', C::PageDown, W::DoNext, HelpOnly),
    letter('y', C::Copy, W::DoCopy, HelpOnly),
    key(KeyCode::F(10), C::Discard, W::DoDiscard, HelpOnly),
    key(KeyCode::F(12), C::Cancel, W::DoCancel, HelpOnly),
];

const UNKNOWN: &[Binding] = &[
    letter(' ', C::Mark, W::DoMark, Shown),
    letter('*', C::MarkAll, W::DoMarkAll, Shown),
    key(KeyCode::F(7), C::SendAgain, W::DoResend, Shown),
    key(KeyCode::F(8), C::MarkFailed, W::DoMarkFailed, Shown),
    key(KeyCode::F(9), C::MarkSent, W::DoMarkSent, Shown),
    letter('z', C::Undo, W::DoUndo, HelpOnly),
    key(KeyCode::Tab, C::OtherList, W::DoOther, HelpOnly),
    key(KeyCode::Enter, C::Open, W::DoOpen, HelpOnly),
    letter('y', C::Copy, W::DoCopy, HelpOnly),
];

const FIND: &[Binding] =
    &[letter('/', C::Filter, W::Find, Shown), letter('y', C::Copy, W::DoCopy, Shown)];

const REPORT: &[Binding] = &[
    letter(' ', C::Mark, W::DoMark, Shown),
    key(KeyCode::Enter, C::Open, W::Report, Shown),
    key(KeyCode::F(2), C::Save, W::DoSave, Shown),
    letter('o', C::Format, W::DoFormat, Shown),
    letter('m', C::Mask, W::DoMask, HelpOnly),
    letter('y', C::Copy, W::DoCopy, HelpOnly),
];

const JOURNAL: &[Binding] =
    &[letter('z', C::Undo, W::DoUndo, Shown), letter('y', C::Copy, W::DoCopy, HelpOnly)];

const HEALTH: &[Binding] = &[
    letter('w', C::StartWorker, W::DoWorker, Shown),
    key(KeyCode::F(11), C::StopWorker, W::DoStopWorker, Shown),
    letter('c', C::Check, W::DoCheck, Shown),
];

const NEW_SEND: &[Binding] = &[
    key(KeyCode::Enter, C::Open, W::DoGo, Shown),
    key(KeyCode::Tab, C::NextTab, W::DoNext, Shown),
    key(KeyCode::BackTab, C::PreviousTab, W::DoMove, HelpOnly),
    key(KeyCode::F(2), C::Check, W::DoCheck, Shown),
    key(KeyCode::F(3), C::Save, W::DoRead, Shown),
];

/// Returns the tables of a screen; the first one that knows a key wins.
pub const fn layer(name: Name) -> &'static [Binding] {
    match name {
        Name::Batches => BATCHES,
        Name::Batch => BATCH,
        Name::Unknown => UNKNOWN,
        Name::Find => FIND,
        Name::Report => REPORT,
        Name::Journal => JOURNAL,
        Name::Health => HEALTH,
        Name::NewSend => NEW_SEND,
    }
}

/// The tables of the screens.
#[cfg(test)]
pub(super) const LAYERS: &[&[Binding]] =
    &[BATCHES, BATCH, UNKNOWN, FIND, REPORT, JOURNAL, HEALTH, NEW_SEND];

/// Every table by name.
#[cfg(test)]
pub(super) const ALL: &[(&str, &[Binding])] = &[
    ("global", GLOBAL),
    ("moves", MOVES),
    ("batches", BATCHES),
    ("batch", BATCH),
    ("unknown", UNKNOWN),
    ("find", FIND),
    ("report", REPORT),
    ("journal", JOURNAL),
    ("health", HEALTH),
    ("new send", NEW_SEND),
];
