//! `[http.NAME]`: a mail company's API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Uri;
use serde_json::Value as Json;

use super::document::{Node, Value};
use super::reading::Reading;
use super::secret::Secret;
use super::section::Section;
use super::setting::{Setting, text};
use super::transport::{Shared, is_this_machine};
use crate::domain::span::Span;

/// A mail company's API.
#[derive(Clone, Debug)]
pub struct Http {
    pub method: String,
    pub url: String,
    pub allow_plaintext: bool,
    /// The only authorities that are trusted, instead of the system's.
    pub ca: Option<PathBuf>,
    pub headers: Vec<(String, Header)>,
    /// The request's body with its placeholders.
    pub body: String,
    /// A JSON pointer to the provider's id in the answer.
    pub id: Option<String>,
    /// Where yes or no stands in an answer of class 2.
    pub accepted: Option<Accepted>,
    /// Answers of class 5 of which the provider promises that nothing was taken.
    pub not_accepted: Vec<u16>,
    /// The header that takes a key, and how long the provider remembers one.
    pub idempotency: Option<(String, Duration)>,
    pub deadlines: Deadlines,
    pub shared: Shared,
}

/// The value of a header: plain, or a secret with something in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    Plain(String),
    Secret { prefix: String, secret: Secret },
}

/// A JSON pointer and the value there that means yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub pointer: String,
    pub is: Json,
}

/// How long each step of a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub connect: Duration,
    pub body: Duration,
    pub answer: Duration,
}

impl Http {
    /// Reports whether what is sent says that it is JSON, as it does when nothing else is said.
    pub fn sends_json(&self) -> bool {
        let said = self.headers.iter().find(|(name, _)| name == "content-type");
        match said {
            Some((_, Header::Plain(form))) => form.contains("json"),
            Some((_, Header::Secret { .. })) => false,
            None => true,
        }
    }

    pub(super) fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let method = section.take_or(reading, "method", Method("POST".to_owned())).value.0;
        let url = section.need::<Url>(reading, "url", "\"https://api.mail.example/v1/send\"");
        let allow_plaintext = section.take_or(reading, "allow_plaintext", false).value;
        let ca = section.take::<PathBuf>(reading, "ca").map(|ca| ca.value);
        let headers = section.take::<Headers>(reading, "headers").map(|headers| headers.value.0);
        let body = section.need::<String>(reading, "body", "'{\"to\": {{ address | tojson }}}'");
        let id = section.take::<Pointer>(reading, "id").map(|id| id.value.0);
        let accepted = section.take::<Accepted>(reading, "accepted").map(|accepted| accepted.value);
        let not_accepted = section.take::<Statuses>(reading, "not_accepted");
        let idempotency = read_idempotency(&mut section, reading);
        let deadlines = Deadlines::read(section.section("deadlines"), reading);
        let shared = Shared::read(&mut section, reading);
        if let Some(url) = &url
            && !url.value.is_secure()
            && !is_this_machine(url.value.host())
            && !allow_plaintext
        {
            let what = format!(
                "`{}`: mails and the key of the API would travel in plain text to {}; expected \
                 https://, or allow_plaintext = true",
                section.key("url"),
                url.value.host()
            );
            reading.problem(&url.origin, what);
        }
        section.finish(reading);
        Some(Self {
            method,
            url: url?.value.0.to_string(),
            allow_plaintext,
            ca,
            headers: headers.unwrap_or_default(),
            body: body?.value,
            id,
            accepted,
            not_accepted: not_accepted.map(|statuses| statuses.value.0).unwrap_or_default(),
            idempotency,
            deadlines,
            shared,
        })
    }
}

fn read_idempotency(
    section: &mut Section<'_>,
    reading: &mut Reading<'_>,
) -> Option<(String, Duration)> {
    let wrong = reading.problems.len();
    let header = section.take::<HeaderName>(reading, "idempotency_header");
    let window = section.take::<Span>(reading, "idempotency_window");
    match (header, window) {
        (Some(header), Some(window)) => Some((header.value.0, window.value.0)),
        (Some(one), None) if reading.problems.len() == wrong => {
            let what = format!(
                "`{}` has no idempotency_window beside it, as in idempotency_window = \"24h\": how \
                 long the provider remembers a key",
                section.key("idempotency_header")
            );
            reading.problem(&one.origin, what);
            None
        }
        (None, Some(one)) if reading.problems.len() == wrong => {
            let what = format!(
                "`{}` has no idempotency_header beside it",
                section.key("idempotency_window")
            );
            reading.problem(&one.origin, what);
            None
        }
        _ => None,
    }
}

impl Deadlines {
    fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Self {
        let span = |seconds| Span(Duration::from_secs(seconds));
        let mut take = |name, seconds| section.take_or(reading, name, span(seconds));
        let connect = take("connect", 30).value.0;
        let body = take("body", 60).value.0;
        let answer = take("answer", 120);
        if answer.value < span(10) {
            let what = format!(
                "`{}` = {}: with less than 10s more mails end up unknown, and may be sent twice or \
                 not at all",
                section.key("answer"),
                answer.value
            );
            reading.warn(&answer.origin, what);
        }
        section.finish(reading);
        Self { connect, body, answer: answer.value.0 }
    }
}

/// A method that carries a body.
#[derive(Clone, Debug)]
struct Method(String);

impl Setting for Method {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "POST, PUT or PATCH";
        match text(node, expected)? {
            method @ ("POST" | "PUT" | "PATCH") => Ok(Self(method.to_owned())),
            other => Err(format!("expected {expected}, got `{other}`")),
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// The address of an API.
#[derive(Clone, Debug)]
struct Url(Uri);

impl Url {
    fn is_secure(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }
}

impl Setting for Url {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "an address such as \"https://api.mail.example/v1/send\"";
        let text = text(node, expected)?;
        let url: Uri = text.parse().map_err(|_err| format!("expected {expected}, got `{text}`"))?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none() {
            return Err(format!("expected {expected}, got `{text}`"));
        }
        if url.authority().is_some_and(|place| place.as_str().contains('@')) {
            return Err("a password never stands in the file; put it into `headers`, as in \
                        authorization = { env = \"NAME\", prefix = \"Basic \" }"
                .to_owned());
        }
        Ok(Self(url))
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// Every header of the request by its name in lower case.
#[derive(Clone, Debug)]
struct Headers(Vec<(String, Header)>);

impl Setting for Headers {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        let Value::Table(entries) = &node.value else {
            return Err(format!("expected a table, got {}", node.kind()));
        };
        let mut headers = Vec::new();
        for (name, node) in entries {
            let name = header_name(name)?;
            let ours = ["host", "content-length", "transfer-encoding", "connection", "expect"];
            if ours.contains(&name.as_str()) {
                return Err(format!("`{name}` is written by ittsu itself; leave it out"));
            }
            let value = Header::read(node, folder).map_err(|why| format!("`{name}`: {why}"))?;
            headers.push((name, value));
        }
        Ok(Self(headers))
    }

    fn show(&self) -> String {
        let shown = self.0.iter().map(|(name, value)| match value {
            Header::Plain(value) => format!("{name}: {value}"),
            Header::Secret { prefix, secret } => format!("{name}: {prefix}{secret}"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

impl Header {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        let Value::Table(entries) = &node.value else {
            let value = text(node, "a text, or { env = \"NAME\", prefix = \"Bearer \" }")?;
            if value.chars().any(char::is_control) {
                return Err("a header holds no line break".to_owned());
            }
            return Ok(Self::Plain(value.to_owned()));
        };
        let (prefix, place): (Vec<_>, Vec<_>) =
            entries.iter().cloned().partition(|(name, _)| name == "prefix");
        let prefix = match prefix.first() {
            Some((_, node)) => text(node, "a text")?.to_owned(),
            None => String::new(),
        };
        let place = Node { value: Value::Table(place), line: node.line };
        Ok(Self::Secret { prefix, secret: Secret::read(&place, folder)? })
    }
}

/// The name of one header.
#[derive(Clone, Debug)]
struct HeaderName(String);

impl Setting for HeaderName {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        header_name(text(node, "the name of a header")?).map(Self)
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

fn header_name(name: &str) -> Result<String, String> {
    match hyper::header::HeaderName::from_bytes(name.as_bytes()) {
        Ok(name) => Ok(name.as_str().to_owned()),
        Err(_) => Err(format!("`{name}` is no name of a header")),
    }
}

/// A place within a JSON answer.
#[derive(Clone, Debug)]
struct Pointer(String);

impl Setting for Pointer {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a JSON pointer such as \"/id\"";
        let text = text(node, expected)?;
        if !text.starts_with('/') {
            return Err(format!("expected {expected}, got `{text}`"));
        }
        Ok(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Setting for Accepted {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        let expected = "{ pointer = \"/header/isSuccessful\", is = true }";
        let Value::Table(entries) = &node.value else {
            return Err(format!("expected {expected}, got {}", node.kind()));
        };
        let at = |name| entries.iter().find(|(key, _)| key == name).map(|(_, node)| node);
        let (Some(pointer), Some(is), 2) = (at("pointer"), at("is"), entries.len()) else {
            return Err(format!("expected {expected}"));
        };
        let is = match &is.value {
            Value::Text(text) => Json::from(text.as_str()),
            Value::Number(number) => Json::from(*number),
            Value::Truth(truth) => Json::from(*truth),
            _ => {
                return Err(format!(
                    "`is`: expected a text, a number, true or false in {expected}"
                ));
            }
        };
        Ok(Self { pointer: Pointer::read(pointer, folder)?.0, is })
    }

    fn show(&self) -> String {
        format!("{} is {}", self.pointer, self.is)
    }
}

/// Statuses that say "not now".
#[derive(Clone, Debug)]
struct Statuses(Vec<u16>);

impl Setting for Statuses {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a list of statuses from 500 to 599, such as [503]";
        let Value::List(items) = &node.value else {
            return Err(format!("expected {expected}, got {}", node.kind()));
        };
        let one = |node: &Node| match node.value {
            Value::Number(number @ 500..=599) => u16::try_from(number).ok(),
            _ => None,
        };
        let statuses: Option<Vec<u16>> = items.iter().map(one).collect();
        statuses.map(Self).ok_or_else(|| format!("expected {expected}"))
    }

    fn show(&self) -> String {
        format!("{:?}", self.0)
    }
}
