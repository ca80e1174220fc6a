//! Order mail through a mail company's API, through the whole engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::Method;
use hyper::header::HeaderName;
use ittsu::cli::demo::mailserver::Behaviour;
use ittsu::clock::Clock;
use ittsu::compose::RequestBody;
use ittsu::dispatch::progress::Why;
use ittsu::dispatch::settings::{RouteSettings, Settings};
use ittsu::domain::id::BatchId;
use ittsu::domain::policy::{OnUnknown, Policy};
use ittsu::domain::retry::Retry;
use ittsu::domain::state::{Cause, How, State};
use ittsu::ledger::batches::Frozen;
use ittsu::transport::http::{Deadlines, Idempotency, Reading};
use ittsu::transport::smtp::{Resolver, Trust};
use ittsu::transport::{HttpRoute, Route};

use super::office::{Office, on_sqlite, people};
use crate::support::api::{Api, Says};
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    each_row_ends_as_the_api_says,
    a_call_without_an_answer_follows_the_policy,
    an_api_that_is_unavailable_for_a_while_loses_and_doubles_nothing,
}

on_sqlite! {
    a_promised_503_holds_nobody,
    a_server_error_is_held_while_silence_is_assumed_sent,
    a_refused_token_pauses_and_fails_nobody,
    one_bad_order_fails_and_the_others_go,
    a_refusal_is_tried_again_where_the_kind_says_so,
    an_unknown_call_is_repeated_with_its_key,
    a_key_whose_time_is_over_is_not_used_again,
    an_api_that_turns_away_two_of_three_gets_them_later,
}

const API: &str = "http.mailco";
const SHORT: Duration = Duration::from_millis(400);

fn route(api: &Api) -> HttpRoute {
    HttpRoute {
        method: Method::POST,
        url: api.url().parse().unwrap(),
        allow_plaintext: false,
        trust: Trust::default(),
        resolver: Resolver::default(),
        headers: Vec::new(),
        deadlines: Deadlines { answer: SHORT, ..Deadlines::default() },
        reading: Reading { id: Some("/id".to_owned()), ..Reading::default() },
        idempotency: None,
        clock: Clock::System,
    }
}

fn settings(office: &Office, route: HttpRoute) -> Settings {
    let body = r#"{"to":{{ address | tojson }},"subject":{{ subject | tojson }},
        "text":{{ text | tojson }},"key":{{ key | tojson }}}"#;
    let route = RouteSettings {
        route: Route::Http(Arc::new(route)),
        connections: 4,
        messages_per_connection: 100,
        rate: None,
        request: Some(Arc::new(RequestBody::json(body).unwrap())),
        longest: Duration::from_secs(6),
    };
    Settings { routes: BTreeMap::from([(API.to_owned(), route)]), ..office.settings() }
}

fn frozen(on_unknown: OnUnknown) -> Frozen {
    Frozen { via: API.to_owned(), on_unknown, ..Office::frozen() }
}

fn hold() -> Frozen {
    frozen(OnUnknown::one_word(Policy::Hold))
}

async fn office(place: Place) -> Office {
    Office::on(place, Behaviour::default()).await
}

/// How often the mail of each address went out.
fn times(api: &Api) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for call in api.taken() {
        *times.entry(call.field("to")).or_default() += 1;
    }
    times
}

/// Compares the ledger with what the API took.
async fn check(office: &Office, api: &Api, batch: BatchId) {
    office.check_sums().await;
    let times = times(api);
    for row in office.rows(batch).await {
        let times = times.get(&row.address).copied().unwrap_or(0);
        assert!(times <= 1, "{} went out {times} times", row.address);
        match (row.state, row.how) {
            (State::Sent, Some(How::Accepted)) => assert_eq!(times, 1, "{row:?}"),
            (State::Failed | State::Ready, _) => assert_eq!(times, 0, "{row:?}"),
            _ => {}
        }
    }
}

/// Says yes to everybody but those whose address begins with a word.
fn by_address(call: &crate::support::api::Call) -> Says {
    match call.field("to").split('.').next().unwrap_or_default() {
        "bad" => Says::answer("422 Unprocessable Entity", &call.field("to")),
        "drop" => Says::takes_and_closes(),
        "half" => Says::raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").but_takes(),
        "noid" => Says::answer("200 OK", "thanks").but_takes(),
        "early" => Says::answer("425 Too Early", ""),
        _ => Says::yes(),
    }
}

async fn each_row_ends_as_the_api_says(place: Place) {
    let office = office(place).await;
    let api = Api::start(move |call| match by_address(call) {
        // Once too early, then welcome.
        _ if call.field("to").starts_with("early") && call.number > 30 => Says::yes(),
        says => says,
    });
    let ends = [
        ("bad.1@example.test", State::Failed, Some(How::Refused)),
        ("drop.1@example.test", State::Sending, None),
        ("half.1@example.test", State::Sending, None),
        ("noid.1@example.test", State::Sent, Some(How::Accepted)),
        ("early.1@example.test", State::Sent, Some(How::Accepted)),
    ];
    let mut list = people(30);
    for (at, (address, ..)) in ends.iter().enumerate() {
        list.insert(5 * (at + 1), (*address).to_owned());
    }
    let batch = office.running("order-1", &list, hold()).await;

    let finished = office.hire(settings(&office, route(&api))).ended().await;

    assert_eq!(finished.why, Why::Idle);
    for (key, state, how) in ends {
        let row = office.row(batch, key).await;
        assert_eq!((row.state, row.how), (state, how), "{row:?}");
    }
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed, counts.unknown), (32, 1, 2));
    check(&office, &api, batch).await;
}

async fn a_call_without_an_answer_follows_the_policy(place: Place) {
    for (policy, name) in
        [(Policy::Hold, "held"), (Policy::AssumeSent, "assumed"), (Policy::Resend, "again")]
    {
        let office = office(Place::on(place.engine).await).await;
        let dropped = AtomicBool::new(false);
        let api = Api::start(move |call| {
            let first =
                call.field("to").starts_with("person7@") && !dropped.swap(true, Ordering::Relaxed);
            if first { Says::takes_and_closes() } else { Says::yes() }
        });
        let batch = office.running(name, &people(20), frozen(OnUnknown::one_word(policy))).await;

        let finished = office.hire(settings(&office, route(&api))).ended().await;

        assert_eq!(finished.why, Why::Idle, "{name}");
        let row = office.row(batch, "person7@example.test").await;
        let sent = times(&api)["person7@example.test"];
        let expected = match policy {
            Policy::Hold => (State::Sending, None, 1),
            Policy::AssumeSent => (State::Sent, Some(How::Assumed), 1),
            Policy::Resend => (State::Sent, Some(How::Accepted), 2),
        };
        assert_eq!((row.state, row.how, sent), expected, "{name}: {row:?}");
        office.check_sums().await;
        assert_eq!(api.taken().len(), 20 + usize::from(policy == Policy::Resend));
    }
}

/// Sends 300 orders to an API that answers 503 until `open`, and returns the batch.
async fn unavailable(office: &Office, api: &Api, route: HttpRoute, open: &AtomicBool) -> BatchId {
    let on_unknown = OnUnknown {
        no_answer: Policy::AssumeSent,
        crash: Policy::Hold,
        server_error: Policy::Hold,
    };
    let batch = office.running("order-1", &people(300), frozen(on_unknown)).await;
    let mut settings = settings(office, route);
    settings.until = ittsu::dispatch::settings::Until::Forever;
    let running = office.hire(settings);
    // It is tried again and again, or pauses itself; then the API is there again.
    office
        .until("some calls were turned away", || async {
            let status = office.status(batch).await;
            api.calls().len() >= 3 && (status.counts.ready < 300 || api.calls().len() >= 6)
        })
        .await;
    office
        .until("the route rests or the batch pauses", || async {
            let paused = office.ledger.batches().await.unwrap()[0].paused_because.clone();
            let away = office.ledger.endpoint(API).await.unwrap();
            !paused.is_empty() || away.failures > 0
        })
        .await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed, counts.assumed), (0, 0, 0));
    open.store(true, Ordering::Release);
    office
        .until("all that may go out is out", || async {
            use ittsu::ledger::batches::pause::Reach;
            let by = ittsu::ledger::journal::By::new("hanako", "the API is back");
            let _ = office.ledger.resume(Reach::Batch(batch), by, office.clock.now()).await;
            office.counts(batch).await.ready == 0
        })
        .await;
    running.drained().await;
    batch
}

async fn an_api_that_is_unavailable_for_a_while_loses_and_doubles_nothing(place: Place) {
    let office = office(place).await;
    let open = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&open);
    let api = Api::start(move |_| {
        if is_open.load(Ordering::Acquire) {
            Says::yes()
        } else {
            Says::answer("503 Service Unavailable", "")
        }
    });
    let batch = unavailable(&office, &api, route(&api), &open).await;
    let counts = office.counts(batch).await;
    assert!((1..=4).contains(&counts.unknown), "{counts:?}");
    assert_eq!((counts.assumed, counts.failed), (0, 0), "{counts:?}");
    assert_eq!(counts.sent + counts.unknown, 300, "{counts:?}");
    let held = office.rows(batch).await.into_iter().filter(|row| row.state == State::Sending);
    assert!(held.into_iter().all(|row| row.cause == Some(Cause::ServerError)));
    check(&office, &api, batch).await;
}

async fn a_promised_503_holds_nobody(place: Place) {
    let office = office(place).await;
    let open = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&open);
    let api = Api::start(move |_| {
        if is_open.load(Ordering::Acquire) {
            Says::yes()
        } else {
            Says::answer("503 Service Unavailable", "")
        }
    });
    let mut route = route(&api);
    route.reading.not_accepted = vec![503];
    let batch = unavailable(&office, &api, route, &open).await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.unknown, counts.failed), (300, 0, 0), "{counts:?}");
    check(&office, &api, batch).await;
}

async fn a_server_error_is_held_while_silence_is_assumed_sent(place: Place) {
    let office = office(place).await;
    let api = Api::start(|call| match call.field("to").split('@').next() {
        Some("person5") => Says::answer("500 Internal Server Error", "").but_takes(),
        Some("person9") => Says::keeps_silent().but_takes(),
        _ => Says::yes(),
    });
    let on_unknown = OnUnknown::one_word(Policy::AssumeSent);
    let batch = office.running("order-1", &people(20), frozen(on_unknown)).await;
    office.hire(settings(&office, route(&api))).ended().await;
    let error = office.row(batch, "person5@example.test").await;
    assert!(error.is_unknown() && error.cause == Some(Cause::ServerError), "{error:?}");
    let silence = office.row(batch, "person9@example.test").await;
    assert_eq!((silence.state, silence.how), (State::Sent, Some(How::Assumed)));
    check(&office, &api, batch).await;
}

async fn a_refused_token_pauses_and_fails_nobody(place: Place) {
    let office = office(place).await;
    let api = Api::start(|_| Says::answer("401 Unauthorized", "bad token"));
    let batch = office.running("order-1", &people(20), hold()).await;
    office.hire(settings(&office, route(&api))).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.ready, counts.failed), (20, 0));
    let because = office.ledger.batches().await.unwrap()[0].paused_because.clone();
    assert!(because.contains("401 Unauthorized bad token"), "{because}");
    assert!(api.calls().len() <= 4);
}

async fn one_bad_order_fails_and_the_others_go(place: Place) {
    let office = office(place).await;
    // It names nobody, so that only the others can show whose fault it is.
    let api = Api::start(|call| {
        if call.field("to").starts_with("bad") {
            Says::answer("400 Bad Request", "invalid")
        } else {
            Says::yes()
        }
    });
    let mut list = people(20);
    list.insert(3, "bad.1@example.test".to_owned());
    let batch = office.running("order-1", &list, hold()).await;
    office.hire(settings(&office, route(&api))).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed), (20, 1), "{counts:?}");
    check(&office, &api, batch).await;
}

async fn a_refusal_is_tried_again_where_the_kind_says_so(place: Place) {
    let office = office(place).await;
    let api = Api::start(|call| match call.number {
        3 => Says::answer("422 Unprocessable Entity", &call.field("to")),
        _ => Says::yes(),
    });
    let frozen = Frozen { retry_refused: vec!["422".to_owned()], ..hold() };
    let batch = office.running("order-1", &people(10), frozen).await;
    office.hire(settings(&office, route(&api))).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.attempts), (10, 11), "{counts:?}");
    check(&office, &api, batch).await;
}

fn keyed(route: HttpRoute, window: Duration) -> HttpRoute {
    let header = HeaderName::from_static("idempotency-key");
    HttpRoute { idempotency: Some(Idempotency { header, window }), ..route }
}

async fn an_unknown_call_is_repeated_with_its_key(place: Place) {
    let office = office(place).await;
    let keys = std::sync::Mutex::new(BTreeMap::<String, usize>::new());
    let api = Api::start(move |call| {
        let key = call.header("idempotency-key").expect("a key").to_owned();
        let mut keys = keys.lock().unwrap();
        let times = keys.entry(key).or_default();
        *times += 1;
        // The first call of every third mail is taken and dropped; the provider knows the key.
        match (call.field("to").contains('3'), *times) {
            (true, 1) => Says::takes_and_closes(),
            (true, 2) => Says::answer("409 Conflict", ""),
            (true, _) => Says::answer("200 OK", r#"{"id":"m-1"}"#),
            (false, _) => Says::yes(),
        }
    });
    let on_unknown = OnUnknown::one_word(Policy::Hold);
    let batch = office.running("order-1", &people(20), frozen(on_unknown)).await;
    let route = keyed(route(&api), Duration::from_hours(24));
    office.hire(settings(&office, route)).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.unknown, counts.maybe_twice), (20, 0, 0), "{counts:?}");
    assert!(api.calls().len() > 20);
    check(&office, &api, batch).await;
}

async fn a_key_whose_time_is_over_is_not_used_again(place: Place) {
    let office = office(place).await;
    let api = Api::start(|call| {
        let is_dropped = call.field("to").starts_with("person2@");
        if is_dropped { Says::takes_and_closes() } else { Says::yes() }
    });
    let batch = office.running("order-1", &people(5), hold()).await;
    let route = keyed(route(&api), Duration::from_millis(5));
    office.hire(settings(&office, route)).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.unknown), (4, 1), "{counts:?}");
    assert_eq!(api.calls().len(), 5);
}

async fn an_api_that_turns_away_two_of_three_gets_them_later(place: Place) {
    let office = office(place).await;
    let api = Api::start(|call| match call.number % 3 {
        0 => Says::yes(),
        _ => Says::answer("429 Too Many Requests\r\nretry-after: 0", ""),
    });
    let retry = Retry { attempts: 2, ..hold().retry };
    let batch = office.running("order-1", &people(6), Frozen { retry, ..hold() }).await;
    let mut settings = settings(&office, route(&api));
    settings.limits.endpoint.first = Duration::from_millis(5);
    settings.limits.endpoint.last = Duration::from_millis(10);
    office.hire(settings).ended().await;
    let counts = office.counts(batch).await;
    assert_eq!((counts.sent, counts.failed), (6, 0), "{counts:?}");
    check(&office, &api, batch).await;
}
