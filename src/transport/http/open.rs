//! From an API's name to a connection that can take a call.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout};

use super::super::smtp::open::connect;
use super::super::smtp::resolve::NameError;
use super::super::smtp::tls::secure;
use super::super::{Ended, smtp::Stream};
use super::counted::Counted;
use super::{HttpRoute, Session};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event, Loss, classify};

/// Opens a connection: resolves, connects and secures. Nothing is said yet.
pub async fn open(route: &Arc<HttpRoute>) -> Result<Session, Ended> {
    let since = Instant::now();
    try_open(route).await.map_err(|(phase, event)| Ended {
        verdict: classify(phase, &event),
        phase,
        event,
        reply: None,
        id: None,
        took: since.elapsed(),
    })
}

async fn try_open(route: &Arc<HttpRoute>) -> Result<Session, (Phase, Event)> {
    let wait = route.deadlines.connect;
    let addresses = resolve(route).await?;
    let tcp = connect(&addresses, route.port(), wait)
        .await
        .map_err(|loss| (Phase::Connect, Event::Lost(loss)))?;
    let stream = if route.is_secure() {
        let secured = timeout(wait, secure(&route.trust, route.host(), tcp)).await;
        secured.unwrap_or(Err(Event::Lost(Loss::Timeout))).map_err(|event| (Phase::Tls, event))?
    } else {
        Stream::Plain(tcp)
    };
    let counted = Counted::new(stream);
    let written = Arc::clone(&counted.written);
    let (sender, driver) = http1::Builder::new()
        .handshake(TokioIo::new(counted))
        .await
        .map_err(|_err| (Phase::Connect, Event::Lost(Loss::Reset)))?;
    Ok(Session::new(Arc::clone(route), sender, driver, written))
}

async fn resolve(route: &HttpRoute) -> Result<Vec<IpAddr>, (Phase, Event)> {
    let lookup = timeout(route.deadlines.connect, route.resolver.addresses(route.host())).await;
    let event = match lookup.unwrap_or(Err(NameError::Failed)) {
        Ok(addresses) if addresses.is_empty() => Event::NameNotFound,
        Ok(addresses) => {
            let stays_here = addresses.iter().all(IpAddr::is_loopback);
            if !route.is_secure() && !stays_here && !route.allow_plaintext {
                return Err((Phase::StartTls, Event::NotOffered("TLS")));
            }
            return Ok(addresses);
        }
        Err(NameError::NotFound) => Event::NameNotFound,
        Err(NameError::Failed) => Event::NameFailed,
    };
    Err((Phase::Resolve, event))
}
