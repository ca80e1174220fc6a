//! The queue and the lookup of a kind: where its jobs come from, and what belongs to an id.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use super::database::{DatabaseUrl, hide_password};
use super::document::Node;
use super::reading::Reading;
use super::section::Section;
use super::setting::{Setting, one_of, text};
use crate::domain::span::Span;
use crate::domain::state::words;

/// Where jobs of a kind come from; a password in it is never printed.
#[derive(Clone)]
pub struct QueueUrl {
    /// Without what is ours.
    url: SecretString,
    pub shape: Shape,
    /// A job that was taken and not done for so long is taken over.
    pub idle: Duration,
}

/// How jobs lie in Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Stream { stream: String, group: String },
    List { list: String },
}

/// Where address and fields of an id are found.
#[derive(Clone, Debug)]
pub struct Lookup {
    pub database: DatabaseUrl,
    pub sql: String,
    pub ids: Ids,
}

words! {
    /// What ids are in the shop's database.
    Ids {
        Integer = "integer",
        Text = "text",
    }
}

words! {
    /// What a new job for an order that failed does.
    Again {
        /// Nothing: a person resends it.
        Leave = "leave",
        /// It is sent again, if it failed by a clear no.
        Retry = "retry",
    }
}

one_of! {
    Ids;
    Again;
}

impl QueueUrl {
    /// Returns the address with its password, for the one who connects.
    pub const fn expose(&self) -> &SecretString {
        &self.url
    }
}

impl fmt::Display for QueueUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = hide_password(self.url.expose_secret());
        match &self.shape {
            Shape::Stream { stream, group } => write!(f, "{url}?stream={stream}&group={group}"),
            Shape::List { list } => write!(f, "{url}?list={list}"),
        }
    }
}

impl fmt::Debug for QueueUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueueUrl({self})")
    }
}

const EXPECTED: &str = "redis://HOST/0?stream=NAME&group=NAME, or redis://HOST/0?list=NAME";

impl Setting for QueueUrl {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let whole = text(node, EXPECTED)?;
        let wrong = || format!("expected {EXPECTED}, got `{}`", hide_password(whole));
        if !whole.starts_with("redis://") {
            return Err(wrong());
        }
        let (url, query) = whole.split_once('?').ok_or_else(wrong)?;
        let (mut stream, mut group, mut list, mut idle) = (None, None, None, None);
        for part in query.split('&') {
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let place = match name {
                "stream" => &mut stream,
                "group" => &mut group,
                "list" => &mut list,
                "idle" => &mut idle,
                other => return Err(format!("`{other}` is not known; expected {EXPECTED}")),
            };
            *place = Some(value.to_owned()).filter(|value| !value.is_empty());
        }
        let shape = match (stream, group, list) {
            (Some(stream), group, None) => {
                Shape::Stream { stream, group: group.unwrap_or_else(|| "ittsu".to_owned()) }
            }
            (None, None, Some(list)) => Shape::List { list },
            _ => return Err(wrong()),
        };
        let idle = match idle {
            None => Duration::from_mins(1),
            Some(idle) => {
                let span: Span = idle.parse().map_err(|err| format!("`idle`: {err}"))?;
                span.0.max(Duration::from_millis(100))
            }
        };
        Ok(Self { url: SecretString::from(url.to_owned()), shape, idle })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Lookup {
    pub(super) fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if !section.is_there() {
            return None;
        }
        let database =
            section.need::<DatabaseUrl>(reading, "database", "\"postgres://USER@HOST/NAME\"");
        let example = "\"select id as key, email as address, name from orders where id in (:ids)\"";
        let sql = section.need::<String>(reading, "sql", example);
        let ids = section.take_or(reading, "ids", Ids::Text).value;
        if let Some(sql) = &sql
            && !sql.value.contains(":ids")
        {
            let what = format!(
                "`{}`: expected `:ids` where the list of ids belongs, as in where id in (:ids)",
                section.key("sql")
            );
            reading.problem(&sql.origin, what);
        }
        section.finish(reading);
        Some(Self { database: database?.value, sql: sql?.value, ids })
    }
}

/// The pattern of a batch's name, with `{date}` for the day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub String);

impl Pattern {
    /// Returns the name for a day.
    pub fn on(&self, date: &str) -> String {
        self.0.replace("{date}", date)
    }
}

impl Setting for Pattern {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a name with the day in it, such as \"order-{date}\"";
        let pattern = Self(text(node, expected)?.to_owned());
        if !pattern.0.contains("{date}") {
            return Err(format!("expected {expected}, got `{}`", pattern.0));
        }
        let name = pattern.on("2026-11-30");
        match name.parse::<crate::domain::name::BatchName>() {
            Ok(_) => Ok(pattern),
            Err(err) => Err(format!("expected {expected}: {err}")),
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}
