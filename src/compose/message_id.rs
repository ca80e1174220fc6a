//! Message-IDs that follow from the row and can be read back to it.

use crate::domain::id::{Generation, RecipientId};

/// Writes and reads the Message-IDs of one ledger.
#[derive(Clone, Debug)]
pub struct Codec {}

/// What stands in a Message-ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    pub recipient: RecipientId,
    pub generation: Generation,
}

impl Codec {
    /// Takes `ledger_id` and `mac_key` as `meta` holds them: hexadecimal text.
    pub fn new(_ledger_id: &str, _mac_key: &str) -> Option<Self> {
        todo!()
    }

    /// Returns the Message-ID, with angle brackets, at the domain of the sender.
    pub fn write(&self, _recipient: RecipientId, _generation: Generation, _domain: &str) -> String {
        todo!()
    }

    /// Returns a Message-ID for a mail that has no row; it reads back to nothing.
    pub fn write_test(&self, _chance: u64, _domain: &str) -> String {
        todo!()
    }

    /// Returns the row a Message-ID names, or `None` if this ledger did not write it.
    ///
    /// Angle brackets, case and outer blanks do not matter: logs change them.
    pub fn read(&self, _text: &str) -> Option<Named> {
        todo!()
    }
}
