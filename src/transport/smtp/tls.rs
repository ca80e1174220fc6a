//! Whom we trust, and the TLS handshake.
//!
//! Promise: the certificate's chain, dates and name are always checked; nothing below TLS 1.2.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::resolve::literal;
use super::stream::Stream;
use crate::domain::smtp::{Event, Loss};

/// The certificate authorities that a relay's certificate may come from.
///
/// They are read at the first handshake and shared by all clones, and so are TLS sessions.
#[derive(Clone, Debug, Default)]
pub struct Trust(Arc<Authorities>);

#[derive(Debug, Default)]
struct Authorities {
    /// The system's own when there is none.
    file: Option<PathBuf>,
    config: OnceLock<Arc<ClientConfig>>,
}

impl Trust {
    /// Trusts the authorities in this PEM file, and no others.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Authorities { file: Some(path.into()), config: OnceLock::new() }))
    }

    async fn config(&self) -> Result<Arc<ClientConfig>, Event> {
        if let Some(config) = self.0.config.get() {
            return Ok(Arc::clone(config));
        }
        let authorities = Arc::clone(&self.0);
        // Reading some hundred files would hold up every other connection of this thread.
        let read = tokio::task::spawn_blocking(move || authorities.read()).await;
        // A failure is not kept: the file may be put right while we run.
        let read = read.unwrap_or_else(|_| Err("the authorities could not be read".to_owned()));
        let config = read.map_err(Event::FileFailed)?;
        Ok(Arc::clone(self.0.config.get_or_init(|| config)))
    }
}

impl Authorities {
    fn read(&self) -> Result<Arc<ClientConfig>, String> {
        let mut roots = RootCertStore::empty();
        match &self.file {
            Some(path) => {
                let failed =
                    |error| format!("cannot read authorities from {}: {error}", path.display());
                for certificate in CertificateDer::pem_file_iter(path).map_err(failed)? {
                    let certificate = certificate.map_err(failed)?;
                    roots.add(certificate).map_err(|error| {
                        format!("an authority in {} cannot be used: {error}", path.display())
                    })?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        if roots.is_empty() {
            return Err(match &self.file {
                Some(path) => format!("there is no certificate authority in {}", path.display()),
                None => "this system has no certificate authorities".to_owned(),
            });
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Arc::new(config))
    }
}

/// Secures a connection to `host`, whose certificate must carry that name.
pub(in crate::transport) async fn secure(
    trust: &Trust,
    host: &str,
    tcp: TcpStream,
) -> Result<Stream, Event> {
    let name = match literal(host) {
        Some(address) => Some(ServerName::from(address)),
        None => ServerName::try_from(host.to_owned()).ok(),
    };
    // No certificate can carry a name that is none.
    let Some(name) = name else { return Err(Event::BadCertificate) };
    let connector = TlsConnector::from(trust.config().await?);
    match connector.connect(name, tcp).await {
        Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
        Err(error) => Err(reason(&error)),
    }
}

fn reason(error: &std::io::Error) -> Event {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidCertificate(_)) => Event::BadCertificate,
        Some(_) => Event::HandshakeFailed,
        None if error.kind() == std::io::ErrorKind::UnexpectedEof => Event::Lost(Loss::Eof),
        None => Event::Lost(Loss::Reset),
    }
}
