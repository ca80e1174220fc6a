//! The message itself: from DATA to the answer to the dot.

use std::io;
use std::sync::atomic::Ordering;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use super::super::behaviour::{At, Deed, Goodbye, Keep, Takes};
use super::super::journal::Acceptance;
use super::{Conversation, Flow};

impl Conversation {
    pub(super) async fn data(&mut self) -> io::Result<Flow> {
        if let Some(deed) = self.deed(At::Data) {
            let goes_on = deed_says(&deed, b"354");
            let flow = self.act(&deed).await?;
            if flow == Flow::End || !goes_on {
                return Ok(flow);
            }
        } else if self.to.is_empty() {
            return self.answer(b"554 5.5.1 no valid recipients").await;
        } else {
            self.say(b"354 go ahead");
        }
        self.body().await
    }

    async fn body(&mut self) -> io::Result<Flow> {
        if self.done == self.heard.len() && !self.hear_more().await? {
            return Ok(Flow::End);
        }
        let mut refused_early = false;
        if let Some(deed) = self.deed(At::Body) {
            refused_early = true;
            if self.act(&deed).await? == Flow::End {
                return Ok(Flow::End);
            }
            self.flush().await?;
        }
        let Some(end) = self.find_dot().await? else { return Ok(Flow::End) };
        let begin = self.done;
        self.done = end.behind_dot;
        if refused_early {
            self.forget_transaction();
            return Ok(Flow::On);
        }
        self.dot(begin..end.content).await
    }

    /// Waits for the line that holds only a dot.
    async fn find_dot(&mut self) -> io::Result<Option<End>> {
        let mut looked_at = 0;
        loop {
            let body = self.heard.get(self.done..).unwrap_or_default();
            if body.starts_with(b".\r\n") {
                return Ok(Some(End { content: self.done, behind_dot: self.done + 3 }));
            }
            let rest = body.get(looked_at..).unwrap_or_default();
            if let Some(at) = memchr::memmem::find(rest, b"\r\n.\r\n") {
                let content = self.done + looked_at + at + 2;
                return Ok(Some(End { content, behind_dot: content + 3 }));
            }
            looked_at = body.len().saturating_sub(4);
            if !self.hear_more().await? {
                return Ok(None);
            }
        }
    }

    async fn dot(&mut self, content: std::ops::Range<usize>) -> io::Result<Flow> {
        if self.to.is_empty() {
            self.forget_transaction();
            return self.answer(b"554 5.5.1 no valid recipients").await;
        }
        let deed = self.deed(At::Dot);
        let takes = deed.as_ref().is_none_or(|deed| deed.takes == Takes::Message);
        if takes {
            if self.accept(content).await.is_err() {
                self.forget_transaction();
                return self.answer(b"451 4.3.0 the journal cannot be written").await;
            }
            self.messages += 1;
            self.errors = 0;
        }
        self.forget_transaction();
        if !self.behaviour.thinks.is_zero() {
            tokio::time::sleep(self.behaviour.thinks).await;
        }
        let flow = if let Some(deed) = deed {
            self.act(&deed).await?
        } else {
            let queued = format!("250 2.0.0 ok, queued as {:x}-{:x}", self.number, self.messages);
            self.answer(queued.as_bytes()).await?
        };
        match self.behaviour.messages_per_connection {
            Some((most, Goodbye::Silent)) if takes && self.messages >= most => self.leave().await,
            _ => Ok(flow),
        }
    }

    async fn accept(&mut self, content: std::ops::Range<usize>) -> io::Result<()> {
        let stuffed = self.heard.get(content).unwrap_or_default();
        let keep = self.behaviour.keep;
        let message = unstuffed(stuffed);
        let sha256 = match keep {
            Keep::Envelope => String::new(),
            Keep::Hash | Keep::Bytes => HEXLOWER.encode(&Sha256::digest(&message)),
        };
        let message_id = message_id(&message);
        let size = message.len();
        let kept = if keep == Keep::Bytes { message } else { Vec::new() };
        let accepted: Vec<Acceptance> = self
            .to
            .iter()
            .map(|to| Acceptance {
                at: self.shared.clock.now().0,
                connection: self.number,
                message_id: message_id.clone(),
                from: self.from.clone().unwrap_or_default(),
                to: to.clone(),
                size,
                sha256: sha256.clone(),
                content: kept.clone(),
            })
            .collect();
        let count = accepted.len() as u64;
        self.shared.journal.add(accepted).await?;
        self.shared.numbers.accepted.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }
}

/// Where a body ends.
struct End {
    content: usize,
    behind_dot: usize,
}

fn deed_says(deed: &Deed, code: &[u8]) -> bool {
    use super::super::behaviour::Says;
    match &deed.says {
        Says::Line(line) | Says::Drip(line, _) | Says::Bytes(line) => line.starts_with(code),
        Says::Nothing | Says::Endless => false,
    }
}

/// Takes the doubled dots out again.
fn unstuffed(stuffed: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(stuffed.len());
    let mut rest = stuffed.strip_prefix(b".").unwrap_or(stuffed);
    while let Some(at) = memchr::memmem::find(rest, b"\r\n.") {
        message.extend_from_slice(rest.get(..at + 2).unwrap_or_default());
        rest = rest.get(at + 3..).unwrap_or_default();
    }
    message.extend_from_slice(rest);
    message
}

fn message_id(message: &[u8]) -> String {
    let headers = message.split(|&b| b == b'\n').take_while(|line| !line.trim_ascii().is_empty());
    let found = headers.filter_map(|line| {
        let (name, value) = line.split_at_checked(11)?;
        name.eq_ignore_ascii_case(b"message-id:").then_some(value.trim_ascii())
    });
    found.take(1).map(|id| String::from_utf8_lossy(id).into_owned()).collect()
}
