//! Bytes of any character set as a stream of UTF-8.
//!
//! What cannot be decoded becomes U+FFFD, which the check of a line then finds.

use std::io::{self, BufRead, Read};

use encoding_rs::{CoderResult, Decoder, Encoding};

const CHUNK: usize = 1 << 16;

/// Decodes what it reads; a byte order mark of the character set is removed.
pub(super) struct Decoded<R> {
    from: R,
    decoder: Decoder,
    raw: Vec<u8>,
    raw_at: usize,
    raw_end: usize,
    text: Vec<u8>,
    text_at: usize,
    text_end: usize,
    over: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(from: R, encoding: &'static Encoding) -> Self {
        Self {
            from,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: vec![0; CHUNK],
            raw_at: 0,
            raw_end: 0,
            // Three bytes of UTF-8 for one byte is the worst case (half-width kana).
            text: vec![0; 3 * CHUNK + 16],
            text_at: 0,
            text_end: 0,
            over: false,
        }
    }

    fn refill(&mut self) -> io::Result<()> {
        while self.text_at == self.text_end && !self.over {
            if self.raw_at == self.raw_end {
                self.raw_end = self.from.read(&mut self.raw)?;
                self.raw_at = 0;
            }
            let last = self.raw_end == 0;
            let raw = self.raw.get(self.raw_at..self.raw_end).unwrap_or_default();
            let (result, read, written, _) = self.decoder.decode_to_utf8(raw, &mut self.text, last);
            self.raw_at += read;
            self.text_at = 0;
            self.text_end = written;
            self.over = last && result == CoderResult::InputEmpty;
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut text = self.fill_buf()?;
        let count = text.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.refill()?;
        Ok(self.text.get(self.text_at..self.text_end).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.text_at = (self.text_at + count).min(self.text_end);
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_KR, SHIFT_JIS, UTF_8, UTF_16LE};

    use super::*;

    /// Hands out one byte at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            out[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn decoded(bytes: &[u8], encoding: &'static Encoding) -> String {
        let mut text = String::new();
        Decoded::new(Drip(bytes), encoding).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn characters_that_are_cut_by_a_read_come_out_whole() {
        for (text, encoding) in
            [("髙橋,山﨑,①～", SHIFT_JIS), ("김철수,똠방각하", EUC_KR), ("😀髙", UTF_8)]
        {
            assert_eq!(decoded(&encoding.encode(text).0, encoding), text);
        }
        let utf16: Vec<u8> = "\u{feff}髙,😀".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&utf16, UTF_16LE), "髙,😀");
    }

    #[test]
    fn a_byte_order_mark_is_removed_and_damage_is_marked() {
        assert_eq!(decoded(b"\xef\xbb\xbfa", UTF_8), "a");
        assert_eq!(decoded(b"a\xff\xe3\x81", UTF_8), "a\u{fffd}\u{fffd}");
        assert_eq!(decoded(b"", UTF_8), "");
    }
}
