//! Opening the ledger for a command, and answering with what an action changed.

use tempfile::TempDir;

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::config::DatabaseUrl;
use crate::domain::text::visible;
use crate::ops::Open;
use crate::ops::Ops;
use crate::ops::document::Change;
use crate::ops::words::thousands;

impl Shell {
    /// Opens the ledger for a command that only looks.
    pub async fn look(&mut self) -> Result<Ops, CliError> {
        let settings = self.settings()?;
        let open = if self.global.read_only { Open::ReadOnly } else { Open::Existing };
        Ok(Ops::open(settings, self.clock.clone(), open).await?)
    }

    /// Opens the ledger for a command that changes something; returns who does.
    pub async fn change(&mut self) -> Result<(Ops, String), CliError> {
        let operator = self.operator()?;
        let settings = self.settings()?;
        Ok((Ops::open(settings, self.clock.clone(), Open::Existing).await?, operator))
    }

    /// Opens the ledger and makes it if it is new, which is said.
    pub async fn change_or_create(&mut self) -> Result<(Ops, String), CliError> {
        let operator = self.operator()?;
        let settings = self.settings()?;
        let is_new = settings.ledger.file().is_some_and(|file| !file.exists());
        let ops = Ops::open(settings, self.clock.clone(), Open::Create).await?;
        if is_new {
            self.printer.say(&format!("New ledger: {}", ops.place()));
        }
        Ok((ops, operator))
    }

    /// Opens the ledger for a command that tells what it would do. Where there is none yet, that is
    /// an empty one, which goes with the folder that is returned.
    pub async fn rehearse(&mut self) -> Result<(Ops, String, Option<TempDir>), CliError> {
        let operator = self.operator()?;
        let mut settings = self.settings()?;
        if settings.ledger.file().is_none_or(|file| file.exists()) {
            let ops = Ops::open(settings, self.clock.clone(), Open::Existing).await?;
            return Ok((ops, operator, None));
        }
        let no_folder = |err| CliError::failed("no folder for a rehearsal").because(&err);
        let folder = tempfile::tempdir().map_err(no_folder)?;
        settings.ledger =
            DatabaseUrl::parse("sqlite:rehearsal.db", folder.path()).map_err(CliError::failed)?;
        let ops = Ops::open(settings, self.clock.clone(), Open::Create).await?;
        Ok((ops, operator, Some(folder)))
    }

    /// Answers with what an action changed, as a document or in a sentence.
    pub fn changed(
        &mut self,
        ops: &Ops,
        json: bool,
        verb: &str,
        change: Change,
    ) -> Result<ExitCode, CliError> {
        if json {
            self.printer.json(&ops.document("change", change))?;
            return Ok(ExitCode::Done);
        }
        let of = change.batch.as_deref().map(|batch| format!(" in {batch}")).unwrap_or_default();
        let n = |n: u64| thousands(i64::try_from(n).unwrap_or(i64::MAX));
        if change.changed == 0 {
            self.printer.say(&format!("Nothing to do{of}: 0 {verb}."));
        } else {
            let journal = change.journal.map(|id| format!(" Journal: {id}.")).unwrap_or_default();
            let names = match change.batches.as_slice() {
                [] => String::new(),
                names => format!(" ({})", names.join(", ")),
            };
            self.printer.say(&format!(
                "{}{of}: {}{names}.{journal}",
                capital(verb),
                n(change.changed)
            ));
        }
        for left in &change.why_left {
            self.printer.say(&format!("Left alone: {}, {}.", n(left.rows), visible(&left.why)));
        }
        Ok(ExitCode::Done)
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
