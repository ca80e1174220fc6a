//! Every operator action, exactly once; the command line and the console both call these.
//!
//! Promise: an action that changes the ledger names what it will change first, does exactly that
//! in one transaction with its journal entry, and answers with counts.
//! Absent on purpose: nothing here prints, reads arguments or asks questions.
//! Start reading at `action`, then `import` and `start`.

pub mod action;
pub mod attention;
pub mod batch;
pub mod change;
pub mod doctor;
pub mod document;
pub mod error;
pub mod evidence;
pub mod find;
pub mod halt;
pub mod import;
pub mod journal;
pub mod kind;
pub mod live;
pub mod preview;
mod queue;
pub mod rejects;
pub mod report;
pub mod route;
pub mod row;
pub mod rows;
pub mod send;
pub mod settle;
pub mod show;
pub mod source;
pub mod start;
pub mod status;
pub mod suppress;
pub mod sweep;
pub mod template_file;
pub mod test;
pub mod unknown;
pub mod verdict;
pub mod waiting;
pub mod when;
pub mod words;
pub mod work;
pub mod workers;

pub use crate::db::Open;

use std::path::PathBuf;

use crate::clock::Clock;
use crate::compose::message_id::Codec;
use crate::config::Settings;
use crate::db::Location;
use crate::domain::time::Timestamp;
use crate::ledger::Ledger;
use crate::ledger::journal::By;

use document::Document;
use error::OpsError;
use row::Dress;

/// An open ledger with the settings that go with it: where every action starts.
#[derive(Clone, Debug)]
pub struct Ops {
    pub ledger: Ledger,
    pub settings: Settings,
    pub clock: Clock,
    /// Where workers of this machine keep their step and outcome files.
    pub state_dir: PathBuf,
    codec: Option<Codec>,
    /// The ledger was opened for reading only.
    reads_only: bool,
}

impl Ops {
    /// Opens the ledger that `settings` name.
    ///
    /// Only `init`, `import` and `demo` may create one; everywhere else a missing ledger would
    /// look like an empty one, and the notice would go out again.
    pub async fn open(settings: Settings, clock: Clock, open: Open) -> Result<Self, OpsError> {
        let base = settings.file.as_deref().and_then(|file| file.parent());
        let base = base.map_or_else(PathBuf::new, PathBuf::from);
        let mut location = Location::parse(settings.ledger.expose(), &base)
            .map_err(|err| OpsError::usage("the ledger's address cannot be read").because(err))?;
        location.lost_after = settings.worker.lost_after;
        let state_dir = state_dir(&location);
        let ledger = Ledger::open(&location, open).await?;
        let codec = Codec::new(ledger.id(), &ledger_key(&ledger));
        let reads_only = open == Open::ReadOnly;
        Ok(Self { ledger, settings, clock, state_dir, codec, reads_only })
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns where the ledger is, fit to be shown.
    pub fn place(&self) -> String {
        self.ledger.location().to_string()
    }

    /// Waits for the writes under way and closes the ledger.
    pub async fn close(&self) {
        self.ledger.close().await;
    }

    /// Returns `body` as the document `ittsu/NAME/1` of this moment.
    pub fn document<T: serde::Serialize>(&self, name: &str, body: T) -> Document<T> {
        document::document(name, self.now(), &self.settings.timezone, body)
    }

    /// Returns what turns rows into documents.
    pub fn dress(&self) -> Dress<'_> {
        Dress { zone: &self.settings.timezone, codec: self.codec.as_ref() }
    }
}

/// Who asks for a change, and why.
pub fn by(operator: &str, reason: Option<&str>) -> By {
    By::new(operator, reason.unwrap_or_default())
}

fn ledger_key(ledger: &Ledger) -> String {
    data_encoding::HEXLOWER.encode(ledger.mac_key())
}

/// Returns the state directory: the variable's, else beside an SQLite ledger, else the user's.
fn state_dir(location: &Location) -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(dir) = variable("ITTSU_STATE_DIR") {
        return PathBuf::from(dir);
    }
    if let Some(folder) = location.file().and_then(|file| file.parent()) {
        return folder.join(".ittsu-state");
    }
    if let Some(dir) = variable("XDG_STATE_HOME") {
        return PathBuf::from(dir).join("ittsu");
    }
    let home = variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    home.join(".local/state/ittsu")
}
