//! One SMTP connection: offers messages and hands them over, one after the other.
//!
//! Every call takes the standing out of the session and puts it back only when the dialogue is at
//! a known place, so a future that was dropped in the middle leaves a connection that is closed.

mod hand_over;
mod offer;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout};

use super::Deadlines;
use super::capabilities::Capabilities;
use super::reply::Reply;
use super::wire::{Trouble, Wire};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, classify};
use crate::transport::Ended;

/// How long good-bye may take.
const QUIT: Duration = Duration::from_secs(2);

/// An SMTP connection that has said EHLO and, where needed, logged in.
#[derive(Debug)]
pub struct Session<S> {
    wire: Wire<S>,
    deadlines: Deadlines,
    pub capabilities: Capabilities,
    standing: Standing,
}

/// Where the dialogue stands between two calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// No transaction is open.
    Clear,
    /// A transaction failed half way: RSET comes first.
    Tainted,
    /// The server waits for content.
    Offered,
    /// Not to be used again.
    Closed,
}

/// What ended a step, before it is classified.
#[derive(Debug)]
struct Stop {
    phase: Phase,
    event: Event,
    reply: Option<Reply>,
    /// Where the dialogue stands if the verdict lets the connection live.
    standing: Standing,
}

impl Stop {
    fn answered(phase: Phase, reply: Reply, standing: Standing) -> Self {
        Self { phase, event: reply.event(), reply: Some(reply), standing }
    }

    fn saw(phase: Phase, event: impl Into<Event>) -> Self {
        Self { phase, event: event.into(), reply: None, standing: Standing::Closed }
    }

    fn ended(self, since: Instant) -> Ended {
        let verdict = classify(self.phase, &self.event);
        Ended {
            phase: self.phase,
            event: self.event,
            verdict,
            reply: self.reply,
            id: None,
            took: since.elapsed(),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    pub(super) const fn new(
        wire: Wire<S>,
        capabilities: Capabilities,
        deadlines: Deadlines,
    ) -> Self {
        Self { wire, deadlines, capabilities, standing: Standing::Clear }
    }

    /// Reports whether another message may be offered.
    pub fn is_usable(&self) -> bool {
        matches!(self.standing, Standing::Clear | Standing::Tainted)
    }

    /// Says good-bye where that is possible and waits a moment for the answer.
    pub async fn quit(mut self) {
        // In the middle of a message QUIT would be one more line of it.
        if self.is_usable() {
            self.wire.out.extend_from_slice(b"QUIT\r\n");
            let _ = timeout(QUIT, async {
                if self.wire.send(QUIT).await.is_ok() {
                    let _ = self.wire.reply(QUIT).await;
                }
                self.wire.shut_down().await;
            })
            .await;
        }
    }

    fn take_standing(&mut self) -> Standing {
        std::mem::replace(&mut self.standing, Standing::Closed)
    }

    /// Classifies what ended a step and keeps the connection if the verdict does.
    fn conclude(&mut self, stop: Stop, since: Instant) -> Ended {
        let standing = stop.standing;
        let ended = stop.ended(since);
        if ended.verdict.keep_connection {
            self.standing = standing;
        }
        ended
    }

    /// Reads the reply to a step; trouble ends the step.
    async fn answer(&mut self, phase: Phase, wait: Duration) -> Result<u16, Stop> {
        self.wire.reply(wait).await.map_err(|trouble: Trouble| Stop::saw(phase, trouble))
    }
}
