//! Imports people from a real CSV file and compares with what the engine brings itself:
//! `cargo bench --bench import -- [--rows N] [--rounds N] [--engine NAME]`, with the servers that
//! `tests/servers` starts.
//!
//! Both sides fill the same tables, `recipient` and `delivery` with all their indexes, at the
//! engine's full durability. Ours decodes and checks every line first; the others get files that are
//! ready to load: `.import` (and one `insert … select` for `delivery`, which has columns that are
//! null), `\copy`, `LOAD DATA`. Each figure is the median of interleaved rounds.

#[path = "../tests/it/support/engines.rs"]
#[expect(dead_code, unused_imports, unused_macros, reason = "shared with the tests")]
mod engines;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ittsu::clock::Clock;
use ittsu::db::{Location, Open};
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::Retry;
use ittsu::domain::selection::Selection;
use ittsu::intake::{self, Entry, Options, Source};
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::{Batch, Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LoadRequest, NewRow, Writes};
use ittsu::ledger::rows::After;

use engines::{Engine, Place};

const ENGINES: [(Engine, &str); 3] =
    [(Engine::Sqlite, "SQLite"), (Engine::Postgres, "PostgreSQL"), (Engine::MariaDb, "MariaDB")];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| {
        let at = wanted.iter().position(|arg| arg == flag)?;
        wanted.get(at + 1)
    };
    let number = |flag: &str| value(flag).and_then(|text| text.parse::<usize>().ok());
    let people = number("--rows").unwrap_or(1_000_000);
    let rounds = number("--rounds").unwrap_or(3);
    let only = value("--engine").cloned();
    let files = Files::write(people);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    for (engine, name) in ENGINES {
        if only.as_ref().is_none_or(|only| only.eq_ignore_ascii_case(name)) {
            runtime.block_on(compare(engine, name, &files, rounds));
        }
    }
}

/// The people, once as somebody would hand them in, once as the engines load them.
struct Files {
    folder: tempfile::TempDir,
    people: usize,
}

impl Files {
    fn write(people: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let create =
            |name: &str| BufWriter::new(File::create(folder.path().join(name)).expect("a file"));
        let (mut source, mut recipient, mut delivery) =
            (create("people.csv"), create("recipient.csv"), create("delivery.csv"));
        let put = |file: &mut BufWriter<File>, line: &str| {
            file.write_all(line.as_bytes()).expect("room on the disk");
        };
        put(&mut source, "member_no,email,name\n");
        for id in 1..=people {
            let (key, name) = (100_000_000 + id, format!("山田 太郎 {id}"));
            let address = format!("Member{id:08}@example.org");
            put(&mut source, &format!("{key},{address},{name}\n"));
            let lower = address.to_lowercase();
            let fields = format!(
                r#"{{""member_no"":""{key}"",""email"":""{address}"",""name"":""{name}""}}"#
            );
            put(&mut recipient, &format!("{id},1,{key},{address},{lower},\"{fields}\"\n"));
            put(&mut delivery, &format!("{id},1,ready,0,1\n"));
        }
        drop((source, recipient, delivery));
        Self { folder, people }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
#[expect(clippy::cast_precision_loss, reason = "rows of a list are far below 2^52")]
async fn compare(engine: Engine, name: &str, files: &Files, rounds: usize) {
    let (mut ours, mut own) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let place = Place::on(engine).await;
        let ledger = ledger(&place).await;
        let started = Instant::now();
        let batch = import(&ledger, files).await;
        ours.push(started.elapsed());
        if round == 0 {
            look(&ledger, &batch, name).await;
        }
        ledger.close().await;
        drop(place);
        let place = Place::on(engine).await;
        ledger_tables(&place).await;
        let started = Instant::now();
        load(engine, &place, files);
        own.push(started.elapsed());
    }
    let rate = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        files.people as f64 / times[times.len() / 2].as_secs_f64()
    };
    let (ours, own) = (rate(&mut ours), rate(&mut own));
    println!("{name:<11} ours {ours:>9.0} rows/s   its own {own:>9.0} rows/s   {:.2}", ours / own);
}

fn location(place: &Place) -> Location {
    Location::parse(&place.url, Path::new("/")).expect("the test's own place")
}

async fn ledger(place: &Place) -> Ledger {
    Ledger::open(&location(place), Open::Create).await.expect("a ledger")
}

/// Makes the tables and lets go of them.
async fn ledger_tables(place: &Place) {
    ledger(place).await.close().await;
}

async fn import(ledger: &Ledger, files: &Files) -> Batch {
    let now = Clock::System.now();
    let by = By::new("bench", "a measurement");
    let Made::New(batch) = ledger.create_draft(new_batch(), now).await.expect("a draft") else {
        panic!("the ledger is new");
    };
    let source = Source::File(files.path("people.csv"));
    let options =
        Options { map: vec![("key".to_owned(), "member_no".to_owned())], ..Options::default() };
    let mut reader = intake::open(source, &options).await.expect("a readable file");
    let request = LoadRequest {
        batch: batch.id,
        source: "people.csv".to_owned(),
        existing: Existing::Keep,
        writes: Writes::Everything,
    };
    let mut load = ledger.load(request, by, now).await.expect("a load");
    loop {
        let entries = reader.next().await.expect("a readable file");
        if entries.is_empty() {
            break;
        }
        for entry in entries {
            let Entry::Person(line) = entry else { panic!("every line is good: {entry:?}") };
            let row = NewRow {
                line: i64::try_from(line.number).unwrap_or(0),
                key: line.key,
                address: line.address.as_written(),
                address_key: line.address.compare_form(),
                fields: line.fields,
                past: None,
            };
            load.push(row).await.expect("a chunk");
        }
    }
    let sums = load.finish().await.expect("the end");
    assert_eq!(sums.new, i64::try_from(files.people).unwrap_or(0));
    ledger.batch("bench").await.expect("the batch")
}

/// Times what a screen asks for at this size.
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
async fn look(ledger: &Ledger, batch: &Batch, name: &str) {
    let now = Clock::System.now();
    let mut line = String::new();
    let middle = After::Row(ittsu::domain::id::RecipientId(batch.last_row / 2));
    let all = Selection::default();
    let counts = median(|| async {
        ledger.status(Some(batch.id), now).await.expect("counts");
    });
    let _ = write!(line, "counts {:.2} ms", counts.await.as_secs_f64() * 1e3);
    let page = median(|| async {
        ledger.rows(batch.id, &all, middle.clone(), 50, now).await.expect("a page");
    });
    let _ = write!(line, ", a page in the middle {:.2} ms", page.await.as_secs_f64() * 1e3);
    println!("{name:<11} {line}");
}

async fn median<F: Future<Output = ()>>(ask: impl Fn() -> F) -> Duration {
    let mut times = Vec::new();
    for _ in 0..101 {
        let started = Instant::now();
        ask().await;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

/// Runs the engine's own loader on files that are ready for it.
fn load(engine: Engine, place: &Place, files: &Files) {
    let (recipient, delivery) = (files.path("recipient.csv"), files.path("delivery.csv"));
    let (recipient, delivery) = (recipient.display(), delivery.display());
    let columns = "id, batch, state, due_at, updated";
    let (command, script) = match engine {
        Engine::Sqlite => {
            let path = place.url.trim_start_matches("sqlite:").to_owned();
            let script = format!(
                ".mode csv\n.import {recipient} recipient\n\
                 insert into delivery ({columns}) select id, 1, 'ready', 0, 1 from recipient;\n"
            );
            (vec!["sqlite3".to_owned(), path], script)
        }
        Engine::Postgres => {
            let script = format!(
                "\\copy recipient from '{recipient}' csv\n\
                 \\copy delivery({columns}) from '{delivery}' csv\n"
            );
            (vec!["psql".to_owned(), "-q".to_owned(), place.url.clone()], script)
        }
        Engine::MariaDb => {
            let ending =
                "character set utf8mb4 fields terminated by ',' optionally enclosed by '\"'";
            let script = format!(
                "load data local infile '{recipient}' into table recipient {ending};\n\
                 load data local infile '{delivery}' into table delivery {ending} ({columns});\n"
            );
            (mariadb(&place.url), script)
        }
    };
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the engine's client");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(script.as_bytes()).expect("a client that listens");
    drop(stdin);
    assert!(child.wait().expect("an end").success(), "{command:?} loads the files");
}

/// Takes `mysql://user@host:port/name` apart for the client.
fn mariadb(url: &str) -> Vec<String> {
    let rest = url.trim_start_matches("mysql://");
    let (user, rest) = rest.split_once('@').expect("a user");
    let (address, name) = rest.split_once('/').expect("a database");
    let (host, port) = address.split_once(':').expect("a port");
    let port = format!("-P{port}");
    ["mariadb", "--local-infile=1", "-h", host, &port, "-u", user, name].map(str::to_owned).to_vec()
}

fn new_batch() -> NewBatch {
    NewBatch {
        name: "bench".parse().expect("a good name"),
        kind: "notice".to_owned(),
        title: "bench".to_owned(),
        frozen: Frozen {
            via: "smtp.relay".to_owned(),
            from: "notice@example.com".to_owned(),
            envelope_from: "bounce@example.com".to_owned(),
            on_unknown: OnUnknown::one_word(Policy::Hold),
            once_per: OncePer::Batch,
            retry: Retry {
                attempts: 5,
                first: Duration::from_mins(5),
                last: Duration::from_hours(4),
            },
            retry_refused: Vec::new(),
            hours: None,
            timezone: "UTC".to_owned(),
            give_up_after: None,
            claim: 500,
            words: Words::default(),
        },
        message: Message { text: "Subject: hello\n\nhello\n".to_owned(), html: None },
        source: "people.csv".to_owned(),
    }
}
