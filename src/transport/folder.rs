//! Writes each message as an `.eml` file instead of sending it, for rehearsals.
//!
//! Promise: a file is there whole and synced, or not at all; a message that is written again takes
//! the place of its file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::smtp::reply::Reply;
use super::{Ended, Envelope, Steps};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, classify};
use crate::domain::step::Step;

/// The folder that messages are written to.
#[derive(Clone, Debug)]
pub struct FolderRoute {
    pub path: PathBuf,
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    offered: Option<String>,
}

impl Folder {
    /// Makes the folder if it is not there.
    pub async fn open(route: &FolderRoute) -> Result<Self, Ended> {
        let since = Instant::now();
        let path = route.path.clone();
        let made = blocking(move || DirBuilder::new().recursive(true).mode(0o700).create(path));
        match made.await {
            Ok(()) => Ok(Self { path: route.path.clone(), offered: None }),
            Err(error) => Err(ended(failed(&route.path, &error), None, since)),
        }
    }

    /// Remembers whom the next file is for.
    pub fn offer(&mut self, envelope: &Envelope, steps: &dyn Steps) {
        steps.note(Step::Rcpt);
        self.offered = Some(envelope.to.clone());
    }

    /// Writes the message that was offered.
    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        let since = Instant::now();
        let name = file_name(&self.offered.take().unwrap_or_default(), content);
        let (file, folder) = (self.path.join(&name), self.path.clone());
        let hidden = self.path.join(format!(".{name}.part"));
        steps.note(Step::Data);
        let (part, bytes) = (hidden.clone(), content.to_vec());
        if let Err(error) = blocking(move || write_whole(&part, &bytes)).await {
            return ended(failed(&hidden, &error), None, since);
        }
        steps.note(Step::BodyComplete);
        if !gate() {
            return ended(Event::Fenced, None, since);
        }
        steps.note(Step::Dot);
        let renamed = blocking(move || {
            std::fs::rename(&hidden, &file)?;
            File::open(&folder)?.sync_all()
        });
        match renamed.await {
            Ok(()) => {
                steps.dot_has_left();
                let reply =
                    Reply { code: 250, bytes: format!("250 2.0.0 written to {name}").into_bytes() };
                let event = reply.event();
                if let Event::Reply(code, _) = &event {
                    steps.note(Step::Answered(*code));
                }
                ended(event, Some(reply), since)
            }
            Err(error) => ended(failed(&self.path, &error), None, since),
        }
    }
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Names the file after the recipient and what makes the message this one: its Message-ID.
fn file_name(to: &str, content: &[u8]) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '@' | '.' | '-' | '_' | '+');
    let whom: String = to.chars().take(80).map(|c| if harmless(c) { c } else { '_' }).collect();
    let whom = whom.trim_start_matches('.');
    let digest = HEXLOWER.encode(&Sha256::digest(identity(content)));
    format!("{whom}-{}.eml", digest.get(..12).unwrap_or_default())
}

/// Returns the message's Message-ID line, or all of it when it has none.
fn identity(content: &[u8]) -> &[u8] {
    content
        .split(|&b| b == b'\n')
        .take_while(|line| !line.trim_ascii().is_empty())
        .find_map(|line| {
            let (name, value) = line.split_at_checked(11)?;
            name.eq_ignore_ascii_case(b"message-id:").then_some(value.trim_ascii())
        })
        .unwrap_or(content)
}

fn failed(path: &Path, error: &io::Error) -> Event {
    Event::FileFailed(format!("{}: {error}", path.display()))
}

fn ended(event: Event, reply: Option<Reply>, since: Instant) -> Ended {
    let verdict = classify(Phase::File, &event);
    Ended { phase: Phase::File, event, verdict, reply, id: None, took: since.elapsed() }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|died| Err(io::Error::other(died)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_recipient_and_message_id() {
        let first = file_name("a@example.test", b"Message-ID: <1@x>\r\nDate: 1\r\n\r\nhello");
        let again = file_name("a@example.test", b"message-id: <1@x>\r\nDate: 2\r\n\r\nother");
        let other = file_name("a@example.test", b"Message-ID: <2@x>\r\n\r\nhello");
        assert!(first.starts_with("a@example.test-"), "{first}");
        assert_eq!(Path::new(&first).extension().unwrap(), "eml");
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn no_address_leads_out_of_the_folder() {
        for to in ["../../etc/passwd", "/etc/passwd", "..", "a/b@x", "", "\0\n@x"] {
            let name = file_name(to, b"x");
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
        }
    }
}
