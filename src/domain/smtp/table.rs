//! The SMTP outcome table: one line per kind of event, the first line that fits holds.
//!
//! Read a line as: in these phases, when this was seen, this follows. What no line names ended
//! before the server could have accepted anything, or, after the dot, is unknown.

use std::time::Duration;

use super::topic::{Topic, topic};
use super::{Event, Pause, Suspect, Verdict};
use crate::domain::outcome::{Blame, Outcome, Phase};
use crate::domain::state::Cause;

/// One line of the table.
struct Line(&'static [Phase], Seen, Verdict);

/// What was seen.
enum Seen {
    /// A reply with one of these codes, whatever it says.
    Reply(Codes),
    /// A reply with one of these codes that is about one of these topics.
    About(Codes, &'static [Topic]),
    /// A reply of class 2 whose enhanced code is of class 4 or 5.
    Contradiction,
    /// Something else than a reply.
    Other(&'static [Kind]),
}

/// Which codes a line means.
enum Codes {
    These(&'static [u16]),
    /// Every code with this first digit, also ones nobody has heard of (422, 471, 499 ...).
    Class(u16),
}

/// Events that are no replies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Malformed,
    Lost,
    Cancelled,
    Fenced,
    NameNotFound,
    NameFailed,
    BadCertificate,
    HandshakeFailed,
    Injected,
    NotOffered,
    NoSmtpUtf8,
    TooLarge,
    FileFailed,
}

use Codes::{Class, These};
use Kind::{
    BadCertificate, Cancelled, Fenced, FileFailed, HandshakeFailed, Injected, Lost, Malformed,
    NameFailed, NameNotFound, NoSmtpUtf8, NotOffered, TooLarge,
};
use Phase::{
    Auth, Body, Connect, Data, Dot, Ehlo, File, Greeting, Local, Mail, Rcpt, Resolve, StartTls, Tls,
};
use Seen::{About, Contradiction, Other, Reply};
use Topic::{
    Complaints, Content, Greylist, Login, Mailbox, MailboxLimit, Network, NoRecipients, NonAscii,
    Owner, Policy, Protocol, Rate, Recipient, Sender, Silent, Size, System, TooMany,
};

// What follows. Each is named for what becomes of the row.

/// Ended before anything could be accepted; only this connection is to blame, and it is closed.
const NOT_SENT: Verdict = Verdict {
    outcome: Outcome::NotSent,
    blame: Blame::Connection,
    counts: false,
    not_before: None,
    suspect: None,
    review: false,
    keep_connection: false,
    pause: None,
};
/// The route cannot be used just now: nothing is counted on the row, the route backs off.
const ROUTE_AWAY: Verdict = Verdict { blame: Blame::Endpoint, ..NOT_SENT };
/// The server asks everybody to come back later.
const ROUTE_LATER: Verdict = Verdict { outcome: Outcome::Deferred, ..ROUTE_AWAY };
/// The server asks this row to come back later.
const ROW_LATER: Verdict = Verdict {
    outcome: Outcome::Deferred,
    blame: Blame::Row,
    counts: true,
    keep_connection: true,
    ..NOT_SENT
};
/// Greylisted: too early a second try would be put off again.
const ROW_LATER_5_MIN: Verdict = Verdict { not_before: Some(Duration::from_mins(5)), ..ROW_LATER };
/// The transaction was too full: at once again, over a new connection.
const AT_ONCE: Verdict = Verdict { outcome: Outcome::Deferred, ..NOT_SENT };
/// The answer is final, and about this recipient only.
const REFUSED: Verdict = Verdict { outcome: Outcome::Refused, ..ROW_LATER };
/// No relay of this kind can carry the address.
const INCAPABLE: Verdict = REFUSED;
/// The answer is final, but it may be about us: the breaker of the sender decides.
const SUSPECT_SENDER: Verdict = Verdict {
    outcome: Outcome::Refused,
    blame: Blame::Batch,
    suspect: Some(Suspect::Sender),
    keep_connection: true,
    ..NOT_SENT
};
/// The answer is final, but everybody gets this content: the breaker of the content decides.
const SUSPECT_CONTENT: Verdict = Verdict { suspect: Some(Suspect::Content), ..SUSPECT_SENDER };
const ACCEPTED: Verdict = Verdict { outcome: Outcome::Accepted, ..ROW_LATER };
/// Accepted, although the enhanced code says otherwise (a provider's own do-not-send list).
const ACCEPTED_REVIEW: Verdict = Verdict { review: true, ..ACCEPTED };
/// The dot was begun and no complete answer came: only the policy or a person decides.
const UNKNOWN: Verdict =
    Verdict { outcome: Outcome::Unknown(Cause::NoAnswer), counts: true, ..NOT_SENT };

/// The route backs off for at least so long.
const fn route_later(wait: Duration) -> Verdict {
    Verdict { not_before: Some(wait), ..ROUTE_LATER }
}

/// Our own doing: the batch pauses, the row stays ready.
const fn pause(why: Pause) -> Verdict {
    Verdict { blame: Blame::Batch, pause: Some(why), ..NOT_SENT }
}

/// Before the dialogue about a mail begins.
const OPENING: &[Line] = &[
    Line(&[Resolve], Other(&[NameNotFound]), pause(Pause::Name)),
    Line(&[Resolve], Other(&[NameFailed, Lost]), ROUTE_AWAY),
    Line(&[Connect], Other(&[Lost]), ROUTE_AWAY),
    Line(&[Tls, StartTls], Other(&[BadCertificate]), pause(Pause::Certificate)),
    Line(&[Tls], Other(&[HandshakeFailed, Lost, Malformed]), ROUTE_AWAY),
    Line(&[StartTls], Other(&[Injected, NotOffered]), pause(Pause::Downgrade)),
    Line(&[StartTls], Other(&[HandshakeFailed]), ROUTE_AWAY),
    Line(&[StartTls], Reply(Class(5)), pause(Pause::Downgrade)),
    Line(&[Greeting, Ehlo], Reply(Class(5)), pause(Pause::Service)),
    Line(&[Ehlo, Auth], Other(&[NotOffered]), pause(Pause::Service)),
    Line(&[Auth], Reply(Class(5)), pause(Pause::Credential)),
    // Too many logins: one probe for all workers, after a long wait.
    Line(&[Auth], Reply(These(&[421, 432, 454])), route_later(Duration::from_mins(5))),
    Line(&[Greeting, Ehlo, StartTls, Auth], Reply(Class(4)), ROUTE_LATER),
];

/// What any step of the dialogue about a mail may get.
const ANY_STEP: &[Line] = &[
    Line(
        &[Mail, Rcpt, Data, Body, Dot],
        About(Class(4), &[Complaints]),
        route_later(Duration::from_hours(2)),
    ),
    Line(
        &[Mail, Rcpt, Data, Body, Dot],
        About(Class(4), &[Rate]),
        route_later(Duration::from_mins(10)),
    ),
    Line(
        &[Mail, Data, Body, Dot],
        About(Class(4), &[MailboxLimit]),
        route_later(Duration::from_mins(10)),
    ),
    Line(&[Mail, Rcpt, Data, Body, Dot], Reply(These(&[421])), ROUTE_LATER),
    Line(&[Mail, Rcpt, Data, Body, Dot], About(Class(4), &[TooMany]), AT_ONCE),
    Line(&[Mail, Rcpt, Data, Body, Dot], About(Class(5), &[TooMany]), AT_ONCE),
    Line(&[Mail, Rcpt, Data, Body, Dot, Local], Other(&[TooLarge]), pause(Pause::Size)),
    Line(&[Mail, Rcpt, Local], Other(&[NoSmtpUtf8]), INCAPABLE),
    Line(Phase::ALL, Other(&[FileFailed]), pause(Pause::Local)),
    // The gate before the dot was shut, so that the dot was never begun.
    Line(Phase::ALL, Other(&[Fenced]), NOT_SENT),
];

const MAIL: &[Line] = &[
    Line(&[Mail], Reply(Class(4)), Verdict { keep_connection: true, ..ROUTE_LATER }),
    Line(&[Mail], About(Class(5), &[Size]), pause(Pause::Size)),
    Line(&[Mail], About(These(&[552]), &[Silent]), pause(Pause::Size)),
    Line(&[Mail], About(Class(5), &[Login]), pause(Pause::Credential)),
    Line(&[Mail], Reply(These(&[530, 535, 538])), pause(Pause::Credential)),
    Line(&[Mail], Reply(Class(5)), pause(Pause::Sender)),
];

const RCPT: &[Line] = &[
    Line(&[Rcpt], About(Class(4), &[Greylist, Policy, Login]), ROW_LATER_5_MIN),
    // The sender's domain cannot be looked up now: that is so for everybody.
    Line(&[Rcpt], About(Class(4), &[System, Sender]), ROUTE_LATER),
    // RFC 5321: "insufficient system storage"; a full mailbox says so by x.2.2.
    Line(&[Rcpt], About(These(&[452]), &[Silent]), ROUTE_LATER),
    Line(&[Rcpt], Reply(Class(4)), ROW_LATER),
    Line(&[Rcpt], About(Class(5), &[Recipient, Mailbox, Owner, NonAscii]), REFUSED),
    // A permanent x.4.x answers for the recipient's domain, which RCPT names.
    Line(&[Rcpt], About(Class(5), &[Network]), REFUSED),
    Line(&[Rcpt], About(Class(5), &[Size, Content]), SUSPECT_CONTENT),
    Line(&[Rcpt], About(Class(5), &[Sender, Policy, Login, System]), SUSPECT_SENDER),
    Line(
        &[Rcpt],
        About(Class(5), &[Protocol]),
        Verdict { keep_connection: false, ..SUSPECT_SENDER },
    ),
    Line(&[Rcpt], Reply(These(&[503, 530, 535, 554, 555])), SUSPECT_SENDER),
    Line(&[Rcpt], Reply(Class(5)), REFUSED),
];

const DATA: &[Line] = &[
    Line(&[Data], About(Class(4), &[Greylist, Policy, Login]), ROW_LATER_5_MIN),
    Line(&[Data], About(Class(4), &[Recipient, Mailbox, Owner]), ROW_LATER),
    Line(&[Data], Reply(Class(4)), Verdict { keep_connection: true, ..ROUTE_LATER }),
    // It says nothing new: the recipient's own answer stands, and it was yes.
    Line(&[Data], About(Class(5), &[NoRecipients]), NOT_SENT),
    Line(&[Data], About(These(&[503]), &[Silent]), NOT_SENT),
    Line(&[Data], About(Class(5), &[Recipient, Mailbox, Owner, NonAscii]), REFUSED),
    Line(&[Data], About(Class(5), &[Size]), pause(Pause::Size)),
    Line(&[Data], About(These(&[552]), &[Silent]), pause(Pause::Size)),
    Line(&[Data], Reply(Class(5)), SUSPECT_CONTENT),
];

/// The answer to the whole message; the same when it comes early, in the middle of the body.
const ANSWER: &[Line] = &[
    Line(&[Dot, File], Contradiction, ACCEPTED_REVIEW),
    // Positive, but about the connection: perhaps the answer to something else (RFC 5321 4.2.3).
    Line(&[Dot], Reply(These(&[220, 221])), Verdict { keep_connection: false, ..ACCEPTED_REVIEW }),
    Line(&[Dot, File], Reply(Class(2)), ACCEPTED),
    Line(&[Body, Dot], About(Class(4), &[Greylist, Policy, Login]), ROW_LATER_5_MIN),
    Line(&[Body, Dot], About(Class(4), &[System, Network, Sender]), ROUTE_LATER),
    Line(&[Body, Dot], About(These(&[452]), &[Silent]), ROUTE_LATER),
    Line(&[Body, Dot], Reply(Class(4)), ROW_LATER),
    Line(&[Body, Dot], About(Class(5), &[Recipient, Mailbox, Owner, NonAscii]), REFUSED),
    Line(&[Body, Dot], About(Class(5), &[Size]), pause(Pause::Size)),
    Line(&[Body, Dot], About(These(&[552]), &[Silent]), pause(Pause::Size)),
    Line(&[Body, Dot], About(Class(5), &[Sender, System, Network]), SUSPECT_SENDER),
    Line(&[Body, Dot], About(Class(5), &[Policy, Login, Content, Protocol]), SUSPECT_CONTENT),
    Line(&[Body, Dot], Reply(These(&[554])), SUSPECT_CONTENT),
    Line(&[Body, Dot], Reply(Class(5)), REFUSED),
    // 3yz, 1yz, 850: no answer to a dot. A 354 here is the sign of replies that are one behind.
    Line(&[Dot], Reply(Class(3)), UNKNOWN),
    Line(&[Dot], Other(&[Malformed, Lost, Cancelled]), UNKNOWN),
];

const TABLE: &[&[Line]] = &[OPENING, ANY_STEP, MAIL, RCPT, DATA, ANSWER];

pub(super) fn look_up(phase: Phase, event: &Event) -> Verdict {
    let mut lines = TABLE.iter().copied().flatten();
    let found = lines.find(|Line(phases, seen, _)| phases.contains(&phase) && seen.fits(event));
    let verdict = match found {
        Some(&Line(_, _, verdict)) => verdict,
        // A call to a mail API that was begun is judged by `domain::http`; what is seen of it here
        // is our own stop.
        None if phase == Dot || phase == Phase::Request => UNKNOWN,
        None => NOT_SENT,
    };
    // After an early answer the rest of the body would be read as commands.
    let keep_connection = verdict.keep_connection && phase != Body;
    Verdict { keep_connection, ..verdict }
}

impl Seen {
    fn fits(&self, event: &Event) -> bool {
        match (self, event) {
            (Reply(codes), Event::Reply(reply, _)) => codes.hold(reply.code),
            (About(codes, topics), Event::Reply(reply, text)) => {
                codes.hold(reply.code) && topics.contains(&topic(*reply, text))
            }
            (Contradiction, Event::Reply(reply, _)) => {
                Class(2).hold(reply.code) && reply.enhanced.is_some_and(|e| e.class > 2)
            }
            (Other(kinds), event) => kind(event).is_some_and(|kind| kinds.contains(&kind)),
            (Reply(_) | About(..) | Contradiction, _) => false,
        }
    }
}

impl Codes {
    fn hold(&self, code: u16) -> bool {
        match self {
            These(codes) => codes.contains(&code),
            Class(digit) => code / 100 == *digit,
        }
    }
}

const fn kind(event: &Event) -> Option<Kind> {
    match event {
        Event::Reply(..) => None,
        Event::Malformed => Some(Malformed),
        Event::Lost(_) => Some(Lost),
        Event::Cancelled => Some(Cancelled),
        Event::Fenced => Some(Fenced),
        Event::NameNotFound => Some(NameNotFound),
        Event::NameFailed => Some(NameFailed),
        Event::BadCertificate => Some(BadCertificate),
        Event::HandshakeFailed => Some(HandshakeFailed),
        Event::Injected => Some(Injected),
        Event::NotOffered(_) => Some(NotOffered),
        Event::NoSmtpUtf8 => Some(NoSmtpUtf8),
        Event::TooLarge => Some(TooLarge),
        Event::FileFailed(_) => Some(FileFailed),
    }
}
