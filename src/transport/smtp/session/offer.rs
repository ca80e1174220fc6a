//! RSET where needed, MAIL, RCPT, DATA: in one flight when the server allows it (RFC 2920).

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::{Session, Standing, Stop};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, Loss, goes_on};
use crate::domain::step::Step;
use crate::transport::{Ended, Envelope, Steps};

/// How long the rest of a flight is waited for once its fate is known: servers that slow down
/// people with many bad addresses take their time here too.
const AFTER_REFUSAL: Duration = Duration::from_secs(20);

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    /// Offers a message up to the server's 354.
    pub async fn offer(
        &mut self,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Ended> {
        let since = Instant::now();
        let standing = self.take_standing();
        let stop = match self.try_offer(standing, envelope, content, steps).await {
            Ok(()) => {
                self.standing = Standing::Offered;
                return Ok(());
            }
            Err(stop) => stop,
        };
        Err(self.conclude(stop, since))
    }

    async fn try_offer(
        &mut self,
        standing: Standing,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Stop> {
        if matches!(standing, Standing::Offered | Standing::Closed) {
            return Err(Stop::saw(Phase::Mail, Event::Lost(Loss::Eof)));
        }
        self.check(envelope, content).map_err(|event| Stop {
            phase: Phase::Mail,
            event,
            reply: None,
            standing,
        })?;
        if self.wire.was_interrupted() {
            return Err(self.unasked(Phase::Mail).await);
        }
        if self.capabilities.pipelining {
            self.in_one_flight(standing, envelope, content, steps).await?;
        } else {
            self.one_by_one(standing, envelope, content, steps).await?;
        }
        if self.wire.was_interrupted() {
            // One reply too many: from here on every answer would be off by one.
            return Err(Stop::saw(Phase::Data, Event::Malformed));
        }
        Ok(())
    }

    /// Refuses what the server said it cannot take, before anything is said.
    fn check(&self, envelope: &Envelope, content: &[u8]) -> Result<(), Event> {
        if needs_smtp_utf8(envelope) && !self.capabilities.smtp_utf8 {
            return Err(Event::NoSmtpUtf8);
        }
        match self.capabilities.size {
            Some(Some(limit)) if content.len() > limit => Err(Event::TooLarge),
            _ => Ok(()),
        }
    }

    async fn in_one_flight(
        &mut self,
        standing: Standing,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Stop> {
        let wait = self.deadlines.command;
        if standing == Standing::Tainted {
            self.wire.out.extend_from_slice(b"RSET\r\n");
        }
        self.say_mail(envelope, content);
        self.say_rcpt(envelope);
        self.wire.out.extend_from_slice(b"DATA\r\n");
        steps.note(Step::Rcpt);
        self.say(Phase::Mail).await?;
        if standing == Standing::Tainted {
            self.expect(Phase::Rset, wait, Standing::Closed).await?;
        }
        let stop = match self.expect(Phase::Mail, wait, Standing::Clear).await {
            Ok(()) => match self.expect(Phase::Rcpt, wait, Standing::Tainted).await {
                Ok(()) => {
                    return self.expect(Phase::Data, self.deadlines.data, Standing::Tainted).await;
                }
                Err(stop) => stop,
            },
            Err(stop) => stop,
        };
        Err(self.see_flight_home(stop).await)
    }

    /// Reads the rest of a flight in which MAIL or RCPT was refused.
    async fn see_flight_home(&mut self, mut stop: Stop) -> Stop {
        let lives = stop.reply.as_ref().is_some_and(|reply| reply.code != 421);
        if !lives || stop.standing == Standing::Closed {
            stop.standing = Standing::Closed;
            return stop;
        }
        let wait = self.after_refusal();
        let mut rest = Ok(0);
        if stop.phase == Phase::Mail {
            rest = self.wire.reply(wait).await;
        }
        if rest.is_ok() {
            rest = self.wire.reply(wait).await;
        }
        stop.standing = match rest {
            Ok(400..600) if !self.wire.was_interrupted() => stop.standing,
            // DATA was taken although nobody is to get the mail: RFC 2920 section 3.1 asks for a
            // lone dot, which a server has to refuse.
            Ok(354) if stop.phase == Phase::Rcpt && self.lone_dot_is_refused().await => {
                Standing::Clear
            }
            _ => Standing::Closed,
        };
        stop
    }

    async fn lone_dot_is_refused(&mut self) -> bool {
        if self.wire.was_interrupted() {
            return false;
        }
        let wait = self.after_refusal();
        self.wire.out.extend_from_slice(b".\r\n");
        self.wire.send(wait).await.is_ok()
            && self.wire.reply(wait).await.is_ok_and(|code| code >= 400 && code != 421)
            && !self.wire.was_interrupted()
    }

    async fn one_by_one(
        &mut self,
        standing: Standing,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Stop> {
        let wait = self.deadlines.command;
        if standing == Standing::Tainted {
            self.wire.out.extend_from_slice(b"RSET\r\n");
            self.say(Phase::Rset).await?;
            self.expect(Phase::Rset, wait, Standing::Closed).await?;
        }
        self.say_mail(envelope, content);
        self.say(Phase::Mail).await?;
        self.expect(Phase::Mail, wait, Standing::Clear).await?;
        self.say_rcpt(envelope);
        steps.note(Step::Rcpt);
        self.say(Phase::Rcpt).await?;
        self.expect(Phase::Rcpt, wait, Standing::Tainted).await?;
        self.wire.out.extend_from_slice(b"DATA\r\n");
        self.say(Phase::Data).await?;
        self.expect(Phase::Data, self.deadlines.data, Standing::Tainted).await
    }

    fn after_refusal(&self) -> Duration {
        AFTER_REFUSAL.min(self.deadlines.command)
    }

    fn say_mail(&mut self, envelope: &Envelope, content: &[u8]) {
        let Self { wire, capabilities, .. } = self;
        wire.out.extend_from_slice(b"MAIL FROM:<");
        wire.out.extend_from_slice(envelope.from.as_bytes());
        wire.out.push(b'>');
        if capabilities.size.is_some() {
            wire.out.extend_from_slice(b" SIZE=");
            push_number(&mut wire.out, content.len());
        }
        if capabilities.eight_bit_mime && !content.is_ascii() {
            wire.out.extend_from_slice(b" BODY=8BITMIME");
        }
        if needs_smtp_utf8(envelope) {
            wire.out.extend_from_slice(b" SMTPUTF8");
        }
        wire.out.extend_from_slice(b"\r\n");
    }

    fn say_rcpt(&mut self, envelope: &Envelope) {
        self.wire.out.extend_from_slice(b"RCPT TO:<");
        self.wire.out.extend_from_slice(envelope.to.as_bytes());
        self.wire.out.extend_from_slice(b">\r\n");
    }

    /// Sends what was collected; a server that closed may have said why.
    async fn say(&mut self, phase: Phase) -> Result<(), Stop> {
        match self.wire.send(self.deadlines.command).await {
            Ok(()) => Ok(()),
            Err(loss) => Err(match self.wire.last_words().await {
                Some(reply) if reply.code >= 400 => Stop::answered(phase, reply, Standing::Closed),
                _ => Stop::saw(phase, Event::Lost(loss)),
            }),
        }
    }

    /// Reads the reply to one command; anything but what lets the dialogue go on ends the step.
    async fn expect(
        &mut self,
        phase: Phase,
        wait: Duration,
        refused: Standing,
    ) -> Result<(), Stop> {
        let code = self.answer(phase, wait).await?;
        if goes_on(phase, code) {
            return Ok(());
        }
        // A code that neither goes on nor refuses means that replies are off by one.
        let standing = if (400..600).contains(&code) { refused } else { Standing::Closed };
        Err(Stop::answered(phase, self.wire.last_reply(code), standing))
    }

    /// Says what it means that the server spoke or closed between two messages or in a body.
    pub(super) async fn unasked(&mut self, phase: Phase) -> Stop {
        match self.wire.reply(self.after_refusal()).await {
            Ok(code @ 400..600) => {
                Stop::answered(phase, self.wire.last_reply(code), Standing::Closed)
            }
            Ok(_) => Stop::saw(phase, Event::Malformed),
            Err(trouble) => Stop::saw(phase, trouble),
        }
    }
}

fn needs_smtp_utf8(envelope: &Envelope) -> bool {
    !envelope.from.is_ascii() || !envelope.to.is_ascii()
}

fn push_number(out: &mut Vec<u8>, number: usize) {
    use std::io::Write as _;
    // Writing to a vector cannot fail.
    let _ = write!(out, "{number}");
}
