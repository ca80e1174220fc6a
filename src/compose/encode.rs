//! Headers and bodies in US-ASCII, folded and encoded so that every relay passes them on unchanged.

use std::fmt::Write;

use data_encoding::BASE64_MIME;
use email_encoding::headers::writer::EmailWriter;
use email_encoding::headers::{quoted_string, rfc2047};
use lettre::message::Body;
use lettre::message::header::ContentTransferEncoding;

/// The longest line that is written without its CRLF; RFC 5322 allows 998.
pub(super) const LONGEST_LINE: usize = 990;

/// A longer word is encoded although it is plain: encoded text can be folded anywhere.
const LONGEST_PLAIN_WORD: usize = 70;

/// Writes a header of free text, as encoded words where it is not plain.
pub(super) fn text_header(out: &mut String, name: &str, value: &str) {
    header(out, name, |w| {
        if is_plain(value) { w.folding().write_str(value) } else { rfc2047::encode(value, w) }
    });
}

/// Writes a header whose value must stay as it is and has been checked to be US-ASCII.
pub(super) fn plain_header(out: &mut String, name: &str, value: &str) {
    header(out, name, |w| w.folding().write_str(value));
}

/// Writes a header of mailboxes; the addresses are as they go over the wire.
pub(super) fn mailbox_header<'a>(
    out: &mut String,
    name: &str,
    mailboxes: impl IntoIterator<Item = (Option<&'a str>, &'a str)>,
) {
    header(out, name, |w| {
        for (at, (display, address)) in mailboxes.into_iter().enumerate() {
            if at > 0 {
                w.write_char(',')?;
                w.space();
            }
            let Some(display) = display.filter(|display| !display.is_empty()) else {
                w.folding().write_str(address)?;
                continue;
            };
            quoted_string::encode(display, w)?;
            w.space();
            w.folding().write_str(&format!("<{address}>"))?;
        }
        Ok(())
    });
}

fn header(
    out: &mut String,
    name: &str,
    value: impl FnOnce(&mut EmailWriter<'_>) -> std::fmt::Result,
) {
    out.push_str(name);
    out.push_str(": ");
    let mut writer = EmailWriter::new(out, name.len() + 2, 0, false);
    // A `String` takes every write.
    let _ = value(&mut writer);
    drop(writer);
    out.push_str("\r\n");
}

/// Reports whether `value` reads the same when it is written as it is.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !value.contains("=?")
        && value.split(' ').all(|word| word.len() <= LONGEST_PLAIN_WORD)
}

/// How a text must travel.
struct Shape {
    /// Printable US-ASCII in short lines.
    tame: bool,
    bytes: usize,
    /// Bytes beyond US-ASCII.
    high: usize,
}

/// Writes the `Content-Type`, the encoding, an empty line and the encoded text.
///
/// The text has `\n` line ends and ends with one. `subtype` is `plain` or `html`.
pub(super) fn part(out: &mut Vec<u8>, subtype: &str, text: &str) {
    let shape = shape(text);
    let encoding = match &shape {
        Shape { tame: true, .. } => "7bit",
        // Quoted-printable triples a byte, base64 adds a third to all of them.
        Shape { high, bytes, .. } if high * 6 <= *bytes => "quoted-printable",
        _ => "base64",
    };
    out.extend_from_slice(
        format!(
            "Content-Type: text/{subtype}; charset=utf-8\r\n\
             Content-Transfer-Encoding: {encoding}\r\n\r\n"
        )
        .as_bytes(),
    );
    match encoding {
        "7bit" => crlf(out, text),
        "quoted-printable" => quoted_printable(out, text),
        _ => {
            let mut lines = Vec::with_capacity(shape.bytes + shape.bytes / 16);
            crlf(&mut lines, text);
            let start = out.len();
            out.resize(start + BASE64_MIME.encode_len(lines.len()), 0);
            BASE64_MIME.encode_mut(&lines, out.get_mut(start..).unwrap_or_default());
        }
    }
    if !out.ends_with(b"\r\n") {
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes a text and an HTML part as alternatives; `token` makes the line between them unique.
pub(super) fn alternatives(out: &mut Vec<u8>, token: &str, text: &str, html: &str) {
    let token: String = token.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
    let mut boundary = format!("=_{token}");
    while text.contains(&boundary) || html.contains(&boundary) {
        boundary.insert(2, '_');
    }
    out.extend_from_slice(
        format!("Content-Type: multipart/alternative;\r\n boundary=\"{boundary}\"\r\n\r\n")
            .as_bytes(),
    );
    for (subtype, text) in [("plain", text), ("html", html)] {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        part(out, subtype, text);
        // The line break before a boundary belongs to it and not to the part.
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
}

fn shape(text: &str) -> Shape {
    let bytes = text.as_bytes();
    let high =
        if text.is_ascii() { 0 } else { bytes.iter().filter(|byte| !byte.is_ascii()).count() };
    // Without an early end: so the compiler looks at many bytes at once.
    let control = |byte: &u8| u8::from(matches!(byte, 0..=8 | 11..=31 | 0x7f));
    let wild = bytes.iter().map(control).fold(0, |any, one| any | one) > 0;
    let mut start = 0;
    let mut long = false;
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        long |= end - start > LONGEST_LINE;
        start = end + 1;
    }
    Shape { tame: high == 0 && !wild && !long, bytes: bytes.len(), high }
}

fn crlf(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        out.extend_from_slice(bytes.get(start..end).unwrap_or_default());
        out.extend_from_slice(b"\r\n");
        start = end + 1;
    }
    out.extend_from_slice(bytes.get(start..).unwrap_or_default());
}

fn quoted_printable(out: &mut Vec<u8>, text: &str) {
    let encoding = ContentTransferEncoding::QuotedPrintable;
    // Quoted-printable can hold everything; what comes back on refusal is the text itself.
    let bytes = match Body::new_with_encoding(text.to_owned(), encoding) {
        Ok(body) => body.into_vec(),
        Err(text) => text,
    };
    out.extend_from_slice(&bytes);
}
