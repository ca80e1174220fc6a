//! Signs a finished message (RFC 6376).

/// A key and whom it speaks for.
#[derive(Debug)]
pub struct Dkim {}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DkimError {
    #[error("the DKIM key cannot be read: {0}")]
    Key(String),
    #[error("`{0}` is no DKIM {1}")]
    Name(String, &'static str),
}

impl Dkim {
    /// Reads a key file: PEM, RSA (PKCS#1 or PKCS#8) or Ed25519 (PKCS#8).
    pub fn new(_domain: &str, _selector: &str, _key_file: &[u8]) -> Result<Self, DkimError> {
        todo!()
    }
}
