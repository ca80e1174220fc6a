//! One table of the file: keys are taken from it by name and type, and what is left is a mistake.

use super::document::{Node, Value};
use super::nearest;
use super::reading::{Given, Origin, Reading};
use super::setting::Setting;

/// A table that may not be there; then every key has its default.
pub(super) struct Section<'n> {
    /// The dotted path, empty for the root.
    path: String,
    entries: Option<&'n [(String, Node)]>,
    line: usize,
    /// The keys that were asked for: all there are.
    known: Vec<&'static str>,
    /// The node where a table was expected and something else stands.
    misplaced: Option<&'n Node>,
}

impl<'n> Section<'n> {
    pub(super) fn root(node: &'n Node) -> Self {
        Self::of(String::new(), Some(node))
    }

    fn of(path: String, node: Option<&'n Node>) -> Self {
        let line = node.map_or(0, |node| node.line);
        let (entries, misplaced) = match node {
            Some(Node { value: Value::Table(entries), .. }) => (Some(entries.as_slice()), None),
            other => (None, other),
        };
        Self { path, entries, line, known: Vec::new(), misplaced }
    }

    /// Reports whether the table stands in the file.
    pub(super) const fn is_there(&self) -> bool {
        self.entries.is_some() || self.misplaced.is_some()
    }

    /// Returns where the table begins.
    pub(super) const fn origin(&self) -> Origin {
        if self.is_there() { Origin::File { line: self.line } } else { Origin::Default }
    }

    /// Returns the full name of a key.
    pub(super) fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Takes the table `name`.
    pub(super) fn section(&mut self, name: &'static str) -> Self {
        self.known.push(name);
        Self::of(self.key(name), self.find(name))
    }

    /// Takes all tables under `name`, as in `[smtp.relay]`, with their own names.
    pub(super) fn sections(
        &mut self,
        reading: &mut Reading<'_>,
        name: &'static str,
    ) -> Vec<(String, Self)> {
        let group = self.section(name);
        if let Some(node) = group.misplaced {
            let what = format!(
                "`{}` is {}; expected tables, as in [{name}.NAME]",
                group.path,
                node.kind()
            );
            reading.problem(&group.origin(), what);
        }
        let mut sections = Vec::new();
        for (own, node) in group.entries.unwrap_or_default() {
            let path = group.key(own);
            if !is_plain(own) {
                let what = format!("`{own}` is no name; use a-z, 0-9, `-` and `_`");
                reading.problem(&Origin::File { line: node.line }, what);
            }
            sections.push((own.clone(), Section::of(path, Some(node))));
        }
        sections
    }

    /// Takes a value that may be missing.
    pub(super) fn take<T: Setting>(
        &mut self,
        reading: &mut Reading<'_>,
        name: &'static str,
    ) -> Option<Given<T>> {
        self.known.push(name);
        let key = self.key(name);
        let found = self.find(name);
        let (node, origin) = match (reading.variable(&key), found) {
            (Some((variable, text)), _) => (Node::text(text), Origin::Variable(variable)),
            (None, Some(node)) => (node.clone(), Origin::File { line: node.line }),
            (None, None) => return None,
        };
        match T::read(&node, &reading.folder) {
            Ok(value) => {
                reading.show(key, value.show(), &origin);
                Some(Given { value, origin })
            }
            Err(why) => {
                reading.problem(&origin, format!("`{key}`: {why}"));
                None
            }
        }
    }

    /// Takes a value, or the one that stands by default.
    pub(super) fn take_or<T: Setting>(
        &mut self,
        reading: &mut Reading<'_>,
        name: &'static str,
        default: T,
    ) -> Given<T> {
        let wrong = reading.problems.len();
        if let Some(given) = self.take(reading, name) {
            return given;
        }
        if reading.problems.len() == wrong {
            reading.show(self.key(name), default.show(), &Origin::Default);
        }
        Given { value: default, origin: Origin::Default }
    }

    /// Takes a value that must be there.
    pub(super) fn need<T: Setting>(
        &mut self,
        reading: &mut Reading<'_>,
        name: &'static str,
        example: &str,
    ) -> Option<Given<T>> {
        let wrong = reading.problems.len();
        let given = self.take(reading, name);
        if given.is_none() && reading.problems.len() == wrong {
            let what = format!("[{}] needs `{name}`, as in {name} = {example}", self.path);
            reading.problem(&self.origin(), what);
        }
        given
    }

    /// Notes that a flag decides, whatever the file says.
    pub(super) fn overrule(
        &mut self,
        reading: &mut Reading<'_>,
        name: &'static str,
        flag: &'static str,
        value: &str,
    ) {
        self.known.push(name);
        // A variable that is overruled as well is not a mistyped one.
        drop(reading.variable(&self.key(name)));
        reading.show(self.key(name), value.to_owned(), &Origin::Flag(flag));
    }

    /// Refuses every key that nobody asked for, and names the nearest one that exists.
    pub(super) fn finish(self, reading: &mut Reading<'_>) {
        if let Some(node) = self.misplaced {
            let what = format!("`{}` is {}; expected a table", self.path, node.kind());
            reading.problem(&self.origin(), what);
        }
        for (name, node) in self.entries.unwrap_or_default() {
            if self.known.contains(&name.as_str()) {
                continue;
            }
            let place = match self.path.as_str() {
                "" => "at the top".to_owned(),
                path => format!("in [{path}]"),
            };
            let help = match nearest(name, &self.known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", self.known.join(", ")),
            };
            let what = format!("unknown key `{name}` {place}; {help}");
            reading.problem(&Origin::File { line: node.line }, what);
        }
    }

    fn find(&self, name: &str) -> Option<&'n Node> {
        let (_, node) = self.entries?.iter().find(|(key, _)| key == name)?;
        Some(node)
    }
}

fn is_plain(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= 64 && name.chars().all(allowed)
}
