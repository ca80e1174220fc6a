//! One client's connection, from the greeting to the end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;

use super::behaviour::{At, Behaviour, Deed, Records, Says, ServerTls, Then};
use super::peer::Peer;
use super::shared::{Shared, Situation};

mod body;
mod commands;

/// The longest line that a client may say.
const LONGEST_LINE: usize = 64 * 1024;

/// Whether the conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    End,
}

/// One client's connection.
pub(super) struct Conversation {
    shared: Arc<Shared>,
    behaviour: Arc<Behaviour>,
    peer: Peer,
    number: u64,
    heard: Vec<u8>,
    /// How much of `heard` is behind us.
    done: usize,
    out: Vec<u8>,
    logged_in: bool,
    from: Option<String>,
    to: Vec<String>,
    /// Messages taken on this connection.
    messages: u32,
    /// Refusals since the last message that was taken.
    errors: u32,
    /// The first byte of the last answer.
    said: Option<u8>,
}

impl Conversation {
    pub(super) fn new(shared: Arc<Shared>, peer: Peer, number: u64) -> Self {
        let behaviour = shared.behaviour();
        Self {
            shared,
            behaviour,
            peer,
            number,
            heard: Vec::new(),
            done: 0,
            out: Vec::new(),
            logged_in: false,
            from: None,
            to: Vec::new(),
            messages: 0,
            errors: 0,
            said: None,
        }
    }

    /// Serves the client until one side has had enough.
    pub(super) async fn run(mut self) -> io::Result<()> {
        if let ServerTls::Implicit(config) = self.behaviour.tls.clone() {
            self.peer.secure(config).await?;
        }
        let open = self.shared.numbers.open.load(Ordering::Relaxed);
        if self.behaviour.connections.is_some_and(|most| open > most as u64) {
            self.say(b"421 4.7.0 too many connections");
            return self.flush().await;
        }
        if self.usually(At::Greeting, b"220 demo.test ESMTP").await? == Flow::End {
            return Ok(());
        }
        while let Some(line) = self.next_line().await? {
            self.behaviour = self.shared.behaviour();
            if self.behaviour.records == Records::Lines {
                self.shared.remember_line(self.number, &line);
            }
            if self.command(&line).await? == Flow::End {
                break;
            }
        }
        Ok(())
    }

    /// Returns the client's next line; answers leave before we wait for more.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let rest = self.heard.get(self.done..).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', rest) {
                let line = rest.get(..end).unwrap_or_default();
                let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
                self.done += end + 1;
                return Ok(Some(line));
            }
            if rest.len() > LONGEST_LINE || !self.hear_more().await? {
                return Ok(None);
            }
        }
    }

    /// Reads what has come; `false` when the client left or was silent for too long.
    async fn hear_more(&mut self) -> io::Result<bool> {
        self.flush().await?;
        self.heard.drain(..self.done);
        self.done = 0;
        self.heard.reserve(16 * 1024);
        let read = self.peer.read(&mut self.heard);
        match self.behaviour.idle {
            None => Ok(read.await? > 0),
            Some(idle) => {
                if let Ok(read) = timeout(idle, read).await {
                    return Ok(read? > 0);
                }
                self.say(b"421 4.4.2 idle for too long");
                self.flush().await?;
                Ok(false)
            }
        }
    }

    /// Does what a rule wants at this step, or else gives the usual answer.
    async fn usually(&mut self, at: At, answer: &[u8]) -> io::Result<Flow> {
        match self.deed(at) {
            Some(deed) => self.act(&deed).await,
            None => self.answer(answer).await,
        }
    }

    fn deed(&self, at: At) -> Option<Deed> {
        let here = Situation {
            connection: self.number,
            message: self.messages + 1,
            from: self.from.as_deref().unwrap_or_default(),
            to: self.to.last().map_or("", String::as_str),
        };
        self.shared.deed(&self.behaviour, at, here)
    }

    /// Answers with one line; too many refusals end the conversation.
    async fn answer(&mut self, line: &[u8]) -> io::Result<Flow> {
        self.said = line.first().copied();
        if matches!(line.first(), Some(b'4' | b'5')) {
            self.shared.numbers.errors.fetch_add(1, Ordering::Relaxed);
            self.errors += 1;
            if self.behaviour.errors.is_some_and(|most| self.errors > most) {
                self.say(b"421 4.7.0 too many errors");
                self.flush().await?;
                return Ok(Flow::End);
            }
        }
        self.say(line);
        Ok(if line.starts_with(b"421") { self.leave().await? } else { Flow::On })
    }

    async fn act(&mut self, deed: &Deed) -> io::Result<Flow> {
        if !deed.after.is_zero() {
            self.flush().await?;
            tokio::time::sleep(deed.after).await;
        }
        match &deed.says {
            Says::Nothing => self.said = None,
            Says::Line(line) => {
                if self.answer(line).await? == Flow::End {
                    return Ok(Flow::End);
                }
            }
            Says::Bytes(bytes) => {
                self.said = bytes.first().copied();
                self.out.extend_from_slice(bytes);
            }
            Says::Drip(line, every) => {
                self.said = line.first().copied();
                self.drip(line, *every).await?;
            }
            Says::Endless => {
                self.out.extend_from_slice(b"250 ");
                loop {
                    self.out.resize(4 * 1024, b'x');
                    self.flush().await?;
                }
            }
        }
        match deed.then {
            Then::GoOn => Ok(Flow::On),
            Then::Close => self.leave().await,
            Then::Hang => self.listen_only().await,
            Then::HalfClose => {
                self.flush().await?;
                self.peer.shut_down().await?;
                self.listen_only().await
            }
            Then::Freeze => {
                self.flush().await?;
                std::future::pending().await
            }
            Then::Reset => {
                self.flush().await?;
                self.peer.will_reset()?;
                Ok(Flow::End)
            }
        }
    }

    async fn drip(&mut self, line: &[u8], every: Duration) -> io::Result<()> {
        self.flush().await?;
        for &byte in line.iter().chain(b"\r\n") {
            self.peer.write(&[byte]).await?;
            tokio::time::sleep(every).await;
        }
        Ok(())
    }

    /// Hears the client out without ever answering again.
    async fn listen_only(&mut self) -> io::Result<Flow> {
        self.flush().await?;
        loop {
            self.heard.clear();
            self.done = 0;
            self.heard.reserve(16 * 1024);
            if self.peer.read(&mut self.heard).await? == 0 {
                return Ok(Flow::End);
            }
        }
    }

    async fn leave(&mut self) -> io::Result<Flow> {
        self.flush().await?;
        self.peer.shut_down().await?;
        Ok(Flow::End)
    }

    fn say(&mut self, line: &[u8]) {
        self.out.extend_from_slice(line);
        self.out.extend_from_slice(b"\r\n");
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.peer.write(&self.out).await?;
            self.out.clear();
        }
        Ok(())
    }
}
