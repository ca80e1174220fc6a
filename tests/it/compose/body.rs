//! Text and HTML parts: what is read is what was written, whatever lies between.

use mail_parser::MimeHeaders as _;
use rstest::rstest;

use super::{Case, head, parse};

#[rstest]
#[case::plain("Hello\n\n.leading dot\n..two\n. \nFrom here\n", "7bit")]
#[case::japanese("髙橋 様\n\n山﨑です。①②③～\n", "base64")]
#[case::mostly_plain(
    "Hello José, thank you for your order of today. It will arrive soon.\n",
    "quoted-printable"
)]
#[case::a_line_of_5000_characters(&format!("{}\n", "x".repeat(5_000)), "quoted-printable")]
#[case::a_line_of_5000_kana(&format!("{}\n", "あ".repeat(5_000)), "base64")]
#[case::blanks_at_line_ends("a  \nb\t\n", "7bit")]
#[case::an_escape_character("a\u{1b}[31mb\n", "quoted-printable")]
fn a_text_arrives_as_it_was_written(#[case] text: &str, #[case] encoding: &str) {
    let fields = serde_json::json!({ "body": text }).to_string();
    let case = Case { text: "Subject: x\n\n{{ body }}", fields: &fields, ..Case::default() };
    let built = case.build().unwrap();
    let message = parse(&built);
    assert_eq!(message.content_transfer_encoding(), Some(encoding));
    let read = message.body_text(0).unwrap().replace("\r\n", "\n");
    assert_eq!(read, text);
    assert_eq!(built.text, text);
}

#[test]
fn every_kind_of_line_break_becomes_one() {
    let fields = serde_json::json!({ "a": "1\r\n2\r3\n4" }).to_string();
    let case = Case {
        text: "\u{feff}Subject: x\r\n\r\n{{ a }}\r\nend\r\n",
        fields: &fields,
        ..Case::default()
    };
    let built = case.build().unwrap();
    assert_eq!(built.text, "1\n2\n3\n4\nend\n");
    assert!(built.content.ends_with(b"\r\n\r\n1\r\n2\r\n3\r\n4\r\nend\r\n"));
}

#[test]
fn an_html_part_escapes_what_the_text_shows_as_it_is() {
    let case = Case {
        text: "Subject: x\n\n{{ 氏名 }} & co\n",
        html: Some("<p>{{ 氏名 }} &amp; co</p>\n"),
        fields: r#"{"氏名":"<script>alert('髙橋')</script>"}"#,
        ..Case::default()
    };
    let built = case.build().unwrap();
    let message = parse(&built);
    assert!(head(&built).contains("Content-Type: multipart/alternative;"));
    assert_eq!(message.body_text(0).unwrap(), "<script>alert('髙橋')</script> & co\r\n");
    assert_eq!(
        message.body_html(0).unwrap(),
        "<p>&lt;script&gt;alert(&#x27;髙橋&#x27;)&lt;&#x2f;script&gt; &amp; co</p>\r\n"
    );
    assert_eq!((message.text_body_count(), message.html_body_count()), (1, 1));
}

#[test]
fn a_text_that_holds_the_boundary_does_not_end_its_part() {
    let plain = Case { html: Some("<p>x</p>"), ..Case::default() }.build().unwrap();
    let message = parse(&plain);
    let boundary = message.content_type().and_then(|kind| kind.attribute("boundary")).unwrap();
    let text = format!("Subject: x\n\nbefore\n--{boundary}--\nafter\n");
    let built = Case { text: &text, html: Some("<p>x</p>"), ..Case::default() }.build().unwrap();
    assert!(parse(&built).body_text(0).unwrap().ends_with("after\r\n"));
}

#[test]
fn a_template_reads_numbers_lists_and_missing_values() {
    let case = Case {
        text: "Subject: x\n\n{% for item in items %}{{ item.name }}: {{ item.n }}\n{% endfor %}\
               {{ note }}{{ total }} {{ key }} {{ address }} {{ note is defined }}\n",
        fields: r#"{"items":[{"name":"りんご","n":2},{"name":"みかん","n":3}],"total":1200,"note":null}"#,
        ..Case::default()
    };
    let built = case.build().unwrap();
    assert_eq!(built.text, "りんご: 2\nみかん: 3\n1200 100234 taro@example.jp True\n");
}
