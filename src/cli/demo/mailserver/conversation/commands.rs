//! What the client says, command by command.

use std::io;

use data_encoding::BASE64;

use super::super::behaviour::{At, Goodbye, Login, Says, ServerTls, Then};
use super::super::peer::Peer;
use super::{Conversation, Flow};

impl Conversation {
    pub(super) async fn command(&mut self, line: &[u8]) -> io::Result<Flow> {
        let text = String::from_utf8_lossy(line);
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match verb.to_ascii_uppercase().as_str() {
            "MAIL" => self.mail(rest).await,
            "RCPT" => self.rcpt(rest).await,
            "DATA" => self.data().await,
            "EHLO" => {
                let greeting = self.capabilities();
                self.usually(At::Ehlo, &greeting).await
            }
            "HELO" => self.answer(b"250 demo.test").await,
            "STARTTLS" => self.start_tls().await,
            "AUTH" => self.auth(rest).await,
            "RSET" => {
                self.forget_transaction();
                self.usually(At::Rset, b"250 2.0.0 ok").await
            }
            "NOOP" => self.answer(b"250 2.0.0 ok").await,
            "QUIT" => {
                if self.usually(At::Quit, b"221 2.0.0 bye").await? == Flow::On {
                    self.leave().await?;
                }
                Ok(Flow::End)
            }
            _ => self.answer(b"500 5.5.2 what?").await,
        }
    }

    fn capabilities(&self) -> Vec<u8> {
        let mut words = vec!["demo.test".to_owned()];
        words.extend(self.behaviour.capabilities.iter().cloned());
        if matches!((&self.behaviour.tls, &self.peer), (ServerTls::StartTls(_), Peer::Plain(_))) {
            words.push("STARTTLS".to_owned());
        }
        if let Some(login) = &self.behaviour.login {
            words.push(format!("AUTH {}", login.mechanisms));
        }
        let last = words.pop().unwrap_or_default();
        let mut lines = Vec::new();
        for word in words {
            lines.extend_from_slice(b"250-");
            lines.extend_from_slice(word.as_bytes());
            lines.extend_from_slice(b"\r\n");
        }
        lines.extend_from_slice(b"250 ");
        lines.extend_from_slice(last.as_bytes());
        lines
    }

    async fn mail(&mut self, rest: &str) -> io::Result<Flow> {
        if let Some((most, Goodbye::With421)) = self.behaviour.messages_per_connection
            && self.messages >= most
        {
            return self.answer(b"421 4.7.0 enough messages on this connection").await;
        }
        if self.behaviour.login.is_some() && !self.logged_in {
            return self.answer(b"530 5.7.0 authentication required").await;
        }
        if self.from.is_some() {
            return self.answer(b"503 5.5.1 a transaction is open").await;
        }
        let Some(from) = path(rest, "FROM:") else {
            return self.answer(b"501 5.5.4 MAIL FROM:<address>").await;
        };
        self.from = Some(from);
        let flow = self.usually(At::Mail, b"250 2.1.0 ok").await?;
        if self.said != Some(b'2') {
            self.from = None;
        }
        Ok(flow)
    }

    async fn rcpt(&mut self, rest: &str) -> io::Result<Flow> {
        let Some(from) = self.from.clone() else {
            return self.answer(b"503 5.5.1 MAIL first").await;
        };
        let Some(to) = path(rest, "TO:").filter(|to| !to.is_empty()) else {
            return self.answer(b"501 5.1.3 RCPT TO:<address>").await;
        };
        if self.behaviour.recipients.is_some_and(|most| self.to.len() >= most) {
            return self.answer(b"452 4.5.3 too many recipients").await;
        }
        if self.shared.puts_off(&self.behaviour, &from, &to) {
            return self.answer(b"450 4.7.1 greylisted, come back later").await;
        }
        self.to.push(to);
        let flow = self.usually(At::Rcpt, b"250 2.1.5 ok").await?;
        if self.said != Some(b'2') {
            self.to.pop();
        }
        Ok(flow)
    }

    async fn start_tls(&mut self) -> io::Result<Flow> {
        let ServerTls::StartTls(config) = self.behaviour.tls.clone() else {
            return self.usually(At::StartTls, b"502 5.5.1 no TLS here").await;
        };
        let deed = self.deed(At::StartTls);
        let flow = self.usually(At::StartTls, b"220 2.0.0 go ahead").await?;
        let refuses = deed.is_some_and(|deed| {
            deed.then != Then::GoOn
                || matches!(&deed.says, Says::Line(line) if line.first() != Some(&b'2'))
        });
        if flow == Flow::End || refuses {
            return Ok(flow);
        }
        self.flush().await?;
        self.heard.clear();
        self.done = 0;
        self.forget_transaction();
        self.peer.secure(config).await?;
        Ok(Flow::On)
    }

    async fn auth(&mut self, rest: &str) -> io::Result<Flow> {
        let Some(login) = self.behaviour.login.clone() else {
            return self.answer(b"503 5.5.1 no AUTH here").await;
        };
        let mut words = rest.split(' ');
        let right = match words.next().map(str::to_ascii_uppercase).as_deref() {
            Some("PLAIN") => {
                let response = match words.next() {
                    Some(response) => response.to_owned(),
                    None => match self.ask(b"334 ").await? {
                        Some(response) => response,
                        None => return Ok(Flow::End),
                    },
                };
                is_plain(&response, &login)
            }
            Some("LOGIN") => {
                let Some(user) = self.ask(b"334 VXNlcm5hbWU6").await? else {
                    return Ok(Flow::End);
                };
                let Some(password) = self.ask(b"334 UGFzc3dvcmQ6").await? else {
                    return Ok(Flow::End);
                };
                user == BASE64.encode(login.user.as_bytes())
                    && password == BASE64.encode(login.password.as_bytes())
            }
            _ => return self.answer(b"504 5.5.4 unknown mechanism").await,
        };
        if !right {
            return self.usually(At::Auth, b"535 5.7.8 authentication failed").await;
        }
        let flow = self.usually(At::Auth, b"235 2.7.0 welcome").await?;
        self.logged_in = self.said == Some(b'2');
        Ok(flow)
    }

    async fn ask(&mut self, prompt: &[u8]) -> io::Result<Option<String>> {
        self.say(prompt);
        let line = self.next_line().await?;
        Ok(line.map(|line| String::from_utf8_lossy(&line).into_owned()))
    }

    pub(super) fn forget_transaction(&mut self) {
        self.from = None;
        self.to.clear();
    }
}

fn is_plain(response: &str, login: &Login) -> bool {
    let words = format!("\0{}\0{}", login.user, login.password);
    response == BASE64.encode(words.as_bytes())
}

/// Reads `FROM:<address> parameters`.
fn path(rest: &str, word: &str) -> Option<String> {
    let (begin, rest) = rest.split_at_checked(word.len())?;
    if !begin.eq_ignore_ascii_case(word) {
        return None;
    }
    let (path, _) = rest.trim_start().strip_prefix('<')?.rsplit_once('>')?;
    Some(path.to_owned())
}
