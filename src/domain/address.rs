//! One mail address in its documented canonical form.

use std::fmt;

/// A checked mail address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The local part as written, without the quotes around it.
    local: String,
    /// The domain as written.
    domain: String,
    /// The domain in A-labels, lower case.
    ascii: String,
}

/// What `Address::parse` took away before it read the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Removed {
    Blanks,
    Bom,
    ZeroWidth,
}

/// Says why a text is no address that mail can be sent to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("the address is empty")]
    Empty,
    #[error("no @ in the address")]
    NoAt,
}

impl Address {
    /// Reads an address after removing outer blanks, BOM and zero-width characters; says which.
    pub fn parse(_text: &str) -> Result<(Self, Vec<Removed>), BadAddress> {
        todo!()
    }

    /// Returns the address as it was written, cleaned: what is stored, shown and put into To.
    pub fn as_written(&self) -> String {
        todo!()
    }

    /// Returns the form by which two addresses are the same: NFC, A-labels, all lower case.
    pub fn compare_form(&self) -> String {
        todo!()
    }

    /// Returns the form for MAIL and RCPT, without brackets: quoted where RFC 5321 needs it.
    pub fn on_the_wire(&self) -> String {
        todo!()
    }

    /// Returns the domain in A-labels, lower case.
    pub fn domain(&self) -> &str {
        &self.ascii
    }

    /// Reports whether the local part can only travel with SMTPUTF8.
    pub fn needs_smtputf8(&self) -> bool {
        !self.local.is_ascii()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.as_written())
    }
}

/// Returns an address for reports that nobody can write to: `t***@example.org`.
pub fn mask(_address: &str) -> String {
    todo!()
}
