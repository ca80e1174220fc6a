//! Keys and pasted text: to what lies over the screen, to a field, to the tables, in this order.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::App;
use crate::console::canvas::theme::Tone;
use crate::console::dialog::Pressed;
use crate::console::field::Field;
use crate::console::keys::{self, Command, GLOBAL, MOVES, Read};
use crate::console::message::Effect;
use crate::console::overlay::{self, Overlay};
use crate::console::screen::find::Find;
use crate::console::screen::health::Health;
use crate::console::screen::journal::Journal;
use crate::console::screen::report::Report;
use crate::console::screen::unknown::Unknown;
use crate::console::screen::{Name, Screen};
use crate::console::words::{Sentence, Word};

impl App {
    pub(super) fn key(&mut self, event: KeyEvent, effects: &mut Vec<Effect>) {
        if event.kind == KeyEventKind::Release {
            return;
        }
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('c') if control => return self.leave(effects),
            KeyCode::Char('z') if control => return effects.push(Effect::Suspend),
            KeyCode::Char('l') if control => return effects.push(Effect::Redraw),
            KeyCode::Esc if self.overlay.is_none() && self.take_back(effects) => return,
            _ => {}
        }
        if self.overlay.is_some() {
            return self.overlay_key(event, effects);
        }
        let typing = self.stack.last_mut().is_some_and(|screen| screen.field().is_some());
        let form = self.top().name() == Name::NewSend;
        if typing || form {
            let mut took = false;
            self.on_top(effects, |screen, scene| took = screen.typed(event, scene));
            if took {
                return;
            }
        }
        self.command_key(event, effects);
    }

    /// Does what a key stands for in the tables of the screen.
    fn command_key(&mut self, event: KeyEvent, effects: &mut Vec<Effect>) {
        let (code, modifiers) = match keys::read(event) {
            Read::Nothing => return,
            Read::Foreign => {
                self.method = true;
                return self.say(Sentence::InputMethodKana, &[], Tone::Warn);
            }
            Read::Key { code, modifiers, by_method } => {
                if by_method && !self.method {
                    self.say(Sentence::InputMethod, &[], Tone::Plain);
                }
                self.method = by_method;
                (code, modifiers)
            }
        };
        let tables = [keys::layer(self.top().name()), MOVES, GLOBAL];
        if let Some(command) = keys::find(&tables, code, modifiers) {
            self.command(command, effects);
        }
    }

    fn command(&mut self, command: Command, effects: &mut Vec<Effect>) {
        let language = self.facts.language;
        match command {
            Command::Batches => self.stack.truncate(1),
            Command::Unknown => {
                let only = match self.top() {
                    Screen::Batch(batch) => Some(batch.name.clone()),
                    _ => None,
                };
                self.open(Screen::Unknown(Unknown::of(only)), effects);
            }
            Command::Find => self.open(Screen::Find(Find::default()), effects),
            Command::Report => self.open(Screen::Report(Report::default()), effects),
            Command::Journal => self.open(Screen::Journal(Journal::default()), effects),
            Command::Health => self.open(Screen::Health(Health::default()), effects),
            Command::Quit if self.stack.len() > 1 => drop(self.stack.pop()),
            Command::Quit => self.ask_to_quit(),
            Command::Leave => self.leave(effects),
            Command::Help => {
                let lines = overlay::help(self.top().name(), language);
                let title = self.view().word(Word::Help).to_owned();
                self.overlay = Some(Overlay::Read { title, lines, first: 0 });
            }
            Command::News => self.show_news(),
            Command::Palette => {
                self.overlay = Some(Overlay::Palette { words: Field::default(), cursor: 0 });
            }
            Command::Freeze => self.freeze(effects),
            Command::Redraw => effects.push(Effect::Redraw),
            Command::Suspend => effects.push(Effect::Suspend),
            Command::Refresh => {
                effects.push(Effect::Refresh);
                self.on_top(effects, |screen, scene| screen.command(command, scene));
            }
            _ => self.on_top(effects, |screen, scene| screen.command(command, scene)),
        }
    }

    fn overlay_key(&mut self, event: KeyEvent, effects: &mut Vec<Effect>) {
        let (screen, language) = (self.top().name(), self.facts.language);
        let page = usize::from(self.size.1.saturating_sub(8)).max(1);
        match &mut self.overlay {
            None => {}
            Some(Overlay::Ask(dialog)) => match dialog.key(event) {
                Pressed::Stay => {}
                Pressed::Closed => self.overlay = None,
                Pressed::Confirmed(deed) => {
                    self.overlay = None;
                    Self::confirmed(*deed, effects);
                }
            },
            Some(Overlay::Read { lines, first, .. }) => {
                let last = lines.len().saturating_sub(page);
                *first = match (keys::read(event), event.code) {
                    (_, KeyCode::PageDown) => (*first + page).min(last),
                    (_, KeyCode::PageUp) => first.saturating_sub(page),
                    (Read::Key { code: KeyCode::Char('j') | KeyCode::Down, .. }, _) => {
                        (*first + 1).min(last)
                    }
                    (Read::Key { code: KeyCode::Char('k') | KeyCode::Up, .. }, _) => {
                        first.saturating_sub(1)
                    }
                    _ => return self.overlay = None,
                };
            }
            Some(Overlay::Palette { words, cursor }) => {
                match overlay::choose(words, cursor, event, screen, language) {
                    Ok(true) => {}
                    Ok(false) => self.overlay = None,
                    Err(command) => {
                        self.overlay = None;
                        self.command(command, effects);
                    }
                }
            }
        }
    }

    /// Takes pasted text into the field that is open; anywhere else it is left alone.
    pub(super) fn paste(&mut self, text: &str) {
        let taken = match &mut self.overlay {
            Some(Overlay::Ask(dialog)) => dialog.paste(text),
            Some(Overlay::Palette { words, .. }) => {
                words.paste(text);
                true
            }
            Some(Overlay::Read { .. }) => false,
            None => match self.stack.last_mut().and_then(Screen::field) {
                Some(field) => {
                    field.paste(text);
                    true
                }
                None => false,
            },
        };
        if !taken {
            self.say(Sentence::PastedNothing, &[], Tone::Warn);
        }
    }
}
