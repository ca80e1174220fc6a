//! Replies as bytes: where one ends, what number it carries, and what is no reply at all.
//!
//! The text may be in any encoding; only the three digits and the character after them count.

use crate::domain::smtp::Event;
use crate::domain::text::lenient;

/// The longest line that is read; RFC 5321 section 4.5.3.1.5 allows servers 512.
pub const LONGEST_LINE: usize = 4 * 1024;
/// The longest reply that is read, over all its lines.
pub const LONGEST_REPLY: usize = 32 * 1024;

/// A complete, well-formed reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    /// All of it as it came, without the last line's end.
    pub bytes: Vec<u8>,
}

impl Reply {
    /// Returns the text of each line, without the code in front.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|&b| b == b'\n').map(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            line.get(4..).unwrap_or_default()
        })
    }

    /// Returns the text for people: lines joined by line feeds, undecodable bytes written out.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.bytes.len());
        for (number, line) in self.lines().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            text.push_str(&lenient(line));
        }
        text
    }

    /// Returns what the domain makes of this reply.
    pub fn event(&self) -> Event {
        Event::reply(self.code, self.text())
    }
}

/// What the bytes that have come so far amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// A reply of `length` bytes, its last line's end included.
    Complete { code: u16, length: usize },
    /// Nothing wrong yet, but not complete.
    More,
    /// This will never be a reply, whatever follows.
    Malformed,
}

/// Looks for one reply at the beginning of `bytes`.
pub fn scan(bytes: &[u8]) -> Scan {
    let mut code = None;
    let mut start = 0;
    loop {
        let rest = bytes.get(start..).unwrap_or_default();
        let Some(end) = memchr::memchr(b'\n', rest) else {
            let hopeless = rest.len() >= LONGEST_LINE
                || bytes.len() >= LONGEST_REPLY
                || !may_become_a_line(rest, code);
            return if hopeless { Scan::Malformed } else { Scan::More };
        };
        let line = rest.get(..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        start += end + 1;
        if end >= LONGEST_LINE || start > LONGEST_REPLY {
            return Scan::Malformed;
        }
        match (read_line(line), code) {
            (Some(line), Some(code)) if line.code != code => return Scan::Malformed,
            (Some(line), _) if line.last => {
                return Scan::Complete { code: line.code, length: start };
            }
            (Some(line), _) => code = Some(line.code),
            (None, _) => return Scan::Malformed,
        }
    }
}

struct Line {
    code: u16,
    last: bool,
}

/// Reads a line's code; a last line without text may lack the space (RFC 5321 section 4.2).
fn read_line(line: &[u8]) -> Option<Line> {
    let (digits, rest) = line.split_at_checked(3)?;
    let code = read_code(digits)?;
    match rest.first() {
        None | Some(b' ') => Some(Line { code, last: true }),
        Some(b'-') => Some(Line { code, last: false }),
        Some(_) => None,
    }
}

/// Reads three digits of which the first is 2 to 5: all that RFC 5321 section 4.2.1 knows.
fn read_code(digits: &[u8]) -> Option<u16> {
    let &[first @ b'2'..=b'5', second @ b'0'..=b'9', third @ b'0'..=b'9'] = digits else {
        return None;
    };
    let value = |digit: u8| u16::from(digit - b'0');
    Some(value(first) * 100 + value(second) * 10 + value(third))
}

/// Reports whether an unfinished line can still become one of this reply.
fn may_become_a_line(begun: &[u8], code: Option<u16>) -> bool {
    let digits = begun.get(..3).unwrap_or(begun);
    let whole = digits.len() == 3;
    let plausible = match digits {
        [] => true,
        // The end of a bare line has begun: too short to carry a code.
        [first, rest @ ..] => matches!(first, b'2'..=b'5') && rest.iter().all(u8::is_ascii_digit),
    };
    let same = !whole || code.is_none_or(|code| read_code(digits) == Some(code));
    plausible && same && matches!(begun.get(3), None | Some(b' ' | b'-' | b'\r'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn complete(code: u16, text: &[u8]) {
        assert_eq!(scan(text), Scan::Complete { code, length: text.len() }, "{text:?}");
    }

    #[test]
    fn a_reply_ends_with_the_first_line_that_has_no_hyphen() {
        complete(250, b"250 ok\r\n");
        complete(250, b"250-a\r\n250-b\r\n250 c\r\n");
        assert_eq!(scan(b"250 ok\r\n354 go\r\n"), Scan::Complete { code: 250, length: 8 });
    }

    #[test]
    fn the_text_and_the_space_before_it_may_be_missing() {
        complete(250, b"250\r\n");
        complete(250, b"250 \r\n");
        complete(250, b"250-a\r\n250\r\n");
    }

    #[test]
    fn a_line_may_end_without_carriage_return() {
        complete(250, b"250 ok\n");
    }

    #[test]
    fn text_in_any_encoding_leaves_the_code_readable() {
        complete(550, b"550 \xbc\xf6\xbd\xc5\xc0\xda \xbe\xf8\xc0\xbd\r\n");
        complete(250, b"250 \x82\xa0\0\xff\r\n");
    }

    #[test]
    fn a_reply_that_is_cut_is_not_complete() {
        for cut in [&b""[..], b"2", b"25", b"250", b"250 ", b"250 ok", b"250 ok\r", b"250-a\r\n25"]
        {
            assert_eq!(scan(cut), Scan::More, "{cut:?}");
        }
    }

    #[test]
    fn nonsense_is_known_at_once() {
        for bad in [
            &b"\r\n"[..],
            b"850 NONSENSE\r\n",
            b"150 too early\r\n",
            b"8",
            b"ok\r\n",
            b"25\r\n",
            b"25x ok\r\n",
            b"2500 ok\r\n",
            b"250ok\r\n",
            b"250-a\r\n251 b\r\n",
            b"250-a\r\n\r\n",
            b"250-a\r\n354",
            b"\xbc\xf6250 ok\r\n",
            b"HTTP/1.1 400 Bad Request\r\n",
        ] {
            assert_eq!(scan(bad), Scan::Malformed, "{bad:?}");
        }
    }

    #[test]
    fn an_endless_line_and_an_endless_reply_are_bounded() {
        let mut line = b"250 ".to_vec();
        line.resize(LONGEST_LINE, b'x');
        assert_eq!(scan(&line), Scan::Malformed);
        line.extend_from_slice(b"\r\n");
        assert_eq!(scan(&line), Scan::Malformed);
        let lines = b"250-more\r\n".repeat(LONGEST_REPLY / 10 + 1);
        assert_eq!(scan(&lines), Scan::Malformed);
    }

    #[test]
    fn lines_are_shown_without_their_codes() {
        let reply = Reply { code: 550, bytes: b"550-5.1.1 no\r\n550".to_vec() };
        assert_eq!(reply.lines().collect::<Vec<_>>(), [&b"5.1.1 no"[..], b""]);
    }

    proptest! {
        #[test]
        fn no_input_makes_the_scan_read_past_its_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Scan::Complete { code, length } = scan(&bytes) {
                prop_assert!((200..600).contains(&code));
                prop_assert!(length <= bytes.len());
                prop_assert_eq!(bytes[length - 1], b'\n');
            }
        }

        #[test]
        fn what_is_malformed_early_stays_malformed(
            bytes in proptest::collection::vec(prop_oneof![Just(b'2'), Just(b'5'), Just(b'0'), Just(b'-'), Just(b' '), Just(b'\r'), Just(b'\n'), Just(b'x')], 0..40),
            more in proptest::collection::vec(any::<u8>(), 0..10),
        ) {
            if scan(&bytes) == Scan::Malformed {
                let mut longer = bytes.clone();
                longer.extend(more);
                prop_assert_eq!(scan(&longer), Scan::Malformed);
            }
        }
    }
}
