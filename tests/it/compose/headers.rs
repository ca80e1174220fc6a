//! Header lines: who it is from and for, what it is about, and what stays the same on a retry.

use insta::assert_snapshot;
use mail_parser::HeaderForm;
use rstest::rstest;

use super::{Case, head, parse};

#[test]
fn a_notice_has_the_headers_that_receivers_want() {
    let case = Case {
        text: "Subject: {{ 氏名 }}様へのお知らせ\nReply-To: 窓口 <help@example.com>\n\
               List-Unsubscribe: https://example.com/u/{{ column['会員番号(旧)'] }}\n\n\
               {{ 氏名 }} 様\n",
        fields: r#"{"氏名":"髙橋 一郎","name":"髙橋 一郎","会員番号(旧)":"x1"}"#,
        ..Case::default()
    };
    let built = case.build().unwrap();
    assert_snapshot!(head(&built).replace("\r\n", "\n"), @r"
    From: =?utf-8?b?5Lya5ZOh44K144O844OT44K5?= <notice@example.com>
    To: =?utf-8?b?6auZ5qmLIOS4gOmDjg==?= <taro@example.jp>
    Date: Mon, 30 Nov 2026 05:32:07 +0000
    Message-ID: <aerukz4jvpg66ayb4qtqc.k7eqxr2m@example.com>
    Subject: =?utf-8?b?6auZ5qmLIOS4gOmDjuanmOOBuOOBruOBiuefpeOCieOBmw==?=
    Reply-To: =?utf-8?b?56qT5Y+j?= <help@example.com>
    List-Unsubscribe: <https://example.com/u/x1>
    List-Unsubscribe-Post: List-Unsubscribe=One-Click
    Auto-Submitted: auto-generated
    MIME-Version: 1.0
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: base64
    ");
    assert_eq!(built.subject, "髙橋 一郎様へのお知らせ");
    assert_eq!(built.text, "髙橋 一郎 様\n");
}

#[test]
fn the_same_row_builds_the_same_bytes_every_time() {
    let case = Case { html: Some("<p>Hello</p>"), ..Case::default() };
    assert_eq!(case.build().unwrap().content, case.build().unwrap().content);
}

#[rstest]
#[case::japanese_of_80_characters(&"会員の皆様への重要なお知らせとサービス内容の変更について".repeat(3))]
#[case::korean_of_80_characters(&"회원 여러분께 알려 드리는 서비스 변경 안내 ".repeat(4))]
#[case::emoji_with_joiners(
    "👨‍👩‍👧‍👦 家族割のご案内 🎉🇯🇵 ありがとうございます 👍🏽 またのご利用をお待ちしております"
)]
#[case::combining_marks(
    "か\u{3099}き\u{3099}く\u{3099}け\u{3099}こ\u{3099}へのお知らせ e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"
)]
#[case::mixed(
    "Re: [Order #12345] ご注文 ありがとうございます / Thank you for your order (2026-11-30)"
)]
#[case::plain_and_long(&"Notice of a change to the terms of service ".repeat(6))]
#[case::one_endless_word(&"x".repeat(2_000))]
#[case::looks_encoded_already("=?utf-8?b?44GT44KT?= and =?utf-8?q?=0D=0ABcc:?=")]
#[case::several_blanks("a   b     c")]
fn a_subject_decodes_back_to_the_same_text(#[case] subject: &str) {
    let subject = subject.trim();
    let fields = serde_json::json!({ "subject": subject }).to_string();
    let text = "Subject: {{ subject }}\n\nx\n";
    let built = Case { text, fields: &fields, ..Case::default() }.build().unwrap();
    assert_eq!(parse(&built).subject(), Some(subject));
    assert_eq!(built.subject, subject);
}

#[rstest]
#[case::kanji("髙橋 一郎")]
#[case::with_a_comma("Yamada, Taro")]
#[case::with_quotes(r#"Taro "T" \ Yamada"#)]
#[case::with_brackets("Taro <taro@evil.example>")]
#[case::very_long(&"寿限無".repeat(30))]
fn a_name_decodes_back_and_leaves_the_address_alone(#[case] name: &str) {
    let fields = serde_json::json!({ "name": name }).to_string();
    let built = Case { fields: &fields, ..Case::default() }.build().unwrap();
    let message = parse(&built);
    let to = message.to().and_then(|to| to.first()).unwrap();
    assert_eq!((to.name(), to.address()), (Some(name), Some("taro@example.jp")));
}

#[rstest]
#[case::docomo_dot_at_the_end("user.@docomo.ne.jp", r#""user."@docomo.ne.jp"#)]
#[case::docomo_two_dots("a..b@docomo.ne.jp", r#""a..b"@docomo.ne.jp"#)]
#[case::unicode_domain("taro@例え.jp", "taro@xn--r8jz45g.jp")]
#[case::plus("taro+shop@example.jp", "taro+shop@example.jp")]
fn an_address_is_written_so_that_every_server_reads_it(#[case] address: &str, #[case] wire: &str) {
    let built = Case { address, ..Case::default() }.build().unwrap();
    assert!(head(&built).contains(&format!("\r\nTo: {wire}\r\n")), "{}", head(&built));
}

#[test]
fn a_template_may_name_another_sender_and_say_that_a_person_wrote() {
    let text =
        "From: 店長 <boss@example.com>\nSubject: x\nAuto-Submitted: no\nX-Campaign: 冬\n\nx\n";
    let built = Case { text, ..Case::default() }.build().unwrap();
    let message = parse(&built);
    let from = message.from().and_then(|from| from.first()).unwrap();
    assert_eq!((from.name(), from.address()), (Some("店長"), Some("boss@example.com")));
    assert_eq!(message.header_raw("Auto-Submitted").map(str::trim), Some("no"));
    let campaign = message.header_as("X-Campaign", HeaderForm::Text);
    assert_eq!(campaign[0].as_text(), Some("冬"));
}

#[test]
fn a_mailto_alone_is_no_one_click_unsubscription() {
    let text = "Subject: x\nList-Unsubscribe: <mailto:u@example.com>\n\nx\n";
    let built = Case { text, ..Case::default() }.build().unwrap();
    assert!(!head(&built).contains("List-Unsubscribe-Post"));
}
