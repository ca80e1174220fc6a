//! Records out of delimited text, with the line on which each begins.
//!
//! Own code and not the `csv` crate, because a record must be refused before it fills the memory,
//! an unclosed quotation mark must be named, and line numbers must hold after empty lines. A test
//! compares the two on ordinary input.

use std::io::{self, BufRead};

use memchr::memchr3;

use super::finding::Why;

/// A longer record is refused: it is no person, it is a file that was not understood.
pub(super) const LONGEST_RECORD: usize = 1 << 20;

/// One record: its fields lie one after the other in `text`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The line on which it begins, from 1.
    pub(super) line: u64,
    text: Vec<u8>,
    ends: Vec<usize>,
    /// Fields that are absent, not empty; only a query has them.
    nulls: Vec<usize>,
    /// What is wrong with it, although it could be split.
    pub(super) problem: Option<Why>,
}

impl Record {
    pub(super) fn of<S: AsRef<str>>(line: u64, fields: impl IntoIterator<Item = S>) -> Self {
        let mut record = Self { line, ..Self::default() };
        for field in fields {
            record.push(field.as_ref());
        }
        record
    }

    pub(super) fn push(&mut self, field: &str) {
        self.text.extend_from_slice(field.as_bytes());
        self.ends.push(self.text.len());
    }

    pub(super) fn push_null(&mut self) {
        self.nulls.push(self.ends.len());
        self.end_field();
    }

    pub(super) fn is_null(&self, at: usize) -> bool {
        self.nulls.contains(&at)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns field `at`, or nothing if the record is shorter.
    pub(super) fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or_default() };
        let bytes =
            self.ends.get(at).and_then(|end| self.text.get(start..*end)).unwrap_or_default();
        // The text was decoded before it was split at ASCII characters.
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Returns all fields as one text, for looking at every character once.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
            || self.fields().all(|field| field.trim().is_empty())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.nulls.clear();
        self.problem = None;
    }

    fn end_field(&mut self) {
        self.ends.push(self.text.len());
    }
}

/// Why no further record can be read.
#[derive(Debug)]
pub(super) enum Stop {
    Io(io::Error),
    At(u64, Why),
}

/// Reads records from decoded text.
#[derive(Debug)]
pub(super) struct Parser<R> {
    from: R,
    splitter: Splitter,
}

impl<R: BufRead> Parser<R> {
    pub(super) const fn new(from: R, delimiter: u8) -> Self {
        let splitter = Splitter { delimiter, at: At::FieldStart, line: 1, after_cr: false };
        Self { from, splitter }
    }

    pub(super) const fn delimiter(&self) -> u8 {
        self.splitter.delimiter
    }

    /// Reads the next record that is not an empty line into `record`; false at the end.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, Stop> {
        loop {
            if !self.read_any(record)? {
                return Ok(false);
            }
            if record.len() > 1 || !record.is_blank() {
                return Ok(true);
            }
        }
    }

    fn read_any(&mut self, record: &mut Record) -> Result<bool, Stop> {
        record.clear();
        record.line = self.splitter.line;
        self.splitter.at = At::FieldStart;
        loop {
            let bytes = match self.from.fill_buf() {
                Ok(bytes) => bytes,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(Stop::Io(err)),
            };
            if bytes.is_empty() {
                return self.splitter.end(record);
            }
            let step = self.splitter.take(bytes, record);
            if record.text.len() + record.ends.len() > LONGEST_RECORD {
                return Err(Stop::At(record.line, Why::Long(LONGEST_RECORD)));
            }
            match step {
                Step::More(used) => self.from.consume(used),
                Step::Done(used) => {
                    self.from.consume(used);
                    return Ok(true);
                }
            }
        }
    }
}

/// Where in the text reading stands.
#[derive(Debug)]
struct Splitter {
    delimiter: u8,
    at: At,
    /// The line that is read next.
    line: u64,
    /// A `\r` was read last; a `\n` after it belongs to it.
    after_cr: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    FieldStart,
    Plain,
    Quoted,
    /// After a quotation mark within quotes: its end, or the first of two.
    QuoteSeen,
    /// After the closing quotation mark and something more.
    Closed,
}

/// What the bytes at hand came to.
enum Step {
    /// Used so many; the record goes on.
    More(usize),
    /// Used so many; the record is complete.
    Done(usize),
}

impl Splitter {
    /// Takes as many bytes as belong to the record.
    fn take(&mut self, bytes: &[u8], record: &mut Record) -> Step {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            if std::mem::take(&mut self.after_cr) && byte == b'\n' {
                used += 1;
                if self.at == At::Quoted {
                    record.text.push(byte);
                }
                continue;
            }
            match self.at {
                At::FieldStart if byte == b'"' => {
                    self.at = At::Quoted;
                    used += 1;
                }
                At::QuoteSeen if byte == b'"' => {
                    record.text.push(byte);
                    self.at = At::Quoted;
                    used += 1;
                }
                At::Quoted => used += self.quoted(bytes.get(used..).unwrap_or_default(), record),
                At::FieldStart | At::Plain | At::QuoteSeen | At::Closed => {
                    let (taken, ends) = self.plain(bytes.get(used..).unwrap_or_default(), record);
                    used += taken;
                    if ends {
                        return Step::Done(used);
                    }
                }
            }
        }
        Step::More(used)
    }

    /// Takes what stands within quotation marks, up to the next mark or line break.
    fn quoted(&mut self, bytes: &[u8], record: &mut Record) -> usize {
        let run = memchr3(b'"', b'\n', b'\r', bytes).unwrap_or(bytes.len());
        record.text.extend_from_slice(bytes.get(..run).unwrap_or_default());
        match bytes.get(run) {
            None => return run,
            Some(b'"') => self.at = At::QuoteSeen,
            Some(&end) => {
                record.text.push(end);
                self.end_line(end);
            }
        }
        run + 1
    }

    /// Takes what stands outside quotation marks, up to what ends the field; says whether that
    /// ends the record as well.
    fn plain(&mut self, bytes: &[u8], record: &mut Record) -> (usize, bool) {
        let run = memchr3(self.delimiter, b'\n', b'\r', bytes).unwrap_or(bytes.len());
        let text = bytes.get(..run).unwrap_or_default();
        if matches!(self.at, At::QuoteSeen | At::Closed) {
            self.at = At::Closed;
            // Blanks may stand between a closing quotation mark and what ends the field.
            if !text.iter().all(|byte| *byte == b' ') {
                record.problem = Some(Why::AfterQuote);
            }
        } else {
            record.text.extend_from_slice(text);
            self.at = At::Plain;
        }
        let Some(&end) = bytes.get(run) else { return (run, false) };
        record.end_field();
        self.at = At::FieldStart;
        if end != self.delimiter {
            self.end_line(end);
        }
        (run + 1, end != self.delimiter)
    }

    const fn end_line(&mut self, end: u8) {
        self.line += 1;
        self.after_cr = end == b'\r';
    }

    fn end(&self, record: &mut Record) -> Result<bool, Stop> {
        match self.at {
            At::Quoted => Err(Stop::At(record.line, Why::OpenQuote)),
            At::FieldStart if record.ends.is_empty() => Ok(false),
            _ => {
                record.end_field();
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    /// The line and the fields of a record.
    type Told = (u64, Vec<String>);

    /// Reads everything through a buffer of `buffer` bytes.
    fn read(text: &str, buffer: usize) -> Result<Vec<Told>, (u64, Why)> {
        let mut parser = Parser::new(BufReader::with_capacity(buffer, text.as_bytes()), b',');
        let (mut record, mut records) = (Record::default(), Vec::new());
        loop {
            match parser.read(&mut record) {
                Ok(true) => {
                    records.push((record.line, record.fields().map(str::to_owned).collect()));
                }
                Ok(false) => return Ok(records),
                Err(Stop::At(line, why)) => return Err((line, why)),
                Err(Stop::Io(err)) => panic!("{err}"),
            }
        }
    }

    fn lines(text: &str) -> Vec<(u64, String)> {
        let records = read(text, 4096).unwrap();
        for buffer in 1..7 {
            assert_eq!(read(text, buffer).unwrap(), records, "buffer of {buffer}");
        }
        records.into_iter().map(|(line, fields)| (line, fields.join("|"))).collect()
    }

    #[test]
    fn a_record_knows_the_line_on_which_it_begins() {
        let text = "a,b\r\n\r\n\"x\r\ny\",1\n\n\n,\nz,2";
        let expected = [(1, "a|b"), (3, "x\r\ny|1"), (7, "|"), (8, "z|2")];
        assert_eq!(lines(text), expected.map(|(line, text)| (line, text.to_owned())));
    }

    #[test]
    fn line_ends_of_every_kind_end_a_record() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("a,b{end}c,d{end}{end}e{end}");
            let expected = [(1, "a|b"), (2, "c|d"), (4, "e")];
            assert_eq!(lines(&text), expected.map(|(line, text)| (line, text.to_owned())));
        }
    }

    #[test]
    fn quotation_marks_hold_delimiters_and_themselves() {
        let text = "\"a,\"\"b\"\"\",\"\" ,5\" disk,\n";
        assert_eq!(lines(text), [(1, "a,\"b\"||5\" disk|".to_owned())]);
    }

    #[test]
    fn a_quotation_mark_that_is_never_closed_is_named_by_its_line() {
        assert_eq!(read("a\n\nb,\"c\nd\n", 4096), Err((3, Why::OpenQuote)));
    }

    #[test]
    fn text_after_a_closing_quotation_mark_spoils_only_its_record() {
        let mut parser = Parser::new("\"a\"b,c\nd,e\n".as_bytes(), b',');
        let mut record = Record::default();
        assert!(parser.read(&mut record).unwrap());
        assert_eq!((record.get(0), record.get(1)), ("a", "c"));
        assert_eq!(record.problem, Some(Why::AfterQuote));
        assert!(parser.read(&mut record).unwrap());
        assert_eq!((record.get(0), record.problem.clone()), ("d", None));
    }

    #[test]
    fn a_record_of_100_mb_is_refused_before_it_fills_the_memory() {
        let endless =
            io::Read::chain("a,b\n".as_bytes(), io::Read::take(io::repeat(b'x'), 100 << 20));
        let mut parser = Parser::new(BufReader::with_capacity(1 << 16, endless), b',');
        let mut record = Record::default();
        assert!(parser.read(&mut record).unwrap());
        let stop = parser.read(&mut record).unwrap_err();
        assert!(matches!(stop, Stop::At(2, Why::Long(LONGEST_RECORD))), "{stop:?}");
        assert!(record.text.capacity() < 4 * LONGEST_RECORD, "{}", record.text.capacity());
    }

    #[test]
    fn a_record_of_100_million_empty_fields_is_refused_as_well() {
        let endless = BufReader::new(io::Read::take(io::repeat(b','), 100 << 20));
        let mut record = Record::default();
        let stop = Parser::new(endless, b',').read(&mut record).unwrap_err();
        assert!(matches!(stop, Stop::At(1, Why::Long(LONGEST_RECORD))), "{stop:?}");
    }

    proptest! {
        /// What the `csv` crate reads from ordinary input, this reads as well.
        #[test]
        fn ordinary_input_reads_as_the_csv_crate_reads_it(
            rows in prop::collection::vec(prop::collection::vec("[a-c \"\r\n,ア]{0,6}", 1..4), 0..6),
            buffer in 1..20_usize,
        ) {
            let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let mut reader =
                csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text.as_bytes());
            let theirs: Vec<Vec<String>> = reader
                .records()
                .map(|row| row.unwrap().iter().map(str::to_owned).collect())
                .filter(|row: &Vec<String>| row.len() > 1 || !row[0].trim().is_empty())
                .collect();
            let ours: Vec<Vec<String>> =
                read(&text, buffer).unwrap().into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn no_input_makes_it_panic(text in "[a\"\r\n,]{0,40}", buffer in 1..9_usize) {
            let whole = read(&text, 4096);
            prop_assert_eq!(read(&text, buffer), whole);
        }
    }
}
