//! Calls to a mail company's API, over a connection of our own, one mail at a time.
//!
//! Promise: a call is made once: redirects are never followed and nothing is repeated here; each
//! step has a deadline of its own; a call of which not all was written is told apart from one whose
//! answer nobody saw.
//! Absent on purpose: no pool behind our back: who opens a connection knows whether it was there
//! before the start marker was written. That is why this room speaks through hyper and not through
//! a client that opens, repeats and follows by itself.
//! Start reading at `open`, then `session`, then `answer`.

mod answer;
mod counted;
mod open;
mod session;

use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Uri};

use super::smtp::{Resolver, Trust};
use crate::clock::Clock;

pub use open::open;
pub use session::Session;

/// Where and how an API is called: the settings of `[http.NAME]`.
#[derive(Clone, Debug)]
pub struct HttpRoute {
    pub method: Method,
    /// `https://`, or `http://` to this machine.
    pub url: Uri,
    /// Lets calls travel in plain text to another machine.
    pub allow_plaintext: bool,
    pub trust: Trust,
    pub resolver: Resolver,
    /// Secret values are marked as such, and print as `Sensitive`.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub deadlines: Deadlines,
    pub reading: Reading,
    pub idempotency: Option<Idempotency>,
    /// Only to read a date in `Retry-After`.
    pub clock: Clock,
}

/// How long each step may take, from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// Each of: looking the name up, connecting to one address, the TLS handshake.
    pub connect: Duration,
    /// Writing the whole request.
    pub body: Duration,
    /// From the last byte of the request to the last byte of the answer.
    pub answer: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            body: Duration::from_mins(1),
            answer: Duration::from_mins(2),
        }
    }
}

/// What an answer of this API says, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// A JSON pointer to the provider's id of the message.
    pub id: Option<String>,
    /// Where yes or no stands, for APIs that answer 200 and say no in the body.
    pub accepted: Option<Accepted>,
    /// Statuses of class 5 of which the provider promises that nothing was taken.
    pub not_accepted: Vec<u16>,
}

/// A JSON pointer and the value there that means yes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub pointer: String,
    pub is: serde_json::Value,
}

/// The header in which the API takes a key that makes a repeated call harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub header: HeaderName,
    /// How long the provider remembers a key.
    pub window: Duration,
}

impl HttpRoute {
    /// Returns the host without brackets or port.
    fn host(&self) -> &str {
        self.url.host().unwrap_or_default()
    }

    fn is_secure(&self) -> bool {
        self.url.scheme_str() != Some("http")
    }

    fn port(&self) -> u16 {
        self.url.port_u16().unwrap_or(if self.is_secure() { 443 } else { 80 })
    }
}
