//! Content on its way to the wire: dots doubled, cut into blocks, the final dot behind.

/// The most content that is copied into one write.
pub(super) const BLOCK: usize = 64 * 1024;

/// Walks over a message block by block.
pub(super) struct Stuffer<'a> {
    content: &'a [u8],
    at: usize,
}

impl<'a> Stuffer<'a> {
    pub(super) const fn new(content: &'a [u8]) -> Self {
        Self { content, at: 0 }
    }

    /// Appends the next block to `out`; with the last one it appends the final dot as well and
    /// returns its place in `out`.
    ///
    /// A dot is doubled after CR and after LF alone too: whatever a server takes for a line's end,
    /// no content can hold a terminator (SMTP smuggling). Built messages have only CRLF.
    pub(super) fn next_block(&mut self, out: &mut Vec<u8>) -> Option<usize> {
        let end = self.content.len().min(self.at + BLOCK);
        let block = self.content.get(self.at..end).unwrap_or_default();
        let mut copied = 0;
        for dot in memchr::memchr_iter(b'.', block) {
            let before = match dot {
                0 => self.at.checked_sub(1).and_then(|before| self.content.get(before)),
                _ => block.get(dot - 1),
            };
            if matches!(before, None | Some(b'\n' | b'\r')) {
                out.extend_from_slice(block.get(copied..dot).unwrap_or_default());
                out.push(b'.');
                copied = dot;
            }
        }
        out.extend_from_slice(block.get(copied..).unwrap_or_default());
        self.at = end;
        if end < self.content.len() {
            return None;
        }
        if !self.content.is_empty() && !self.content.ends_with(b"\r\n") {
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b".\r\n");
        Some(out.len() - 3)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stuffed(content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut stuffer = Stuffer::new(content);
        while stuffer.next_block(&mut out).is_none() {}
        out
    }

    #[test]
    fn dots_are_doubled_at_line_beginnings_only() {
        assert_eq!(stuffed(b"a.b\r\n.c\r\n..\r\n"), b"a.b\r\n..c\r\n...\r\n.\r\n");
        assert_eq!(stuffed(b".\r\n"), b"..\r\n.\r\n");
    }

    #[test]
    fn the_last_line_gets_an_end_only_if_it_has_none() {
        assert_eq!(stuffed(b"a"), b"a\r\n.\r\n");
        assert_eq!(stuffed(b"a\r\n"), b"a\r\n.\r\n");
        assert_eq!(stuffed(b""), b".\r\n");
    }

    #[test]
    fn no_line_end_of_any_fashion_lets_a_terminator_through() {
        for smuggled in [&b"a\n.\n"[..], b"a\r.\r", b"a\n.\r\n", b"a\r\n.\n", b"a\r\n.\r"] {
            let wire = stuffed(&[smuggled, b"MAIL FROM:<x@y>\r\n"].concat());
            let lines = wire.split(|&b| b == b'\n' || b == b'\r');
            assert_eq!(lines.filter(|line| *line == b".").count(), 1, "{smuggled:?}");
        }
    }

    #[test]
    fn the_place_of_the_final_dot_is_told() {
        let mut out = b"before".to_vec();
        let at = Stuffer::new(b"a\r\n").next_block(&mut out).unwrap();
        assert_eq!(&out[at..], b".\r\n");
    }

    #[test]
    fn a_line_that_begins_a_block_is_stuffed_as_any_other() {
        let mut content = vec![b'x'; BLOCK - 2];
        content.extend_from_slice(b"\r\n.y\r\n");
        let wire = stuffed(&content);
        assert!(wire.ends_with(b"\r\n..y\r\n.\r\n"));
        assert_eq!(wire.len(), content.len() + 4);
    }

    proptest! {
        #[test]
        fn a_server_gets_back_every_byte(lines in proptest::collection::vec("[.a]{0,3}", 0..20)) {
            let content = lines.iter().flat_map(|line| [line, "\r\n"]).collect::<String>();
            let wire = String::from_utf8(stuffed(content.as_bytes())).unwrap();
            let body = wire.strip_suffix(".\r\n").unwrap();
            let back = body.split_inclusive("\r\n").map(|l| l.strip_prefix('.').unwrap_or(l));
            prop_assert_eq!(back.collect::<String>(), content);
        }
    }
}
