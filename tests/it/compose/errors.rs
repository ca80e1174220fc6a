//! What cannot be built says where and why, before any connection.

use ittsu::compose::Template;
use proptest::prelude::*;
use rstest::rstest;

use super::{Case, parse};

#[rstest]
#[case("", "template line 1: there is no empty line between the header lines and the text")]
#[case(
    "Hello\n\nx",
    "template line 1: the file must begin with header lines such as `Subject: …`, then an empty line, then the text"
)]
#[case("X-A: b\n\nx", "template line 1: there is no `Subject:` line")]
#[case("Subject: a\nSubject: b\n\nx", "template line 2: `Subject` is set twice")]
#[case(
    "Subject: a\nBcc: b@example.com\n\nx",
    "template line 2: a template cannot set `Bcc`: every mail goes to the one person of its row"
)]
#[case(
    "Subject: a\nDate: now\n\nx",
    "template line 2: a template cannot set `Date`: it is given by the ledger, the same on every try"
)]
#[case(
    "Subject: a\nReply-To: nobody\n\nx",
    "template line 2: Reply-To: `nobody` is no sender: no @ in the address"
)]
#[case(
    "Subject: a\n\nfirst\n{{ a b }}\n",
    "template line 4: syntax error: unexpected identifier, expected end of variable block"
)]
#[case(
    "X-A: b\nSubject: {{ a\n\nx",
    "template line 2: syntax error: unexpected end of input, expected end of variable block"
)]
#[case(
    "Subject: a\n\n{% if x %}\n",
    "template line 3: syntax error: unexpected end of input, expected end of block"
)]
fn a_template_with_a_mistake_names_the_line(#[case] text: &str, #[case] message: &str) {
    assert_eq!(Template::parse(text, None).unwrap_err().to_string(), message);
}

#[test]
fn a_mistake_in_the_html_part_names_that_file() {
    let err = Template::parse("Subject: a\n\nx", Some("<p>\n{{ a b }}")).unwrap_err();
    assert!(err.to_string().starts_with("HTML template line 2: syntax error"), "{err}");
}

#[test]
fn a_template_knows_what_it_reads() {
    let text = "Subject: {{ a }}\n\n{{ b|upper }} {% for c in d %}{{ c }}{% endfor %} {{ column['e'] }} {{ range(3) }}\n";
    let template = Template::parse(text, Some("{{ f }}")).unwrap();
    let names: Vec<&str> = template.placeholders().iter().map(String::as_str).collect();
    assert_eq!(names, ["a", "b", "d", "f"]);
}

#[rstest]
#[case(
    "Subject: {{ 会員番 }}\n\nx\n",
    "template line 1: there is no column `会員番`; did you mean `会員番号`?"
)]
#[case("Subject: x\n\nline\n{{ 名前 }}\n", "template line 4: there is no column `名前`")]
#[case(
    "Subject: x\n\n{{ column['会員番号（旧）'] }}\n",
    "template line 3: there is no column `会員番号（旧）`; did you mean `会員番号(旧)`?"
)]
#[case("Subject: x\n\n{{ zzz }}\n", "template line 3: there is no column `zzz`")]
#[case(
    "Subject: x\n\n{{ Key }}\n",
    "template line 3: there is no column `Key`; did you mean `key`?"
)]
#[case("Subject: x\n\n{% if zzz %}{% endif %}\n", "template line 3: there is no column `zzz`")]
#[case("Subject: x\n\n{{ zzz + 1 }}\n", "template line 3: there is no column `zzz`")]
#[case(
    "Subject: x\n\n{{ a|nofilter }}\n",
    "template line 3: unknown filter: filter nofilter is unknown"
)]
#[case(
    "Subject: x\n\n{{ zzz|default('') }}{{ items[0].nix }}\n",
    "template line 3: `items[0].nix` is not there"
)]
#[case("Subject: {{ empty }}\n\nx\n", "Subject: it is empty")]
fn a_message_that_cannot_be_built_names_the_reason(#[case] text: &str, #[case] message: &str) {
    let fields =
        r#"{"会員番号":"1","氏名":"x","会員番号(旧)":"2","a":"b","empty":" ","items":[{}]}"#;
    let err = Case { text, fields, ..Case::default() }.build().unwrap_err();
    assert_eq!(err.to_string(), message);
}

#[test]
fn a_placeholder_with_a_default_needs_no_column() {
    let text = "Subject: x\n\n{{ zzz|default('-') }}{% if zzz is defined %}!{% endif %}\n";
    assert_eq!(Case { text, ..Case::default() }.build().unwrap().text, "-\n");
}

#[rstest]
#[case(r#"{"name":"山田\n一郎"}"#, "the name holds a line break, which no header may hold")]
#[case(r#"{"name":"山田\u0000一郎"}"#, "the name holds a NUL character, which no header may hold")]
#[case(
    r#"{"s":"a\r\nBcc: x@example.com"}"#,
    "Subject holds a line break, which no header may hold"
)]
#[case(r#"{"s":"a\u001b[1m"}"#, "Subject holds an escape character, which no header may hold")]
#[case(r#"{"s":"a\u0085b"}"#, "Subject holds a line break, which no header may hold")]
#[case(r#"{"s":"a\u0000b"}"#, "Subject holds a NUL character, which no header may hold")]
#[case(r#"{"t":"a\u0000b"}"#, "the text holds a NUL character")]
#[case(
    r#"{"u":"https://x/ y"}"#,
    "List-Unsubscribe: `https://x/ y` is no https, http or mailto URL"
)]
#[case(
    "[]",
    "the fields of this row are not a JSON object: invalid type: sequence, expected an object at line 1 column 0"
)]
fn what_no_message_may_hold_is_refused(#[case] fields: &str, #[case] message: &str) {
    let text = "Subject: {{ s|default('s') }}\nList-Unsubscribe: {{ u|default('https://x/y') }}\n\n\
                {{ t|default('t') }}\n";
    let err = Case { text, fields, ..Case::default() }.build().unwrap_err();
    assert_eq!(err.to_string(), message);
}

#[test]
fn an_address_that_needs_smtputf8_is_refused_before_the_transaction() {
    let err = Case { address: "たろう@example.jp", ..Case::default() }.build().unwrap_err();
    assert_eq!(
        err.to_string(),
        "`たろう@example.jp` cannot be written into a message: what stands before the @ is not plain ASCII"
    );
}

#[test]
fn a_header_that_cannot_be_folded_is_refused() {
    let fields = serde_json::json!({ "u": format!("https://example.com/{}", "x".repeat(1_000)) });
    let text = "Subject: x\nList-Unsubscribe: {{ u }}\n\nx\n";
    let err = Case { text, fields: &fields.to_string(), ..Case::default() }.build().unwrap_err();
    assert_eq!(
        err.to_string(),
        "List-Unsubscribe: it is longer than 990 characters and cannot be folded"
    );
}

/// Text with everything in it that ever became a header of its own.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\r\n",
        "\n",
        "\r",
        "\0",
        "\u{85}",
        "\u{2028}",
        "Bcc: x@evil.example",
        "\r\n\r\n",
        ":",
        ",",
        "<",
        ">",
        "\"",
        "\\",
        "=?utf-8?q?=0A?=",
        ".",
        "\r\n.\r\n",
        "髙",
        "👍",
        " ",
        "\t",
        "a",
        "@",
        "--=_",
        "=",
        "\u{feff}",
        "\u{202e}",
        "{{ 7 * 7 }}",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// `build` of the case checks one recipient, the allowed headers, CRLF alone and short lines.
    #[test]
    fn no_field_becomes_a_header(s in hostile(), name in hostile(), x in hostile(), t in hostile()) {
        let text = "Subject: s{{ s }}\nX-Note: x{{ x }}\nReply-To: {{ s }} <a@example.com>\n\n{{ t }}\n";
        let html = Some("<p>{{ t }}</p>");
        let fields = serde_json::json!({ "s": s, "name": name, "x": x, "t": t }).to_string();
        let Ok(built) = (Case { text, html, fields: &fields, ..Case::default() }).build() else {
            return Ok(());
        };
        let message = parse(&built);
        let allowed = ["From", "To", "Date", "Message-ID", "Subject", "X-Note", "Reply-To",
            "Auto-Submitted", "MIME-Version", "Content-Type"];
        for (header, _) in message.headers_raw() {
            prop_assert!(allowed.iter().any(|name| name.eq_ignore_ascii_case(header)), "{}", header);
        }
        let wanted = format!("s{s}");
        prop_assert_eq!(message.subject(), Some(wanted.trim()));
        let reply_to = message.reply_to().unwrap();
        prop_assert_eq!(reply_to.iter().count(), 1);
        prop_assert_eq!(reply_to.first().unwrap().address(), Some("a@example.com"));
        let read = message.body_text(0).unwrap().replace("\r\n", "\n");
        prop_assert_eq!(read, built.text);
    }

    #[test]
    fn no_template_makes_it_panic(text in "(Subject|To|X-A)?:? ?[{}%# a-c|()\\[\\]'\n]{0,40}") {
        if let Ok(template) = Template::parse(&text, Some(&text)) {
            let _ = template.placeholders();
            let _ = Case { text: &text, ..Case::default() }.build();
        }
    }
}
