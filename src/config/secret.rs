//! Secrets: where they are kept, fetched only when needed, never printed.

use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use secrecy::SecretString;

use super::document::{Node, Value};
use super::setting::{Setting, text};

/// What is printed in a secret's place.
pub const HIDDEN: &str = "***";

/// Where a secret is kept.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// In this variable.
    Env(String),
    /// The first line of this file.
    File(PathBuf),
    /// What this shell command prints.
    Command(String),
}

/// Why a secret could not be fetched; never holds the secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error("the variable {0} is not set")]
    NoVariable(String),
    #[error("the file {} cannot be read", .0.display())]
    File(PathBuf, #[source] std::io::Error),
    #[error("the command for a secret cannot be run")]
    Command(#[source] std::io::Error),
    #[error("the command for a secret ended with {0}")]
    Ended(std::process::ExitStatus),
    #[error("the secret is empty or no text: {0}")]
    Empty(String),
}

impl Secret {
    /// Fetches the secret.
    pub fn reveal(&self) -> Result<SecretString, SecretError> {
        let text = match self {
            Self::Env(name) => {
                std::env::var(name).map_err(|_err| SecretError::NoVariable(name.clone()))?
            }
            Self::File(path) => {
                let text = std::fs::read_to_string(path);
                text.map_err(|err| SecretError::File(path.clone(), err))?
            }
            Self::Command(command) => {
                let output = Command::new("sh").args(["-c", command]).output();
                let output = output.map_err(SecretError::Command)?;
                if !output.status.success() {
                    return Err(SecretError::Ended(output.status));
                }
                String::from_utf8(output.stdout).unwrap_or_default()
            }
        };
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(SecretString::from(line.to_owned())),
            _ => Err(SecretError::Empty(self.to_string())),
        }
    }

    /// Says what is wrong with the place of the secret, without fetching it.
    pub fn looks_missing(&self) -> Option<String> {
        match self {
            Self::Env(name) => {
                std::env::var_os(name).is_none().then(|| format!("the variable {name} is not set"))
            }
            Self::File(path) => {
                let reason = std::fs::File::open(path).err()?;
                Some(format!("the file {} cannot be read: {reason}", path.display()))
            }
            Self::Command(_) => None,
        }
    }
}

/// Reports whether everybody on this machine may read `path`.
pub fn is_open_to_all(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.mode() & 0o004 != 0)
}

/// Says where the secret is kept; the secret itself is not even known here.
impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "{HIDDEN} (variable {name})"),
            Self::File(path) => write!(f, "{HIDDEN} (file {})", path.display()),
            // A command line may hold a token itself.
            Self::Command(_) => write!(f, "{HIDDEN} (command)"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

impl Setting for Secret {
    fn read(node: &Node, folder: &Path) -> Result<Self, String> {
        let expected = "{ env = \"NAME\" }, { file = \"PATH\" } or { command = \"…\" }";
        let Value::Table(entries) = &node.value else {
            return Err(format!("a secret never stands in the file; expected {expected}"));
        };
        let [(place, value)] = entries.as_slice() else {
            return Err(format!("expected exactly one of {expected}"));
        };
        let value = text(value, "a text")?;
        match place.as_str() {
            _ if value.is_empty() => Err(format!("`{place}` is empty; expected {expected}")),
            "env" => Ok(Self::Env(value.to_owned())),
            "file" => Ok(Self::File(folder.join(value))),
            "command" => Ok(Self::Command(value.to_owned())),
            other => Err(format!("unknown key `{other}`; expected {expected}")),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_secret_is_the_first_line_of_its_file_or_command() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "s3cret \nsecond line\n").unwrap();
        assert_eq!(Secret::File(path).reveal().unwrap().expose_secret(), "s3cret ");
        let command = Secret::Command("printf 'from\\nhere'".to_owned());
        assert_eq!(command.reveal().unwrap().expose_secret(), "from");
    }

    #[test]
    fn a_secret_that_cannot_be_fetched_says_why_and_shows_nothing() {
        let command = Secret::Command("echo canary; exit 3".to_owned());
        let err = command.reveal().unwrap_err();
        let said = format!("{err} {err:?} {command:?} {command}");
        assert!(err.to_string().ends_with("exit status: 3"), "{said}");
        assert!(!said.contains("canary"), "{said}");
        let missing = Secret::Env("ITTSU_TEST_NO_SUCH_VARIABLE".to_owned());
        assert!(missing.looks_missing().unwrap().contains("ITTSU_TEST_NO_SUCH_VARIABLE"));
    }
}
