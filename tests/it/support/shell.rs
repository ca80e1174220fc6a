//! The binary in a clean environment: a folder of its own, no variables of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command as Plain;

use assert_cmd::Command;
use tempfile::TempDir;

/// A person at a shell, in a folder of their own.
pub(crate) struct Shell {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

/// What a command printed, and how it ended.
#[must_use = "snapshot the output or assert the exit code"]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Shell {
    /// Opens a shell in an empty folder; `hanako` is at the keyboard.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("ittsu-shell-").tempdir().expect("a folder");
        let operator = ("ITTSU_OPERATOR".to_owned(), "hanako".to_owned());
        Self { folder, variables: BTreeMap::from([operator]) }
    }

    /// Sets a variable for every command that follows.
    pub(crate) fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Returns a path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, contents).expect("a written file");
    }

    /// Reads a file of the folder.
    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a readable file")
    }

    /// Runs `ittsu` with these words and waits for its end.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.run_with(words, "")
    }

    /// Runs `ittsu` with these words and this text on its standard input.
    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Output {
        let output = Command::from_std(self.command(words))
            .write_stdin(input)
            .output()
            .expect("the binary runs");
        Output {
            code: output.status.code(),
            stdout: self.plain(&output.stdout),
            stderr: self.plain(&output.stderr),
        }
    }

    /// Returns the command, for tests that talk to it while it runs.
    pub(crate) fn command(&self, words: &[&str]) -> Plain {
        let mut command = Plain::new(env!("CARGO_BIN_EXE_ittsu"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("TZ", "UTC")
            .envs(&self.variables);
        command
    }

    /// Returns what was printed, with the folder's own name out of the way.
    fn plain(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let folder = self.folder.path();
        let real = folder.canonicalize().unwrap_or_else(|_| Path::new("/").join(folder));
        text.replace(&*real.to_string_lossy(), "$DIR").replace(&*folder.to_string_lossy(), "$DIR")
    }
}

/// Standard output, standard error under a ruler, and the exit code: one snapshot.
impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "------- stderr\n{}", self.stderr)?;
        }
        match self.code {
            Some(code) => write!(f, "------- exit {code}"),
            None => write!(f, "------- killed"),
        }
    }
}
