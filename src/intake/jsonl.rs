//! JSON lines: one object per line, bounded like records of CSV.

use std::io::{BufRead, Read as _};

use serde_json::{Map, Value as Json};

use super::csv::{LONGEST_RECORD, Stop};
use super::finding::Why;

/// Reads objects from decoded text.
#[derive(Debug)]
pub(super) struct Objects<R> {
    from: R,
    line: u64,
    text: Vec<u8>,
}

/// One line: an object, or why it is none.
pub(super) type Object = Result<Map<String, Json>, Why>;

impl<R: BufRead> Objects<R> {
    pub(super) const fn new(from: R) -> Self {
        Self { from, line: 0, text: Vec::new() }
    }

    /// Returns the next line that is not empty, with its number.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Object)>, Stop> {
        loop {
            self.text.clear();
            self.line += 1;
            let limit = u64::try_from(LONGEST_RECORD + 1).unwrap_or(u64::MAX);
            let read = self.from.by_ref().take(limit).read_until(b'\n', &mut self.text);
            if read.map_err(Stop::Io)? == 0 {
                return Ok(None);
            }
            if self.text.len() > LONGEST_RECORD {
                return Err(Stop::At(self.line, Why::Long(LONGEST_RECORD)));
            }
            if !self.text.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some((self.line, object(&self.text))));
            }
        }
    }
}

fn object(text: &[u8]) -> Object {
    match serde_json::from_slice(text) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(Json::Array(_)) => {
            Err(Why::Unreadable("it is a JSON array; one object on each line is needed".to_owned()))
        }
        Ok(_) => Err(Why::Unreadable("it is no JSON object".to_owned())),
        Err(err) => Err(Why::Unreadable(format!("it is no JSON: {err}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader, Read};

    use super::*;

    #[test]
    fn each_line_is_an_object_or_says_why_it_is_none() {
        let text = "{\"a\":1}\r\n\n[1]\n{\"a\"\n3\n{\"b\":\"ア\"}";
        let mut objects = Objects::new(text.as_bytes());
        let mut seen = Vec::new();
        while let Some((line, object)) = objects.next().unwrap() {
            seen.push((line, object.map(|object| object.len()).map_err(|why| why.to_string())));
        }
        let lines: Vec<u64> = seen.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5, 6]);
        assert_eq!((&seen[0].1, &seen[4].1), (&Ok(1), &Ok(1)));
        assert!(seen[1].1.as_ref().unwrap_err().contains("one object on each line"));
        assert!(seen[2].1.as_ref().unwrap_err().starts_with("it is no JSON: EOF"));
    }

    #[test]
    fn a_line_of_100_mb_is_refused_before_it_fills_the_memory() {
        let endless = b"{}\n".chain(io::repeat(b'{').take(100 << 20));
        let mut objects = Objects::new(BufReader::new(endless));
        assert!(objects.next().unwrap().is_some());
        assert!(matches!(objects.next(), Err(Stop::At(2, Why::Long(_)))));
        assert!(objects.text.capacity() < 4 * LONGEST_RECORD);
    }
}
