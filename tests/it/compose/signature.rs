//! DKIM signatures. The two of the snapshots were verified once with dkimpy, which shares no code
//! with this one; the same key and message always give the same signature.

use insta::assert_snapshot;
use ittsu::compose::Dkim;

use super::{Case, head};

const PKCS8: &[u8] = include_bytes!("keys/rsa-pkcs8.pem");
const PKCS1: &[u8] = include_bytes!("keys/rsa-pkcs1.pem");
const ED25519: &[u8] = include_bytes!("keys/ed25519.pem");
const WEAK: &[u8] = include_bytes!("keys/rsa-1024.pem");

/// A message whose canonical form differs from its own: blanks, folds and empty lines at the end.
const CASE: Case<'static> = Case {
    text: "Subject: 会員の皆様への重要なお知らせとサービス内容の変更についてのご案内\n\
           List-Unsubscribe: https://example.com/u/1\n\nHello \t world  \n\n\n",
    html: None,
    from: "会員サービス <notice@example.com>",
    key: "1",
    address: "taro@example.jp",
    fields: "{}",
};

fn signed(key: &[u8]) -> String {
    let dkim = Dkim::new("Example.COM", "s2026", key).unwrap();
    let built = CASE.sign(Some(&dkim)).unwrap();
    let head = head(&built);
    let (signature, rest) = head.split_once("\r\nFrom:").unwrap();
    assert!(rest.contains("\r\nTo:"), "the message follows its signature");
    signature.replace("\r\n", "\n")
}

#[test]
fn an_rsa_signature_covers_the_headers_that_receivers_check() {
    assert_snapshot!(signed(PKCS8), @r"
    DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;
     d=example.com;
     s=s2026; t=1796016727;
     h=from:to:subject:date:message-id:mime-version:content-type:content-transfer-encoding:list-unsubscribe:list-unsubscribe-post:auto-submitted;
     bh=yGIXoM91E1DiKjvCBcC8NlWyw54TdfMQ08sdtwtOO4I=;
     b=CmEaX/x7uKv2BiJy4Qb8wg36iW4Qy3OPm1+1ZGTjeUkL+vh31sMXpEf6uq9TQCzbHZ+MY6Xc
     dwuEFwoKnsdQeENzAHf0pFXO+RLDeTPOjnOJuJH79UcEE2McdIuepEiIwtQSs0ynD5s8xRHU
     Zhi8/17+2HZ8mZ9J2g+E6FYXwd4Bnhi+IEaMHWtZCXYRydBeog7MZsnUTlbuQWmgCTNzJU5U
     ttq+A2viJvkgzlRZq6l+vJh0pyy/heI8y9S0gvRXnGueet5igAgRFVPMPXtA3/0LqHVRgYIH
     eEmN3TUXHQG665oIYt7qpxu5cHl4OrbGHkTG6j2lQdZgAgG6PmrBWg==
    ");
}

#[test]
fn an_ed25519_signature_is_made_as_rfc_8463_wants() {
    assert_snapshot!(signed(ED25519), @r"
    DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
     d=example.com;
     s=s2026; t=1796016727;
     h=from:to:subject:date:message-id:mime-version:content-type:content-transfer-encoding:list-unsubscribe:list-unsubscribe-post:auto-submitted;
     bh=yGIXoM91E1DiKjvCBcC8NlWyw54TdfMQ08sdtwtOO4I=;
     b=3SvCScMif3D4Wp+H3xMYiCZTexJpmjkFMhMzmR6XxJQL10AodJavrNUe11rYF74IB0MJAFRi
     +QMGN633Cz70CQ==
    ");
}

#[test]
fn both_kinds_of_rsa_key_file_give_the_same_signature() {
    assert_eq!(signed(PKCS8), signed(PKCS1));
}

#[test]
fn a_key_that_cannot_be_used_says_why() {
    let err = |key: &[u8]| Dkim::new("example.com", "s", key).unwrap_err().to_string();
    assert_eq!(
        err(WEAK),
        "the DKIM key cannot be read: TooSmall; RSA of 2048 bits or more, or Ed25519, can be used"
    );
    assert!(err(b"hello").contains("it is no PEM file with a private key"), "{}", err(b"hello"));
    assert!(Dkim::new("example.com; x=y", "s", PKCS8).is_err());
    assert!(Dkim::new("example.com", "", PKCS8).is_err());
}

#[test]
fn a_key_never_shows_in_debug_output() {
    let dkim = Dkim::new("example.com", "s", PKCS8).unwrap();
    assert_eq!(format!("{dkim:?}"), r#"Dkim { domain: "example.com", selector: "s", .. }"#);
}
