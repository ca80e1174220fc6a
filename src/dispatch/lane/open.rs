//! Opening and closing the connection of a lane.

use std::time::Duration;

use crate::domain::breaker::Seen;
use crate::domain::id::{Attempt, RecipientId};
use crate::domain::outcome::{Blame, Phase};
use crate::domain::smtp::Event;
use crate::transport::{Connection, Ended};

use super::super::route::Worn;
use super::{Flow, Lane, Line};

/// After a failure that does not close the route: no faster than this.
const BREATH: Duration = Duration::from_millis(250);

impl Lane {
    /// Opens the connection; what goes wrong concerns the route, no row.
    pub(super) async fn connect(&mut self) -> Flow {
        let opened = tokio::select! {
            biased;
            opened = Connection::open(&self.route.settings.route) => opened,
            () = self.shift.shutdown.draining() => return Flow::End,
        };
        match opened {
            Ok(connection) => {
                let counted = self.route.opened();
                self.line = Some(Line { connection, messages: 0, _counted: counted });
                Flow::On
            }
            Err(ended) => self.could_not_open(&ended).await,
        }
    }

    async fn could_not_open(&mut self, ended: &Ended) -> Flow {
        if is_turned_away(ended) && self.route.too_many() {
            return Flow::End;
        }
        let now = self.shift.clock.now();
        if ended.verdict.pause.is_some() {
            self.pause_all(ended);
            return Flow::On;
        }
        self.route.saw(now, ended, Worn::New, self.shift.jitter());
        self.rest(Some(BREATH)).await
    }

    /// Pauses every batch of the route, each for the reason that its own breakers give.
    fn pause_all(&self, ended: &Ended) {
        let words = ended.event.to_string();
        let running = self.route.hands().running();
        for served in running {
            let seen = Seen {
                batch: &served.name,
                route: &self.route.name,
                row: RecipientId(0),
                key: "",
                attempt: Attempt(0),
                is_fresh: true,
                phase: ended.phase,
                verdict: &ended.verdict,
                reply: ended.reply.as_ref().map(|_| words.as_str()),
            };
            let reason = served.breakers().see(seen).pause;
            let because = reason.map_or_else(|| words.clone(), |reason| reason.to_string());
            self.route.pause(vec![served.id], because);
        }
    }

    /// Says good-bye to the server.
    pub(super) async fn hang_up(&mut self) {
        if let Some(line) = self.line.take() {
            line.connection.close().await;
        }
    }
}

/// Reports whether a server that is there did not want one more connection.
fn is_turned_away(ended: &Ended) -> bool {
    let early = matches!(ended.phase, Phase::Connect | Phase::Greeting | Phase::Ehlo);
    let soft = matches!(&ended.event, Event::Reply(code, _) if (400..500).contains(&code.code));
    early && soft && ended.verdict.blame == Blame::Endpoint
}
