//! What reaches the console, and what it asks to be done: plain values.
//!
//! Promise: an effect that changes something carries the plan that was shown, with its numbers and
//! keys; whoever carries it out looks at nothing on the screen.

use std::path::PathBuf;

use crossterm::event::KeyEvent;

use super::words::Word;
use crate::config::Language;
use crate::domain::id::RecipientId;
use crate::domain::plan::Act;
use crate::domain::selection::Selection;
use crate::ops::doctor::DoctorBody;
use crate::ops::document::Change;
use crate::ops::error::{OpsError, Trouble};
use crate::ops::find::FindBody;
use crate::ops::import::{ImportBody, Opened};
use crate::ops::journal::JournalBody;
use crate::ops::live::Live;
use crate::ops::preview::PreviewBody;
use crate::ops::row::RowBody;
use crate::ops::rows::CauseCount;
use crate::ops::show::ShowBody;
use crate::ops::unknown::UnknownBody;
use crate::report::{Format, Listed, Privacy};

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    /// Text that was pasted; it never runs commands.
    Paste(String),
    Resize(u16, u16),
    /// Everything that is watched, or why it could not be read.
    Live(Result<Box<Live>, Fault>),
    Answer(Ticket, Result<Answer, Fault>),
    /// A deed came to its end.
    Done(Box<Deed>, Result<Outcome, Fault>),
    /// A second has passed.
    Clock,
}

/// Names one question; an answer to an older one is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// A question that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    Rows {
        batch: String,
        which: Selection,
        after: RecipientId,
    },
    Causes {
        batch: String,
    },
    Timeline {
        batch: String,
    },
    /// The message of a person, or of the first one.
    Message {
        batch: String,
        key: Option<String>,
    },
    Row {
        batch: String,
        key: String,
    },
    Unknown,
    /// Rows that were counted as sent by rule, of these batches.
    ByRule {
        batches: Vec<String>,
    },
    Find(String),
    Report(ReportWish),
    Journal,
    Doctor,
    /// What reading people in would do.
    Check(NewSend),
}

/// An answer.
#[derive(Debug)]
pub enum Answer {
    Rows(Vec<(RecipientId, RowBody)>),
    Causes(Vec<CauseCount>),
    Journal(JournalBody),
    Message(PreviewBody),
    Row(Box<ShowBody>),
    Unknown(UnknownBody),
    ByRule(Vec<(String, RowBody)>),
    Found(FindBody),
    Report(String),
    Doctor(DoctorBody),
    Checked(Box<Checked>),
}

/// What reading people in would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub opened: Option<Opened>,
    pub body: ImportBody,
}

/// A report as it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportWish {
    pub batches: Vec<String>,
    pub format: Format,
    pub listed: Option<Listed>,
    pub privacy: Privacy,
    pub language: Language,
}

/// A send as its form says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSend {
    pub kind: String,
    pub batch: String,
    pub title: String,
    /// A file, `query:NAME` or `batch:NAME`.
    pub source: String,
    pub encoding: Option<String>,
    pub template: Option<PathBuf>,
}

/// Something that changes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    Pause {
        batch: String,
    },
    Resume {
        batch: String,
    },
    Cancel {
        batch: String,
        count: u64,
        reason: String,
    },
    Discard {
        batch: String,
    },
    /// Starts ten seconds later, so that it can be taken back.
    Start {
        batch: String,
        count: u64,
    },
    TakeBack {
        batch: String,
    },
    Settle {
        act: Act,
        groups: Vec<Group>,
        reason: String,
    },
    Undo {
        entry: i64,
    },
    StartWorker,
    StopWorker {
        id: i64,
    },
    Test {
        batch: String,
        to: String,
        key: Option<String>,
    },
    Read(NewSend),
    Save {
        wish: ReportWish,
        file: PathBuf,
    },
    /// Closes the console; nothing else changes.
    Leave,
}

/// Rows of one batch as they were shown when a person decided about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub batch: String,
    pub which: Selection,
    /// Each row's attempt when it was shown; a row that moved on since is left alone.
    pub seen: Vec<(String, i64)>,
    pub count: u64,
}

/// What became of a deed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub change: Change,
    /// Something to say beside the numbers: a file, a reply, a process.
    pub note: String,
}

/// What is to be done outside of the console.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Ask(Ticket, Ask),
    Do(Box<Deed>),
    /// Asks for everything that is watched, now.
    Refresh,
    Copy(String),
    Redraw,
    Suspend,
    Quit,
}

/// Why something could not be done, worded for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub message: String,
    pub hint: Option<String>,
    /// The ledger cannot be reached; later it may work.
    pub away: bool,
}

impl From<OpsError> for Fault {
    fn from(err: OpsError) -> Self {
        let mut message = err.message.clone();
        let mut cause = std::error::Error::source(&err);
        while let Some(because) = cause {
            let said = because.to_string();
            if !message.ends_with(&said) {
                message = format!("{message}: {said}");
            }
            cause = because.source();
        }
        Self { message, hint: err.hint, away: err.trouble == Trouble::Away }
    }
}

impl Deed {
    /// Returns the deed with the reason that a person gave.
    #[must_use]
    pub fn because(self, why: &str) -> Self {
        let reason = why.to_owned();
        match self {
            Self::Cancel { batch, count, .. } => Self::Cancel { batch, count, reason },
            Self::Settle { act, groups, .. } => Self::Settle { act, groups, reason },
            other => other,
        }
    }

    /// Returns what people call it.
    pub const fn name(&self) -> Word {
        match self {
            Self::Pause { .. } | Self::TakeBack { .. } => Word::DoPause,
            Self::Resume { .. } => Word::DoResume,
            Self::Cancel { .. } => Word::DoCancel,
            Self::Discard { .. } => Word::DoDiscard,
            Self::Start { .. } => Word::DoStart,
            Self::Settle { act: Act::MarkSent, .. } => Word::DoMarkSent,
            Self::Settle { act: Act::MarkFailed, .. } => Word::DoMarkFailed,
            Self::Settle { act: Act::Resend | Act::AnotherCopy, .. } => Word::DoResend,
            Self::Undo { .. } => Word::DoUndo,
            Self::StartWorker => Word::DoWorker,
            Self::StopWorker { .. } => Word::DoStopWorker,
            Self::Test { .. } => Word::DoTest,
            Self::Read(_) => Word::DoRead,
            Self::Save { .. } => Word::DoSave,
            Self::Leave => Word::DoQuit,
        }
    }
}
