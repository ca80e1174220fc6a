//! `[smtp.NAME]`, `[http.NAME]` and `[folder.NAME]`: the ways mail leaves.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::document::Node;
use super::http::Http;
use super::reading::{Given, Origin, Reading};
use super::secret::Secret;
use super::section::Section;
use super::setting::{Setting, one_of, text};
use crate::domain::rate::Rate;
use crate::domain::span::Span;
use crate::domain::state::words;

/// One way out, with what all workers share about it.
#[derive(Clone, Debug)]
pub enum Transport {
    Smtp(Box<Smtp>),
    Http(Box<Http>),
    Folder(Folder),
}

/// A relay.
#[derive(Clone, Debug)]
pub struct Smtp {
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    pub allow_plaintext: bool,
    /// The only authorities that are trusted, instead of the system's.
    pub ca: Option<PathBuf>,
    pub login: Option<(String, Secret)>,
    /// What we call ourselves; none: the machine's name.
    pub ehlo_name: Option<String>,
    pub deadlines: Deadlines,
    pub shared: Shared,
}

/// Writes `.eml` files instead of sending, for rehearsals.
#[derive(Clone, Debug)]
pub struct Folder {
    pub path: PathBuf,
    pub shared: Shared,
}

/// What all workers together keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    pub connections: u32,
    pub messages_per_connection: u32,
    pub rate: Option<Rate>,
}

words! {
    /// How a connection is protected.
    Tls {
        /// TLS from the first byte.
        Implicit = "implicit",
        /// STARTTLS, required.
        StartTls = "starttls",
        /// Plain text.
        None = "none",
    }
}

one_of! {
    Tls;
}

/// How long each step may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    pub connect: Duration,
    pub greeting: Duration,
    pub command: Duration,
    pub data: Duration,
    pub body: Duration,
    pub answer: Duration,
}

impl Transport {
    /// Returns what all workers together keep to.
    pub const fn shared(&self) -> Shared {
        match self {
            Self::Smtp(smtp) => smtp.shared,
            Self::Http(http) => http.shared,
            Self::Folder(folder) => folder.shared,
        }
    }
}

pub(super) fn read_all(
    root: &mut Section<'_>,
    reading: &mut Reading<'_>,
) -> BTreeMap<String, Transport> {
    let mut transports = BTreeMap::new();
    for (name, section) in root.sections(reading, "smtp") {
        if let Some(smtp) = Smtp::read(section, reading) {
            transports.insert(format!("smtp.{name}"), Transport::Smtp(Box::new(smtp)));
        }
    }
    for (name, section) in root.sections(reading, "http") {
        if let Some(http) = Http::read(section, reading) {
            transports.insert(format!("http.{name}"), Transport::Http(Box::new(http)));
        }
    }
    for (name, mut section) in root.sections(reading, "folder") {
        let path = section.need::<PathBuf>(reading, "path", "\"rehearsal\"");
        let shared = Shared::read(&mut section, reading);
        section.finish(reading);
        if let Some(path) = path {
            let folder = Folder { path: path.value, shared };
            transports.insert(format!("folder.{name}"), Transport::Folder(folder));
        }
    }
    transports
}

impl Shared {
    pub(super) fn read(section: &mut Section<'_>, reading: &mut Reading<'_>) -> Self {
        let connections = section.take_or::<u32>(reading, "connections", 8);
        if connections.value > 1_000 {
            let what = format!("`{}`: expected at most 1000", section.key("connections"));
            reading.problem(&connections.origin, what);
        }
        Self {
            connections: connections.value,
            messages_per_connection: section
                .take_or::<u32>(reading, "messages_per_connection", 100)
                .value,
            rate: section.take::<Rate>(reading, "rate").map(|rate| rate.value),
        }
    }
}

impl Smtp {
    fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let host = section.need::<Host>(reading, "host", "\"mail.example.com\"");
        let port = section.take::<u16>(reading, "port");
        let implied = if port.as_ref().is_some_and(|port| port.value == 465) {
            Tls::Implicit
        } else {
            Tls::StartTls
        };
        let tls = section.take_or(reading, "tls", implied);
        let port = port.unwrap_or_else(|| default_port(&section, reading, tls.value));
        let allow_plaintext = section.take_or(reading, "allow_plaintext", false).value;
        let ca = section.take::<PathBuf>(reading, "ca").map(|ca| ca.value);
        let login = read_login(&mut section, reading);
        let ehlo_name = section.take::<Host>(reading, "ehlo_name").map(|name| name.value.0);
        let deadlines = Deadlines::read(section.section("deadlines"), reading);
        let shared = Shared::read(&mut section, reading);
        let Some(host) = host else {
            section.finish(reading);
            return None;
        };
        let smtp = Self {
            host: host.value.0,
            port: port.value,
            tls: tls.value,
            allow_plaintext,
            ca,
            login,
            ehlo_name,
            deadlines,
            shared,
        };
        smtp.check(&section, reading, &port.origin, &tls.origin);
        section.finish(reading);
        Some(smtp)
    }

    /// Refuses what cannot work, or would show mail or a password to others.
    fn check(&self, section: &Section<'_>, reading: &mut Reading<'_>, port: &Origin, tls: &Origin) {
        // The line that a person wrote, not the one that follows from it.
        let place = if *tls == Origin::Default { port } else { tls };
        let name = section.key("tls");
        match (self.port, self.tls) {
            (465, Tls::StartTls | Tls::None) => {
                let what = format!(
                    "`{name}` = {}: port 465 speaks TLS from the first byte; expected \
                     tls = \"implicit\"",
                    self.tls
                );
                reading.problem(place, what);
            }
            (25 | 587, Tls::Implicit) => {
                let what = format!(
                    "`{name}` = implicit: port {} begins in plain text; expected \
                     tls = \"starttls\", or port = 465",
                    self.port
                );
                reading.problem(place, what);
            }
            _ => {}
        }
        if self.tls != Tls::None || is_this_machine(&self.host) {
            return;
        }
        if self.login.is_some() {
            let what = format!(
                "`{name}` = none: a password would travel in plain text to {}; expected \
                 tls = \"starttls\" or \"implicit\"",
                self.host
            );
            reading.problem(place, what);
        } else if !self.allow_plaintext {
            let what = format!(
                "`{name}` = none: mail would travel in plain text to {}; expected \
                 tls = \"starttls\" or \"implicit\", or allow_plaintext = true",
                self.host
            );
            reading.problem(place, what);
        }
    }
}

/// Reports whether `host` can only be the machine we are on.
pub fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn default_port(section: &Section<'_>, reading: &mut Reading<'_>, tls: Tls) -> Given<u16> {
    let port = match tls {
        Tls::Implicit => 465,
        Tls::StartTls => 587,
        Tls::None => 25,
    };
    reading.show(section.key("port"), port.to_string(), &Origin::Default);
    Given { value: port, origin: Origin::Default }
}

fn read_login(section: &mut Section<'_>, reading: &mut Reading<'_>) -> Option<(String, Secret)> {
    let wrong = reading.problems.len();
    let user = section.take::<String>(reading, "user");
    let password = section.take::<Secret>(reading, "password");
    match (user, password) {
        (Some(user), Some(password)) => Some((user.value, password.value)),
        (Some(one), None) if reading.problems.len() == wrong => {
            let what = format!("`{}` has no password beside it", section.key("user"));
            reading.problem(&one.origin, what);
            None
        }
        (None, Some(one)) if reading.problems.len() == wrong => {
            let what = format!("`{}` has no user beside it", section.key("password"));
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
        let greeting = take("greeting", 5 * 60).value.0;
        let command = take("command", 5 * 60).value.0;
        let data = take("data", 2 * 60).value.0;
        let body = take("body", 3 * 60).value.0;
        let answer = take("answer", 10 * 60);
        if answer.value < span(5 * 60) {
            let what = format!(
                "`{}` = {}: servers may take 10 minutes after the final dot; with less than 5m more \
                 mails end up unknown, and may be sent twice or not at all",
                section.key("answer"),
                answer.value
            );
            reading.warn(&answer.origin, what);
        }
        section.finish(reading);
        Self { connect, greeting, command, data, body, answer: answer.value.0 }
    }
}

/// A host's name or address.
#[derive(Clone, Debug)]
struct Host(String);

impl Setting for Host {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a host such as \"mail.example.com\"";
        let text = text(node, expected)?;
        let strange = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '@');
        if text.is_empty() || text.contains(strange) {
            return Err(format!("expected {expected}, got `{text}`"));
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') && port.parse::<u16>().is_ok() => {
                Err(format!("expected a host alone; write port = {port} in a line of its own"))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}
