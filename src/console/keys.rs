//! What a key does: one table per screen, and the words for it.
//!
//! Promise: hints and help are printed from these tables, so they cannot promise what no key does;
//! nothing that changes a row lies on a letter, except pausing, which stops mail and asks nothing.
//! Start reading at `Binding`, then any table.

mod hangul;
mod tables;

pub use tables::{GLOBAL, MOVES, layer};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::words::Word;

/// Something that a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Open,
    Back,
    Quit,
    Leave,
    NextTab,
    PreviousTab,
    Batches,
    Unknown,
    Find,
    Report,
    Journal,
    Health,
    NewSend,
    Help,
    Palette,
    News,
    Freeze,
    Refresh,
    Redraw,
    Suspend,
    Filter,
    Sort,
    Mark,
    MarkAll,
    OtherList,
    Pause,
    Resume,
    Start,
    Cancel,
    Discard,
    SendAgain,
    MarkFailed,
    MarkSent,
    Undo,
    StartWorker,
    StopWorker,
    Test,
    Copy,
    Save,
    Mask,
    Format,
    Check,
}

/// One key, what it does, and what help calls it.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    pub code: KeyCode,
    pub modifiers: KeyModifiers,
    pub command: Command,
    pub word: Word,
    /// Shown in the line of hints; help shows all.
    pub hint: Hint,
}

/// Where a binding is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    Shown,
    HelpOnly,
}

impl Binding {
    /// Returns the key as it stands on the keyboard.
    pub fn spelled(&self) -> String {
        spell(self.code, self.modifiers)
    }
}

/// What became of a key press that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The key as it would be without an input method.
    Key { code: KeyCode, modifiers: KeyModifiers, by_method: bool },
    /// A sign of an input method that stands for no single key.
    Foreign,
    /// A release, or nothing we know.
    Nothing,
}

/// Reads a key event as a command key, whatever input method is on.
pub fn read(event: KeyEvent) -> Read {
    if event.kind == KeyEventKind::Release {
        return Read::Nothing;
    }
    let modifiers = event.modifiers.difference(KeyModifiers::SHIFT);
    let KeyCode::Char(c) = event.code else {
        let modifiers = match event.code {
            KeyCode::BackTab => KeyModifiers::NONE,
            _ => event.modifiers,
        };
        return Read::Key { code: event.code, modifiers, by_method: false };
    };
    match hangul::latin(c) {
        hangul::Meant::Itself => Read::Key { code: KeyCode::Char(c), modifiers, by_method: false },
        hangul::Meant::Letter(letter) => {
            Read::Key { code: KeyCode::Char(letter), modifiers, by_method: true }
        }
        hangul::Meant::Nobody => Read::Foreign,
    }
}

/// Returns what a key does in the first table that knows it.
pub fn find(tables: &[&[Binding]], code: KeyCode, modifiers: KeyModifiers) -> Option<Command> {
    let mut all = tables.iter().flat_map(|table| table.iter());
    all.find(|binding| binding.code == code && binding.modifiers == modifiers)
        .map(|binding| binding.command)
}

/// Returns a key's name.
pub fn spell(code: KeyCode, modifiers: KeyModifiers) -> String {
    let name = match code {
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::F(n) => format!("F{n}"),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::Esc => "Esc".to_owned(),
        KeyCode::Tab => "Tab".to_owned(),
        KeyCode::BackTab => "Shift-Tab".to_owned(),
        KeyCode::Up => "Up".to_owned(),
        KeyCode::Down => "Down".to_owned(),
        KeyCode::Left => "Left".to_owned(),
        KeyCode::Right => "Right".to_owned(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        KeyCode::Home => "Home".to_owned(),
        KeyCode::End => "End".to_owned(),
        other => format!("{other:?}"),
    };
    if modifiers.contains(KeyModifiers::CONTROL) { format!("ctrl-{name}") } else { name }
}

/// Makes the digits of an input method plain.
pub const fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => match char::from_u32(c as u32 - 0xfee0) {
            Some(plain) => plain,
            None => c,
        },
        '\u{3000}' => ' ',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::tables::{ALL, LAYERS};
    use super::*;

    #[test]
    fn no_key_is_bound_twice_in_one_table() {
        for (name, table) in ALL {
            let mut seen = HashSet::new();
            for binding in *table {
                let key = (binding.code, binding.modifiers);
                assert!(seen.insert(key), "{name}: {} is bound twice", binding.spelled());
            }
        }
    }

    #[test]
    fn nothing_that_changes_a_row_lies_on_a_letter() {
        use Command as C;
        let dangerous = [
            C::Start,
            C::Cancel,
            C::Discard,
            C::SendAgain,
            C::MarkFailed,
            C::MarkSent,
            C::StopWorker,
        ];
        for (name, table) in ALL {
            for binding in *table {
                let letter = matches!(binding.code, KeyCode::Char(_));
                let harm = dangerous.contains(&binding.command);
                assert!(!(letter && harm), "{name}: {:?}", binding.command);
            }
        }
    }

    #[test]
    fn a_screen_never_hides_how_to_leave_or_to_get_help() {
        for layer in LAYERS {
            for binding in *layer {
                let key = (binding.code, binding.modifiers);
                assert_ne!(key, (KeyCode::Char('q'), KeyModifiers::NONE));
                assert_ne!(key, (KeyCode::Char('?'), KeyModifiers::NONE));
                assert_ne!(key, (KeyCode::Char('u'), KeyModifiers::NONE));
            }
        }
    }

    #[test]
    fn keys_are_read_through_japanese_and_korean_input_methods() {
        let plain = |c: char| read(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        let key = |c, by_method| Read::Key {
            code: KeyCode::Char(c),
            modifiers: KeyModifiers::NONE,
            by_method,
        };
        assert_eq!(plain('j'), key('j', false));
        assert_eq!(plain('ㅓ'), key('j', true));
        assert_eq!(plain('ㅕ'), key('u', true));
        assert_eq!(plain('ｊ'), key('j', true));
        assert_eq!(plain('１'), key('1', true));
        assert_eq!(plain('か'), Read::Foreign);
        assert_eq!(plain('가'), Read::Foreign);
    }
}
