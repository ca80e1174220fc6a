//! Message-IDs that follow from the row and can be read back to it.
//!
//! `<base32(ledger, recipient, generation).mac@domain>`: lower case, letters and digits only, so
//! that no log wraps or folds it. The mac keeps a stranger's guess from naming a row.

use data_encoding::{BASE32_NOPAD, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::domain::id::{Generation, RecipientId};

/// Characters of the mac that are written: 40 bits.
const MAC_LENGTH: usize = 8;

/// Writes and reads the Message-IDs of one ledger.
#[derive(Clone)]
pub struct Codec {
    ledger: Vec<u8>,
    mac: Hmac<Sha256>,
}

/// What stands in a Message-ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub recipient: RecipientId,
    pub generation: Generation,
}

impl Codec {
    /// Takes `ledger_id` and `mac_key` as `meta` holds them: hexadecimal text.
    pub fn new(ledger_id: &str, mac_key: &str) -> Option<Self> {
        let ledger = HEXLOWER_PERMISSIVE.decode(ledger_id.as_bytes()).ok()?;
        let key = HEXLOWER_PERMISSIVE.decode(mac_key.as_bytes()).ok()?;
        if ledger.is_empty() || key.is_empty() {
            return None;
        }
        Some(Self { ledger, mac: Hmac::new_from_slice(&key).ok()? })
    }

    /// Returns the Message-ID, with angle brackets, at the domain of the sender.
    pub fn write(&self, recipient: RecipientId, generation: Generation, domain: &str) -> String {
        let mut named = self.ledger.clone();
        put_number(&mut named, recipient.0.unsigned_abs());
        put_number(&mut named, generation.0.unsigned_abs());
        self.finish(&named, domain)
    }

    /// Returns a Message-ID for a mail that has no row (generation 0); it reads back to nothing.
    pub fn write_test(&self, chance: u64, domain: &str) -> String {
        let mut named = self.ledger.clone();
        put_number(&mut named, chance);
        put_number(&mut named, 0);
        self.finish(&named, domain)
    }

    /// Returns the row a Message-ID names, or `None` if this ledger did not write it.
    ///
    /// Angle brackets, case and outer blanks do not matter: logs change them.
    pub fn read(&self, text: &str) -> Option<Named> {
        let text = text.trim().trim_start_matches('<').trim_end_matches('>');
        let (local, _domain) = text.split_once('@')?;
        let (payload, mac) = local.split_once('.')?;
        let named = BASE32_NOPAD.decode(payload.to_ascii_uppercase().as_bytes()).ok()?;
        if !mac.eq_ignore_ascii_case(&self.mac(&named)) {
            return None;
        }
        let mut rest = named.strip_prefix(self.ledger.as_slice())?;
        let recipient = i64::try_from(take_number(&mut rest)?).ok()?;
        let generation = i64::try_from(take_number(&mut rest)?).ok()?;
        if !rest.is_empty() || recipient < 1 || generation < 1 {
            return None;
        }
        Some(Named { recipient: RecipientId(recipient), generation: Generation(generation) })
    }

    fn finish(&self, named: &[u8], domain: &str) -> String {
        let payload = BASE32_NOPAD.encode(named).to_ascii_lowercase();
        format!("<{payload}.{}@{domain}>", self.mac(named))
    }

    fn mac(&self, named: &[u8]) -> String {
        let tag = self.mac.clone().chain_update(named).finalize().into_bytes();
        let mut text = BASE32_NOPAD.encode(&tag).to_ascii_lowercase();
        text.truncate(MAC_LENGTH);
        text
    }
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codec").finish_non_exhaustive()
    }
}

/// Writes a number in groups of seven bits, lowest first: small numbers stay short.
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn codec() -> Codec {
        Codec::new("0123456789abcdef", "00112233445566778899aabbccddeeff").unwrap()
    }

    #[test]
    fn a_message_id_is_short_lower_case_and_the_same_every_time() {
        let id = codec().write(RecipientId(5012), Generation(1), "example.com");
        assert_eq!(id, codec().write(RecipientId(5012), Generation(1), "example.com"));
        assert!(id.len() < 60, "{id}");
        assert!(
            id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "<>.@".contains(c))
        );
        assert!(id.starts_with('<') && id.ends_with("@example.com>"), "{id}");
    }

    #[test]
    fn logs_may_change_case_brackets_and_blanks() {
        let id = codec().write(RecipientId(77), Generation(2), "example.com");
        let named = Some(Named { recipient: RecipientId(77), generation: Generation(2) });
        for seen in [&id, &id.to_uppercase(), id.trim_matches(['<', '>']), &format!(" {id}\r\n")] {
            assert_eq!(codec().read(seen), named, "{seen}");
        }
    }

    #[test]
    fn what_another_ledger_or_a_stranger_wrote_names_no_row() {
        let id = codec().write(RecipientId(77), Generation(1), "example.com");
        let other_key = Codec::new("0123456789abcdef", "ff112233445566778899aabbccddeeff").unwrap();
        let other_ledger =
            Codec::new("1123456789abcdef", "00112233445566778899aabbccddeeff").unwrap();
        assert_eq!(other_key.read(&id), None);
        assert_eq!(other_ledger.read(&id), None);
        for text in ["", "<>", "<a@b>", "<a.b@c>", "<é.b@c>", "<aaaaaaaa.aaaaaaaa@example.com>"] {
            assert_eq!(codec().read(text), None, "{text}");
        }
    }

    #[test]
    fn a_test_mail_names_no_row() {
        assert_eq!(codec().read(&codec().write_test(77, "example.com")), None);
    }

    #[test]
    fn a_ledger_without_id_or_key_has_no_codec() {
        assert!(Codec::new("", "00").is_none());
        assert!(Codec::new("00", "").is_none());
        assert!(Codec::new("xx", "00").is_none());
    }

    proptest! {
        #[test]
        fn every_row_reads_back(row in 1..=i64::MAX, generation in 1..1_000_i64) {
            let named = Named { recipient: RecipientId(row), generation: Generation(generation) };
            let id = codec().write(named.recipient, named.generation, "mail.example.com");
            prop_assert_eq!(codec().read(&id), Some(named));
        }

        #[test]
        fn one_changed_character_names_no_row(row in 1..1_000_000_i64, at in 0..30_usize) {
            let id = codec().write(RecipientId(row), Generation(1), "e");
            let local = id.find('@').unwrap();
            let at = 1 + at % (local - 1);
            let mut changed = id.clone().into_bytes();
            changed[at] = if changed[at] == b'a' { b'b' } else { b'a' };
            let changed = String::from_utf8(changed).unwrap();
            prop_assert_eq!(codec().read(&changed), None);
        }

        #[test]
        fn reading_never_panics(text in ".{0,80}") {
            let _ = codec().read(&text);
        }
    }
}
