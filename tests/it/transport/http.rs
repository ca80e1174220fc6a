//! Calls to an API that behaves and misbehaves, from its bytes to the verdict.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use ittsu::clock::Clock;
use ittsu::domain::smtp::{Event, Loss};
use ittsu::domain::step::Step;
use ittsu::transport::http::{Accepted, Deadlines, Idempotency, Reading};
use ittsu::transport::smtp::{Resolver, Trust};
use ittsu::transport::{Connection, Ended, Envelope, HttpRoute, NoSteps, Route, Steps};
use rstest::rstest;

use super::{LONG, SHORT, said, until};
use crate::support::api::{Api, Says, Then};

const BODY: &[u8] = br#"{"to":"taro@example.test","key":"9001"}"#;
const PATIENT: Deadlines = Deadlines { connect: LONG, body: LONG, answer: LONG };

fn route(url: &str) -> HttpRoute {
    HttpRoute {
        method: Method::POST,
        url: url.parse().unwrap(),
        allow_plaintext: false,
        trust: Trust::default(),
        resolver: Resolver::default(),
        headers: vec![(AUTHORIZATION, HeaderValue::from_static("Bearer secret"))],
        deadlines: PATIENT,
        reading: Reading { id: Some("/id".to_owned()), ..Reading::default() },
        idempotency: None,
        clock: Clock::System,
    }
}

fn envelope() -> Envelope {
    Envelope {
        from: "bounce@example.test".to_owned(),
        to: "taro@example.test".to_owned(),
        once: "k1.abc".to_owned(),
    }
}

async fn open(route: HttpRoute) -> Result<Connection, Ended> {
    Connection::open(&Route::Http(Arc::new(route))).await
}

async fn call(connection: &mut Connection, content: &[u8], steps: &dyn Steps) -> Ended {
    match connection.offer(&envelope(), content, steps).await {
        Ok(()) => connection.hand_over(content, steps, &|| true).await,
        Err(ended) => ended,
    }
}

async fn calls(route: HttpRoute) -> Ended {
    match open(route).await {
        Ok(mut connection) => call(&mut connection, BODY, &NoSteps).await,
        Err(ended) => ended,
    }
}

/// Calls an API that answers this, and says how it ended.
async fn answered(says: Says) -> String {
    let api = Api::start(move |_| says.clone());
    said(&calls(route(&api.url())).await)
}

#[rstest]
#[case::yes_with_an_id(Says::yes(), "request: accepted, row, counted, keep")]
#[case::yes_without_an_id(
    Says::answer("200 OK", "{}"),
    "request: accepted, row, counted, review, keep"
)]
#[case::yes_with_a_page(
    Says::answer("202 Accepted", "<html>"),
    "request: accepted, row, counted, review, keep"
)]
#[case::a_bad_request(
    Says::answer("400 Bad Request", "bad template"),
    "request: refused, batch, suspect content, keep"
)]
#[case::a_bad_address(
    Says::answer("422 Unprocessable Entity", "no such user: Taro@example.test"),
    "request: refused, row, counted, keep"
)]
#[case::a_refused_token(
    Says::answer("401 Unauthorized", ""),
    "request: not_sent, batch, pause credential, close"
)]
#[case::a_redirect(
    Says::answer("302 Found\r\nlocation: http://127.0.0.1:1/", ""),
    "request: not_sent, batch, pause service, close"
)]
#[case::see_other(
    Says::answer("303 See Other\r\nlocation: http://127.0.0.1:1/", ""),
    "request: unknown, batch, counted, pause service, keep"
)]
#[case::a_wrong_path(
    Says::answer("404 Not Found", ""),
    "request: not_sent, batch, pause service, close"
)]
#[case::request_timeout(
    Says::answer("408 Request Timeout", ""),
    "request: not_sent, connection, close"
)]
#[case::a_conflict(Says::answer("409 Conflict", ""), "request: unknown, connection, counted, keep")]
#[case::too_large(
    Says::answer("413 Content Too Large", ""),
    "request: refused, batch, suspect content, keep"
)]
#[case::too_early(Says::answer("425 Too Early", ""), "request: not_sent, connection, close")]
#[case::too_many(
    Says::answer("429 Too Many Requests\r\nretry-after: 120", ""),
    "request: deferred, endpoint, after 2 min, keep"
)]
#[case::too_many_until_a_date(
    Says::answer(
        "429 Too Many Requests\r\nretry-after: Mon, 30 Nov 2026 12:03:00 GMT\r\n\
         date: Mon, 30 Nov 2026 12:00:00 GMT",
        ""
    ),
    "request: deferred, endpoint, after 3 min, keep"
)]
#[case::internal_error(
    Says::answer("500 Internal Server Error", ""),
    "request: unknown, endpoint, counted, keep"
)]
#[case::unavailable(
    Says::answer("503 Service Unavailable\r\nretry-after: 60", ""),
    "request: unknown, endpoint, counted, after 1 min, keep"
)]
#[case::unavailable_although_it_was_taken(
    Says::answer("503 Service Unavailable", "").but_takes(),
    "request: unknown, endpoint, counted, keep")]
#[case::an_edge_without_an_origin(
    Says::answer("522 Connection Timed Out", ""),
    "request: not_sent, endpoint, close"
)]
#[case::an_edge_whose_origin_was_silent(
    Says::answer("524 A Timeout Occurred", ""),
    "request: unknown, endpoint, counted, keep"
)]
#[case::taken_and_closed(Says::takes_and_closes(), "request: unknown, connection, counted, close")]
#[case::nonsense(Says::raw("250 ok\r\n\r\n"), "request: unknown, connection, counted, close")]
#[case::half_a_head(
    Says::raw("HTTP/1.1 200 OK\r\ncontent-le"),
    "request: unknown, connection, counted, close"
)]
#[case::half_a_body(
    Says::raw("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"id\":\"m-1\"}"),
    "request: unknown, connection, counted, close"
)]
#[case::a_refusal_with_half_a_body(
    Says::raw("HTTP/1.1 400 Bad Request\r\ncontent-length: 99\r\n\r\nno"),
    "request: refused, batch, suspect content, close"
)]
#[case::a_body_that_ends_with_the_connection(
    Says::raw("HTTP/1.1 200 OK\r\n\r\n{\"id\":\"m-1\"}"),
    "request: accepted, row, counted, keep"
)]
#[case::a_go_on_before_the_answer(
    Says::raw(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"id\":7}"
    ),
    "request: accepted, row, counted, keep"
)]
#[tokio::test]
async fn an_answer_ends_a_call(#[case] says: Says, #[case] ends: &str) {
    assert_eq!(answered(says).await, ends);
}

#[rstest]
#[case::yes(r#"{"header":{"isSuccessful":true}}"#, "request: accepted, row, counted, keep")]
#[case::no(
    r#"{"header":{"isSuccessful":false,"resultMessage":"template"}}"#,
    "request: refused, batch, suspect content, keep"
)]
#[case::no_about_the_recipient(
    r#"{"header":{"isSuccessful":false,"resultMessage":"taro@example.test is invalid"}}"#,
    "request: refused, row, counted, keep"
)]
#[case::neither("{}", "request: unknown, connection, counted, close")]
#[case::a_page("<html>", "request: unknown, connection, counted, close")]
#[tokio::test]
async fn an_api_that_says_yes_or_no_in_the_body(#[case] body: &str, #[case] ends: &str) {
    let says = Says::answer("200 OK", body);
    let api = Api::start(move |_| says.clone());
    let accepted =
        Accepted { pointer: "/header/isSuccessful".to_owned(), is: serde_json::json!(true) };
    let reading = Reading { accepted: Some(accepted), ..Reading::default() };
    let ended = calls(HttpRoute { reading, ..route(&api.url()) }).await;
    assert_eq!(said(&ended), ends);
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let other = Api::start(|_| Says::yes());
    let to = format!("307 Temporary Redirect\r\nlocation: {}", other.url());
    let api = Api::start(move |_| Says::answer(&to, ""));
    let ended = calls(route(&api.url())).await;
    assert_eq!(said(&ended), "request: not_sent, batch, pause service, close");
    assert!(ended.event.to_string().contains(&other.url()), "{}", ended.event);
    assert_eq!((api.calls().len(), other.calls().len()), (1, 0));
}

#[tokio::test]
async fn nothing_is_called_a_second_time_by_itself() {
    for says in [Says::takes_and_closes(), Says::answer("503 Service Unavailable", "")] {
        let api = Api::start(move |_| says.clone());
        calls(route(&api.url())).await;
        assert_eq!(api.calls().len(), 1);
    }
}

#[tokio::test]
async fn a_promise_makes_a_503_a_later() {
    let api = Api::start(|_| Says::answer("503 Service Unavailable\r\nretry-after: 60", ""));
    let mut route = route(&api.url());
    route.reading.not_accepted = vec![503];
    let ended = calls(route).await;
    assert_eq!(said(&ended), "request: deferred, endpoint, after 1 min, keep");
}

#[tokio::test]
async fn no_answer_in_time_is_unknown() {
    let api = Api::start(|_| Says::keeps_silent());
    let deadlines = Deadlines { answer: SHORT, ..PATIENT };
    let ended = calls(HttpRoute { deadlines, ..route(&api.url()) }).await;
    assert_eq!(said(&ended), "request: unknown, connection, counted, close");
    assert_eq!(ended.event, Event::Lost(Loss::Timeout));
}

#[tokio::test]
async fn a_body_that_never_comes_is_unknown_although_the_head_said_yes() {
    let api = Api::start(|_| Says {
        takes: true,
        then: Then::Answers("200 OK\r\ntransfer-encoding: chunked".to_owned(), String::new()),
    });
    let deadlines = Deadlines { answer: SHORT, ..PATIENT };
    let ended = calls(HttpRoute { deadlines, ..route(&api.url()) }).await;
    assert_eq!(said(&ended), "request: unknown, connection, counted, close");
}

#[tokio::test]
async fn a_request_that_stalls_half_way_was_not_sent() {
    // Nobody reads: the system's buffers fill up long before the body is through.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let deadlines = Deadlines { body: SHORT, answer: SHORT, ..PATIENT };
    let mut connection = open(HttpRoute { deadlines, ..route(&url) }).await.unwrap();
    let ended = call(&mut connection, &vec![b' '; 64 * 1024 * 1024], &NoSteps).await;
    assert_eq!(said(&ended), "request: not_sent, connection, close");
    assert_eq!(ended.event, Event::Lost(Loss::Timeout));
}

#[tokio::test]
async fn nobody_listening_was_not_sent_and_backs_off() {
    let api = Api::start(|_| Says::yes());
    let (url, addr) = (api.url(), api.addr());
    drop(api);
    until(|| std::net::TcpStream::connect(addr).is_err()).await;
    assert_eq!(said(&calls(route(&url)).await), "connect: not_sent, endpoint, close");
}

#[tokio::test]
async fn a_name_that_does_not_exist_pauses() {
    use ittsu::transport::smtp::resolve::NameError;
    let resolver = Resolver::Fixed(Err(NameError::NotFound));
    let ended = calls(HttpRoute { resolver, ..route("https://api.example.test/") }).await;
    assert_eq!(said(&ended), "resolve: not_sent, batch, pause name, close");
}

#[tokio::test]
async fn a_server_without_tls_under_https_was_not_sent() {
    let api = Api::start(|_| Says::yes());
    let url = api.url().replace("http:", "https:");
    let ended = calls(route(&url)).await;
    assert!(said(&ended).starts_with("tls: not_sent, "), "{}", said(&ended));
    assert_eq!(api.taken().len(), 0);
}

#[tokio::test]
async fn plain_text_never_leaves_this_machine_unasked() {
    let resolver = Resolver::Fixed(Ok(vec!["192.0.2.1".parse().unwrap()]));
    let ended = calls(HttpRoute { resolver, ..route("http://api.example.test/") }).await;
    assert_eq!(said(&ended), "starttls: not_sent, batch, pause downgrade, close");
}

#[tokio::test]
async fn one_connection_carries_call_after_call() {
    let api = Api::start(|_| Says::yes());
    let mut connection = open(route(&api.url())).await.unwrap();
    for _ in 0..3 {
        let ended = call(&mut connection, BODY, &NoSteps).await;
        assert_eq!(ended.id.as_deref(), Some("m-1"));
        assert!(connection.is_usable());
    }
    assert_eq!((api.calls().len(), api.connections()), (3, 1));
}

#[tokio::test]
async fn f45_a_connection_that_was_closed_while_idle_is_noticed_before_the_call() {
    let api = Api::start(|_| Says {
        takes: true,
        then: Then::Writes(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{\"id\":7}".to_vec()),
    });
    let mut connection = open(route(&api.url())).await.unwrap();
    let first = call(&mut connection, BODY, &NoSteps).await;
    assert_eq!(said(&first), "request: accepted, row, counted, keep");
    until(|| api.closed() == 1).await;
    // One turn of the reactor, so that it has heard of it.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let second = call(&mut connection, BODY, &NoSteps).await;
    assert_eq!(said(&second), "request: not_sent, connection, close");
    assert!(!connection.is_usable());
    assert_eq!(api.taken().len(), 1);
}

#[tokio::test]
async fn a_shut_gate_writes_nothing() {
    let api = Api::start(|_| Says::yes());
    let mut connection = open(route(&api.url())).await.unwrap();
    connection.offer(&envelope(), BODY, &NoSteps).await.unwrap();
    let ended = connection.hand_over(BODY, &NoSteps, &|| false).await;
    assert_eq!(said(&ended), "request: not_sent, connection, close");
    assert_eq!(ended.event, Event::Fenced);
    assert!(!connection.is_usable());
    assert_eq!(api.calls().len(), 0);
}

#[tokio::test]
async fn the_key_goes_along_with_every_call_and_the_token_is_never_shown() {
    let api = Api::start(|_| Says::answer("409 Conflict", ""));
    let header = HeaderName::from_static("idempotency-key");
    let window = Duration::from_hours(24);
    let mut route = route(&api.url());
    route.idempotency = Some(Idempotency { header, window });
    route.headers[0].1.set_sensitive(true);
    assert!(!format!("{route:?}").contains("secret"));
    let ended = calls(route).await;
    assert_eq!(said(&ended), "request: unknown, connection, counted, close");
    let calls = api.calls();
    assert_eq!(calls[0].header("idempotency-key"), Some("k1.abc"));
    assert_eq!(calls[0].header("authorization"), Some("Bearer secret"));
    assert_eq!(calls[0].first_line, "POST /v1/send HTTP/1.1");
    assert_eq!(calls[0].header("host"), Some(api.addr().to_string().as_str()));
    assert_eq!(calls[0].body.as_bytes(), BODY);
}

/// Notes the steps and how much the API had seen at each.
#[derive(Default)]
struct Noted(Mutex<Vec<Step>>, AtomicUsize);

impl Steps for Noted {
    fn note(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }

    fn dot_has_left(&self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn each_step_is_noted_and_the_judgement_at_the_end() {
    let steps = Noted::default();
    let api = Api::start(|_| Says::answer("202 Accepted", r#"{"id":"m-1"}"#));
    let mut connection = open(route(&api.url())).await.unwrap();
    call(&mut connection, BODY, &steps).await;
    let outcome = ittsu::domain::outcome::Outcome::Accepted;
    let judged = Step::Judged { status: 202, outcome };
    let noted = steps.0.lock().unwrap().clone();
    assert_eq!(noted, [Step::Rcpt, Step::Data, Step::BodyComplete, Step::Dot, judged]);
    assert_eq!(steps.1.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn what_the_api_said_is_kept_with_its_first_words() {
    let api = Api::start(|_| Says::answer("500 Internal Server Error", "database \u{1b}[31m down"));
    let ended = calls(route(&api.url())).await;
    let reply = ended.reply.unwrap();
    assert_eq!(reply.code, 500);
    assert!(reply.bytes.starts_with(b"500 Internal Server Error database"));
    assert!(!ended.event.to_string().contains('\u{1b}'));
}
