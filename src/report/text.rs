//! For a terminal and for mail in plain text.

use std::io::{self, Write};

use super::mask::Addresses;
use super::summary::{Listing, Missing, Summary, WhyNot, batch_state_name, codes};
use super::table::{Side, aligned, push};
use super::words::{age, thousands};
use super::{Options, SENT_MEANS, Writer, when};
use crate::domain::text::visible;

/// How many mail domains are named; the others are one line, so that the sum stays right.
const DOMAINS: usize = 10;

pub(super) struct Text<'w> {
    options: Options,
    out: &'w mut dyn Write,
    batches: usize,
    rows: usize,
}

impl<'w> Text<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out, batches: 0, rows: 0 }
    }

    fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| writeln!(self.out, "  {line}"))
    }

    fn heading(&mut self, batch: &Summary) -> io::Result<()> {
        let zone = &self.options.zone;
        writeln!(self.out, "{}  {}", batch.batch, visible(&batch.title))?;
        writeln!(self.out, "{}", standing(batch, &self.options))?;
        writeln!(
            self.out,
            "as of {} ({})",
            when::minute(batch.as_of, zone),
            when::zone_name(zone)
        )?;
        writeln!(self.out)
    }
}

/// Says in one line what the batch is, since when, and why it stands still.
pub(super) fn standing(batch: &Summary, options: &Options) -> String {
    let zone = &options.zone;
    let starts = batch.scheduled_at.filter(|_| batch.started_at.is_none());
    let starts = starts.map(|at| format!(", starts {}", when::minute(at, zone)));
    let started = batch.started_at.map(|at| format!(", started {}", when::minute(at, zone)));
    let by = batch.started_by.as_deref().filter(|_| batch.started_at.is_some());
    let parts = [
        format!("Kind {}. {}", batch.kind, batch_state_name(batch.state)),
        starts.unwrap_or_default(),
        started.unwrap_or_default(),
        by.map_or_else(String::new, |by| format!(" by {}", visible(by))),
        ".".to_owned(),
        batch.paused_because.as_deref().map_or_else(String::new, |because| {
            format!(" Because: {}.", Addresses(options.privacy).text(because))
        }),
    ];
    parts.concat()
}

/// Returns the numbers that make the total, and what is known besides: name, number, remark.
pub(super) fn numbers(batch: &Summary) -> Vec<[String; 3]> {
    let counts = &batch.counts;
    let row = |name: &str, n: i64, remark: String| [name.to_owned(), thousands(n), remark];
    let part = |name: &str, n: i64| match n {
        0 => String::new(),
        n => format!("{name}: {}", thousands(n)),
    };
    let sum = batch.disagreement().unwrap_or_else(|| "adds up".to_owned());
    let delivered = part("may have arrived all the same", counts.maybe_delivered);
    vec![
        row("Ready", counts.ready, String::new()),
        row("Sending", counts.sending, part("unknown", counts.unknown)),
        row("Sent", counts.sent, part("assumed", counts.assumed)),
        row("Failed", counts.failed, delivered),
        row("Total", counts.total(), sum),
    ]
}

/// Returns what is worth knowing besides the sum: name and value.
pub(super) fn besides(batch: &Summary, options: &Options) -> Vec<[String; 2]> {
    let counts = &batch.counts;
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push([name.to_owned(), value]);
    if batch.rate_per_minute > 0.0 {
        let eta = batch.done_about().map_or_else(String::new, |eta| {
            format!(", done about {}", when::near(eta, batch.as_of, &options.zone))
        });
        row("Speed", format!("{:.0}/min{eta}", batch.rate_per_minute));
    }
    if let Some(since) = batch.oldest_ready_at.filter(|_| counts.ready > 0) {
        row("Longest wait", age(batch.as_of.since(since)));
    }
    row("Attempts", thousands(counts.attempts));
    row("Left out", thousands(counts.left_out));
    row("May have got two", thousands(counts.maybe_twice));
    rows
}

/// Returns the reasons of what did not go well: standing, code, rows, the server's words.
pub(super) fn reasons(causes: &[WhyNot], shown: Addresses) -> Vec<[String; 4]> {
    let row = |why: &WhyNot| {
        [why.standing(), why.codes(), thousands(why.rows), shown.text(why.words.trim())]
    };
    causes.iter().map(row).collect()
}

/// Returns the largest domains with their numbers, and the rest as one line.
pub(super) fn domains(batch: &Summary) -> Vec<[String; 6]> {
    let row = |name: &str, cells: [i64; 5]| {
        let [total, ready, sending, sent, failed] = cells.map(thousands);
        [visible(name).into_owned(), total, ready, sending, sent, failed]
    };
    let cells =
        |c: &crate::domain::batch::Counts| [c.total(), c.ready, c.sending, c.sent, c.failed];
    let most = if batch.domains.len() == DOMAINS + 1 { DOMAINS + 1 } else { DOMAINS };
    let (named, others) = batch.domains.split_at(most.min(batch.domains.len()));
    let mut rows: Vec<_> =
        named.iter().map(|domain| row(&domain.domain, cells(&domain.counts))).collect();
    if !others.is_empty() {
        let mut rest = [0; 5];
        for domain in others {
            for (sum, n) in rest.iter_mut().zip(cells(&domain.counts)) {
                *sum += n;
            }
        }
        rows.push(row(&format!("others ({})", thousands_of(others.len())), rest));
    }
    rows
}

fn thousands_of(n: usize) -> String {
    thousands(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The columns of the list of domains.
pub(super) const DOMAIN_COLUMNS: [&str; 6] =
    ["By domain", "Total", "Ready", "Sending", "Sent", "Failed"];

impl Writer for Text<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        if self.batches > 0 {
            writeln!(self.out)?;
        }
        self.batches += 1;
        self.rows = 0;
        self.heading(batch)?;
        let sides = [Side::Left, Side::Right, Side::Left];
        self.lines(aligned(sides, &numbers(batch)))?;
        writeln!(self.out)?;
        let besides = besides(batch, &self.options);
        self.lines(aligned([Side::Left, Side::Left], &besides))?;
        let reasons = reasons(&batch.causes, Addresses(self.options.privacy));
        if !reasons.is_empty() {
            writeln!(self.out, "\nWhat did not go well")?;
            let sides = [Side::Left, Side::Left, Side::Right, Side::Left];
            self.lines(aligned(sides, &reasons))?;
        }
        let mut domains = domains(batch);
        if !domains.is_empty() {
            writeln!(self.out)?;
            domains.insert(0, DOMAIN_COLUMNS.map(str::to_owned));
            let right = Side::Right;
            self.lines(aligned([Side::Left, right, right, right, right, right], &domains))?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        if self.rows == 0 {
            writeln!(self.out)?;
        }
        self.rows += 1;
        let shown = Addresses(self.options.privacy);
        let words = if row.reply.is_empty() { &row.note } else { &row.reply };
        let mut line = String::from("  ");
        // Rows come one by one: widths are guessed, and a long one just goes on.
        for (cell, width) in [
            (shown.text(&row.key), 12),
            (shown.address(&row.address), 28),
            (row.standing(), 20),
            (codes(row.code, row.enhanced.as_deref()), 10),
        ] {
            push(&mut line, &cell, width, Side::Left);
            line.push_str("  ");
        }
        line.push_str(&shown.text(words.trim()));
        writeln!(self.out, "{}", line.trim_end())
    }

    fn left_out(&mut self, line: &Missing) -> io::Result<()> {
        if self.rows == 0 {
            writeln!(self.out)?;
        }
        self.rows += 1;
        let shown = Addresses(self.options.privacy);
        let place = format!("{}:{}", visible(&line.source), line.line);
        let mut text = format!("  {place}  {}", shown.text(&line.why));
        for part in [&line.key, &line.address, &line.value] {
            if !part.is_empty() {
                text.push_str("  ");
                text.push_str(&shown.text(part));
            }
        }
        writeln!(self.out, "{text}")
    }

    fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n{SENT_MEANS}")?;
        self.out.flush()
    }
}
