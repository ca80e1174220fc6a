//! How a command ends: the exit codes of the contract, and errors worded for a person.

use std::error::Error;
use std::fmt;

/// The exit codes that scripts rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// Done, or nothing to do.
    Done = 0,
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Some rows failed or are unknown.
    Partly = 3,
    /// No such batch, row or file.
    NotFound = 4,
    /// The count or the state is not what was confirmed.
    Refused = 5,
    /// A count or a yes is needed and nobody can be asked.
    NeedsConfirmation = 6,
    /// The ledger or the mail server cannot be reached; trying again may help.
    Unreachable = 7,
    /// `status --check` found something that needs a person.
    NeedsPerson = 8,
    /// Stopped by SIGINT, state clean.
    Interrupted = 130,
    /// Stopped by SIGTERM or SIGHUP, state clean.
    Terminated = 143,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// Why a command did not do what was asked; says what happened and what to do.
#[derive(Debug)]
pub struct CliError {
    pub code: ExitCode,
    /// One sentence without a period; a value follows a colon.
    pub message: String,
    /// Causes, outermost first.
    pub because: Vec<String>,
    pub hint: Option<String>,
}

impl CliError {
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), because: Vec::new(), hint: None }
    }

    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Failed, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ExitCode::NotFound, message)
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Refused, message)
    }

    pub fn needs_confirmation(message: impl Into<String>) -> Self {
        Self::new(ExitCode::NeedsConfirmation, message)
    }

    pub fn unreachable(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Unreachable, message)
    }

    /// Adds what caused it, and what caused that.
    #[must_use]
    pub fn because(mut self, cause: &dyn Error) -> Self {
        let mut next = Some(cause);
        while let Some(cause) = next {
            let text = cause.to_string();
            // Many libraries repeat the inner text in the outer one.
            if !self.because.last().is_some_and(|outer| outer.ends_with(&text)) {
                self.because.push(text);
            }
            next = cause.source();
        }
        self
    }

    /// Adds what the person can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.because {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl Error for CliError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_named_once_and_in_order() {
        let inner = std::io::Error::other("disk full");
        let outer = std::io::Error::other(format!("cannot write: {inner}"));
        let err = CliError::failed("the report was not written").because(&outer).because(&inner);
        assert_eq!(err.to_string(), "the report was not written: cannot write: disk full");
    }
}
