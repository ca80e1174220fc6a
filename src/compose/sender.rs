//! The `From` of a kind, parsed and encoded once.

/// Who the mail is from, ready to be written into every message.
#[derive(Clone, Debug)]
pub struct Sender {
    pub name: Option<String>,
    /// With the domain in A-labels.
    pub address: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no sender: {why}")]
pub struct SenderError {
    pub text: String,
    pub why: String,
}

impl Sender {
    /// Reads `Name <user@domain>` or a bare address.
    pub fn parse(_text: &str) -> Result<Self, SenderError> {
        todo!()
    }

    /// Returns what stands after the `@`.
    pub fn domain(&self) -> &str {
        todo!()
    }
}
