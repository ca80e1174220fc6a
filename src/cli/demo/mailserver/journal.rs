//! What the server has accepted: the truth that everything else is measured by.

use crate::domain::time::Timestamp;

/// One message accepted for one recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub at: Timestamp,
    /// The connection it came over; they are counted from 1.
    pub connection: u64,
    /// As in the header, brackets included; empty if there is none.
    pub message_id: String,
    pub from: String,
    pub to: String,
    /// Of the message without dot-stuffing.
    pub size: usize,
    /// In hex; empty unless it is kept.
    pub sha256: String,
    /// Empty unless it is kept.
    pub content: Vec<u8>,
}
