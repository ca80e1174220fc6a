//! One message for one person.

use std::sync::Arc;

use jiff::Timestamp as Moment;
use minijinja::{ErrorKind, Value};

use super::encode::{self, LONGEST_LINE};
use super::error::Part;
use super::template::{HTML, HeaderLine, TEXT, newlines, reason};
use super::variables::Variables;
use super::{BuildError, Built, Dkim, Person, Sender, Stamp, Template, headers};
use crate::domain::text::name_control;

impl Template {
    /// Builds the message of `person`.
    pub fn build(
        &self,
        sender: &Sender,
        person: &Person<'_>,
        stamp: &Stamp,
        dkim: Option<&Dkim>,
    ) -> Result<Built, BuildError> {
        let row = Row { template: self, variables: Variables::new(person)? };
        let text = row.part(Part::Text, TEXT, self.text_offset)?;
        let html = if self.has_html { Some(row.part(Part::Html, HTML, 0)?) } else { None };
        let (subject, mut head) = row.head(sender, person, stamp)?;
        head.push_str("MIME-Version: 1.0\r\n");
        check_lines(&head)?;
        let mut content = head.into_bytes();
        content.reserve(text.len() * 2 + html.as_ref().map_or(0, String::len) * 2);
        match &html {
            None => encode::part(&mut content, "plain", &text),
            Some(html) => encode::alternatives(&mut content, &stamp.message_id, &text, html),
        }
        let content = match dkim {
            None => content,
            Some(dkim) => dkim.sign(stamp.date, &content)?,
        };
        Ok(Built { subject, text, html, size: content.len(), content })
    }
}

/// One row on its way through a template.
struct Row<'a> {
    template: &'a Template,
    variables: Arc<Variables>,
}

impl Row<'_> {
    /// Returns the subject and every header but those of the content.
    fn head(
        &self,
        sender: &Sender,
        person: &Person<'_>,
        stamp: &Stamp,
    ) -> Result<(String, String), BuildError> {
        let mut out = String::with_capacity(1024);
        let set = |name: &str| self.template.headers.iter().any(|header| header.name == name);
        if !set("From") {
            out.push_str(sender.header_line());
        }
        self.to(&mut out, person)?;
        out.push_str("Date: ");
        out.push_str(&date(stamp)?);
        out.push_str("\r\n");
        no_controls("the Message-ID", &stamp.message_id)?;
        encode::plain_header(&mut out, "Message-ID", &stamp.message_id);
        let mut subject = String::new();
        let mut one_click = false;
        for header in &self.template.headers {
            let value = self.header(&mut out, header)?;
            match &*header.name {
                "Subject" => subject = value,
                "List-Unsubscribe" => one_click = value.contains("https:"),
                _ => {}
            }
        }
        if one_click && !set("List-Unsubscribe-Post") {
            out.push_str("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
        }
        if !set("Auto-Submitted") {
            out.push_str("Auto-Submitted: auto-generated\r\n");
        }
        Ok((subject, out))
    }

    fn to(&self, out: &mut String, person: &Person<'_>) -> Result<(), BuildError> {
        let address = person.address;
        if address.needs_smtputf8() {
            return Err(BuildError::Address {
                address: address.as_written(),
                why: "what stands before the @ is not plain ASCII".to_owned(),
            });
        }
        let wire = address.on_the_wire();
        no_controls("the address", &wire)?;
        let name = self.variables.name();
        no_controls("the name", name.unwrap_or_default())?;
        encode::mailbox_header(out, "To", [(name, wire.as_str())]);
        Ok(())
    }

    /// Writes one header of the template and returns its value.
    fn header(&self, out: &mut String, header: &HeaderLine) -> Result<String, BuildError> {
        if let Some((value, line)) = &header.fixed {
            out.push_str(line);
            return Ok(value.clone());
        }
        let value = self.render(Part::Text, &header.name, header.line - 1)?;
        let value = value.trim();
        no_controls(&header.name, value)?;
        headers::write(out, &header.name, header.form, value)
            .map_err(|why| BuildError::Header { place: header.name.clone(), why })?;
        Ok(value.to_owned())
    }

    fn part(&self, part: Part, name: &str, offset: usize) -> Result<String, BuildError> {
        let text = self.render(part, name, offset)?;
        if text.contains('\0') {
            return Err(BuildError::Nul(part));
        }
        Ok(newlines(text))
    }

    fn render(&self, part: Part, name: &str, offset: usize) -> Result<String, BuildError> {
        let template = self.template.env.get_template(name).map_err(|err| BuildError::Render {
            part,
            line: 1,
            why: reason(&err),
        })?;
        // A miss of another part must not be blamed for an error in this one.
        self.variables.last_missed();
        let context = Value::from_dyn_object(Arc::clone(&self.variables));
        template.render(context).map_err(|err| {
            let source = template.source();
            let place = err.range().and_then(|range| source.get(range)).unwrap_or_default();
            self.explain(part, offset + err.line().unwrap_or(1), place, &err)
        })
    }

    /// Names the column that is not there, if that is what the error comes from.
    fn explain(&self, part: Part, line: usize, place: &str, err: &minijinja::Error) -> BuildError {
        let undefined = err.kind() == ErrorKind::UndefinedError
            || err.detail().is_some_and(|detail| detail.contains("undefined"));
        if !undefined {
            return BuildError::Render { part, line, why: reason(err) };
        }
        // The error may lie within a value (`items[0].size`); then no column was missed there.
        let is_path = place.contains(['.', '[']);
        match self.variables.last_missed().filter(|name| !is_path || place.contains(name.as_str()))
        {
            Some(name) => {
                let nearest = self.variables.nearest(&name);
                BuildError::UnknownPlaceholder { part, line, name, nearest }
            }
            None => BuildError::Render { part, line, why: format!("`{place}` is not there") },
        }
    }
}

fn no_controls(place: &str, value: &str) -> Result<(), BuildError> {
    match value.chars().find(|c| c.is_control()) {
        None => Ok(()),
        Some(c) => Err(BuildError::Control { place: place.to_owned(), what: name_control(c) }),
    }
}

fn date(stamp: &Stamp) -> Result<String, BuildError> {
    let moment = Moment::from_microsecond(stamp.date.0)
        .map_err(|err| BuildError::Header { place: "Date".to_owned(), why: err.to_string() })?;
    Ok(moment.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string())
}

/// Bodies are wrapped when they are encoded; only a header can be too long.
fn check_lines(head: &str) -> Result<(), BuildError> {
    let Some(line) = head.split("\r\n").find(|line| line.len() > LONGEST_LINE) else {
        return Ok(());
    };
    let (name, _) = line.split_once(':').unwrap_or((line, ""));
    Err(BuildError::Header {
        place: name.to_owned(),
        why: format!("it is longer than {LONGEST_LINE} characters and cannot be folded"),
    })
}
