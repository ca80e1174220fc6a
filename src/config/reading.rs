//! What is gathered while a configuration is read: values with their origin, and mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::domain::text::visible;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    File { line: usize },
    Variable(String),
    Flag(&'static str),
    Default,
}

/// One value as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The dotted path: `smtp.relay.port`.
    pub key: String,
    pub value: String,
    /// `ittsu.toml:12`, `ITTSU_LEDGER`, `--ledger` or `default`.
    pub origin: String,
}

/// One mistake, or one thing to look at, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// `ittsu.toml:12`, or the name of a variable or flag.
    pub place: String,
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, visible(&self.what))
    }
}

/// A value that was given, or stands by default.
#[derive(Clone, Debug)]
pub(super) struct Given<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

pub(super) struct Reading<'a> {
    file: Option<&'a Path>,
    /// What relative paths are relative to.
    pub(super) folder: PathBuf,
    variables: &'a BTreeMap<String, String>,
    used: BTreeSet<String>,
    pub(super) shown: Vec<Shown>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

/// Variables that are no settings of the file.
const OTHER_VARIABLES: &[&str] = &[
    "ITTSU_ASCII",
    "ITTSU_CONFIG",
    "ITTSU_LANG",
    "ITTSU_OPERATOR",
    "ITTSU_STATE_DIR",
    "ITTSU_THEME",
    "ITTSU_WIDTH",
];

impl<'a> Reading<'a> {
    pub(super) fn new(
        file: Option<&'a Path>,
        folder: PathBuf,
        variables: &'a BTreeMap<String, String>,
    ) -> Self {
        Self {
            file,
            folder,
            variables,
            used: BTreeSet::new(),
            shown: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the variable that overrules `key`, as in `ITTSU_SMTP__RELAY__PORT`.
    pub(super) fn variable(&mut self, key: &str) -> Option<(String, &'a str)> {
        let name = format!("ITTSU_{}", key.to_uppercase().replace('.', "__").replace('-', "_"));
        let value = self.variables.get(&name)?;
        self.used.insert(name.clone());
        Some((name, value))
    }

    pub(super) fn show(&mut self, key: String, value: String, origin: &Origin) {
        let origin = self.place(origin);
        self.shown.push(Shown { key, value, origin });
    }

    pub(super) fn problem(&mut self, origin: &Origin, what: impl Into<String>) {
        let place = self.place(origin);
        self.problems.push(Problem { place, what: what.into() });
    }

    pub(super) fn warn(&mut self, origin: &Origin, what: impl Into<String>) {
        let place = self.place(origin);
        self.warnings.push(Problem { place, what: what.into() });
    }

    /// Warns of variables that look like settings and are none: a mistyped one would be ignored.
    pub(super) fn unused_variables(&mut self) {
        let unused: Vec<_> = self
            .variables
            .keys()
            .filter(|name| name.starts_with("ITTSU_"))
            .filter(|name| !name.starts_with("ITTSU_TEST_") && !name.starts_with("ITTSU_FAIL_"))
            .filter(|name| !self.used.contains(*name) && !OTHER_VARIABLES.contains(&name.as_str()))
            .cloned()
            .collect();
        for name in unused {
            self.warn(&Origin::Variable(name), "this variable sets nothing");
        }
    }

    fn place(&self, origin: &Origin) -> String {
        match origin {
            Origin::File { line } => {
                let file = self.file.unwrap_or(Path::new("configuration"));
                format!("{}:{line}", file.display())
            }
            Origin::Variable(name) => name.clone(),
            Origin::Flag(name) => (*name).to_owned(),
            Origin::Default => "default".to_owned(),
        }
    }
}
