//! What every verb starts with: who asks, on which ledger, and how to answer.

use std::io::{self, BufRead, IsTerminal};

use super::args::{self, Global};
use super::error::CliError;
use super::printer::Printer;
use crate::clock::Clock;

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

    /// Returns the operator's name for the journal; a command that changes something needs one.
    ///
    /// Refuses under `--read-only`, so a changing verb calls this first.
    pub fn operator(&self) -> Result<String, CliError> {
        if self.global.read_only {
            return Err(CliError::refused("this command changes something")
                .hint("leave out --read-only to allow it"));
        }
        let variables = ["ITTSU_OPERATOR", "SUDO_USER", "USER"];
        let named = self.global.operator.clone().or_else(|| {
            variables
                .iter()
                .filter_map(|name| std::env::var(name).ok())
                .find(|name| !name.is_empty())
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
        if !(io::stdin().is_terminal() && self.printer.talk_is_terminal()) {
            return Err(CliError::needs_confirmation(question.to_owned())
                .hint(format!("nobody can be asked here: give {flag}")));
        }
        self.printer.ask(&format!("{question} Type the number of recipients to go on: "));
        let mut typed = String::new();
        io::stdin()
            .lock()
            .read_line(&mut typed)
            .map_err(|err| CliError::failed("the answer could not be read").because(&err))?;
        args::count(typed.trim())
            .map_err(|_err| CliError::refused("no number was typed; nothing was changed"))
    }
}
