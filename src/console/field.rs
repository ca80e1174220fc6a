//! One line of text that a person types.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A text with the place where the next letter goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    text: String,
    /// Letters before the cursor.
    at: usize,
}

/// Longer texts are a mistake: a file was pasted.
const MOST: usize = 400;

impl Field {
    pub fn with(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.chars().count() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns what stands before and behind the cursor.
    pub fn parts(&self) -> (String, String) {
        let before = self.text.chars().take(self.at).collect();
        let behind = self.text.chars().skip(self.at).collect();
        (before, behind)
    }

    /// Takes a key; false if it is none that edits.
    pub fn key(&mut self, event: KeyEvent) -> bool {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('u') if control => self.clear(),
            KeyCode::Char(c) if !control && !event.modifiers.contains(KeyModifiers::ALT) => {
                self.insert(c);
            }
            KeyCode::Backspace if self.at > 0 => {
                self.at -= 1;
                self.remove();
            }
            KeyCode::Backspace => {}
            KeyCode::Delete => self.remove(),
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(self.text.chars().count()),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.chars().count(),
            _ => return false,
        }
        true
    }

    /// Takes text that was pasted, up to its first line break.
    pub fn paste(&mut self, text: &str) {
        let line = text.trim_start().lines().next().unwrap_or_default();
        line.chars().for_each(|c| self.insert(c));
    }

    fn insert(&mut self, c: char) {
        if c.is_control() || self.text.chars().count() >= MOST {
            return;
        }
        let (before, behind) = self.parts();
        self.text = format!("{before}{c}{behind}");
        self.at += 1;
    }

    fn remove(&mut self) {
        let (before, behind) = self.parts();
        let rest: String = behind.chars().skip(1).collect();
        self.text = before + &rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[KeyCode]) -> Field {
        let mut field = Field::default();
        for code in keys {
            field.key(KeyEvent::new(*code, KeyModifiers::NONE));
        }
        field
    }

    #[test]
    fn letters_of_any_script_are_typed_and_taken_back() {
        let c = KeyCode::Char;
        let field = typed(&[c('冬'), c('가'), KeyCode::Left, c('a'), KeyCode::Backspace, c('b')]);
        assert_eq!(field.text(), "冬b가");
        assert_eq!(typed(&[c('a'), KeyCode::Backspace, KeyCode::Backspace]).text(), "");
    }

    #[test]
    fn pasting_takes_one_line_and_no_control() {
        let mut field = Field::default();
        field.paste("a\tb\u{1b}c\nrm -rf");
        assert_eq!(field.text(), "abc");
        field.paste(&"x".repeat(5_000));
        assert_eq!(field.text().chars().count(), MOST);
    }
}
