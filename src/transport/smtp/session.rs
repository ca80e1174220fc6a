//! One SMTP connection: offers messages and hands them over, one after the other.

use tokio::io::{AsyncRead, AsyncWrite};

use crate::domain::step::Step;
use crate::transport::{Ended, Envelope, Steps};

/// An SMTP connection that has said EHLO and, where needed, logged in.
#[derive(Debug)]
pub struct Session<S> {
    stream: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Session<S> {
    pub async fn offer(
        &mut self,
        envelope: &Envelope,
        content: &[u8],
        steps: &dyn Steps,
    ) -> Result<(), Ended> {
        let _ = (&mut self.stream, envelope, content);
        steps.note(Step::Rcpt);
        todo!()
    }

    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        let _ = (&mut self.stream, content, steps, gate());
        todo!()
    }

    pub fn is_usable(&self) -> bool {
        todo!()
    }

    pub async fn quit(self) {
        todo!()
    }
}
