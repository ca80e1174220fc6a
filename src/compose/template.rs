//! The mail as its sender wrote it: header lines, an empty line, the text; perhaps an HTML part.

use std::collections::BTreeSet;

use super::error::TemplateError;

/// A template that was read once and builds any number of messages.
#[derive(Debug)]
pub struct Template {}

impl Template {
    /// Reads a template; `html` is the file beside it.
    pub fn parse(_text: &str, _html: Option<&str>) -> Result<Self, TemplateError> {
        todo!()
    }

    /// Returns the names that the template reads from the row.
    pub fn placeholders(&self) -> &BTreeSet<String> {
        todo!()
    }
}
