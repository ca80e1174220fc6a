//! Checks everything and says what to do; sends nothing and changes nothing but a probe file.

mod ledger;
mod routes;

use std::io;
use std::path::Path;

use rustix::fs::{statfs, statvfs};
use serde::Serialize;

use super::Ops;
use crate::config::Settings;
use crate::config::check::Severity;
use crate::dispatch::state_dir::StateDir;

/// `ittsu/doctor/1`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DoctorBody {
    pub ok: usize,
    pub look: usize,
    pub stop: usize,
    pub checks: Vec<CheckBody>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckBody {
    /// What was looked at: `configuration`, `ledger`, `smtp.relay` ...
    pub what: String,
    pub state: State,
    pub says: String,
    /// What the person can do.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// It works, but a person should look.
    Look,
    /// Sending cannot work like this.
    Stop,
}

impl DoctorBody {
    pub fn add(
        &mut self,
        what: &str,
        state: State,
        says: impl Into<String>,
        advice: Option<String>,
    ) {
        match state {
            State::Ok => self.ok += 1,
            State::Look => self.look += 1,
            State::Stop => self.stop += 1,
        }
        let says = says.into();
        self.checks.push(CheckBody { what: what.to_owned(), state, says, advice });
    }

    fn ok(&mut self, what: &str, says: impl Into<String>) {
        self.add(what, State::Ok, says, None);
    }

    fn look(&mut self, what: &str, says: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Look, says, Some(advice.into()));
    }

    fn stop(&mut self, what: &str, says: impl Into<String>, advice: impl Into<String>) {
        self.add(what, State::Stop, says, Some(advice.into()));
    }
}

/// Looks at the configuration and at what it names; works without a ledger.
pub fn configuration(settings: &Settings, body: &mut DoctorBody) {
    match &settings.file {
        Some(file) => body.ok("configuration", file.display().to_string()),
        None => body.look(
            "configuration",
            "there is no configuration file",
            "`ittsu init` writes one with every key explained",
        ),
    }
    for finding in settings.look() {
        let state = match finding.severity {
            Severity::Stop => State::Stop,
            Severity::Look => State::Look,
        };
        body.add("configuration", state, finding.problem.to_string(), None);
    }
    if settings.kinds.is_empty() {
        body.stop("configuration", "there is no kind of mail", "add [kinds.NAME]: `ittsu init`");
    }
}

impl Ops {
    /// Looks at everything that needs the ledger, and at every route.
    pub async fn doctor(&self, body: &mut DoctorBody) {
        self.look_at_ledger(body).await;
        self.look_at_state_dir(body);
        self.look_at_kinds(body);
        self.look_at_routes(body).await;
    }

    fn look_at_state_dir(&self, body: &mut DoctorBody) {
        let what = "state folder";
        let state = StateDir::new(&self.state_dir, self.ledger.id());
        let place = self.state_dir.display();
        if let Err(err) = state.make() {
            let says = format!("{place} cannot be written: {err}");
            return body.stop(what, says, "name one that lasts: ITTSU_STATE_DIR");
        }
        match free_space(&self.state_dir) {
            Ok(free) if free < LITTLE => body.look(
                what,
                format!("{place} has only {} MiB left", free >> 20),
                "make room: without it nothing can be sent",
            ),
            _ => body.ok(what, place.to_string()),
        }
        match state.all_outcomes() {
            Ok(files) if !files.is_empty() => body.look(
                what,
                format!("outcomes that the ledger has not taken yet: {} files", files.len()),
                "ittsu work --until-idle --no-wait   (a worker hands them in)",
            ),
            _ => {}
        }
        if let Some(file) = self.ledger.location().file() {
            network_storage(file, body);
        }
    }

    fn look_at_kinds(&self, body: &mut DoctorBody) {
        for (name, kind) in &self.settings.kinds {
            let what = format!("kinds.{name}");
            let built = super::kind::default_message(kind).and_then(|message| match message {
                Some(message) => {
                    let (signer, request) =
                        (super::kind::signer(kind)?, self.request_body(&kind.via)?);
                    super::kind::builder(&kind.from, &message, signer, request).map(Some)
                }
                None => Ok(None),
            });
            match built {
                Ok(Some(_)) => body.ok(&what, "template, sender and key can be used"),
                // That there is no template was said about the configuration.
                Ok(None) => {}
                Err(err) => {
                    let because = std::error::Error::source(&err);
                    let because = because.map(|cause| format!(": {cause}")).unwrap_or_default();
                    body.add(&what, State::Stop, format!("{err}{because}"), err.hint);
                }
            }
        }
    }
}

/// Less room than this is little: 64 MiB.
const LITTLE: u64 = 64 << 20;

fn free_space(folder: &Path) -> io::Result<u64> {
    let about = statvfs(folder)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Says when an SQLite ledger lies where its locks cannot be trusted.
fn network_storage(file: &Path, body: &mut DoctorBody) {
    const NETWORK: [i64; 5] = [0x6969, 0xFF53_4D42, 0x517B, 0xFE53_4D42, 0x0102_1997];
    let kind = statfs(file).map(|about| about.f_type & 0xFFFF_FFFF);
    if kind.is_ok_and(|kind| NETWORK.contains(&kind)) {
        body.look(
            "ledger",
            format!(
                "{} lies on network storage, where SQLite's locks may not hold",
                file.display()
            ),
            "use a local disk, or PostgreSQL or MariaDB",
        );
    }
}
