//! What a reply is about: by its enhanced code, and by a few phrases that servers really send.

use super::ReplyCode;

/// What a reply is about, as far as it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// It says nothing of use.
    Silent,
    /// The address is bad, unknown or has moved.
    Recipient,
    /// The mailbox is full, disabled or has trouble.
    Mailbox,
    /// The mailbox takes no more just now, from us or from anybody.
    MailboxLimit,
    /// Mailbox or domain belong to somebody else now.
    Owner,
    /// The address needs letters that the next hop cannot carry.
    NonAscii,
    /// The sender's address or domain is bad.
    Sender,
    /// Rights, login or reputation.
    Policy,
    /// A login is missing or wrong.
    Login,
    /// The message is too big.
    Size,
    /// What the message holds.
    Content,
    /// The server itself is full, closed or broken.
    System,
    /// Network and routing beyond the server.
    Network,
    /// The server did not understand us.
    Protocol,
    /// Too many recipients in one transaction or connection.
    TooMany,
    /// We are too fast.
    Rate,
    /// People complain about us: wait for hours.
    Complaints,
    /// First contact is put off on principle.
    Greylist,
    /// DATA came although no recipient was taken.
    NoRecipients,
}

/// Which detail of a subject a line of the table means.
enum Detail {
    Is(&'static [u16]),
    Any,
}
use Detail::{Any, Is};

/// First digits of replies in which a line counts.
type Digits = &'static [u16];
const EITHER: Digits = &[4, 5];
const FOUR: Digits = &[4];
const FIVE: Digits = &[5];

/// The scope of enhanced codes (RFC 3463, the IANA registry); the first line that fits holds.
///
/// The class is left out on purpose: it may disagree with the reply's own first digit.
const ENHANCED: &[(Digits, u16, Detail, Topic)] = &[
    (EITHER, 1, Is(&[7, 8]), Topic::Sender),
    (EITHER, 1, Is(&[1, 2, 3, 4, 5, 6, 9, 10]), Topic::Recipient),
    (EITHER, 2, Is(&[3]), Topic::Size),
    (FOUR, 2, Is(&[1]), Topic::MailboxLimit),
    (EITHER, 2, Is(&[1, 2, 4]), Topic::Mailbox),
    (EITHER, 3, Is(&[4]), Topic::Size),
    (FOUR, 3, Any, Topic::System),
    (FIVE, 3, Is(&[1, 2, 5]), Topic::System),
    (EITHER, 4, Any, Topic::Network),
    (EITHER, 5, Is(&[3]), Topic::TooMany),
    (EITHER, 5, Any, Topic::Protocol),
    (EITHER, 6, Is(&[7, 8, 9, 10]), Topic::NonAscii),
    (EITHER, 6, Any, Topic::Content),
    (EITHER, 7, Is(&[17, 18]), Topic::Owner),
    (FOUR, 7, Is(&[28]), Topic::Rate),
    (EITHER, 7, Is(&[8, 9]), Topic::Login),
    (EITHER, 7, Any, Topic::Policy),
];

/// Phrases, in lower case, that say more than the codes beside them.
const PHRASES: &[(Digits, &str, Topic)] = &[
    (EITHER, "too many recipients", Topic::TooMany),
    (FIVE, "no valid recipients", Topic::NoRecipients),
    (FOUR, "tss04", Topic::Complaints),
    (FOUR, "rp-001", Topic::Complaints),
    (FOUR, "greylist", Topic::Greylist),
    (FOUR, "graylist", Topic::Greylist),
    (FOUR, "grey list", Topic::Greylist),
    (FOUR, "grey-list", Topic::Greylist),
    (FOUR, "postgrey", Topic::Greylist),
    (FOUR, "too many recipient attempts", Topic::Rate),
    (FOUR, "rate limit", Topic::Rate),
    (FOUR, "too many messages", Topic::Rate),
];

/// Phrases that turn "too many recipients" (x.5.3) into "too big".
const SIZE_PHRASES: &[&str] = &["size", "too large", "too big"];

/// Returns what a complete reply is about.
pub(super) fn topic(reply: ReplyCode, text: &str) -> Topic {
    let text = text.to_ascii_lowercase();
    let digit = reply.code / 100;
    let phrase = PHRASES.iter().find(|(digits, p, _)| digits.contains(&digit) && text.contains(p));
    if let Some(&(_, _, topic)) = phrase {
        return topic;
    }
    let Some(enhanced) = reply.enhanced else { return Topic::Silent };
    let found = ENHANCED.iter().find(|(digits, subject, detail, _)| {
        digits.contains(&digit)
            && *subject == enhanced.subject
            && match detail {
                Is(details) => details.contains(&enhanced.detail),
                Any => true,
            }
    });
    match found {
        Some((_, _, _, Topic::TooMany)) if SIZE_PHRASES.iter().any(|p| text.contains(p)) => {
            Topic::Size
        }
        Some(&(_, _, _, topic)) => topic,
        None => Topic::Silent,
    }
}
