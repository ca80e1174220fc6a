//! Stops a send before it does harm, and says why in words a person understands.
//!
//! Promise: a breaker fails nobody for our own fault; rows stay ready while a person looks.
//! Absent on purpose: no database, no pausing; the caller acts on what is returned, and keeps one
//! `BatchBreakers` per batch and worker until the batch pauses.
//! Start reading at `batch` (B1 to B4), then `route` (B5, B6) and `ledger` (B7).

use std::time::Duration;

use super::id::{Attempt, RecipientId};
use super::outcome::Phase;
use super::retry::Retry;
use super::smtp::Verdict;
use super::state::words;

mod batch;
mod ledger;
mod reason;
mod route;
mod stubborn;
mod suspects;
#[cfg(test)]
mod tests;

pub use batch::BatchBreakers;
pub use ledger::LedgerDoor;
pub use reason::Reason;
pub use route::{Endpoint, UnknownRun, Way};

words! {
    /// The seven breakers, and what is simply set up wrong.
    Breaker {
        /// B1: the login was refused.
        Credential = "credential",
        /// B2: the sender was refused.
        Sender = "sender",
        /// B3: the content was refused.
        Content = "content",
        /// B4: too many bad addresses.
        ListQuality = "list_quality",
        /// B5: the route cannot be used.
        Endpoint = "endpoint",
        /// B6: too many unknown outcomes in a row.
        Unknowns = "unknowns",
        /// B7: the ledger cannot be written.
        Ledger = "ledger",
        /// Name, certificate, encryption, service or folder: nothing can go out like this.
        Setup = "setup",
    }
}

/// Limits of the breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Recipients refused in a row for a suspect reason that pause the batch (B2, B3).
    pub suspects: usize,
    /// Accepted messages after a suspect refusal that show that it was about its recipient.
    pub cleared_by: usize,
    /// How often a row may break new connections while others go through before that counts as a
    /// try of its own.
    pub stubborn: usize,
    /// The same for a row with which nothing else goes out any more, in a batch that had messages
    /// accepted: so often, a server in trouble has come back.
    pub stubborn_alone: usize,
    /// How many attempts B4 looks back.
    pub window: usize,
    /// The share of refused recipients in that window that is still taken, in percent.
    pub bad_share: usize,
    /// Failures in a row after which a route counts as away (`attempts`), and its waits (B5).
    pub endpoint: Retry,
    /// The longest wait a server may ask for.
    pub longest_asked: Duration,
    /// Unknown outcomes in a row that pause the route (B6).
    pub unknowns: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
        Self {
            suspects: 3,
            cleared_by: 3,
            stubborn: 3,
            stubborn_alone: 10,
            window: 200,
            bad_share: 10,
            endpoint: Retry { attempts: 3, first: second, last: minute * 5 },
            longest_asked: minute * 120,
            unknowns: 3,
        }
    }
}

/// One ended attempt as the breakers see it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    pub batch: &'a str,
    pub route: &'a str,
    pub row: RecipientId,
    /// The key of the row, for the person who reads the reason; empty if no row was concerned.
    pub key: &'a str,
    pub attempt: Attempt,
    /// It was the first message of its connection, and we did not break it off ourselves: what
    /// happened is not what happens to connections that have carried many.
    pub is_fresh: bool,
    pub phase: Phase,
    pub verdict: &'a Verdict,
    /// The server's own words with the code in front (`Event::to_string`), if it said anything.
    pub reply: Option<&'a str>,
}

/// What the batch's breakers decide after an ended attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    /// Pause the batch for this reason; suspect rows stay ready.
    pub pause: Option<Reason>,
    /// Rows of earlier attempts whose suspect refusals are believed now: they fail (refused) if
    /// they still stand at that attempt.
    pub fail: Vec<(RecipientId, Attempt)>,
    /// What this attempt's end means, if that is known better here than by the answer alone.
    pub verdict: Option<Verdict>,
}
