//! A mail server on loopback that misbehaves on purpose: for the demo, and for tests.
//!
//! Promise: a message is in the journal (and the file, synced) before the dot is answered, so the
//! journal is the truth about what was accepted, whatever the client was told.
//! Absent on purpose: it delivers nothing and checks no address.
//! Start reading at `Behaviour`, then `trick` (what an address can order).

mod behaviour;
mod conversation;
mod journal;
mod peer;
mod shared;
mod trick;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use behaviour::{
    Addresses, At, Behaviour, Deed, Goodbye, Keep, Login, Records, Rule, Says, ServerTls, Takes,
    Then, When,
};
pub use journal::{Acceptance, read_journal};

use conversation::Conversation;
use journal::Journal;
use peer::Peer;
use shared::Shared;

/// A running server; dropping it stops it.
///
/// It runs on a thread of its own, so it works beside any runtime and beside none.
#[derive(Debug)]
pub struct MailServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
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
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), behaviour)
    }

    /// Starts a server on this address, for one that was stopped and comes back.
    pub fn start_at(addr: SocketAddr, behaviour: Behaviour) -> io::Result<Self> {
        let journal = Journal::open(behaviour.journal.as_deref())?;
        let listener = TcpListener::bind(addr)?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(Shared::new(behaviour, journal));
        let stop = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = (Arc::clone(&shared), stop.clone());
        let work = move || runtime.block_on(serve(listener, served.0, served.1));
        let thread = std::thread::Builder::new().name("mail server".into()).spawn(work)?;
        Ok(Self { addr, shared, stop, thread: Some(thread) })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns everything accepted so far.
    pub fn journal(&self) -> Vec<Acceptance> {
        self.shared.journal.all()
    }

    pub fn seen(&self) -> Seen {
        self.shared.seen()
    }

    /// Returns every line that clients said so far, as `1 MAIL FROM:<…>` with the connection's
    /// number; bodies are left out.
    pub fn lines(&self) -> Vec<String> {
        self.shared.lines()
    }

    /// Changes the behaviour from the next command on.
    pub fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        self.shared.change(change);
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

/// Takes connections until the server is dropped; then all of them are cut.
async fn serve(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let mut conversations = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(_) = conversations.join_next() => {}
            accepted = listener.accept() => {
                // Out of file handles, most likely: the next one may work.
                let Ok((stream, _)) = accepted else { continue };
                let _ = stream.set_nodelay(true);
                let number = shared.numbers.connections.fetch_add(1, Ordering::Relaxed) + 1;
                let open = shared.numbers.open.fetch_add(1, Ordering::Relaxed) + 1;
                shared.numbers.most_open.fetch_max(open, Ordering::Relaxed);
                let shared = Arc::clone(&shared);
                conversations.spawn(async move {
                    let talk = Conversation::new(Arc::clone(&shared), Peer::Plain(stream), number);
                    // The client is gone: nothing is left to say.
                    let _ = talk.run().await;
                    shared.numbers.open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        }
    }
}
