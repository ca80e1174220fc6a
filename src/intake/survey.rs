//! A first look at a file: is it UTF-8, and if not, which lines tell what it is?

use std::io::{BufRead, BufReader, Read};

use super::encoding::{self, Charset, Evidence, Found, Language, Verdict};
use super::error::IntakeError;
use super::source::Options;

/// Bytes of telling lines that are kept; more would not change the verdict.
const TELLING: usize = 1 << 17;

/// A longer line is looked at in pieces.
const PIECE: u64 = 1 << 16;

/// What a look at the bytes came to.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// Lines with bytes beyond US-ASCII that are valid UTF-8, and those that are not.
    valid: usize,
    invalid: usize,
    telling: Vec<Vec<u8>>,
    kept: usize,
    country: [usize; 2],
}

impl Survey {
    /// Looks at everything.
    pub(super) fn of(from: impl Read) -> std::io::Result<Self> {
        let mut survey = Self::default();
        let mut from = BufReader::with_capacity(1 << 16, from);
        let mut piece = Vec::new();
        loop {
            let carried = piece.len();
            if from.by_ref().take(PIECE).read_until(b'\n', &mut piece)? == 0 {
                if carried > 0 {
                    survey.line(&piece);
                }
                return Ok(survey);
            }
            let whole = if piece.ends_with(b"\n") { piece.len() } else { char_boundary(&piece) };
            let rest = piece.split_off(whole);
            survey.line(&piece);
            piece = rest;
        }
    }

    fn line(&mut self, line: &[u8]) {
        match encoding::country(line) {
            Some(Language::Japanese) => self.country[0] += 1,
            Some(Language::Korean) => self.country[1] += 1,
            None => {}
        }
        if line.is_ascii() {
            return;
        }
        if std::str::from_utf8(line).is_ok() {
            self.valid += 1;
        } else {
            self.invalid += 1;
        }
        if self.kept < TELLING {
            self.kept += line.len();
            self.telling.push(line.trim_ascii_end().to_vec());
        }
    }

    /// Decides the character set, or fails with what it may be.
    pub(super) fn charset(
        &self,
        name: &str,
        head: &[u8],
        options: &Options,
    ) -> Result<(&'static encoding_rs::Encoding, Charset), IntakeError> {
        if let Some(wanted) = &options.encoding {
            let encoding = encoding::named(wanted)
                .ok_or_else(|| IntakeError::NoSuchEncoding(wanted.clone()))?;
            // A mark says which of the two UTF-16 it is.
            let marked = encoding_rs::Encoding::for_bom(head).map(|(marked, _)| marked);
            let encoding = match marked {
                Some(marked) if encoding.name().starts_with("UTF-16") => marked,
                _ => encoding,
            };
            return Ok((encoding, Charset::new(encoding, Found::Given)));
        }
        let evidence = Evidence {
            head,
            telling: &self.telling,
            utf8: self.is_utf8(),
            language: self.language(options),
        };
        match encoding::detect(&evidence) {
            Verdict::Sure(encoding, found) => Ok((encoding, Charset::new(encoding, found))),
            Verdict::Unsure(candidates) => {
                Err(IntakeError::Unsure { name: name.to_owned(), candidates })
            }
        }
    }

    /// A real file may hold a few damaged lines; nothing else looks like UTF-8 line after line.
    fn is_utf8(&self) -> bool {
        self.invalid == 0 || (self.valid >= 10 && self.valid >= 10 * self.invalid)
    }

    /// The addresses speak of this file, the configuration of most files.
    fn language(&self, options: &Options) -> Option<Language> {
        let [japanese, korean] = self.country;
        if japanese > 2 * korean {
            Some(Language::Japanese)
        } else if korean > 2 * japanese {
            Some(Language::Korean)
        } else {
            options.language.as_deref().and_then(encoding::configured)
        }
    }
}

/// Returns how much of `bytes` does not end within a character of UTF-8.
fn char_boundary(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(err) if err.error_len().is_none() => err.valid_up_to(),
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(bytes: &[u8]) -> Result<String, IntakeError> {
        let survey = Survey::of(bytes).unwrap();
        survey.charset("f", bytes, &Options::default()).map(|(_, charset)| charset.name)
    }

    #[test]
    fn a_single_line_longer_than_a_piece_is_still_utf_8() {
        for ahead in 0..4 {
            let text = "x".repeat(ahead) + &"髙".repeat(50_000);
            assert_eq!(charset(text.as_bytes()).unwrap(), "UTF-8");
        }
    }

    #[test]
    fn one_damaged_line_among_many_leaves_the_file_utf_8() {
        let mut bytes = "髙橋,a@example.jp\n".repeat(30).into_bytes();
        bytes.extend_from_slice(b"\x8d\x82\x8b\xb4,b@example.jp\n");
        assert_eq!(charset(&bytes).unwrap(), "UTF-8");
    }

    #[test]
    fn the_first_character_beyond_ascii_may_come_late() {
        let mut bytes = b"1,Taro,a@example.co.jp\n".repeat(50_000);
        for name in ["髙橋 一郎", "山﨑 花子", "佐藤 さくら"] {
            bytes.extend_from_slice(&encoding_rs::SHIFT_JIS.encode(name).0);
            bytes.push(b'\n');
        }
        assert_eq!(charset(&bytes).unwrap(), "Shift_JIS");
    }

    #[test]
    fn a_given_character_set_is_taken_as_it_is() {
        let options =
            |name: &str| Options { encoding: Some(name.to_owned()), ..Options::default() };
        let survey = Survey::of(b"\xfe\xff\0a".as_slice()).unwrap();
        let (encoding, _) = survey.charset("f", b"\xfe\xff\0a", &options("utf-16")).unwrap();
        assert_eq!(encoding, encoding_rs::UTF_16BE);
        let err = survey.charset("f", b"", &options("klingon")).unwrap_err();
        assert_eq!(err.to_string(), "`klingon` is no character set that is known here");
    }
}
