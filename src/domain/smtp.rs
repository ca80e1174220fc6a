//! What an SMTP event means: did the mail go out, who is to blame, may the connection live on.
//!
//! Promise: one table (`smtp/table.rs`) holds every cell; `classify` only looks it up.
//! Absent on purpose: no sockets, no bytes; the transport hands in what it saw.
//! The rules behind the table: a reply counts by its first digit (RFC 5321 4.2.1), and nothing is
//! ambiguous but the time from the first byte of the final dot to the end of a complete reply.

use std::fmt;
use std::time::Duration;

use super::outcome::{Blame, Outcome, Phase};
use super::text::quote;

mod enhanced;
mod table;
#[cfg(test)]
mod tests;
mod topic;

pub use enhanced::Enhanced;

/// The number a complete reply carries, with the enhanced code from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReplyCode {
    pub code: u16,
    pub enhanced: Option<Enhanced>,
}

/// How a connection was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// The step's deadline passed.
    Timeout,
    /// The server closed, also in the middle of a reply.
    Eof,
    /// Refused, unreachable, reset, or any other error of reading or writing.
    Reset,
}

/// What the transport saw at the step where a hand-over ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A complete, well-formed reply; the text is decoded for people (`text::lenient`).
    Reply(ReplyCode, String),
    /// What is no reply: no digits, differing codes, too long, a first digit outside 2 to 5.
    Malformed,
    /// The connection was lost before a reply was complete.
    Lost(Loss),
    /// An orderly stop of our own.
    Cancelled,
    /// The worker could not prove that it is still alive, right before the final dot.
    Fenced,
    /// The relay's name does not exist.
    NameNotFound,
    /// The relay's name could not be looked up now.
    NameFailed,
    /// The certificate, or the name in it, is not valid.
    BadCertificate,
    /// The TLS handshake failed for another reason.
    HandshakeFailed,
    /// The server sent plain text after its go-ahead for STARTTLS and before the handshake.
    Injected,
    /// The server does not offer what the route requires (STARTTLS, AUTH, a known mechanism).
    NotOffered(&'static str),
    /// The address needs SMTPUTF8 and the server does not offer it.
    NoSmtpUtf8,
    /// The message is larger than the size the server announced.
    TooLarge,
    /// A file could not be written (the folder transport).
    FileFailed(String),
}

impl Event {
    /// Makes the event of a complete reply, reading the enhanced code from its text.
    ///
    /// `text` is the reply without the codes in front of its lines; lines are joined by line feeds.
    pub fn reply(code: u16, text: impl Into<String>) -> Self {
        let text = text.into();
        Self::Reply(ReplyCode { code, enhanced: Enhanced::in_text(&text) }, text)
    }
}

impl fmt::Display for Event {
    /// The server's own words with the code in front, or what was seen instead; safe to show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply(reply, text) => {
                f.write_str(quote(&format!("{} {text}", reply.code)).trim())
            }
            Self::Malformed => f.write_str("an answer that is none"),
            Self::Lost(Loss::Timeout) => f.write_str("no answer in time"),
            Self::Lost(Loss::Eof) => f.write_str("the server closed the connection"),
            Self::Lost(Loss::Reset) => f.write_str("the connection was refused or broke"),
            Self::Cancelled => f.write_str("stopped by us"),
            Self::Fenced => f.write_str("stopped by us: the ledger has not heard of this worker"),
            Self::NameNotFound => f.write_str("the host name does not exist"),
            Self::NameFailed => f.write_str("the host name cannot be looked up now"),
            Self::BadCertificate => f.write_str("the certificate is not valid"),
            Self::HandshakeFailed => f.write_str("the TLS handshake failed"),
            Self::Injected => f.write_str("plain text after STARTTLS"),
            Self::NotOffered(what) => write!(f, "the server does not offer {what}"),
            Self::NoSmtpUtf8 => f.write_str("the server takes no address beyond ASCII (SMTPUTF8)"),
            Self::TooLarge => f.write_str("the message is larger than the server takes"),
            Self::FileFailed(why) => f.write_str(&quote(why)),
        }
    }
}

/// What a refusal may really be about, although it came as an answer for one recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suspect {
    /// The sender, our rights, our reputation or the server itself (breaker B2).
    Sender,
    /// The content, which is the same for everybody (breaker B3).
    Content,
}

/// Why a batch has to pause at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pause {
    /// The login was refused for good (breaker B1).
    Credential,
    /// The sender was refused at MAIL (breaker B2).
    Sender,
    /// The message is too big for this server (breaker B3).
    Size,
    /// The relay's name does not exist.
    Name,
    /// The server's certificate is not valid.
    Certificate,
    /// Encryption was refused, is missing, or was tampered with.
    Downgrade,
    /// The server does not want to serve us at all, or lacks what the route requires.
    Service,
    /// A file or folder of our own failed.
    Local,
}

/// What an ended attempt says: computed from phase and event alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub outcome: Outcome,
    pub blame: Blame,
    /// Whether it counts against `retry.attempts`.
    pub counts: bool,
    /// The least wait before the next try: of the route when the endpoint is blamed, else of the row.
    pub not_before: Option<Duration>,
    /// Set when the refusal may be our own fault: the row stays ready until a breaker decides.
    pub suspect: Option<Suspect>,
    /// Worth a look by a person although it counts as accepted.
    pub review: bool,
    /// Whether the connection may carry the next message (after RSET where a transaction is open).
    pub keep_connection: bool,
    /// Set when the batch has to pause at once.
    pub pause: Option<Pause>,
}

impl Verdict {
    /// Returns the outcome as evidence: a refusal that may be our own fault fails nobody.
    pub const fn as_evidence(&self) -> Outcome {
        match self.suspect {
            Some(_) => Outcome::NotSent,
            None => self.outcome,
        }
    }

    /// Returns it as a refusal that may be our own fault.
    pub(super) const fn but_suspect(&self, kind: Suspect) -> Self {
        let (outcome, blame) = (Outcome::Refused, Blame::Batch);
        Self { outcome, blame, suspect: Some(kind), pause: None, ..*self }
    }

    /// Returns it as a refusal that is about its recipient.
    pub(super) const fn believed(&self) -> Self {
        let (outcome, blame) = (Outcome::Refused, Blame::Row);
        Self { outcome, blame, counts: true, suspect: None, pause: None, ..*self }
    }
}

/// Reports whether the dialogue goes on after this code in this phase.
pub const fn goes_on(phase: Phase, code: u16) -> bool {
    match phase {
        Phase::Greeting | Phase::StartTls => code == 220,
        Phase::Auth => code == 235,
        Phase::Data => code == 354,
        Phase::Ehlo | Phase::Mail | Phase::Rcpt | Phase::Rset => code >= 200 && code < 300,
        Phase::Resolve
        | Phase::Connect
        | Phase::Tls
        | Phase::Body
        | Phase::Dot
        | Phase::Request
        | Phase::Quit
        | Phase::File
        | Phase::Local => false,
    }
}

/// Returns what it means for row, connection, route and batch that an attempt ended this way.
///
/// An attempt never ends in a reply after which the dialogue `goes_on`; told otherwise, the answer
/// is that nothing was sent and that the connection is out of step.
pub fn classify(phase: Phase, event: &Event) -> Verdict {
    table::look_up(phase, event)
}
