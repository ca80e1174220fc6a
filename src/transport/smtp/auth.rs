//! Logging in with AUTH PLAIN or LOGIN; the caller has made sure that nobody listens.

use std::time::Duration;

use data_encoding::BASE64;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::io::{AsyncRead, AsyncWrite};

use super::Credentials;
use super::capabilities::Capabilities;
use super::reply::Reply;
use super::wire::Wire;
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, goes_on};

/// Logs in, or says what happened instead.
pub(super) async fn log_in<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    capabilities: &Capabilities,
    login: &Credentials,
    wait: Duration,
) -> Result<(), (Event, Option<Reply>)> {
    if capabilities.plain {
        let words = format!("\0{}\0{}", login.user, login.password.expose_secret());
        let words = SecretString::from(words);
        let words = SecretString::from(BASE64.encode(words.expose_secret().as_bytes()));
        let line = SecretString::from(format!("AUTH PLAIN {}\r\n", words.expose_secret()));
        let code = exchange(wire, login, &line, wait).await?;
        return conclude(wire, login, code);
    }
    if !capabilities.login {
        return Err((Event::NotOffered("AUTH PLAIN or LOGIN"), None));
    }
    let mut code = exchange(wire, login, &SecretString::from("AUTH LOGIN\r\n"), wait).await?;
    for word in [login.user.as_str(), login.password.expose_secret()] {
        if code != 334 {
            return conclude(wire, login, code);
        }
        let line = SecretString::from(format!("{}\r\n", BASE64.encode(word.as_bytes())));
        code = exchange(wire, login, &line, wait).await?;
    }
    conclude(wire, login, code)
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &mut Wire<S>,
    login: &Credentials,
    line: &SecretString,
    wait: Duration,
) -> Result<u16, (Event, Option<Reply>)> {
    wire.out.extend_from_slice(line.expose_secret().as_bytes());
    let sent = wire.send(wait).await;
    wire.forget_what_was_said();
    if let Err(loss) = sent {
        return match wire.last_words().await.map(|reply| redacted(reply, login)) {
            Some(reply) if reply.code >= 400 => Err((reply.event(), Some(reply))),
            _ => Err((Event::Lost(loss), None)),
        };
    }
    wire.reply(wait).await.map_err(|trouble| (trouble.into(), None))
}

fn conclude<S: AsyncRead + AsyncWrite + Unpin>(
    wire: &Wire<S>,
    login: &Credentials,
    code: u16,
) -> Result<(), (Event, Option<Reply>)> {
    if goes_on(Phase::Auth, code) {
        return Ok(());
    }
    let reply = redacted(wire.last_reply(code), login);
    Err((reply.event(), Some(reply)))
}

/// Takes the text out of a reply in which the server repeats the password.
fn redacted(reply: Reply, login: &Credentials) -> Reply {
    let password = login.password.expose_secret();
    let plain = format!("\0{}\0{password}", login.user);
    let spellings =
        [password.to_owned(), BASE64.encode(password.as_bytes()), BASE64.encode(plain.as_bytes())];
    let repeats = |word: &String| {
        !word.is_empty() && memchr::memmem::find(&reply.bytes, word.as_bytes()).is_some()
    };
    if spellings.iter().any(repeats) {
        return Reply { code: reply.code, bytes: format!("{} ***", reply.code).into_bytes() };
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_repeats_the_password_is_blacked_out() {
        let login = Credentials { user: "bulk".into(), password: "canary".to_owned().into() };
        for echo in ["535 no canary", "535 bad Y2FuYXJ5", "535 AUTH PLAIN AGJ1bGsAY2FuYXJ5"] {
            let reply = Reply { code: 535, bytes: echo.as_bytes().to_vec() };
            assert_eq!(redacted(reply, &login).bytes, b"535 ***", "{echo}");
        }
        let reply = Reply { code: 535, bytes: b"535 5.7.8 no".to_vec() };
        assert_eq!(redacted(reply.clone(), &login), reply);
    }

    #[test]
    fn credentials_are_never_printed() {
        let login = Credentials { user: "bulk".into(), password: "canary".to_owned().into() };
        assert!(!format!("{login:?}").contains("canary"));
    }
}
