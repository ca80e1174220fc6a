//! Reports: what a boss, a chat, a spreadsheet and a program get to see.

use calamine::{Data, Reader, Xlsx, open_workbook_from_rs};
use insta::assert_snapshot;
use ittsu::config::Language;
use ittsu::domain::batch::{BatchState, Counts};
use ittsu::domain::state::{Cause, How, State};
use ittsu::domain::time::Timestamp;
use ittsu::report::summary::{Domain, WhyNot};
use ittsu::report::{Format, Listed, Listing, Missing, Options, Privacy, Summary, writer};
use jiff::tz::TimeZone;

const AS_OF: Timestamp = Timestamp(1_796_016_727_000_000);

fn counts(ready: i64, sending: i64, sent: i64, failed: i64) -> Counts {
    Counts { ready, sending, sent, failed, ..Counts::default() }
}

fn notice() -> Summary {
    let why = |state, how, cause, code, rows, words: &str| WhyNot {
        state,
        how,
        cause,
        code,
        enhanced: code.map(|_| "5.1.1".to_owned()),
        rows,
        words: words.to_owned(),
    };
    Summary {
        as_of: AS_OF,
        batch: "notice-12".to_owned(),
        kind: "notice".to_owned(),
        title: "冬季休業のお知らせ | 2026".to_owned(),
        state: BatchState::Running,
        counts: Counts {
            unknown: 2,
            assumed: 3,
            maybe_twice: 1,
            maybe_delivered: 1,
            attempts: 3_790,
            left_out: 4,
            ..counts(1_240, 5, 3_755, 12)
        },
        started_at: Some(Timestamp(AS_OF.0 - 1_800_000_000)),
        started_by: Some("hanako".to_owned()),
        scheduled_at: None,
        paused_because: None,
        oldest_ready_at: Some(Timestamp(AS_OF.0 - 1_800_000_000)),
        rate_per_minute: 104.4,
        causes: vec![
            why(
                State::Failed,
                Some(How::Refused),
                None,
                Some(550),
                10,
                "550 5.1.1 <taro@example.jp>: no such user\r\n",
            ),
            why(State::Failed, Some(How::Operator), None, None, 2, ""),
            why(State::Sending, None, Some(Cause::NoAnswer), None, 2, "nothing came in 10m"),
        ],
        domains: vec![
            Domain { domain: "example.jp".to_owned(), counts: counts(1_000, 5, 3_000, 10) },
            Domain { domain: "example.kr".to_owned(), counts: counts(240, 0, 755, 2) },
        ],
        key_word: Some("会員番号".to_owned()),
    }
}

fn row(key: &str, address: &str, reply: &str) -> Listing {
    Listing {
        key: key.to_owned(),
        address: address.to_owned(),
        state: State::Failed,
        how: Some(How::Refused),
        unknown: false,
        cause: None,
        unknown_attempts: 0,
        attempt: 1,
        generation: 1,
        message_id: Some("<abc.def@example.com>".to_owned()),
        phase: Some("rcpt".to_owned()),
        code: Some(550),
        enhanced: Some("5.1.1".to_owned()),
        reply: reply.to_owned(),
        note: String::new(),
        updated_at: AS_OF,
    }
}

fn rows() -> Vec<Listing> {
    vec![
        row("100234", "taro.yamada@example.jp", "550 5.1.1 <taro.yamada@example.jp>: no such user"),
        row("=cmd|' /C calc'!A0", "j@example.kr", "550 \u{1b}[2J\u{202e}evil\r\nsecond, \"line\""),
        Listing {
            state: State::Sending,
            how: None,
            unknown: true,
            cause: Some(Cause::Crash),
            unknown_attempts: 1,
            code: None,
            enhanced: None,
            note: "the sender stopped".to_owned(),
            ..row("j@example.kr", "j@example.kr", "")
        },
    ]
}

fn missing() -> Missing {
    Missing {
        source: "members.csv".to_owned(),
        line: 17,
        key: "100300".to_owned(),
        address: String::new(),
        why: "no @ in the address".to_owned(),
        value: "hanako.example.jp".to_owned(),
    }
}

fn report(
    format: Format,
    listed: Option<Listed>,
    privacy: Privacy,
    batches: &[Summary],
) -> Vec<u8> {
    report_in(Language::En, format, listed, privacy, batches)
}

fn report_in(
    language: Language,
    format: Format,
    listed: Option<Listed>,
    privacy: Privacy,
    batches: &[Summary],
) -> Vec<u8> {
    let zone = TimeZone::get("Asia/Tokyo").unwrap();
    let mut out = Vec::new();
    let mut writer = writer(format, Options { zone, listed, privacy, language }, &mut out);
    for batch in batches {
        writer.batch(batch).unwrap();
        match listed {
            None => {}
            Some(Listed::LeftOut) => writer.left_out(&missing()).unwrap(),
            Some(_) => rows().iter().for_each(|row| writer.row(row).unwrap()),
        }
    }
    writer.finish().unwrap();
    drop(writer);
    out
}

fn text(format: Format, listed: Option<Listed>) -> String {
    String::from_utf8(report(format, listed, Privacy::Masked, &[notice()])).unwrap()
}

#[test]
fn plain_text_is_for_a_terminal_or_a_mail() {
    assert_snapshot!(text(Format::Text, Some(Listed::Failed)));
}

#[test]
fn left_out_people_are_named_with_line_and_reason() {
    assert_snapshot!(text(Format::Text, Some(Listed::LeftOut)).lines().rev().take(4).collect::<Vec<_>>().join("\n"), @r"
    Sent means the next server took the mail, not that it was read or even delivered.

      members.csv:17  no @ in the address  100300  hanako.example.jp
    ");
}

#[test]
fn one_line_is_for_a_chat() {
    assert_snapshot!(text(Format::Line, None), @"[2026-11-30 14:32] 冬季休業のお知らせ | 2026: 3,755 of 5,012 sent (74 %), 12 failed, 2 unknown, 1,243 left. 104/min, done about 14:44.");
}

#[test]
fn a_paused_line_says_why_and_promises_nothing() {
    let paused = Summary {
        state: BatchState::Paused,
        paused_because: Some("login refused".to_owned()),
        ..notice()
    };
    let line = report(Format::Line, None, Privacy::Masked, &[paused]);
    let line = String::from_utf8(line).unwrap();
    assert!(line.ends_with("1,243 left. Paused. login refused.\n"), "{line}");
}

#[test]
fn markdown_takes_nothing_of_ours_for_markup() {
    assert_snapshot!(text(Format::Md, Some(Listed::Failed)));
}

#[test]
fn a_page_takes_nothing_of_ours_for_markup() {
    let mut batch = notice();
    batch.title = "<script>alert('x')</script> & \"co\"".to_owned();
    let page = report(Format::Html, Some(Listed::Failed), Privacy::Masked, &[batch]);
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("<script"), "{page}");
    assert!(
        page.contains("<h1>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;co&quot;")
    );
    assert!(page.contains("<td class=\"n\">3,755</td>"), "{page}");
    assert!(page.trim_end().ends_with("</html>"));
}

#[test]
fn a_spreadsheet_opens_the_csv_right_and_runs_nothing() {
    let csv = text(Format::Csv, Some(Listed::All));
    assert!(csv.starts_with('\u{feff}') && csv.ends_with("\r\n"));
    assert_snapshot!(csv.replace("\r\n", "\n").trim_start_matches('\u{feff}'));
}

#[test]
fn csv_without_rows_has_one_line_a_batch() {
    let csv = report(Format::Csv, None, Privacy::Masked, &[notice(), notice()]);
    let csv = String::from_utf8(csv).unwrap();
    assert_eq!(csv.lines().count(), 3);
    let line = csv.lines().nth(1).unwrap();
    assert_eq!(
        line,
        "notice-12,notice,冬季休業のお知らせ | 2026,running,5012,1240,5,3755,12,2,3,1,1,4,3790,\
         2026-11-30T14:32:07+09:00"
    );
}

#[test]
fn json_is_one_document_with_the_rows_in_their_batch() {
    let json = report(Format::Json, Some(Listed::All), Privacy::Masked, &[notice(), notice()]);
    let json = String::from_utf8(json).unwrap();
    assert!(!json.contains(['\u{1b}', '\u{202e}']), "{json}");
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["schema"], "ittsu/report/1");
    assert_eq!(document["as_of"], "2026-11-30T14:32:07+09:00");
    let batches = document["batches"].as_array().unwrap();
    assert_eq!(batches.len(), 2);
    for batch in batches {
        assert_eq!(batch["total"], 5_012);
        assert_eq!(batch["adds_up"], true);
        assert_eq!(batch["rows"].as_array().unwrap().len(), 3);
        assert_eq!(batch["rows"][0]["address"], "t***@example.jp");
        assert_eq!(batch["rows"][0]["reply"], "550 5.1.1 <t***@example.jp>: no such user");
        assert_eq!(batch["rows"][2]["key"], "j***@example.kr");
        assert_eq!(batch["rows"][2]["reply"], serde_json::Value::Null);
    }
    let left_out = report(Format::Json, Some(Listed::LeftOut), Privacy::Full, &[notice()]);
    let document: serde_json::Value = serde_json::from_slice(&left_out).unwrap();
    assert_eq!(document["batches"][0]["left_out_lines"][0]["line"], 17);
}

#[test]
fn a_workbook_has_numbers_as_numbers_and_texts_as_texts() {
    let bytes = report(Format::Xlsx, Some(Listed::All), Privacy::Masked, &[notice(), notice()]);
    let mut book: Xlsx<_> = open_workbook_from_rs(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(book.sheet_names(), ["Batches", "Rows", "Note"]);
    let numbers = book.worksheet_range("Batches").unwrap();
    assert_eq!(numbers.get((2, 4)), Some(&Data::Float(5_012.0)));
    let rows = book.worksheet_range("Rows").unwrap();
    assert_eq!(rows.height(), 7);
    assert_eq!(rows.get((2, 1)), Some(&Data::String("=cmd|' /C calc'!A0".to_owned())));
    assert_eq!(rows.get((1, 2)), Some(&Data::String("t***@example.jp".to_owned())));
}

#[test]
fn no_whole_address_is_in_any_format_unless_it_was_asked_for() {
    for &format in Format::ALL {
        if format == Format::Xlsx {
            continue; // packed: the workbook's own test looks into it
        }
        for listed in [Listed::All, Listed::LeftOut] {
            let shown = report(format, Some(listed), Privacy::Masked, &[notice()]);
            let shown = String::from_utf8(shown).unwrap();
            assert!(!shown.contains("taro") && !shown.contains("j@example"), "{format}: {shown}");
        }
        let full = report(format, Some(Listed::All), Privacy::Full, &[notice()]);
        let lists_rows = format != Format::Line;
        let full = String::from_utf8(full).unwrap();
        assert_eq!(full.contains("taro.yamada@example.jp"), lists_rows, "{format}");
    }
}

#[test]
fn nothing_from_outside_reaches_a_terminal_raw() {
    for &format in Format::ALL {
        if format != Format::Xlsx {
            let shown = report(format, Some(Listed::All), Privacy::Full, &[notice()]);
            let shown = String::from_utf8(shown).unwrap();
            assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{format}: {shown}");
        }
    }
}

#[test]
fn numbers_that_do_not_add_up_say_so_everywhere() {
    let mut wrong = notice();
    wrong.domains[0].counts.sent -= 1;
    for format in [Format::Text, Format::Line, Format::Md, Format::Html] {
        let shown = report(format, None, Privacy::Masked, std::slice::from_ref(&wrong));
        let shown = String::from_utf8(shown).unwrap();
        let said = "does NOT add up: sent is 3755 by the counters and 3754 by the rows";
        assert!(shown.contains(said), "{format}: {shown}");
    }
    let json = report(Format::Json, None, Privacy::Masked, &[wrong]);
    let document: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(document["batches"][0]["adds_up"], false);
}

#[test]
fn many_domains_end_in_one_line_that_keeps_the_sum() {
    let mut batch = notice();
    batch.domains = (0..15)
        .map(|n| Domain { domain: format!("d{n}.example"), counts: counts(0, 0, 10 - n % 2, 1) })
        .collect();
    batch.counts = counts(0, 0, batch.domains.iter().map(|d| d.counts.sent).sum(), 15);
    let shown = report(Format::Text, None, Privacy::Masked, &[batch]);
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("others (5)"), "{shown}");
    assert!(shown.contains("adds up"), "{shown}");
}

fn said(language: Language, format: Format) -> String {
    let masked = Privacy::Masked;
    let bytes = report_in(language, format, Some(Listed::All), masked, &[notice()]);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_line_for_a_chat_speaks_the_language_that_was_chosen() {
    let japanese = said(Language::Ja, Format::Line);
    let said_ja = "5,012件中 3,755件 送信済み (74%)、失敗 12件、結果不明 2件、残り 1,243件。";
    assert!(japanese.contains(said_ja), "{japanese}");
    let korean = said(Language::Ko, Format::Line);
    let said_ko =
        "전체 5,012건 중 3,755건 발송 완료 (74%), 실패 12건, 결과 불명 2건, 남음 1,243건.";
    assert!(korean.contains(said_ko), "{korean}");
}

#[test]
fn no_heading_of_a_report_for_people_stays_english() {
    let english = ["Ready", "Sending", "Failed", "Total", "adds up", "as of", "Attempts", "Kind"];
    let english = english.iter().chain(&["Left out", "What did", "By domain", "others (", "Sent"]);
    let english: Vec<_> = english.chain(&["Longest", "started", "min,", "Besides"]).collect();
    for format in [Format::Text, Format::Md, Format::Html] {
        for language in [Language::Ja, Language::Ko] {
            let text = said(language, format);
            for word in &english {
                assert!(!text.contains(**word), "{language} {format}: {word} in {text}");
            }
        }
    }
}

#[test]
fn what_programs_read_is_the_same_in_every_language() {
    for format in [Format::Json, Format::Csv] {
        let english = said(Language::En, format);
        assert_eq!(said(Language::Ja, format), english);
        assert_eq!(said(Language::Ko, format), english);
    }
}
