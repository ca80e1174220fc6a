//! Sends whole batches to Postfix's `smtp-sink` and compares with `smtp-source`, which keeps no
//! ledger: `cargo bench --bench throughput`, or `tests/bench` with servers of its own.
//!
//! Everything is real: a message is built per person, the start marker is durable before the body,
//! the attempt is appended, the counters are kept. Each figure is the median of interleaved rounds
//! in one run; only the ratios mean anything on another machine. `--rounds N`, `--connections N`,
//! `--engine sqlite` and `--gain` look at a part.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "../tests/it/support/engines.rs"]
#[expect(dead_code, unused_imports, unused_macros, reason = "shared with the tests")]
mod engines;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ittsu::clock::Clock;
use ittsu::db::{Location, Open};
use ittsu::dispatch::progress::Teller;
use ittsu::dispatch::settings::{Grouping, RouteSettings, Serve, Settings, Until};
use ittsu::dispatch::worker::Worker;
use ittsu::domain::breaker::Limits;
use ittsu::domain::id::BatchId;
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::Retry;
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::start::StartRequest;
use ittsu::ledger::batches::{Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LoadRequest, NewRow, Writes};
use ittsu::shutdown::Shutdown;
use ittsu::transport::Route;
use ittsu::transport::smtp::SmtpRoute;

use engines::{Engine, Place};

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ENGINES: [(Engine, &str); 3] =
    [(Engine::Sqlite, "SQLite"), (Engine::Postgres, "PostgreSQL"), (Engine::MariaDb, "MariaDB")];

/// Connections, bytes of a message, messages in a round.
const CELLS: [(usize, usize, i64); 4] =
    [(64, 2_048, 30_000), (32, 2_048, 30_000), (8, 2_048, 15_000), (32, 20_480, 10_000)];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let number = |flag: &str| {
        let at = wanted.iter().position(|arg| arg == flag)?;
        wanted.get(at + 1)?.parse::<usize>().ok()
    };
    let rounds = number("--rounds").unwrap_or(5);
    let only = number("--connections");
    let says = |word: &str| wanted.iter().any(|arg| arg == word);
    let engines: Vec<_> = ENGINES
        .into_iter()
        .filter(|(_, name)| !says("--engine") || says(&name.to_lowercase()))
        .collect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(ittsu::cli::threads())
        .enable_all()
        .build()
        .expect("runtime");
    runtime.block_on(async {
        for (connections, size, messages) in CELLS {
            if only.is_none_or(|only| only == connections) && !says("--gain") {
                cell(&engines, rounds, connections, size, messages).await;
            }
        }
        if only.is_none() {
            gain(&engines, rounds).await;
        }
    });
}

/// Prints one row of the table: the same messages, with no ledger and with each.
async fn cell(
    engines: &[(Engine, &str)],
    rounds: usize,
    connections: usize,
    size: usize,
    messages: i64,
) {
    let sink = Sink::start();
    let ledgers = Bench::on_each(engines).await;
    let mut bare = Vec::new();
    let mut with = vec![Vec::new(); engines.len()];
    for _ in 0..rounds {
        bare.push(smtp_source(sink.addr, connections, size, messages));
        for (bench, rates) in ledgers.iter().zip(&mut with) {
            rates
                .push(bench.send(sink.addr, connections, size, messages, Grouping::Together).await);
        }
    }
    let bare = median(bare);
    println!("{connections} connections, {size} bytes: smtp-source {bare:.0}/s");
    for ((_, name), rates) in engines.iter().zip(with) {
        let (low, high) = (lowest(&rates), highest(&rates));
        let rate = median(rates);
        println!("  {name:<10} {rate:>7.0}/s  ratio {:.2}  ({low:.0} to {high:.0})", rate / bare);
    }
}

/// Prints what group commit gains over one transaction for each transition.
async fn gain(engines: &[(Engine, &str)], rounds: usize) {
    let sink = Sink::start();
    println!("64 connections, 2048 bytes, recorder against one transaction for each transition");
    for ((engine, name), bench) in engines.iter().zip(Bench::on_each(engines).await) {
        let few = if *engine == Engine::Sqlite { 4_000 } else { 8_000 };
        let (mut together, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            together.push(bench.send(sink.addr, 64, 2_048, 30_000, Grouping::Together).await);
            alone.push(bench.send(sink.addr, 64, 2_048, few, Grouping::OneByOne).await);
        }
        let (together, alone) = (median(together), median(alone));
        let gain = together / alone;
        println!("  {name:<10} {together:>7.0}/s  against {alone:>6.0}/s  gain {gain:.1}x");
    }
}

/// A ledger that one batch after the other is sent from.
struct Bench {
    ledger: Ledger,
    /// Dropped after the ledger, with its database.
    place: Place,
}

impl Bench {
    async fn on_each(engines: &[(Engine, &str)]) -> Vec<Self> {
        let mut all = Vec::new();
        for &(engine, _) in engines {
            let place = Place::on(engine).await;
            let location = Location::parse(&place.url, place.path("").as_path()).expect("a URL");
            let ledger = Ledger::open(&location, Open::Create).await.expect("a ledger");
            all.push(Self { ledger, place });
        }
        all
    }

    /// Sends a new batch and returns its messages per second, from the worker's start to its end.
    async fn send(
        &self,
        sink: SocketAddr,
        connections: usize,
        size: usize,
        messages: i64,
        grouping: Grouping,
    ) -> f64 {
        let batch = self.batch(size, messages).await;
        let mut smtp = SmtpRoute::plain(sink.ip().to_string(), sink.port());
        "bench.example".clone_into(&mut smtp.ehlo_name);
        let route = RouteSettings {
            route: Route::Smtp(smtp),
            connections,
            messages_per_connection: u32::MAX,
            rate: None,
            request: None,
            longest: Duration::from_mins(15),
        };
        let settings = Settings {
            state_dir: self.place.path("state"),
            heartbeat: Duration::from_secs(5),
            lost_after: Duration::from_mins(1),
            serve: Serve::Batch(batch),
            until: Until::Idle,
            routes: [("smtp.sink".to_owned(), route)].into(),
            only_to: Vec::new(),
            zone: jiff::tz::TimeZone::UTC,
            dkim: [].into(),
            grouping,
            limits: Limits::default(),
            seed: 1,
        };
        let (ledger, clock) = (self.ledger.clone(), Clock::System);
        let began = Instant::now();
        let finished =
            Worker::run(settings, ledger, clock, Shutdown::default(), Teller::default()).await;
        let took = began.elapsed().as_secs_f64();
        let finished = finished.expect("the worker works");
        assert_eq!(i64::try_from(finished.counts.sent), Ok(messages), "{finished:?}");
        rate(messages, took)
    }

    async fn batch(&self, size: usize, messages: i64) -> BatchId {
        let now = Clock::System.now();
        let by = By { operator: "bench".to_owned(), reason: "bench".to_owned() };
        let line = "This line stands in every letter and is as long as lines of letters are.\n";
        let text = format!(
            "Subject: A notice for {{{{ name }}}}\n\nDear {{{{ name }}}},\n\n{}",
            line.repeat(size / line.len())
        );
        let new = NewBatch {
            name: format!("bench-{}", now.0).parse().expect("a name"),
            kind: "bench".to_owned(),
            title: String::new(),
            frozen: frozen(),
            message: Message { text, html: None },
            source: "bench".to_owned(),
        };
        let frozen = new.frozen.clone();
        let (Made::New(batch) | Made::Already(batch)) =
            self.ledger.create_draft(new, now).await.expect("a draft");
        let request = LoadRequest {
            batch: batch.id,
            source: "bench".to_owned(),
            existing: Existing::Keep,
            writes: Writes::Everything,
        };
        let mut load = self.ledger.load(request, by.clone(), now).await.expect("a load");
        for line in 1..=messages {
            let address = format!("person{line}@example{}.test", line % 997);
            let row = NewRow {
                line,
                key: format!("{line:08}"),
                address: address.clone(),
                address_key: address,
                fields: format!(r#"{{"name":"Person {line}"}}"#),
                past: None,
            };
            load.push(row).await.expect("a row");
        }
        load.finish().await.expect("a loaded batch");
        let start = StartRequest {
            batch: batch.id,
            confirm: messages,
            at: None,
            frozen,
            message: None,
            leave_unbuildable: None,
        };
        self.ledger.start(start, by, now).await.expect("a started batch");
        batch.id
    }
}

fn frozen() -> Frozen {
    Frozen {
        via: "smtp.sink".to_owned(),
        from: "Bench <bench@example.com>".to_owned(),
        envelope_from: "bounce@example.com".to_owned(),
        on_unknown: OnUnknown::one_word(Policy::Hold),
        once_per: OncePer::Batch,
        retry: Retry { attempts: 5, first: Duration::from_mins(5), last: Duration::from_hours(4) },
        retry_refused: Vec::new(),
        hours: None,
        timezone: "UTC".to_owned(),
        give_up_after: None,
        claim: 500,
        words: Words::default(),
    }
}

/// Postfix's `smtp-sink` on a port of its own; stopped when it is dropped.
struct Sink {
    child: Child,
    addr: SocketAddr,
}

impl Sink {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let addr = listener.local_addr().expect("a port");
        drop(listener);
        let mut command = Command::new(tool("smtp-sink"));
        if rustix::process::geteuid().is_root() {
            // It refuses to run as root.
            command.args(["-u", "nobody"]);
        }
        let mut child = command
            .args(["-c", &addr.to_string(), "1024"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("smtp-sink runs (Debian: postfix)");
        while TcpStream::connect(addr).is_err() {
            let ended = child.try_wait().expect("smtp-sink can be looked at");
            assert!(ended.is_none(), "smtp-sink ended at once: {ended:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, addr }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the same number of messages with no ledger, connections reused, and returns the rate.
fn smtp_source(sink: SocketAddr, connections: usize, size: usize, messages: i64) -> f64 {
    let began = Instant::now();
    let status = Command::new(tool("smtp-source"))
        .args(["-d", "-s", &connections.to_string(), "-l", &size.to_string()])
        .args([
            "-m",
            &messages.to_string(),
            "-f",
            "bounce@example.com",
            "-t",
            "person@example.test",
        ])
        .arg(sink.to_string())
        .status()
        .expect("smtp-source runs (Debian: postfix)");
    assert!(status.success(), "smtp-source: {status}");
    rate(messages, began.elapsed().as_secs_f64())
}

fn tool(name: &str) -> String {
    format!("/usr/sbin/{name}")
}

#[expect(clippy::cast_precision_loss, reason = "a few thousand messages")]
fn rate(messages: i64, seconds: f64) -> f64 {
    messages as f64 / seconds
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn lowest(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(f64::INFINITY, f64::min)
}

fn highest(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max)
}
