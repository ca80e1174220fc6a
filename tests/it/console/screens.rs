//! Every screen as it looks: sizes, languages, and no panic at any size.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use insta::assert_snapshot;
use ittsu::config::Language;
use ittsu::console::app::App;
use ittsu::console::frame;
use ittsu::console::message::{Answer, Effect, Fault, Msg};
use ittsu::console::screen::Name;
use ittsu::domain::batch::{BatchState, Counts};
use ittsu::domain::time::Timestamp;
use ittsu::ops::attention::Need;
use ittsu::ops::evidence::{EvidenceBody, Verdict};
use ittsu::ops::live::{Live, LiveBatch, LiveRoute, LiveWorker};
use ittsu::ops::row::RowBody;
use ittsu::ops::unknown::{UnknownBody, UnknownRowBody};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::seat::{LOOK, facts, text};

pub(crate) const NAMES: [Name; 8] = [
    Name::Batches,
    Name::Batch,
    Name::Unknown,
    Name::Find,
    Name::Report,
    Name::Journal,
    Name::Health,
    Name::NewSend,
];

/// 2026-11-30 14:32:07 UTC.
const NOW: Timestamp = Timestamp(1_796_049_127_000_000);
const MINUTE: i64 = 60_000_000;

fn batch(name: &str, title: &str, state: BatchState, counts: Counts) -> LiveBatch {
    let started = !matches!(state, BatchState::Draft);
    LiveBatch {
        name: name.to_owned(),
        kind: "notice".to_owned(),
        title: title.to_owned(),
        state,
        counts,
        oldest_ready_at: None,
        next_due_at: None,
        scheduled_at: None,
        created_at: NOW,
        started_at: started.then_some(Timestamp(NOW.0 - 30 * MINUTE)),
        started_by: "tanaka".to_owned(),
        paused_because: String::new(),
        paused_by: String::new(),
        source: "sale.csv".to_owned(),
        via: "smtp.relay".to_owned(),
        limit: "1200/min".to_owned(),
        workers: 1,
        waiting: None,
        needs: Vec::new(),
    }
}

/// A morning with everything in it: wide signs, doubt, a pause, a draft, what is done.
fn live(as_of: Timestamp, sent: i64) -> Live {
    let counts = |ready, sending, unknown, sent, failed| Counts {
        ready,
        sending,
        unknown,
        sent,
        failed,
        ..Counts::default()
    };
    let mut running = batch(
        "notice-12",
        "冬のセールのお知らせ (会員向け)",
        BatchState::Running,
        counts(48_210 - sent - 115 - 32, 32, 5, sent, 115),
    );
    running.needs = vec![Need::Unknown];
    running.waiting = Some("rate");
    let mut paused = batch(
        "notice-8",
        "利用規約改定のお知らせ",
        BatchState::Paused,
        counts(30_102, 0, 0, 18_077, 11),
    );
    paused.paused_by = "tanaka".to_owned();
    paused.paused_because = "wrong footer".to_owned();
    Live {
        as_of,
        batches: vec![
            running,
            batch(
                "notice-10",
                "서비스 점검 안내 (전체 회원)",
                BatchState::Draft,
                counts(120_400, 0, 0, 0, 0),
            ),
            paused,
            batch("notice-6", "November newsletter", BatchState::Done, counts(0, 0, 0, 9_990, 10)),
        ],
        workers: vec![LiveWorker {
            id: 1,
            host: "mail-1".to_owned(),
            pid: 4_711,
            started_at: Timestamp(NOW.0 - 30 * MINUTE),
            beat_at: as_of,
            stopping: false,
            gone: false,
            kinds: Vec::new(),
        }],
        routes: vec![LiveRoute {
            name: "smtp.relay".to_owned(),
            closed_until: None,
            why: String::new(),
            failures: 0,
        }],
        news: Vec::new(),
    }
}

fn unknown() -> UnknownBody {
    let row = |key: &str, address: &str, verdict| UnknownRowBody {
        batch: "notice-12".to_owned(),
        row: RowBody {
            key: key.to_owned(),
            address: address.to_owned(),
            state: "sending",
            how: None,
            unknown: true,
            cause: Some("crash"),
            unknown_attempts: 1,
            attempt: 1,
            generation: 1,
            message_id: Some("<jkcwpvz6bcylmuib.mtr6bjdk@service.example>".to_owned()),
            phase: Some("dot"),
            code: None,
            enhanced: None,
            reply: None,
            worker: Some("4".to_owned()),
            due_at: None,
            updated_at: "2026-11-30T14:20:01+00:00".to_owned(),
            settled_at: None,
        },
        verdict,
        for_seconds: 726,
        answer_until: None,
        evidence: vec![
            EvidenceBody {
                attempt: 1,
                source: "ledger".to_owned(),
                what: "started by worker 4".to_owned(),
                at: Some("2026-11-30T14:20:01.104+00:00".to_owned()),
            },
            EvidenceBody {
                attempt: 1,
                source: "step_file".to_owned(),
                what: "the final dot was being written or was written; no answer seen".to_owned(),
                at: None,
            },
        ],
    };
    let rows = vec![
        row("883120", "seoyeon.park@naver.example", Verdict::Unknown),
        row("883117", "taro.yamada@docomo.example", Verdict::NotSent),
        row("883121", "hanako.sato@kaisha.example", Verdict::Accepted),
    ];
    UnknownBody { shown: rows.len(), of: 3, rows }
}

/// Returns the console after a minute of watching.
pub(crate) fn app(width: u16, height: u16) -> App {
    in_language(Language::En, width, height)
}

fn in_language(language: Language, width: u16, height: u16) -> App {
    let facts = ittsu::console::Facts { language, ..facts(Some("kimyh")) };
    let mut app = App::new(facts, LOOK, (width, height), NOW);
    for second in 0..=60 {
        let at = Timestamp(NOW.0 - 60_000_000 + second * 1_000_000);
        app.update(at, Msg::Live(Ok(Box::new(live(at, 33_381 + second * 20)))));
    }
    app
}

fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(NOW, Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

/// Answers the questions that are answered in these tests; the others stay under way.
fn answered(app: &mut App, effects: Vec<Effect>) {
    for effect in effects {
        if let Effect::Ask(ticket, ittsu::console::message::Ask::Unknown) = effect {
            app.update(NOW, Msg::Answer(ticket, Ok(Answer::Unknown(unknown()))));
        }
    }
}

/// Returns the console on a screen.
pub(crate) fn at(name: Name, width: u16, height: u16) -> App {
    opened(app(width, height), name)
}

fn opened(mut app: App, name: Name) -> App {
    let key = match name {
        Name::Batches => '1',
        Name::Batch => '\n',
        Name::Unknown => 'u',
        Name::Find => '3',
        Name::Report => '4',
        Name::Journal => '5',
        Name::Health => '6',
        Name::NewSend => 'c',
    };
    let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
    let effects = press(&mut app, code);
    answered(&mut app, effects);
    app
}

fn drawn(app: &App) -> String {
    let mut buf = Buffer::empty(Rect::new(0, 0, app.size.0, app.size.1));
    frame(app, &mut buf);
    text(&buf)
}

#[test]
fn screens_at_80x24_in_three_languages() {
    for &language in Language::ALL {
        for name in [Name::Batches, Name::Batch, Name::Unknown, Name::Health, Name::NewSend] {
            let app = opened(in_language(language, 80, 24), name);
            assert_snapshot!(format!("80x24_{language}_{name:?}"), drawn(&app));
        }
    }
}

#[test]
fn screens_at_120x36_in_three_languages() {
    for &language in Language::ALL {
        for name in [Name::Batches, Name::Batch, Name::Unknown] {
            let app = opened(in_language(language, 120, 36), name);
            assert_snapshot!(format!("120x36_{language}_{name:?}"), drawn(&app));
        }
    }
}

#[test]
fn a_question_names_rows_consequence_and_the_equal_command() {
    for &language in Language::ALL {
        let mut app = opened(in_language(language, 80, 24), Name::Unknown);
        press(&mut app, KeyCode::Char('*'));
        press(&mut app, KeyCode::F(7));
        assert_snapshot!(format!("80x24_{language}_question"), drawn(&app));
    }
}

#[test]
fn old_numbers_say_so_and_a_frozen_screen_too() {
    let mut app = app(80, 24);
    let fault = Fault { message: "connection refused".to_owned(), hint: None, away: true };
    app.update(Timestamp(NOW.0 + 5 * MINUTE), Msg::Live(Err(fault)));
    assert_snapshot!("80x24_lost", drawn(&app));
    let mut app = self::app(80, 24);
    press(&mut app, KeyCode::Char('f'));
    app.update(NOW, Msg::Live(Ok(Box::new(live(Timestamp(NOW.0 + MINUTE), 40_000)))));
    let frozen = drawn(&app);
    assert!(frozen.contains("The screen stands still since 14:32:07"), "{frozen}");
    assert!(frozen.contains("34,581"), "{frozen}");
    press(&mut app, KeyCode::Char('f'));
    assert!(drawn(&app).contains("40,000"));
}

#[test]
fn a_dialog_acts_on_the_rows_it_showed_though_the_list_moves_under_it() {
    let mut app = at(Name::Unknown, 80, 24);
    press(&mut app, KeyCode::F(8));
    assert!(drawn(&app).contains("--key 883117"), "the safe row stands first");
    // Meanwhile that row is gone, and another one stands under the cursor.
    let mut body = unknown();
    body.rows.retain(|row| row.row.key != "883117");
    let effects = app.update(NOW, Msg::Live(Ok(Box::new(Live::default()))));
    for effect in effects {
        if let Effect::Ask(ticket, _) = effect {
            let rows = body.rows.clone();
            let body = UnknownBody { shown: rows.len(), of: 2, rows };
            app.update(NOW, Msg::Answer(ticket, Ok(Answer::Unknown(body))));
        }
    }
    press(&mut app, KeyCode::Char('1'));
    press(&mut app, KeyCode::Right);
    let effects = press(&mut app, KeyCode::Enter);
    let [Effect::Do(deed)] = effects.as_slice() else { panic!("{effects:?}") };
    let said = format!("{deed:?}");
    assert!(said.contains("883117") && !said.contains("883121"), "{said}");
}

#[test]
fn an_answer_to_an_older_question_is_dropped() {
    let mut app = app(80, 24);
    let first = press(&mut app, KeyCode::Char('u'));
    let again = press(&mut app, KeyCode::Char('r'));
    let ticket = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(ticket, _) => Some(*ticket),
            _ => None,
        })
    };
    let (old, new) = (ticket(&first).unwrap(), ticket(&again).unwrap());
    app.update(NOW, Msg::Answer(old, Ok(Answer::Unknown(unknown()))));
    assert!(!drawn(&app).contains("883120"));
    app.update(NOW, Msg::Answer(new, Ok(Answer::Unknown(unknown()))));
    assert!(drawn(&app).contains("883120"));
}

#[test]
fn no_size_of_the_window_is_a_panic_and_a_small_one_says_what_matters() {
    for name in NAMES {
        for (width, height) in [
            (0, 0),
            (1, 1),
            (2, 40),
            (19, 3),
            (59, 15),
            (60, 15),
            (61, 16),
            (79, 23),
            (200, 60),
            (400, 5),
        ] {
            let mut app = at(name, 80, 24);
            app.update(NOW, Msg::Resize(width, height));
            drawn(&app);
            press(&mut app, KeyCode::Char('?'));
            drawn(&app);
        }
    }
    let mut app = app(52, 10);
    app.update(NOW, Msg::Clock);
    assert!(drawn(&app).contains("5 unknown"), "{}", drawn(&app));
}

#[test]
fn a_number_is_never_a_hundred_percent_before_nothing_is_left() {
    let mut app = at(Name::Batch, 80, 24);
    let almost = live(Timestamp(NOW.0 + 1_000_000), 48_210 - 115 - 32);
    app.update(NOW, Msg::Live(Ok(Box::new(almost))));
    let shown = drawn(&app);
    assert!(shown.contains("99%") && !shown.contains("100%"), "{shown}");
}

#[test]
fn what_comes_from_outside_cannot_command_the_terminal() {
    let mut app = app(120, 36);
    let mut live = live(Timestamp(NOW.0 + 1_000_000), 1);
    live.batches[0].title = "a\u{1b}[2J\u{202e}b\u{9b}31m".to_owned();
    app.update(NOW, Msg::Live(Ok(Box::new(live))));
    let shown = drawn(&app);
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\u{9b}'));
    assert!(shown.contains("\\u{1b}[2J"), "{shown}");
}
