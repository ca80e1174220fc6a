//! The body, the gate, the dot, the answer: the only steps after which nobody may know.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::super::stuffing::Stuffer;
use super::super::wire::Written;
use super::{Session, Standing, Stop};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, Loss};
use crate::domain::step::Step;
use crate::transport::{Ended, Steps};

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    /// Sends the content of the message just offered and waits for the answer.
    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        let since = Instant::now();
        let stop = match self.take_standing() {
            Standing::Offered => match self.write_content(content, steps, gate).await {
                Ok(()) => self.read_answer(steps).await,
                Err(stop) => stop,
            },
            Standing::Clear | Standing::Tainted | Standing::Closed => {
                Stop::saw(Phase::Body, Event::Lost(Loss::Eof))
            }
        };
        self.conclude(stop, since)
    }

    /// Writes the content and the dot, a small message in one write.
    async fn write_content(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Stop> {
        steps.note(Step::Data);
        let mut blocks = Stuffer::new(content);
        let dot = loop {
            if self.wire.was_interrupted() {
                return Err(self.unasked(Phase::Body).await);
            }
            if let Some(dot) = blocks.next_block(&mut self.wire.out) {
                break dot;
            }
            let written = self.wire.send_block(self.deadlines.body).await;
            self.body_went_on(written).await?;
        };
        steps.note(Step::BodyComplete);
        let written = self.wire.send_dot(dot, self.deadlines.body, steps, gate).await;
        self.body_went_on(written).await?;
        steps.dot_has_left();
        Ok(())
    }

    async fn body_went_on(&mut self, written: Written) -> Result<(), Stop> {
        Err(match written {
            Written::Whole => return Ok(()),
            Written::Stopped => Stop::saw(Phase::Body, Event::Fenced),
            Written::Interrupted => self.unasked(Phase::Body).await,
            Written::Lost(Loss::Timeout) => Stop::saw(Phase::Body, Event::Lost(Loss::Timeout)),
            Written::Lost(loss) => match self.wire.last_words().await {
                Some(reply) if reply.code >= 400 => {
                    Stop::answered(Phase::Body, reply, Standing::Closed)
                }
                _ => Stop::saw(Phase::Body, Event::Lost(loss)),
            },
            Written::LostAfterDot(loss) => Stop::saw(Phase::Dot, Event::Lost(loss)),
        })
    }

    async fn read_answer(&mut self, steps: &dyn Steps) -> Stop {
        let code = match self.answer(Phase::Dot, self.deadlines.answer).await {
            Ok(code) => code,
            Err(stop) => return stop,
        };
        let mut stop = Stop::answered(Phase::Dot, self.wire.last_reply(code), Standing::Closed);
        if let Event::Reply(code, _) = &stop.event {
            steps.note(Step::Answered(*code));
        }
        if !self.wire.was_interrupted() {
            stop.standing = match code {
                200..300 => Standing::Clear,
                _ => Standing::Tainted,
            };
        }
        stop
    }
}
