//! Standard input kept in a file, where it has to be read twice.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::ops::error::OpsError;
use crate::ops::source::SourceName;

/// A copy of standard input; it is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Spooled {
    pub(super) source: SourceName,
    path: PathBuf,
}

impl Drop for Spooled {
    fn drop(&mut self) {
        // It lies in a folder of our own; a copy that stays is overwritten by nobody.
        let _ = fs::remove_file(&self.path);
    }
}

/// Copies standard input if `from` is that; people's addresses are readable by nobody else.
pub(super) fn stdin_if_needed(from: &SourceName, dir: &Path) -> Result<Option<Spooled>, OpsError> {
    if *from != SourceName::Stdin {
        return Ok(None);
    }
    let failed = |err: io::Error| OpsError::failed("standard input could not be kept").because(err);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(failed)?;
    let mut input = io::stdin().lock();
    let mut first = [0];
    let read = input.read(&mut first).map_err(failed)?;
    // The reader tells JSON lines from CSV by the first sign, a file by its ending.
    let ending = if first == *b"{" { "jsonl" } else { "csv" };
    let path = dir.join(format!("import-{}.{ending}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&path).map_err(failed)?;
    let spooled = Spooled { source: SourceName::File(path.clone()), path };
    io::copy(&mut first.take(read as u64).chain(input), &mut file).map_err(failed)?;
    Ok(Some(spooled))
}
