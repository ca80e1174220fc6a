//! A mail server on loopback that misbehaves on purpose: for the demo, and for tests.
//!
//! Promise: a message is in the journal (and the file, synced) before the dot is answered, so the
//! journal is the truth about what was accepted, whatever the client was told.
//! Absent on purpose: it delivers nothing and checks no address.
//! Start reading at `Behaviour`, then `trick` (what an address can order).

mod behaviour;
mod journal;

use std::io;
use std::net::SocketAddr;

pub use behaviour::{
    Addresses, At, Behaviour, Deed, Goodbye, Keep, Login, Records, Rule, Says, ServerTls, Takes,
    Then, When,
};
pub use journal::Acceptance;

/// A running server; dropping it stops it.
///
/// It runs on a thread of its own, so it works beside any runtime and beside none.
#[derive(Debug)]
pub struct MailServer {
    addr: SocketAddr,
}

/// What the server has seen so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Connections so far, refused ones included.
    pub connections: u64,
    /// Connections open now.
    pub open: u64,
    /// The most connections that were open at once.
    pub most_open: u64,
    /// Messages accepted so far, once per recipient.
    pub accepted: u64,
    /// Commands answered with 4yz or 5yz so far.
    pub errors: u64,
}

impl MailServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start(behaviour: Behaviour) -> io::Result<Self> {
        let _ = behaviour;
        todo!()
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns everything accepted so far.
    pub fn journal(&self) -> Vec<Acceptance> {
        todo!()
    }

    pub fn seen(&self) -> Seen {
        todo!()
    }

    /// Returns every line that clients said so far, as `1 MAIL FROM:<…>` with the connection's number.
    pub fn lines(&self) -> Vec<String> {
        todo!()
    }

    /// Changes the behaviour from the next command on.
    pub fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        let _ = change;
        todo!()
    }
}
