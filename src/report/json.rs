//! For programs: one document, `ittsu/report/1`.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::mask::Addresses;
use super::summary::{Domain, Listing, Missing, Summary, WhyNot};
use super::{Listed, Options, Privacy, SENT_MEANS, Writer, when};
use crate::config::Language;
use crate::domain::state::{Cause, How};
use crate::domain::text::is_hidden;

pub(super) struct Json<'w> {
    options: Options,
    out: &'w mut dyn Write,
    batches: usize,
    rows: usize,
}

#[derive(Serialize)]
struct Numbers<'a> {
    batch: &'a str,
    kind: &'a str,
    title: &'a str,
    state: &'a str,
    total: i64,
    ready: i64,
    sending: i64,
    sent: i64,
    failed: i64,
    unknown: i64,
    assumed: i64,
    maybe_twice: i64,
    maybe_delivered: i64,
    left_out: i64,
    attempts: i64,
    adds_up: bool,
    started_at: Option<String>,
    started_by: Option<&'a str>,
    scheduled_at: Option<String>,
    paused_because: Option<String>,
    oldest_ready_at: Option<String>,
    rate_per_minute: f64,
    done_about: Option<String>,
    causes: Vec<Reason<'a>>,
    domains: Vec<DomainNumbers<'a>>,
}

#[derive(Serialize)]
struct Reason<'a> {
    state: &'a str,
    how: Option<&'a str>,
    cause: Option<&'a str>,
    code: Option<u16>,
    enhanced: Option<&'a str>,
    rows: i64,
    words: String,
}

#[derive(Serialize)]
struct DomainNumbers<'a> {
    domain: &'a str,
    total: i64,
    ready: i64,
    sending: i64,
    sent: i64,
    failed: i64,
}

#[derive(Serialize)]
struct Row<'a> {
    key: String,
    address: String,
    state: &'a str,
    how: Option<&'a str>,
    unknown: bool,
    cause: Option<&'a str>,
    unknown_attempts: i64,
    attempt: i64,
    generation: i64,
    message_id: Option<&'a str>,
    phase: Option<&'a str>,
    code: Option<u16>,
    enhanced: Option<&'a str>,
    reply: Option<String>,
    note: Option<String>,
    updated_at: String,
}

#[derive(Serialize)]
struct LeftOut {
    source: String,
    line: i64,
    key: String,
    address: String,
    why: String,
    value: String,
}

impl<'w> Json<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out, batches: 0, rows: 0 }
    }

    /// Opens the document with the moment of the first batch; all share one.
    fn begin(&mut self, batch: &Summary) -> io::Result<()> {
        let as_of = when::rfc3339(batch.as_of, &self.options.zone);
        let masked = self.options.privacy == Privacy::Masked;
        let means = to_json(&SENT_MEANS)?;
        write!(
            self.out,
            r#"{{"schema":"ittsu/report/1","as_of":"{as_of}","masked":{masked},"note":{means},"batches":["#
        )
    }

    fn end_batch(&mut self) -> io::Result<()> {
        if self.batches == 0 {
            return Ok(());
        }
        self.out.write_all(if self.options.listed.is_some() { b"]}" } else { b"}" })
    }

    fn item(&mut self, item: &impl Serialize) -> io::Result<()> {
        let comma = if self.rows > 0 { "," } else { "" };
        self.rows += 1;
        write!(self.out, "{comma}{}", to_json(item)?)
    }
}

impl Writer for Json<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        if self.batches == 0 {
            self.begin(batch)?;
        } else {
            self.end_batch()?;
            self.out.write_all(b",")?;
        }
        self.batches += 1;
        self.rows = 0;
        let text = to_json(&numbers(batch, &self.options))?;
        // The rows follow inside the same object, one by one.
        let open = text.strip_suffix('}').unwrap_or(&text);
        match self.options.listed {
            None => write!(self.out, "{open}"),
            Some(Listed::LeftOut) => write!(self.out, r#"{open},"left_out_lines":["#),
            Some(_) => write!(self.out, r#"{open},"rows":["#),
        }
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        let text = |text: &str| match (text, self.options.privacy) {
            ("", _) => None,
            (text, Privacy::Full) => Some(text.to_owned()),
            (text, Privacy::Masked) => Some(shown.text(text)),
        };
        let row = Row {
            key: text(&row.key).unwrap_or_default(),
            address: match self.options.privacy {
                Privacy::Full => row.address.clone(),
                Privacy::Masked => shown.address(&row.address),
            },
            state: row.state.as_str(),
            how: row.how.map(How::as_str),
            unknown: row.unknown,
            cause: row.cause.map(Cause::as_str),
            unknown_attempts: row.unknown_attempts,
            attempt: row.attempt,
            generation: row.generation,
            message_id: row.message_id.as_deref(),
            phase: row.phase.as_deref(),
            code: row.code,
            enhanced: row.enhanced.as_deref(),
            reply: text(&row.reply),
            note: text(&row.note),
            updated_at: when::rfc3339(row.updated_at, &self.options.zone),
        };
        self.item(&row)
    }

    fn left_out(&mut self, line: &Missing) -> io::Result<()> {
        let shown = Addresses(self.options.privacy);
        let text = |text: &str| match self.options.privacy {
            Privacy::Full => text.to_owned(),
            Privacy::Masked => shown.text(text),
        };
        self.item(&LeftOut {
            source: line.source.clone(),
            line: line.line,
            key: text(&line.key),
            address: text(&line.address),
            why: line.why.clone(),
            value: text(&line.value),
        })
    }

    fn finish(&mut self) -> io::Result<()> {
        self.end_batch()?;
        self.out.write_all(b"]}\n")?;
        self.out.flush()
    }
}

fn numbers<'a>(batch: &'a Summary, options: &Options) -> Numbers<'a> {
    let counts = &batch.counts;
    let at = |time| when::rfc3339(time, &options.zone);
    let shown = Addresses(options.privacy);
    Numbers {
        batch: &batch.batch,
        kind: &batch.kind,
        title: &batch.title,
        state: batch.state.as_str(),
        total: counts.total(),
        ready: counts.ready,
        sending: counts.sending,
        sent: counts.sent,
        failed: counts.failed,
        unknown: counts.unknown,
        assumed: counts.assumed,
        maybe_twice: counts.maybe_twice,
        maybe_delivered: counts.maybe_delivered,
        left_out: counts.left_out,
        attempts: counts.attempts,
        adds_up: batch.disagreement(Language::En).is_none(),
        started_at: batch.started_at.map(at),
        started_by: batch.started_by.as_deref(),
        scheduled_at: batch.scheduled_at.map(at),
        paused_because: batch.paused_because.as_deref().map(|text| shown.text(text)),
        oldest_ready_at: batch.oldest_ready_at.map(at),
        rate_per_minute: batch.rate_per_minute,
        done_about: batch.done_about().map(at),
        causes: batch.causes.iter().map(|why| cause(why, shown)).collect(),
        domains: batch.domains.iter().map(domain).collect(),
    }
}

fn cause(why: &WhyNot, shown: Addresses) -> Reason<'_> {
    Reason {
        state: why.state.as_str(),
        how: why.how.map(How::as_str),
        cause: why.cause.map(Cause::as_str),
        code: why.code,
        enhanced: why.enhanced.as_deref(),
        rows: why.rows,
        words: shown.text(why.words.trim()),
    }
}

fn domain(domain: &Domain) -> DomainNumbers<'_> {
    let counts = &domain.counts;
    DomainNumbers {
        domain: &domain.domain,
        total: counts.total(),
        ready: counts.ready,
        sending: counts.sending,
        sent: counts.sent,
        failed: counts.failed,
    }
}

/// Returns JSON in which every sign that a terminal would obey or hide is escaped.
///
/// JSON itself lets C1 controls and bidi overrides through; a program reads the same text back.
pub fn to_json(value: &impl Serialize) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(256);
    let mut serializer = Serializer::with_formatter(&mut bytes, Escaping(CompactFormatter));
    value.serialize(&mut serializer)?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

struct Escaping(CompactFormatter);

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        text: &str,
    ) -> io::Result<()> {
        if !text.contains(is_hidden) {
            return self.0.write_string_fragment(out, text);
        }
        for c in text.chars() {
            if is_hidden(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            } else {
                out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_what_a_terminal_would_obey_and_reads_back_the_same() {
        let text = "a\u{9b}31m\u{202e}\u{e0001}\"\\\n会";
        let json = to_json(&text).unwrap();
        assert_eq!(json, r#""a\u009b31m\u202e\udb40\udc01\"\\\n会""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
