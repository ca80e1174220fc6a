//! Signs a finished message (RFC 6376): relaxed/relaxed, RSA or Ed25519 with SHA-256.
//!
//! Own code and not lettre's signer, because that reads the clock, takes no PKCS#8 key (what
//! `openssl genrsa` writes today) and signs through its own message type. A test compares the two.

use std::fmt;

use data_encoding::BASE64;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use sha2::{Digest, Sha256};

use super::BuildError;
use crate::domain::time::Timestamp;

/// What is signed where it is present.
///
/// The receivers that count want `List-Unsubscribe` and its `Post` covered (RFC 8058).
const SIGNED: &[&str] = &[
    "from",
    "to",
    "subject",
    "date",
    "message-id",
    "reply-to",
    "sender",
    "mime-version",
    "content-type",
    "content-transfer-encoding",
    "list-id",
    "list-unsubscribe",
    "list-unsubscribe-post",
    "auto-submitted",
];

/// A key and whom it speaks for.
pub struct Dkim {
    domain: String,
    selector: String,
    key: Key,
    random: SystemRandom,
}

enum Key {
    Rsa(Box<RsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DkimError {
    #[error("the DKIM key cannot be read: {0}")]
    Key(String),
    #[error("`{0}` is no DKIM {1}")]
    Name(String, &'static str),
}

impl Dkim {
    /// Reads a key file: PEM, RSA (PKCS#1 or PKCS#8, 2048 bits or more) or Ed25519 (PKCS#8).
    pub fn new(domain: &str, selector: &str, key_file: &[u8]) -> Result<Self, DkimError> {
        for (name, what) in [(domain, "domain"), (selector, "selector")] {
            let label =
                |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            if name.is_empty() || name.len() > 253 || !name.bytes().all(label) {
                return Err(DkimError::Name(name.escape_debug().to_string(), what));
            }
        }
        let pem = PrivateKeyDer::from_pem_slice(key_file).map_err(|err| {
            DkimError::Key(format!("it is no PEM file with a private key ({err})"))
        })?;
        let rejected = |err: ring::error::KeyRejected| {
            DkimError::Key(format!("{err}; RSA of 2048 bits or more, or Ed25519, can be used"))
        };
        let key = match &pem {
            PrivateKeyDer::Pkcs1(der) => {
                Key::Rsa(Box::new(RsaKeyPair::from_der(der.secret_pkcs1_der()).map_err(rejected)?))
            }
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
                    Ok(key) => Key::Ed25519(key),
                    Err(_) => Key::Rsa(Box::new(RsaKeyPair::from_pkcs8(der).map_err(rejected)?)),
                }
            }
            _ => return Err(DkimError::Key("it is neither PKCS#1 nor PKCS#8".to_owned())),
        };
        Ok(Self {
            domain: domain.to_ascii_lowercase(),
            selector: selector.to_owned(),
            key,
            random: SystemRandom::new(),
        })
    }

    /// Returns the message with its signature in front.
    pub(super) fn sign(&self, at: Timestamp, message: &[u8]) -> Result<Vec<u8>, BuildError> {
        let message = std::str::from_utf8(message).map_err(|err| wrong(&err))?;
        let (head, body) = message.split_once("\r\n\r\n").unwrap_or((message, ""));
        let head = relaxed_headers(head);
        let mut names = String::new();
        let mut signed = String::with_capacity(2 * head.len());
        for wanted in SIGNED {
            if let Some((name, line)) = head.iter().find(|(name, _)| name == wanted) {
                if !names.is_empty() {
                    names.push(':');
                }
                names.push_str(name);
                signed.push_str(line);
                signed.push_str("\r\n");
            }
        }
        let algorithm = match self.key {
            Key::Rsa(_) => "rsa-sha256",
            Key::Ed25519(_) => "ed25519-sha256",
        };
        let (domain, selector, seconds) =
            (&self.domain, &self.selector, at.0.div_euclid(1_000_000));
        let body_hash = BASE64.encode(&Sha256::digest(relaxed_body(body)));
        let header = format!(
            "DKIM-Signature: v=1; a={algorithm}; c=relaxed/relaxed;\r\n d={domain};\r\n \
             s={selector}; t={seconds};\r\n h={names};\r\n bh={body_hash};\r\n b="
        );
        for (_, line) in relaxed_headers(&header) {
            signed.push_str(&line);
        }
        let signature = BASE64.encode(&self.signature(signed.as_bytes())?);
        Ok([header.as_bytes(), fold(&signature).as_bytes(), b"\r\n", message.as_bytes()].concat())
    }

    fn signature(&self, signed: &[u8]) -> Result<Vec<u8>, BuildError> {
        match &self.key {
            Key::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &self.random, signed, &mut signature)
                    .map_err(|err| wrong(&err))?;
                Ok(signature)
            }
            // RFC 8463 signs the hash, not the text.
            Key::Ed25519(key) => Ok(key.sign(&Sha256::digest(signed)).as_ref().to_vec()),
        }
    }
}

impl fmt::Debug for Dkim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dkim")
            .field("domain", &self.domain)
            .field("selector", &self.selector)
            .finish_non_exhaustive()
    }
}

fn wrong(err: &dyn fmt::Display) -> BuildError {
    BuildError::Sign(err.to_string())
}

/// Returns name and canonical line of each header, unfolded and with single blanks.
fn relaxed_headers(head: &str) -> Vec<(String, String)> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for line in head.split("\r\n") {
        if line.starts_with([' ', '\t']) {
            if let Some((_, whole)) = headers.last_mut() {
                whole.push_str(line);
            }
        } else if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim_end().to_ascii_lowercase(), value.to_owned()));
        }
    }
    for (name, value) in &mut headers {
        let words: Vec<&str> = value.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
        *value = format!("{name}:{}", words.join(" "));
    }
    headers
}

/// Returns the canonical body: single blanks, none at line ends, no empty lines at the end.
fn relaxed_body(body: &str) -> String {
    let mut out = String::with_capacity(body.len() + 2);
    for line in body.split_inclusive("\r\n") {
        let mut blank = false;
        for c in line.trim_end_matches(['\r', '\n', ' ', '\t']).chars() {
            let is_blank = matches!(c, ' ' | '\t');
            if !is_blank {
                if blank {
                    out.push(' ');
                }
                out.push(c);
            }
            blank = is_blank;
        }
        out.push_str("\r\n");
    }
    out.truncate(out.trim_end_matches("\r\n").len());
    if !out.is_empty() {
        out.push_str("\r\n");
    }
    out
}

/// Breaks a signature into lines that fit.
fn fold(signature: &str) -> String {
    let mut out = String::with_capacity(signature.len() + signature.len() / 24);
    for (at, c) in signature.chars().enumerate() {
        if at > 0 && at % 72 == 0 {
            out.push_str("\r\n ");
        }
        out.push(c);
    }
    out
}
