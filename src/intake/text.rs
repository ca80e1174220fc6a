//! CSV, TSV and JSON lines out of files and standard input.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek as _};
use std::path::Path;

use encoding_rs::Encoding;

use super::check::Checker;
use super::columns::{Columns, headings, looks_like_address, own_names};
use super::csv::{Parser, Record, Stop};
use super::decode::Decoded;
use super::delimiter;
use super::encoding::Charset;
use super::error::IntakeError;
use super::finding::Finding;
use super::jsonl::Objects;
use super::reader::{Ended, Entry, Head, Out, Rejected};
use super::source::{Options, Wanted};
use super::survey::Survey;

/// So much is looked at before a source is understood.
const HEAD: usize = 1 << 20;

/// Rows that are looked at to map the columns.
const SAMPLES: usize = 50;

/// Rows that are shown.
pub(super) const SHOWN: usize = 5;

/// Reads a file; one that can be read twice is surveyed whole.
pub(super) fn read_file(path: &Path, options: &Options, out: &mut Out) -> Result<(), Ended> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let failed = |source| IntakeError::Open { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(failed)?;
    let whole = file.metadata().map_err(failed)?.is_file();
    let survey = if whole {
        let survey = Survey::of(&file).map_err(failed)?;
        file.rewind().map_err(failed)?;
        Some(survey)
    } else {
        None
    };
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let format = match &*extension {
        "jsonl" | "ndjson" => Format::Objects,
        "tsv" => Format::Records(Some(b'\t')),
        _ => Format::Records(None),
    };
    read(Input { name, format, survey, from: file }, options, out)
}

/// Reads standard input: objects if it begins with `{`, else records.
pub(super) fn read_stdin(options: &Options, out: &mut Out) -> Result<(), Ended> {
    let (name, from) = ("standard input".to_owned(), io::stdin().lock());
    read(Input { name, format: Format::Unknown, survey: None, from }, options, out)
}

/// How the bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Objects,
    Records(Option<u8>),
    Unknown,
}

/// Bytes and what is known about them.
struct Input<R> {
    name: String,
    format: Format,
    survey: Option<Survey>,
    from: R,
}

fn read<R: Read>(mut input: Input<R>, options: &Options, out: &mut Out) -> Result<(), Ended> {
    let mut head = Vec::new();
    let limit = u64::try_from(HEAD).unwrap_or(u64::MAX);
    let unreadable = |source| IntakeError::Read { name: input.name.clone(), source };
    input.from.by_ref().take(limit).read_to_end(&mut head).map_err(unreadable)?;
    refuse_other_formats(&input.name, &head)?;
    let survey = match input.survey.take() {
        Some(survey) => survey,
        None => Survey::of(head.as_slice()).map_err(unreadable)?,
    };
    let (encoding, charset) = survey.charset(&input.name, &head, options)?;
    let sample = sample(&head, encoding);
    if sample.trim().is_empty() {
        return Err(IntakeError::Empty { name: input.name }.into());
    }
    let objects = match input.format {
        Format::Objects => true,
        Format::Records(_) => false,
        Format::Unknown => sample.trim_start().starts_with('{'),
    };
    let text = Decoded::new(io::Cursor::new(head).chain(input.from), encoding);
    if objects {
        return read_objects(&input.name, charset, &sample, text, options, out);
    }
    let given = match input.format {
        Format::Records(given) => given,
        _ => None,
    };
    let delimiter = match options.delimiter {
        Some(c) => u8::try_from(c).ok().filter(u8::is_ascii).ok_or(IntakeError::Delimiter(c))?,
        None => given.unwrap_or_else(|| delimiter::detect(&sample)),
    };
    read_records(&input.name, charset, &sample, Parser::new(text, delimiter), options, out)
}

fn refuse_other_formats(name: &str, head: &[u8]) -> Result<(), IntakeError> {
    let why = if head.starts_with(b"PK\x03\x04") {
        "it is a workbook or an archive; give it the ending .xlsx"
    } else if head.starts_with(b"\xd0\xcf\x11\xe0") {
        "it is a workbook of an old kind; save it as .xlsx or CSV"
    } else {
        return Ok(());
    };
    Err(IntakeError::Workbook { name: name.to_owned(), why: why.to_owned() })
}

/// Decodes the head; a line that it cuts is left away.
fn sample(head: &[u8], encoding: &'static Encoding) -> String {
    let (text, _) = encoding.decode_with_bom_removal(head);
    match text.rsplit_once('\n') {
        Some((lines, _)) if head.len() >= HEAD => lines.to_owned(),
        _ => text.into_owned(),
    }
}

fn read_records<R: BufRead>(
    name: &str,
    charset: Charset,
    sample: &str,
    mut records: Parser<R>,
    options: &Options,
    out: &mut Out,
) -> Result<(), Ended> {
    let delimiter = records.delimiter();
    let table = Table::read(name, sample, delimiter, options)?;
    let samples = table.samples.as_slice();
    let columns = Columns {
        source: name,
        line: table.line,
        names: &table.names,
        samples,
        named_on_purpose: false,
    };
    let mapping = columns.map(options)?;
    let checker = Checker::new(options.wanted, &table.names, &mapping).charset(&charset.label);
    out.head(Head {
        name: name.to_owned(),
        charset: Some(charset),
        delimiter: Some(char::from(delimiter)),
        sheet: None,
        has_headings: table.has_headings,
        samples: samples.iter().take(SHOWN).cloned().collect(),
        notes: table.notes,
        columns: table.names,
        mapping,
    })?;
    let mut record = Record::default();
    let mut headings = table.has_headings;
    while records.read(&mut record).map_err(|stop| stopped(name, stop))? {
        if std::mem::take(&mut headings) {
            continue;
        }
        if let Some(entry) = checker.record(&record) {
            out.entry(entry)?;
        }
    }
    Ok(())
}

pub(super) fn stopped(name: &str, stop: Stop) -> IntakeError {
    let name = name.to_owned();
    match stop {
        Stop::Io(source) => IntakeError::Read { name, source },
        Stop::At(line, why) => IntakeError::Line { name, line, why: why.to_string() },
    }
}

/// Names and first rows of a text.
pub(super) struct Table {
    pub(super) line: u64,
    pub(super) has_headings: bool,
    pub(super) names: Vec<String>,
    pub(super) samples: Vec<Vec<String>>,
    pub(super) notes: Vec<Finding>,
}

impl Table {
    fn read(
        name: &str,
        sample: &str,
        delimiter: u8,
        options: &Options,
    ) -> Result<Self, IntakeError> {
        let mut parser = Parser::new(sample.as_bytes(), delimiter);
        let (mut record, mut rows) = (Record::default(), Vec::new());
        while rows.len() <= SAMPLES {
            match parser.read(&mut record) {
                Ok(true) => rows.push((record.line, record.fields().map(str::to_owned).collect())),
                Ok(false) => break,
                // The sample may end within a record; the whole source will tell.
                Err(_) if !rows.is_empty() => break,
                Err(stop) => return Err(stopped(name, stop)),
            }
        }
        Self::of(rows, options).ok_or_else(|| IntakeError::Empty { name: name.to_owned() })
    }

    /// Takes the first row for headings unless it holds an address.
    pub(super) fn of(rows: Vec<(u64, Vec<String>)>, options: &Options) -> Option<Self> {
        let mut rows = rows.into_iter();
        let (line, first) = rows.next()?;
        let bare_list = options.wanted == Wanted::List && first.len() == 1;
        let rest = rows.map(|(_, row)| row);
        if first.iter().any(|value| looks_like_address(value))
            || (bare_list && !headings::is_known(first.first()?))
        {
            let names = (1..=first.len()).map(|at| at.to_string()).collect();
            let samples = std::iter::once(first).chain(rest).collect();
            return Some(Self { line, has_headings: false, names, samples, notes: Vec::new() });
        }
        let (names, notes) = own_names(line, first);
        Some(Self { line, has_headings: true, names, samples: rest.collect(), notes })
    }
}

fn read_objects<R: BufRead>(
    name: &str,
    charset: Charset,
    sample: &str,
    text: R,
    options: &Options,
    out: &mut Out,
) -> Result<(), Ended> {
    let mut names: Vec<String> = Vec::new();
    let mut rows = Vec::new();
    let mut first = Objects::new(sample.as_bytes());
    while rows.len() < SAMPLES {
        // A line that is too long is met again, and named, when everything is read.
        let Ok(Some((_, object))) = first.next() else { break };
        let Ok(object) = object else { continue };
        for name in object.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        rows.push(object);
    }
    let text_of = |value: Option<&serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) if !value.is_null() => value.to_string(),
        _ => String::new(),
    };
    let samples: Vec<Vec<String>> =
        rows.iter().map(|row| names.iter().map(|name| text_of(row.get(name))).collect()).collect();
    let columns =
        Columns { source: name, line: 1, names: &names, samples: &samples, named_on_purpose: true };
    let mapping = columns.map(options)?;
    let checker = Checker::new(options.wanted, &names, &mapping).charset(&charset.label);
    out.head(Head {
        name: name.to_owned(),
        charset: Some(charset),
        has_headings: true,
        columns: names,
        mapping,
        samples: samples.into_iter().take(SHOWN).collect(),
        ..Head::default()
    })?;
    let mut objects = Objects::new(text);
    while let Some((line, object)) = objects.next().map_err(|stop| stopped(name, stop))? {
        out.entry(match object {
            Ok(object) => checker.object(line, object),
            Err(why) => Entry::Rejected(Rejected {
                finding: Finding::line(line, why),
                key: String::new(),
                address: String::new(),
            }),
        })?;
    }
    Ok(())
}
