//! A question before something is done: what, to how many, with what consequence.
//!
//! Promise: a dialog holds the whole plan it showed and does exactly that; one row asks for a
//! button that is not the default, two or more for their number, typed; pasting confirms nothing.

use crossterm::event::{KeyCode, KeyEvent};

use super::field::Field;
use super::keys::half_width;
use super::message::Deed;
use super::words::{Language, Sentence, Word};

/// A question that lies over the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialog {
    pub title: String,
    /// What it is about, line by line.
    pub facts: Vec<(Word, String)>,
    /// What the deed means for people.
    pub means: String,
    /// The command that does the same; `{reason}` stands for the reason.
    pub command: String,
    /// A reason for the journal, where one is needed.
    pub reason: Option<Field>,
    /// Ready-made reasons, by digit.
    pub ready: Vec<Word>,
    pub confirm: Confirm,
    pub stage: Stage,
    pub language: Language,
    deed: Deed,
}

/// How a deed is confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    Button(Button),
    Count { wanted: u64, typed: String },
}

/// The button that Enter would press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Back,
    Do,
}

/// What is asked at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Reason,
    Confirm,
}

/// What a key press came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pressed {
    Stay,
    Closed,
    Confirmed(Box<Deed>),
}

impl Dialog {
    /// Asks with a button; `count` is the number of rows: two or more must be typed.
    pub fn new(language: Language, title: String, count: u64, deed: Deed) -> Self {
        let confirm = if count >= 2 {
            Confirm::Count { wanted: count, typed: String::new() }
        } else {
            Confirm::Button(Button::Back)
        };
        Self {
            title,
            facts: Vec::new(),
            means: String::new(),
            command: String::new(),
            reason: None,
            ready: Vec::new(),
            confirm,
            stage: Stage::Confirm,
            language,
            deed,
        }
    }

    #[must_use]
    pub fn fact(mut self, word: Word, value: impl Into<String>) -> Self {
        self.facts.push((word, value.into()));
        self
    }

    #[must_use]
    pub fn means(mut self, means: String) -> Self {
        self.means = means;
        self
    }

    #[must_use]
    pub fn command(mut self, command: String) -> Self {
        self.command = command;
        self
    }

    /// Asks for a number to be typed, however small it is.
    #[must_use]
    pub fn counting(mut self, wanted: u64) -> Self {
        self.confirm = Confirm::Count { wanted, typed: String::new() };
        self
    }

    /// Asks for a reason first.
    #[must_use]
    pub fn with_reason(mut self, ready: &[Word]) -> Self {
        self.reason = Some(Field::default());
        self.ready = ready.to_vec();
        self.stage = Stage::Reason;
        self
    }

    /// Returns the equal command, with the reason as far as it is typed.
    pub fn shell(&self) -> String {
        let reason = self.reason.as_ref().map_or("", Field::text);
        self.command.replace("{reason}", &reason.replace('"', "'"))
    }

    /// Returns what the button that does it is called.
    pub const fn verb(&self) -> Word {
        self.deed.name()
    }

    /// Takes a key as it was typed.
    pub fn key(&mut self, event: KeyEvent) -> Pressed {
        if event.code == KeyCode::Esc {
            return Pressed::Closed;
        }
        match self.stage {
            Stage::Reason => self.reason_key(event),
            Stage::Confirm => self.confirm_key(event),
        }
    }

    /// Takes pasted text: a reason may be pasted, a confirmation may not.
    ///
    /// Returns whether it was taken.
    pub fn paste(&mut self, text: &str) -> bool {
        match (self.stage, &mut self.reason) {
            (Stage::Reason, Some(field)) => {
                field.paste(text);
                true
            }
            _ => false,
        }
    }

    fn reason_key(&mut self, event: KeyEvent) -> Pressed {
        let Some(field) = &mut self.reason else {
            self.stage = Stage::Confirm;
            return Pressed::Stay;
        };
        let digit = match event.code {
            KeyCode::Char(c) => half_width(c).to_digit(10),
            _ => None,
        };
        let chosen = digit.and_then(|digit| (digit as usize).checked_sub(1));
        let chosen = chosen.and_then(|place| self.ready.get(place));
        match (event.code, chosen) {
            (KeyCode::Char(_), Some(ready)) if field.is_empty() => {
                *field = Field::with(ready.text(self.language));
                self.stage = Stage::Confirm;
            }
            (KeyCode::Enter, _) if !field.is_empty() => self.stage = Stage::Confirm,
            _ => {
                field.key(event);
            }
        }
        Pressed::Stay
    }

    fn confirm_key(&mut self, event: KeyEvent) -> Pressed {
        match &mut self.confirm {
            Confirm::Button(button) => match event.code {
                KeyCode::Left | KeyCode::Right | KeyCode::Tab | KeyCode::BackTab => {
                    *button = match button {
                        Button::Back => Button::Do,
                        Button::Do => Button::Back,
                    };
                    Pressed::Stay
                }
                KeyCode::Enter if *button == Button::Do => self.confirmed(),
                KeyCode::Enter => Pressed::Closed,
                _ => Pressed::Stay,
            },
            Confirm::Count { wanted, typed } => {
                match event.code {
                    KeyCode::Char(c) if half_width(c).is_ascii_digit() && typed.len() < 12 => {
                        typed.push(half_width(c));
                    }
                    KeyCode::Backspace => drop(typed.pop()),
                    KeyCode::Enter if *typed == wanted.to_string() => return self.confirmed(),
                    _ => {}
                }
                Pressed::Stay
            }
        }
    }

    fn confirmed(&self) -> Pressed {
        let reason = self.reason.as_ref().map_or("", |field| field.text().trim());
        Pressed::Confirmed(Box::new(self.deed.clone().because(reason)))
    }
}

/// Reasons that are given again and again when rows are settled.
pub const REASONS: &[Word] =
    &[Word::AskedNothingCame, Word::AskedItCame, Word::LogsSayNo, Word::LogsSayYes, Word::Agreed];

/// Returns the sentence of a count that is typed, or not yet.
pub fn judged(confirm: &Confirm) -> Option<Sentence> {
    match confirm {
        Confirm::Button(_) => None,
        Confirm::Count { wanted, typed } if *typed == wanted.to_string() => Some(Sentence::Matches),
        Confirm::Count { .. } => Some(Sentence::NotYet),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyModifiers;

    use super::*;

    fn press(dialog: &mut Dialog, code: KeyCode) -> Pressed {
        dialog.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn resume(count: u64) -> Dialog {
        let deed = Deed::Resume { batch: "notice-12".to_owned() };
        Dialog::new(Language::En, "Go on?".to_owned(), count, deed)
    }

    #[test]
    fn enter_alone_never_confirms() {
        assert_eq!(press(&mut resume(1), KeyCode::Enter), Pressed::Closed);
        assert_eq!(press(&mut resume(5), KeyCode::Enter), Pressed::Stay);
    }

    #[test]
    fn one_row_asks_for_the_other_button() {
        let mut dialog = resume(1);
        assert_eq!(press(&mut dialog, KeyCode::Right), Pressed::Stay);
        assert!(matches!(press(&mut dialog, KeyCode::Enter), Pressed::Confirmed(_)));
    }

    #[test]
    fn many_rows_ask_for_their_number_in_any_digits() {
        let mut dialog = resume(12);
        press(&mut dialog, KeyCode::Char('１'));
        assert_eq!(press(&mut dialog, KeyCode::Enter), Pressed::Stay);
        press(&mut dialog, KeyCode::Char('2'));
        assert!(matches!(press(&mut dialog, KeyCode::Enter), Pressed::Confirmed(_)));
    }

    #[test]
    fn a_reason_comes_first_by_digit_or_typed_and_goes_into_the_deed() {
        let deed = Deed::Cancel { batch: "a".to_owned(), count: 1, reason: String::new() };
        let dialog = Dialog::new(Language::Ko, String::new(), 1, deed).with_reason(REASONS);
        let mut by_digit = dialog.clone();
        assert_eq!(press(&mut by_digit, KeyCode::Enter), Pressed::Stay);
        press(&mut by_digit, KeyCode::Char('5'));
        press(&mut by_digit, KeyCode::Right);
        let Pressed::Confirmed(deed) = press(&mut by_digit, KeyCode::Enter) else {
            panic!("confirmed");
        };
        assert!(matches!(*deed, Deed::Cancel { reason, .. } if reason == "팀에서 합의"));
        let mut typed = dialog;
        press(&mut typed, KeyCode::Char('誤'));
        press(&mut typed, KeyCode::Char('5'));
        press(&mut typed, KeyCode::Enter);
        assert_eq!(typed.reason.as_ref().unwrap().text(), "誤5");
        assert_eq!(typed.stage, Stage::Confirm);
    }

    #[test]
    fn pasting_confirms_nothing_and_esc_always_closes() {
        let mut dialog = resume(12);
        assert!(!dialog.paste("12"));
        assert_eq!(press(&mut dialog, KeyCode::Enter), Pressed::Stay);
        assert_eq!(press(&mut dialog, KeyCode::Esc), Pressed::Closed);
    }
}
