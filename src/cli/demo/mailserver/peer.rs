//! The client's end of a connection, in clear or under TLS.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

/// A connected client.
#[derive(Debug)]
pub(super) enum Peer {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    /// A handshake failed, or is under way.
    Gone,
}

impl Peer {
    pub(super) async fn read(&mut self, into: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read_buf(into).await,
            Self::Tls(stream) => stream.read_buf(into).await,
            Self::Gone => Ok(0),
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Tls(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
            Self::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Closes our direction.
    pub(super) async fn shut_down(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown().await,
            Self::Tls(stream) => stream.shutdown().await,
            Self::Gone => Ok(()),
        }
    }

    /// Makes closing look like a reset to the client.
    pub(super) fn will_reset(&self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.set_zero_linger(),
            Self::Tls(stream) => stream.get_ref().0.set_zero_linger(),
            Self::Gone => Ok(()),
        }
    }

    /// Goes from clear to TLS.
    pub(super) async fn secure(&mut self, config: Arc<ServerConfig>) -> io::Result<()> {
        if let Self::Plain(stream) = std::mem::replace(self, Self::Gone) {
            *self = Self::Tls(Box::new(TlsAcceptor::from(config).accept(stream).await?));
        }
        Ok(())
    }
}
