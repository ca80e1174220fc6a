//! A stream that counts what was handed to it.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::super::smtp::Stream;

/// How much was handed to a stream, and when the last of it was.
#[derive(Debug)]
pub(super) struct Written {
    bytes: AtomicU64,
    last: Mutex<Instant>,
}

impl Written {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Acquire)
    }

    pub(super) fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream to an API.
#[derive(Debug)]
pub(super) struct Counted {
    stream: Stream,
    pub(super) written: Arc<Written>,
}

impl Counted {
    pub(super) fn new(stream: Stream) -> Self {
        let written = Written { bytes: AtomicU64::new(0), last: Mutex::new(Instant::now()) };
        Self { stream, written: Arc::new(written) }
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let wrote = Pin::new(&mut this.stream).poll_write(cx, bytes);
        match &wrote {
            Poll::Ready(Ok(wrote)) => {
                this.written.bytes.fetch_add(*wrote as u64, Ordering::AcqRel);
                *this.written.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
            }
            // Nobody can say how much of it left under TLS: it counts as gone.
            Poll::Ready(Err(_)) if matches!(this.stream, Stream::Tls(_)) => {
                this.written.bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
            }
            Poll::Ready(Err(_)) | Poll::Pending => {}
        }
        wrote
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
