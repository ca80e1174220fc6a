//! What lies over a screen: a question, help, the palette, long text.

use crossterm::event::{KeyCode, KeyEvent};

use super::dialog::Dialog;
use super::field::Field;
use super::keys::{self, Binding, Command, GLOBAL, MOVES};
use super::screen::Name;
use super::words::{Language, Word};

/// Something that lies over the screen and takes the keys.
#[derive(Clone, Debug)]
pub(super) enum Overlay {
    Ask(Box<Dialog>),
    /// Long text, and its first line that is shown.
    Read {
        title: String,
        lines: Vec<String>,
        first: usize,
    },
    /// Every command of the screen, found by its words.
    Palette {
        words: Field,
        cursor: usize,
    },
}

/// Returns the text of help: every key of a screen, then of all screens.
pub(super) fn help(screen: Name, language: Language) -> Vec<String> {
    let mut lines = Vec::new();
    let own = screen.word().text(language);
    for (title, table) in [
        (own, keys::layer(screen)),
        (Word::DoMove.text(language), MOVES),
        (Word::All.text(language), GLOBAL),
    ] {
        lines.push(title.to_owned());
        for command in commands_of(table) {
            let same = table.iter().filter(|binding| binding.command == command);
            let spelled: Vec<String> = same.clone().map(Binding::spelled).collect();
            let Some(first) = same.clone().next() else { continue };
            lines.push(format!("  {:<22} {}", spelled.join(", "), first.word.text(language)));
        }
        lines.push(String::new());
    }
    lines
}

/// Returns the bindings that match what was typed into the palette: each command once.
pub(super) fn palette(screen: Name, words: &str, language: Language) -> Vec<&'static Binding> {
    let wanted = words.to_lowercase();
    let mut found: Vec<&'static Binding> = Vec::new();
    for binding in keys::layer(screen).iter().chain(GLOBAL) {
        let known = found.iter().any(|other| other.command == binding.command);
        let text = binding.word.text(language).to_lowercase();
        let english = binding.word.text(Language::En).to_lowercase();
        let meets = fuzzy(&text, &wanted) || fuzzy(&english, &wanted);
        if !known && meets && binding.command != Command::Palette {
            found.push(binding);
        }
    }
    found
}

/// Takes a key of the palette; returns the command to do, or whether it stays open.
pub(super) fn choose(
    words: &mut Field,
    cursor: &mut usize,
    event: KeyEvent,
    screen: Name,
    language: Language,
) -> Result<bool, Command> {
    let found = palette(screen, words.text(), language);
    match event.code {
        KeyCode::Esc => return Ok(false),
        KeyCode::Enter => {
            return found.get(*cursor).map_or(Ok(false), |binding| Err(binding.command));
        }
        KeyCode::Up => *cursor = cursor.saturating_sub(1),
        KeyCode::Down => *cursor = (*cursor + 1).min(found.len().saturating_sub(1)),
        _ => {
            words.key(event);
            *cursor = 0;
        }
    }
    Ok(true)
}

fn commands_of(table: &[Binding]) -> Vec<Command> {
    let mut commands = Vec::new();
    for binding in table {
        if !commands.contains(&binding.command) {
            commands.push(binding.command);
        }
    }
    commands
}

/// Reports whether the letters of `wanted` stand in `text` in this order.
fn fuzzy(text: &str, wanted: &str) -> bool {
    let mut letters = text.chars();
    wanted.chars().filter(|c| !c.is_whitespace()).all(|c| letters.any(|other| other == c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_finds_by_its_own_words_and_by_english_ones() {
        let found = |words, language| {
            let all = palette(Name::Unknown, words, language);
            all.iter().map(|binding| binding.command).collect::<Vec<_>>()
        };
        assert_eq!(found("mkfail", Language::En), [Command::MarkFailed]);
        assert_eq!(found("失敗", Language::Ja), [Command::MarkFailed]);
        assert_eq!(found("mark failed", Language::Ko), [Command::MarkFailed]);
        assert!(found("", Language::En).len() > 15);
    }

    #[test]
    fn help_names_every_key_of_the_screen() {
        let text = help(Name::Unknown, Language::En).join("\n");
        for binding in keys::layer(Name::Unknown).iter().chain(GLOBAL) {
            assert!(text.contains(&binding.spelled()), "{}", binding.spelled());
        }
    }
}
