//! For a terminal and for mail in plain text.

use std::io::{self, Write};

use super::mask::Addresses;
use super::phrases::{Phrase, age, batch_state_in, state_in};
use super::summary::{Listing, Missing, Summary, WhyNot, codes};
use super::table::{Side, aligned, push};
use super::words::thousands;
use super::{Options, Writer, when};
use crate::config::Language;
use crate::domain::state::State;
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
        writeln!(self.out, "{}  {}", batch.batch, visible(&batch.title))?;
        writeln!(self.out, "{}", standing(batch, &self.options))?;
        writeln!(self.out, "{}\n", as_of(batch, &self.options))
    }
}

/// Says in one line what the batch is, since when, and why it stands still.
pub(super) fn standing(batch: &Summary, options: &Options) -> String {
    let (zone, language) = (&options.zone, options.language);
    let at = |phrase: Phrase, at| phrase.with(language, &[("time", &when::minute(at, zone))]);
    let starts = batch.scheduled_at.filter(|_| batch.started_at.is_none());
    let by = batch.started_by.as_deref().filter(|_| batch.started_at.is_some());
    let state = batch_state_in(batch.state, language);
    let parts = [
        Phrase::Kind.with(language, &[("kind", &batch.kind), ("state", state)]),
        starts.map_or_else(String::new, |time| at(Phrase::Starts, time)),
        batch.started_at.map_or_else(String::new, |time| at(Phrase::Started, time)),
        by.map_or_else(String::new, |by| Phrase::By.with(language, &[("who", &visible(by))])),
        Phrase::End.text(language).to_owned(),
        batch.paused_because.as_deref().map_or_else(String::new, |because| {
            let why = Addresses(options.privacy).text(because);
            Phrase::Because.with(language, &[("why", &why)])
        }),
    ];
    parts.concat().trim_end().to_owned()
}

/// Returns the numbers that make the total, and what is known besides: name, number, remark.
pub(super) fn numbers(batch: &Summary, language: Language) -> Vec<[String; 3]> {
    let counts = &batch.counts;
    let row = |name: &str, n: i64, remark: String| [name.to_owned(), thousands(n), remark];
    let part = |phrase: Phrase, n: i64| match n {
        0 => String::new(),
        n => phrase.with(language, &[("n", &thousands(n))]),
    };
    let adds_up = || Phrase::AddsUp.text(language).to_owned();
    let sum = batch.disagreement(language).unwrap_or_else(adds_up);
    let delivered = part(Phrase::MayHaveArrived, counts.maybe_delivered);
    let state = |state| state_in(state, language);
    vec![
        row(state(State::Ready), counts.ready, String::new()),
        row(state(State::Sending), counts.sending, part(Phrase::InDoubt, counts.unknown)),
        row(state(State::Sent), counts.sent, part(Phrase::Assumed, counts.assumed)),
        row(state(State::Failed), counts.failed, delivered),
        row(Phrase::Total.text(language), counts.total(), sum),
    ]
}

/// Returns what is worth knowing besides the sum: name and value.
pub(super) fn besides(batch: &Summary, options: &Options) -> Vec<[String; 2]> {
    let counts = &batch.counts;
    let mut rows = Vec::new();
    let language = options.language;
    let mut row = |name: Phrase, value: String| rows.push([name.text(language).to_owned(), value]);
    if batch.rate_per_minute > 0.0 {
        let rate = format!("{:.0}", batch.rate_per_minute);
        let speed = match batch.done_about() {
            Some(eta) => {
                let eta = when::near(eta, batch.as_of, &options.zone);
                Phrase::RateEta.with(language, &[("rate", &rate), ("eta", &eta)])
            }
            None => Phrase::Rate.with(language, &[("rate", &rate)]),
        };
        row(Phrase::Speed, speed);
    }
    if let Some(since) = batch.oldest_ready_at.filter(|_| counts.ready > 0) {
        row(Phrase::LongestWait, age(batch.as_of.since(since), language));
    }
    row(Phrase::Attempts, thousands(counts.attempts));
    row(Phrase::LeftOut, thousands(counts.left_out));
    row(Phrase::MaybeTwice, thousands(counts.maybe_twice));
    rows
}

/// Returns the reasons of what did not go well: standing, code, rows, the server's words.
pub(super) fn reasons(causes: &[WhyNot], options: &Options) -> Vec<[String; 4]> {
    let shown = Addresses(options.privacy);
    let row = |why: &WhyNot| {
        [
            why.standing(options.language),
            why.codes(),
            thousands(why.rows),
            shown.text(why.words.trim()),
        ]
    };
    causes.iter().map(row).collect()
}

/// Returns the largest domains with their numbers, and the rest as one line.
pub(super) fn domains(batch: &Summary, language: Language) -> Vec<[String; 6]> {
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
        let others = thousands_of(others.len());
        rows.push(row(&Phrase::Others.with(language, &[("n", &others)]), rest));
    }
    rows
}

fn thousands_of(n: usize) -> String {
    thousands(i64::try_from(n).unwrap_or(i64::MAX))
}

/// Returns the columns of the list of domains.
pub(super) const fn domain_columns(language: Language) -> [&'static str; 6] {
    [
        Phrase::ByDomain.text(language),
        Phrase::Total.text(language),
        state_in(State::Ready, language),
        state_in(State::Sending, language),
        state_in(State::Sent, language),
        state_in(State::Failed, language),
    ]
}

/// Says of which moment the numbers are, and in which zone times are given.
pub(super) fn as_of(batch: &Summary, options: &Options) -> String {
    let time = when::minute(batch.as_of, &options.zone);
    let zone = when::zone_name(&options.zone);
    Phrase::AsOf.with(options.language, &[("time", &time), ("zone", zone)])
}

impl Writer for Text<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        if self.batches > 0 {
            writeln!(self.out)?;
        }
        self.batches += 1;
        self.rows = 0;
        self.heading(batch)?;
        let language = self.options.language;
        let sides = [Side::Left, Side::Right, Side::Left];
        self.lines(aligned(sides, &numbers(batch, language)))?;
        writeln!(self.out)?;
        let besides = besides(batch, &self.options);
        self.lines(aligned([Side::Left, Side::Left], &besides))?;
        let reasons = reasons(&batch.causes, &self.options);
        if !reasons.is_empty() {
            writeln!(self.out, "\n{}", Phrase::WhatWentWrong.text(language))?;
            let sides = [Side::Left, Side::Left, Side::Right, Side::Left];
            self.lines(aligned(sides, &reasons))?;
        }
        let mut domains = domains(batch, language);
        if !domains.is_empty() {
            writeln!(self.out)?;
            domains.insert(0, domain_columns(language).map(str::to_owned));
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
            (row.standing(self.options.language), 20),
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
        writeln!(self.out, "\n{}", Phrase::SentMeans.text(self.options.language))?;
        self.out.flush()
    }
}
