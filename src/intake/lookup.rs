//! Address and fields of orders by their ids, from the shop's own database.
//!
//! Promise: one question for a whole group, in a read-only transaction of its own; an order that is
//! not there, is there with different contents or has no address is told apart by its id.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Map, Value as Json};

use super::error::IntakeError;
use crate::db::{Ids, Location, Source as Database, SourceRow};

/// A lookup that takes longer is tried again later.
const LONGEST: Duration = Duration::from_secs(30);

/// Where orders are looked up.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// What people call it: `kinds.order.lookup`.
    pub name: String,
    pub database: Location,
    /// With `:ids` where the list belongs. Its columns are called `key` (or `id`: `key` is a word of
    /// MariaDB's own), `address` (or `email`), and as one likes.
    pub sql: String,
    pub ids: IdType,
}

/// What the ids are in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdType {
    Integer,
    Text,
}

/// What the database says about one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub address: String,
    /// Every column but key and address.
    pub fields: Map<String, Json>,
}

/// Why an order cannot be used although the database answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    NoInteger,
    Missing,
    /// The database has several rows that differ.
    Several(usize),
    NoAddress,
}

impl std::fmt::Display for NotFound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoInteger => f.write_str("the id is no whole number, and the lookup wants one"),
            Self::Missing => f.write_str("the lookup does not find this id"),
            Self::Several(n) => write!(f, "the lookup finds {n} rows that differ for this id"),
            Self::NoAddress => f.write_str("the lookup finds this id without an address"),
        }
    }
}

/// What the column of the key, and that of the address, may be called.
const KEY: [&str; 2] = ["key", "id"];
const ADDRESS: [&str; 2] = ["address", "email"];

/// What became of each key that was asked for.
pub type Answers = HashMap<String, Result<Found, NotFound>>;

impl Lookup {
    /// Asks about all these keys at once.
    pub async fn ask(&self, keys: &[String]) -> Result<Answers, IntakeError> {
        let mut answers = Answers::new();
        let ids = match self.ids {
            IdType::Text => Ids::Texts(keys.to_vec()),
            IdType::Integer => Ids::Integers(
                keys.iter().filter_map(|key| key.parse::<i64>().ok()).collect::<Vec<_>>(),
            ),
        };
        for key in keys {
            let fits = self.ids == IdType::Text || key.parse::<i64>().is_ok();
            let not_yet = if fits { NotFound::Missing } else { NotFound::NoInteger };
            answers.insert(key.clone(), Err(not_yet));
        }
        if matches!(&ids, Ids::Integers(ids) if ids.is_empty()) || keys.is_empty() {
            return Ok(answers);
        }
        let found = tokio::time::timeout(LONGEST, self.rows(&ids)).await;
        let rows = found.unwrap_or_else(|_late| {
            Err(self.failed(format!("no answer within {} s", LONGEST.as_secs())))
        })?;
        let mut by_key: HashMap<String, Vec<SourceRow>> = HashMap::new();
        for row in rows {
            let Some(key) = self.column(&row, KEY)? else { continue };
            by_key.entry(key).or_default().push(row);
        }
        for (key, mut rows) in by_key {
            // The same row twice (a join) says nothing new.
            rows.dedup();
            if let Some(answer) = answers.get_mut(&key) {
                *answer = match rows.as_slice() {
                    [row] => self.one(row)?,
                    rows => Err(NotFound::Several(rows.len())),
                };
            }
        }
        Ok(answers)
    }

    async fn rows(&self, ids: &Ids) -> Result<Vec<SourceRow>, IntakeError> {
        let mut database = Database::open(&self.database).await.map_err(|err| self.failed(err))?;
        let mut found = database.look_up(&self.sql, ids).map_err(|err| self.failed(err))?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().await {
            rows.push(row.map_err(|err| self.failed(err))?);
        }
        Ok(rows)
    }

    fn one(&self, row: &SourceRow) -> Result<Result<Found, NotFound>, IntakeError> {
        let address = self.column(row, ADDRESS)?.unwrap_or_default();
        if address.trim().is_empty() {
            return Ok(Err(NotFound::NoAddress));
        }
        let mut fields = Map::new();
        for (name, value) in row.columns.iter().zip(&row.values) {
            if !KEY.contains(&name.as_str()) && !ADDRESS.contains(&name.as_str()) {
                let value = value.as_ref().map_or(Json::Null, |text| Json::from(text.as_str()));
                fields.insert(name.clone(), value);
            }
        }
        Ok(Ok(Found { address, fields }))
    }

    fn column(&self, row: &SourceRow, names: [&str; 2]) -> Result<Option<String>, IntakeError> {
        let at = |name: &&str| row.columns.iter().position(|column| column == name);
        match names.iter().find_map(at) {
            Some(at) => Ok(row.values.get(at).cloned().flatten()),
            None => Err(self.failed(format!(
                "there is no column `{}` or `{}`; write: select … as id, … as email, …",
                names[0], names[1]
            ))),
        }
    }

    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> IntakeError {
        IntakeError::Outside { name: self.name.clone(), source: source.into() }
    }
}
