//! Makes text from outside safe to show: nothing is executed, nothing is silently dropped.

use std::borrow::Cow;
use std::error::Error;
use std::fmt::Write;

/// Reports whether a character does something, or hides, instead of showing a sign.
///
/// Variation selectors are let through: names in Japanese registers need them (葛󠄀), and they only
/// choose between pictures of the sign before them.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' // C0 with ESC, DEL, C1
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' // zero width, left-to-right and right-to-left marks
        | '\u{2028}'..='\u{202e}' // line and paragraph separator, bidi
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}') // tags
}

/// Returns `text` on one line, with everything hidden or active written out (`\u{1b}`, `\n`).
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Names a control character in words a person understands.
pub fn name_control(c: char) -> String {
    match c {
        '\r' | '\n' | '\u{85}' => "a line break".to_owned(),
        '\t' => "a tab".to_owned(),
        '\0' => "a NUL character".to_owned(),
        '\u{1b}' => "an escape character".to_owned(),
        c => format!("the control character U+{:04X}", u32::from(c)),
    }
}

/// Decodes bytes for people: UTF-8 where it is, `\xNN` where it is not.
pub fn lenient(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // A String takes everything that is written to it.
            _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// Says an error and what it comes from in one line.
pub fn with_causes(err: &dyn Error) -> String {
    let mut said = err.to_string();
    let mut next = err.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        // Many libraries repeat the inner text in the outer one.
        if !said.ends_with(&words) {
            said = format!("{said}: {words}");
        }
        next = cause.source();
    }
    said
}

/// Returns a server's words for a sentence: one line, nothing active, at most 200 characters.
pub fn quote(words: &str) -> String {
    const MOST: usize = 200;
    let lines: Vec<&str> = words.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let line = lines.join(" / ");
    let shown = visible(&line);
    if shown.chars().count() <= MOST {
        return shown.into_owned();
    }
    shown.chars().take(MOST - 3).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::escape("a\x1b[31mred", "a\\u{1b}[31mred")]
    #[case::osc("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}")]
    #[case::c1("\u{9b}31m", "\\u{9b}31m")]
    #[case::nul("a\0b", "a\\u{0}b")]
    #[case::delete("a\x7f", "a\\u{7f}")]
    #[case::line_break("a\r\nb\tc", "a\\r\\nb\\tc")]
    #[case::bidi_override("a\u{202e}gpj.exe", "a\\u{202e}gpj.exe")]
    #[case::bidi_isolate("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}")]
    #[case::zero_width("ta\u{200b}ro", "ta\\u{200b}ro")]
    #[case::bom("\u{feff}a", "\\u{feff}a")]
    #[case::soft_hyphen("a\u{ad}b", "a\\u{ad}b")]
    #[case::line_separator("a\u{2028}b", "a\\u{2028}b")]
    #[case::tags("a\u{e0041}", "a\\u{e0041}")]
    #[case::ordinary("髙橋 한글 é 😀 葛\u{e0100}", "髙橋 한글 é 😀 葛\u{e0100}")]
    fn hidden_and_active_characters_are_written_out(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(visible(text), shown);
    }

    #[rstest]
    #[case::utf8("존재".as_bytes(), "존재")]
    #[case::euc_kr(b"\xc1\xb8 no", "\\xc1\\xb8 no")]
    #[case::latin1(b"bo\xeete", "bo\\xeete")]
    #[case::cut_in_a_letter(b"a\xe3\x81", "a\\xe3\\x81")]
    fn bytes_that_are_no_utf8_are_written_out(#[case] bytes: &[u8], #[case] shown: &str) {
        assert_eq!(lenient(bytes), shown);
    }

    #[test]
    fn a_quote_is_one_short_line() {
        assert_eq!(quote("5.1.1 no\r\n  such user\n"), "5.1.1 no / such user");
        assert_eq!(quote("\x1b[2J"), "\\u{1b}[2J");
        let long = quote(&"長".repeat(900));
        assert_eq!((long.chars().count(), long.ends_with("長...")), (200, true));
    }

    proptest! {
        #[test]
        fn nothing_hidden_survives(text: String, bytes: Vec<u8>) {
            prop_assert!(!visible(&text).contains(is_hidden));
            prop_assert!(!visible(&lenient(&bytes)).contains(is_hidden));
        }

        #[test]
        fn making_text_visible_twice_changes_nothing_more(text: String) {
            let once = visible(&text).into_owned();
            prop_assert_eq!(visible(&once), once.as_str());
        }
    }
}
