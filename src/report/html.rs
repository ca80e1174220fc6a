//! For a browser: one page without scripts, that fetches nothing.

use std::io::{self, Write};

use super::mask::Addresses;
use super::phrases::Phrase as P;
use super::summary::{Listing, Missing, Summary, codes};
use super::text::{as_of, besides, domain_columns, domains, numbers, reasons, standing};
use super::{Options, Writer};

pub(super) struct Html<'w> {
    options: Options,
    out: &'w mut dyn Write,
    begun: bool,
    in_list: bool,
    /// What the kind calls a key.
    key_word: String,
}

const HEAD: &str = r#"<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color: #222 }
h1 { font-size: 1.5em; margin: 1.5em 0 0 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { border-bottom: 1px solid #ddd; padding: .25em .75em; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
p.means { color: #666; border-top: 1px solid #ddd; padding-top: 1em }
</style>
</head>
<body>
"#;

impl<'w> Html<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out, begun: false, in_list: false, key_word: String::new() }
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        let language = self.options.language;
        // The page has braces of its own: nothing but these two is filled.
        let head = HEAD.replace("{language}", language.as_str());
        let head = head.replace("{title}", P::PageTitle.text(language));
        self.out.write_all(head.as_bytes())
    }

    fn end_list(&mut self) -> io::Result<()> {
        if !self.in_list {
            return Ok(());
        }
        self.in_list = false;
        writeln!(self.out, "</table>")
    }

    fn head<const N: usize>(&mut self, head: [&str; N]) -> io::Result<()> {
        let cells = head.map(|cell| format!("<th>{}</th>", plain(cell)));
        writeln!(self.out, "<table>\n<tr>{}</tr>", cells.concat())
    }

    fn cells<const N: usize>(&mut self, cells: [&str; N]) -> io::Result<()> {
        let cells = cells.map(|cell| {
            let number = !cell.is_empty() && cell.chars().all(|c| c.is_ascii_digit() || c == ',');
            let class = if number { " class=\"n\"" } else { "" };
            format!("<td{class}>{}</td>", plain(cell))
        });
        writeln!(self.out, "<tr>{}</tr>", cells.concat())
    }

    fn table<const N: usize>(&mut self, head: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
        self.head(head)?;
        rows.iter().try_for_each(|row| self.cells(row.each_ref().map(String::as_str)))?;
        writeln!(self.out, "</table>")
    }
}

impl Writer for Html<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        self.begin()?;
        self.end_list()?;
        let language = self.options.language;
        self.key_word =
            batch.key_word.clone().unwrap_or_else(|| P::Number.text(language).to_owned());
        let title = if batch.title.is_empty() { &batch.batch } else { &batch.title };
        let as_of = as_of(batch, &self.options);
        let said = plain(&standing(batch, &self.options));
        let (title, name) = (plain(title), plain(&batch.batch));
        writeln!(self.out, "<h1>{title}</h1>\n<p>{name} · {}<br>{said}</p>", plain(&as_of))?;
        self.table(
            [P::State.text(language), P::Rows.text(language), ""],
            &numbers(batch, language),
        )?;
        let besides = besides(batch, &self.options);
        self.table([P::Besides.text(language), ""], &besides)?;
        let reasons = reasons(&batch.causes, &self.options);
        if !reasons.is_empty() {
            let head = [P::WhatWentWrong, P::Code, P::Rows, P::Words];
            self.table(head.map(|phrase| phrase.text(language)), &reasons)?;
        }
        let domains = domains(batch, language);
        if !domains.is_empty() {
            self.table(domain_columns(language), &domains)?;
        }
        Ok(())
    }

    fn row(&mut self, row: &Listing) -> io::Result<()> {
        if !self.in_list {
            self.in_list = true;
            let language = self.options.language;
            let word = |phrase: P| phrase.text(language);
            let key = std::mem::take(&mut self.key_word);
            self.head([
                key.as_str(),
                word(P::Address),
                word(P::State),
                word(P::Code),
                word(P::Words),
            ])?;
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
            self.head([
                word(P::Source),
                word(P::SourceLine),
                word(P::LeftOutBecause),
                key.as_str(),
                word(P::Address),
                word(P::Value),
            ])?;
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
        self.begin()?;
        self.end_list()?;
        writeln!(
            self.out,
            "<p class=\"means\">{}</p>\n</body>\n</html>",
            plain(P::SentMeans.text(self.options.language))
        )?;
        self.out.flush()
    }
}

/// Returns text that a browser takes for nothing but text.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
