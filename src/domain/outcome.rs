//! How one attempt ended, and what that says about everything around it.

use super::state::{Cause, words};

/// How one attempt to hand a row over ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The server's complete answer took responsibility.
    Accepted,
    /// The server's complete answer said no, for good.
    Refused,
    /// The server's complete answer said not now.
    Deferred,
    /// The attempt ended before the server could have accepted it.
    NotSent,
    /// The deciding step began and no complete answer came.
    Unknown(Cause),
}

impl Outcome {
    /// Returns the word that is stored with the attempt.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Refused => "refused",
            Self::Deferred => "deferred",
            Self::NotSent => "not_sent",
            Self::Unknown(_) => "unknown",
        }
    }
}

words! {
    /// The step of a hand-over in which something happened.
    Phase {
        Resolve = "resolve",
        Connect = "connect",
        Greeting = "greeting",
        Tls = "tls",
        Ehlo = "ehlo",
        StartTls = "starttls",
        Auth = "auth",
        Mail = "mail",
        Rcpt = "rcpt",
        Data = "data",
        Body = "body",
        /// The final dot was begun; its answer is awaited.
        Dot = "dot",
        /// A call to a mail API was begun; its answer is awaited.
        Request = "request",
        Rset = "rset",
        Quit = "quit",
        /// A file is written instead of a mail being sent.
        File = "file",
        /// The row was never handed to a transport (our own doing).
        Local = "local",
    }
}

words! {
    /// Who is to blame when an attempt did not end well.
    Blame {
        /// This recipient only.
        Row = "row",
        /// This connection only: no row is blamed, no try counted.
        Connection = "connection",
        /// The relay or account: all workers back off.
        Endpoint = "endpoint",
        /// The batch: it pauses and a person is told; rows stay ready.
        Batch = "batch",
    }
}
