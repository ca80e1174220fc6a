//! The directory that outlives a worker: its step file and its outcome file.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::domain::id::WorkerId;

/// A state directory as one ledger uses it; the ledger is in the names, because a directory may
/// serve several.
#[derive(Clone, Debug)]
pub struct StateDir {
    dir: PathBuf,
    ledger: String,
}

impl StateDir {
    /// Names the directory; nothing is touched yet.
    pub fn new(dir: impl Into<PathBuf>, ledger: impl Into<String>) -> Self {
        Self { dir: dir.into(), ledger: ledger.into() }
    }

    /// Makes the directory, closed to others, and proves that it can be written.
    pub fn make(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let probe = self.dir.join(format!(".probe-{}", std::process::id()));
        std::fs::write(&probe, b"")?;
        match std::fs::remove_file(&probe) {
            // A worker that begins in the same moment, with the same number elsewhere, took it away.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of a worker's step file.
    pub fn steps(&self, worker: WorkerId) -> PathBuf {
        self.dir.join(format!("{}-{worker}.steps", self.ledger))
    }

    /// Returns the path of a worker's outcome file.
    pub fn outcomes(&self, worker: WorkerId) -> PathBuf {
        self.dir.join(format!("{}-{worker}.outcomes", self.ledger))
    }

    /// Lists the outcome files of this ledger that lie here, with the workers that wrote them.
    pub fn all_outcomes(&self) -> io::Result<Vec<(WorkerId, PathBuf)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let worker = name
                .strip_prefix(self.ledger.as_str())
                .and_then(|rest| rest.strip_prefix('-'))
                .and_then(|rest| rest.strip_suffix(".outcomes"))
                .and_then(|number| number.parse().ok());
            if let Some(worker) = worker {
                found.push((WorkerId(worker), path));
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_made_and_closed_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::new(dir.path().join("a/b"), "ledger");
        state.make().unwrap();
        state.make().unwrap();
        let mode = std::fs::metadata(state.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(state.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_the_files_of_this_ledger_are_listed() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::new(dir.path(), "ledger");
        let other = StateDir::new(dir.path(), "other");
        for path in [
            state.outcomes(WorkerId(2)),
            state.outcomes(WorkerId(1)),
            state.steps(WorkerId(1)),
            other.outcomes(WorkerId(3)),
        ] {
            std::fs::write(path, b"").unwrap();
        }
        let workers: Vec<_> = state.all_outcomes().unwrap().into_iter().map(|(id, _)| id).collect();
        assert_eq!(workers, [WorkerId(1), WorkerId(2)]);
    }
}
