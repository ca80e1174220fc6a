//! For a page or a chat that reads Markdown.

use std::io::{self, Write};

use super::mask::Addresses;
use super::phrases::Phrase as P;
use super::summary::{Listing, Missing, Summary, codes};
use super::text::{as_of, besides, domain_columns, domains, numbers, reasons, standing};
use super::{Options, Writer};

pub(super) struct Markdown<'w> {
    options: Options,
    out: &'w mut dyn Write,
    in_list: bool,
    /// What the kind calls a key.
    key_word: String,
}

impl<'w> Markdown<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out, in_list: false, key_word: String::new() }
    }

    fn cells<const N: usize>(&mut self, cells: [&str; N]) -> io::Result<()> {
        for cell in cells {
            write!(self.out, "| {} ", plain(cell))?;
        }
        writeln!(self.out, "|")
    }

    fn table<const N: usize>(
        &mut self,
        head: [&str; N],
        aligns: [&str; N],
        rows: &[[String; N]],
    ) -> io::Result<()> {
        writeln!(self.out)?;
        self.head(head, aligns)?;
        rows.iter().try_for_each(|row| self.cells(row.each_ref().map(String::as_str)))
    }

    fn head<const N: usize>(&mut self, head: [&str; N], aligns: [&str; N]) -> io::Result<()> {
        self.cells(head)?;
        writeln!(self.out, "|{}|", aligns.join("|"))
    }
}

const LEFT: &str = "---";
const RIGHT: &str = "---:";

impl Writer for Markdown<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        self.in_list = false;
        let language = self.options.language;
        self.key_word =
            batch.key_word.clone().unwrap_or_else(|| P::Number.text(language).to_owned());
        let title = if batch.title.is_empty() { &batch.batch } else { &batch.title };
        let as_of = format!("{} · {}", plain(&batch.batch), as_of(batch, &self.options));
        let said = plain(&standing(batch, &self.options));
        writeln!(self.out, "# {}\n\n{as_of}\n\n{said}", plain(title))?;
        self.table(
            [P::State.text(language), P::Rows.text(language), ""],
            [LEFT, RIGHT, LEFT],
            &numbers(batch, language),
        )?;
        let besides = besides(batch, &self.options);
        self.table([P::Besides.text(language), ""], [LEFT, LEFT], &besides)?;
        let reasons = reasons(&batch.causes, &self.options);
        if !reasons.is_empty() {
            let head = [P::WhatWentWrong, P::Code, P::Rows, P::Words];
            let head = head.map(|phrase| phrase.text(language));
            self.table(head, [LEFT, LEFT, RIGHT, LEFT], &reasons)?;
        }
        let domains = domains(batch, language);
        if !domains.is_empty() {
            self.table(
                domain_columns(language),
                [LEFT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT],
                &domains,
            )?;
        }
        writeln!(self.out)
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        if !self.in_list {
            self.in_list = true;
            let language = self.options.language;
            let word = |phrase: P| phrase.text(language);
            let key = std::mem::take(&mut self.key_word);
            self.head(
                [key.as_str(), word(P::Address), word(P::State), word(P::Code), word(P::Words)],
                [LEFT; 5],
            )?;
        }
        let shown = Addresses(self.options.privacy);
        let words = if row.reply.is_empty() { &row.note } else { &row.reply };
        self.cells([
            &shown.text(&row.key),
            &shown.address(&row.address),
            &row.standing(self.options.language),
            &codes(row.code, row.enhanced.as_deref()),
            &shown.text(words.trim()),
        ])
    }

    fn left_out(&mut self, line: &Missing) -> io::Result<()> {
        if !self.in_list {
            self.in_list = true;
            let language = self.options.language;
            let word = |phrase: P| phrase.text(language);
            let key = std::mem::take(&mut self.key_word);
            self.head(
                [
                    word(P::Source),
                    word(P::SourceLine),
                    word(P::LeftOutBecause),
                    key.as_str(),
                    word(P::Address),
                    word(P::Value),
                ],
                [LEFT; 6],
            )?;
        }
        let shown = Addresses(self.options.privacy);
        self.cells([
            &shown.text(&line.source),
            &line.line.to_string(),
            &shown.text(&line.why),
            &shown.text(&line.key),
            &shown.text(&line.address),
            &shown.text(&line.value),
        ])
    }

    fn finish(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n{}", P::SentMeans.text(self.options.language))?;
        self.out.flush()
    }
}

/// Returns text that Markdown takes for nothing but text.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '~')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
