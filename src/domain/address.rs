//! One mail address in its documented canonical form.
//!
//! An address has three spellings:
//!
//! - **as written**: what the source says, after outer blanks, BOM and zero-width characters are
//!   taken away (and said so). It is stored and shown.
//! - **on the wire**: what MAIL, RCPT and To carry. The domain is in A-labels, so that no relay needs
//!   SMTPUTF8 for it. A local part that RFC 5321 does not allow bare is quoted: docomo and au gave out
//!   `user.@` and `a..b@`, and every Japanese sender reaches them as `"a..b"@docomo.ne.jp`.
//! - **compare form**: two addresses with the same one are the same person. NFC, A-labels, no needless
//!   quotes, all lower case. Also the local part: no receiver of note tells `Taro@` from `taro@`, and
//!   two mails to one person are worse than one mail to two.
//!
//! Refused, with a reason for the operator: what surely cannot be delivered or is surely not meant.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::UnicodeNormalization;

use super::text::visible;

mod error;
mod parse;
#[cfg(test)]
mod tests;

pub use error::BadAddress;

/// A checked mail address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// The local part without the quotes around it.
    local: String,
    /// Whether it was written with quotes.
    quoted: bool,
    written_domain: String,
    /// The domain in A-labels, lower case.
    domain: String,
}

/// What was taken away before the address was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Removed {
    Blanks,
    Bom,
    ZeroWidth,
}

impl Removed {
    /// Returns the words for a report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blanks => "blanks around it",
            Self::Bom => "a byte order mark",
            Self::ZeroWidth => "zero-width characters",
        }
    }
}

impl Address {
    /// Reads an address after removing outer blanks, BOM and zero-width characters; says which.
    pub fn parse(text: &str) -> Result<(Self, Vec<Removed>), BadAddress> {
        let (clean, removed) = parse::clean(text);
        Ok((parse::read(&clean)?, removed))
    }

    /// Returns the address as it was written, cleaned: what is stored and shown.
    pub fn as_written(&self) -> String {
        let quoted = self.quoted || needs_quotes(&self.local);
        format!("{}@{}", Local { text: &self.local, quoted }, self.written_domain)
    }

    /// Returns the form by which two addresses are the same: NFC, A-labels, all lower case.
    pub fn compare_form(&self) -> String {
        let local: String = if self.local.is_ascii() {
            self.local.to_ascii_lowercase()
        } else {
            self.local.nfc().collect::<String>().to_lowercase().nfc().collect()
        };
        let quoted = needs_quotes(&local);
        format!("{}@{}", Local { text: &local, quoted }, self.domain)
    }

    /// Returns the form for MAIL, RCPT and To, without brackets.
    pub fn on_the_wire(&self) -> String {
        let quoted = !is_dot_atom(&self.local);
        format!("{}@{}", Local { text: &self.local, quoted }, self.domain)
    }

    /// Returns the domain in A-labels, lower case.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Reports whether the local part can only travel with SMTPUTF8.
    pub fn needs_smtputf8(&self) -> bool {
        !self.local.is_ascii()
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        Self::parse(text).map(|(address, _)| address)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.as_written())
    }
}

/// Returns an address for reports that nobody can write to: `t***@example.org`.
///
/// Takes whatever a source held, also what is no address.
pub fn mask(address: &str) -> String {
    let (local, domain) = match address.rsplit_once('@') {
        Some((local, domain)) => (local, Some(domain)),
        None => (address, None),
    };
    let first = local.trim_start().chars().find(|&c| c != '"');
    let mut masked = first.map(|c| visible(c.encode_utf8(&mut [0; 4])).into_owned());
    if let Some(masked) = &mut masked {
        masked.push_str("***");
    }
    let mut masked = masked.unwrap_or_default();
    if let Some(domain) = domain {
        masked.push('@');
        masked.push_str(&visible(domain));
    }
    masked
}

/// A local part, with or without the quotes around it.
struct Local<'a> {
    text: &'a str,
    quoted: bool,
}

impl fmt::Display for Local<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.quoted {
            return f.write_str(self.text);
        }
        f.write_str("\"")?;
        for c in self.text.chars() {
            if matches!(c, '"' | '\\') {
                f.write_str("\\")?;
            }
            write!(f, "{c}")?;
        }
        f.write_str("\"")
    }
}

/// Reports whether a character may stand bare in a local part (`atext`, RFC 5322 and RFC 6532).
fn is_atext(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii()
}

/// Reports whether RFC 5321 allows the local part without quotes.
fn is_dot_atom(local: &str) -> bool {
    local.split('.').all(|atom| !atom.is_empty() && atom.chars().all(is_atext))
}

/// Reports whether even we could not read the local part back without quotes.
fn needs_quotes(local: &str) -> bool {
    !local.chars().all(|c| c == '.' || is_atext(c))
}
