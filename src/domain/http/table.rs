//! The HTTP outcome table: one line per kind of answer, the first line that fits holds.
//!
//! Read a line as: an answer with this status, when its body and the call were so, means this.

use std::time::Duration;

use super::{Answer, Body, Event};
use crate::domain::outcome::{Blame, Outcome};
use crate::domain::smtp::{Pause, Suspect, Verdict};
use crate::domain::state::Cause;

/// One line of the table.
struct Line(Status, When, Verdict);

/// Which statuses a line means.
enum Status {
    These(&'static [u16]),
    /// Every status with this first digit.
    Class(u16),
}

/// What else has to be so.
enum When {
    Always,
    /// The request carried an idempotency key.
    Keyed,
    /// The provider promises that nothing was taken.
    Promised,
    /// The answer names the recipient.
    Named,
    /// The body came to one of these.
    Said(&'static [Body]),
}

use Status::{Class, These};
use When::{Always, Keyed, Named, Promised, Said};

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
/// An edge server could not reach the API behind it.
const ROUTE_AWAY: Verdict = Verdict { blame: Blame::Endpoint, ..NOT_SENT };
/// The API asks everybody to come back later; nothing was taken.
const ROUTE_LATER: Verdict =
    Verdict { outcome: Outcome::Deferred, keep_connection: true, ..ROUTE_AWAY };
const ACCEPTED: Verdict = Verdict {
    outcome: Outcome::Accepted,
    blame: Blame::Row,
    counts: true,
    keep_connection: true,
    ..NOT_SENT
};
/// Accepted, but the provider's id is not known: somebody should look.
const ACCEPTED_REVIEW: Verdict = Verdict { review: true, ..ACCEPTED };
/// A clear no that is about this recipient.
const REFUSED: Verdict = Verdict { outcome: Outcome::Refused, ..ACCEPTED };
/// A clear no; whether it is about this person or about every mail, the breaker decides.
const SUSPECT: Verdict = Verdict {
    outcome: Outcome::Refused,
    blame: Blame::Batch,
    suspect: Some(Suspect::Content),
    keep_connection: true,
    ..NOT_SENT
};
/// The request was begun and no complete answer came: only the policy or a person decides.
const UNKNOWN: Verdict =
    Verdict { outcome: Outcome::Unknown(Cause::NoAnswer), counts: true, ..NOT_SENT };
/// A complete answer that proves nothing.
const PROVES_NOTHING: Verdict =
    Verdict { outcome: Outcome::Unknown(Cause::ServerError), keep_connection: true, ..UNKNOWN };
/// The same from an API in trouble: everybody backs off.
const TROUBLE: Verdict = Verdict { blame: Blame::Endpoint, ..PROVES_NOTHING };
/// Processed, with the result elsewhere: unknown, and it would be so for every mail.
const ELSEWHERE: Verdict =
    Verdict { blame: Blame::Batch, pause: Some(Pause::Service), ..PROVES_NOTHING };

/// Our own doing: the batch pauses, the row stays ready.
const fn pause(why: Pause) -> Verdict {
    Verdict { blame: Blame::Batch, pause: Some(why), ..NOT_SENT }
}

/// The answers. A status that no line names, or whose line does not fit, proves nothing.
const TABLE: &[Line] = &[
    Line(Class(2), Said(&[Body::Yes, Body::NotAsked]), ACCEPTED),
    Line(Class(2), Said(&[Body::NoId]), ACCEPTED_REVIEW),
    Line(Class(2), Said(&[Body::Undecided, Body::Cut]), UNKNOWN),
    // What is left of class 2 says no in its body.
    Line(Class(2), Named, REFUSED),
    Line(Class(2), Always, SUSPECT),
    // Never followed: the request would go, with its credentials, to somebody else.
    Line(These(&[303]), Always, ELSEWHERE),
    Line(Class(3), Always, pause(Pause::Service)),
    Line(These(&[401, 403, 407]), Always, pause(Pause::Credential)),
    Line(These(&[402, 404, 405, 406, 410, 411, 415, 426, 501, 505]), Always, pause(Pause::Service)),
    // The server gave up waiting for the rest of the request, or did not want it here.
    Line(These(&[408, 421, 425]), Always, NOT_SENT),
    // The key is in use: what the first call with it comes to is not known yet.
    Line(These(&[409]), Keyed, UNKNOWN),
    // Without a key it may as well mean "that one was sent already".
    Line(These(&[409]), Always, PROVES_NOTHING),
    Line(These(&[429]), Always, ROUTE_LATER),
    Line(These(&[400, 422]), Named, REFUSED),
    Line(Class(4), Always, SUSPECT),
    Line(Class(5), Promised, ROUTE_LATER),
    Line(These(&[521, 522, 523, 525, 526]), Always, ROUTE_AWAY),
    Line(Class(5), Always, TROUBLE),
];

pub(super) fn look_up(event: &Event) -> Verdict {
    match event {
        Event::Answer(answer) => of_answer(answer),
        Event::Fenced | Event::NotWritten(_) => NOT_SENT,
        Event::Lost(_) | Event::Malformed | Event::Cancelled => UNKNOWN,
    }
}

fn of_answer(answer: &Answer) -> Verdict {
    let found = TABLE.iter().find(|Line(status, when, _)| {
        status.holds(answer.status)
            && match when {
                Always => true,
                Keyed => answer.keyed,
                Promised => answer.promised,
                Named => answer.names_recipient,
                Said(bodies) => bodies.contains(&answer.body),
            }
    });
    let Some(&Line(_, _, verdict)) = found else { return UNKNOWN };
    let not_before = match verdict.blame {
        Blame::Endpoint => answer.retry_after.map(at_least_a_moment),
        Blame::Row | Blame::Connection | Blame::Batch => None,
    };
    // What is left of a body that was cut would be read as the next answer.
    let keep_connection = verdict.keep_connection && answer.body != Body::Cut;
    Verdict { not_before, keep_connection, ..verdict }
}

/// `Retry-After: 0` is no wait, and an API in trouble gets one.
fn at_least_a_moment(wait: Duration) -> Duration {
    wait.max(Duration::from_secs(1))
}

impl Status {
    fn holds(&self, status: u16) -> bool {
        match self {
            These(these) => these.contains(&status),
            Class(digit) => status / 100 == *digit,
        }
    }
}
