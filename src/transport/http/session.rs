//! One connection to an API: calls it, one mail after the other.
//!
//! Every call takes the line out of the session and puts it back only when the answer was read
//! whole, so a future that was dropped in the middle leaves a connection that is closed.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{Connection, SendRequest};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};

use super::super::{Ended, Envelope, Steps};
use super::HttpRoute;
use super::answer::{LONGEST_BODY, names, reply, retry_after, says};
use super::counted::{Counted, Written};
use crate::domain::http::{Answer, Event, classify};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Event as Shown, Loss, ReplyCode};
use crate::domain::step::Step;

/// An open connection to an API.
#[derive(Debug)]
pub struct Session {
    route: Arc<HttpRoute>,
    line: Option<Line>,
    offered: Option<Envelope>,
}

/// hyper's two halves: one asks, the other moves the bytes.
#[derive(Debug)]
struct Line {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
    written: Arc<Written>,
}

type Driver = Pin<Box<Connection<TokioIo<Counted>, Full<Bytes>>>>;

/// How a call went, before it is judged.
enum Went {
    Answered(Box<Answered>),
    Not(Event),
}

struct Answered {
    head: Parts,
    body: Vec<u8>,
    is_cut: bool,
}

impl Session {
    pub(super) fn new(
        route: Arc<HttpRoute>,
        sender: SendRequest<Full<Bytes>>,
        driver: Connection<TokioIo<Counted>, Full<Bytes>>,
        written: Arc<Written>,
    ) -> Self {
        let line = Some(Line { sender, driver: Box::pin(driver), written });
        Self { route, line, offered: None }
    }

    /// Reports whether another mail may be offered.
    pub const fn is_usable(&self) -> bool {
        self.line.is_some()
    }

    /// Makes sure that the server has not closed the connection meanwhile; says nothing to it.
    pub async fn offer(&mut self, envelope: &Envelope, steps: &dyn Steps) -> Result<(), Ended> {
        let since = Instant::now();
        steps.note(Step::Rcpt);
        let mut line = self.line.take().filter(|line| !line.sender.is_closed());
        if let Some(open) = &mut line {
            let is_alive = poll_fn(|cx| Poll::Ready(open.driver.as_mut().poll(cx).is_pending()));
            if is_alive.await && open.sender.is_ready() {
                self.line = line;
                self.offered = Some(envelope.clone());
                return Ok(());
            }
        }
        Err(ended(Event::NotWritten(Loss::Eof), since))
    }

    /// Makes the call and waits for its answer.
    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        let since = Instant::now();
        let (Some(line), Some(envelope)) = (self.line.take(), self.offered.take()) else {
            return ended(Event::NotWritten(Loss::Eof), since);
        };
        steps.note(Step::Data);
        let Some(request) = self.request(&envelope, content) else {
            return ended(Event::NotWritten(Loss::Reset), since);
        };
        steps.note(Step::BodyComplete);
        if !gate() {
            // Nothing of it was written, and the step file may say so.
            steps.note(Step::Data);
            return ended(Event::Fenced, since);
        }
        steps.note(Step::Dot);
        let (line, went) = self.call(line, request, content.len(), steps).await;
        match went {
            Went::Not(event) => ended(event, since),
            Went::Answered(answered) => {
                let ended = self.judge(*answered, &envelope, since);
                if let Shown::Reply(code, _) = &ended.event {
                    let outcome = ended.verdict.as_evidence();
                    steps.note(Step::Judged { status: code.code, outcome });
                }
                if ended.verdict.keep_connection {
                    self.line = line;
                }
                ended
            }
        }
    }

    fn request(&self, envelope: &Envelope, content: &[u8]) -> Option<Request<Full<Bytes>>> {
        let route = &self.route;
        let path = route.url.path_and_query().map_or("/", |path| path.as_str());
        let host = route.url.authority()?.as_str().rsplit('@').next()?;
        let body = Bytes::copy_from_slice(content);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = route.method.clone();
        *request.uri_mut() = path.parse().ok()?;
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_str(host).ok()?);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(content.len()));
        for (name, value) in &route.headers {
            headers.insert(name.clone(), value.clone());
        }
        if let Some(idempotency) = &route.idempotency {
            let key = HeaderValue::from_str(&envelope.once).ok()?;
            headers.insert(idempotency.header.clone(), key);
        }
        Some(request)
    }

    /// Writes the request and reads the answer, each within its time.
    async fn call(
        &self,
        line: Line,
        request: Request<Full<Bytes>>,
        length: usize,
        steps: &dyn Steps,
    ) -> (Option<Line>, Went) {
        let Line { mut sender, mut driver, written } = line;
        let least = written.bytes() + length.max(1) as u64;
        let is_written = || written.bytes() >= least;
        let (head, body) = (OnceLock::new(), Mutex::new(Vec::new()));
        let begun = Instant::now();
        let deadlines = self.route.deadlines;
        let deadline = || {
            if is_written() { written.last() + deadlines.answer } else { begun + deadlines.body }
        };
        let mut has_left = false;
        let mut is_over = false;
        let ended = {
            let mut exchange = pin!(exchange(sender.send_request(request), &head, &body));
            let mut both = pin!(poll_fn(|cx| {
                if let Poll::Ready(ended) = exchange.as_mut().poll(cx) {
                    return Poll::Ready(Some(ended));
                }
                if !is_over {
                    is_over = driver.as_mut().poll(cx).is_ready();
                    if !has_left && is_written() {
                        has_left = true;
                        steps.dot_has_left();
                        return Poll::Ready(None);
                    }
                }
                exchange.as_mut().poll(cx).map(Some)
            }));
            loop {
                match timeout_at(deadline(), both.as_mut()).await {
                    Ok(Some(ended)) => break ended,
                    // The last byte has left: from here on the answer has its own time.
                    Ok(None) => {}
                    Err(_) => break Err(Broke::Late),
                }
            }
        };
        let body = std::mem::take(&mut *body.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(head) = head.into_inner() else {
            return (None, Went::Not(unanswered(ended.err(), is_written())));
        };
        let is_cut = ended.is_err();
        let line = (!is_over && !is_cut).then_some(Line { sender, driver, written });
        (line, Went::Answered(Box::new(Answered { head, body, is_cut })))
    }

    fn judge(&self, answered: Answered, envelope: &Envelope, since: Instant) -> Ended {
        let Answered { head, body, is_cut } = answered;
        let status = head.status.as_u16();
        let reading = &self.route.reading;
        let (said, id) = says(reading, status, &body, is_cut);
        let answer = Answer {
            status,
            body: said,
            retry_after: retry_after(&head.headers, &self.route.clock),
            keyed: self.route.idempotency.is_some(),
            promised: reading.not_accepted.contains(&status),
            names_recipient: names(&body, &envelope.to),
        };
        let reply = reply(&head, &body);
        let code = ReplyCode { code: status, enhanced: None };
        Ended {
            phase: Phase::Request,
            event: Shown::Reply(code, reply.text()),
            verdict: classify(&Event::Answer(answer)),
            reply: Some(reply),
            id,
            took: since.elapsed(),
        }
    }
}

/// Why an exchange has no whole answer.
enum Broke {
    Late,
    Hyper(hyper::Error),
    TooLong,
}

/// Asks, and reads the answer into `head` and `body` as it comes.
async fn exchange(
    answer: impl Future<Output = hyper::Result<Response<Incoming>>>,
    head: &OnceLock<Parts>,
    body: &Mutex<Vec<u8>>,
) -> Result<(), Broke> {
    let (parts, mut incoming) = answer.await.map_err(Broke::Hyper)?.into_parts();
    // It is set once, here.
    let _ = head.set(parts);
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(Broke::Hyper)?;
        let Some(data) = frame.data_ref() else { continue };
        let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
        if body.len() + data.len() > LONGEST_BODY {
            return Err(Broke::TooLong);
        }
        body.extend_from_slice(data);
    }
    Ok(())
}

/// Says what it means that no head of an answer came.
fn unanswered(broke: Option<Broke>, is_written: bool) -> Event {
    let loss = match broke {
        Some(Broke::Late) => Loss::Timeout,
        Some(Broke::Hyper(error)) if error.is_parse() && is_written => return Event::Malformed,
        Some(Broke::Hyper(error)) if error.is_incomplete_message() || error.is_canceled() => {
            Loss::Eof
        }
        Some(Broke::Hyper(_) | Broke::TooLong) | None => Loss::Reset,
    };
    if is_written { Event::Lost(loss) } else { Event::NotWritten(loss) }
}

fn ended(event: Event, since: Instant) -> Ended {
    let shown = match event {
        Event::Lost(loss) | Event::NotWritten(loss) => Shown::Lost(loss),
        Event::Fenced => Shown::Fenced,
        Event::Cancelled => Shown::Cancelled,
        Event::Malformed | Event::Answer(_) => Shown::Malformed,
    };
    Ended {
        phase: Phase::Request,
        event: shown,
        verdict: classify(&event),
        reply: None,
        id: None,
        took: since.elapsed(),
    }
}
