//! From a name to a connection that can take messages.

use std::net::IpAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::auth::log_in;
use super::capabilities::Capabilities;
use super::reply::Reply;
use super::resolve::NameError;
use super::tls::secure;
use super::wire::{Counting, Wire};
use super::{Session, SmtpRoute, Stream, Tls};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, Loss, classify, goes_on};
use crate::transport::Ended;

/// What came instead of a connection.
struct Failed {
    phase: Phase,
    event: Event,
    reply: Option<Reply>,
}

impl Failed {
    fn at(phase: Phase, event: impl Into<Event>) -> Self {
        Self { phase, event: event.into(), reply: None }
    }
}

/// Opens a connection: resolves, connects, greets, secures and logs in.
pub async fn open(route: &SmtpRoute) -> Result<Session<Stream>, Ended> {
    let since = Instant::now();
    try_open(route).await.map_err(|Failed { phase, event, reply }| Ended {
        verdict: classify(phase, &event),
        phase,
        event,
        reply,
        id: None,
        took: since.elapsed(),
    })
}

async fn try_open(route: &SmtpRoute) -> Result<Session<Stream>, Failed> {
    let addresses = resolve(route).await?;
    let tcp = connect(&addresses, route.port, route.deadlines.connect)
        .await
        .map_err(|loss| Failed::at(Phase::Connect, Event::Lost(loss)))?;
    let mut wire = match route.tls {
        Tls::Implicit => handshake(route, tcp).await?,
        Tls::StartTls | Tls::None => Wire::new(Stream::Plain(tcp), Counting::Exact),
    };
    expect(&mut wire, Phase::Greeting, route.deadlines.greeting).await?;
    let mut capabilities = greet(&mut wire, route).await?;
    if route.tls == Tls::StartTls {
        wire = start_tls(wire, route, &capabilities).await?;
        capabilities = greet(&mut wire, route).await?;
    }
    if let Some(login) = &route.credentials {
        log_in(&mut wire, &capabilities, login, route.deadlines.command)
            .await
            .map_err(|(event, reply)| Failed { phase: Phase::Auth, event, reply })?;
    }
    Ok(Session::new(wire, capabilities, route.deadlines))
}

async fn resolve(route: &SmtpRoute) -> Result<Vec<IpAddr>, Failed> {
    let lookup = timeout(route.deadlines.connect, route.resolver.addresses(&route.host)).await;
    let event = match lookup.unwrap_or(Err(NameError::Failed)) {
        Ok(addresses) if addresses.is_empty() => Event::NameNotFound,
        Ok(addresses) => {
            let stays_here = addresses.iter().all(IpAddr::is_loopback);
            let may_be_read = route.tls == Tls::None && !stays_here;
            // A login never leaves this machine in clear, whatever the route allows.
            if may_be_read && !(route.allow_plaintext && route.credentials.is_none()) {
                return Err(Failed::at(Phase::StartTls, Event::NotOffered("TLS")));
            }
            return Ok(addresses);
        }
        Err(NameError::NotFound) => Event::NameNotFound,
        Err(NameError::Failed) => Event::NameFailed,
    };
    Err(Failed::at(Phase::Resolve, event))
}

/// Tries one address after the other.
pub(in crate::transport) async fn connect(
    addresses: &[IpAddr],
    port: u16,
    wait: Duration,
) -> Result<TcpStream, Loss> {
    let mut loss = Loss::Reset;
    for &address in addresses {
        match timeout(wait, TcpStream::connect((address, port))).await {
            // Nagle's delay would hold every dot back until the server's delayed acknowledgement.
            Ok(Ok(tcp)) if tcp.set_nodelay(true).is_ok() => return Ok(tcp),
            Ok(_) => loss = Loss::Reset,
            Err(_) => loss = Loss::Timeout,
        }
    }
    Err(loss)
}

async fn handshake(route: &SmtpRoute, tcp: TcpStream) -> Result<Wire<Stream>, Failed> {
    let secured = timeout(route.deadlines.connect, secure(&route.trust, &route.host, tcp)).await;
    match secured.unwrap_or(Err(Event::Lost(Loss::Timeout))) {
        Ok(stream) => Ok(Wire::new(stream, Counting::Buffered)),
        Err(event) => Err(Failed::at(Phase::Tls, event)),
    }
}

/// Says EHLO; HELO only to a server that knows no better and of which nothing more is needed.
async fn greet(wire: &mut Wire<Stream>, route: &SmtpRoute) -> Result<Capabilities, Failed> {
    say(wire, Phase::Ehlo, &format!("EHLO {}\r\n", route.ehlo_name), route).await?;
    match expect(wire, Phase::Ehlo, route.deadlines.command).await {
        Ok(reply) => Ok(Capabilities::read(&reply)),
        Err(failed) => {
            let unknown = failed.reply.as_ref().is_some_and(|reply| reply.code >= 500);
            if !unknown || route.tls != Tls::None || route.credentials.is_some() {
                return Err(failed);
            }
            say(wire, Phase::Ehlo, &format!("HELO {}\r\n", route.ehlo_name), route).await?;
            expect(wire, Phase::Ehlo, route.deadlines.command).await?;
            Ok(Capabilities::default())
        }
    }
}

async fn start_tls(
    mut wire: Wire<Stream>,
    route: &SmtpRoute,
    capabilities: &Capabilities,
) -> Result<Wire<Stream>, Failed> {
    if !capabilities.start_tls {
        return Err(Failed::at(Phase::StartTls, Event::NotOffered("STARTTLS")));
    }
    say(&mut wire, Phase::StartTls, "STARTTLS\r\n", route).await?;
    expect(&mut wire, Phase::StartTls, route.deadlines.command).await?;
    // A server is silent until our handshake; whatever came in clear was put there by somebody.
    if wire.was_interrupted() {
        let event = if wire.spoke() { Event::Injected } else { Event::Lost(Loss::Eof) };
        return Err(Failed::at(Phase::StartTls, event));
    }
    match wire.into_stream() {
        Stream::Plain(tcp) => handshake(route, tcp).await,
        Stream::Tls(_) => Err(Failed::at(Phase::StartTls, Event::HandshakeFailed)),
    }
}

async fn say(
    wire: &mut Wire<Stream>,
    phase: Phase,
    line: &str,
    route: &SmtpRoute,
) -> Result<(), Failed> {
    wire.out.extend_from_slice(line.as_bytes());
    match wire.send(route.deadlines.command).await {
        Ok(()) => Ok(()),
        Err(loss) => Err(match wire.last_words().await {
            Some(reply) if reply.code >= 400 => {
                Failed { phase, event: reply.event(), reply: Some(reply) }
            }
            _ => Failed::at(phase, Event::Lost(loss)),
        }),
    }
}

async fn expect(wire: &mut Wire<Stream>, phase: Phase, wait: Duration) -> Result<Reply, Failed> {
    let code = wire.reply(wait).await.map_err(|trouble| Failed::at(phase, trouble))?;
    let reply = wire.last_reply(code);
    if goes_on(phase, code) {
        return Ok(reply);
    }
    Err(Failed { phase, event: reply.event(), reply: Some(reply) })
}
