//! What a look at the files around the configuration shows; nothing is connected to.

use std::path::Path;

use secrecy::ExposeSecret as _;

use super::http::{Header, Http};
use super::secret::{Secret, is_open_to_all};
use super::{Problem, Settings, Transport};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Sending cannot work like this.
    Stop,
    /// It works, but a person should look.
    Look,
}

/// One thing that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub severity: Severity,
    pub problem: Problem,
}

impl Settings {
    /// Looks at every file and variable that the settings name.
    pub fn look(&self) -> Vec<Finding> {
        let mut findings = Findings { settings: self, found: Vec::new() };
        for problem in &self.warnings {
            findings.found.push(Finding { severity: Severity::Look, problem: problem.clone() });
        }
        for (name, transport) in &self.transports {
            findings.transport(name, transport);
        }
        for (name, kind) in &self.kinds {
            let key = format!("kinds.{name}.template");
            match &kind.template {
                Some(path) => findings.file(&key, path),
                None => findings.add(
                    Severity::Look,
                    &format!("kinds.{name}.via"),
                    format!("[kinds.{name}] has no template: every batch must bring its own"),
                ),
            }
            if let Some(dkim) = &kind.dkim {
                let key = format!("kinds.{name}.dkim.key");
                findings.file(&key, &dkim.key);
                findings.closed(&key, &dkim.key);
            }
        }
        if let Some(file) = self.ledger.file() {
            findings.closed("ledger", &file);
        }
        findings.found
    }

    /// Returns the file, line, variable or flag that set `key`.
    pub fn place_of(&self, key: &str) -> &str {
        let shown = self.shown.iter().find(|shown| shown.key == key);
        shown.map_or("default", |shown| &shown.origin)
    }

    /// Names a file that everybody may read although a password stands in it.
    pub(super) fn exposed_file(&self) -> Option<Problem> {
        let file = self.file.as_deref().filter(|file| is_open_to_all(file))?;
        let in_file = |key: &str| self.place_of(key).starts_with(&*file.display().to_string());
        let queries = self.queries.iter().map(|(name, query)| {
            (format!("queries.{name}.database"), query.database.holds_password())
        });
        let queues = self.kinds.iter().map(|(name, kind)| {
            let holds = kind.queue.as_ref().is_some_and(|queue| {
                super::database::hide_password(queue.expose().expose_secret())
                    != queue.expose().expose_secret()
            });
            (format!("kinds.{name}.queue"), holds)
        });
        let lookups = self.kinds.iter().map(|(name, kind)| {
            let holds = kind.lookup.as_ref().is_some_and(|look| look.database.holds_password());
            (format!("kinds.{name}.lookup.database"), holds)
        });
        let holds = [("ledger".to_owned(), self.ledger.holds_password())]
            .into_iter()
            .chain(queries)
            .chain(queues)
            .chain(lookups)
            .find(|(key, holds)| *holds && in_file(key))?;
        Some(Problem {
            place: self.place_of(&holds.0).to_owned(),
            what: format!(
                "a password stands here and everybody on this machine can read it: chmod 600 {}",
                file.display()
            ),
        })
    }
}

struct Findings<'a> {
    settings: &'a Settings,
    found: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, severity: Severity, key: &str, what: String) {
        let place = self.settings.place_of(key).to_owned();
        self.found.push(Finding { severity, problem: Problem { place, what } });
    }

    fn transport(&mut self, name: &str, transport: &Transport) {
        let smtp = match transport {
            Transport::Smtp(smtp) => smtp,
            Transport::Http(http) => return self.http(name, http),
            Transport::Folder(_) => return,
        };
        if let Some(ca) = &smtp.ca {
            self.file(&format!("{name}.ca"), ca);
        }
        if let Some((_, password)) = &smtp.login {
            let key = format!("{name}.password");
            if let Some(why) = password.looks_missing() {
                self.add(Severity::Stop, &key, format!("`{key}`: {why}"));
            }
            if let Secret::File(path) = password {
                self.closed(&key, path);
            }
        }
    }

    fn http(&mut self, name: &str, http: &Http) {
        if let Some(ca) = &http.ca {
            self.file(&format!("{name}.ca"), ca);
        }
        let key = format!("{name}.headers");
        for (_, header) in &http.headers {
            let Header::Secret { secret, .. } = header else { continue };
            if let Some(why) = secret.looks_missing() {
                self.add(Severity::Stop, &key, format!("`{key}`: {why}"));
            }
            if let Secret::File(path) = secret {
                self.closed(&key, path);
            }
        }
    }

    /// Looks whether a file can be read.
    fn file(&mut self, key: &str, path: &Path) {
        if let Err(err) = std::fs::File::open(path) {
            let what = format!("`{key}`: {} cannot be read: {err}", path.display());
            self.add(Severity::Stop, key, what);
        }
    }

    /// Looks whether a private file is private.
    fn closed(&mut self, key: &str, path: &Path) {
        if is_open_to_all(path) {
            let path = path.display();
            let what =
                format!("`{key}`: everybody on this machine can read {path}: chmod 600 {path}");
            self.add(Severity::Look, key, what);
        }
    }
}
