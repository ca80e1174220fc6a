//! Hands one message over and reports every step of it.
//!
//! Promise: a mail counts as accepted only by the other side's complete answer; a connection that
//! was cancelled, timed out or surprised is never used for another message; no dot is written
//! unless the gate allowed it right before.
//! Absent on purpose: this room knows no ledger, no batch and no retry, and decides nothing about
//! a row: `domain::smtp` and `domain::http` say what an event means.
//! Start reading at `Connection`, then `smtp` and `http`.

pub mod folder;
pub mod http;
pub mod smtp;

use std::sync::Arc;
use std::time::Duration;

use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, Verdict};
use crate::domain::step::Step;

pub use folder::FolderRoute;
pub use http::HttpRoute;
pub use smtp::SmtpRoute;
pub use smtp::reply::Reply;

/// Whom a message comes from and goes to, as it stands on the wire: without brackets.
///
/// Everything is ASCII except a local part that needs SMTPUTF8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub from: String,
    pub to: String,
    /// Says the same for every try of one mail, and for no other mail; only mail APIs are told it.
    pub once: String,
}

/// The way messages leave: everything that is needed to open a connection.
#[derive(Clone, Debug)]
pub enum Route {
    Smtp(SmtpRoute),
    /// Calls a mail company's API.
    Http(Arc<HttpRoute>),
    /// Writes files instead of sending, for rehearsals.
    Folder(FolderRoute),
}

impl Route {
    /// Returns how long the other side remembers the key of a call, if it takes one.
    pub fn remembers_keys_for(&self) -> Option<Duration> {
        match self {
            Self::Http(route) => route.idempotency.as_ref().map(|key| key.window),
            Self::Smtp(_) | Self::Folder(_) => None,
        }
    }

    /// Returns the step from whose beginning on nobody may know what became of a message.
    pub const fn deciding(&self) -> Phase {
        match self {
            Self::Http(_) => Phase::Request,
            Self::Smtp(_) | Self::Folder(_) => Phase::Dot,
        }
    }
}

/// How one step, or one whole hand-over, came out.
#[derive(Clone, Debug)]
pub struct Ended {
    pub phase: Phase,
    pub event: Event,
    pub verdict: Verdict,
    /// What the other side said last, if it said anything complete.
    pub reply: Option<Reply>,
    /// The provider's own id of the message, where its answer holds one.
    pub id: Option<String>,
    pub took: Duration,
}

/// Hears how far a hand-over got, right before each step is taken.
///
/// Called from the middle of a dialogue: it must be quick and must not fail.
pub trait Steps: Send + Sync {
    fn note(&self, step: Step);

    /// Hears that the last byte of the dot was handed to the system.
    fn dot_has_left(&self) {}
}

/// Takes no notes.
#[derive(Clone, Copy, Debug)]
pub struct NoSteps;

impl Steps for NoSteps {
    fn note(&self, _: Step) {}
}

/// An open connection over which one message after another goes out.
///
/// Dropping a future of `offer` or `hand_over` before it is finished makes it unusable.
#[derive(Debug)]
pub enum Connection {
    Smtp(Box<smtp::Session<smtp::Stream>>),
    Http(Box<http::Session>),
    Folder(folder::Folder),
}

impl Connection {
    /// Opens a connection up to the point where a message can be offered.
    pub async fn open(route: &Route) -> Result<Self, Ended> {
        match route {
            Route::Smtp(route) => Ok(Self::Smtp(Box::new(smtp::open(route).await?))),
            Route::Http(route) => Ok(Self::Http(Box::new(http::open(route).await?))),
            Route::Folder(route) => Ok(Self::Folder(folder::Folder::open(route).await?)),
        }
    }

    /// Offers a message: when this returns `Ok`, the other side waits for the content.
    ///
    /// Nothing in it can make the other side accept anything, so it may run while the start marker
    /// is still on its way to the disk. `content` is only measured, not sent.
    pub async fn offer(
        &mut self,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Ended> {
        match self {
            Self::Smtp(session) => session.offer(envelope, content, steps).await,
            Self::Http(session) => session.offer(envelope, steps).await,
            Self::Folder(folder) => {
                folder.offer(envelope, steps);
                Ok(())
            }
        }
    }

    /// Sends the content of the message just offered and waits for the answer.
    ///
    /// `gate` is asked right before the first byte of the final dot is written; if it says no, the
    /// connection closes without the dot and the message was not sent. If the future is dropped,
    /// the outcome is unknown from the moment `Step::Dot` was noted.
    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        match self {
            Self::Smtp(session) => session.hand_over(content, steps, gate).await,
            Self::Http(session) => session.hand_over(content, steps, gate).await,
            Self::Folder(folder) => folder.hand_over(content, steps, gate).await,
        }
    }

    /// Reports whether another message may be offered over this connection.
    pub fn is_usable(&self) -> bool {
        match self {
            Self::Smtp(session) => session.is_usable(),
            Self::Http(session) => session.is_usable(),
            Self::Folder(_) => true,
        }
    }

    /// Says good-bye, waiting at most two seconds; dropping the connection just closes it.
    pub async fn close(self) {
        match self {
            Self::Smtp(session) => session.quit().await,
            Self::Http(_) | Self::Folder(_) => {}
        }
    }
}
