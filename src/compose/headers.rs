//! Which headers a template may set, and how each is written.

use super::encode;
use super::sender::Sender;

/// How the value of a header is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Any text; encoded where it is not plain.
    Text,
    /// One mailbox.
    Mailbox,
    /// Mailboxes with commas between.
    Mailboxes,
    /// URLs in angle brackets.
    Urls,
    /// US-ASCII that stays as it is.
    Plain,
}

/// What a template may set. Anything that starts with `X-` is free text.
const ALLOWED: &[(&str, Form)] = &[
    ("Subject", Form::Text),
    ("From", Form::Mailbox),
    ("Sender", Form::Mailbox),
    ("Reply-To", Form::Mailboxes),
    ("List-Unsubscribe", Form::Urls),
    ("List-Unsubscribe-Post", Form::Plain),
    ("List-Id", Form::Plain),
    ("List-Help", Form::Urls),
    ("List-Archive", Form::Urls),
    ("List-Owner", Form::Urls),
    ("List-Post", Form::Plain),
    ("List-Subscribe", Form::Urls),
    ("Auto-Submitted", Form::Plain),
    ("Precedence", Form::Plain),
    ("Feedback-ID", Form::Plain),
    ("Importance", Form::Plain),
    ("Priority", Form::Plain),
    ("Sensitivity", Form::Plain),
    ("Organization", Form::Text),
    ("Comments", Form::Text),
    ("Keywords", Form::Text),
];

/// What people try to set, and why it is not theirs to set.
const REFUSED: &[(&[&str], &str)] = &[
    (&["To", "Cc", "Bcc"], "every mail goes to the one person of its row"),
    (&["Date", "Message-ID"], "it is given by the ledger, the same on every try"),
    (&["Return-Path", "Errors-To"], "bounces go to the kind's `envelope_from`"),
    (
        &["MIME-Version", "Content-Type", "Content-Transfer-Encoding", "Content-Disposition"],
        "it follows from the text",
    ),
    (&["DKIM-Signature", "Received", "Authentication-Results"], "mail servers write it"),
];

/// Returns the header's usual spelling and its form, or why a template may not set it.
pub(super) fn allowed(name: &str) -> Result<(String, Form), String> {
    if let Some((known, form)) = ALLOWED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
    {
        return Ok(((*known).to_owned(), *form));
    }
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_name && name.len() > 2 && name.get(..2).is_some_and(|x| x.eq_ignore_ascii_case("x-")) {
        return Ok((name.to_owned(), Form::Text));
    }
    let refused = |known: &&str| known.eq_ignore_ascii_case(name);
    if let Some((_, why)) = REFUSED.iter().find(|(names, _)| names.iter().any(refused)) {
        return Err(format!("a template cannot set `{name}`: {why}"));
    }
    let known: Vec<&str> = ALLOWED.iter().map(|(known, _)| *known).collect();
    Err(format!("a template cannot set `{name}`; it can set {} and X-…", known.join(", ")))
}

/// Writes one header line, or says what is wrong with its value.
pub(super) fn write(out: &mut String, name: &str, form: Form, value: &str) -> Result<(), String> {
    let value = value.trim();
    if value.is_empty() {
        return Err("it is empty".to_owned());
    }
    match form {
        Form::Text => encode::text_header(out, name, value),
        Form::Mailbox => {
            let sender = Sender::parse(value).map_err(|err| err.to_string())?;
            encode::mailbox_header(out, name, [sender.pair()]);
        }
        Form::Mailboxes => {
            let senders = Sender::parse_list(value).map_err(|err| err.to_string())?;
            encode::mailbox_header(out, name, senders.iter().map(Sender::pair));
        }
        Form::Urls => encode::plain_header(out, name, &urls(value)?),
        Form::Plain => {
            if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
                return Err("it may hold plain ASCII only".to_owned());
            }
            encode::plain_header(out, name, value);
        }
    }
    Ok(())
}

/// Reads URLs with commas between, with or without angle brackets; writes them with.
fn urls(value: &str) -> Result<String, String> {
    let mut written = Vec::new();
    // A bare URL may hold commas itself, so they separate only where brackets are used.
    let parts = if value.starts_with('<') { value.split('>').collect() } else { vec![value] };
    for part in parts {
        let url = part.trim_start_matches([',', ' ']).trim_start_matches('<').trim_end();
        if url.is_empty() {
            continue;
        }
        let whole = url.bytes().all(|byte| matches!(byte, b'!'..=b'~') && !b"<>".contains(&byte));
        let scheme = url.split_once(':').is_some_and(|(scheme, rest)| {
            !rest.is_empty() && ["https", "http", "mailto"].contains(&&*scheme.to_ascii_lowercase())
        });
        if !whole || !scheme {
            return Err(format!("`{}` is no https, http or mailto URL", url.escape_debug()));
        }
        written.push(format!("<{url}>"));
    }
    if written.is_empty() { Err("it holds no URL".to_owned()) } else { Ok(written.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, value: &str) -> Result<String, String> {
        let (name, form) = allowed(name)?;
        let mut out = String::new();
        write(&mut out, &name, form, value)?;
        Ok(out)
    }

    #[test]
    fn a_template_cannot_address_anybody_else_or_forge_the_ledgers_headers() {
        for name in [
            "To",
            "cc",
            "BCC",
            "Date",
            "message-id",
            "Return-Path",
            "Content-Type",
            "Resent-To",
            "DKIM-Signature",
            "",
            "X-",
            "X-é",
        ] {
            assert!(allowed(name).is_err(), "{name}");
        }
    }

    #[test]
    fn urls_come_with_and_without_brackets() {
        for (value, line) in [
            ("https://e.jp/u?a=1,2", "List-Unsubscribe: <https://e.jp/u?a=1,2>\r\n"),
            (
                "<https://e.jp/u>,<mailto:u@e.jp>",
                "List-Unsubscribe: <https://e.jp/u>, <mailto:u@e.jp>\r\n",
            ),
        ] {
            assert_eq!(written("list-unsubscribe", value).unwrap(), line);
        }
        for bad in ["https://e.jp/a b", "javascript:x", "<>", "https://例え.jp/", "https:"] {
            assert!(written("List-Unsubscribe", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn each_header_is_written_in_its_form() {
        assert_eq!(written("subject", " Hello ").unwrap(), "Subject: Hello\r\n");
        assert_eq!(
            written("reply-to", "店 <a@example.com>, b@example.com").unwrap(),
            "Reply-To: =?utf-8?b?5bqX?= <a@example.com>, b@example.com\r\n"
        );
        assert_eq!(written("X-Campaign", "冬").unwrap(), "X-Campaign: =?utf-8?b?5Yas?=\r\n");
        assert!(written("Precedence", "ばるく").is_err());
        assert!(written("Subject", "  ").is_err());
    }
}
