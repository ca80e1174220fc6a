//! What a template sees of a row: every column by its name, and `key`, `address`, `column[…]`.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::Value;
use minijinja::value::{Enumerator, Object};
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value as Json;

use super::{BuildError, Person};

/// The name under which every column can be reached, whatever it is called.
pub(super) const COLUMN: &str = "column";

/// One row as a template sees it.
#[derive(Debug)]
pub(super) struct Variables {
    key: String,
    address: String,
    columns: Arc<Columns>,
}

impl Variables {
    pub(super) fn new(person: &Person<'_>) -> Result<Arc<Self>, BuildError> {
        Ok(Arc::new(Self {
            key: person.key.to_owned(),
            address: person.address.as_written(),
            columns: Arc::new(Columns::read(person.fields)?),
        }))
    }

    /// Returns the name to show in `To`, if the row has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.columns.get("name")?.as_str().map(str::trim).filter(|name| !name.is_empty())
    }

    /// Returns the columns as one value.
    pub(super) fn fields(&self) -> Value {
        Value::from_dyn_object(Arc::clone(&self.columns))
    }

    /// Returns the name that was last asked for and is no column.
    pub(super) fn last_missed(&self) -> Option<String> {
        self.columns.missed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns the name that `missed` was probably meant to be.
    pub(super) fn nearest(&self, missed: &str) -> Option<String> {
        let fold = |name: &str| name.to_lowercase();
        let known = self.columns.entries.iter().map(|(name, _)| name.as_str());
        known
            .chain(["key", "address", COLUMN])
            .map(|name| (strsim::normalized_damerau_levenshtein(&fold(name), &fold(missed)), name))
            .filter(|(likeness, _)| *likeness >= 0.4)
            .max_by(|(a, _), (b, _)| a.total_cmp(b))
            .map(|(_, name)| name.to_owned())
    }
}

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        match key {
            "key" => Some(Value::from(self.key.as_str())),
            "address" => Some(Value::from(self.address.as_str())),
            COLUMN => Some(Value::from_dyn_object(Arc::clone(&self.columns))),
            _ => self.columns.value(key),
        }
    }
}

/// The columns of one row, in the order of the source.
#[derive(Debug)]
struct Columns {
    entries: Vec<(String, Json)>,
    missed: Mutex<Option<String>>,
}

impl Columns {
    fn read(fields: &str) -> Result<Self, BuildError> {
        let mut json = serde_json::Deserializer::from_str(fields);
        let entries = json
            .deserialize_map(Entries)
            .and_then(|entries| json.end().map(|()| entries))
            .map_err(|err| BuildError::Fields(err.to_string()))?;
        Ok(Self { entries, missed: Mutex::new(None) })
    }

    fn get(&self, name: &str) -> Option<&Json> {
        self.entries.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn value(&self, name: &str) -> Option<Value> {
        let found = self.get(name).map(to_value);
        if found.is_none() {
            *self.missed.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
        }
        found
    }
}

impl Object for Columns {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.value(key.as_str()?)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(
            self.entries.iter().map(|(name, _)| Value::from(name.as_str())).collect(),
        )
    }
}

/// Reads an object into a list: rows have few columns, and most templates read few of them.
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, Json)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

/// Nothing (`null`) prints as nothing: no mail shall say "none" to a person.
fn to_value(json: &Json) -> Value {
    match json {
        Json::Null => Value::from(""),
        Json::Bool(yes) => Value::from(*yes),
        Json::Number(number) => number
            .as_i64()
            .map(Value::from)
            .or_else(|| number.as_u64().map(Value::from))
            .or_else(|| number.as_f64().map(Value::from))
            .unwrap_or_default(),
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => items.iter().map(to_value).collect(),
        Json::Object(entries) => {
            Value::from_pairs(entries.iter().map(|(name, value)| (name.clone(), to_value(value))))
        }
    }
}
