//! SMTP in our own words: one dialogue over any stream, step by step.
//!
//! Promise: every step has a deadline of its own; replies are bytes with hard limits; whatever is
//! not exactly as RFC 5321 and RFC 2920 say closes the connection.
//! Absent on purpose: no pool, no retry, no second thought: an event is reported once.
//! Start reading at `open`, then `session` (offer and `hand_over`), then `wire`.

pub mod capabilities;
pub mod open;
pub mod reply;
pub mod resolve;
pub mod session;
pub mod stream;
pub mod tls;

mod auth;
mod stuffing;
mod wire;

use std::time::Duration;

use secrecy::SecretString;

pub use open::open;
pub use resolve::Resolver;
pub use session::Session;
pub use stream::Stream;
pub use tls::Trust;

/// Where and how a relay is reached: the settings of `[smtp.NAME]`.
///
/// Cloning is cheap, and clones share the certificates once they are loaded.
#[derive(Clone, Debug)]
pub struct SmtpRoute {
    /// A name or an address; also the name that the server's certificate must carry.
    pub host: String,
    pub port: u16,
    pub tls: Tls,
    /// Lets mail (never a login) travel in plain text to another machine.
    pub allow_plaintext: bool,
    pub trust: Trust,
    pub credentials: Option<Credentials>,
    /// What we call ourselves in EHLO.
    pub ehlo_name: String,
    pub deadlines: Deadlines,
    pub resolver: Resolver,
}

/// How the connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// TLS from the first byte (port 465).
    Implicit,
    /// STARTTLS, required: without it nothing is sent.
    StartTls,
    /// Plain text: only to this machine, or where the route allows it.
    None,
}

/// A login; printed and logged as `***`.
#[derive(Clone, Debug)]
pub struct Credentials {
    pub user: String,
    pub password: SecretString,
}

/// How long each step may take, from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Each of: looking the name up, connecting to one address, the TLS handshake.
    pub connect: Duration,
    pub greeting: Duration,
    /// EHLO, STARTTLS, AUTH, MAIL, RCPT and RSET, each.
    pub command: Duration,
    /// From DATA to its 354.
    pub data: Duration,
    /// Writing one block of the body.
    pub body: Duration,
    /// The wait for the answer to the final dot.
    pub answer: Duration,
}

impl Default for Deadlines {
    /// The least that RFC 5321 section 4.5.3.2 asks of a client.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            greeting: Duration::from_mins(5),
            command: Duration::from_mins(5),
            data: Duration::from_mins(2),
            body: Duration::from_mins(3),
            answer: Duration::from_mins(10),
        }
    }
}

impl SmtpRoute {
    /// Describes a plain route without login, as it is used to a server on this machine.
    pub fn plain(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            tls: Tls::None,
            allow_plaintext: false,
            trust: Trust::default(),
            credentials: None,
            ehlo_name: "localhost".to_owned(),
            deadlines: Deadlines::default(),
            resolver: Resolver::default(),
        }
    }
}
