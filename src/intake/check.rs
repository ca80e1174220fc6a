//! One line of a source to one entry: a person, a name in a list, or a rejection.

use serde_json::{Map, Value as Json};

use super::columns::Mapping;
use super::csv::Record;
use super::finding::{Finding, Why};
use super::past::PastMapping;
use super::reader::{Entry, Line, Named, Rejected, Told};
use super::source::Wanted;
use crate::domain::address::{Address, BadAddress};
use crate::domain::state::State;
use crate::domain::text::name_control;

/// Longer keys do not fit into the ledger's unique index on every engine.
const LONGEST_KEY: usize = 190;

/// A value is shown up to here.
const SHOWN: usize = 80;

/// Knows the columns of a source and checks its lines.
#[derive(Debug)]
pub(super) struct Checker {
    wanted: Wanted,
    columns: Vec<String>,
    address: Option<usize>,
    key: Option<usize>,
    name: Option<usize>,
    past: Option<PastMapping>,
    /// Those that `--map` adds first, for they win over a column of the same name.
    kept: Vec<Kept>,
    /// Rows may end early (a sheet keeps no empty cells).
    pad: bool,
    /// What a damaged character was not, for people.
    charset: String,
}

/// A column and the name under which templates find it.
#[derive(Debug)]
struct Kept {
    name: String,
    /// The name as JSON, with its colon.
    json: String,
    column: usize,
}

impl Checker {
    pub(super) fn new(wanted: Wanted, columns: &[String], mapping: &Mapping) -> Self {
        let at = |name: &str| columns.iter().position(|column| column == name);
        let place = |name: &Option<String>| name.as_deref().and_then(at);
        let mut kept: Vec<(&str, usize)> = Vec::new();
        let added = mapping.others.iter().map(|(name, column)| (name.as_str(), column.as_str()));
        let name = mapping.name.as_deref().map(|column| ("name", column));
        for (name, column) in added.chain(name) {
            kept.extend(at(column).map(|column| (name, column)));
        }
        for (column, name) in columns.iter().enumerate() {
            if kept.iter().all(|(taken, _)| taken != name) {
                kept.push((name, column));
            }
        }
        let keep = |(name, column): (&str, usize)| Kept {
            name: name.to_owned(),
            json: format!("{}:", Json::from(name)),
            column,
        };
        Self {
            wanted,
            columns: columns.to_vec(),
            address: place(&mapping.address),
            key: place(&mapping.key),
            name: place(&mapping.name),
            past: mapping.past.clone(),
            kept: kept.into_iter().map(keep).collect(),
            pad: false,
            charset: String::new(),
        }
    }

    pub(super) fn padding(mut self) -> Self {
        self.pad = true;
        self
    }

    pub(super) fn charset(mut self, label: &str) -> Self {
        label.clone_into(&mut self.charset);
        self
    }

    /// Checks a record; an empty one is nothing.
    pub(super) fn record(&self, record: &Record) -> Option<Entry> {
        if record.is_blank() {
            return None;
        }
        let values = Values { line: record.line, get: &|at| record.get(at) };
        let reject = |finding| Some(self.reject(&values, finding));
        if let Some(why) = &record.problem {
            return reject(Finding::line(record.line, why.clone()));
        }
        let short = record.len() < self.columns.len() && !self.pad;
        let over = (self.columns.len()..record.len()).any(|at| !record.get(at).trim().is_empty());
        if short || over {
            let why = Why::Ragged { found: record.len(), expected: self.columns.len() };
            return reject(Finding::line(record.line, why));
        }
        if let Some(finding) = self.unfit(record) {
            return reject(finding);
        }
        Some(self.entry(&values, || self.fields(record)))
    }

    /// Checks an object, whose values may be more than text.
    pub(super) fn object(&self, line: u64, mut object: Map<String, Json>) -> Entry {
        let text = |name: &String| match object.get(name) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Number(number)) => number.to_string(),
            Some(Json::Bool(yes)) => yes.to_string(),
            _ => String::new(),
        };
        let texts = Record::of(line, self.columns.iter().map(text));
        let values = Values { line, get: &|at| texts.get(at) };
        if let Some(finding) = self.nested(&values, &object).or_else(|| self.unfit(&texts)) {
            return self.reject(&values, finding);
        }
        self.entry(&values, || {
            for kept in &self.kept {
                let value = self.columns.get(kept.column).and_then(|column| object.get(column));
                if let Some(value) = value.cloned() {
                    object.insert(kept.name.clone(), value);
                }
            }
            Json::Object(std::mem::take(&mut object)).to_string()
        })
    }

    /// Checks a row that came with key and address named.
    pub(super) fn row(line: u64, key: &str, address: &str, fields: String) -> Entry {
        let columns = ["key".to_owned(), "address".to_owned()];
        let mapping = Mapping {
            address: Some("address".to_owned()),
            key: Some("key".to_owned()),
            ..Mapping::default()
        };
        let checker = Self::new(Wanted::People, &columns, &mapping);
        let get = |at| if at == 0 { key } else { address };
        checker.entry(&Values { line, get: &get }, || fields)
    }

    fn entry(&self, values: &Values<'_>, fields: impl FnOnce() -> String) -> Entry {
        match (self.wanted, &self.past) {
            (Wanted::People, Some(past)) => match self.told(past, values, fields) {
                Ok(told) => Entry::Told(told),
                Err(finding) => self.reject(values, finding),
            },
            (Wanted::People, None) => match self.person(values) {
                Ok((key, address, name)) => Entry::Person(Line {
                    number: values.line,
                    key,
                    address,
                    name,
                    fields: fields(),
                }),
                Err(finding) => self.reject(values, finding),
            },
            (Wanted::List, _) => match self.named(values) {
                Ok(named) => Entry::Named(named),
                Err(finding) => self.reject(values, finding),
            },
        }
    }

    fn person(&self, values: &Values<'_>) -> Result<(String, Address, Option<String>), Finding> {
        let text = values.at(self.address);
        let (address, _) = Address::parse(text)
            .map_err(|err| self.finding(values, self.address, Why::Address(err)))?;
        let key = match self.key {
            None => address.compare_form(),
            Some(_) => bare(values.at(self.key)).to_owned(),
        };
        self.check_key(values, &key)?;
        let name = values.at(self.name).trim();
        self.no_controls(values, self.name, name)?;
        Ok((key, address, Some(name.to_owned()).filter(|name| !name.is_empty())))
    }

    /// Reads a line of an older system's record.
    fn told(
        &self,
        mapping: &PastMapping,
        values: &Values<'_>,
        fields: impl FnOnce() -> String,
    ) -> Result<Told, Finding> {
        let at = |name: &str| self.columns.iter().position(|column| column == name);
        let past = mapping
            .read(|column| values.at(at(column)))
            .map_err(|(column, why)| self.finding(values, at(column), why))?;
        let word = cut(values.at(at(&mapping.state)).trim());
        if past.state == State::Sent && self.key.is_some() {
            let key = bare(values.at(self.key)).to_owned();
            self.check_key(values, &key)?;
            // What cannot be read any more is no reason to send it again.
            let address = Address::parse(values.at(self.address)).ok().map(|(address, _)| address);
            return Ok(Told { number: values.line, key, address, fields: fields(), past, word });
        }
        let (key, address, _) = self.person(values)?;
        let address = Some(address);
        Ok(Told { number: values.line, key, address, fields: fields(), past, word })
    }

    fn named(&self, values: &Values<'_>) -> Result<Named, Finding> {
        let mut key = Some(bare(values.at(self.key))).filter(|key| !key.is_empty());
        let mut address = Some(values.at(self.address)).filter(|text| !text.trim().is_empty());
        if self.address.is_none() && key.is_some_and(super::columns::looks_like_address) {
            address = key.take();
        }
        if let Some(key) = key {
            self.check_key(values, key)?;
        }
        let address = match address.map(Address::parse).transpose() {
            Ok(address) => address.map(|(address, _)| address),
            Err(err) => return Err(self.finding(values, self.address, Why::Address(err))),
        };
        if key.is_none() && address.is_none() {
            return Err(self.finding(values, self.address, Why::Address(BadAddress::Empty)));
        }
        Ok(Named { number: values.line, key: key.map(str::to_owned), address })
    }

    fn check_key(&self, values: &Values<'_>, key: &str) -> Result<(), Finding> {
        if key.is_empty() {
            return Err(self.finding(values, self.key, Why::NoKey));
        }
        let length = key.chars().count();
        if length > LONGEST_KEY {
            return Err(self.finding(values, self.key.or(self.address), Why::LongKey(length)));
        }
        self.no_controls(values, self.key, key)
    }

    /// Refuses what no header may hold.
    fn no_controls(
        &self,
        values: &Values<'_>,
        at: Option<usize>,
        text: &str,
    ) -> Result<(), Finding> {
        match text.chars().find(|c| c.is_control()) {
            None => Ok(()),
            Some(c) => Err(self.finding(values, at, Why::Control(name_control(c)))),
        }
    }

    /// Finds what no field may hold: damaged text, and controls that are no tab or line break.
    fn unfit(&self, record: &Record) -> Option<Finding> {
        if record.bytes().iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')) {
            return None;
        }
        for (at, field) in record.fields().enumerate() {
            let unfit =
                |c: &char| *c == '\u{fffd}' || (c.is_control() && !matches!(c, '\t' | '\n' | '\r'));
            let Some(c) = field.chars().find(unfit) else { continue };
            let why = match c {
                '\u{fffd}' if !self.charset.is_empty() => Why::Damaged(self.charset.clone()),
                '\u{fffd}' => Why::Damaged("text".to_owned()),
                c => Why::Control(name_control(c)),
            };
            let values = Values { line: record.line, get: &|at| record.get(at) };
            return Some(self.finding(&values, Some(at), why));
        }
        None
    }

    /// Finds a list or object where only text can stand.
    fn nested(&self, values: &Values<'_>, object: &Map<String, Json>) -> Option<Finding> {
        [self.address, self.key, self.name].into_iter().flatten().find_map(|at| {
            let value = object.get(self.columns.get(at)?)?;
            let why =
                || Why::Unreadable("a list or an object stands where text must be".to_owned());
            (value.is_array() || value.is_object()).then(|| self.finding(values, Some(at), why()))
        })
    }

    /// Writes the kept columns as a JSON object.
    fn fields(&self, record: &Record) -> String {
        let mut out = String::with_capacity(record.bytes().len() + 16 * self.kept.len());
        out.push('{');
        for kept in &self.kept {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&kept.json);
            if record.is_null(kept.column) {
                out.push_str("null");
            } else {
                push_json(&mut out, record.get(kept.column));
            }
        }
        out.push('}');
        out
    }

    fn finding(&self, values: &Values<'_>, at: Option<usize>, why: Why) -> Finding {
        let column = at.and_then(|at| self.columns.get(at)).cloned().unwrap_or_default();
        Finding { line: values.line, column, why, value: cut(values.at(at)) }
    }

    fn reject(&self, values: &Values<'_>, finding: Finding) -> Entry {
        let key = cut(bare(values.at(self.key)));
        Entry::Rejected(Rejected { finding, key, address: cut(values.at(self.address).trim()) })
    }
}

/// The values of one line by column.
struct Values<'a> {
    line: u64,
    get: &'a dyn Fn(usize) -> &'a str,
}

impl<'a> Values<'a> {
    fn at(&self, at: Option<usize>) -> &'a str {
        at.map(self.get).unwrap_or_default()
    }
}

/// Takes away what surrounds a key and cannot be seen.
fn bare(key: &str) -> &str {
    key.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200d}')
    })
}

fn cut(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
    }
}

fn push_json(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Json::from(text).to_string());
    }
}
