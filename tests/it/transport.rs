//! Transports against servers and folders that behave and misbehave.

use std::time::Duration;

use ittsu::cli::demo::mailserver::{Behaviour, MailServer};
use ittsu::domain::smtp::Event;
use ittsu::transport::smtp::{Deadlines, SmtpRoute};
use ittsu::transport::{Connection, Ended, Envelope, NoSteps, Route, Steps};

mod bytes;
mod folder;
mod http;
mod login;
mod opening;
mod outcomes;
mod reuse;
mod server;
mod tls;

/// Long enough that only what a test makes wait runs into it.
const LONG: Duration = Duration::from_mins(1);
/// For the step that a test makes wait.
const SHORT: Duration = Duration::from_millis(60);

const PATIENT: Deadlines = Deadlines {
    connect: LONG,
    greeting: LONG,
    command: LONG,
    data: LONG,
    body: LONG,
    answer: LONG,
};

const MESSAGE: &[u8] = b"Message-ID: <1.test@example.com>\r\nSubject: hello\r\n\r\nhello\r\n";

fn start(behaviour: Behaviour) -> MailServer {
    MailServer::start(behaviour).expect("a port on loopback")
}

fn route_to(server: &MailServer) -> SmtpRoute {
    SmtpRoute { deadlines: PATIENT, ..SmtpRoute::plain("127.0.0.1", server.addr().port()) }
}

fn envelope(to: &str) -> Envelope {
    Envelope { from: "bounce@example.com".to_owned(), to: to.to_owned(), once: String::new() }
}

async fn open(route: SmtpRoute) -> Result<Connection, Ended> {
    Connection::open(&Route::Smtp(route)).await
}

/// Opens a connection that is known to work.
async fn connect(server: &MailServer) -> Connection {
    open(route_to(server)).await.expect("a connection")
}

/// Offers the message to `to`, hands it over, and says how that ended.
async fn send(connection: &mut Connection, to: &str) -> Ended {
    send_this(connection, &envelope(to), MESSAGE, &NoSteps).await
}

async fn send_this(
    connection: &mut Connection,
    envelope: &Envelope,
    content: &[u8],
    steps: &dyn Steps,
) -> Ended {
    match connection.offer(envelope, content, steps).await {
        Ok(()) => connection.hand_over(content, steps, &|| true).await,
        Err(ended) => ended,
    }
}

/// Opens, sends to `to`, and says how that ended, wherever it ended.
async fn send_over(route: SmtpRoute, to: &str, content: &[u8]) -> Ended {
    match open(route).await {
        Ok(mut connection) => send_this(&mut connection, &envelope(to), content, &NoSteps).await,
        Err(ended) => ended,
    }
}

/// Says in words how it ended, so that a table of cases can be read.
fn said(ended: &Ended) -> String {
    let verdict = &ended.verdict;
    let mut words =
        vec![format!("{}: {}", ended.phase, verdict.outcome.as_str()), verdict.blame.to_string()];
    if verdict.counts {
        words.push("counted".to_owned());
    }
    if let Some(wait) = verdict.not_before {
        words.push(format!("after {} min", wait.as_secs() / 60));
    }
    if let Some(suspect) = verdict.suspect {
        words.push(format!("suspect {suspect:?}").to_lowercase());
    }
    if let Some(pause) = verdict.pause {
        words.push(format!("pause {pause:?}").to_lowercase());
    }
    if verdict.review {
        words.push("review".to_owned());
    }
    words.push(if verdict.keep_connection { "keep" } else { "close" }.to_owned());
    words.join(", ")
}

fn code(ended: &Ended) -> Option<u16> {
    match &ended.event {
        Event::Reply(reply, _) => Some(reply.code),
        _ => None,
    }
}

/// Waits for something that another thread is about to do.
async fn until(what: impl Fn() -> bool) {
    tokio::time::timeout(LONG, async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .expect("it never happened");
}
