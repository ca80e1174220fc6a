//! The bytes of a dialogue: lines go out in one write, replies come in, each within a deadline.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use super::reply::{Reply, Scan, scan};
use crate::domain::smtp::{Event, Loss};
use crate::domain::step::Step;
use crate::transport::Steps;

/// How long a reply is waited for that may lie ready after a write has failed.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What went wrong instead of a complete reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    Lost(Loss),
    Malformed,
}

impl From<Trouble> for Event {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost(loss) => Self::Lost(loss),
            Trouble::Malformed => Self::Malformed,
        }
    }
}

/// How an attempt to write body bytes came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    Whole,
    /// The gate said no; no byte of the dot was handed over.
    Stopped,
    /// The server spoke, or closed, although it was not its turn.
    Interrupted,
    Lost(Loss),
    /// Lost after a byte of the dot may have left.
    LostAfterDot(Loss),
}

/// Whether the stream says exactly how much of a failed write has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counting {
    Exact,
    /// It buffers (TLS): bytes it took may or may not have left.
    Buffered,
}

/// A stream with what was heard over it and not yet understood, and what is to be said.
#[derive(Debug)]
pub(super) struct Wire<S> {
    stream: S,
    counting: Counting,
    heard: Vec<u8>,
    /// How much of `heard` is behind us.
    done: usize,
    /// How much of `heard` before `done` is the last reply.
    last: usize,
    /// The bytes of the next write; emptied by it.
    pub(super) out: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S, counting: Counting) -> Self {
        Self { stream, counting, heard: Vec::new(), done: 0, last: 0, out: Vec::new() }
    }

    /// Gives the stream back; what was heard and not understood is lost.
    pub(super) fn into_stream(self) -> S {
        self.stream
    }

    /// Writes `out` in as few writes as the stream allows.
    pub(super) async fn send(&mut self, wait: Duration) -> Result<(), Loss> {
        let write = async {
            self.stream.write_all(&self.out).await?;
            self.stream.flush().await
        };
        let sent = timeout(wait, write).await;
        self.out.clear();
        match sent {
            Ok(sent) => sent.map_err(|error| loss(&error)),
            Err(_) => Err(Loss::Timeout),
        }
    }

    /// Reads one reply and returns its code; `last_reply` has the rest.
    pub(super) async fn reply(&mut self, wait: Duration) -> Result<u16, Trouble> {
        match timeout(wait, self.reply_at_leisure()).await {
            Ok(reply) => reply,
            Err(_) => Err(Trouble::Lost(Loss::Timeout)),
        }
    }

    async fn reply_at_leisure(&mut self) -> Result<u16, Trouble> {
        loop {
            match scan(self.heard.get(self.done..).unwrap_or_default()) {
                Scan::Complete { code, length } => {
                    self.done += length;
                    self.last = length;
                    return Ok(code);
                }
                Scan::Malformed => return Err(Trouble::Malformed),
                Scan::More => {}
            }
            self.make_room();
            match self.stream.read_buf(&mut self.heard).await {
                Ok(0) => return Err(Trouble::Lost(Loss::Eof)),
                Ok(_) => {}
                Err(error) => return Err(Trouble::Lost(loss(&error))),
            }
        }
    }

    /// Copies the reply whose code was just returned.
    pub(super) fn last_reply(&self, code: u16) -> Reply {
        let bytes = self.heard.get(self.done - self.last..self.done).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        Reply { code, bytes: bytes.strip_suffix(b"\r").unwrap_or(bytes).to_vec() }
    }

    /// Reads the reply that may lie ready although writing failed (Postfix does the same).
    pub(super) async fn last_words(&mut self) -> Option<Reply> {
        let code = self.reply(LAST_WORDS).await.ok()?;
        Some(self.last_reply(code))
    }

    /// Reports whether the server said anything, or closed, since the last reply.
    ///
    /// Costs no system call unless something has come.
    pub(super) fn was_interrupted(&mut self) -> bool {
        if self.spoke() {
            return true;
        }
        self.make_room();
        self.stream.read_buf(&mut self.heard).now_or_never().is_some()
    }

    /// Reports whether bytes were heard that belong to no reply yet.
    pub(super) fn spoke(&self) -> bool {
        self.done < self.heard.len()
    }

    /// Writes `out`, a block of a body without the final dot.
    pub(super) async fn send_block(&mut self, wait: Duration) -> Written {
        let (out, mut written) = (std::mem::take(&mut self.out), 0);
        let write = poll_fn(|cx| {
            while let Some(rest) = out.get(written..).filter(|rest| !rest.is_empty()) {
                match Pin::new(&mut self.stream).poll_write(cx, rest) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Written::Lost(Loss::Reset)),
                    Poll::Ready(Ok(n)) => written += n,
                    Poll::Ready(Err(error)) => return Poll::Ready(Written::Lost(loss(&error))),
                    Poll::Pending => return self.poll_interrupted(cx),
                }
            }
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => Poll::Ready(Written::Whole),
                Poll::Ready(Err(error)) => Poll::Ready(Written::Lost(loss(&error))),
                Poll::Pending => self.poll_interrupted(cx),
            }
        });
        let written = timeout(wait, write).await.unwrap_or(Written::Lost(Loss::Timeout));
        self.keep_buffer(out);
        written
    }

    /// Writes `out`, in which the final dot stands at `dot`, as long as `gate` allows.
    ///
    /// The gate is asked before every write that could let the dot out, so a write that had to wait
    /// for the server does not let it out minutes later.
    pub(super) async fn send_dot(
        &mut self,
        dot: usize,
        wait: Duration,
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Written {
        let (out, mut written, mut noted) = (std::mem::take(&mut self.out), 0, false);
        let mut flushing = false;
        let write = poll_fn(|cx| {
            while let Some(rest) = out.get(written..).filter(|rest| !rest.is_empty()) {
                if !noted {
                    noted = true;
                    steps.note(Step::Dot);
                }
                // After the note: that goes to a file, which can take its time.
                if !gate() {
                    if written == 0 {
                        steps.note(Step::Data);
                    }
                    return Poll::Ready(Written::Stopped);
                }
                match Pin::new(&mut self.stream).poll_write(cx, rest) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Written::Lost(Loss::Reset)),
                    Poll::Ready(Ok(n)) => written += n,
                    Poll::Ready(Err(error)) => {
                        let loss = loss(&error);
                        return Poll::Ready(match self.counting {
                            Counting::Exact => Written::Lost(loss),
                            Counting::Buffered => Written::LostAfterDot(loss),
                        });
                    }
                    Poll::Pending if written > dot => return Poll::Pending,
                    Poll::Pending => return self.poll_interrupted(cx),
                }
            }
            if flushing && !gate() {
                return Poll::Ready(Written::Stopped);
            }
            flushing = true;
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => Poll::Ready(Written::Whole),
                Poll::Ready(Err(error)) => Poll::Ready(Written::LostAfterDot(loss(&error))),
                Poll::Pending => Poll::Pending,
            }
        });
        let came_out = timeout(wait, write).await.unwrap_or(Written::Lost(Loss::Timeout));
        self.keep_buffer(out);
        match came_out {
            Written::Lost(loss) if written > dot => Written::LostAfterDot(loss),
            Written::Stopped if written > dot => Written::LostAfterDot(Loss::Reset),
            other => other,
        }
    }

    /// Closes our direction in an orderly way (TLS says good-bye of its own).
    pub(super) async fn shut_down(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// Overwrites what was last said: it held a secret.
    pub(super) fn forget_what_was_said(&mut self) {
        let room = self.out.capacity();
        self.out.clear();
        self.out.resize(room, 0);
        self.out.clear();
    }

    fn poll_interrupted(&mut self, cx: &mut Context<'_>) -> Poll<Written> {
        self.make_room();
        let read = std::pin::pin!(self.stream.read_buf(&mut self.heard));
        std::future::Future::poll(read, cx).map(|_| Written::Interrupted)
    }

    fn make_room(&mut self) {
        if self.done == self.heard.len() {
            self.heard.clear();
        } else {
            self.heard.drain(..self.done);
        }
        self.done = 0;
        self.last = 0;
        self.heard.reserve(2 * 1024);
    }

    fn keep_buffer(&mut self, mut out: Vec<u8>) {
        out.clear();
        self.out = out;
    }
}

fn loss(error: &io::Error) -> Loss {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Loss::Eof,
        io::ErrorKind::TimedOut => Loss::Timeout,
        _ => Loss::Reset,
    }
}
