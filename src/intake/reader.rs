//! One way to read every source: open it, look at what was found out, take entries in chunks.

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::columns::Mapping;
use super::encoding::Charset;
use super::error::IntakeError;
use super::finding::Finding;
use super::source::{Options, Source};
use super::{outside, text, workbook};
use crate::domain::address::Address;
use crate::domain::past::Past;

/// A source that has been opened and understood; it reads ahead by a few chunks.
#[derive(Debug)]
pub struct Reader {
    /// What was found out about the source.
    pub head: Head,
    entries: mpsc::Receiver<Message>,
    /// Ends with the reader: what reads gives up when nobody listens.
    _tasks: JoinSet<()>,
}

/// What was found out about a source before its first entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// What people call the source.
    pub name: String,
    /// `None` where there is nothing to decode (XLSX, queries, other batches).
    pub charset: Option<Charset>,
    pub delimiter: Option<char>,
    pub sheet: Option<String>,
    /// False: the first line is a person, and the columns are called `1`, `2`, …
    pub has_headings: bool,
    pub columns: Vec<String>,
    pub mapping: Mapping,
    /// The first rows as they were understood, for showing.
    pub samples: Vec<Vec<String>>,
    /// What is worth saying although no line was rejected: a column that occurs twice.
    pub notes: Vec<Finding>,
}

/// What one line of the source came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    Person(Line),
    /// The source is an older system's record and says what became of the mail.
    Told(Told),
    Named(Named),
    Rejected(Rejected),
}

/// A person to mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// In the source, from 1; headings count. For a record with line breaks: its first line.
    pub number: u64,
    /// Without outer blanks; at most 190 characters.
    pub key: String,
    pub address: Address,
    pub name: Option<String>,
    /// A JSON object with every column; `name` is added if another column was mapped to it.
    pub fields: String,
}

/// A person with what became of their mail in an older system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub number: u64,
    pub key: String,
    /// A mail that was sent needs none.
    pub address: Option<Address>,
    pub fields: String,
    pub past: Past,
    /// The older system's own word for it.
    pub word: String,
}

/// Someone named in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub number: u64,
    pub key: Option<String>,
    pub address: Option<Address>,
}

/// A line that cannot become a row, with what could be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub finding: Finding,
    pub key: String,
    pub address: String,
}

/// Opens a source and finds out what it holds.
pub async fn open(source: Source, options: &Options) -> Result<Reader, IntakeError> {
    let (send, mut entries) = mpsc::channel(2);
    let mut out = Out { send, chunk: Vec::new(), weight: 0 };
    let options = options.clone();
    let mut tasks = JoinSet::new();
    match source {
        Source::File(path) => {
            tasks.spawn_blocking(move || {
                let result = if workbook::is_one(&path) {
                    workbook::read(&path, &options, &mut out)
                } else {
                    text::read_file(&path, &options, &mut out)
                };
                out.end(result);
            });
        }
        Source::Stdin => {
            tasks.spawn_blocking(move || {
                let result = text::read_stdin(&options, &mut out);
                out.end(result);
            });
        }
        Source::Query(query) => {
            tasks.spawn(async move {
                let result = outside::read_query(&query, &options, &mut out).await;
                out.end_async(result).await;
            });
        }
        Source::Rows(rows) => {
            tasks.spawn(async move {
                let result = outside::read_rows(rows, &mut out).await;
                out.end_async(result).await;
            });
        }
    }
    match entries.recv().await {
        Some(Message::Head(head)) => Ok(Reader { head: *head, entries, _tasks: tasks }),
        Some(Message::Failed(err)) => Err(err),
        Some(Message::Entries(_)) | None => Err(IntakeError::Lost),
    }
}

impl Reader {
    /// Returns the next entries in the order of the source; an empty list is its end.
    pub async fn next(&mut self) -> Result<Vec<Entry>, IntakeError> {
        match self.entries.recv().await {
            Some(Message::Entries(entries)) => Ok(entries),
            Some(Message::Failed(err)) => Err(err),
            Some(Message::Head(_)) | None => Err(IntakeError::Lost),
        }
    }
}

/// What travels from the task that reads to the one that asked.
#[derive(Debug)]
enum Message {
    Head(Box<Head>),
    /// Empty: the source is over.
    Entries(Vec<Entry>),
    Failed(IntakeError),
}

/// A chunk has at most so many entries.
const CHUNK: usize = 1_000;

/// And about so many bytes, so that long lines do not add up.
const CHUNK_BYTES: usize = 1 << 20;

/// Nobody listens any more.
#[derive(Debug)]
pub(super) struct Gone;

/// The end into which a source is read.
pub(super) struct Out {
    send: mpsc::Sender<Message>,
    chunk: Vec<Entry>,
    weight: usize,
}

impl Out {
    /// Says what was found out; call it once, before the first entry.
    pub(super) fn head(&self, head: Head) -> Result<(), Gone> {
        let message = Message::Head(Box::new(head));
        self.send.blocking_send(message).map_err(|_closed| Gone)
    }

    pub(super) async fn head_async(&self, head: Head) -> Result<(), Gone> {
        self.send.send(Message::Head(Box::new(head))).await.map_err(|_closed| Gone)
    }

    pub(super) fn entry(&mut self, entry: Entry) -> Result<(), Gone> {
        match self.gather(entry) {
            Some(full) => self.send.blocking_send(Message::Entries(full)).map_err(|_closed| Gone),
            None => Ok(()),
        }
    }

    pub(super) async fn entry_async(&mut self, entry: Entry) -> Result<(), Gone> {
        match self.gather(entry) {
            Some(full) => self.send.send(Message::Entries(full)).await.map_err(|_closed| Gone),
            None => Ok(()),
        }
    }

    fn gather(&mut self, entry: Entry) -> Option<Vec<Entry>> {
        self.weight += match &entry {
            Entry::Person(line) => line.fields.len(),
            Entry::Told(told) => told.fields.len(),
            Entry::Named(_) | Entry::Rejected(_) => 0,
        };
        self.chunk.push(entry);
        if self.chunk.len() < CHUNK && self.weight < CHUNK_BYTES {
            return None;
        }
        self.weight = 0;
        Some(std::mem::take(&mut self.chunk))
    }

    /// Hands over what is left and how it ended; that nobody listens is no failure.
    fn end(mut self, result: Result<(), Ended>) {
        for message in self.last(result) {
            if self.send.blocking_send(message).is_err() {
                return;
            }
        }
    }

    async fn end_async(mut self, result: Result<(), Ended>) {
        for message in self.last(result) {
            if self.send.send(message).await.is_err() {
                return;
            }
        }
    }

    fn last(&mut self, result: Result<(), Ended>) -> Vec<Message> {
        let mut messages = Vec::new();
        if !self.chunk.is_empty() {
            messages.push(Message::Entries(std::mem::take(&mut self.chunk)));
        }
        messages.push(match result {
            Err(Ended::Failed(err)) => Message::Failed(err),
            Ok(()) | Err(Ended::Gone) => Message::Entries(Vec::new()),
        });
        messages
    }
}

/// Why reading ended before the source did.
#[derive(Debug)]
pub(super) enum Ended {
    Failed(IntakeError),
    Gone,
}

impl From<IntakeError> for Ended {
    fn from(err: IntakeError) -> Self {
        Self::Failed(err)
    }
}

impl From<Gone> for Ended {
    fn from(_gone: Gone) -> Self {
        Self::Gone
    }
}
