//! The demo's workers: child processes of this very program, so that one can really be killed.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

/// A running worker; it dies with the demo.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    log: PathBuf,
}

impl Worker {
    /// Starts `ittsu work --until-idle` on the ledger of `config`.
    pub fn start(config: &Path, log: &Path) -> io::Result<Self> {
        Self::start_with(&["work", "--until-idle"], config, log)
    }

    /// Starts a worker that stays when nothing is left.
    pub fn staying(config: &Path, log: &Path) -> io::Result<Self> {
        Self::start_with(&["work"], config, log)
    }

    fn start_with(words: &[&str], config: &Path, log: &Path) -> io::Result<Self> {
        let file: File = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
        let child = Command::new(std::env::current_exe()?)
            .args(words)
            .arg("--config")
            .arg(config)
            // Nothing of the operator's own settings may reach the demo.
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { child, log: log.to_path_buf() })
    }

    /// Kills it as hard as the kernel can (SIGKILL): it cannot tidy up.
    pub async fn kill(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Waits for its end, at most so long; `None` if it still works then.
    pub async fn ended(&mut self, at_most: Duration) -> io::Result<Option<Ended>> {
        match tokio::time::timeout(at_most, self.child.wait()).await {
            Ok(status) => Ok(Some(Ended { code: status?.code(), log: self.log.clone() })),
            Err(_) => Ok(None),
        }
    }
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// None: by a signal.
    pub code: Option<i32>,
    pub log: PathBuf,
}

impl Ended {
    /// Reports whether it did its work; some rows may have failed.
    pub fn is_good(&self) -> bool {
        matches!(self.code, Some(0 | 3))
    }
}
