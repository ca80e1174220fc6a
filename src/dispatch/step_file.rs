//! How far each hand-over got, in a small file that outlives this process.
//!
//! Promise: a note costs one `pwrite` and no fsync, and survives kill -9. It does not survive a
//! power cut, so the boot is noted and a file of another boot proves nothing.
//! Absent on purpose: what a step proves; `domain::step` knows.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use crate::domain::id::{Attempt, RecipientId, WorkerId};
use crate::domain::step::Step;

const MAGIC: &[u8; 16] = b"ittsu steps 1\n\0\0";
const HEADER: usize = 128;
const ENTRY: usize = 32;

/// The last noted step of one hand-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub step: Step,
}

/// The step file of this worker, open for writing.
#[derive(Clone, Debug)]
pub struct StepFile {
    file: Arc<File>,
}

/// The two entries of one connection, used in turn.
///
/// The answer of one message is still needed while the next one begins: its finish travels with
/// the next start. Two entries are enough, because a message goes on the wire only after the finish
/// of the one before it is durable.
#[derive(Debug)]
pub struct Slot {
    file: Arc<File>,
    number: usize,
    second: bool,
}

impl StepFile {
    /// Creates the file of a worker with room for `connections`.
    pub fn create(
        path: &Path,
        worker: WorkerId,
        boot: &str,
        connections: usize,
    ) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)?;
        // Full length from the start: a note never has to make the file longer.
        file.set_len((HEADER + 2 * ENTRY * connections) as u64)?;
        file.write_all_at(&header(worker, boot), 0)?;
        Ok(Self { file: Arc::new(file) })
    }

    /// Returns the entries of connection `number`, counted from 0.
    pub fn slot(&self, number: usize) -> Slot {
        Slot { file: Arc::clone(&self.file), number, second: false }
    }
}

impl Slot {
    /// Turns to the other entry for the next message.
    pub fn turn(&mut self) {
        self.second = !self.second;
    }

    /// Notes a step before it is taken, an answer right after it was read.
    pub fn note(&self, noted: Noted) -> io::Result<()> {
        let at = HEADER + ENTRY * (2 * self.number + usize::from(self.second));
        self.file.write_all_at(&entry(noted), at as u64)
    }
}

/// Reads what a dead worker noted; a file of another worker or boot is as good as none.
pub fn read(path: &Path, worker: WorkerId, boot: &str) -> Vec<Noted> {
    let Ok(bytes) = std::fs::read(path) else { return Vec::new() };
    let Some((head, entries)) = bytes.split_at_checked(HEADER) else { return Vec::new() };
    if boot.is_empty() || head != header(worker, boot) {
        return Vec::new();
    }
    entries.chunks_exact(ENTRY).filter_map(parse).collect()
}

fn header(worker: WorkerId, boot: &str) -> [u8; HEADER] {
    let mut head = [0; HEADER];
    head[..16].copy_from_slice(MAGIC);
    head[16..24].copy_from_slice(&worker.0.to_le_bytes());
    for (to, from) in head[24..].iter_mut().zip(boot.bytes()) {
        *to = from;
    }
    head
}

fn entry(noted: Noted) -> [u8; ENTRY] {
    let mut bytes = [0; ENTRY];
    bytes[..8].copy_from_slice(&noted.row.0.to_le_bytes());
    bytes[8..16].copy_from_slice(&noted.attempt.0.to_le_bytes());
    bytes[16..24].copy_from_slice(&noted.step.to_bytes());
    let sum = checksum(&bytes[..24]).to_le_bytes();
    bytes[24..].copy_from_slice(&sum);
    bytes
}

fn parse(bytes: &[u8]) -> Option<Noted> {
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
    if checksum(bytes.get(..24)?).to_le_bytes() != word(24)? {
        return None;
    }
    Some(Noted {
        row: RecipientId(i64::from_le_bytes(word(0)?)),
        attempt: Attempt(i64::from_le_bytes(word(8)?)),
        step: Step::from_bytes(word(16)?)?,
    })
}

/// FNV-1a: enough to tell a whole entry from an empty or a torn one.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::smtp::ReplyCode;

    fn noted(row: i64, step: Step) -> Noted {
        Noted { row: RecipientId(row), attempt: Attempt(1), step }
    }

    #[test]
    fn a_dead_worker_s_notes_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("7.steps");
        let file = StepFile::create(&path, WorkerId(7), "boot", 3).unwrap();
        let mut slot = file.slot(1);
        let answered = Step::Answered(ReplyCode { code: 250, enhanced: None });
        slot.note(noted(11, Step::Dot)).unwrap();
        slot.note(noted(11, answered)).unwrap();
        slot.turn();
        slot.note(noted(12, Step::Started)).unwrap();
        file.slot(2).note(noted(13, Step::BodyComplete)).unwrap();

        assert_eq!(
            read(&path, WorkerId(7), "boot"),
            [noted(11, answered), noted(12, Step::Started), noted(13, Step::BodyComplete)]
        );
    }

    #[test]
    fn a_file_of_another_boot_or_worker_proves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("7.steps");
        let file = StepFile::create(&path, WorkerId(7), "boot", 1).unwrap();
        file.slot(0).note(noted(11, Step::Started)).unwrap();

        assert_eq!(read(&path, WorkerId(7), "later boot"), []);
        assert_eq!(read(&path, WorkerId(8), "boot"), []);
        assert_eq!(read(&dir.path().join("absent"), WorkerId(7), "boot"), []);
    }

    #[test]
    fn a_torn_note_is_no_note() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("7.steps");
        let file = StepFile::create(&path, WorkerId(7), "boot", 1).unwrap();
        file.slot(0).note(noted(11, Step::Started)).unwrap();
        file.file.write_all_at(&[9], HEADER as u64).unwrap();

        assert_eq!(read(&path, WorkerId(7), "boot"), []);
    }
}
