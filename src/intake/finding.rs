//! What is wrong with a line, in words for the person who made the file.

use crate::domain::address::BadAddress;

/// One thing that is wrong with one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub line: u64,
    /// Empty if it concerns the whole line.
    pub column: String,
    pub why: Why,
    /// The offending value, cut to a length that can be shown.
    pub value: String,
}

impl Finding {
    /// Says something about a line as a whole.
    pub(super) const fn line(line: u64, why: Why) -> Self {
        Self { line, column: String::new(), why, value: String::new() }
    }
}

/// Why a line cannot become a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    #[error("{0}")]
    Address(#[from] BadAddress),
    #[error("the key is empty")]
    NoKey,
    #[error("the key has {0} characters; at most 190 are allowed")]
    LongKey(usize),
    #[error("it holds {0}")]
    Control(String),
    #[error("it has {found} fields, the header has {expected}")]
    Ragged { found: usize, expected: usize },
    #[error("it is longer than {0} bytes")]
    Long(usize),
    #[error("a quotation mark is opened here and never closed")]
    OpenQuote,
    #[error("text follows a closing quotation mark")]
    AfterQuote,
    #[error("it holds a character that is no {0}")]
    Damaged(String),
    #[error(
        "it is no state (ready, sending, sent, failed); --map-state WORD=STATE says what it means"
    )]
    NoState,
    #[error("it is no number of attempts")]
    NoAttempts,
    #[error("it is no time")]
    NoTime,
    #[error("{0}")]
    Unreadable(String),
    #[error("the column occurs twice; this one is called `{0}`")]
    ColumnTwice(String),
}

/// Keeps the first findings and counts the others.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub kept: Vec<Finding>,
    pub left_out: u64,
}

impl Findings {
    /// More are of no use to a reader and cost memory.
    pub const MOST: usize = 1_000;

    /// Keeps `finding` if there is room.
    pub fn push(&mut self, finding: Finding) {
        if self.kept.len() < Self::MOST {
            self.kept.push(finding);
        } else {
            self.left_out += 1;
        }
    }
}
