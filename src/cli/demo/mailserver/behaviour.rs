//! What the server does, and what it does wrong.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::ServerConfig;

/// All that can be set about the server; the default is a server without faults.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// Decides, together with the recipient's address, whom a share of faults hits.
    pub seed: u64,
    /// The words after `250-` in the answer to EHLO; STARTTLS and AUTH are added by themselves.
    pub capabilities: Vec<String>,
    pub tls: ServerTls,
    /// Without it nobody needs to log in, and AUTH is not offered.
    pub login: Option<Login>,
    /// Looked through in order, after the address of the recipient; the first that fits is done.
    pub rules: Vec<Rule>,
    /// Whether local parts such as `r-550-511@` are obeyed (see `trick`).
    pub addresses: Addresses,
    /// More connections than these are greeted with 421.
    pub connections: Option<usize>,
    /// After so many messages on one connection it says good-bye.
    pub messages_per_connection: Option<(u32, Goodbye)>,
    /// After so many refusals without an accepted mail it answers 421 and closes, as Postfix does.
    pub errors: Option<u32>,
    /// More recipients than these in one message are answered 452 4.5.3.
    pub recipients: Option<usize>,
    /// A sender and recipient that were never seen together are put off for so long.
    pub greylist: Option<Duration>,
    /// A connection that says nothing for so long between two messages is closed with 421.
    pub idle: Option<Duration>,
    /// How long it thinks before it answers the dot.
    pub thinks: Duration,
    pub keep: Keep,
    /// A file that gets one line of JSON per acceptance, synced before the dot is answered.
    pub journal: Option<PathBuf>,
    /// Remembers every line that came, for tests.
    pub records: Records,
}

/// How the server protects its connections.
#[derive(Clone, Debug, Default)]
pub enum ServerTls {
    #[default]
    None,
    Implicit(Arc<ServerConfig>),
    StartTls(Arc<ServerConfig>),
}

/// The one login that the server takes.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: String,
    /// The mechanisms it offers.
    pub mechanisms: &'static str,
}

/// Whether the recipient's own address may order a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    Obeyed,
    Ordinary,
}

/// How the server leaves a client it no longer wants to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goodbye {
    Silent,
    With421,
}

/// What is kept of an accepted message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Only its envelope, Message-ID and size.
    Envelope,
    /// Its SHA-256 as well.
    Hash,
    /// Its hash and every byte.
    Bytes,
}

/// Whether the lines that clients say are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    Nothing,
    Lines,
}

/// A step of the dialogue, as the server sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum At {
    Greeting,
    Ehlo,
    StartTls,
    Auth,
    Mail,
    Rcpt,
    Data,
    /// The first bytes of a body have come.
    Body,
    /// The final dot has come.
    Dot,
    Rset,
    Quit,
}

/// Something the server does differently at one step.
#[derive(Clone, Debug)]
pub struct Rule {
    pub at: At,
    pub when: When,
    pub deed: Deed,
}

/// When a rule fits.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    Always,
    /// The first so many times that the step is reached, over all connections.
    Times(u32),
    /// Only on this connection; they are counted from 1.
    Connection(u64),
    /// Only for this message of a connection; they are counted from 1.
    Message(u32),
    /// The envelope's sender begins with this.
    From(String),
    /// The last recipient begins with this.
    To(String),
    /// This share of all recipients (0.0 to 1.0), every time.
    Share(f64),
    /// This share of all recipients (0.0 to 1.0), only the first time each.
    ShareOnce(f64),
}

/// What the server does at a step instead of answering as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// How long it waits before it says anything.
    pub after: Duration,
    pub says: Says,
    pub then: Then,
    /// Whether the message counts as accepted and is in the journal (at the dot).
    pub takes: Takes,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Says {
    Nothing,
    /// These bytes and a line's end.
    Line(Vec<u8>),
    /// These bytes and a line's end, one byte after the other with a wait between.
    Drip(Vec<u8>, Duration),
    /// Exactly these bytes.
    Bytes(Vec<u8>),
    /// A line that never ends.
    Endless,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    GoOn,
    /// Never says a word again, but keeps listening.
    Hang,
    /// Never says a word again and does not even read.
    Freeze,
    Close,
    /// Closes its own direction only.
    HalfClose,
    /// Cuts the connection so that the other side sees a reset.
    Reset,
}

/// Whether a message was taken, whatever was said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Message,
    Nothing,
}

impl Default for Behaviour {
    fn default() -> Self {
        let capabilities = ["PIPELINING", "SIZE 20971520", "8BITMIME", "ENHANCEDSTATUSCODES"];
        Self {
            seed: 1,
            capabilities: capabilities.map(str::to_owned).to_vec(),
            tls: ServerTls::None,
            login: None,
            rules: Vec::new(),
            addresses: Addresses::Obeyed,
            connections: None,
            messages_per_connection: None,
            errors: None,
            recipients: None,
            greylist: None,
            idle: None,
            thinks: Duration::ZERO,
            keep: Keep::Bytes,
            journal: None,
            records: Records::Nothing,
        }
    }
}

impl Behaviour {
    /// Adds a rule behind the others.
    #[must_use]
    pub fn with(mut self, at: At, when: When, deed: Deed) -> Self {
        self.rules.push(Rule { at, when, deed });
        self
    }

    /// Takes a word away from the answer to EHLO.
    #[must_use]
    pub fn without(mut self, capability: &str) -> Self {
        self.capabilities.retain(|line| line.split(' ').next() != Some(capability));
        self
    }
}

impl Deed {
    /// Answers with this line; a 2yz to the dot takes the message.
    pub fn reply(line: impl Into<Vec<u8>>) -> Self {
        let line = line.into();
        let takes = if line.first() == Some(&b'2') { Takes::Message } else { Takes::Nothing };
        Self { after: Duration::ZERO, says: Says::Line(line), then: Then::GoOn, takes }
    }

    /// Sends exactly these bytes and takes nothing.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { says: Says::Bytes(bytes.into()), ..Self::silence(Then::GoOn) }
    }

    /// Says nothing; a message is not taken.
    pub const fn silence(then: Then) -> Self {
        Self { after: Duration::ZERO, says: Says::Nothing, then, takes: Takes::Nothing }
    }

    /// Does the same, but takes the message first.
    #[must_use]
    pub fn taking(self) -> Self {
        Self { takes: Takes::Message, ..self }
    }

    /// Does the same, then this.
    #[must_use]
    pub fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    /// Does the same, but only after a while.
    #[must_use]
    pub fn after(self, after: Duration) -> Self {
        Self { after, ..self }
    }

    /// Says the same line, one byte after the other.
    #[must_use]
    pub fn dripping(self, every: Duration) -> Self {
        let says = match self.says {
            Says::Line(line) => Says::Drip(line, every),
            other => other,
        };
        Self { says, ..self }
    }
}
