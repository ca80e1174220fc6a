//! Notices that the file of an open database was replaced, moved or deleted.
//!
//! Why: what is written to a deleted file succeeds and is gone. A worker would send on into nothing,
//! and one that opens the backup put in its place sends everything again.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::DbError;

/// A path and the file that was there when the database was opened.
#[derive(Clone, Debug)]
pub(super) struct SameFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SameFile {
    pub(super) fn at(path: &Path) -> Result<Self, DbError> {
        let found = fs::metadata(path).map_err(|err| DbError::Away(sqlx::Error::Io(err)))?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    /// Refuses when another file, or none, is at the path now.
    pub(super) fn check(&self) -> Result<(), DbError> {
        match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Ok(()),
            Ok(_) => Err(DbError::Replaced(self.path.display().to_string())),
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                Err(DbError::Replaced(self.path.display().to_string()))
            }
            Err(err) => Err(DbError::Away(sqlx::Error::Io(err))),
        }
    }
}
