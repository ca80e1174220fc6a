//! What is set, and where each value comes from.
//!
//! Promise: a mistake is refused with file, line, key and what was expected, all mistakes at once;
//! a secret never stands in the file and is never printed; a relative path is relative to the
//! file.
//! Absent on purpose: nothing is connected to, and no secret is fetched before it is needed.
//! Start reading at `Settings`, then `section`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;

use crate::domain::state::words;

pub mod catalogue;
pub mod check;
pub mod database;
pub mod http;
pub mod init;
pub mod kind;
pub mod locate;
pub mod query;
pub mod queue;
pub mod secret;
pub mod transport;
pub mod worker;

mod document;
mod reading;
mod section;
mod setting;

pub use database::DatabaseUrl;
pub use http::Http;
pub use kind::Kind;
pub use query::Query;
pub use reading::{Origin, Problem, Shown};
pub use secret::Secret;
pub use transport::{Folder, Smtp, Transport};
pub use worker::Worker;

use reading::Reading;
use section::Section;
use setting::{OnlyTo, Zone};

words! {
    /// A language of the words that people read.
    Language {
        En = "en",
        Ja = "ja",
        Ko = "ko",
    }
}

/// Everything that is set, read and checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    pub ledger: DatabaseUrl,
    /// Shown on every screen and in every dialog, as in PRODUCTION.
    pub label: Option<String>,
    pub timezone: TimeZone,
    pub language: Language,
    /// Only these addresses (`a@example.jp`) or domains (`@example.jp`); empty: everybody.
    pub only_to: Vec<String>,
    pub worker: Worker,
    /// By the name that a kind's `via` gives: `smtp.relay`, `folder.rehearsal`.
    pub transports: BTreeMap<String, Transport>,
    pub kinds: BTreeMap<String, Kind>,
    pub queries: BTreeMap<String, Query>,
    /// Each value and where it comes from, in the order of the file; secrets as `***`.
    pub shown: Vec<Shown>,
    /// What works, but should be looked at.
    pub warnings: Vec<Problem>,
}

/// What the caller brings: flags, variables and the place where it stands.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `--config`.
    pub file: Option<PathBuf>,
    /// `--ledger`; a relative file is relative to `here`.
    pub ledger: Option<String>,
    /// `--lang`.
    pub language: Option<Language>,
    pub variables: BTreeMap<String, String>,
    /// The working directory.
    pub here: PathBuf,
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("there is no configuration file {}", .0.display())]
    NoFile(PathBuf),
    #[error("the configuration file {} cannot be read", .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    #[error("the configuration is wrong: {}", Problems(.0))]
    Wrong(Vec<Problem>),
}

struct Problems<'a>(&'a [Problem]);

impl fmt::Display for Problems<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for problem in self.0 {
            write!(f, "{separator}{problem}")?;
            separator = "; ";
        }
        Ok(())
    }
}

impl Settings {
    /// Finds, reads and checks the configuration.
    pub fn load(request: &Request) -> Result<Self, ConfigError> {
        let Some(file) = locate::find(request)? else {
            return Self::read(request, None, "");
        };
        let bytes =
            std::fs::read(&file).map_err(|err| ConfigError::Unreadable(file.clone(), err))?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(err) => {
                let err = std::io::Error::new(std::io::ErrorKind::InvalidData, err.utf8_error());
                return Err(ConfigError::Unreadable(file, err));
            }
        };
        Self::read(request, Some(&file), &text)
    }

    /// Reads and checks a configuration that is given as text.
    pub fn read(request: &Request, file: Option<&Path>, text: &str) -> Result<Self, ConfigError> {
        let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let folder = request.here.join(folder.unwrap_or(Path::new("")));
        let mut reading = Reading::new(file, folder, &request.variables);
        let root = match document::parse(text) {
            Ok(root) => root,
            Err((line, message)) => {
                reading.problem(&Origin::File { line }, message);
                return Err(ConfigError::Wrong(reading.problems));
            }
        };
        let settings = Self::from_root(request, file, Section::root(&root), &mut reading);
        match settings {
            Some(mut settings) if reading.problems.is_empty() => {
                settings.shown = reading.shown;
                settings.warnings = reading.warnings;
                settings.warnings.extend(settings.exposed_file());
                Ok(settings)
            }
            _ => Err(ConfigError::Wrong(reading.problems)),
        }
    }

    /// Reads the whole tree, so that every mistake is found; `None` if a needed value is missing.
    fn from_root(
        request: &Request,
        file: Option<&Path>,
        mut root: Section<'_>,
        reading: &mut Reading<'_>,
    ) -> Option<Self> {
        let ledger = database::ledger(request, &mut root, reading);
        let label = root.take::<String>(reading, "label");
        let zone = root.take::<Zone>(reading, "timezone");
        let timezone = zone.map_or_else(|| setting::system_zone(reading), |zone| zone.value.0);
        let language = match request.language {
            Some(language) => {
                root.overrule(reading, "language", "--lang", language.as_str());
                language
            }
            None => root.take_or(reading, "language", Language::En).value,
        };
        let only_to = root.take::<OnlyTo>(reading, "only_to");
        let worker = Worker::read(root.section("worker"), reading);
        let transports = transport::read_all(&mut root, reading);
        let queries = query::read_all(&mut root, reading);
        let kinds = kind::read_all(&mut root, reading, &transports, &timezone);
        root.finish(reading);
        reading.unused_variables();
        Some(Self {
            file: file.map(Path::to_path_buf),
            ledger: ledger?,
            label: label.map(|label| label.value),
            timezone,
            language,
            only_to: only_to.map(|only| only.value.0).unwrap_or_default(),
            worker,
            transports,
            kinds,
            queries,
            shown: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Returns the known word that looks most like `word`, if one does.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let word = word.to_lowercase();
    known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(&word, known), *known))
        .filter(|(distance, known)| *distance <= known.chars().count().div_ceil(3))
        .min()
        .map(|(_, known)| known)
}
