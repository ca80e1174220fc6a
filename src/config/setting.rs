//! How one value is read from the file and shown again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;

use super::Language;
use super::document::{Node, Value};
use super::reading::{Origin, Reading};
use crate::domain::hours::Hours;
use crate::domain::policy::OncePer;
use crate::domain::rate::Rate;
use crate::domain::span::Span;

/// A type of value: every key has one.
pub(super) trait Setting: Sized {
    /// Reads a value; an error says what was expected.
    fn read(node: &Node, folder: &Path) -> Result<Self, String>;

    /// Returns the value as `config show` prints it.
    fn show(&self) -> String;
}

/// Returns the text of `node`, or says what was expected instead.
pub(super) fn text<'n>(node: &'n Node, expected: &str) -> Result<&'n str, String> {
    match &node.value {
        Value::Text(text) => Ok(text),
        _ => Err(format!("expected {expected}, got {}", node.kind())),
    }
}

impl Setting for String {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let text = text(node, "a text in quotes")?;
        if text.trim().is_empty() {
            return Err("expected a text that is not empty".to_owned());
        }
        Ok(text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Setting for bool {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        match &node.value {
            Value::Truth(truth) => Ok(*truth),
            Value::Text(text) if text == "true" => Ok(true),
            Value::Text(text) if text == "false" => Ok(false),
            _ => Err(format!("expected true or false, got {}", node.kind())),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! numbers {
    ($($type:ty, $least:literal, $most:literal, $what:literal;)*) => {$(
        impl Setting for $type {
            fn read(node: &Node, _: &Path) -> Result<Self, String> {
                let number = match &node.value {
                    Value::Number(number) => Some(*number),
                    // Variables are texts.
                    Value::Text(text) if node.line == 0 => text.parse().ok(),
                    _ => None,
                };
                number
                    .filter(|number| ($least..=$most).contains(number))
                    .and_then(|number| Self::try_from(number).ok())
                    .ok_or_else(|| format!("expected {}, {} to {}", $what, $least, $most))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

numbers! {
    u16, 1, 65_535, "a port";
    u32, 1, 1_000_000, "a whole number";
    i64, 1, 1_000, "a whole number";
}

macro_rules! parsed {
    ($($type:ty, $what:literal;)*) => {$(
        impl Setting for $type {
            fn read(node: &Node, _: &Path) -> Result<Self, String> {
                text(node, $what)?.parse().map_err(|err| format!("{err}"))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

parsed! {
    Rate, "a rate such as \"1200/min\"";
    Hours, "hours such as \"08:00-21:00\"";
}

impl Setting for Span {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let span: Self = text(node, "a length of time such as \"30s\"")?
            .parse()
            .map_err(|err| format!("{err}"))?;
        if span.0 == Duration::ZERO {
            return Err("expected a length of time above zero".to_owned());
        }
        Ok(span)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! one_of {
    ($($type:ty;)*) => {$(
        impl Setting for $type {
            fn read(node: &Node, _: &Path) -> Result<Self, String> {
                let words = Self::ALL.iter().map(|word| word.as_str()).collect::<Vec<_>>();
                let expected = format!("one of {}", words.join(", "));
                let text = text(node, &expected)?;
                Self::from_word(text).ok_or_else(|| format!("expected {expected}, got `{text}`"))
            }

            fn show(&self) -> String {
                self.as_str().to_owned()
            }
        }
    )*};
}
pub(super) use one_of;

one_of! {
    Language;
    OncePer;
}

impl Setting for PathBuf {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        match text(node, "the path of a file")? {
            "" => Err("expected the path of a file".to_owned()),
            path => Ok(folder.join(path)),
        }
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

/// A time zone by name.
#[derive(Clone, Debug)]
pub(super) struct Zone(pub(super) TimeZone);

impl Setting for Zone {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let name = text(node, "a time zone such as \"Asia/Tokyo\"")?;
        match TimeZone::get(name) {
            Ok(zone) => Ok(Self(zone)),
            Err(_) => Err(format!("expected a time zone such as \"Asia/Tokyo\", got `{name}`")),
        }
    }

    fn show(&self) -> String {
        zone_name(&self.0)
    }
}

fn zone_name(zone: &TimeZone) -> String {
    zone.iana_name().unwrap_or("the system's").to_owned()
}

/// Returns the machine's own time zone; one that cannot be read is UTC, and that is said.
pub(super) fn system_zone(reading: &mut Reading<'_>) -> TimeZone {
    let zone = TimeZone::try_system().unwrap_or_else(|err| {
        let what = format!("the system's time zone cannot be read, UTC is used: {err}");
        reading.warn(&Origin::Default, what);
        TimeZone::UTC
    });
    reading.show("timezone".to_owned(), zone_name(&zone), &Origin::Default);
    zone
}

/// The addresses and domains that mail may go to on a test system.
#[derive(Clone, Debug)]
pub(super) struct OnlyTo(pub(super) Vec<String>);

impl Setting for OnlyTo {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a list such as [\"@example.co.jp\", \"me@example.com\"]";
        let items: Vec<&str> = match &node.value {
            Value::List(items) => {
                items.iter().map(|item| text(item, "a text")).collect::<Result<_, _>>()?
            }
            // A variable: one text, with commas.
            Value::Text(text) if node.line == 0 => text.split(',').map(str::trim).collect(),
            _ => return Err(format!("expected {expected}, got {}", node.kind())),
        };
        // An empty list would let everybody through, which is never what was meant here.
        if items.is_empty() {
            return Err(format!("expected {expected}; leave the key out to allow everybody"));
        }
        for item in &items {
            let domain = item.rsplit_once('@').map(|(_, domain)| domain);
            if domain.is_none_or(str::is_empty) || item.contains(char::is_whitespace) {
                return Err(format!("`{item}` is neither an address nor an @domain"));
            }
        }
        Ok(Self(items.iter().map(|item| item.to_lowercase()).collect()))
    }

    fn show(&self) -> String {
        self.0.join(", ")
    }
}
