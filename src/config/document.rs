//! A TOML document as a tree that remembers its lines.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One value with the line it begins on.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) line: usize,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Truth(bool),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<(String, Node)>),
    /// A float, a date, a number that is too long: nothing of ours.
    Strange,
}

impl Node {
    /// Makes a node of a variable's text.
    pub(super) fn text(text: &str) -> Self {
        Self { value: Value::Text(text.to_owned()), line: 0 }
    }

    /// Says what it is, for a person who expected something else.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Number(_) => "a number",
            Value::Truth(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Strange => "something else",
        }
    }
}

/// Parses a document; an error is its line and what is wrong there.
pub(super) fn parse(text: &str) -> Result<Node, (usize, String)> {
    // A BOM is what Windows editors write; it is no mistake of the person's.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let root = DeTable::parse(text).map_err(|err| {
        let line = err.span().map_or(1, |span| lines.at(span.start));
        (line, err.message().replace('\n', ", "))
    })?;
    Ok(Node { value: table(root.get_ref(), &lines), line: 1 })
}

fn table(entries: &DeTable<'_>, lines: &Lines) -> Value {
    let mut table: Vec<_> = entries
        .iter()
        .map(|(key, value)| {
            let mut node = node(value, lines);
            node.line = lines.at(key.span().start);
            (key.span().start, key.get_ref().to_string(), node)
        })
        .collect();
    table.sort_by_key(|(start, _, _)| *start);
    Value::Table(table.into_iter().map(|(_, key, node)| (key, node)).collect())
}

fn node(spanned: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            match i64::from_str_radix(&number.as_str().replace('_', ""), number.radix()) {
                Ok(number) => Value::Number(number),
                Err(_) => Value::Strange,
            }
        }
        DeValue::Boolean(truth) => Value::Truth(*truth),
        DeValue::Array(list) => Value::List(list.iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(entries) => table(entries, lines),
        DeValue::Float(_) | DeValue::Datetime(_) => Value::Strange,
    };
    Node { value, line: lines.at(spanned.span().start) }
}

/// Where each line begins.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    fn at(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&start| start <= offset)
    }
}
