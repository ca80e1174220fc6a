//! Outcomes that the ledger could not take, kept on this machine until it can.
//!
//! Promise: what [`OutcomeFile::keep`] returned for survives a power cut. A file is replayed only
//! when nobody writes it any more: its writer holds a lock that dies with the process.
//! Absent on purpose: what a kept outcome makes of its row; replay is evidence, and the ledger weighs it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::domain::id::{Attempt, RecipientId, WorkerId};
use crate::domain::outcome::{Outcome, Phase};
use crate::domain::settle::Settled;
use crate::domain::state::Cause;
use crate::domain::time::Timestamp;
use crate::ledger::evidence::{Evidence, Seen};
use crate::ledger::recorder::Finish;

/// How one attempt ended, as far as an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub row: RecipientId,
    pub attempt: Attempt,
    pub outcome: Outcome,
    pub phase: Phase,
    pub code: Option<u16>,
    pub reply: Vec<u8>,
    pub at: Timestamp,
}

impl Kept {
    /// Takes from a finish what an answer says.
    pub fn of(finish: &Finish) -> Self {
        // A refusal that left its row ready was suspect; told late it must fail nobody.
        let is_suspect = matches!(finish.settled, Settled::Ready { .. });
        let outcome = match finish.outcome {
            Outcome::Refused if is_suspect => Outcome::NotSent,
            outcome => outcome,
        };
        Self {
            row: finish.row,
            attempt: finish.attempt,
            outcome,
            phase: finish.phase,
            code: finish.code,
            reply: finish.reply.clone(),
            at: finish.ended,
        }
    }

    /// Makes evidence of it.
    pub fn as_evidence(&self, worker: WorkerId, source: Seen) -> Evidence {
        Evidence {
            row: self.row,
            attempt: self.attempt,
            worker,
            source,
            outcome: self.outcome,
            phase: self.phase,
            code: self.code,
            reply: self.reply.clone(),
        }
    }
}

/// The outcome file of this worker, locked for as long as it lives.
#[derive(Debug)]
pub struct OutcomeFile {
    file: File,
    path: PathBuf,
    kept: usize,
}

impl OutcomeFile {
    /// Creates the file of a worker.
    ///
    /// It gets its name only when it is locked, so that nobody can mistake it for a dead one's.
    pub fn create(path: &Path) -> io::Result<Self> {
        let unnamed = path.with_extension("new");
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&unnamed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        std::fs::rename(&unnamed, path)?;
        if let Some(dir) = path.parent() {
            File::open(dir)?.sync_all()?;
        }
        Ok(Self { file, path: path.to_owned(), kept: 0 })
    }

    /// Keeps outcomes durably; an error means that nothing may be sent that needs this.
    pub fn keep(&mut self, outcomes: &[Kept]) -> io::Result<()> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for kept in outcomes {
            serde_json::to_writer(&mut lines, &Line::from(kept))?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines)?;
        self.file.sync_data()?;
        self.kept += outcomes.len();
        Ok(())
    }

    /// Reports how many outcomes are kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Forgets everything, once the ledger has it.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.kept > 0 {
            self.file.set_len(0)?;
            self.file.sync_data()?;
            self.kept = 0;
        }
        Ok(())
    }

    /// Ends the file's life; one that still keeps something stays for the next worker.
    pub fn close(self) -> io::Result<()> {
        if self.kept == 0 { std::fs::remove_file(&self.path) } else { Ok(()) }
    }
}

/// The outcome file of a worker that writes no more, held so that no other replays it meanwhile.
#[derive(Debug)]
pub struct Orphan {
    file: File,
    path: PathBuf,
}

impl Orphan {
    /// Takes a file over, or returns `None` if its writer lives or it is gone.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        let file = match OpenOptions::new().read(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what was kept; a last line that was never finished was never promised.
    pub fn read(&mut self) -> io::Result<Vec<Kept>> {
        let mut text = Vec::new();
        self.file.read_to_end(&mut text)?;
        Ok(text
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok()?.kept())
            .collect())
    }

    /// Removes the file, once the ledger has what it kept.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

#[derive(Serialize, Deserialize)]
struct Line {
    row: i64,
    attempt: i64,
    outcome: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    phase: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    /// Hexadecimal: a server may answer in any character set.
    reply: String,
    at: i64,
}

impl From<&Kept> for Line {
    fn from(kept: &Kept) -> Self {
        let cause = match kept.outcome {
            Outcome::Unknown(cause) => Some(cause.as_str().to_owned()),
            _ => None,
        };
        Self {
            row: kept.row.0,
            attempt: kept.attempt.0,
            outcome: kept.outcome.as_str().to_owned(),
            cause,
            phase: kept.phase.as_str().to_owned(),
            code: kept.code,
            reply: data_encoding::HEXLOWER.encode(&kept.reply),
            at: kept.at.0,
        }
    }
}

impl Line {
    fn kept(self) -> Option<Kept> {
        let outcome = match self.outcome.as_str() {
            "accepted" => Outcome::Accepted,
            "refused" => Outcome::Refused,
            "deferred" => Outcome::Deferred,
            "not_sent" => Outcome::NotSent,
            "unknown" => Outcome::Unknown(Cause::from_word(self.cause.as_deref()?)?),
            _ => return None,
        };
        Some(Kept {
            row: RecipientId(self.row),
            attempt: Attempt(self.attempt),
            outcome,
            phase: Phase::from_word(&self.phase)?,
            code: self.code,
            reply: data_encoding::HEXLOWER.decode(self.reply.as_bytes()).ok()?,
            at: Timestamp(self.at),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(row: i64, outcome: Outcome) -> Kept {
        Kept {
            row: RecipientId(row),
            attempt: Attempt(2),
            outcome,
            phase: Phase::Dot,
            code: Some(250),
            reply: b"250 2.0.0 \xb0\xa1 ok\r\n".to_vec(),
            at: Timestamp(5),
        }
    }

    #[test]
    fn what_was_kept_is_read_back_by_the_next_worker() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l-1.outcomes");
        let all = [kept(1, Outcome::Accepted), kept(2, Outcome::Unknown(Cause::NoAnswer))];
        let mut file = OutcomeFile::create(&path).unwrap();
        file.keep(&all[..1]).unwrap();
        file.keep(&all[1..]).unwrap();
        file.close().unwrap();

        let mut orphan = Orphan::take(&path).unwrap().unwrap();
        assert_eq!(orphan.read().unwrap(), all);
        orphan.remove().unwrap();
        assert!(Orphan::take(&path).unwrap().is_none());
    }

    #[test]
    fn the_file_of_a_living_worker_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l-1.outcomes");
        let mut file = OutcomeFile::create(&path).unwrap();
        file.keep(&[kept(1, Outcome::Accepted)]).unwrap();
        assert!(Orphan::take(&path).unwrap().is_none());
    }

    #[test]
    fn a_file_that_keeps_nothing_goes_with_its_worker() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l-1.outcomes");
        let mut file = OutcomeFile::create(&path).unwrap();
        file.keep(&[kept(1, Outcome::Refused)]).unwrap();
        file.clear().unwrap();
        assert_eq!(file.kept(), 0);
        file.close().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn an_unfinished_line_does_not_hide_the_finished_ones() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("l-1.outcomes");
        let mut file = OutcomeFile::create(&path).unwrap();
        file.keep(&[kept(1, Outcome::Deferred)]).unwrap();
        file.file.write_all(b"{\"row\":2,\"att").unwrap();
        drop(file);

        let read = Orphan::take(&path).unwrap().unwrap().read().unwrap();
        assert_eq!(read, [kept(1, Outcome::Deferred)]);
    }
}
