//! What the server has accepted: the truth that everything else is measured by.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

/// One message accepted for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    /// Microseconds since 1970.
    pub at: i64,
    /// The connection it came over; they are counted from 1.
    pub connection: u64,
    /// As in the header, brackets included; empty if there is none.
    pub message_id: String,
    pub from: String,
    pub to: String,
    /// Of the message without dot-stuffing.
    pub size: usize,
    /// In hex; empty unless it is kept.
    pub sha256: String,
    /// Empty unless it is kept; never in the file.
    #[serde(skip)]
    pub content: Vec<u8>,
}

/// Everything accepted, in memory and, if there is a file, on the disk first.
#[derive(Debug, Default)]
pub(super) struct Journal {
    accepted: Mutex<Vec<Acceptance>>,
    file: Option<Writer>,
}

impl Journal {
    pub(super) fn open(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(Writer::start).transpose()?;
        Ok(Self { accepted: Mutex::default(), file })
    }

    pub(super) fn all(&self) -> Vec<Acceptance> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns when all of `accepted` is in the journal.
    pub(super) async fn add(&self, accepted: Vec<Acceptance>) -> io::Result<()> {
        if let Some(writer) = &self.file {
            writer.write(&accepted).await?;
        }
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner).extend(accepted);
        Ok(())
    }
}

/// Reads the file of a server, also one that is gone.
pub fn read_journal(path: &Path) -> io::Result<Vec<Acceptance>> {
    let lines = BufReader::new(File::open(path)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

type Request = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// A thread that writes what has gathered and syncs once for all of it.
#[derive(Debug)]
struct Writer {
    requests: Option<mpsc::Sender<Request>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let (requests, waiting) = mpsc::channel::<Request>();
        let work = move || {
            while let Ok(first) = waiting.recv() {
                let group: Vec<Request> =
                    std::iter::once(first).chain(waiting.try_iter()).collect();
                let lines: Vec<u8> = group.iter().flat_map(|(line, _)| line).copied().collect();
                let written = file.write_all(&lines).and_then(|()| file.sync_data());
                for (_, done) in group {
                    let result = match &written {
                        Ok(()) => Ok(()),
                        Err(error) => Err(error.kind().into()),
                    };
                    // Nobody waits any more when the connection is gone.
                    let _ = done.send(result);
                }
            }
        };
        let thread = std::thread::Builder::new().name("mail journal".into()).spawn(work)?;
        Ok(Self { requests: Some(requests), thread: Some(thread) })
    }

    async fn write(&self, accepted: &[Acceptance]) -> io::Result<()> {
        let mut lines = Vec::new();
        for one in accepted {
            serde_json::to_writer(&mut lines, one)?;
            lines.push(b'\n');
        }
        let (done, answer) = oneshot::channel();
        let sent = self.requests.as_ref().and_then(|requests| requests.send((lines, done)).ok());
        sent.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        answer.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}
