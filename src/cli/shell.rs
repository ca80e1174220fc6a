//! What every verb starts with: who asks, on which ledger, and how to answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use super::args::{self, Global};
use super::error::CliError;
use super::printer::Printer;
use crate::clock::Clock;
use crate::config::{ConfigError, Request, Settings};

/// The surroundings of one command.
pub struct Shell {
    pub global: Global,
    pub clock: Clock,
    pub printer: Printer,
}

impl Shell {
    pub fn new(global: Global, clock: Clock) -> Self {
        let printer = Printer::new(&global);
        Self { global, clock, printer }
    }

    /// Returns the settings; what should be looked at is said.
    pub fn settings(&mut self) -> Result<Settings, CliError> {
        let settings = self.settings_in_silence()?;
        for warning in &settings.warnings {
            self.printer.warn(&warning.to_string());
        }
        Ok(settings)
    }

    /// Returns the settings, for a command that words their warnings itself.
    pub fn settings_in_silence(&self) -> Result<Settings, CliError> {
        let request = Request {
            file: self.global.config.clone(),
            ledger: self.global.ledger.clone(),
            language: self.global.lang,
            variables: variables(),
            here: self.here()?,
        };
        Settings::load(&request).map_err(|err| match err {
            ConfigError::NoFile(_) => {
                CliError::not_found(err.to_string()).hint("`ittsu init` writes a configuration")
            }
            ConfigError::Unreadable(_, ref cause) => {
                CliError::usage(err.to_string()).because(cause)
            }
            ConfigError::Wrong(problems) => {
                let mut err = CliError::usage("the configuration is wrong");
                err.because = problems.iter().map(ToString::to_string).collect();
                err.hint("`ittsu init FILE` writes an example with every key")
            }
        })
    }

    /// Returns the working directory.
    pub fn here(&self) -> Result<PathBuf, CliError> {
        std::env::current_dir()
            .map_err(|err| CliError::failed("the working directory is gone").because(&err))
    }

    /// Refuses a command that changes something under `--read-only`.
    pub fn refuse_if_read_only(&self) -> Result<(), CliError> {
        if self.global.read_only {
            return Err(CliError::refused("this command changes something")
                .hint("leave out --read-only to allow it"));
        }
        Ok(())
    }

    /// Returns the operator's name for the journal; a command that changes something needs one.
    ///
    /// Refuses under `--read-only`, so a changing verb calls this first.
    pub fn operator(&self) -> Result<String, CliError> {
        self.refuse_if_read_only()?;
        let variables = ["ITTSU_OPERATOR", "SUDO_USER", "USER"];
        let named = self.global.operator.clone().or_else(|| {
            let mut set = variables.iter().filter_map(|name| std::env::var(name).ok());
            set.find(|name| !name.trim().is_empty())
        });
        named.filter(|name| !name.trim().is_empty()).ok_or_else(|| {
            CliError::usage("nobody is named for the journal")
                .hint("give --operator NAME, or set ITTSU_OPERATOR")
        })
    }

    /// Returns the count that confirms an action: the flag's, else what a person types now.
    ///
    /// `question` names the action and its size. Without a terminal it fails and names `flag`.
    pub fn confirmed(
        &mut self,
        given: Option<u64>,
        question: &str,
        flag: &str,
    ) -> Result<u64, CliError> {
        if let Some(count) = given {
            return Ok(count);
        }
        let question = format!("{question}.\nType the number of recipients to go on: ");
        let typed = self.answer(&question, flag)?;
        args::count(typed.trim())
            .map_err(|_err| CliError::refused("no number was typed; nothing was changed"))
    }

    /// Returns what a person types; where nobody can be asked, it fails and names `flag`.
    pub fn answer(&mut self, question: &str, flag: &str) -> Result<String, CliError> {
        if !(io::stdin().is_terminal() && self.printer.talk_is_terminal()) {
            let asked =
                question.lines().next().unwrap_or_default().trim_end_matches([' ', ':', '.']);
            return Err(CliError::needs_confirmation(asked)
                .hint(format!("nobody can be asked here: give {flag}")));
        }
        self.printer.ask(question);
        let mut typed = String::new();
        io::stdin()
            .lock()
            .read_line(&mut typed)
            .map_err(|err| CliError::failed("the answer could not be read").because(&err))?;
        Ok(typed.trim().to_owned())
    }
}

/// Returns the variables of this process that are text.
fn variables() -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}
