//! Turns a template and one person's fields into one RFC 5322 message.
//!
//! Promise: what comes out has CRLF line ends only, no line of 998 bytes or more, exactly one
//! address in `To`, and nothing but US-ASCII; whatever stands in the fields cannot add a header.
//! The same template, person and stamp always give the same bytes.
//! Absent on purpose: no clock, no chance, no ledger, no network. `Date` and `Message-ID` are given.
//! Start reading at `template`, then `build`.

pub mod build;
pub mod dkim;
mod encode;
pub mod error;
mod headers;
pub mod message_id;
pub mod request;
pub mod sender;
pub mod template;
mod variables;

use crate::domain::address::Address;
use crate::domain::time::Timestamp;

pub use self::dkim::Dkim;
pub use self::error::{BuildError, TemplateError};
pub use self::request::RequestBody;
pub use self::sender::Sender;
pub use self::template::Template;

/// The one person a message is built for, as the ledger holds them.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    pub key: &'a str,
    pub address: &'a Address,
    /// A JSON object with every column of the source; `name`, if there, is shown in `To`.
    pub fields: &'a str,
}

/// What must be the same on every try of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// With its angle brackets, as `message_id::Codec::write` returns it.
    pub message_id: String,
    /// The first start of the generation.
    pub date: Timestamp,
}

/// One message, ready to be handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub subject: String,
    /// The text part as a person reads it, with `\n` line ends.
    pub text: String,
    pub html: Option<String>,
    /// The bytes for the wire, not dot-stuffed, ending in CRLF.
    pub content: Vec<u8>,
    /// Of `content`, in bytes.
    pub size: usize,
}
