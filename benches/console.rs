//! What an operator feels: the first frame, a key to its frame, a frame drawn, and what watching
//! costs, on a ledger of a million rows: `cargo bench --bench console [-- --rows N]`.
//!
//! The console is the real one on a screen in memory; the ledger is an SQLite file. A terminal and
//! a network add their own time to these figures.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::Path;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ittsu::clock::Clock;
use ittsu::config::{Language, Request, Settings};
use ittsu::console::app::App;
use ittsu::console::canvas::Look;
use ittsu::console::canvas::glyphs::{Ambiguous, Glyphs};
use ittsu::console::canvas::theme::Theme;
use ittsu::console::message::Msg;
use ittsu::console::{Facts, frame};
use ittsu::domain::id::RecipientId;
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::Retry;
use ittsu::domain::selection::Selection;
use ittsu::ledger::batches::start::StartRequest;
use ittsu::ledger::batches::{Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LoadRequest, NewRow, Writes};
use ittsu::ops::{Open, Ops};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const LOOK: Look = Look {
    theme: Theme::Dark,
    glyphs: Glyphs::Blocks,
    ambiguous: Ambiguous::Narrow,
    greyed: false,
};
const SCREEN: Rect = Rect { x: 0, y: 0, width: 120, height: 36 };

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let at = wanted.iter().position(|arg| arg == "--rows");
    let rows = at.and_then(|at| wanted.get(at + 1)?.parse().ok()).unwrap_or(1_000_000);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(measure(rows));
}

async fn measure(rows: i64) {
    let folder = tempfile::tempdir().expect("a folder");
    let ops = ledger(folder.path(), rows).await;
    println!("rows in the ledger: {rows}");
    // What the refresh task asks every second, and a page in the middle of the rows.
    watching(&ops).await;
    pages(&ops, rows).await;
    let began = Instant::now();
    let mut app = App::new(facts(), LOOK, (SCREEN.width, SCREEN.height), ops.now());
    let mut buf = Buffer::empty(SCREEN);
    frame(&app, &mut buf);
    say("first frame, before any number", &mut [began.elapsed()]);
    let began = Instant::now();
    let live = ops.live().await.expect("numbers");
    app.update(ops.now(), Msg::Live(Ok(Box::new(live))));
    frame(&app, &mut buf);
    say("first frame with numbers", &mut [began.elapsed()]);
    keys(&mut app, &ops);
    println!("memory of this process: {} MiB", resident());
    ops.close().await;
}

async fn watching(ops: &Ops) {
    let mut times = Vec::new();
    for _ in 0..200 {
        let began = Instant::now();
        ops.live().await.expect("numbers");
        times.push(began.elapsed());
    }
    say("one look at everything (each second)", &mut times);
}

async fn pages(ops: &Ops, rows: i64) {
    let name = "bench".parse().expect("a name");
    let mut times = Vec::new();
    for place in 1..=50 {
        let after = RecipientId(rows / 51 * place);
        let began = Instant::now();
        ops.row_page(&name, &Selection::default(), after, 200).await.expect("a page");
        times.push(began.elapsed());
    }
    say("a page of 200 rows, anywhere", &mut times);
}

/// Presses keys on the list and measures each until its frame is in the buffer.
fn keys(app: &mut App, ops: &Ops) {
    let (mut pressed, mut drawn) = (Vec::new(), Vec::new());
    let codes = [KeyCode::Down, KeyCode::Up, KeyCode::Char('s'), KeyCode::Char('?'), KeyCode::Esc];
    for code in codes.into_iter().cycle().take(5_000) {
        let mut buf = Buffer::empty(SCREEN);
        let began = Instant::now();
        app.update(ops.now(), Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        let updated = Instant::now();
        frame(app, &mut buf);
        drawn.push(updated.elapsed());
        pressed.push(began.elapsed());
    }
    say("a frame drawn at 120x36", &mut drawn);
    say("a key to its frame", &mut pressed);
}

fn say(what: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
    println!("{what:<40} median {:>8.3} ms   p99 {:>8.3} ms", at(50), at(99));
}

/// Returns the memory that this process holds, in MiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}

fn facts() -> Facts {
    Facts {
        language: Language::Ja,
        label: None,
        place: "sqlite:bench.db".to_owned(),
        operator: Some("bench".to_owned()),
        read_only: false,
        demo: false,
        zone: TimeZone::UTC,
        kinds: vec!["bench".to_owned()],
    }
}

/// Makes a ledger with one running batch of so many rows.
async fn ledger(folder: &Path, rows: i64) -> Ops {
    let request = Request {
        ledger: Some("sqlite:bench.db".to_owned()),
        here: folder.to_path_buf(),
        ..Request::default()
    };
    let settings = Settings::load(&request).expect("settings");
    let ops = Ops::open(settings, Clock::System, Open::Create).await.expect("a ledger");
    let by = By { operator: "bench".to_owned(), reason: String::new() };
    let new = NewBatch {
        name: "bench".parse().expect("a name"),
        kind: "bench".to_owned(),
        title: "冬のセールのお知らせ (会員向け)".to_owned(),
        frozen: frozen(),
        message: Message { text: "Subject: x\n\nx\n".to_owned(), html: None },
        source: "bench".to_owned(),
    };
    let (Made::New(batch) | Made::Already(batch)) =
        ops.ledger.create_draft(new, ops.now()).await.expect("a draft");
    let request = LoadRequest {
        batch: batch.id,
        source: "bench".to_owned(),
        existing: Existing::Keep,
        writes: Writes::Everything,
    };
    let mut load = ops.ledger.load(request, by.clone(), ops.now()).await.expect("a load");
    for line in 1..=rows {
        let address = format!("person{line}@example{}.test", line % 997);
        let row = NewRow {
            line,
            key: format!("{line:08}"),
            address: address.clone(),
            address_key: address,
            fields: "{}".to_owned(),
            past: None,
        };
        load.push(row).await.expect("a row");
    }
    load.finish().await.expect("a loaded batch");
    let start = StartRequest {
        batch: batch.id,
        confirm: rows,
        at: None,
        frozen: frozen(),
        message: None,
        leave_unbuildable: None,
    };
    ops.ledger.start(start, by, ops.now()).await.expect("a started batch");
    ops
}

fn frozen() -> Frozen {
    Frozen {
        via: "smtp.none".to_owned(),
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
