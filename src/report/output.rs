//! The file a report is written to: private, and there only when it is whole.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file that takes its place when it is finished, and leaves nothing behind when it is not.
#[derive(Debug)]
pub struct Output {
    file: BufWriter<File>,
    /// Where it is written now; none: straight into the target.
    partial: Option<PathBuf>,
    target: PathBuf,
}

impl Output {
    /// Opens a file beside `target`, readable by its owner only.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = target.to_path_buf();
        // A pipe or a terminal cannot be replaced.
        if target.exists() && !target.is_file() {
            let file = OpenOptions::new().write(true).open(&target)?;
            return Ok(Self { file: BufWriter::new(file), partial: None, target });
        }
        let mut name = OsString::from(".");
        name.push(target.file_name().ok_or(io::ErrorKind::InvalidFilename)?);
        name.push(format!(".{}.part", std::process::id()));
        let partial = target.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&partial)?;
        Ok(Self { file: BufWriter::new(file), partial: Some(partial), target })
    }

    /// Puts the whole file in its place, durably.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(partial) = &self.partial else { return Ok(()) };
        self.file.get_ref().sync_all()?;
        std::fs::rename(partial, &self.target)?;
        self.partial = None;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Whoever dropped it unfinished already tells why.
            drop(std::fs::remove_file(partial));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_report_is_private_and_takes_its_place_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.txt");
        std::fs::write(&path, "old").unwrap();
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_unfinished_report_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut output = Output::create(&folder.path().join("report.txt")).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
