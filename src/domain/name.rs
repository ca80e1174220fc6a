//! Names that people give: of batches and of kinds.

use std::fmt;
use std::str::FromStr;

/// The unique name of a batch: `notice-12`, `order-2026-11-30`.
///
/// 1 to 64 of `a-z 0-9 - _ .`, beginning with a letter or digit, and no command word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchName(String);

/// Says what is wrong with a batch's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    #[error("a name must not be empty")]
    Empty,
    #[error("`{0}` has {1} characters; at most 64 are allowed")]
    Long(String, usize),
    #[error(
        "`{0}` may hold only a-z, 0-9, `-`, `_` and `.`, and must begin with a letter or digit"
    )]
    Letters(String),
    #[error("`{0}` is the name of a command")]
    Command(String),
}

/// Words of the command line; a batch of that name could not be opened by `ittsu BATCH`.
pub const COMMANDS: &[&str] = &[
    "cancel",
    "change",
    "completions",
    "config",
    "demo",
    "discard",
    "doctor",
    "find",
    "help",
    "import",
    "init",
    "journal",
    "man",
    "mark",
    "pause",
    "preview",
    "rejects",
    "report",
    "resend",
    "resume",
    "rows",
    "send",
    "show",
    "start",
    "status",
    "suppress",
    "test",
    "undo",
    "unknown",
    "work",
    "workers",
];

impl BatchName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BatchName {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let Some(first) = text.chars().next() else { return Err(BadName::Empty) };
        let length = text.chars().count();
        if length > 64 {
            return Err(BadName::Long(text.to_owned(), length));
        }
        if !allowed(first) || !text.chars().all(|c| allowed(c) || matches!(c, '-' | '_' | '.')) {
            return Err(BadName::Letters(text.to_owned()));
        }
        if COMMANDS.contains(&text) {
            return Err(BadName::Command(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BatchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_name_is_short_plain_and_no_command() {
        for good in ["notice-12", "order-2026-11-30", "a", "9.x_y"] {
            assert_eq!(good.parse::<BatchName>().unwrap().as_str(), good);
        }
        assert_eq!("".parse::<BatchName>(), Err(BadName::Empty));
        for bad in ["Notice", "-a", "お知らせ", "a b", "a/b", ".a"] {
            assert_eq!(bad.parse::<BatchName>(), Err(BadName::Letters(bad.to_owned())));
        }
        assert_eq!("status".parse::<BatchName>(), Err(BadName::Command("status".to_owned())));
        assert!(matches!("a".repeat(65).parse::<BatchName>(), Err(BadName::Long(_, 65))));
    }
}
