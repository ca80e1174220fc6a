//! What the end of a call to a mail API means: did the mail go out, who is to blame.
//!
//! Promise: one table (`http/table.rs`) holds every cell; `classify` only looks it up. A mail counts
//! as accepted only by a complete answer that says so; a call whose answer nobody saw is unknown.
//! Absent on purpose: no sockets, no JSON; the transport hands in what it saw. What happens before
//! the request (name, connection, TLS) is in `domain::smtp`, the same for every transport.

use std::time::Duration;

use super::smtp::{Loss, Verdict};

mod table;
#[cfg(test)]
mod tests;

/// What the transport saw at the step where a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The head of an answer, with what its body came to.
    Answer(Answer),
    /// No complete head of an answer came, and all of the request may have been written.
    Lost(Loss),
    /// What came is no HTTP.
    Malformed,
    /// An orderly stop of our own after the request was begun.
    Cancelled,
    /// The worker could not prove that it is still alive, right before the request.
    Fenced,
    /// The connection ended, and it is sure that not all of the request was written.
    NotWritten(Loss),
}

/// An answer as far as it decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    pub body: Body,
    /// How long the server asks to wait (`Retry-After`, both forms).
    pub retry_after: Option<Duration>,
    /// The request carried an idempotency key.
    pub keyed: bool,
    /// The provider promises that an answer with this status took nothing (`not_accepted`).
    pub promised: bool,
    /// The answer's text names the recipient's address.
    pub names_recipient: bool,
}

/// What the body of an answer came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Nothing in it decides (neither `id` nor `accepted` is set).
    NotAsked,
    /// It holds the provider's id, or the value that means yes.
    Yes,
    /// It is readable and holds another value where yes was expected.
    No,
    /// The status alone says yes; the id that was expected is not there, or nothing can be read.
    NoId,
    /// Yes or no stands in the body, and nothing there says which.
    Undecided,
    /// It ended before its end.
    Cut,
}

/// Returns what it means for row, connection, route and batch that a call ended this way.
pub fn classify(event: &Event) -> Verdict {
    table::look_up(event)
}

/// Returns the moment up to which an unknown call may be repeated with the same key.
///
/// The repeated call must *arrive* inside the provider's window, so a tenth of it is kept back.
pub fn repeatable_until(
    first_started: super::time::Timestamp,
    window: Duration,
) -> super::time::Timestamp {
    first_started + window.saturating_sub(window / 10)
}
