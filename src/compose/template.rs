//! The mail as its sender wrote it: header lines, an empty line, the text; perhaps an HTML part.

use std::collections::BTreeSet;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior};

use super::error::{Part, TemplateError};
use super::headers::{self, Form};
use super::variables::COLUMN;
use crate::domain::text::name_control;

/// The names of the two parts within the environment; headers have their own names.
pub(super) const TEXT: &str = "text";
pub(super) const HTML: &str = "html";

/// A template that was read once and builds any number of messages.
#[derive(Debug)]
pub struct Template {
    pub(super) env: Environment<'static>,
    pub(super) headers: Vec<HeaderLine>,
    /// Lines of the file before the text begins.
    pub(super) text_offset: usize,
    pub(super) has_html: bool,
    placeholders: BTreeSet<String>,
}

/// One header line of the template.
#[derive(Debug)]
pub(super) struct HeaderLine {
    pub(super) name: String,
    pub(super) form: Form,
    /// In the file, from 1.
    pub(super) line: usize,
    /// Value and finished line, if they are the same for everybody.
    pub(super) fixed: Option<(String, String)>,
}

impl Template {
    /// Reads a template; `html` is the file beside it.
    pub fn parse(text: &str, html: Option<&str>) -> Result<Self, TemplateError> {
        let text = newlines(text.to_owned());
        let (head, body, text_offset) = split(&text)?;
        let mut template = Self {
            env: environment(),
            headers: Vec::new(),
            text_offset,
            has_html: html.is_some(),
            placeholders: BTreeSet::new(),
        };
        for (line, name, value) in header_lines(head)? {
            template.add_header(line, &name, value)?;
        }
        if !template.headers.iter().any(|header| header.name == "Subject") {
            return Err(wrong(Part::Text, 1, "there is no `Subject:` line".to_owned()));
        }
        template.add(Part::Text, TEXT, text_offset, body.to_owned())?;
        if let Some(html) = html {
            template.add(Part::Html, HTML, 0, newlines(html.to_owned()))?;
        }
        Ok(template)
    }

    /// Returns the names that the template reads from the row.
    pub fn placeholders(&self) -> &BTreeSet<String> {
        &self.placeholders
    }

    fn add_header(&mut self, line: usize, name: &str, value: String) -> Result<(), TemplateError> {
        let (name, form) = headers::allowed(name).map_err(|why| wrong(Part::Text, line, why))?;
        if self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(&name)) {
            return Err(wrong(Part::Text, line, format!("`{name}` is set twice")));
        }
        let fixed = if ["{{", "{%", "{#"].iter().any(|mark| value.contains(mark)) {
            None
        } else {
            let mut out = String::new();
            headers::write(&mut out, &name, form, &value)
                .map_err(|why| wrong(Part::Text, line, format!("{name}: {why}")))?;
            Some((value.clone(), out))
        };
        self.add(Part::Text, &name, line - 1, value)?;
        self.headers.push(HeaderLine { name, form, line, fixed });
        Ok(())
    }

    fn add(
        &mut self,
        part: Part,
        name: &str,
        offset: usize,
        source: String,
    ) -> Result<(), TemplateError> {
        self.env
            .add_template_owned(name.to_owned(), source)
            .map_err(|err| wrong(part, offset + err.line().unwrap_or(1), reason(&err)))?;
        let globals: BTreeSet<&str> = self.env.globals().map(|(name, _)| name).collect();
        let template = self.env.get_template(name).map_err(|err| wrong(part, 1, reason(&err)))?;
        let names = template.undeclared_variables(false).into_iter();
        let names: Vec<String> =
            names.filter(|name| name != COLUMN && !globals.contains(name.as_str())).collect();
        self.placeholders.extend(names);
        Ok(())
    }
}

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(
        |name| {
            if name == HTML { AutoEscape::Html } else { AutoEscape::None }
        },
    );
    // Text keeps the line ends its sender wrote.
    if let Ok(syntax) = SyntaxConfig::builder().keep_trailing_newline(true).build() {
        env.set_syntax(syntax);
    }
    env
}

/// Says what minijinja found, without its own line number.
pub(super) fn reason(err: &Error) -> String {
    match err.detail() {
        Some(detail) => format!("{}: {detail}", err.kind()),
        None => err.kind().to_string(),
    }
}

fn wrong(part: Part, line: usize, why: String) -> TemplateError {
    TemplateError { part, line, why }
}

/// Writes every line end as `\n` and removes a BOM.
pub(super) fn newlines(text: String) -> String {
    if !text.contains('\r') && !text.starts_with('\u{feff}') {
        return text;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Splits the file at its first empty line and counts the lines before the text.
fn split(text: &str) -> Result<(&str, &str, usize), TemplateError> {
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim().is_empty() {
            let (head, rest) = text.split_at(end);
            return Ok((head, rest.strip_prefix(line).unwrap_or(rest), number + 1));
        }
        end += line.len();
    }
    Err(wrong(
        Part::Text,
        text.lines().count().max(1),
        "there is no empty line between the header lines and the text".to_owned(),
    ))
}

/// Returns line number, name and value of each header; continued lines are joined.
fn header_lines(head: &str) -> Result<Vec<(usize, String, String)>, TemplateError> {
    let mut lines: Vec<(usize, String, String)> = Vec::new();
    for (at, line) in head.lines().enumerate() {
        let number = at + 1;
        if line.starts_with([' ', '\t'])
            && let Some((_, _, value)) = lines.last_mut()
        {
            value.push(' ');
            value.push_str(line.trim());
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            let why = "the file must begin with header lines such as `Subject: …`, \
                       then an empty line, then the text";
            return Err(wrong(Part::Text, number, why.to_owned()));
        };
        if let Some(c) = value.chars().find(|c| c.is_control()) {
            let why = format!("{name}: it holds {}", name_control(c));
            return Err(wrong(Part::Text, number, why));
        }
        lines.push((number, name.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(lines)
}
