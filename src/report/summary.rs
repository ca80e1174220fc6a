//! What is reported: plain values, all of one moment.

use std::time::Duration;

use super::phrases::{Phrase, basis_in, doubt_in, state_in};
use crate::config::Language;
use crate::domain::batch::{BatchState, Counts};
use crate::domain::state::{Cause, How, State};
use crate::domain::time::Timestamp;

/// One batch as it stood at `as_of`.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub as_of: Timestamp,
    pub batch: String,
    pub kind: String,
    pub title: String,
    pub state: BatchState,
    pub counts: Counts,
    pub started_at: Option<Timestamp>,
    pub started_by: Option<String>,
    pub scheduled_at: Option<Timestamp>,
    pub paused_because: Option<String>,
    /// Since when the row that waits longest has waited.
    pub oldest_ready_at: Option<Timestamp>,
    /// Mails taken a minute, lately; 0 while nothing goes out.
    pub rate_per_minute: f64,
    /// What did not go well and why, the commonest first.
    pub causes: Vec<WhyNot>,
    /// By mail domain, the largest first; counted from the rows themselves.
    pub domains: Vec<Domain>,
    /// The kind's own word for a key, as in member number.
    pub key_word: Option<String>,
}

/// Rows that did not end well, or of which nobody knows, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyNot {
    pub state: State,
    pub how: Option<How>,
    pub cause: Option<Cause>,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    pub rows: i64,
    /// The server's words to one of them, or our own.
    pub words: String,
}

/// The rows of one mail domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    pub domain: String,
    pub counts: Counts,
}

/// One row in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub key: String,
    pub address: String,
    pub state: State,
    pub how: Option<How>,
    pub unknown: bool,
    pub cause: Option<Cause>,
    pub unknown_attempts: i64,
    pub attempt: i64,
    pub generation: i64,
    pub message_id: Option<String>,
    pub phase: Option<String>,
    pub code: Option<u16>,
    pub enhanced: Option<String>,
    pub reply: String,
    pub note: String,
    pub updated_at: Timestamp,
}

/// One person of the source who got no row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub source: String,
    pub line: i64,
    pub key: String,
    pub address: String,
    pub why: String,
    pub value: String,
}

impl Summary {
    /// Returns the rows of which nothing can be said yet and that are not unknown either: with
    /// sent, failed and unknown they make the total.
    pub const fn left(&self) -> i64 {
        self.counts.left() - self.counts.unknown
    }

    /// Returns when the last row goes out if the speed stays what it is.
    pub fn done_about(&self) -> Option<Timestamp> {
        let (left, rate) = (self.left(), self.rate_per_minute);
        if left <= 0 || rate <= 0.0 || self.state != BatchState::Running {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate, to the minute")]
        let seconds = left as f64 / rate * 60.0;
        let wait = Duration::try_from_secs_f64(seconds).ok()?;
        Some(self.as_of + wait)
    }

    /// Says how the counters and the rows disagree, if they do.
    pub fn disagreement(&self, language: Language) -> Option<String> {
        if self.domains.is_empty() {
            return None;
        }
        let mut rows = Counts::default();
        for domain in &self.domains {
            rows.ready += domain.counts.ready;
            rows.sending += domain.counts.sending;
            rows.sent += domain.counts.sent;
            rows.failed += domain.counts.failed;
        }
        let kept = &self.counts;
        let pairs = [
            (State::Ready, kept.ready, rows.ready),
            (State::Sending, kept.sending, rows.sending),
            (State::Sent, kept.sent, rows.sent),
            (State::Failed, kept.failed, rows.failed),
        ];
        let (state, kept, rows) = pairs.into_iter().find(|(_, kept, rows)| kept != rows)?;
        let name = match language {
            Language::En => state.as_str(),
            Language::Ja | Language::Ko => state_in(state, language),
        };
        let (kept, rows) = (kept.to_string(), rows.to_string());
        Some(Phrase::NoSum.with(language, &[("state", name), ("kept", &kept), ("rows", &rows)]))
    }
}

/// Returns what people call the reason of a final state.
pub const fn basis(how: How) -> &'static str {
    match how {
        How::Accepted => "accepted",
        How::Assumed => "assumed",
        How::Operator => "by hand",
        How::Evidence => "from records",
        How::Imported => "taken over",
        How::Refused => "refused",
        How::Unbuildable => "cannot be built",
        How::Suppressed => "do not send",
        How::Expired => "too late",
        How::Cancelled => "cancelled",
    }
}

/// Returns what people call the reason why nobody knows.
pub const fn doubt(cause: Cause) -> &'static str {
    match cause {
        Cause::NoAnswer => "no answer",
        Cause::Crash => "the sender stopped",
        Cause::ServerError => "server error",
    }
}

/// Returns what people call a state.
pub const fn state_name(state: State) -> &'static str {
    match state {
        State::Ready => "Ready",
        State::Sending => "Sending",
        State::Sent => "Sent",
        State::Failed => "Failed",
    }
}

/// Returns what people call the state of a batch.
pub const fn batch_state_name(state: BatchState) -> &'static str {
    match state {
        BatchState::Draft => "Draft",
        BatchState::Scheduled => "Scheduled",
        BatchState::Running => "Running",
        BatchState::Paused => "Paused",
        BatchState::Cancelled => "Cancelled",
        BatchState::Done => "Done",
    }
}

impl Listing {
    /// Returns the state with its reason, as in `Failed (refused)`.
    pub fn standing(&self, language: Language) -> String {
        let name = state_in(self.state, language);
        let unknown = Phrase::Unknown.text(language);
        match (self.unknown, self.cause, self.how) {
            (true, Some(cause), _) => format!("{unknown} ({})", doubt_in(cause, language)),
            (true, None, _) => unknown.to_owned(),
            (false, _, Some(how)) => format!("{name} ({})", basis_in(how, language)),
            (false, _, None) => name.to_owned(),
        }
    }
}

impl WhyNot {
    /// Returns the state with its reason, as in `Failed (refused)`.
    pub fn standing(&self, language: Language) -> String {
        let name = state_in(self.state, language);
        let unknown = Phrase::Unknown.text(language);
        match (self.cause, self.how) {
            (Some(cause), None) => format!("{unknown} ({})", doubt_in(cause, language)),
            (_, Some(how)) => format!("{name} ({})", basis_in(how, language)),
            (None, None) => name.to_owned(),
        }
    }

    /// Returns the code and the enhanced code, as in `550 5.1.1`.
    pub fn codes(&self) -> String {
        codes(self.code, self.enhanced.as_deref())
    }
}

/// Returns a code and an enhanced code, as in `550 5.1.1`.
pub fn codes(code: Option<u16>, enhanced: Option<&str>) -> String {
    match (code, enhanced) {
        (Some(code), Some(enhanced)) => format!("{code} {enhanced}"),
        (Some(code), None) => code.to_string(),
        (None, _) => String::new(),
    }
}
