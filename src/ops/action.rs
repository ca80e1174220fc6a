//! Everything an operator can do, as one table.
//!
//! The command line prints its help from it, the journal stores its words, and later keys and
//! palette are made from the same rows, so that none of them can promise what another lacks.

use Need::{Count, CountAndReason, Nothing, Reason};

/// One thing an operator can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Import,
    Preview,
    Test,
    Start,
    Pause,
    Resume,
    Cancel,
    Discard,
    Change,
    Work,
    Workers,
    StopWorker,
    Send,
    Status,
    Rows,
    Show,
    Find,
    Unknown,
    MarkSent,
    MarkFailed,
    Resend,
    AnotherCopy,
    Correct,
    Undo,
    Report,
    Suppressed,
    Suppress,
    Unsuppress,
    Rejects,
    RetryRejects,
    DropRejects,
    Journal,
    Doctor,
}

/// What an action asks for before it changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// A sentence for the journal.
    Reason,
    /// The exact number of rows.
    Count,
    CountAndReason,
}

/// Whether an action changes the ledger; `--read-only` refuses those that do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Looks,
    Changes,
}

/// What is to be said about one action.
#[derive(Clone, Copy, Debug)]
pub struct About {
    pub action: Action,
    /// Its word in the journal.
    pub word: &'static str,
    /// The command that does it.
    pub command: &'static str,
    /// One line for help, palette and documents.
    pub says: &'static str,
    pub touch: Touch,
    pub need: Need,
}

const fn looks(
    action: Action,
    word: &'static str,
    command: &'static str,
    says: &'static str,
) -> About {
    About { action, word, command, says, touch: Touch::Looks, need: Nothing }
}

const fn changes(
    action: Action,
    need: Need,
    word: &'static str,
    command: &'static str,
    says: &'static str,
) -> About {
    About { action, word, command, says, touch: Touch::Changes, need }
}

/// Every action, in the order in which an operator meets them.
pub const ACTIONS: &[About] = &[
    changes(Action::Import, Nothing, "import", "import", "Read people into a batch"),
    looks(Action::Preview, "preview", "preview", "Show messages as they will be sent"),
    changes(Action::Test, Nothing, "test", "test", "Send one message to yourself"),
    changes(Action::Start, Count, "start", "start", "Let workers take a batch"),
    changes(Action::Pause, Nothing, "pause", "pause", "Stop between messages"),
    changes(Action::Resume, Nothing, "resume", "resume", "Go on after a pause"),
    changes(Action::Cancel, CountAndReason, "cancel", "cancel", "End a batch for good"),
    changes(Action::Discard, Nothing, "discard", "discard", "Delete a draft"),
    changes(Action::Change, Reason, "change", "change", "Change speed, message or policy"),
    changes(Action::Work, Nothing, "work", "work", "Run a worker"),
    looks(Action::Workers, "workers", "workers", "Show who works, and on what"),
    changes(Action::StopWorker, Nothing, "stop_worker", "workers stop", "Ask a worker to stop"),
    changes(Action::Send, Count, "send", "send", "Import, start and work until idle"),
    looks(Action::Status, "status", "status", "Show counts"),
    looks(Action::Rows, "rows", "rows", "List rows"),
    looks(Action::Show, "show", "show", "Show one row with every attempt"),
    looks(Action::Find, "find", "find", "Find a person in all batches"),
    looks(Action::Unknown, "unknown", "unknown", "List rows nobody can decide, and what is known"),
    changes(Action::MarkSent, CountAndReason, "mark_sent", "mark sent", "Count rows as sent"),
    changes(
        Action::MarkFailed,
        CountAndReason,
        "mark_failed",
        "mark failed",
        "Count rows as failed",
    ),
    changes(Action::Resend, CountAndReason, "resend", "resend", "Send rows again"),
    changes(
        Action::AnotherCopy,
        CountAndReason,
        "another_copy",
        "resend --another-copy",
        "Send another copy of a mail that counts as sent",
    ),
    changes(
        Action::Correct,
        CountAndReason,
        "correct",
        "resend --to",
        "Correct one address and send again",
    ),
    changes(Action::Undo, Nothing, "undo", "undo", "Take a mark or resend back"),
    looks(Action::Report, "report", "report", "Report on batches"),
    looks(Action::Suppressed, "suppressed", "suppress list", "Show the do-not-send list"),
    changes(Action::Suppress, Nothing, "suppress", "suppress add", "Put people on it"),
    changes(Action::Unsuppress, Nothing, "unsuppress", "suppress remove", "Take people off it"),
    looks(Action::Rejects, "rejects", "rejects list", "Show jobs that could not become a row"),
    changes(Action::RetryRejects, Nothing, "retry_rejects", "rejects retry", "Take them in again"),
    changes(Action::DropRejects, Nothing, "drop_rejects", "rejects drop", "Forget them"),
    looks(Action::Journal, "journal", "journal", "Show what operators did"),
    looks(Action::Doctor, "doctor", "doctor", "Check everything and say what to do"),
];

impl Action {
    /// Returns what is to be said about this action.
    pub fn about(self) -> &'static About {
        // Every action is in the table; the test below holds it.
        ACTIONS.iter().find(|about| about.action == self).unwrap_or(&ACTIONS[0])
    }

    /// Returns the word that the journal stores.
    pub fn word(self) -> &'static str {
        self.about().word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_in_the_table_once() {
        // The discriminants count up from 0: a forgotten row leaves a hole.
        let found = ACTIONS.iter().map(|about| about.action as usize).collect::<Vec<_>>();
        assert_eq!(found, (0..ACTIONS.len()).collect::<Vec<_>>());
        assert_eq!(Action::Doctor as usize + 1, ACTIONS.len());
    }

    #[test]
    fn no_two_actions_share_a_word_or_a_command() {
        for (i, one) in ACTIONS.iter().enumerate() {
            for other in &ACTIONS[i + 1..] {
                assert_ne!(one.word, other.word);
                assert_ne!(one.command, other.command);
            }
        }
    }
}
