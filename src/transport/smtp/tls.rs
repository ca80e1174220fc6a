//! Whom we trust, and the TLS handshake.
use std::path::PathBuf;

/// The certificate authorities that a relay's certificate may come from.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    file: Option<PathBuf>,
}

impl Trust {
    /// Trusts the authorities in this PEM file, and no others.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()) }
    }
}
